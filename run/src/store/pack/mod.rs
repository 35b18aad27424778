//! Packs a run into a few files of bounded size.
//!
//! A pack holds everything needed to resume: the configuration, the newest training state, checkpoint and games in
//! flight, all metrics and ladder matches. It also holds the newest finished games that fit; if the replay window does
//! not fit, training resumes with a smaller one. Older checkpoints are left out.
//!
//! The concatenated parts are a tar archive compressed by zstd, so `cat NAME.* | zstd -d | tar x` unpacks them too.

#[cfg(test)]
mod tests;
mod unpack;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

pub use unpack::unpack;

use super::directory::unfinished_file;
use super::operation::Files;
use super::{Store, StoreError, games_number};

/// Compression level. Weights hardly shrink at any level, and games are compressed already.
const LEVEL: i32 = 3;

/// Bytes that the compressor may still buffer after an object was written, plus the ends of both formats.
const HELD_BACK: u64 = 1 << 20;

/// The largest size of a pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackParams {
    /// Most bytes of a part.
    pub part_bytes: u64,
    /// Most parts.
    pub parts: u32,
}

impl Default for PackParams {
    /// Eight parts of 16 MiB.
    fn default() -> PackParams {
        PackParams { part_bytes: 16 << 20, parts: 8 }
    }
}

/// The result of packing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The files, in order.
    pub parts: Vec<PathBuf>,
    /// Total size in bytes.
    pub bytes: u64,
    /// Number of objects other than games.
    pub objects: usize,
    /// Number of game files packed, and number in the run.
    pub games: (usize, usize),
}

/// Why a run could not be packed or unpacked.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// An error of the run directory.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The file system's error.
        source: io::Error,
    },
    /// The parts are not a pack.
    #[error("{path}: {problem}")]
    Damaged {
        /// The wrong file, or the first one.
        path: PathBuf,
        /// What was found and what was expected.
        problem: String,
    },
    /// The objects needed to resume do not fit.
    #[error("the run without its games takes more than {parts} parts of {part_bytes} bytes; expected room for it")]
    TooLarge {
        /// Bytes of a part.
        part_bytes: u64,
        /// Parts.
        parts: u32,
    },
    /// A pack unpacks to more than is allowed.
    #[error(
        "{path}: it unpacks to more than {allowed}; expected no more of {packed} bytes (a larger limit of bytes may \
         be given)"
    )]
    Bomb {
        /// The first part.
        path: PathBuf,
        /// What was allowed: bytes or objects.
        allowed: String,
        /// Bytes of all parts.
        packed: u64,
    },
    /// There is nothing to pack.
    #[error("{place}: no objects; expected a run")]
    Empty {
        /// The run directory.
        place: String,
    },
    /// The target directory is not empty.
    #[error("{dir}: not empty; expected a new directory to unpack into")]
    NotEmpty {
        /// The directory.
        dir: PathBuf,
    },
}

/// Packs a run into `out.01`, `out.02` and so on. The files appear when all of them are complete.
///
/// # Errors
/// When there is no run, an object cannot be read, a part exists or cannot be written, or the objects other than games
/// do not fit.
pub fn pack(store: &Store, out: &Path, params: PackParams) -> Result<Packed, PackError> {
    let keys = store.list("")?;
    if keys.is_empty() {
        return Err(PackError::Empty { place: store.place() });
    }
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

/// The objects needed to resume the run, its metrics and its ladder matches.
fn essential(keys: &[String]) -> Vec<&String> {
    // A state without its counters was being written when the trainer died; the run goes on from the one before.
    let states = keys.iter().filter(|key| key.starts_with("state/"));
    let state = states.filter_map(|key| key.strip_suffix("counters.json")).max();
    let checkpoint = keys.iter().filter_map(|key| key.strip_prefix("checkpoints/")?.split('/').next()).max();
    let checkpoint = checkpoint.map(|newest| format!("checkpoints/{newest}/"));
    let wanted = |key: &&String| {
        *key == "run.json"
            // Few saves are kept, and which one the run goes on from follows from the games.
            || ["metrics/", "ladder/", "terms/", "trainer/", "inflight/"].iter().any(|prefix| key.starts_with(prefix))
            || [state, checkpoint.as_deref()].iter().flatten().any(|folder| key.starts_with(folder))
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

/// A stream split into files, which are renamed when all of them are complete.
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
        let folder = self.folder();
        for (file, name) in self.files.into_iter().zip(&names) {
            file.as_file().sync_all().map_err(|source| io(name, source))?;
            file.persist_noclobber(name).map_err(|refused| io(name, refused.error))?;
        }
        Files::default().flush_folder(&folder).map_err(|source| io(&folder, source))?;
        Ok(names)
    }
}

impl Write for Parts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.files.is_empty() || self.filled == self.params.part_bytes {
            self.files.push(unfinished_file(&self.folder())?);
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
