//! Games from texts: what a person pastes, and the lines of JSON files.

use hnefi_engine::{BoardSize, Move, Position, Preset, Rules, Side};
use hnefi_record::{GameRecord, GameTree, PlyRecord, pgn};
use serde::Deserialize;

use super::room::{LONGEST, MOST_MOVES};
use super::session::MOST_WORDS;

/// The fields of a JSON line that make a game; others are passed over.
#[derive(Deserialize)]
struct Line {
    rules: serde_json::Value,
    #[serde(default)]
    fen: Option<String>,
    #[serde(default)]
    ply_cap: Option<u16>,
    moves: Vec<String>,
    #[serde(default)]
    attackers: Option<String>,
    #[serde(default)]
    defenders: Option<String>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    status: Option<String>,
}

/// Reads a pasted text: a PGN-like game or moves, with their variations and comments, a line of JSON, or a FEN. A FEN
/// and moves are read under `rules`, unless the board of the FEN has another size. A byte order mark in front is
/// skipped.
///
/// # Errors
/// When it is none of these or does not follow the rules; the message says what was taken for what.
pub fn pasted(text: &str, rules: Rules) -> Result<GameTree, String> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err("there is nothing to read; paste a FEN, moves, or a game".to_owned());
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    // A game in JSON begins like a comment in front of moves, but for the quotation mark.
    let is_json = text.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with(['"', '}']));
    if is_json {
        return json_line(text).map(GameTree::from);
    }
    if !text.starts_with(['[', '{']) && first.contains('/') {
        let size = match first.split('/').count() {
            7 => BoardSize::Seven,
            9 => BoardSize::Nine,
            11 => BoardSize::Eleven,
            rows => return Err(format!("a FEN of {rows} rows; expected 7, 9 or 11")),
        };
        let rules = if size == rules.size() { rules } else { usual(size) };
        return game(rules, Some(text.to_owned()), std::iter::empty::<&str>()).map(GameTree::from);
    }
    // A file brings its rules; moves alone have no tags.
    let rules = (!text.starts_with('[')).then_some(rules);
    pgn::read_tree(text, rules).map_err(|error| error.to_string()).and_then(bounded_tree)
}

/// The preset a board is mostly played by.
fn usual(size: BoardSize) -> Rules {
    match size {
        BoardSize::Seven => Preset::Brandubh.rules(),
        BoardSize::Nine => Preset::Tablut.rules(),
        BoardSize::Eleven => Preset::Copenhagen.rules(),
    }
}

/// Reads a line of an exported dataset.
///
/// # Errors
/// When it is no game in JSON or does not follow the rules.
pub fn json_line(text: &str) -> Result<GameRecord, String> {
    let line: Line = serde_json::from_str(text).map_err(|error| {
        format!(r#"the text is no game in JSON: {error}; expected {{"rules": "brandubh", "moves": ["d6c6"]}}"#)
    })?;
    let mut rules = match &line.rules {
        serde_json::Value::String(name) => {
            Preset::from_name(name).ok_or_else(|| format!("unknown rules {name:?}"))?.rules()
        }
        options => serde_json::from_value(options.clone()).map_err(|error| format!("rules: {error}"))?,
    };
    rules.ply_cap = line.ply_cap.unwrap_or(rules.ply_cap);
    let mut record = game(rules, line.fen, line.moves.iter().map(String::as_str))?;
    record.players = [line.attackers, line.defenders].map(|name| name.unwrap_or_else(|| "?".to_owned()));
    if record.outcome.is_none() && line.reason.as_deref() == Some("resignation") {
        let winner = Side::BOTH.into_iter().find(|side| Some(side.as_str()) == line.status.as_deref());
        record.resigned = winner.map(Side::opponent);
    }
    Ok(record)
}

/// A game of these moves, each of them played.
pub(crate) fn game<'a>(
    rules: Rules,
    start: Option<String>,
    moves: impl Iterator<Item = &'a str>,
) -> Result<GameRecord, String> {
    if let Some(fault) = rules.faults().first() {
        return Err(format!("rules: {fault}"));
    }
    let mut position = match &start {
        None => Position::start(&rules),
        Some(fen) => Position::from_fen(&rules, fen).map_err(|error| error.to_string())?,
    };
    let mut plies = Vec::new();
    for (index, word) in moves.enumerate() {
        if index >= LONGEST {
            return Err(format!("the game is longer than {LONGEST} plies"));
        }
        let wrong = |problem: String| format!("ply {}: {problem}", index + 1);
        let (mv, _) = Move::parse_with_captures(word, rules.size()).map_err(|error| wrong(error.to_string()))?;
        position.play(mv).map_err(|error| wrong(error.to_string()))?;
        plies.push(PlyRecord::unsearched(mv));
    }
    Ok(GameRecord {
        game: 0,
        seed: 0,
        rules,
        start,
        players: ["?".to_owned(), "?".to_owned()],
        plies,
        outcome: position.outcome(),
        resigned: None,
        would_have_resigned: None,
    })
}

