//! The public archives: a table with a game per record, in CSV as R, Excel and pandas write it.
//!
//! ```text
//! game,moves,captures_by_attackers,captures_by_defenders,result
//! 13,d2-e2 c4-c2 d6-c6 d3-f3 f4-f5 f3-f2 b4-b2 c2-d2xe2,0,1,White
//! ```
//!
//! White is the defenders, Black the attackers. The king's capture is not marked. A last word `resigned` or `timeout`
//! ends a game. Some archives have these columns without a heading, and without the first one.

use std::collections::VecDeque;
use std::io::BufRead;

use csv::{ReaderBuilder, StringRecord, Trim};
use hnefi_engine::{Rules, Side};
use hnefi_record::{BadLine, BoundedLines, GameRecord, Recorded, RecordedGame, RecordedResult, Step, gives_up, walk};

use super::LineError;

/// An example heading, for messages.
const HEADING: &str = "game,moves,captures_by_attackers,captures_by_defenders,result";

/// What separates fields; Excel writes semicolons where a comma is the decimal point.
const SEPARATORS: [u8; 3] = [b',', b';', b'\t'];

/// The longest record in bytes; a game of 10,000 plies fits. A record that goes over more lines than a game has turns
/// has a quotation mark that never ends.
const LONGEST_RECORD: usize = 1 << 18;
const MOST_LINES: usize = 1 << 10;

/// Indices of the columns that are read.
struct Columns {
    separator: u8,
    count: usize,
    game: Option<usize>,
    moves: usize,
    result: usize,
    captures: [Option<usize>; 2],
}

impl Columns {
    /// Reads the heading. The second value says whether it was one, and not the first game of a table without one.
    fn of(heading: &str) -> Result<(Columns, bool), String> {
        let of_names = |names: &[String], separator| {
            let place = |name: &str| names.iter().position(|found| found == name);
            let captures = [place("captures_by_attackers"), place("captures_by_defenders")];
            let (count, game) = (names.len(), place("game"));
            Some(Columns { separator, count, game, moves: place("moves")?, result: place("result")?, captures })
        };
        for separator in SEPARATORS {
            let name = |name: &str| name.to_lowercase().replace([' ', '.'], "_");
            let names: Vec<String> = split(heading, separator).iter().map(name).collect();
            if let Some(columns) = of_names(&names, separator) {
                return Ok((columns, true));
            }
        }
        for separator in SEPARATORS {
            let fields = split(heading, separator);
            let usual: Vec<String> = HEADING.split(',').map(str::to_owned).collect();
            let names = &usual[usual.len().saturating_sub(fields.len())..];
            let is_result = |result| RecordedResult::read(result).is_some();
            if fields.len() >= 4
                && let Some(columns) = of_names(names, separator).filter(|columns| columns.count == fields.len())
                && fields.get(columns.result).is_some_and(is_result)
                && fields.get(columns.moves).is_some_and(|moves| moves.starts_with(|c: char| c.is_ascii_alphabetic()))
            {
                return Ok((columns, false));
            }
        }
        let found: String = heading.chars().take(80).collect();
        Err(format!("line 1 is {found:?}; expected a heading such as {HEADING}"))
    }
}

/// The fields of a record.
fn split(record: &str, separator: u8) -> StringRecord {
    let mut reader = ReaderBuilder::new();
    reader.has_headers(false).flexible(true).trim(Trim::All).delimiter(separator).buffer_capacity(record.len().max(1));
    // Text in memory can always be read.
    reader.from_reader(record.as_bytes()).records().find_map(Result::ok).unwrap_or_default()
}

/// Reads the games of an archive one by one.
pub(super) struct ArchiveReader<R> {
    lines: BoundedLines<R>,
    /// Lines that were read ahead. A quotation mark in them opens nothing.
    ahead: VecDeque<Result<String, BadLine>>,
    columns: Columns,
    /// Fields before the columns, by the first record that could be read: R may write the names of the rows without a
    /// heading for them.
    shift: Option<usize>,
    /// Number of the last line read.
    line: usize,
    /// Number of records read.
    count: u64,
    rules: Vec<Rules>,
}

impl<R: BufRead> ArchiveReader<R> {
    /// Reads the heading. An archive names no ruleset: each game has the first of `rules` under which it is legal,
    /// beginning with the ruleset of the previous game.
    ///
    /// # Errors
    /// When the heading is not the heading of an archive.
    pub(super) fn new(input: R, rules: Vec<Rules>) -> Result<ArchiveReader<R>, String> {
        let mut lines = BoundedLines::new(input, LONGEST_RECORD).or_latin1();
        let mut next = || {
            let line =
                lines.next().ok_or_else(|| format!("the file is empty; expected a heading such as {HEADING}"))?;
            line.map_err(|problem| problem.to_string())
        };
        let (mut heading, mut line) = (next()?, 1);
        // Excel's way to name the separator.
        if heading.trim().get(..4).is_some_and(|key| key.eq_ignore_ascii_case("sep=")) {
            (heading, line) = (next()?, 2);
        }
        let (columns, is_heading) = Columns::of(&heading)?;
        let mut ahead = VecDeque::new();
        if !is_heading {
            ahead.push_back(Ok(heading));
            line -= 1;
        }
        Ok(ArchiveReader { lines, ahead, columns, shift: None, line, count: 0, rules })
    }

