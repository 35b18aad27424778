//! Event files that TensorBoard reads.
//!
//! An event file is a sequence of TFRecords, each a protobuf `Event`:
//!
//! ```text
//! u64  length of the event          little endian, as all numbers here
//! u32  masked CRC-32C of the length
//! ...  the event
//! u32  masked CRC-32C of the event
//! ```
//!
//! where `masked(c) = rotate_right(c, 15) + 0xa282ead8`. The first event of a file names the format's version. A run
//! writes one file per generation and never appends; TensorBoard reads the files of a folder in the order of their
//! names. The file of generation 0 has the configuration, as a text and as what the hparams dashboard compares.

use hnefi_run::flat;
use prost::Message;
use serde_json::json;

use crate::config::TrainConfig;

/// `tensorflow.Event`, the fields used here.
#[derive(Clone, PartialEq, Message)]
struct Event {
    /// Seconds since 1970.
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(oneof = "What", tags = "3, 5")]
    what: Option<What>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum What {
    #[prost(string, tag = "3")]
    FileVersion(String),
    #[prost(message, tag = "5")]
    Summary(Summary),
}

/// `tensorflow.Summary`.
#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    value: Vec<Value>,
}

/// `tensorflow.Summary.Value`: a number, or a tensor for a dashboard that is named in the metadata.
#[derive(Clone, PartialEq, Message)]
struct Value {
    #[prost(string, tag = "1")]
    tag: String,
    #[prost(float, optional, tag = "2")]
    simple_value: Option<f32>,
    #[prost(message, optional, tag = "8")]
    tensor: Option<Tensor>,
    #[prost(message, optional, tag = "9")]
    metadata: Option<Metadata>,
}

/// `tensorflow.TensorProto`.
#[derive(Clone, PartialEq, Message)]
struct Tensor {
    /// 1 is float, 7 is string.
    #[prost(int32, tag = "1")]
    dtype: i32,
    #[prost(message, optional, tag = "2")]
    shape: Option<Shape>,
    #[prost(float, repeated, tag = "5")]
    floats: Vec<f32>,
    #[prost(string, repeated, tag = "8")]
    strings: Vec<String>,
}

/// `tensorflow.TensorShapeProto`.
#[derive(Clone, PartialEq, Message)]
struct Shape {
    #[prost(message, repeated, tag = "2")]
    dim: Vec<Dim>,
}

/// `tensorflow.TensorShapeProto.Dim`.
#[derive(Clone, PartialEq, Message)]
struct Dim {
    #[prost(int64, tag = "1")]
    size: i64,
}

/// `tensorflow.SummaryMetadata`.
#[derive(Clone, PartialEq, Message)]
struct Metadata {
    #[prost(message, optional, tag = "1")]
    plugin: Option<Plugin>,
    /// 2 is a tensor.
    #[prost(int32, tag = "4")]
    data_class: i32,
}

/// `tensorflow.SummaryMetadata.PluginData`.
#[derive(Clone, PartialEq, Message)]
struct Plugin {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(bytes = "vec", tag = "2")]
    content: Vec<u8>,
}

/// `tensorboard.hparams.HParamsPluginData` of a run that starts.
#[derive(Clone, PartialEq, Message)]
struct Settings {
    #[prost(message, optional, tag = "3")]
    start: Option<SessionStart>,
}

/// `tensorboard.hparams.SessionStartInfo`.
#[derive(Clone, PartialEq, Message)]
struct SessionStart {
    #[prost(btree_map = "string, message", tag = "1")]
    settings: std::collections::BTreeMap<String, Setting>,
    #[prost(double, tag = "5")]
    start_seconds: f64,
}

