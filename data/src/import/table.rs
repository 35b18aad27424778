//! Exported tables of games, in Parquet, read back row by row.

use std::fs::File;
use std::iter::from_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hnefi_engine::Rules;
use hnefi_record::{Recorded, json_value};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Map, Value, json};

use super::LineError;

/// The most rows of a file: an export begins another file long before.
const MOST_ROWS: i128 = 1 << 22;

/// The games of a table, or their errors; rows count from 1.
///
/// # Errors
/// When the file is no table of games.
pub(super) fn games(
    file: File,
    mut rules: Vec<Rules>,
) -> Result<impl Iterator<Item = Result<Recorded, LineError>>, String> {
    let bytes = i128::from(file.metadata().map_err(|error| error.to_string())?.len());
    let reader = SerializedFileReader::new(file).map_err(|error| format!("no Parquet file: {error}"))?;
    let schema = reader.metadata().file_metadata().schema();
    if !schema.get_fields().iter().any(|column| column.name() == "moves") {
        return Err("a table without a column `moves`; expected a table of games".to_owned());
    }
    let rows = reader.metadata().row_groups().iter().map(|group| i128::from(group.num_rows())).sum::<i128>();
    if !(0..=MOST_ROWS).contains(&rows) {
        return Err(format!("a table of {rows} rows; expected at most {MOST_ROWS}"));
    }
    // The crate takes these numbers as they are.
    for column in reader.metadata().row_groups().iter().flat_map(|group| group.columns()) {
        let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
        let [start, length] = [start, column.compressed_size()].map(i128::from);
        if start < 0 || length < 0 || start + length > bytes {
            let name = column.column_path();
            return Err(format!("column {name}: {length} bytes from {start}; expected a part of the file's {bytes}"));
        }
    }
    let mut rows = reader.into_iter();
    // The crate panics at some damages.
    let next = move || catch_unwind(AssertUnwindSafe(|| rows.next())).unwrap_or_else(|_| Some(Err(damaged())));
    // What follows a row that cannot be read cannot be read either.
    let mut ended = false;
    let rows = (1..).zip(from_fn(next)).take_while(move |(_, row)| !std::mem::replace(&mut ended, row.is_err()));
    Ok(rows.map(move |(number, row)| {
        let line = row
            .map_err(|error: ParquetError| error.to_string())
            .and_then(|row| line(row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect()));
        let read = line.and_then(|line| json_value(line, &mut rules).map_err(|error| error.in_line().1));
        read.map_err(|problem| (number, problem))
    }))
}

fn damaged() -> ParquetError {
    ParquetError::General("the file is damaged".to_owned())
}

/// A row as an exported line of JSON: what tables have in flat lists is a list for each ply there.
fn line(mut row: Map<String, Value>) -> Result<Value, String> {
    if let Some(Value::String(options)) = row.remove("options") {
        row.insert("rules".to_owned(), serde_json::from_str(&options).map_err(|error| format!("options: {error}"))?);
    }
    let mut list = |name: &str| match row.remove(name) {
        Some(Value::Array(values)) => Some(values),
        _ => None,
    };
    let (counts, moves, weights) = (list("policy_count"), list("policy_move"), list("policy_weight"));
    let values = ["raw", "searched"].map(|name| (name, list(name)));
    if let (Some(counts), Some(moves), Some(weights)) = (counts, moves, weights) {
        let (counted, found) = (counts.iter().filter_map(Value::as_u64).sum::<u64>(), moves.len());
        if counted != found as u64 || found != weights.len() {
            let problem =
                format!("{found} moves and {} weights; expected {counted}, the sum of `policy_count`", weights.len());
            return Err(format!("policy: {problem}"));
        }
        let mut entries = moves.into_iter().zip(weights).map(|(mv, weight)| json!([mv, weight]));
        let each = counts.iter().map(|count| entries.by_ref().take(count.as_u64().unwrap_or(0) as usize).collect());
        row.insert("policy".to_owned(), Value::Array(each.collect()));
    }
    for (name, flat) in values {
        if let Some(flat) = flat {
            row.insert(name.to_owned(), flat.chunks(3).map(|triple| Value::Array(triple.to_vec())).collect());
        }
    }
    Ok(Value::Object(row))
}

/// A cell; of types that no exported table has, nothing.
fn value(field: &Field) -> Value {
    match field {
        Field::Bool(flag) => json!(flag),
        Field::UInt(number) => json!(number),
        Field::ULong(number) => json!(number),
        Field::Int(number) => json!(number),
        Field::Long(number) => json!(number),
        Field::Float(number) => json!(number),
        Field::Double(number) => json!(number),
        Field::Str(text) => json!(text),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        _ => Value::Null,
    }
}
