//! Import of games recorded by other programs.
//!
//! Every move is checked, and an illegal game is left out and named by its line. Moves become policy targets of weight
//! 1, so that imported games can be trained on. Without searches, values are a third each.

mod archive;
mod game;
mod opentafl;

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use hnefi_engine::Preset;
use hnefi_run::GameRecord;

use crate::{DataError, PgnReader, TextError};
use archive::ArchiveReader;

/// The longest text of an OpenTafl game in bytes; typical ones have a few thousand, comments included.
const LONGEST_GAME: u64 = 1 << 22;

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// The games, in the order of the file.
    pub games: Vec<GameRecord>,
    /// Games that were left out.
    pub left_out: Vec<LeftOut>,
    /// Number of games that went on after the ruleset ended them by repetition, by a draw fort or for want of captures.
    /// They are recorded under the same rules without these three.
    pub played_on: u64,
    /// Number of games drawn by agreement. Records do not have such draws, so these games are unfinished.
    pub agreed_draws: u64,
}

/// A game that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The file.
    pub path: PathBuf,
    /// Line of the file, from 1: the line of the move if known, else of the game.
    pub line: usize,
    /// What was found and what was expected.
    pub problem: String,
}

impl std::fmt::Display for LeftOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, line {}: {}", self.path.display(), self.line, self.problem)
    }
}

/// An error in a game: a line and a sentence.
type LineError = (usize, String);

/// One game of a file, with the counts it adds to [`Imported`].
struct Found {
    record: GameRecord,
    played_on: bool,
    agreed_draw: bool,
}

/// Reads a file of games by its extension: `.csv` (the public archives), `.otg` (OpenTafl) or `.pgn` (Hnefi's texts).
/// The first two do not name the ruleset, so `rules` must.
///
/// # Errors
/// When the file cannot be read, is of another kind, or has an unknown ruleset. Games with errors are reported in
/// [`Imported::left_out`].
pub fn import(path: &Path, rules: Option<Preset>) -> Result<Imported, DataError> {
    let unreadable = |problem: String| DataError::Unreadable { path: path.to_owned(), problem };
    let ending = ending(path)?;
    if ending != "pgn" && rules.is_none() {
        let problem = format!("a .{ending} file does not name its ruleset; expected one, as in --rules brandubh");
        return Err(unreadable(problem));
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| unreadable(format!("no UTF-8 text: {error}")))?;
    let found = games(&ending, Cursor::new(text), rules.as_slice()).map_err(unreadable)?;
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

/// The games of a file, or their errors.
pub type RecordedGames = Box<dyn Iterator<Item = Result<GameRecord, DataError>>>;

/// Reads the games of a file one by one. A game without a ruleset has the first of `rules` under which it is legal.
///
/// # Errors
/// When the file cannot be opened or is of another kind. A game with an error is an error of its item.
pub fn recorded_games(path: &Path, rules: &[Preset]) -> Result<RecordedGames, DataError> {
    let unreadable = |problem: String| DataError::Unreadable { path: path.to_owned(), problem };
    let ending = ending(path)?;
    let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let games = games(&ending, BufReader::new(file), rules).map_err(unreadable)?;
    let bad = |(line, problem): LineError| DataError::Text(TextError::BadText { line, problem });
    Ok(Box::new(games.map(move |game| game.map(|found| found.record).map_err(bad))))
}

/// The extension of a file, if it is one with games.
fn ending(path: &Path) -> Result<String, DataError> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    if ["csv", "otg", "pgn"].contains(&ending.as_str()) {
        return Ok(ending);
    }
    let problem = format!("ending {ending:?}; expected a file of games: .csv, .otg or .pgn");
    Err(DataError::Unreadable { path: path.to_owned(), problem })
}

/// The games of a text with this extension.
fn games(
    ending: &str,
    mut input: impl BufRead + 'static,
    rules: &[Preset],
) -> Result<Box<dyn Iterator<Item = Result<Found, LineError>>>, String> {
    Ok(match ending {
        "csv" => Box::new(ArchiveReader::new(input, rules)?),
        "otg" => {
            let mut text = String::new();
            let read = input.by_ref().take(LONGEST_GAME + 1).read_to_string(&mut text);
            read.map_err(|error| error.to_string())?;
            if text.len() as u64 > LONGEST_GAME {
                return Err(format!("the game is longer than {LONGEST_GAME} bytes"));
            }
            Box::new(std::iter::once(opentafl::read(&text, rules)))
        }
        _ => Box::new(PgnReader::new(input).map(from_pgn)),
    })
}

/// A game of a PGN-like text, with its moves as policy targets.
fn from_pgn(read: Result<GameRecord, TextError>) -> Result<Found, LineError> {
    match read {
        Ok(mut record) => {
            for ply in &mut record.plies {
                *ply = game::ply(ply.mv);
            }
            Ok(Found { record, played_on: false, agreed_draw: false })
        }
        Err(TextError::BadText { line, problem }) => Err((line, problem)),
        Err(other) => Err((1, other.to_string())),
    }
}
