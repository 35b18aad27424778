//! How records and snapshots become bytes: a header that says what the file is, then compressed data.
//!
//! ```text
//! offset  size  what
//!      0     8  magic: HNEFIGAM for finished games, HNEFIFLT for a fleet in flight,
//!               HNEFIARR for what a worker brings
//!      8     4  format version, u32
//!     12     8  length of the payload in bytes, u64
//!     20     4  CRC-32C of the payload, u32
//!     24     …  payload: zstd frame over bincode 2 data
//! ```
//!
//! All numbers are little-endian. Whatever is wrong with a file is found before anything is built from it: foreign and
//! newer files by the header, cut and damaged ones by length and checksum. Even bytes made to deceive cost no more memory
//! than a fixed multiple of the file. This is the only file that knows bincode, pinned to 2.0.1; `docs/RECORDS.md`
//! describes the format without it.

use std::io::Read;

use bincode::error::DecodeError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::record::{GameRecord, RecordError};

/// What an envelope holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    magic: [u8; 8],
    /// The version written and the newest that is read.
    version: u32,
    /// What it is called in errors.
    name: &'static str,
}

/// Finished games.
pub(crate) const GAMES: Kind = Kind { magic: *b"HNEFIGAM", version: 1, name: "game record file" };
/// Games in flight with all that continuing them needs.
pub(crate) const SNAPSHOT: Kind = Kind { magic: *b"HNEFIFLT", version: 1, name: "fleet snapshot" };
/// What a worker brings.
pub(crate) const ARRIVAL: Kind = Kind { magic: *b"HNEFIARR", version: 1, name: "worker's game file" };

/// Bytes before the payload.
const HEADER: usize = 24;

/// zstd's own default, beyond which game records hardly shrink.
const LEVEL: i32 = 3;

/// A payload may unpack to this many times its size; real ones reach about four times.
const MOST_EXPANSION: usize = 256;
/// A payload may always unpack to this much, so that tiny files of like games pass.
const ALWAYS_ALLOWED: usize = 1 << 26;
/// No payload unpacks to more than this: four gigabytes are some 30 million plies.
const MOST_DATA: usize = 1 << 32;

/// Encodes finished games as one file.
pub fn encode_games(games: &[GameRecord]) -> Vec<u8> {
    encode(GAMES, games)
}

/// Decodes what [`encode_games`] made; `file` names it in errors.
///
/// # Errors
/// When the bytes are no game record file, come from a newer program, or are cut or damaged.
pub fn decode_games(file: &str, bytes: &[u8]) -> Result<Vec<GameRecord>, RecordError> {
    decode(GAMES, file, bytes)
}

/// Encodes a value in the envelope of its kind.
pub(crate) fn encode<T: Serialize + ?Sized>(kind: Kind, value: &T) -> Vec<u8> {
    let plain = bincode::serde::encode_to_vec(value, bincode::config::standard())
        .expect("records hold only types that bincode can write, and memory does not fail");
    let payload =
        zstd::bulk::compress(&plain, LEVEL).expect("zstd compresses any bytes into a buffer of its own choosing");
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend_from_slice(&kind.magic);
    bytes.extend_from_slice(&kind.version.to_le_bytes());
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&crc32c::crc32c(&payload).to_le_bytes());
    bytes.extend_from_slice(&payload);
    bytes
}

/// Decodes a value from the envelope of its kind; `file` names it in errors.
pub(crate) fn decode<T: DeserializeOwned>(kind: Kind, file: &str, bytes: &[u8]) -> Result<T, RecordError> {
    let payload = open_envelope(kind, file, bytes)?;
    let plain = unpack(kind, file, payload)?;
    let damaged = |problem| RecordError::Damaged { file: file.to_string(), what: kind.name, problem };
    let (value, used) = parse::<T>(&plain).map_err(|error| damaged(error.to_string()))?;
    if used == plain.len() {
        Ok(value)
    } else {
        Err(damaged(format!("{} bytes of data follow the last entry", plain.len() - used)))
    }
}

