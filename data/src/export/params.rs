//! Parameters of an export.

use std::str::FromStr;

use hnefi_inference::names::did_you_mean;

use super::{Filter, Splits};
use crate::DataError;

/// An export format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One game per line of JSON: moves, captures, policies, values and the end.
    Jsonl,
    /// Positions as numpy arrays: a folder of `positions-NxN-0001.npz`.
    Npz,
    /// Positions or games as Parquet tables: folders of `positions-NxN-0001.parquet` or `games-0001.parquet`.
    Parquet,
    /// A PGN-like text for people.
    Pgn,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 4] = [Format::Jsonl, Format::Npz, Format::Parquet, Format::Pgn];

    /// `jsonl`, `npz`, `parquet` or `pgn`, which is also the file extension.
    pub const fn as_str(self) -> &'static str {
        match self {
            Format::Jsonl => "jsonl",
            Format::Npz => "npz",
            Format::Parquet => "parquet",
            Format::Pgn => "pgn",
        }
    }

    /// Whether an export is a folder even without a split.
    pub const fn is_folder(self) -> bool {
        matches!(self, Format::Npz | Format::Parquet)
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Parses one of several words; `option` names the option in errors.
pub(super) fn one_of<T: Copy>(option: &'static str, text: &str, known: &[(&str, T)]) -> Result<T, DataError> {
    known.iter().find(|(name, _)| *name == text).map(|&(_, value)| value).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
        let (last, others) = names.split_last().expect("there are several");
        let meant = did_you_mean(text, names.iter().copied());
        let problem = format!("expected {} or {last}{meant}", others.join(", "));
        DataError::BadOption { option, found: text.to_owned(), problem }
    })
}

impl FromStr for Format {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Format, DataError> {
        one_of("export format", text, &Format::ALL.map(|format| (format.as_str(), format)))
    }
}

/// Kind of row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// A row per ply of a finished game.
    Positions,
    /// A row per game.
    Games,
}

impl FromStr for TableKind {
    type Err = DataError;

    fn from_str(text: &str) -> Result<TableKind, DataError> {
        one_of("table", text, &[("positions", TableKind::Positions), ("games", TableKind::Games)])
    }
}

/// Boards in a table of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoardColumns {
    /// The network's 32 input planes.
    #[default]
    Planes,
    /// One number per square: its content.
    Compact,
}

impl FromStr for BoardColumns {
    type Err = DataError;

    fn from_str(text: &str) -> Result<BoardColumns, DataError> {
        one_of("board", text, &[("planes", BoardColumns::Planes), ("compact", BoardColumns::Compact)])
    }
}

/// Policy targets in a table of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PolicyColumns {
    /// Indices and weights of the moves with a weight.
    #[default]
    Sparse,
    /// All 4(N - 1) x N x N weights.
    Dense,
}

impl FromStr for PolicyColumns {
    type Err = DataError;

    fn from_str(text: &str) -> Result<PolicyColumns, DataError> {
        one_of("policy", text, &[("sparse", PolicyColumns::Sparse), ("dense", PolicyColumns::Dense)])
    }
}

/// Texts of the dataset card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardText {
    /// Name of the dataset.
    pub title: String,
    /// Licence by its name on the Hugging Face hub, such as `cc-by-4.0`.
    pub license: String,
    /// The command that wrote the dataset, if the card should name it.
    pub command: Option<String>,
}

impl Default for CardText {
    fn default() -> CardText {
        CardText { title: "Hnefatafl games".to_owned(), license: "unknown".to_owned(), command: None }
    }
}

/// Parameters of an export.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportParams {
    /// The format.
    pub format: Format,
    /// Kind of row; `None` for the format's default: positions for npz and parquet, games for jsonl and pgn.
    pub rows: Option<TableKind>,
    /// Boards in tables of positions.
    pub board: BoardColumns,
    /// Policy targets in tables of positions.
    pub policy: PolicyColumns,
    /// Filter of the games.
    pub filter: Filter,
    /// Splits of the dataset, each in its own folder; `None` for an undivided dataset.
    pub splits: Option<Splits>,
    /// Leave out of each split the positions (board and side to move) that an earlier split has, as they are or as one
    /// of their mirror images. Takes up to 20 bytes of memory per distinct position.
    pub disjoint: bool,
    /// A new file begins once one has this many rows (games stay whole); `None` for the format's default.
    pub shard_rows: Option<usize>,
    /// For the dataset card.
    pub card: CardText,
}

impl ExportParams {
    /// All games in this format, undivided, with planes and sparse policies.
    pub fn new(format: Format) -> ExportParams {
        ExportParams {
            format,
            rows: None,
            board: BoardColumns::default(),
            policy: PolicyColumns::default(),
            filter: Filter::default(),
            splits: None,
            disjoint: false,
            shard_rows: None,
            card: CardText::default(),
        }
    }

    /// Kind of row.
    pub fn table(&self) -> TableKind {
        self.rows.unwrap_or(match self.format {
            Format::Npz | Format::Parquet => TableKind::Positions,
            Format::Jsonl | Format::Pgn => TableKind::Games,
        })
    }

    /// Whether the export is a folder with a dataset card, rather than a single text.
    pub fn is_folder(&self) -> bool {
        self.format.is_folder() || self.splits.is_some()
    }

    /// Checks that the format supports all options.
    ///
    /// # Errors
    /// When it does not; the message names the option and the alternatives.
    pub fn check(&self) -> Result<(), DataError> {
        let (format, games) = (self.format, self.table() == TableKind::Games);
        let sample = self.filter.sample;
        let (option, found, problem) = if !games && matches!(format, Format::Jsonl | Format::Pgn) {
            ("table", "positions", format!("{format} holds games; expected npz or parquet, or no --table"))
        } else if games && format == Format::Npz {
            ("table", "games", "npz holds positions; expected parquet, jsonl or pgn".to_owned())
        } else if games && self.board == BoardColumns::Compact {
            ("board", "compact", "a table of games has no boards; expected a table of positions".to_owned())
        } else if games && self.policy == PolicyColumns::Dense {
            ("policy", "dense", "a table of games has no policies; expected a table of positions".to_owned())
        } else if self.disjoint && (games || self.splits.is_none()) {
            let problem = "only a split has parts, and only a table of positions leaves positions out; expected a split \
                           of positions";
            ("disjoint", "true", problem.to_owned())
        } else if let (Some(rows), false) = (self.shard_rows, self.is_folder()) {
            let problem = format!("{format} without a split is one file; expected none, or a split");
            ("shard rows", &*rows.to_string(), problem)
        } else if !(sample > 0.0 && sample <= 1.0) {
            ("sample", &*sample.to_string(), "expected a share above 0, at most 1".to_owned())
        } else {
            return Ok(());
        };
        Err(DataError::BadOption { option, found: found.to_owned(), problem })
    }
}
