//! A game with what else was thought of: variations, comments and marks.

use hnefi_engine::{Bitboard, Game, Move};

use crate::{GameRecord, RecordError};

/// The longest comment, in characters.
pub const LONGEST_COMMENT: usize = 4_000;

/// The most marks of one move.
pub const MOST_NAGS: usize = 8;

/// A game with variations.
#[derive(Clone, Debug, PartialEq)]
pub struct GameTree {
    /// The game itself: rules, start, players, the main line and how it ended.
    pub record: GameRecord,
    /// What is said of the start.
    pub comment: String,
    /// All moves, each behind the one that it follows. Behind a move stands at once its first continuation with all
    /// that follows, then the others; so the first continuations from the start are the record's plies.
    pub moves: Vec<TreeMove>,
}

/// One move of a [`GameTree`].
#[derive(Clone, Debug, PartialEq)]
pub struct TreeMove {
    /// Place in the list of the move that it follows, `None` at the start.
    pub after: Option<usize>,
    /// The move.
    pub mv: Move,
    /// What is said of it, see [`comment_text`]; may be empty.
    pub comment: String,
    /// Marks by their numbers in PGN: 1 is `!`, 2 is `?`, and so on.
    pub nags: Vec<u8>,
}

impl TreeMove {
    /// A move without words.
    pub fn new(after: Option<usize>, mv: Move) -> TreeMove {
        TreeMove { after, mv, comment: String::new(), nags: Vec::new() }
    }
}

impl From<GameRecord> for GameTree {
    fn from(record: GameRecord) -> GameTree {
        let moves = line(&record);
        GameTree { record, comment: String::new(), moves }
    }
}

/// The moves of a record.
pub(crate) fn line(record: &GameRecord) -> Vec<TreeMove> {
    let mv = |(index, mv): (usize, Move)| TreeMove::new(index.checked_sub(1), mv);
    record.plies.iter().map(|ply| ply.mv).enumerate().map(mv).collect()
}

/// What each move captures.
///
/// # Errors
/// When a move is illegal, stands in the wrong place, or the first continuations are not the record's plies.
pub(crate) fn captures(record: &GameRecord, moves: &[TreeMove]) -> Result<Vec<Bitboard>, RecordError> {
    let mut game = Game::from_position(record.start_position()?);
    // The moves on the way to the last one that was played.
    let mut path: Vec<usize> = Vec::new();
    let mut found = Vec::with_capacity(moves.len());
    for (index, mv) in moves.iter().enumerate() {
        let bad = |problem: String| record.inconsistent(format!("move {} of the tree", index + 1), problem);
        let depth = match mv.after {
            None => 0,
            Some(after) => {
                path.iter().rposition(|&on_path| on_path == after).map(|depth| depth + 1).ok_or_else(|| {
                    bad(format!("it follows move {}; expected one on the way to the move before", after + 1))
                })?
            }
        };
        while path.len() > depth {
            path.pop();
            game.undo();
        }
        let ply = game.play(mv.mv).map_err(|illegal| bad(illegal.to_string()))?;
        found.push(ply.captured);
        path.push(index);
    }
    let mut main = Vec::new();
    let mut at = None;
    for (index, mv) in moves.iter().enumerate() {
        if mv.after == at {
            main.push(mv.mv);
            at = Some(index);
        }
    }
    // A first continuation follows at once, so the walk above meets no other.
    if record.plies.iter().map(|ply| ply.mv).ne(main) {
        return Err(record.inconsistent("the tree".to_owned(), "its main line is not the game".to_owned()));
    }
    Ok(found)
}

/// A comment as a game's text can hold it: in one line, without braces.
pub fn comment_text(text: &str) -> String {
    let bare: String = text
        .chars()
        .map(|c| match c {
            '{' => '(',
            '}' => ')',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect();
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}
