//! The file format of records and snapshots: a header that identifies the file, then compressed data.
//!
//! ```text
//! offset  size  what
//!      0     8  magic: HNEFIGAM for finished games, HNEFIFLT for a fleet in flight,
//!               HNEFIUPL for a worker's upload
//!      8     4  format version, u32
//!     12     8  length of the payload in bytes, u64
//!     20     4  CRC-32C of the payload, u32
//!     24     …  payload: zstd frame over bincode 2 data
//! ```
//!
//! All numbers are little-endian. Errors are found before decoding: foreign and newer files by the header, truncated
//! and damaged files by length and checksum. Malicious bytes cost at most a fixed multiple of the file's size in
//! memory, and games read one by one ([`GameReader`]) at most the largest game. Only this file uses bincode, pinned to
//! 2.0.1; `docs/RECORDS.md` describes the bytes.

use std::io::{BufRead, BufReader, Cursor, ErrorKind, Read};

use bincode::error::DecodeError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use hnefi_record::{GameRecord, RecordError};

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    magic: [u8; 8],
    /// The version written, which is also the newest version read.
    version: u32,
    /// The name in errors.
    name: &'static str,
}

/// Finished games.
pub const GAMES: Kind = Kind { magic: *b"HNEFIGAM", version: 1, name: "game record file" };
/// Games in flight, with everything needed to continue them.
pub const SNAPSHOT: Kind = Kind { magic: *b"HNEFIFLT", version: 1, name: "fleet snapshot" };
/// Games that a worker uploads.
pub const UPLOAD: Kind = Kind { magic: *b"HNEFIUPL", version: 1, name: "worker's game file" };

const HEADER: usize = 24;

/// zstd's default level; higher levels hardly shrink game records.
const LEVEL: i32 = 3;

/// A payload may unpack to at most this multiple of its size. Self-play games reach about 4, games without policies and
/// values 15.
const MOST_EXPANSION: usize = 32;
/// Every payload may unpack to this many bytes, so that small files of similar games pass.
const ALWAYS_ALLOWED: usize = 1 << 26;
/// No payload may unpack to more bytes: four gigabytes are about 30 million plies.
const MOST_DATA: usize = 1 << 32;

/// The most bytes of one game as bincode counts them: a ply of self-play takes about 300, a ply without a policy 40.
const MOST_OF_A_GAME: usize = 1 << 26;

/// Encodes finished games as one file.
pub fn encode_games(games: &[GameRecord]) -> Vec<u8> {
    encode(GAMES, games)
}

/// Decodes the bytes of [`encode_games`]; `file` names them in errors.
///
/// # Errors
/// When the bytes are not a game record file, come from a newer program, or are truncated or damaged.
pub fn decode_games(file: &str, bytes: &[u8]) -> Result<Vec<GameRecord>, RecordError> {
    GameReader::new(file.to_owned(), bytes)?.collect()
}

/// Reads the games of a file one by one: memory holds the file and one game.
///
/// A foreign, truncated or damaged file is refused before the first game. Invalid contents with a valid checksum, which
/// Hnefi never writes, end the iteration with an error.
pub struct GameReader<B> {
    file: String,
    data: BufReader<Unpacking<Cursor<B>>>,
    /// Number of games still to read; `None` after the last game or an error.
    left: Option<u64>,
    games: u64,
}

impl<B: AsRef<[u8]>> GameReader<B> {
    /// Opens the bytes of a whole file; `file` names it in errors.
    ///
    /// # Errors
    /// When the bytes are not a game record file, come from a newer program, or are truncated or damaged.
    pub fn new(file: String, bytes: B) -> Result<GameReader<B>, RecordError> {
        let payload = open_envelope(GAMES, &file, bytes.as_ref())?.len();
        let mut packed = Cursor::new(bytes);
        packed.set_position(HEADER as u64);
        let data = Unpacking::new(packed, payload).map_err(|error| damaged(GAMES, &file, error))?;
        let mut reader = GameReader { file, data: BufReader::new(data), left: None, games: 0 };
        reader.games = reader.decode()?;
        reader.left = Some(reader.games);
        Ok(reader)
    }

    /// Number of games in the file, as its data states.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// Number of games not read yet.
    pub fn left(&self) -> u64 {
        self.left.unwrap_or_default()
    }

