//! Files with a header, a checksum and compressed data, which no fuzzer would guess.

use hnefi_run::codec::{self, Kind};
use serde::ser::{Serialize, SerializeTuple, Serializer};

/// The most data that a repeated end makes.
const MOST: usize = 1 << 21;

/// Bytes that the codec writes as they are.
struct Plain<'a>(&'a [u8]);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut tuple = serializer.serialize_tuple(self.0.len())?;
        self.0.iter().try_for_each(|byte| tuple.serialize_element(byte))?;
        tuple.end()
    }
}

/// The file that an input stands for, and how many bytes of data it unpacks to, if that is known.
///
/// The first byte says what follows: 0 the file itself; 1 the data, to be wrapped as the codec does; 2 the same, but a
/// number of times (two bytes) how many bytes at its end (one byte) are to be repeated, so that little input makes much
/// data.
pub fn file(kind: Kind, input: &[u8]) -> Option<(Vec<u8>, usize)> {
    match input {
        [0, file @ ..] => Some((file.to_vec(), file.len())),
        [1, data @ ..] => Some((codec::encode(kind, &Plain(data)), data.len())),
        [2, low, high, end, data @ ..] => {
            let (times, end) = (usize::from(u16::from_le_bytes([*low, *high])), usize::from(*end).min(data.len()));
            let mut data = data.to_vec();
            let end = data[data.len() - end..].to_vec();
            let times = times.min(MOST / end.len().max(1));
            data.extend(end.repeat(times));
            Some((codec::encode(kind, &Plain(&data)), data.len()))
        }
        _ => None,
    }
}

/// The data of a file that the codec has written.
pub fn data(file: &[u8]) -> Vec<u8> {
    zstd::decode_all(&file[24..]).expect("it was just compressed")
}

/// Inputs that stand for a file.
pub fn seeds(file: Vec<u8>) -> [Vec<u8>; 3] {
    let plain = data(&file);
    [[&[0], file.as_slice()].concat(), [&[1], plain.as_slice()].concat(), [&[2, 3, 0, 30], plain.as_slice()].concat()]
}
