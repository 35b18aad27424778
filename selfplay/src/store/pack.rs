//! A run in a few files of bounded size, to carry it where large folders cannot go.
//!
//! What a run needs to go on is taken whole: its configuration, the newest training state, checkpoint and games in flight, all
//! metrics and ladder matches. Of the finished games the newest are taken, as many as there is room for; training goes on with
//! a smaller replay window if not all of it fits. Other checkpoints stay behind.
//!
//! The parts, laid end to end, are a tar archive compressed by zstd, so `cat NAME.* | zstd -d | tar x` unpacks them too.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::{Store, StoreError, games_number};

/// Level of compression: the weights hardly shrink at any, and games are compressed already.
const LEVEL: i32 = 3;

/// What the compressor may still hold back when an object has been written to it, with the ends of both formats.
const HELD_BACK: u64 = 1 << 20;

/// An object larger than this is not unpacked.
const LARGEST: u64 = 1 << 30;

/// How much a pack may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackParams {
    /// Bytes of a part at most.
    pub part_bytes: u64,
    /// Parts at most.
    pub parts: u32,
}

impl Default for PackParams {
    /// Eight parts of 16 MiB.
    fn default() -> PackParams {
        PackParams { part_bytes: 16 << 20, parts: 8 }
    }
}

/// What was packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The files, in order.
    pub parts: Vec<PathBuf>,
    /// Their size together, bytes.
    pub bytes: u64,
    /// Objects other than games.
    pub objects: usize,
    /// Files of games, of how many there are.
    pub games: (usize, usize),
}

/// Why a run could not be packed or unpacked.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The run directory refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
    /// The parts do not make a pack.
    #[error("{path}: {problem}")]
    Damaged {
        /// The file at fault, or the first one.
        path: PathBuf,
        /// What was found and what was expected.
        problem: String,
    },
    /// What a run cannot do without does not fit.
    #[error("the run without its games takes more than {parts} parts of {part_bytes} bytes; expected room for it")]
    TooLarge {
        /// Bytes of a part.
        part_bytes: u64,
        /// Parts.
        parts: u32,
    },
    /// There is something where the run should go.
    #[error("{dir}: not empty; expected a new directory to unpack into")]
    NotEmpty {
        /// The directory.
        dir: PathBuf,
    },
}

/// Packs a run into `out.01`, `out.02` and so on. Nothing is there before everything is.
///
/// # Errors
/// When an object cannot be read, a part cannot be written or is there already, or the room does not suffice without games.
pub fn pack(store: &Store, out: &Path, params: PackParams) -> Result<Packed, PackError> {
    let keys = store.list("")?;
    let mut games: Vec<&String> = keys.iter().filter(|key| games_number(key).is_some()).collect();
    games.reverse();
    let essential = essential(&keys);
    let mut parts = Parts::new(out, params);
    let (mut taken, mut too_large) = (0, false);
    {
        let io = |source| PackError::Io { path: out.to_owned(), source };
        let mut encoder = zstd::Encoder::new(&mut parts, LEVEL).map_err(io)?;
        encoder.include_checksum(true).map_err(io)?;
        let mut archive = tar::Builder::new(encoder);
        for key in &essential {
            add(&mut archive, store, key, out)?;
        }
        for &key in &games {
            let room = u64::from(params.parts) * params.part_bytes;
            let size = store.size(key)?.unwrap_or(0);
            if archive.get_ref().get_ref().total + size + HELD_BACK > room {
                break;
            }
            add(&mut archive, store, key, out)?;
            taken += 1;
        }
        archive
            .into_inner()
            .and_then(|encoder| encoder.finish())
            .map(|parts| too_large = parts.overfull())
            .map_err(io)?;
    }
    if too_large {
        return Err(PackError::TooLarge { part_bytes: params.part_bytes, parts: params.parts });
    }
    let bytes = parts.total;
    Ok(Packed { parts: parts.publish()?, bytes, objects: essential.len(), games: (taken, games.len()) })
}

