//! Games that others recorded, as records like any other.
//!
//! Every move is played, and a game that cannot be played is left out and named by its line. The moves themselves
//! become policy targets of weight 1, so imported games can be trained on; nobody searched, so values are a third each.

mod archive;
mod game;
mod opentafl;

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use hnefi_engine::Preset;
use hnefi_run::GameRecord;

use crate::{DataError, PgnReader};
use archive::ArchiveReader;

/// The longest text of an OpenTafl game, in bytes; comments included a real one has some thousand.
const LONGEST_GAME: u64 = 1 << 22;

/// What a file of games came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// The games, in the order of the file.
    pub games: Vec<GameRecord>,
    /// Games that were left out.
    pub left_out: Vec<LeftOut>,
    /// Games whose players went on where the ruleset ends a game by repetition, by a draw fort or for want of captures.
    /// They are recorded under the same rules without these three.
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
type LineError = (usize, String);

/// One game of a file, with the counts it adds to [`Imported`].
struct Found {
    record: GameRecord,
    played_on: bool,
    agreed_draw: bool,
}

/// Reads a file of games by its ending: `.csv` (the public archives), `.otg` (OpenTafl) or `.pgn` (this program's
/// texts). The first two do not say which published ruleset was played, so `rules` must.
///
/// # Errors
/// When the file cannot be read or is of another kind, or its ruleset is not known. Games that are wrong are reported
/// in [`Imported::left_out`].
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

/// Records of a file, or what is wrong with a game of it.
pub type RecordedGames = Box<dyn Iterator<Item = Result<GameRecord, DataError>>>;

/// The games of such a file one after the other, so that memory holds no more than one. What names no ruleset was
/// played by one of `rules`: each game is read by the first of them under which it can be played.
///
/// # Errors
/// When the file cannot be opened or is of another kind. A game that is wrong is an error in its place.
pub fn recorded_games(path: &Path, rules: &[Preset]) -> Result<RecordedGames, DataError> {
    let unreadable = |problem: String| DataError::Unreadable { path: path.to_owned(), problem };
    let ending = ending(path)?;
    let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let games = games(&ending, BufReader::new(file), rules).map_err(unreadable)?;
    let bad = |(line, problem): LineError| DataError::BadText { line, problem };
    Ok(Box::new(games.map(move |game| game.map(|found| found.record).map_err(bad))))
}

/// What a file's name ends with, if games are found in such.
fn ending(path: &Path) -> Result<String, DataError> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    if ["csv", "otg", "pgn"].contains(&ending.as_str()) {
        return Ok(ending);
    }
    let problem = format!("ending {ending:?}; expected a file of games: .csv, .otg or .pgn");
    Err(DataError::Unreadable { path: path.to_owned(), problem })
}

/// The games of a text of that kind.
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

/// A game of our own text, its moves made policy targets.
fn from_pgn(read: Result<GameRecord, DataError>) -> Result<Found, LineError> {
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
