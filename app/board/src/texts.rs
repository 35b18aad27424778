//! Games from texts: what a person pastes, and the lines of JSON files.

use hnefi_engine::{BoardSize, FenError, Move, NamedRules, Position, Preset, Rules, RulesRecord};
use hnefi_inference::{Handicap, names};
use hnefi_record::{GameRecord, GameTree, MOST_WORDS, PlyRecord, TextError, json_game, opentafl, pgn};

use super::room::{LONGEST, MOST_MOVES};

/// Why a text is no game for a board.
#[derive(Debug, thiserror::Error)]
pub enum TextProblem {
    /// There is no text.
    #[error("there is nothing to read; paste a FEN, moves, or a game")]
    Empty,
    /// A FEN of a board that there is not.
    #[error("a FEN of {0} rows; expected the rows of the game's board or of a published ruleset's")]
    Rows(usize),
    /// The position cannot stand.
    #[error(transparent)]
    Position(#[from] FenError),
    /// The text is no game in the format that it begins like.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The rules contradict each other.
    #[error("rules: {0}")]
    Rules(String),
    /// A move that cannot be read or played.
    #[error("ply {ply}: {problem}")]
    Ply {
        /// The ply, from 1.
        ply: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// Too many plies.
    #[error("the game is longer than {LONGEST} plies")]
    Long,
    /// Too many variations.
    #[error("the game has {0} moves with its variations; expected at most {MOST_MOVES}")]
    Moves(usize),
    /// Too many words.
    #[error("the game's comments have {0} bytes; expected at most {MOST_WORDS}")]
    Comments(usize),
}

/// Reads a pasted text: a PGN-like game or moves, with their variations and comments, an OpenTafl record, a game in
/// JSON, a FEN, or a rules record, which is the start of a game. What names no rules is read under `rules`, or, where
/// it does not fit them, as it is mostly played on another board. A byte order mark in front is skipped.
///
/// # Errors
/// When it is none of these or does not follow the rules; the message says what was taken for what.
pub(crate) fn pasted(text: &str, rules: Rules) -> Result<GameTree, TextProblem> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(TextProblem::Empty);
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_json = is_json(text);
    if RulesRecord::is_meant(text) && !text.starts_with(['[', '{']) {
        let rules = names::ruleset(text).map_err(|error| TextProblem::Rules(error.to_string()))?.rules();
        return game(rules, None, std::iter::empty::<&str>()).map(GameTree::from);
    }
    let others = BoardSize::ALL.into_iter().filter(|&size| size != rules.size()).filter_map(usual);
    let mut candidates: Vec<Rules> = std::iter::once(rules).chain(others).collect();
    if is_json {
        // Of several games, a line each, the first.
        let text = if games(text) > 1 { text.lines().next().unwrap_or_default() } else { text };
        let game = json_game(text, &mut candidates)?;
        return bounded(game.record).map(GameTree::from);
    }
    if opentafl::begins(text) {
        // Such a record says by what rules it was played.
        candidates.extend(named_by_opentafl(text));
        candidates.extend(NamedRules::published().map(|named| named.rules()));
        let game = opentafl::read(text, &candidates)?;
        return bounded(game.record).map(GameTree::from);
    }
    if !text.starts_with(['[', '{']) && first.contains('/') {
        let rows = first.split('/').filter(|row| !row.is_empty()).count();
        let rules = match BoardSize::new(rows) {
            Some(size) if size == rules.size() => rules,
            Some(size) => usual(size).ok_or(TextProblem::Rows(rows))?,
            None => return Err(TextProblem::Rows(rows)),
        };
        return game(rules, Some(text.to_owned()), std::iter::empty::<&str>()).map(GameTree::from);
    }
    bounded_tree(pgn::read_tree(text, &candidates)?)
}

/// Whether a text is a game in JSON; it begins like a comment in front of moves, but for the quotation mark.
fn is_json(text: &str) -> bool {
    text.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with(['"', '}']))
}

/// How many games a text holds, of which [`pasted`] reads the first: lines of JSON, or moves below tags. A record of
/// OpenTafl is one game, and what stands in brackets between its moves are comments.
pub(crate) fn games(text: &str) -> usize {
    let text = text.trim_start_matches('\u{feff}').trim();
    if is_json(text) {
        return text.lines().filter(|line| line.starts_with('{')).count();
    }
    if opentafl::begins(text) {
        return 1;
    }
    let is_tag = |line: &&str| line.starts_with('[') && line.ends_with(']');
    let sections = text.lines().zip(std::iter::once("").chain(text.lines()));
    sections.filter(|(line, before)| is_tag(line) && !is_tag(before)).count().max(1)
}

