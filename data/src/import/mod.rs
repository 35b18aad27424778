//! Games that others recorded, as records like any other.
//!
//! Every move is played, and a game that cannot be played is left out and named by its line. The moves themselves become
//! policy targets of weight 1, so imported games can be trained on; nobody searched, so values are a third each.

mod archive;
mod game;
mod opentafl;

use std::path::{Path, PathBuf};

use hnefi_engine::Preset;
use hnefi_selfplay::GameRecord;

use crate::{DataError, PgnReader};

/// What a file of games came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// The games, in the order of the file.
    pub games: Vec<GameRecord>,
    /// Games that were left out.
    pub left_out: Vec<LeftOut>,
    /// Games whose players went on where the ruleset ends a game by repetition, by a draw fort or for want of captures. They
    /// are recorded under the same rules without these three.
    pub played_on: u64,
    /// Games recorded as drawn that had not ended on the board. Records know no draw by agreement: they are unfinished.
    pub agreed_draws: u64,
}

/// A game that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The file.
    pub path: PathBuf,
    /// Line of the file, from 1: that of the game, or of the move where it is known.
    pub line: usize,
    /// What was found and what was expected.
    pub problem: String,
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, line {}: {}", self.path.display(), self.line, self.problem)
    }
}

/// What is wrong with a game: a line and a sentence.
type Fault = (usize, String);

/// One game of a file, with the counts it adds to [`Imported`].
struct Found {
    record: GameRecord,
    played_on: bool,
    agreed_draw: bool,
}

/// Reads a file of games by its ending: `.csv` (the public archives), `.otg` (OpenTafl) or `.pgn` (this program's texts).
/// The first two do not say which published ruleset was played, so `rules` must.
///
/// # Errors
/// When the file cannot be read or is of another kind, or its ruleset is not known. Games that are wrong are reported in
/// [`Imported::left_out`].
pub fn import(path: &Path, rules: Option<Preset>) -> Result<Imported, DataError> {
    let unreadable = |problem: String| DataError::Unreadable { path: path.to_owned(), problem };
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    if !["csv", "otg", "pgn"].contains(&ending.as_str()) {
        return Err(unreadable(format!("ending {ending:?}; expected a file of games: .csv, .otg or .pgn")));
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| unreadable(format!("no UTF-8 text: {error}")))?;
    let needed = || {
        rules.ok_or_else(|| {
            unreadable(format!("a .{ending} file does not name its ruleset; expected one, as in --rules brandubh"))
        })
    };
    let found = match ending.as_str() {
        "csv" => archive::read(&text, needed()?).map_err(unreadable)?,
        "otg" => vec![opentafl::read(&text, needed()?)],
        _ => PgnReader::new(text.as_bytes()).map(from_pgn).collect(),
    };
    let mut imported = Imported::default();
    for game in found {
        match game {
            Ok(found) => {
                imported.played_on += u64::from(found.played_on);
                imported.agreed_draws += u64::from(found.agreed_draw);
                imported.games.push(found.record);
            }
            Err((line, problem)) => imported.left_out.push(LeftOut { path: path.to_owned(), line, problem }),
        }
    }
    Ok(imported)
}

/// A game of our own text, its moves made policy targets.
fn from_pgn(read: Result<GameRecord, DataError>) -> Result<Found, Fault> {
    match read {
        Ok(mut record) => {
            for ply in &mut record.plies {
                *ply = game::ply(ply.mv);
            }
            Ok(Found { record, played_on: false, agreed_draw: false })
        }
        Err(DataError::BadText { line, problem }) => Err((line, problem)),
        Err(other) => Err((1, other.to_string())),
    }
}