    /// The next record, which goes on in the next line while a quotation mark is open, and the number of its lines.
    fn record(&mut self) -> Option<(Result<String, BadLine>, usize)> {
        if let Some(line) = self.ahead.pop_front() {
            return Some((line, 1));
        }
        let first = match self.lines.next()? {
            Ok(first) => first,
            Err(problem) => return Some((Err(problem), 1)),
        };
        let quotes = |text: &str| text.bytes().filter(|&byte| byte == b'"').count();
        let (mut open, mut bytes) = (quotes(&first) % 2 == 1, first.len());
        while open && self.ahead.len() < MOST_LINES && bytes < LONGEST_RECORD {
            let Some(line) = self.lines.next() else { break };
            if let Ok(line) = &line {
                open ^= quotes(line) % 2 == 1;
                bytes += line.len();
            }
            self.ahead.push_back(line);
        }
        if open || self.ahead.iter().any(Result::is_err) {
            // The mark never ends: every line is a record.
            return Some((Ok(first), 1));
        }
        let lines = 1 + self.ahead.len();
        let more = self.ahead.drain(..).filter_map(Result::ok);
        Some((Ok(more.fold(first, |text, line| text + "\n" + &line)), lines))
    }

    fn game(&mut self, text: &str) -> Result<Recorded, LineError> {
        let (line, columns) = (self.line, &self.columns);
        let bad = |problem: String| (line, problem);
        let all = split(text, columns.separator);
        let shift = self.shift.unwrap_or(usize::from(all.len() == columns.count + 1));
        let fields: Vec<&str> = all.iter().skip(shift).map(missing).collect();
        if fields.len() != columns.count {
            return Err(bad(format!("{} fields; expected {}", fields.len(), columns.count)));
        }
        let number = columns.game.map_or(Some(self.count), |place| whole(fields[place]));
        let number = number.ok_or_else(|| {
            bad(format!("game {:?}: expected a whole number", columns.game.map_or("", |place| fields[place])))
        })?;
        let in_game = |problem: String| bad(format!("game {number}: {problem}"));
        let result = fields[columns.result];
        let expected = "expected White, Black, Draw, Ongoing or nothing";
        let result = RecordedResult::read(result).ok_or_else(|| in_game(format!("result {result:?}; {expected}")))?;
        // pandas writes a list with brackets, commas and quotation marks.
        let between = |c: char| c.is_whitespace() || ",[]'\"".contains(c);
        let mut words: Vec<&str> = fields[columns.moves].split(between).filter(|word| !word.is_empty()).collect();
        let moves = words.len() - words.iter().rev().take_while(|word| gives_up(word)).count();
        let given_up = words.len() > moves;
        words.truncate(moves);
        let human = || Some("human".to_owned());
        let recorded = RecordedGame {
            number,
            players: [human(), human()],
            moves: words.iter().map(|&word| (word, line)).collect(),
            result,
            given_up,
            line,
            ..RecordedGame::default()
        };
        let found = recorded.read_by(&mut self.rules).map_err(|error| in_game(error.in_line().1))?;
        check_captures(&words, &found.record, &fields, columns).map_err(in_game)?;
        self.shift = Some(shift);
        Ok(found)
    }
}

impl<R: BufRead> Iterator for ArchiveReader<R> {
    type Item = Result<Recorded, LineError>;

    fn next(&mut self) -> Option<Result<Recorded, LineError>> {
        loop {
            let (read, lines) = self.record()?;
            self.line += 1;
            let found = match read {
                // Excel fills up with rows of separators.
                Ok(text) if text.chars().all(|c| c.is_whitespace() || c == char::from(self.columns.separator)) => None,
                Ok(text) => {
                    self.count += 1;
                    Some(self.game(&text))
                }
                Err(problem) => Some(Err((self.line, problem.to_string()))),
            };
            self.line += lines - 1;
            if found.is_some() {
                return found;
            }
        }
    }
}

/// The field, or nothing for what R and pandas write where nothing is known.
fn missing(field: &str) -> &str {
    if ["NA", "NaN", "nan", "None", "NULL"].contains(&field) { "" } else { field }
}

/// A whole number; R and pandas may write it as `100000`, `1e+05` or `100000.0`.
fn whole(text: &str) -> Option<u64> {
    let number = || text.parse::<f64>().ok().filter(|number| number.fract() == 0.0 && (0.0..9e15).contains(number));
    text.parse().ok().or_else(|| number().map(|number| number as u64))
}

/// Compares the counts of captures with the captured squares in the moves. A piece captured in two ways at once is
/// named, and counted, twice. A count may be unknown. Old games name no captures; their counts may be of those made.
fn check_captures(words: &[&str], game: &GameRecord, fields: &[&str], columns: &Columns) -> Result<(), String> {
    let (mut made, unnamed) = ([0; 2], !words.iter().any(|word| word.contains('x')));
    if unnamed {
        let count = |step: Step<'_>| {
            let king = step.before.board().king();
            let men = step.captured.filter(|&square| Some(square) != king).count();
            made[step.before.side_to_move().index()] += men as u64;
        };
        walk(game, count).map_err(|error| error.to_string())?;
    }
    for (side, column) in Side::BOTH.into_iter().zip(columns.captures) {
        let Some(column) = column.filter(|&column| !fields[column].is_empty()) else { continue };
        let own = words.iter().skip(usize::from(side != game.rules.first)).step_by(2);
        let named: usize = own.map(|word| word.matches('x').count()).sum();
        let count = whole(fields[column]);
        if count != Some(named as u64) && !(unnamed && count == Some(made[side.index()])) {
            return Err(format!("captures by the {side} are {:?}; the moves name {named}", fields[column]));
        }
    }
    Ok(())
}
