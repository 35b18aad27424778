//! Columns in memory, and writing them as row groups.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use hnefi_engine::BoardSize;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{AsBytes, ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;

use super::arrow;
use crate::export::schema::{Cell, Field, Scalar};

/// The values of one column in the present row group.
///
/// Parquet stores a null or a list as *levels* beside the values. For an optional column the definition level is 1
/// where there is a value; for a list it is 1 for an element and 0 for an empty list, and the repetition level is 0
/// where a new row begins.
pub(super) struct Column<T: DataType> {
    field: Field,
    values: Vec<T::T>,
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

impl<T: DataType> Column<T> {
    pub(super) fn new(field: Field) -> Column<T> {
        Column { field, values: Vec::new(), definition: Vec::new(), repetition: Vec::new() }
    }

    /// Adds a row of a column with one value per row.
    pub(super) fn push(&mut self, value: T::T) {
        debug_assert_eq!(self.field.cell, Cell::One, "{}", self.field.name);
        self.values.push(value);
    }

    /// Adds a row of a column with optional values.
    pub(super) fn push_optional(&mut self, value: Option<T::T>) {
        debug_assert_eq!(self.field.cell, Cell::Optional, "{}", self.field.name);
        self.definition.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    /// Adds a row of a column of lists.
    pub(super) fn push_list(&mut self, values: impl IntoIterator<Item = T::T>) {
        debug_assert!(self.field.cell.is_list(), "{}", self.field.name);
        let before = self.values.len();
        self.values.extend(values);
        let count = self.values.len() - before;
        self.definition.extend(std::iter::repeat_n(i16::from(count > 0), count.max(1)));
        self.repetition.push(0);
        self.repetition.extend(std::iter::repeat_n(1, count.saturating_sub(1)));
    }
}

/// A column of any type.
pub(super) trait AnyColumn {
    /// Memory in bytes; texts count as their handles.
    fn bytes(&self) -> usize;

    /// A reader's memory in Arrow's layout, in bytes.
    fn arrow_bytes(&self) -> usize;

    /// Writes and clears the values.
    fn write(&mut self, out: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError>;
}

impl<T: DataType> AnyColumn for Column<T> {
    fn bytes(&self) -> usize {
        self.values.len() * size_of::<T::T>() + (self.definition.len() + self.repetition.len()) * size_of::<i16>()
    }

    fn arrow_bytes(&self) -> usize {
        /// Offset of the end of a value of variable length.
        const OFFSET: usize = 4;
        let values = match self.field.scalar {
            Scalar::Text => self.values.iter().map(|value| value.as_bytes().len() + OFFSET).sum(),
            scalar => (self.values.len() * scalar.bits()).div_ceil(8),
        };
        values
            + match self.field.cell {
                Cell::One | Cell::Fixed(_) | Cell::PerSquare(_) => 0,
                // An optional value takes its space and one bit for its presence.
                Cell::Optional => {
                    let nulls = self.definition.len() - self.values.len();
                    self.definition.len().div_ceil(8) + nulls * self.field.scalar.bits().div_ceil(8)
                }
                Cell::List => OFFSET * self.repetition.iter().filter(|&&level| level == 0).count(),
            }
    }

    fn write(&mut self, out: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = |levels: &[i16], used: bool| used.then(|| levels.to_vec());
        let definition = levels(&self.definition, self.field.cell != Cell::One);
        let repetition = levels(&self.repetition, self.field.cell.is_list());
        out.typed::<T>().write_batch(&self.values, definition.as_deref(), repetition.as_deref())?;
        self.values.clear();
        self.definition.clear();
        self.repetition.clear();
        Ok(())
    }
}

/// A text as Parquet holds it.
pub(super) fn text(value: impl Into<String>) -> ByteArray {
    ByteArray::from(value.into().into_bytes())
}

/// A file that is being written, row group by row group.
pub(super) struct TableFile {
    writer: SerializedFileWriter<BufWriter<File>>,
}

impl TableFile {
    /// A new file with these columns; `size` is the board size of a table of positions. `notes` are added to its
    /// metadata.
    pub(super) fn create(
        path: &Path,
        fields: &[Field],
        size: Option<BoardSize>,
        notes: &[(&str, String)],
    ) -> Result<TableFile, ParquetError> {
        let columns: String = fields.iter().map(Field::declaration).collect();
        let schema = Arc::new(parse_message_type(&format!("message table {{ {columns} }}"))?);
        // Parquet has no lists of fixed length. This note tells Arrow's readers about them.
        let note = (arrow::NOTE, arrow::schema(fields, size.map_or(0, BoardSize::squares)));
        let notes = notes.iter().chain([&note]);
        let notes = notes.map(|(key, value)| KeyValue::new((*key).to_owned(), value.clone())).collect();
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("hnefi ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(notes))
            .build();
        let file = BufWriter::new(File::create_new(path)?);
        Ok(TableFile { writer: SerializedFileWriter::new(file, schema, Arc::new(properties))? })
    }

    /// Writes the columns as a row group; they are empty afterwards.
    pub(super) fn write_group(&mut self, columns: &mut [&mut dyn AnyColumn]) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for column in columns {
            let mut out = group.next_column()?.ok_or_else(|| ParquetError::General("too many columns".to_owned()))?;
            column.write(&mut out)?;
            out.close()?;
        }
        group.close()?;
        Ok(())
    }

    /// Number of bytes written so far.
    pub(super) fn bytes(&self) -> usize {
        self.writer.bytes_written()
    }

    /// Ends the file and flushes it to the disk.
    pub(super) fn finish(self) -> Result<(), ParquetError> {
        let file = self.writer.into_inner()?;
        file.into_inner().map_err(|error| error.into_error())?.sync_all()?;
        Ok(())
    }
}
