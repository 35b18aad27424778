//! Tables as numpy arrays, one board size per file.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use hnefi_inference::ENCODING_VERSION;

use super::column::AnyTable;
use super::schema::{Cell, Field};
use crate::npz::NpzWriter;

/// The arrays of a file with these columns, for the dataset card: name, type, shape, meaning. P is the number of rows,
/// N the side of the board.
pub(super) fn arrays(fields: &[Field]) -> Vec<[String; 4]> {
    let array = |name: &str, dtype: &str, shape: &str, meaning: &str| [name, dtype, shape, meaning].map(str::to_owned);
    let mut arrays = vec![array("encoding", "uint32", "scalar", "version of the network's input")];
    for field in fields {
        let shape = match field.cell {
            Cell::Optional | Cell::List => "K".to_owned(),
            cell => [vec!["P".to_owned()], cell.described()].concat().join(", "),
        };
        if let Some(name) = field.offsets() {
            arrays.push(array(&name, "int64", "P + 1", "where a row's values of the next arrays begin and end"));
        }
        arrays.push(array(field.name, field.scalar.dtype(), &shape, field.meaning));
    }
    arrays
}

/// Writes a table as a new file, on boards of `side` squares a side.
pub(super) fn write(path: &Path, table: &dyn AnyTable, side: usize) -> io::Result<()> {
    let mut arrays = NpzWriter::new(table.bytes());
    arrays.add("encoding", &[], &[ENCODING_VERSION])?;
    for column in table.columns() {
        column.write_npz(&mut arrays, table.rows(), side)?;
    }
    let mut file = File::create_new(path)?;
    file.write_all(&arrays.finish()?)?;
    file.sync_all()
}