/// Checks the header and returns the payload.
fn open_envelope<'a>(kind: Kind, file: &str, bytes: &'a [u8]) -> Result<&'a [u8], RecordError> {
    let file = || file.to_string();
    let start = &bytes[..bytes.len().min(kind.magic.len())];
    if !kind.magic.starts_with(start) {
        return Err(RecordError::Foreign { file: file(), what: kind.name, found: describe_start(start) });
    }
    let Some((header, payload)) = bytes.split_at_checked(HEADER) else {
        let expected = HEADER as u64;
        return Err(RecordError::Truncated { file: file(), what: kind.name, found: bytes.len() as u64, expected });
    };
    let version = u32::from_le_bytes(field(header, 8));
    if !(1..=kind.version).contains(&version) {
        return Err(RecordError::Version { file: file(), what: kind.name, found: version, newest: kind.version });
    }
    let length = u64::from_le_bytes(field(header, 12));
    let found = payload.len() as u64;
    if found < length {
        let expected = length.saturating_add(HEADER as u64);
        return Err(RecordError::Truncated { file: file(), what: kind.name, found: bytes.len() as u64, expected });
    }
    if found > length {
        return Err(RecordError::Trailing { file: file(), what: kind.name, extra: found - length });
    }
    let expected = u32::from_le_bytes(field(header, 20));
    let found = crc32c::crc32c(payload);
    if found != expected {
        return Err(RecordError::Checksum { file: file(), what: kind.name, found, expected });
    }
    Ok(payload)
}

fn field<const N: usize>(header: &[u8], offset: usize) -> [u8; N] {
    std::array::from_fn(|index| header[offset + index])
}

/// What a foreign file begins with, readable where it is text.
fn describe_start(start: &[u8]) -> String {
    match [GAMES, SNAPSHOT, ARRIVAL].iter().find(|known| known.magic == start) {
        Some(known) => format!("a {}", known.name),
        None => format!("bytes beginning \"{}\"", start.escape_ascii()),
    }
}

/// Decompresses a payload, giving up where no honest file would still go on.
fn unpack(kind: Kind, file: &str, payload: &[u8]) -> Result<Vec<u8>, RecordError> {
    let damaged = |problem| RecordError::Damaged { file: file.to_string(), what: kind.name, problem };
    let most = payload.len().saturating_mul(MOST_EXPANSION).clamp(ALWAYS_ALLOWED, MOST_DATA);
    let mut plain = Vec::new();
    zstd::stream::read::Decoder::with_buffer(payload)
        .and_then(|decoder| decoder.take(most as u64 + 1).read_to_end(&mut plain))
        .map_err(|error| damaged(format!("not decompressible: {error}")))?;
    if plain.len() > most {
        return Err(damaged(format!("unpacks to more than {most} bytes")));
    }
    Ok(plain)
}

