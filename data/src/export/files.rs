//! Tables as files of bounded size.
//!
//! Rows are collected by column until they fill a part of a file, which is then written, so memory is bounded: for each
//! board size a row group of a Parquet file, or a whole file of arrays. A large file ends after the present game, and
//! the next one begins.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::column::AnyTable;
use super::parquet::TableFile;
use super::parts::{Entry, PartWriter, Series, WrittenFile};
use super::{ExportParams, Format, TableKind, npz, table};
use crate::DataError;

/// Memory limit of a row group, in bytes: some thousand positions. A reader of the groups in a random order, as many
/// at a time as the memory holds, mixes the games the better the smaller the groups are.
const GROUP_BYTES: usize = 8 << 20;

/// Memory limit of the arrays of one board size that wait to be written, in bytes, those of all parts together.
const ARRAY_BYTES: usize = 128 << 20;

/// A new Parquet file begins once one has this many bytes.
const FILE_BYTES: usize = 256 << 20;

/// Writes one part of a dataset: a series of files per board size for positions, one series for games.
pub(super) struct TableWriter {
    folder: PathBuf,
    params: ExportParams,
    /// Memory limit of the rows that are collected of one series, in bytes.
    most_bytes: usize,
    files: BTreeMap<Series, Files>,
}

impl TableWriter {
    /// Writes into an empty folder. `parts` writers share the memory.
    pub(super) fn new(folder: PathBuf, params: &ExportParams, parts: usize) -> TableWriter {
        let most_bytes = if params.format == Format::Npz { ARRAY_BYTES / parts.max(1) } else { GROUP_BYTES };
        TableWriter { folder, params: params.clone(), most_bytes, files: BTreeMap::new() }
    }
}

impl PartWriter for TableWriter {
    fn add(&mut self, entry: &Entry<'_>) -> Result<(), DataError> {
        let params = &self.params;
        let series = match params.table() {
            TableKind::Positions => Series::Positions(entry.game.record.rules.size()),
            TableKind::Games => Series::Games,
        };
        let files = self.files.entry(series).or_insert_with(|| {
            let (folder, format, rows) = (self.folder.clone(), params.format, table(params));
            Files { folder, format, series, rows, most: params.shard_rows, file: None, done: Vec::new() }
        });
        files.add(entry, self.most_bytes)
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
    format: Format,
    series: Series,
    rows: Box<dyn AnyTable>,
    /// Most rows of a file.
    most: Option<usize>,
    /// The present Parquet file and its number of rows.
    file: Option<(TableFile, WrittenFile)>,
    done: Vec<WrittenFile>,
}

impl Files {
    fn add(&mut self, entry: &Entry<'_>, most_bytes: usize) -> Result<(), DataError> {
        self.rows.add(entry)?;
        if self.rows.bytes() >= most_bytes {
            self.write_rows()?;
        }
        let written = self.file.as_ref().map_or(0, |(_, file)| file.rows as usize);
        let full = self.file.as_ref().is_some_and(|(file, _)| file.bytes() >= FILE_BYTES);
        if full || self.most.is_some_and(|most| written + self.rows.rows() >= most) {
            self.end_file()?;
        }
        Ok(())
    }

    /// Writes the collected rows, into a new file if none is open.
    fn write_rows(&mut self) -> Result<(), DataError> {
        let rows = self.rows.rows();
        if rows == 0 {
            return Ok(());
        }
        let path = self.folder.join(format!("{}-{:04}.{}", self.series, self.done.len() + 1, self.format));
        let begun = WrittenFile { path, series: self.series, rows: 0, arrow_bytes: 0 };
        if self.format == Format::Npz {
            npz::write(&begun.path, self.rows.as_ref(), self.series.side())
                .map_err(|problem| DataError::write(&begun.path, problem))?;
            self.done.push(WrittenFile { rows: rows as u64, ..begun });
        } else {
            let columns = self.rows.columns();
            let (file, written) = match &mut self.file {
                Some(open) => open,
                none => none.insert((TableFile::create(&begun.path, &columns, self.series.side())?, begun)),
            };
            written.arrow_bytes += columns.iter().map(|column| column.arrow_bytes() as u64).sum::<u64>();
            file.write_group(&written.path, &columns)?;
            written.rows += rows as u64;
        }
        self.rows.clear();
        Ok(())
    }

    fn end_file(&mut self) -> Result<(), DataError> {
        self.write_rows()?;
        if let Some((file, written)) = self.file.take() {
            file.finish(&written.path)?;
            self.done.push(written);
        }
        Ok(())
    }
}
