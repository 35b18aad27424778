//! Tables as Parquet files.
//!
//! Rows are collected by column until they fill a row group, which is then written, so memory is bounded. A large file
//! ends after the present game, and the next one begins. Of the Arrow crates only `parquet` is used, through its column
//! writers, because the columns are few and fixed.

mod arrow;
mod columns;
mod games;
mod positions;

use std::collections::BTreeMap;
use std::path::PathBuf;

use hnefi_inference::ENCODING_VERSION;
use parquet::errors::ParquetError;

use self::columns::{AnyColumn, TableFile};
use self::games::GameRows;
use self::positions::PositionRows;
use super::parts::{Entry, PartWriter, Series, WrittenFile};
use super::schema::Field;
use super::{ExportParams, Table};
use crate::DataError;

/// Memory limit of the columns of a row group, in bytes.
const GROUP_BYTES: usize = 32 << 20;

/// A new file begins once one has this many bytes.
const FILE_BYTES: usize = 256 << 20;

/// Rows of one table that are not written yet.
trait Rows {
    /// The columns' descriptions, in order.
    fn fields(&self) -> Vec<Field>;

    /// Number of these rows.
    fn rows(&self) -> usize;

    /// Adds the rows of a game.
    fn add(&mut self, entry: &Entry<'_>) -> Result<(), DataError>;

    /// The columns, in order.
    fn columns(&mut self) -> Vec<&mut dyn AnyColumn>;

    /// Resets the count after the columns were written.
    fn forget(&mut self);
}

/// Writes one part of a dataset: a series of files per board size for positions, one series for games.
pub(super) struct ParquetWriter {
    folder: PathBuf,
    params: ExportParams,
    files: BTreeMap<Series, Files>,
}

impl ParquetWriter {
    pub(super) fn new(folder: PathBuf, params: &ExportParams) -> ParquetWriter {
        ParquetWriter { folder, params: params.clone(), files: BTreeMap::new() }
    }
}

impl PartWriter for ParquetWriter {
    fn add(&mut self, entry: &Entry<'_>) -> Result<(), DataError> {
        let params = &self.params;
        let series = match params.table() {
            Table::Positions => Series::Positions(entry.game.record.rules.size()),
            Table::Games => Series::Games,
        };
        let files = self.files.entry(series).or_insert_with(|| {
            let rows: Box<dyn Rows> = match series {
                Series::Positions(size) => Box::new(PositionRows::new(size, params.board, params.policy)),
                Series::Games => Box::new(GameRows::new()),
            };
            Files { folder: self.folder.clone(), series, rows, most: params.shard_rows, file: None, done: Vec::new() }
        });
        files.add(entry)
    }

    fn finish(self: Box<Self>) -> Result<Vec<WrittenFile>, DataError> {
        let mut files = Vec::new();
        for mut of_series in self.files.into_values() {
            of_series.end_file()?;
            files.append(&mut of_series.done);
        }
        Ok(files)
    }
}

/// The files of one series, numbered.
struct Files {
    folder: PathBuf,
    series: Series,
    rows: Box<dyn Rows>,
    /// Most rows of a file.
    most: Option<usize>,
    /// The present file and its number of rows.
    file: Option<(TableFile, WrittenFile)>,
    done: Vec<WrittenFile>,
}

impl Files {
    fn add(&mut self, entry: &Entry<'_>) -> Result<(), DataError> {
        self.rows.add(entry)?;
        let bytes: usize = self.rows.columns().iter().map(|column| column.bytes()).sum();
        if bytes >= GROUP_BYTES {
            self.write_group()?;
        }
        let written = self.file.as_ref().map_or(0, |(_, file)| file.rows as usize);
        let full = self.file.as_ref().is_some_and(|(file, _)| file.bytes() >= FILE_BYTES);
        if full || self.most.is_some_and(|most| written + self.rows.rows() >= most) {
            self.end_file()?;
        }
        Ok(())
    }

    /// Writes the collected rows, into a new file if none is open.
    fn write_group(&mut self) -> Result<(), DataError> {
        let rows = self.rows.rows();
        if rows == 0 {
            return Ok(());
        }
        if self.file.is_none() {
            let name = format!("{}-{:04}.parquet", self.series, self.done.len() + 1);
            let path = self.folder.join(&name);
            let notes = [("hnefi.encoding", ENCODING_VERSION.to_string())];
            let file = TableFile::create(&path, &self.rows.fields(), self.series.size(), &notes)
                .map_err(|problem| DataError::write(&path, plain(problem)))?;
            self.file = Some((file, WrittenFile { path, series: self.series, rows: 0, arrow_bytes: 0 }));
        }
        if let Some((file, written)) = &mut self.file {
            written.arrow_bytes += self.rows.columns().iter().map(|column| column.arrow_bytes() as u64).sum::<u64>();
            file.write_group(&mut self.rows.columns())
                .map_err(|problem| DataError::write(&written.path, plain(problem)))?;
            written.rows += rows as u64;
        }
        self.rows.forget();
        Ok(())
    }

    fn end_file(&mut self) -> Result<(), DataError> {
        self.write_group()?;
        if let Some((file, written)) = self.file.take() {
            file.finish().map_err(|problem| DataError::write(&written.path, plain(problem)))?;
            self.done.push(written);
        }
        Ok(())
    }
}

/// An error's text without the crate's prefix.
fn plain(error: ParquetError) -> String {
    match error {
        ParquetError::General(problem) => problem,
        ParquetError::External(problem) => problem.to_string(),
        other => other.to_string(),
    }
}
