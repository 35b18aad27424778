//! Writing one part of a dataset: the whole dataset or one of its splits.

use std::fmt;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use hnefi_engine::BoardSize;

use hnefi_record::{GameId, Step, walk};

use super::{Format, SourceGame, text};
use crate::DataError;

/// A new text file begins once one has this many bytes.
const TEXT_BYTES: usize = 256 << 20;

/// A series of files with the same columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Series {
    Games,
    Positions(BoardSize),
}

impl Series {
    /// Squares a side of the boards of a table of positions; a table of games has no columns that depend on it.
    pub(super) fn side(self) -> usize {
        match self {
            Series::Games => 1,
            Series::Positions(size) => size.side(),
        }
    }
}

/// Name of its files and of its configuration on the hub.
impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Series::Games => f.write_str("games"),
            Series::Positions(size) => write!(f, "positions-{0}x{0}", size.side()),
        }
    }
}

/// A game to be exported.
pub(super) struct Entry<'a> {
    pub(super) game: &'a SourceGame,
    pub(super) id: GameId,
    /// For each ply, whether its position is left out because another part has it.
    pub(super) left_out: &'a [bool],
}

impl Entry<'_> {
    /// Checks the game and calls `visit` with the number and step of each ply whose position is not left out.
    pub(super) fn walk(&self, mut visit: impl FnMut(usize, Step<'_>)) -> Result<(), DataError> {
        let mut index = 0;
        walk(&self.game.record, |step| {
            if self.left_out.get(index) != Some(&true) {
                visit(index, step);
            }
            index += 1;
        })?;
        Ok(())
    }
}

/// A finished file.
#[derive(Clone, Debug)]
pub(super) struct WrittenFile {
    /// Its path.
    pub(super) path: PathBuf,
    /// The series it belongs to.
    pub(super) series: Series,
    /// Number of rows, lines or games.
    pub(super) rows: u64,
    /// Bytes in memory in Arrow's layout; 0 for formats without columns.
    pub(super) arrow_bytes: u64,
}

/// Writes the games of a part to files in its folder.
pub(super) trait PartWriter {
    /// Adds a game.
    fn add(&mut self, entry: &Entry<'_>) -> Result<(), DataError>;

    /// Writes the remaining rows and returns the files.
    fn finish(self: Box<Self>) -> Result<Vec<WrittenFile>, DataError>;
}

/// Writes games as texts.
pub(super) struct TextWriter {
    folder: PathBuf,
    format: Format,
    most: Option<usize>,
    file: Option<(BufWriter<File>, WrittenFile, usize)>,
    done: Vec<WrittenFile>,
}

impl TextWriter {
    /// Writes texts into `folder`, with at most about `most` games per file.
    pub(super) fn new(folder: PathBuf, format: Format, most: Option<usize>) -> TextWriter {
        TextWriter { folder, format, most, file: None, done: Vec::new() }
    }

    fn end_file(&mut self) -> Result<(), DataError> {
        let Some((file, written, _)) = self.file.take() else { return Ok(()) };
        let problem = |error: std::io::Error| DataError::write(&written.path, error);
        file.into_inner().map_err(|error| problem(error.into_error()))?.sync_all().map_err(problem)?;
        self.done.push(written);
        Ok(())
    }
}

impl PartWriter for TextWriter {
    fn add(&mut self, entry: &Entry<'_>) -> Result<(), DataError> {
        let text = text(entry.game, self.format)?;
        if self.file.is_none() {
            let path = self.folder.join(format!("games-{:04}.{}", self.done.len() + 1, self.format));
            let file = File::create_new(&path).map_err(|error| DataError::write(&path, error))?;
            let written = WrittenFile { path, series: Series::Games, rows: 0, arrow_bytes: 0 };
            self.file = Some((BufWriter::new(file), written, 0));
        }
        if let Some((file, written, bytes)) = &mut self.file {
            file.write_all(text.as_bytes()).map_err(|error| DataError::write(&written.path, error))?;
            written.rows += 1;
            *bytes += text.len();
            if *bytes >= TEXT_BYTES || self.most.is_some_and(|most| written.rows >= most as u64) {
                self.end_file()?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<WrittenFile>, DataError> {
        self.end_file()?;
        Ok(self.done)
    }
}
