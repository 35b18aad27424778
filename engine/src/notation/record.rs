//! A rules record: reading, writing, comparing.

use std::fmt;
use std::str::FromStr;

use super::options::{Kind, OPTIONS, RecordOption};
use super::values;
use crate::{Bitboard, BoardSize, Start};

/// The options that list squares; those that begin with the same letters say what the squares are.
const SQUARES: [&str; 4] = ["cor", "cen", "afor", "dfor"];

/// An option of a rules record that cannot be read or is not played.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rules record, {option}: found {found}; expected {expected}")]
pub struct RecordError {
    /// The option, such as `spd`.
    pub option: String,
    /// What stands there.
    pub found: String,
    /// What could.
    pub expected: String,
}

/// Rules in the words of OpenTafl's notation: every option of its rules records that has to do with men and a king.
///
/// Two records are equal if they say the same, whatever they leave out and in whatever order.
///
/// ```
/// use hnefi_engine::RulesRecord;
///
/// let text = "dim:7 ks:n cenhe: cenh: start:/3t3/3t3/3T3/ttTKTtt/3T3/3t3/3t3/";
/// let record: RulesRecord = text.parse()?;
/// assert_eq!((record.side(), record.value("ks"), record.value("esc")), (7, "w", "c"));
/// let error = text.replace("ks:n", "kj:r").parse::<RulesRecord>().unwrap_err();
/// assert_eq!(error.to_string(), "rules record, kj: found r; expected n, because jumps are not played here");
/// # Ok::<(), hnefi_engine::RecordError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesRecord {
    name: Option<String>,
    /// In the order of [`OPTIONS`], in the form of [`values::normal`].
    values: [String; OPTIONS.len()],
    start: Start,
}

impl RulesRecord {
    /// Whether a text is meant as a rules record: one of its words begins with `dim:`.
    pub fn is_meant(text: &str) -> bool {
        text.split_whitespace().any(|word| word.starts_with("dim:"))
    }

    /// A record with this start; all else is as usual.
    pub(super) fn begin(start: Start) -> RulesRecord {
        RulesRecord { name: None, values: OPTIONS.map(|option| option.usual.to_owned()), start }
    }

    /// Gives an option that there is a value in its one form.
    pub(super) fn put(&mut self, key: &str, value: &str) {
        if let Some(place) = OPTIONS.iter().position(|option| option.key == key) {
            value.clone_into(&mut self.values[place]);
        }
    }

    /// Squares along one edge.
    pub fn side(&self) -> usize {
        self.start.size().side()
    }

    pub(super) fn opening(&self) -> Start {
        self.start
    }

    /// What the game is called, without the underscores that stand for spaces.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The same rules under a name; spaces become underscores in the text.
    #[must_use]
    pub fn named(self, name: &str) -> RulesRecord {
        RulesRecord { name: Some(name.split_whitespace().collect::<Vec<_>>().join(" ")), ..self }
    }

    /// The rows of the start, the first rank first: `/3t3/3t3/3T3/ttTKTtt/3T3/3t3/3t3/`.
    pub fn start(&self) -> String {
        let letters = |row: &str| row.replace('a', "t").replace('d', "T").replace('k', "K");
        let rows: Vec<String> = self.start.rows().split('/').rev().map(letters).collect();
        format!("/{}/", rows.join("/"))
    }

    /// The value of an option, said or left out; empty for a key that there is not, and for the pieces that are on no
    /// board of ours. Pieces are in the order `tTK`.
    pub fn value(&self, key: &str) -> &str {
        let place = OPTIONS.iter().position(|option| option.key == key);
        place.map_or("", |place| &self.values[place])
    }

    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<(), RecordError> {
        let Some(place) = OPTIONS.iter().position(|option| option.key == key) else {
            let known = OPTIONS.iter().map(|option| option.key).collect::<Vec<_>>().join(", ");
            let expected = format!("one of dim, name, start, starti, {known}");
            return Err(RecordError {
                option: key.to_owned(),
                found: "an option that there is not".to_owned(),
                expected,
            });
        };
        let RecordOption { kind, .. } = OPTIONS[place];
        let size = self.start.size();
        let value = values::normal(kind, value, size).map_err(problem(key))?;
        let is = |squares: Bitboard| !squares.is_empty() && value == values::write_squares(squares, size);
        // The notation keeps two older words for the king's strength.
        self.values[place] = match (key, value.as_str()) {
            ("ks", "y") => "s".to_owned(),
            ("ks", "n") => "w".to_owned(),
            ("cor", _) if is(Bitboard::corners(size)) => "default".to_owned(),
            ("cen", _) if is(Bitboard::throne(size)) => "default".to_owned(),
            ("afor" | "dfor", "default") => String::new(),
            _ => value,
        };
        Ok(())
    }

