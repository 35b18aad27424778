//! Arrow's schema in a Parquet file, which names the lists of fixed length.
//!
//! It is a message of Arrow's IPC format (`format/Message.fbs` and `Schema.fbs`) in base64, as Arrow's libraries write
//! it.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flatbuffers::{FlatBufferBuilder, TableFinishedWIPOffset, WIPOffset};

use crate::export::schema::{Cell, Field, Scalar};

/// Its key in a file's metadata.
pub(super) const NOTE: &str = "ARROW:schema";

/// Tags of the union `Type`.
const INT: u8 = 2;
const FLOATING_POINT: u8 = 3;
const UTF8: u8 = 5;
const BOOL: u8 = 6;
const LIST: u8 = 12;
const FIXED_SIZE_LIST: u8 = 16;

/// `MetadataVersion.V5`, `MessageHeader.Schema` and `Precision.SINGLE`.
const VERSION: i16 = 4;
const SCHEMA_MESSAGE: u8 = 1;
const SINGLE_PRECISION: i16 = 1;

type Builder = FlatBufferBuilder<'static>;
type Table = WIPOffset<TableFinishedWIPOffset>;

/// The schema of these columns, on a board of `side` squares a side.
pub(super) fn schema(fields: &[Field], side: usize) -> String {
    let mut builder = Builder::new();
    let tables: Vec<Table> = fields.iter().map(|field| column(&mut builder, field, side)).collect();
    let tables = builder.create_vector(&tables);
    let begun = builder.start_table();
    builder.push_slot_always(slot(1), tables);
    let schema = builder.end_table(begun);
    let begun = builder.start_table();
    builder.push_slot_always(slot(0), VERSION);
    builder.push_slot_always(slot(1), SCHEMA_MESSAGE);
    builder.push_slot_always(slot(2), schema);
    builder.push_slot_always(slot(3), 0i64);
    let message = builder.end_table(begun);
    builder.finish_minimal(message);
    let data = builder.finished_data();
    let padded = data.len().next_multiple_of(8);
    // A marker, the length of the padded message, the message.
    let mut bytes = vec![0xff; 4];
    bytes.extend((padded as u32).to_le_bytes());
    bytes.extend(data);
    bytes.resize(8 + padded, 0);
    BASE64_STANDARD.encode(bytes)
}

/// Offset of field number `field` in a table.
const fn slot(number: u16) -> u16 {
    4 + 2 * number
}

fn column(builder: &mut Builder, column: &Field, side: usize) -> Table {
    let optional = column.cell == Cell::Optional;
    let values = scalar(builder, column.scalar);
    if !column.cell.is_list() {
        return field(builder, column.name, optional, values, None);
    }
    let element = field(builder, "element", false, values, None);
    let begun = builder.start_table();
    let tag = match column.cell.length(side) {
        Some(length) => {
            builder.push_slot_always(slot(0), length as i32);
            FIXED_SIZE_LIST
        }
        None => LIST,
    };
    let list = (tag, builder.end_table(begun));
    field(builder, column.name, false, list, Some(element))
}

fn scalar(builder: &mut Builder, scalar: Scalar) -> (u8, Table) {
    let begun = builder.start_table();
    let tag = match scalar {
        Scalar::Bool => BOOL,
        Scalar::Text => UTF8,
        Scalar::Float32 => {
            builder.push_slot_always(slot(0), SINGLE_PRECISION);
            FLOATING_POINT
        }
        Scalar::UInt8 | Scalar::UInt32 | Scalar::UInt64 | Scalar::Int32 => {
            builder.push_slot_always(slot(0), scalar.bits() as i32);
            builder.push_slot_always(slot(1), scalar == Scalar::Int32);
            INT
        }
    };
    (tag, builder.end_table(begun))
}

fn field(builder: &mut Builder, name: &str, optional: bool, kind: (u8, Table), child: Option<Table>) -> Table {
    let name = builder.create_string(name);
    let children = builder.create_vector(child.as_slice());
    let begun = builder.start_table();
    builder.push_slot_always(slot(0), name);
    builder.push_slot_always(slot(1), optional);
    builder.push_slot_always(slot(2), kind.0);
    builder.push_slot_always(slot(3), kind.1);
    builder.push_slot_always(slot(5), children);
    builder.end_table(begun)
}
