//! Games from texts: what a person pastes, and the lines of JSON files.

use hnefi_engine::{BoardSize, Move, Position, Preset, Rules};
use hnefi_record::{GameRecord, GameTree, PlyRecord, json_game, opentafl, pgn};

use super::room::{LONGEST, MOST_MOVES};
use super::session::MOST_WORDS;

/// Reads a pasted text: a PGN-like game or moves, with their variations and comments, an OpenTafl record, a game in
/// JSON, or a FEN. What names no rules is read under `rules`, or, where it does not fit them, as it is mostly played on
/// another board. A byte order mark in front is skipped.
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
    let others = BoardSize::ALL.into_iter().filter(|&size| size != rules.size()).map(usual);
    let mut candidates: Vec<Rules> = std::iter::once(rules).chain(others).collect();
    if is_json {
        let game = json_game(text, &mut candidates).map_err(|error| error.to_string())?;
        return bounded(game.record).map(GameTree::from);
    }
    if opentafl::begins(text) {
        // Such a record says by what rules it was played.
        candidates.extend(Preset::ALL.map(Preset::rules));
        let game = opentafl::read(text, &candidates).map_err(|error| error.to_string())?;
        return bounded(game.record).map(GameTree::from);
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
    pgn::read_tree(text, &candidates).map_err(|error| error.to_string()).and_then(bounded_tree)
}

/// The preset a board is mostly played by.
fn usual(size: BoardSize) -> Rules {
    match size {
        BoardSize::Seven => Preset::Brandubh.rules(),
        BoardSize::Nine => Preset::Tablut.rules(),
        BoardSize::Eleven => Preset::Copenhagen.rules(),
    }
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
            "[Event \"Game 7\"]\n[Site \"hnefatafl.org\"]\n\n1. d6c6 d5e5",
            "[date:2016.08.27]\n[attackers:Ivar]\n[rules:dim:7 ks:c]\n\n1. d6-c6 d5-e5\n[a comment|another]\n",
            r#"{"id": 7, "dim": 7, "start": "/3A3/3A3/3D3/AADKDAA/3D3/3A3/3A3", "moves": "d6-c6 d5-e5"}"#,
        ] {
            for text in [text, &format!("\u{feff}{text}")] {
                let game = pasted(text, brandubh()).unwrap_or_else(|problem| panic!("{text}: {problem}"));
                assert_eq!(game.record.plies.len(), 2, "{text}");
            }
        }
        // What names no rules and does not fit the board is read as it is mostly played on another.
        for text in ["1. h1-h3 g5-g4", "[Event \"Game 7\"]\n1. h1h3 g5g4", r#"{"moves": "h1-h3 g5-g4"}"#] {
            let game = pasted(text, brandubh()).expect("a game").record;
            assert_eq!((game.plies.len(), game.rules), (2, Preset::Copenhagen.rules()), "{text}");
        }
        // Who says by what rules it was is believed.
        let fetlar = pasted("[rules:dim:11]\n1. h1-h3 g5-g4", Preset::Copenhagen.rules()).expect("a game");
        assert_eq!(fetlar.record.rules, Preset::Fetlar.rules());
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