    /// Gives options that say nothing beside the others their usual value, so that records that say the same are equal:
    /// the lists of squares that there are not, the flank of no shieldwall, and whether corners are hostile to a king
    /// whom only four attackers capture.
    pub(super) fn simplify(&mut self) {
        // A board of even side has no middle.
        if self.side().is_multiple_of(2) && self.value("cen") == "default" {
            self.put("cen", "");
        }
        for (place, RecordOption { key, kind, usual }) in OPTIONS.iter().enumerate() {
            let dormant = match kind {
                Kind::Pieces => {
                    let squares = SQUARES.iter().find(|squares| key.starts_with(**squares)).copied();
                    squares.is_some_and(|squares| self.value(squares).is_empty())
                }
                _ => *key == "swf" && self.value("sw") == "n",
            };
            let corners = *key == "corh" && self.value("ks") == "s" && self.value("cor") == "default";
            if dormant {
                self.values[place] = (*usual).to_owned();
            } else if corners && !self.values[place].contains('K') {
                self.values[place].push('K');
            }
        }
    }

    /// The options in which this record says something else than `other`, each with both values, such as
    /// `ka:y, not ka:n`.
    pub fn differing(&self, other: &RulesRecord) -> Vec<(&'static str, String)> {
        let values = OPTIONS.iter().zip(self.values.iter().zip(&other.values));
        let differing = values.filter(|(_, (ours, theirs))| ours != theirs);
        differing
            .map(|(RecordOption { key, .. }, (ours, theirs))| (*key, format!("{key}:{ours}, not {key}:{theirs}")))
            .collect()
    }
}

fn problem(option: &str) -> impl Fn(values::Problem) -> RecordError {
    move |(found, expected)| {
        let found = if found.is_empty() { "nothing".to_owned() } else { found };
        RecordError { option: option.to_owned(), found, expected }
    }
}

impl FromStr for RulesRecord {
    type Err = RecordError;

    /// Reads a record, on one line or several, the options in any order.
    fn from_str(text: &str) -> Result<RulesRecord, RecordError> {
        let error = |option, found: &str, expected: &str| problem(option)((found.to_owned(), expected.to_owned()));
        let mut said: Vec<(&str, &str)> = Vec::new();
        for word in text.split_whitespace() {
            let (key, value) = word.split_once(':').ok_or_else(|| error(word, "no colon", "words such as esc:e"))?;
            if key.is_empty() {
                return Err(error(word, "no option before the colon", "words such as esc:e"));
            }
            if said.iter().any(|(known, _)| *known == key) {
                return Err(error(key, "a second value", "one"));
            }
            said.push((key, value));
        }
        let of = |key: &str| said.iter().find(|(known, _)| *known == key).map(|(_, value)| *value);
        let sides = "the squares along one edge, 5 to 19";
        let dim = of("dim").ok_or_else(|| error("dim", "nothing", sides))?;
        let size = dim.parse().ok().and_then(BoardSize::new).ok_or_else(|| error("dim", dim, sides))?;
        let (key, start) = match (of("start"), of("starti")) {
            (Some(start), None) => ("start", start),
            (None, Some(start)) => ("starti", start),
            (None, None) => return Err(error("start", "nothing", "the pieces that the game begins with")),
            (Some(_), Some(_)) => return Err(error("starti", "a second start", "one")),
        };
        let start = values::start(start, size, key == "starti").map_err(problem(key))?;
        let mut record = RulesRecord::begin(start);
        for (key, value) in &said {
            match *key {
                "dim" | "start" | "starti" => {}
                "name" => record = record.named(&value.replace('_', " ")),
                key => record.set(key, value)?,
            }
        }
        record.simplify();
        Ok(record)
    }
}

impl fmt::Display for RulesRecord {
    /// Writes the record in one line, without the options that are as usual.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dim:{} ", self.side())?;
        if let Some(name) = &self.name {
            write!(f, "name:{} ", name.replace(' ', "_"))?;
        }
        for (RecordOption { key, usual, .. }, value) in OPTIONS.iter().zip(&self.values) {
            if value != usual {
                write!(f, "{key}:{value} ")?;
            }
        }
        write!(f, "start:{}", self.start())
    }
}
