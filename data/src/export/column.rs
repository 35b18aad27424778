//! Columns in memory, filled row by row, which both Parquet files and numpy arrays are written from.

use std::io;

use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::writer::SerializedColumnWriter;

use super::parts::Entry;
use super::schema::{Cell, Field, Scalar};
use crate::DataError;
use crate::npz::NpzWriter;

/// A type of values, and how the formats hold them.
pub(super) trait Value: Clone + 'static {
    const SCALAR: Scalar;

    /// Parquet's type, in which unsigned numbers are stored as signed ones; the schema says which they are.
    type Parquet: DataType;

    fn parquet(&self) -> <Self::Parquet as DataType>::T;

    /// Adds an array of these values; texts are no arrays and are left out.
    fn add_array(file: &mut NpzWriter, name: &str, shape: &[usize], values: &[Self]) -> io::Result<()>;

    /// Bytes of the values in Arrow's layout.
    fn arrow_bytes(values: &[Self]) -> usize {
        (values.len() * Self::SCALAR.bits()).div_ceil(8)
    }
}

macro_rules! values {
    ($($value:ty: $scalar:ident, $parquet:ty, $as:ty;)+) => {
        $(impl Value for $value {
            const SCALAR: Scalar = Scalar::$scalar;
            type Parquet = $parquet;

            fn parquet(&self) -> $as {
                *self as $as
            }

            fn add_array(file: &mut NpzWriter, name: &str, shape: &[usize], values: &[Self]) -> io::Result<()> {
                file.add(name, shape, values)
            }
        })+
    };
}

values! {
    bool: Bool, BoolType, bool;
    u8: UInt8, Int32Type, i32;
    u32: UInt32, Int32Type, i32;
    u64: UInt64, Int64Type, i64;
    i32: Int32, Int32Type, i32;
    f32: Float32, FloatType, f32;
}

/// Offset of the end of a value of variable length in Arrow's layout.
const OFFSET: usize = 4;

impl Value for String {
    const SCALAR: Scalar = Scalar::Text;
    type Parquet = ByteArrayType;

    fn parquet(&self) -> ByteArray {
        ByteArray::from(self.as_str())
    }

    fn add_array(_: &mut NpzWriter, _: &str, _: &[usize], _: &[Self]) -> io::Result<()> {
        Ok(())
    }

    fn arrow_bytes(values: &[Self]) -> usize {
        values.iter().map(|value| value.len() + OFFSET).sum()
    }
}

/// Rows of a table, which a game has one or many of.
pub(super) trait Rows: 'static {
    type Row<'a>;

    /// Calls `visit` with the rows of a game.
    fn each(entry: &Entry<'_>, visit: &mut dyn FnMut(&Self::Row<'_>)) -> Result<(), DataError>;
}

/// What adds a row's values of one column.
pub(super) type Get<R, T> = for<'a> fn(&<R as Rows>::Row<'a>, &mut Vec<T>);

/// The values of one column.
struct TypedColumn<R: Rows, T> {
    field: Field,
    get: Get<R, T>,
    values: Vec<T>,
    /// Number of values after each row, except where every row has one.
    ends: Vec<usize>,
}

/// A column of any type.
pub(super) trait Column {
    fn field(&self) -> Field;

    /// Memory in bytes; texts count as their handles.
    fn bytes(&self) -> usize;

    /// A reader's memory in Arrow's layout, in bytes.
    fn arrow_bytes(&self) -> usize;

    /// Writes the values as a part of a row group.
    fn write_parquet(&self, out: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError>;

    /// Writes the values of `rows` rows as an array, on a board of `side` times `side` squares; before
    /// [`Field::offsets`] also where each row's begin.
    fn write_npz(&self, file: &mut NpzWriter, rows: usize, side: usize) -> io::Result<()>;

    fn clear(&mut self);
}

/// A column that takes rows.
pub(super) trait RowColumn<R: Rows>: Column {
    fn push(&mut self, row: &R::Row<'_>);
}

/// An empty column.
pub(super) fn column<R: Rows, T: Value>(
    name: &'static str,
    cell: Cell,
    meaning: &'static str,
    get: Get<R, T>,
) -> Box<dyn RowColumn<R>> {
    let field = Field { name, scalar: T::SCALAR, cell, meaning };
    Box::new(TypedColumn { field, get, values: Vec::new(), ends: Vec::new() })
}

impl<R: Rows, T: Value> RowColumn<R> for TypedColumn<R, T> {
    fn push(&mut self, row: &R::Row<'_>) {
        (self.get)(row, &mut self.values);
        if self.field.cell != Cell::One {
            self.ends.push(self.values.len());
        }
    }
}

impl<R: Rows, T: Value> TypedColumn<R, T> {
    /// Number of values of each row, where it is not always one.
    fn counts(&self) -> impl Iterator<Item = usize> + '_ {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        self.ends.iter().zip(begins).map(|(end, begin)| end - begin)
    }
}

impl<R: Rows, T: Value> Column for TypedColumn<R, T> {
    fn field(&self) -> Field {
        self.field
    }