/// Parses with a limit near the data's own size, because bincode reserves what the length of a text claims, up to its limit.
/// It counts up to eight bytes for one that it reads, hence the factor between data and limit.
fn parse<T: DeserializeOwned>(plain: &[u8]) -> Result<(T, usize), DecodeError> {
    fn within<T: DeserializeOwned, const LIMIT: usize>(plain: &[u8]) -> Result<(T, usize), DecodeError> {
        bincode::serde::decode_from_slice(plain, bincode::config::standard().with_limit::<LIMIT>())
    }
    match plain.len() {
        0..0x1_0000 => within::<T, 0x8_0000>(plain),
        0x1_0000..0x10_0000 => within::<T, 0x80_0000>(plain),
        0x10_0000..0x100_0000 => within::<T, 0x800_0000>(plain),
        0x100_0000..0x1000_0000 => within::<T, 0x8000_0000>(plain),
        _ => within::<T, { 8 * MOST_DATA }>(plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_of_every_size_passes_its_limit() {
        // Short texts and lists are what bincode counts dearest.
        for count in [10, 20_000, 70_000, 700_000] {
            let value = vec![(String::new(), Vec::<u64>::new(), Some(1u64)); count];
            let decoded: Vec<(String, Vec<u64>, Option<u64>)> = decode(NOTE, "a.note", &encode(NOTE, &value)).unwrap();
            assert_eq!(decoded.len(), count);
        }
    }

    const NOTE: Kind = Kind { magic: *b"HNEFINOT", version: 2, name: "note" };

    fn message<T: DeserializeOwned + std::fmt::Debug>(bytes: &[u8]) -> String {
        decode::<T>(NOTE, "a.note", bytes).unwrap_err().to_string()
    }

    /// An envelope whose header is right, around any payload.
    fn envelope(payload: &[u8]) -> Vec<u8> {
        let mut bytes = b"HNEFINOT".to_vec();
        bytes.extend(2u32.to_le_bytes());
        bytes.extend((payload.len() as u64).to_le_bytes());
        bytes.extend(crc32c::crc32c(payload).to_le_bytes());
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn values_come_back() {
        let value = vec![("one".to_string(), 1u16, 0.5f32), ("thousand".to_string(), 1000, -1.0)];
        let bytes = encode(NOTE, &value);
        assert_eq!(decode::<Vec<(String, u16, f32)>>(NOTE, "a.note", &bytes).unwrap(), value);
    }

    #[test]
    fn the_checksum_is_castagnoli() {
        // The check value of CRC-32C in the catalogue of parametrised CRC algorithms.
        assert_eq!(crc32c::crc32c(b"123456789"), 0xE306_9283);
    }

    #[test]
    fn every_fault_of_the_envelope_is_told_apart() {
        let bytes = encode(NOTE, "hello");
        assert_eq!(message::<String>(b""), "a.note: 0 bytes of a note; expected 24, the file was cut off");
        let cut = message::<String>(&bytes[..bytes.len() - 1]);
        assert_eq!(
            cut,
            format!("a.note: {} bytes of a note; expected {}, the file was cut off", bytes.len() - 1, bytes.len())
        );
        assert_eq!(
            message::<String>(b"PK\x03\x04 zip"),
            "a.note: bytes beginning \"PK\\x03\\x04 zip\"; expected a note"
        );
        assert_eq!(message::<String>(&encode(GAMES, "hello")), "a.note: a game record file; expected a note");
        let mut newer = bytes.clone();
        newer[8] = 3;
        assert_eq!(message::<String>(&newer), "a.note: note of version 3; this program reads versions 1 to 2");
        let mut longer = bytes.clone();
        longer.extend(b"more");
        assert_eq!(message::<String>(&longer), "a.note: 4 bytes follow the end of the note; expected none");
        let mut damaged = bytes.clone();
        *damaged.last_mut().unwrap() ^= 1;
        assert!(message::<String>(&damaged).contains("the file is damaged"), "{}", message::<String>(&damaged));
    }

    #[test]
    fn a_whole_envelope_around_nonsense_is_refused() {
        assert!(message::<String>(&envelope(b"not zstd")).starts_with("a.note: damaged note: not decompressible"));
        let plain = |plain: &[u8]| envelope(&zstd::bulk::compress(plain, 1).unwrap());
        assert!(message::<String>(&plain(b"\x01ab")).ends_with("1 bytes of data follow the last entry"));
        // A text that claims almost 2^64 bytes, and a list that claims 2^32 entries.
        assert!(message::<String>(&plain(b"\xfd\xf0\xff\xff\xff\xff\xff\xff\xff")).starts_with("a.note: damaged note"));
        assert!(message::<Vec<u32>>(&plain(b"\xfc\xff\xff\xff\xff")).starts_with("a.note: damaged note"));
    }

    #[test]
    fn a_small_file_that_unpacks_without_end_is_refused() {
        let bomb = zstd::bulk::compress(&vec![0u8; ALWAYS_ALLOWED + 1], 19).unwrap();
        assert!(bomb.len() < 100_000);
        assert!(message::<String>(&envelope(&bomb)).ends_with(&format!("unpacks to more than {ALWAYS_ALLOWED} bytes")));
    }
}
