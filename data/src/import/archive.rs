//! The public archives: a CSV file with a game per line.
//!
//! ```text
//! game,moves,captures_by_attackers,captures_by_defenders,result
//! 13,d2-e2 c4-c2 d6-c6 d3-f3 f4-f5 f3-f2 b4-b2 c2-d2xe2,0,1,White
//! ```
//!
//! White is the defenders, Black the attackers. The king's capture is not marked. A trailing `timeout` ends a game.

use std::io::BufRead;

use hnefi_engine::{Preset, Side};

use super::game::{RecordedGame, RecordedResult};
use super::{Found, LineError};
use crate::BoundedLines;

/// An example heading, for messages.
const HEADING: &str = "game,moves,captures_by_attackers,captures_by_defenders,result";

/// Indices of the columns that are read.
struct Columns {
    count: usize,
    game: usize,
    moves: usize,
    result: usize,
    captures: [Option<usize>; 2],
}

impl Columns {
    fn of(heading: &str) -> Result<Columns, String> {
        let names: Vec<&str> = heading.split(',').map(str::trim).collect();
        let place = |name: &str| names.iter().position(|&found| found == name);
        match (place("game"), place("moves"), place("result")) {
            (Some(game), Some(moves), Some(result)) => Ok(Columns {
                count: names.len(),
                game,
                moves,
                result,
                captures: [place("captures_by_attackers"), place("captures_by_defenders")],
            }),
            _ => Err(format!("line 1 is {:?}; expected a heading such as {HEADING}", abridged(heading))),
        }
    }
}

/// The longest line in bytes; a game of 10,000 plies fits.
const LONGEST_LINE: usize = 1 << 18;

/// Reads the games of an archive one by one.
pub(super) struct ArchiveReader<R> {
    lines: BoundedLines<R>,
    columns: Columns,
    /// Number of the last line read.
    line: usize,
    /// Possible rulesets; the ruleset of the previous game is first.
    rules: Vec<Preset>,
}

impl<R: BufRead> ArchiveReader<R> {
    /// Reads the heading. An archive names no ruleset: each game has the first of `rules` under which it is legal,
    /// beginning with the ruleset of the previous game.
    ///
    /// # Errors
    /// When the heading is not the heading of an archive.
    pub(super) fn new(input: R, rules: &[Preset]) -> Result<ArchiveReader<R>, String> {
        let mut lines = BoundedLines::new(input, LONGEST_LINE);
        let heading =
            lines.next().unwrap_or_else(|| Err(format!("the file is empty; expected a heading such as {HEADING}")))?;
        let columns = Columns::of(&heading)?;
        Ok(ArchiveReader { lines, columns, line: 1, rules: rules.to_vec() })
    }

    fn game(&mut self, text: &str) -> Result<Found, LineError> {
        let mut error = None;
        for index in 0..self.rules.len() {
            match game(text, self.line, &self.columns, self.rules[index]) {
                Ok(found) => {
                    self.rules[..=index].rotate_right(1);
                    return Ok(found);
                }
                // Report the error under the likeliest rules.
                Err(found) => error = error.or(Some(found)),
            }
        }
        Err(error.unwrap_or_else(|| (self.line, "no ruleset to read it by".to_owned())))
    }
}

impl<R: BufRead> Iterator for ArchiveReader<R> {
    type Item = Result<Found, LineError>;

    fn next(&mut self) -> Option<Result<Found, LineError>> {
        loop {
            let read = self.lines.next()?;
            self.line += 1;
            match read {
                Ok(text) if text.trim().is_empty() => {}
                Ok(text) => return Some(self.game(&text)),
                Err(problem) => return Some(Err((self.line, problem))),
            }
        }
    }
}

fn game(text: &str, line: usize, columns: &Columns, rules: Preset) -> Result<Found, LineError> {
    let bad = |problem: String| (line, problem);
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    if fields.len() != columns.count {
        return Err(bad(format!("{} fields; expected {}", fields.len(), columns.count)));
    }
    let number = fields[columns.game];
    let number = number.parse().map_err(|_| bad(format!("game {number:?}: expected a whole number")))?;
    let result = match fields[columns.result] {
        "White" => RecordedResult::Won(Side::Defenders),
        "Black" => RecordedResult::Won(Side::Attackers),
        "Draw" => RecordedResult::Drawn,
        // Some games have no moves.
        "Ongoing" | "" => RecordedResult::Open,
        other => {
            return Err(bad(format!(
                "game {number}: result {other:?}; expected White, Black, Draw, Ongoing or nothing"
            )));
        }
    };
    let mut words: Vec<&str> = fields[columns.moves].split_whitespace().collect();
    if words.last() == Some(&"timeout") {
        words.pop();
    }
    let recorded = RecordedGame {
        number,
        start: None,
        players: ["human".to_owned(), "human".to_owned()],
        moves: words.iter().map(|&word| (word, line)).collect(),
        result,
        line,
    };
    let found = recorded.build(rules.rules())?;
    check_captures(&words, &fields, columns).map_err(|problem| bad(format!("game {number}: {problem}")))?;
    Ok(found)
}

/// Compares the counts of captures with the captured squares in the moves. A piece captured in two ways at once is
/// named, and counted, twice.
fn check_captures(words: &[&str], fields: &[&str], columns: &Columns) -> Result<(), String> {
    for (side, column) in Side::BOTH.into_iter().zip(columns.captures) {
        let Some(column) = column else { continue };
        let own = words.iter().skip(side.index()).step_by(2);
        let named: usize = own.map(|word| word.matches('x').count()).sum();
        if fields[column].parse() != Ok(named) {
            return Err(format!("captures by the {side} are {:?}; the moves name {named}", fields[column]));
        }
    }
    Ok(())
}

/// The beginning of a line, for a message.
fn abridged(line: &str) -> String {
    line.chars().take(80).collect()
}