/// `google.protobuf.Value`.
#[derive(Clone, PartialEq, Message)]
struct Setting {
    #[prost(oneof = "Kind", tags = "2, 3, 4")]
    kind: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Kind {
    #[prost(double, tag = "2")]
    Number(f64),
    #[prost(string, tag = "3")]
    Text(String),
    #[prost(bool, tag = "4")]
    Switch(bool),
}

/// An event file with the configuration of a run that begins.
pub fn configuration_events(wall_time: f64, config: &TrainConfig) -> Vec<u8> {
    let setting = |value: serde_json::Value| Setting {
        kind: Some(match (value.as_f64(), value.as_bool()) {
            (Some(number), _) => Kind::Number(number),
            (None, Some(on)) => Kind::Switch(on),
            (None, None) => Kind::Text(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
        }),
    };
    let settings = flat(&json!(config)).into_iter().map(|(key, value)| (key, setting(value))).collect();
    let start = Some(SessionStart { settings, start_seconds: wall_time });
    let value = |tag: &str, tensor: Tensor, plugin: &str, content: Vec<u8>| Value {
        tag: tag.to_owned(),
        simple_value: None,
        tensor: Some(Tensor { shape: Some(Shape { dim: vec![Dim { size: 1 }] }), ..tensor }),
        metadata: Some(Metadata { plugin: Some(Plugin { name: plugin.to_owned(), content }), data_class: 2 }),
    };
    // Four spaces make a block of code in the dashboard's Markdown.
    let text = config.commented().lines().map(|line| format!("    {line}\n")).collect();
    let text = Tensor { dtype: 7, strings: vec![text], ..Tensor::default() };
    let nothing = Tensor { dtype: 1, floats: vec![0.0], ..Tensor::default() };
    let started = Settings { start }.encode_to_vec();
    let values = vec![
        value("configuration", text, "text", Vec::new()),
        value("_hparams_/session_start_info", nothing, "hparams", started),
    ];
    whole_file(wall_time, 0, values)
}

/// A whole event file with the scalars of one step.
///
/// `wall_time` is in seconds since 1970. Scalars that are not finite are left out: TensorBoard draws gaps better than
/// NaN.
pub fn event_file(wall_time: f64, step: i64, scalars: &[(String, f64)]) -> Vec<u8> {
    let value = scalars
        .iter()
        .filter(|(_, value)| value.is_finite())
        .map(|(tag, value)| Value { tag: tag.clone(), simple_value: Some(*value as f32), ..Value::default() })
        .collect();
    whole_file(wall_time, step, value)
}

fn whole_file(wall_time: f64, step: i64, value: Vec<Value>) -> Vec<u8> {
    let mut file = Vec::new();
    append(&mut file, &Event { wall_time, step: 0, what: Some(What::FileVersion("brain.Event:2".into())) });
    append(&mut file, &Event { wall_time, step, what: Some(What::Summary(Summary { value })) });
    file
}

fn append(file: &mut Vec<u8>, event: &Event) {
    let event = event.encode_to_vec();
    let length = (event.len() as u64).to_le_bytes();
    file.extend_from_slice(&length);
    file.extend_from_slice(&masked_crc(&length).to_le_bytes());
    file.extend_from_slice(&event);
    file.extend_from_slice(&masked_crc(&event).to_le_bytes());
}

/// Checks the checksums of an event file.
pub(crate) fn check_events(mut file: &[u8]) -> Result<(), String> {
    if file.is_empty() {
        return Err("no events".to_owned());
    }
    while let Some((length, rest)) = file.split_first_chunk::<8>() {
        let sum = |bytes: &[u8], sum: &[u8; 4]| masked_crc(bytes) == u32::from_le_bytes(*sum);
        let (length_sum, rest) = rest.split_first_chunk().ok_or("cut off")?;
        if !sum(length, length_sum) {
            return Err("the checksum of a length differs; it is damaged".to_owned());
        }
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|error| error.to_string())?;
        let (event, rest) = rest.split_at_checked(length).ok_or("cut off")?;
        let (event_sum, rest) = rest.split_first_chunk().ok_or("cut off")?;
        if !sum(event, event_sum) {
            return Err("the checksum of an event differs; it is damaged".to_owned());
        }
        file = rest;
    }
    if file.is_empty() { Ok(()) } else { Err("cut off".to_owned()) }
}

/// CRC-32C, masked because data that contain their own CRC are a bad input to a CRC.
fn masked_crc(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CRC-32C bit by bit (polynomial 0x1EDC6F41, reflected), to check against something other than the crate.
    fn slow_crc(bytes: &[u8]) -> u32 {
        let mut crc = !0_u32;
        for &byte in bytes {
            crc ^= u32::from(byte);
            for _ in 0..8 {
                crc = (crc >> 1) ^ (0x82F6_3B78 & (crc & 1).wrapping_neg());
            }
        }
        !crc
    }

    /// A protobuf field as it lies on the wire.
    #[derive(Debug)]
    enum Field<'a> {
        Varint(u64),
        Fixed64([u8; 8]),
        Bytes(&'a [u8]),
        Fixed32([u8; 4]),
    }

    /// Reads the fields of a message from the wire format's description alone.
    fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
        fn varint(bytes: &mut &[u8]) -> u64 {
            let mut value = 0;
            for shift in (0..).step_by(7) {
                let byte = bytes[0];
                *bytes = &bytes[1..];
                value |= u64::from(byte & 127) << shift;
                if byte < 128 {
                    break;
                }
            }
            value
        }
        let mut found = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let field = match key & 7 {
                0 => Field::Varint(varint(&mut bytes)),
                1 => {
                    let (head, tail) = bytes.split_at(8);
                    bytes = tail;
                    Field::Fixed64(head.try_into().unwrap())
                }
                2 => {
                    let length = varint(&mut bytes) as usize;
                    let (head, tail) = bytes.split_at(length);
                    bytes = tail;
                    Field::Bytes(head)
                }
                5 => {
                    let (head, tail) = bytes.split_at(4);
                    bytes = tail;
                    Field::Fixed32(head.try_into().unwrap())
                }
                other => panic!("wire type {other}"),
            };
            found.push((key >> 3, field));
        }
        found
    }

    /// Splits a file into its events, checking every checksum.
    fn events(mut file: &[u8]) -> Vec<&[u8]> {
        let mut found = Vec::new();
        while !file.is_empty() {
            let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
            let unmask = |masked: u32| masked.wrapping_sub(0xa282_ead8).rotate_left(15);
            let length = u64::from_le_bytes(file[..8].try_into().unwrap()) as usize;
            assert_eq!(unmask(word(8)), slow_crc(&file[..8]), "checksum of a length");
            let event = &file[12..12 + length];
            assert_eq!(unmask(word(12 + length)), slow_crc(event), "checksum of an event");
            found.push(event);
            file = &file[16 + length..];
        }
        found
    }

    #[test]
    fn crc_check_value() {
        // The check value of CRC-32C in the catalogue of CRCs.
        assert_eq!(slow_crc(b"123456789"), 0xE306_9283);
    }

    #[test]
    fn another_reader_finds_what_was_written() {
        let scalars = [("loss/policy".to_string(), 1.25), ("broken".to_string(), f64::NAN), ("rate".to_string(), 1e-3)];
        let file = event_file(1_700_000_000.5, 300, &scalars);
        let events = events(&file);
        assert_eq!(events.len(), 2);

        let first = fields(events[0]);
        assert!(matches!(first[0], (1, Field::Fixed64(time)) if f64::from_le_bytes(time) == 1_700_000_000.5));
        assert!(matches!(first[1], (3, Field::Bytes(b"brain.Event:2"))), "{first:?}");

        let second = fields(events[1]);
        assert!(matches!(second[1], (2, Field::Varint(300))), "{second:?}");
        let (5, Field::Bytes(summary)) = second[2] else { panic!("{second:?}") };
        let mut read = Vec::new();
        for (number, value) in fields(summary) {
            let (1, Field::Bytes(value)) = (number, value) else { panic!("field {number}") };
            let value = fields(value);
            let [(1, Field::Bytes(tag)), (2, Field::Fixed32(number))] = value.as_slice() else { panic!("{value:?}") };
            read.push((std::str::from_utf8(tag).unwrap().to_string(), f32::from_le_bytes(*number)));
        }
        assert_eq!(read, [("loss/policy".to_string(), 1.25), ("rate".to_string(), 1e-3_f32)]);
    }
}
