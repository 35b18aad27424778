//! Import of games recorded by other programs.
//!
//! Every move is checked, and an illegal game is left out and named by its line. Games of a dataset keep their policies
//! and values. Elsewhere moves become policy targets of weight 1, so that imported games can be trained on, and values
//! are a third each.

mod archive;
mod table;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use hnefi_engine::{NamedRules, Rules};
use hnefi_inference::file;
use hnefi_record::{BoundedLines, Recorded, json_game, opentafl};
use hnefi_run::GameRecord;

use crate::{DataError, PgnReader, TextError};
use archive::ArchiveReader;

/// The endings of files of games.
const ENDINGS: [&str; 6] = ["csv", "json", "jsonl", "otg", "parquet", "pgn"];

/// The longest text of one game in bytes; typical ones have a few thousand, comments included.
const LONGEST_GAME: usize = 1 << 22;

/// The longest line of JSON in bytes; a game of 10,000 plies with its policies fits.
const LONGEST_LINE: usize = 64 << 20;

/// The largest file that is read as a whole, in bytes: more than all games that people have recorded.
const LARGEST_FILE: u64 = 1 << 30;

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// The games, in the order of the file.
    pub games: Vec<GameRecord>,
    /// Games that were left out.
    pub left_out: Vec<LeftOut>,
    /// Number of games that went on after the ruleset ended them by repetition, by encirclement, by a draw fort or for
    /// want of captures. They are recorded under the same rules without what ended them.
    pub played_on: u64,
    /// Number of games drawn by agreement. Records do not have such draws, so these games are unfinished.
    pub agreed_draws: u64,
    /// Files whose own account of their rules differs from the ruleset that their game was read by.
    pub differing: Vec<LeftOut>,
}

/// A game that was left out, or what else is to be said of one.
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

/// Reads a file of games by its extension: `.csv` (the public archives), `.json` and `.jsonl` (a game a file or a
/// line), `.otg` (OpenTafl), `.parquet` (an exported table of games) or `.pgn`. A game that does not name its rules is
/// read under `rules`.
///
/// # Errors
/// When the file cannot be read, is of another kind, or needs a ruleset and has none. Games with errors are reported in
/// [`Imported::left_out`].
pub fn import(path: &Path, rules: Option<NamedRules>) -> Result<Imported, DataError> {
    let mut imported = Imported::default();
    let told = |line, problem| LeftOut { path: path.to_owned(), line, problem };
    for game in recorded(path, rules.as_slice())? {
        match game {
            Ok(Recorded { mut record, played_on, agreed_draw, has_policies, differing }) => {
                imported.played_on += u64::from(played_on);
                imported.agreed_draws += u64::from(agreed_draw);
                if !differing.is_empty() {
                    let problem = format!("the file has other rules than it is read by: {}", differing.join("; "));
                    imported.differing.push(told(1, problem));
                }
                for ply in record.plies.iter_mut().filter(|_| !has_policies) {
                    (ply.policy, ply.trains) = (vec![(ply.mv, 1.0)], true);
                }
                imported.games.push(record);
            }
            Err((line, problem)) => imported.left_out.push(told(line, problem)),
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
pub fn recorded_games(path: &Path, rules: &[NamedRules]) -> Result<RecordedGames, DataError> {
    let bad = |(line, problem): LineError| DataError::Text(TextError::BadText { line, problem });
    Ok(Box::new(recorded(path, rules)?.map(move |game| game.map(|found| found.record).map_err(bad))))
}

/// The games of a file.
fn recorded(
    path: &Path,
    rules: &[NamedRules],
) -> Result<Box<dyn Iterator<Item = Result<Recorded, LineError>>>, DataError> {
    let unreadable = |problem: String| DataError::Unreadable { path: path.to_owned(), problem };
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
    if !ENDINGS.contains(&ending.as_str()) {
        let [others @ .., last] = ENDINGS;
        let problem = format!("ending {ending:?}; expected a file of games: .{} or .{last}", others.join(", ."));
        return Err(unreadable(problem));
    }
    if ["csv", "otg"].contains(&ending.as_str()) && rules.is_empty() {
        let problem = format!("a .{ending} file does not name its ruleset; expected one, as in --rules brandubh");
        return Err(unreadable(problem));
    }
    // The games of an export are read one by one.
    let largest = if ["jsonl", "pgn"].contains(&ending.as_str()) { u64::MAX } else { LARGEST_FILE };
    let file = file::open(path, largest).map_err(|error| unreadable(error.to_string()))?;
    let mut rules: Vec<Rules> = rules.iter().map(|preset| preset.rules()).collect();
    if ending == "parquet" {
        return Ok(Box::new(table::games(file, rules).map_err(unreadable)?));
    }
    let input = BufReader::new(file);
    Ok(match ending.as_str() {
        "csv" => Box::new(ArchiveReader::new(input, rules).map_err(unreadable)?),
        "jsonl" => {
            let lines = (1..).zip(BoundedLines::new(input, LONGEST_LINE));
            let lines = lines.filter(|(_, line)| !line.as_ref().is_ok_and(|line| line.trim().is_empty()));
            Box::new(lines.map(move |(number, line)| {
                let line = line.map_err(|problem| problem.to_string());
                let read = line.and_then(|line| json_game(&line, &mut rules).map_err(|error| error.in_line().1));
                read.map_err(|problem| (number, problem))
            }))
        }
        "pgn" => {
            let mut games = PgnReader::under(input, &rules);
            Box::new(std::iter::from_fn(move || Some(games.next_recorded()?.map_err(TextError::in_line))))
        }
        whole => {
            let text = whole_text(input).map_err(unreadable)?;
            let read = if whole == "otg" { opentafl::read(&text, &rules) } else { json_game(&text, &mut rules) };
            Box::new(std::iter::once(read.map_err(TextError::in_line)))
        }
    })
}

/// The text of one game.
fn whole_text(input: impl BufRead) -> Result<String, String> {
    let mut text = String::new();
    for line in BoundedLines::new(input, LONGEST_GAME).or_latin1() {
        text.push_str(&line.map_err(|problem| problem.to_string())?);
        text.push('\n');
        if text.len() > LONGEST_GAME {
            return Err(format!("the game is longer than {LONGEST_GAME} bytes"));
        }
    }
    Ok(text)
}