/// Unpacks the parts of a pack into the run directory `dir`, which must be new or empty. Gives the number of objects.
///
/// # Errors
/// When a part is missing or damaged, or the directory is not empty or cannot be written.
pub fn unpack(parts: &[PathBuf], dir: &Path) -> Result<usize, PackError> {
    let parts = in_order(parts)?;
    let store = Store::open_or_create(dir)?;
    if !store.list("")?.is_empty() {
        return Err(PackError::NotEmpty { dir: dir.to_owned() });
    }
    let mut source: Box<dyn Read> = Box::new(io::empty());
    for path in &parts {
        let file = File::open(path).map_err(|source| PackError::Io { path: path.clone(), source })?;
        source = Box::new(source.chain(file));
    }
    let damaged = |error: &dyn std::fmt::Display| PackError::Damaged {
        path: parts[0].clone(),
        problem: format!("{error}; expected all parts of a pack, whole and in order ({} were given)", parts.len()),
    };
    let decoder = zstd::Decoder::new(source).map_err(|error| damaged(&error))?;
    let mut archive = tar::Archive::new(decoder);
    let mut objects = 0;
    for entry in archive.entries().map_err(|error| damaged(&error))? {
        let mut entry = entry.map_err(|error| damaged(&error))?;
        let key = entry.path().map_err(|error| damaged(&error))?.to_string_lossy().into_owned();
        if entry.size() > LARGEST {
            return Err(damaged(&format!("object {key} of {} bytes", entry.size())));
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(|error| damaged(&error))?;
        store.create(&key, &bytes)?;
        objects += 1;
    }
    // What follows the archive is the compressor's checksum: read, or the damage of the last bytes goes unseen.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(|error| damaged(&error))?;
    Ok(objects)
}

/// The objects that a run cannot do without, and those that say what it has been.
fn essential(keys: &[String]) -> Vec<&String> {
    let newest = |prefix: &str| {
        let folders = keys.iter().filter_map(|key| key.strip_prefix(prefix)?.split(['/', '.']).next());
        folders.max().map(|newest| format!("{prefix}{newest}"))
    };
    let newest = ["state/", "checkpoints/", "inflight/"].map(newest);
    let wanted = |key: &&String| {
        *key == "run.json"
            || ["metrics/", "ladder/", "terms/", "trainer/"].iter().any(|prefix| key.starts_with(prefix))
            || newest.iter().flatten().any(|folder| key.starts_with(folder.as_str()))
    };
    keys.iter().filter(wanted).collect()
}

fn add<W: Write>(archive: &mut tar::Builder<W>, store: &Store, key: &str, out: &Path) -> Result<(), PackError> {
    let bytes = store.get(key)?;
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    archive
        .append_data(&mut header, key, bytes.as_slice())
        .map_err(|source| PackError::Io { path: out.to_owned(), source })
}

/// The parts by the numbers their names end with, which must be 1, 2 and so on.
fn in_order(parts: &[PathBuf]) -> Result<Vec<PathBuf>, PackError> {
    let number = |path: &PathBuf| path.extension()?.to_str()?.parse::<usize>().ok();
    let mut sorted = parts.to_vec();
    sorted.sort_by_key(number);
    for (index, path) in sorted.iter().enumerate() {
        if number(path) != Some(index + 1) {
            let problem = format!("expected part {:02} here: all parts of a pack, as NAME.01 NAME.02", index + 1);
            return Err(PackError::Damaged { path: path.clone(), problem });
        }
    }
    if sorted.is_empty() {
        return Err(PackError::Damaged { path: PathBuf::new(), problem: "no parts were given".to_owned() });
    }
    Ok(sorted)
}

/// A stream cut into files, which get their names when all are whole.
struct Parts {
    out: PathBuf,
    params: PackParams,
    files: Vec<NamedTempFile>,
    /// Bytes in the newest file.
    filled: u64,
    total: u64,
}

impl Parts {
    fn new(out: &Path, params: PackParams) -> Parts {
        Parts { out: out.to_owned(), params, files: Vec::new(), filled: 0, total: 0 }
    }

    fn overfull(&self) -> bool {
        self.files.len() > self.params.parts as usize
    }

    fn folder(&self) -> PathBuf {
        match self.out.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        }
    }

    fn publish(self) -> Result<Vec<PathBuf>, PackError> {
        let names = (1..=self.files.len()).map(|number| {
            let mut name = self.out.clone().into_os_string();
            name.push(format!(".{number:02}"));
            PathBuf::from(name)
        });
        let names: Vec<PathBuf> = names.collect();
        let io = |path: &PathBuf, source| PackError::Io { path: path.clone(), source };
        if let Some(there) = names.iter().find(|name| name.exists()) {
            return Err(io(there, io::Error::from(io::ErrorKind::AlreadyExists)));
        }
        for (file, name) in self.files.into_iter().zip(&names) {
            file.as_file().sync_all().map_err(|source| io(name, source))?;
            file.persist_noclobber(name).map_err(|refused| io(name, refused.error))?;
        }
        Ok(names)
    }
}

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.files.is_empty() || self.filled == self.params.part_bytes {
            self.files.push(super::directory::unfinished_file(&self.folder())?);
            self.filled = 0;
        }
        let room = self.params.part_bytes - self.filled;
        let taken = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        if let Some(file) = self.files.last_mut() {
            file.write_all(&bytes[..taken])?;
        }
        self.filled += taken as u64;
        self.total += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.files.last_mut().map_or(Ok(()), Write::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run with three files of games of 3,000 bytes that do not compress.
    fn run() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(&folder.path().join("run")).unwrap();
        let mut seed = 1_u32;
        let mut noise = |length: usize| -> Vec<u8> {
            let mut next = || {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 24) as u8
            };
            (0..length).map(|_| next()).collect()
        };
        for key in ["games/000001.hgames", "games/000002.hgames", "games/000003.hgames"] {
            store.create(key, &noise(3_000_000)).unwrap();
        }
        for key in [
            "run.json",
            "checkpoints/000002/card.json",
            "checkpoints/000003/card.json",
            "state/000002/counters.json",
            "state/000003/counters.json",
            "inflight/000004-0001.json",
            "inflight/000004-0001.hfleet",
            "metrics/000001.json",
            "ladder/000000-random.json",
            "tensorboard/events",
        ] {
            store.create(key, &noise(1_000)).unwrap();
        }
        (folder, store)
    }

    #[test]
    fn a_packed_run_comes_back_with_its_newest_games() {
        let (folder, store) = run();
        let params = PackParams { part_bytes: 2 << 20, parts: 4 };
        let packed = pack(&store, &folder.path().join("p"), params).unwrap();
        assert_eq!((packed.objects, packed.games), (7, (2, 3)));
        assert!(packed.parts.len() <= 4 && packed.parts[0].ends_with("p.01"), "{packed:?}");
        let sizes: Vec<u64> = packed.parts.iter().map(|path| std::fs::metadata(path).unwrap().len()).collect();
        assert!(sizes.iter().all(|&size| size <= params.part_bytes) && sizes.iter().sum::<u64>() == packed.bytes);

        let mut parts = packed.parts.clone();
        parts.reverse();
        let dir = folder.path().join("again");
        assert_eq!(unpack(&parts, &dir).unwrap(), 9);
        let again = Store::open_to_read(&dir).unwrap();
        let keys = again.list("").unwrap();
        assert_eq!(keys.len(), 9);
        for key in &keys {
            assert_eq!(again.get(key).unwrap(), store.get(key).unwrap(), "{key}");
        }
        let exists = |key| again.exists(key).unwrap();
        assert!(exists("games/000003.hgames") && !exists("games/000001.hgames"));
        assert!(exists("state/000003/counters.json") && !exists("state/000002/counters.json"));

        let message = unpack(&parts, &dir).unwrap_err().to_string();
        assert!(message.ends_with("not empty; expected a new directory to unpack into"), "{message}");
        let message = pack(&store, &folder.path().join("p"), params).unwrap_err().to_string();
        assert!(message.contains("p.01"), "{message}");
    }

    #[test]
    fn missing_and_damaged_parts_are_told() {
        let (folder, store) = run();
        let params = PackParams { part_bytes: 1 << 20, parts: 16 };
        let packed = pack(&store, &folder.path().join("p"), params).unwrap();
        let message = |parts: &[PathBuf], name: &str| unpack(parts, &folder.path().join(name)).unwrap_err().to_string();
        let without = |index: usize| {
            let mut parts = packed.parts.clone();
            parts.remove(index);
            parts
        };
        assert!(message(&without(1), "a").contains("expected part 02 here"), "{}", message(&without(1), "a"));
        let last = packed.parts.len() - 1;
        assert!(
            message(&without(last), "b").contains("expected all parts of a pack"),
            "{}",
            message(&without(last), "b2")
        );
        for at in [10, 500_000] {
            let mut bytes = std::fs::read(&packed.parts[0]).unwrap();
            bytes[at] ^= 1;
            std::fs::write(&packed.parts[0], bytes).unwrap();
            let found = message(&packed.parts, &format!("c{at}"));
            assert!(found.contains("p.01: "), "{found}");
        }
        assert!(message(&[], "d").contains("no parts"));
    }

    #[test]
    fn a_run_that_does_not_fit_leaves_nothing_behind() {
        let (folder, store) = run();
        let params = PackParams { part_bytes: 1_000, parts: 2 };
        let message = pack(&store, &folder.path().join("p"), params).unwrap_err().to_string();
        assert!(message.contains("2 parts of 1000 bytes"), "{message}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the run alone");
    }
}
