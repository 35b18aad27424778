//! JSON objects that carry a checksum, as every JSON object of a run does.
//!
//! The first member, `crc32c`, is the CRC-32C of the text without that member, in hex:
//! `{"crc32c":"0fb4e832","format":1}` is `{"format":1}` with its checksum. A text without it, such as a card written by
//! hand, is taken as it is.

use std::fmt::Display;
use std::ops::RangeInclusive;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// What a share of something may be.
pub const SHARE: RangeInclusive<f64> = 0.0..=1.0;

/// What seconds, speeds and other amounts may be.
pub const AMOUNT: RangeInclusive<f64> = 0.0..=1e15;

/// What counts may be: sums of a million of them do not overflow.
pub const COUNT: RangeInclusive<u64> = 0..=1 << 43;

/// How a text with a checksum begins; eight digits follow, and then [`AFTER`].
const BEFORE: &[u8] = b"{\"crc32c\":\"";

/// What follows the digits; then the text goes on as it would after its brace.
const AFTER: &[u8] = b"\",";

/// Hex digits of the checksum.
const DIGITS: usize = 8;

/// Why a JSON object could not be read.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// The text changed after it was written.
    #[error(
        "its checksum is {found:08x}, and it says {said:?}; it is damaged or was edited (without its member crc32c it \
         is taken as it is)"
    )]
    Checksum {
        /// Checksum of the text.
        found: u32,
        /// What the text says of it.
        said: String,
    },
    /// The text is no JSON, or does not hold what it should.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// The text of a JSON object with at least one member, with its checksum.
pub fn with_checksum(object: &str) -> String {
    let sum = crc32c::crc32c(object.as_bytes());
    let [before, after] = [BEFORE, AFTER].map(String::from_utf8_lossy);
    format!("{before}{sum:08x}{after}{}", object.strip_prefix('{').unwrap_or(object))
}

/// Whether the text says what its checksum should be.
fn has_checksum(text: &[u8]) -> bool {
    // Old texts share four of these bytes at most. One whose marker itself is damaged must not pass for an old one.
    BEFORE.iter().zip(text).filter(|(expected, found)| expected == found).count() + 3 >= BEFORE.len()
}

/// Reads what [`with_checksum`] made, or a text without a checksum.
///
/// # Errors
/// When the text changed after it was written, is no JSON, or does not hold a `T`.
pub fn from_slice<T: DeserializeOwned>(text: &[u8]) -> Result<T, JsonError> {
    let start = BEFORE.len() + DIGITS + AFTER.len();
    // What is shorter is no JSON either, which the parser says better.
    if !has_checksum(text) || text.len() <= start {
        let value: Value = serde_json::from_slice(text)?;
        // Somebody wrote the object anew with the checksum of before.
        if let Some(said) = value.get("crc32c") {
            return Err(JsonError::Checksum { found: crc32c::crc32c(text), said: said.to_string() });
        }
        return Ok(serde_json::from_value(value)?);
    }
    let (head, rest) = text.split_at(start);
    let object = [b"{", rest].concat();
    let found = crc32c::crc32c(&object);
    let expected = [BEFORE, format!("{found:08x}").as_bytes(), AFTER].concat();
    if head != expected {
        let said = head[BEFORE.len()..BEFORE.len() + DIGITS].escape_ascii().to_string();
        return Err(JsonError::Checksum { found, said });
    }
    Ok(serde_json::from_slice(&object)?)
}

/// A number that was read and is out of its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is {found}; expected {expected}")]
pub struct OutOfRange {
    name: String,
    found: String,
    expected: String,
}

impl From<OutOfRange> for String {
    fn from(error: OutOfRange) -> String {
        error.to_string()
    }
}

/// Checks numbers that were read.
///
/// # Errors
/// When one is out of the range, with its name.
pub fn check<T: PartialOrd + Display>(allowed: RangeInclusive<T>, numbers: &[(&str, T)]) -> Result<(), OutOfRange> {
    let wrong = numbers.iter().find(|(_, number)| !allowed.contains(number));
    wrong.map_or(Ok(()), |(name, number)| {
        let expected = format!("{} to {}", allowed.start(), allowed.end());
        Err(OutOfRange { name: (*name).to_owned(), found: number.to_string(), expected })
    })
}

/// Reads a number that a text may give too large: what was infinite could not be written back.
///
/// # Errors
/// When it is not finite.
pub fn finite<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
    let number = f32::deserialize(deserializer)?;
    let problem = || D::Error::custom(format_args!("the number {number}; expected a finite one"));
    if number.is_finite() { Ok(number) } else { Err(problem()) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &[u8]) -> Result<Value, JsonError> {
        from_slice(text)
    }

    #[test]
    fn the_checksum_is_castagnoli_and_the_text_stays_json() {
        // The catalogue of parametrised CRC algorithms gives the check value of CRC-32C for these nine bytes.
        assert!(with_checksum("123456789").contains("e3069283"));
        let text = with_checksum("{\"format\":1}\n");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((value["format"].as_u64(), value["crc32c"].as_str().map(str::len)), (Some(1), Some(8)));
    }

    #[test]
    fn objects_come_back_without_it_and_old_ones_as_they_are() {
        for text in ["{\"format\":1,\"b\":[2]}\n", "{\n  \"format\": 1,\n  \"b\": [2]\n}\n"] {
            assert_eq!(read(with_checksum(text).as_bytes()).unwrap(), json!({"format": 1, "b": [2]}));
            assert_eq!(read(text.as_bytes()).unwrap(), json!({"format": 1, "b": [2]}));
        }
        for old in ["{\"protocol\":1,", "{\"checkpoint\":\"", "{\"generation\":1", "{\n  \"format\"", "{\"a\":{\"g\""] {
            assert!(!has_checksum(old.as_bytes()), "{old}");
        }
    }

    #[test]
    fn an_object_that_was_edited_with_its_checksum_in_it_is_known() {
        let mut object = json!({"steps": 49, "average": 1.5});
        object["crc32c"] = "12345678".into();
        let text = serde_json::to_string_pretty(&object).unwrap();
        let message = read(text.as_bytes()).unwrap_err().to_string();
        assert!(message.contains("12345678") && message.contains("was edited (without its member crc32c"), "{message}");
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_found() {
        let whole = with_checksum("{\"steps\":49,\"plies\":[10,20],\"seconds\":1.5}\n").into_bytes();
        for bit in 0..8 * whole.len() {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(read(&flipped).is_err(), "{}", flipped.escape_ascii());
        }
        for length in 0..whole.len() {
            assert!(read(&whole[..length]).is_err(), "{length}");
        }
        let message =
            read(&String::from_utf8(whole).unwrap().replace("49", "46").into_bytes()).unwrap_err().to_string();
        assert!(message.starts_with("its checksum is ") && message.contains("damaged or was edited"), "{message}");
    }
}