/// The game, if boards keep games so long and by such rules.
///
/// # Errors
/// When it is too long or its rules contradict each other.
pub fn bounded(record: GameRecord) -> Result<GameRecord, String> {
    if record.plies.len() > LONGEST {
        return Err(format!("the game is longer than {LONGEST} plies"));
    }
    match record.rules.faults().first() {
        Some(fault) => Err(format!("rules: {fault}")),
        None => Ok(record),
    }
}

/// The same of a game with variations and comments.
///
/// # Errors
/// When it has too many of them, or as [`bounded`].
pub fn bounded_tree(tree: GameTree) -> Result<GameTree, String> {
    let mut depths: Vec<usize> = Vec::with_capacity(tree.moves.len());
    for mv in &tree.moves {
        depths.push(mv.after.and_then(|after| depths.get(after)).map_or(1, |depth| depth + 1));
    }
    if depths.iter().any(|&depth| depth > LONGEST) {
        return Err(format!("the game is longer than {LONGEST} plies"));
    }
    let (moves, words) = (tree.moves.len(), tree.moves.iter().map(|mv| mv.comment.len()).sum::<usize>());
    if moves > MOST_MOVES {
        return Err(format!("the game has {moves} moves with its variations; expected at most {MOST_MOVES}"));
    }
    if words + tree.comment.len() > MOST_WORDS {
        return Err(format!("the game's comments have {words} bytes; expected at most {MOST_WORDS}"));
    }
    Ok(GameTree { record: bounded(tree.record)?, ..tree })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brandubh() -> Rules {
        Preset::Brandubh.rules()
    }

    #[test]
    fn every_kind_of_text_is_read() {
        for text in [
            "d6-c6 d5-e5",
            "1. d6-c6 d5-e5 *",
            "{why?} 1. d6-c6 (1. d6-b6 {or so}) d5-e5 *",
            r#"{"rules": "brandubh", "fen": null, "moves": ["d6c6", "d5e5"], "status": "ongoing"}"#,
            "[Rules \"brandubh\"]\n\n1. d6-c6 d5-e5 *\n",
        ] {
            for text in [text, &format!("\u{feff}{text}")] {
                let game = pasted(text, brandubh()).unwrap_or_else(|problem| panic!("{text}: {problem}"));
                assert_eq!(game.record.plies.len(), 2, "{text}");
            }
        }
        for text in ["3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 d", "\u{feff}3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 d"] {
            let fen = pasted(text, Preset::Copenhagen.rules()).expect("a FEN");
            assert_eq!((fen.record.plies.len(), fen.record.rules.size()), (0, BoardSize::Seven));
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let problem = |text: &str| pasted(text, brandubh()).expect_err(text);
        assert!(problem("d6c6 d6c6").starts_with("line 1: ply 2: illegal move"), "{}", problem("d6c6 d6c6"));
        assert!(problem("hello").starts_with("line 1: ply 1: "));
        assert!(problem("d6c6 (d6b6").contains("has no end; expected )"));
        assert!(problem("7/7 a").contains("2 rows"));
        assert!(problem("7/7/7/7/7/7/7 a").contains("no king"));
        assert!(problem("99999999999999999999/7/7/7/7/7/7 a").contains("wide"));
        assert!(problem("{}").contains("no game in JSON"));
        assert!(problem("[Rules \"chess\"]\n\ne2e4").contains("unknown rules"));
        assert!(problem("  ").contains("nothing"));
    }
}