    fn decode<T: DeserializeOwned>(&mut self) -> Result<T, RecordError> {
        let config = bincode::config::standard().with_limit::<MOST_OF_A_GAME>();
        bincode::serde::decode_from_reader(&mut self.data, config).map_err(|error| match error {
            DecodeError::Io { inner, .. } if inner.kind() == ErrorKind::UnexpectedEof => {
                damaged(GAMES, &self.file, "the data ends within a game")
            }
            DecodeError::Io { inner, .. } => damaged(GAMES, &self.file, inner),
            DecodeError::OtherString(problem) => damaged(GAMES, &self.file, problem),
            DecodeError::LimitExceeded => {
                damaged(GAMES, &self.file, format!("a game takes more than {MOST_OF_A_GAME} bytes"))
            }
            error => damaged(GAMES, &self.file, error),
        })
    }

    /// Checks that no data follow the last game.
    fn check_end(&mut self) -> Result<(), RecordError> {
        match std::io::copy(&mut self.data, &mut std::io::sink()) {
            Ok(0) => Ok(()),
            Ok(extra) => Err(damaged(GAMES, &self.file, format!("{extra} bytes of data follow the last entry"))),
            Err(error) => Err(damaged(GAMES, &self.file, error)),
        }
    }
}

impl<B: AsRef<[u8]>> Iterator for GameReader<B> {
    type Item = Result<GameRecord, RecordError>;

    fn next(&mut self) -> Option<Result<GameRecord, RecordError>> {
        match self.left.take()? {
            0 => self.check_end().err().map(Err),
            left => {
                let game = self.decode();
                self.left = game.is_ok().then(|| left - 1);
                Some(game)
            }
        }
    }
}

/// Encodes a value in the envelope of its kind.
pub fn encode<T: Serialize + ?Sized>(kind: Kind, value: &T) -> Vec<u8> {
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
pub fn decode<T: DeserializeOwned>(kind: Kind, file: &str, bytes: &[u8]) -> Result<T, RecordError> {
    let payload = open_envelope(kind, file, bytes)?;
    let mut plain = Vec::new();
    Unpacking::new(payload, payload.len())
        .and_then(|mut data| data.read_to_end(&mut plain))
        .map_err(|error| damaged(kind, file, error))?;
    let (value, used) = parse::<T>(&plain).map_err(|error| damaged(kind, file, error))?;
    if used == plain.len() {
        Ok(value)
    } else {
        Err(damaged(kind, file, format!("{} bytes of data follow the last entry", plain.len() - used)))
    }
}

fn damaged(kind: Kind, file: &str, problem: impl std::fmt::Display) -> RecordError {
    RecordError::Damaged { file: file.to_owned(), what: kind.name, problem: problem.to_string() }
}

/// Checks the header and returns the payload.
fn open_envelope<'a>(kind: Kind, file: &str, bytes: &'a [u8]) -> Result<&'a [u8], RecordError> {
    let file = || file.to_string();
    let cut_off = |expected: u64| {
        let found = bytes.len() as u64;
        Err(RecordError::Truncated { file: file(), what: kind.name, found, expected })
    };
    let start = &bytes[..bytes.len().min(kind.magic.len())];
    if !kind.magic.starts_with(start) {
        return Err(RecordError::Foreign { file: file(), what: kind.name, found: describe_start(start) });
    }
    let Some((header, payload)) = bytes.split_at_checked(HEADER) else { return cut_off(HEADER as u64) };
    let version = u32::from_le_bytes(field(header, 8));
    if !(1..=kind.version).contains(&version) {
        return Err(RecordError::Version { file: file(), what: kind.name, found: version, newest: kind.version });
    }
    let length = u64::from_le_bytes(field(header, 12));
    let found = payload.len() as u64;
    if found < length {
        return cut_off(length.saturating_add(HEADER as u64));
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

fn describe_start(start: &[u8]) -> String {
    match [GAMES, SNAPSHOT, UPLOAD].iter().find(|known| known.magic == start) {
        Some(known) => format!("a {}", known.name),
        None => format!("bytes beginning \"{}\"", start.escape_ascii()),
    }
}

/// Decompresses a payload up to a limit on its size.
struct Unpacking<R> {
    decoder: zstd::stream::read::Decoder<'static, R>,
    /// Bytes that may still follow, and the limit at the start.
    left: usize,
    most: usize,
}

impl<R: BufRead> Unpacking<R> {
    /// `packed` yields a payload of `bytes` bytes.
    fn new(packed: R, bytes: usize) -> std::io::Result<Unpacking<R>> {
        let most = bytes.saturating_mul(MOST_EXPANSION).clamp(ALWAYS_ALLOWED, MOST_DATA);
        Ok(Unpacking { decoder: zstd::stream::read::Decoder::with_buffer(packed)?, left: most, most })
    }
}

impl<R: BufRead> Read for Unpacking<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = self.decoder.read(out).map_err(|error| match error.kind() {
            ErrorKind::Interrupted => error,
            _ => std::io::Error::other(format!("not decompressible: {error}")),
        })?;
        let most = self.most;
        self.left = self
            .left
            .checked_sub(count)
            .ok_or_else(|| std::io::Error::other(format!("unpacks to more than {most} bytes")))?;
        Ok(count)
    }
}

