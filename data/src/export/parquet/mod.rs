//! A Parquet file that is written row group by row group. Of the Arrow crates only `parquet` is used, through its
//! column writers, because the columns are few and fixed.

mod arrow;

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use hnefi_inference::ENCODING_VERSION;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::column::Column;
use super::schema::Field;
use crate::DataError;

/// A file that is being written, row group by row group.
pub(super) struct TableFile {
    writer: SerializedFileWriter<BufWriter<File>>,
}

impl TableFile {
    /// A new file with these columns, on boards of `side` squares a side.
    pub(super) fn create(path: &Path, columns: &[&dyn Column], side: usize) -> Result<TableFile, DataError> {
        let fields: Vec<Field> = columns.iter().map(|column| column.field()).collect();
        let create = || {
            let columns: String = fields.iter().map(Field::declaration).collect();
            let schema = Arc::new(parse_message_type(&format!("message table {{ {columns} }}"))?);
            // Parquet has no lists of fixed length. The second note tells Arrow's readers about them.
            let notes = [("hnefi.encoding", ENCODING_VERSION.to_string()), (arrow::NOTE, arrow::schema(&fields, side))];
            let notes = notes.map(|(key, value)| KeyValue::new(key.to_owned(), value)).to_vec();
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
                .set_created_by(concat!("hnefi ", env!("CARGO_PKG_VERSION")).to_owned())
                .set_key_value_metadata(Some(notes))
                .build();
            let file = BufWriter::new(File::create_new(path)?);
            Ok(TableFile { writer: SerializedFileWriter::new(file, schema, Arc::new(properties))? })
        };
        create().map_err(|problem| failed(path, problem))
    }

    /// Writes the columns as a row group; `path` is for the error.
    pub(super) fn write_group(&mut self, path: &Path, columns: &[&dyn Column]) -> Result<(), DataError> {
        let mut write = || {
            let mut group = self.writer.next_row_group()?;
            for column in columns {
                let missing = || ParquetError::General("too many columns".to_owned());
                let mut out = group.next_column()?.ok_or_else(missing)?;
                column.write_parquet(&mut out)?;
                out.close()?;
            }
            group.close()
        };
        write().map(drop).map_err(|problem| failed(path, problem))
    }

    /// Number of bytes written so far.
    pub(super) fn bytes(&self) -> usize {
        self.writer.bytes_written()
    }

    /// Ends the file and flushes it to the disk; `path` is for the error.
    pub(super) fn finish(self, path: &Path) -> Result<(), DataError> {
        let file = self.writer.into_inner().map_err(|problem| failed(path, problem))?;
        let file = file.into_inner().map_err(|error| DataError::write(path, error.into_error()))?;
        file.sync_all().map_err(|problem| DataError::write(path, problem))
    }
}

/// An error without the crate's prefix.
fn failed(path: &Path, error: ParquetError) -> DataError {
    match error {
        ParquetError::General(problem) => DataError::write(path, problem),
        ParquetError::External(problem) => DataError::write(path, problem),
        other => DataError::write(path, other),
    }
}