/// The ruleset a board is mostly played by: of the three presets each on its board, else the first that is published.
fn usual(size: BoardSize) -> Option<Rules> {
    let mostly = [Preset::Brandubh, Preset::Tablut, Preset::Copenhagen].map(NamedRules::from);
    let mut all = mostly.into_iter().chain(NamedRules::published()).map(|named| named.rules());
    all.find(|rules| rules.size() == size)
}

/// The rules that an OpenTafl game names, where they can be played.
fn named_by_opentafl(text: &str) -> Option<Rules> {
    let record = text.split_once("[rules:")?.1.split(']').next()?;
    record.parse::<RulesRecord>().ok()?.rules().ok()
}

/// A game of these moves, each of them played.
pub(crate) fn game<'a>(
    rules: Rules,
    start: Option<String>,
    moves: impl Iterator<Item = &'a str>,
) -> Result<GameRecord, TextProblem> {
    if let Some(fault) = rules.faults().first() {
        return Err(TextProblem::Rules(fault.to_string()));
    }
    let mut position = match &start {
        None => Position::start(&rules),
        Some(fen) => Position::from_fen(&rules, fen)?,
    };
    let mut plies = Vec::new();
    for (index, word) in moves.enumerate() {
        if index >= LONGEST {
            return Err(TextProblem::Long);
        }
        let wrong = |problem: String| TextProblem::Ply { ply: index + 1, problem };
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
        handicap: Handicap::NONE,
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
pub fn bounded(record: GameRecord) -> Result<GameRecord, TextProblem> {
    if record.plies.len() > LONGEST {
        return Err(TextProblem::Long);
    }
    match record.rules.faults().first() {
        Some(fault) => Err(TextProblem::Rules(fault.to_string())),
        None => Ok(record),
    }
}

/// The same of a game with variations and comments.
///
/// # Errors
/// When it has too many of them, or as [`bounded`].
pub(crate) fn bounded_tree(tree: GameTree) -> Result<GameTree, TextProblem> {
    let mut depths: Vec<usize> = Vec::with_capacity(tree.moves.len());
    for mv in &tree.moves {
        depths.push(mv.after.and_then(|after| depths.get(after)).map_or(1, |depth| depth + 1));
    }
    if depths.iter().any(|&depth| depth > LONGEST) {
        return Err(TextProblem::Long);
    }
    let (moves, words) = (tree.moves.len(), tree.moves.iter().map(|mv| mv.comment.len()).sum::<usize>());
    if moves > MOST_MOVES {
        return Err(TextProblem::Moves(moves));
    }
    if words + tree.comment.len() > MOST_WORDS {
        return Err(TextProblem::Comments(words + tree.comment.len()));
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
            "[date:2016.08.27]\n[rules:dim:7 esc:e cor: start:/3t3/3t3/3T3/ttTKTtt/3T3/3t3/3t3/]\n\n1. d6-c6 d5-e5\n",
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
        let own = "dim:13 esc:e start:/6t6/13/13/13/13/6T6/t4TKT4t/6T6/13/13/13/13/6t6/";
        let started = pasted(own, brandubh()).expect("rules").record;
        assert_eq!((started.plies.len(), started.rules.size().side()), (0, 13));
        for text in ["3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 d", "\u{feff}3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 d"] {
            let fen = pasted(text, Preset::Copenhagen.rules()).expect("a FEN");
            assert_eq!((fen.record.plies.len(), fen.record.rules.size()), (0, BoardSize::SEVEN));
        }
    }

    #[test]
    fn the_first_of_several_games_is_read_and_they_are_counted() {
        let pgn = "[Rules \"brandubh\"]\n[Event \"1\"]\n\n1. d6-c6 *\n\n[Rules \"brandubh\"]\n\n1. d6-b6 d5-e5 *\n";
        let json = "{\"rules\": \"brandubh\", \"moves\": [\"d6c6\"]}\n{\"rules\": \"brandubh\", \"moves\": []}";
        let opentafl = "[date:2016.08.27]\n[rules:dim:7 ks:c]\n\n1. d6-c6\n[a comment|another]\n";
        for (text, count) in [(pgn, 2), (json, 2), (opentafl, 1), ("1. d6-c6 *", 1), ("{why?} d6-c6", 1)] {
            let read = pasted(text, brandubh()).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((read.record.plies.len(), games(text)), (1, count), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let problem = |text: &str| pasted(text, brandubh()).expect_err(text).to_string();
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