/// Parses with a limit close to the size of the data, because bincode reserves the claimed length of a text, up to its
/// limit. It counts up to eight bytes for each byte read, hence the factor between data and limit.
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

    fn games(plain: &[u8]) -> Vec<u8> {
        let mut bytes = envelope(&zstd::bulk::compress(plain, 1).unwrap());
        bytes[..8].copy_from_slice(&GAMES.magic);
        bytes[8] = GAMES.version as u8;
        bytes
    }

    fn refusal(plain: &[u8]) -> String {
        decode_games("a.hgames", &games(plain)).unwrap_err().to_string()
    }

    #[test]
    fn games_that_make_no_sense_are_refused() {
        let begins = |text: String, begin: &str| assert!(text.contains(&format!("file: {begin}")), "{text}");
        begins(refusal(b"\x01"), "the data ends within a game");
        begins(refusal(b""), "the data ends within a game");
        begins(refusal(b"\x00ab"), "2 bytes of data follow the last entry");
        // A list that claims almost 2^64 games, and a game whose rules are none.
        begins(refusal(b"\xfd\xf0\xff\xff\xff\xff\xff\xff\xff"), "the data ends within a game");
        assert!(refusal(&[0xff; 60]).starts_with("a.hgames: damaged game record file: "));
    }

    /// Beginning of a file that says it holds one game, and of that game up to its plies.
    fn begun() -> Vec<u8> {
        let game = GameRecord::new(0, 0, hnefi_engine::Preset::Brandubh.rules());
        let whole = bincode::serde::encode_to_vec(vec![game], bincode::config::standard()).unwrap();
        // The number of plies and three options that are not there.
        whole[..whole.len() - 4].to_vec()
    }

    #[test]
    fn no_game_is_larger_than_any_game() {
        // Two million plies of nothing but zeros, which compress to a thousandth and would take 64 bytes each.
        let mut plain = begun();
        plain.extend([0xfc, 0x80, 0x84, 0x1e, 0x00]);
        plain.resize(plain.len() + 28 * 2_000_000, 0);
        assert!(games(&plain).len() < 100_000);
        let text = refusal(&plain);
        assert!(text.ends_with("a game takes more than 67108864 bytes"), "{text}");
        // A start of almost 2^32 bytes is not believed either.
        let mut named = begun();
        // Without the two names, the handicap and the start that is not there.
        named.truncate(named.len() - 11);
        named.extend([0x01, 0xfc, 0xf0, 0xff, 0xff, 0xff]);
        let text = refusal(&named);
        assert!(text.ends_with("a game takes more than 67108864 bytes"), "{text}");
    }

    #[test]
    fn games_are_read_one_by_one() {
        let game = |number: u64| {
            let mut data = begun();
            data.extend([0; 4]);
            let (mut games, _): (Vec<GameRecord>, usize) =
                bincode::serde::decode_from_slice(&data, bincode::config::standard()).unwrap();
            games[0].game = number;
            games.remove(0)
        };
        let written: Vec<GameRecord> = (0..5).map(game).collect();
        let mut reader = GameReader::new("a.hgames".to_owned(), encode_games(&written)).unwrap();
        assert_eq!((reader.games(), reader.left()), (5, 5));
        assert_eq!(reader.next().unwrap().unwrap(), written[0]);
        assert_eq!((reader.games(), reader.left()), (5, 4));
        assert_eq!(reader.by_ref().map(Result::unwrap).collect::<Vec<_>>(), written[1..]);
        assert!(reader.next().is_none() && reader.left() == 0);
        // What makes no sense ends the reading where it stands.
        let mut data = bincode::serde::encode_to_vec(&written, bincode::config::standard()).unwrap();
        data.truncate(data.len() - 3);
        let mut reader = GameReader::new("a.hgames".to_owned(), games(&data)).unwrap();
        assert_eq!(reader.by_ref().take(4).map(Result::unwrap).collect::<Vec<_>>(), written[..4]);
        assert!(reader.next().unwrap().is_err() && reader.next().is_none());
    }
}