    fn bytes(&self) -> usize {
        size_of_val(self.values.as_slice()) + size_of_val(self.ends.as_slice())
    }

    fn arrow_bytes(&self) -> usize {
        T::arrow_bytes(&self.values)
            + match self.field.cell {
                Cell::One | Cell::Fixed(_) | Cell::PerSquare(_) | Cell::PerPlace => 0,
                // An optional value takes its space and one bit for its presence.
                Cell::Optional => {
                    let nulls = self.ends.len() - self.values.len();
                    self.ends.len().div_ceil(8) + nulls * T::SCALAR.bits().div_ceil(8)
                }
                Cell::List => OFFSET * self.ends.len(),
            }
    }

    /// Parquet stores a null or a list as *levels* beside the values. For an optional column the definition level is 1
    /// where there is a value; for a list it is 1 for an element and 0 for an empty list, and the repetition level is 0
    /// where a new row begins.
    fn write_parquet(&self, out: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let values: Vec<_> = self.values.iter().map(T::parquet).collect();
        let (mut definition, mut repetition) = (Vec::new(), Vec::new());
        for count in self.counts() {
            definition.extend(std::iter::repeat_n(i16::from(count > 0), count.max(1)));
            repetition.extend((0..count.max(1)).map(|index| i16::from(index > 0)));
        }
        let definition = Some(definition).filter(|_| self.field.cell != Cell::One);
        let repetition = Some(repetition).filter(|_| self.field.cell.is_list());
        out.typed::<T::Parquet>().write_batch(&values, definition.as_deref(), repetition.as_deref())?;
        Ok(())
    }

    fn write_npz(&self, file: &mut NpzWriter, rows: usize, side: usize) -> io::Result<()> {
        let shape = match self.field.cell {
            Cell::Optional | Cell::List => vec![self.values.len()],
            cell => [vec![rows], cell.shape(side)].concat(),
        };
        if let Some(name) = self.field.offsets() {
            let offsets: Vec<i64> = std::iter::once(0).chain(self.ends.iter().map(|&end| end as i64)).collect();
            file.add(&name, &[rows + 1], &offsets)?;
        }
        T::add_array(file, self.field.name, &shape, &self.values)
    }

    fn clear(&mut self) {
        self.values.clear();
        self.ends.clear();
    }
}

/// The columns of a table, and the rows that they hold.
pub(super) struct ColumnTable<R: Rows> {
    columns: Vec<Box<dyn RowColumn<R>>>,
    rows: usize,
}

/// A table of any rows.
pub(super) trait AnyTable {
    /// Adds the rows of a game.
    fn add(&mut self, entry: &Entry<'_>) -> Result<(), DataError>;

    fn rows(&self) -> usize;

    fn columns(&self) -> Vec<&dyn Column>;

    /// Removes all rows.
    fn clear(&mut self);

    /// Memory of the columns in bytes.
    fn bytes(&self) -> usize {
        self.columns().iter().map(|column| column.bytes()).sum()
    }
}

impl<R: Rows> ColumnTable<R> {
    pub(super) fn new(columns: Vec<Box<dyn RowColumn<R>>>) -> ColumnTable<R> {
        ColumnTable { columns, rows: 0 }
    }
}

impl<R: Rows> AnyTable for ColumnTable<R> {
    fn add(&mut self, entry: &Entry<'_>) -> Result<(), DataError> {
        R::each(entry, &mut |row| {
            self.columns.iter_mut().for_each(|column| column.push(row));
            self.rows += 1;
        })
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> Vec<&dyn Column> {
        self.columns.iter().map(|column| column.as_ref() as &dyn Column).collect()
    }

    fn clear(&mut self) {
        self.columns.iter_mut().for_each(|column| column.clear());
        self.rows = 0;
    }
}
