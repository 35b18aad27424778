//! Unpacks a run: all of it, or nothing.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::PackError;
use crate::store::Store;
use crate::store::lock::Lock;
use crate::store::operation::Files;

/// The most bytes that a pack unpacks to: 256 MiB, or 32 times its size if that is more. Training states shrink to a
/// half at best, metrics to a tenth.
const ALWAYS_ALLOWED: u64 = 256 << 20;
const MOST_EXPANSION: u64 = 32;

/// The most objects of a pack: 10,000, and one more for every 16 bytes. The smallest objects take about 40 bytes.
const OBJECTS_ALLOWED: u64 = 10_000;
const BYTES_PER_OBJECT: u64 = 16;

/// Bytes of an object's header in the archive.
const ENTRY: u64 = 512;

/// Unpacks the parts of a pack into the run directory `dir`, which must be new or empty, and returns the number of
/// objects. Objects are unpacked and checked in a folder beside `dir`, which is renamed when it is complete; a folder
/// left by a killed call is cleared first. `limit` is the most bytes to unpack; the default is 256 MiB, or 32 times the
/// pack's size if that is more.
///
/// # Errors
/// When a part is missing or damaged, the pack is empty, holds links or is larger than allowed, or the directory is not
/// empty or cannot be written. `dir` is unchanged then.
pub fn unpack(parts: &[PathBuf], dir: &Path, limit: Option<u64>) -> Result<usize, PackError> {
    let parts = in_order(parts)?;
    let dir = real(dir)?;
    let io = |source| PackError::Io { path: dir.clone(), source };
    let above = dir.parent().unwrap_or(Path::new("/"));
    Files::default().make_folders(above).map_err(io)?;
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    let half = above.join(format!(".unpacking-{name}"));
    let store = Store::open_or_create(&half)?;
    let done = begin_anew(&half)
        .map_err(io)
        .and_then(|()| extract(&parts, &mut |key, bytes| Ok(store.create(key, bytes)?), limit));
    drop(store);
    let published = done.and_then(|objects| {
        // The directory is empty except for a lock.
        let _ = fs::remove_file(dir.join(".lock"));
        match fs::remove_dir(&dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(error)),
            _ => {}
        }
        fs::rename(&half, &dir).and_then(|()| Files::default().flush_folder(above)).map_err(io)?;
        Ok(objects)
    });
    if published.is_err() {
        // Report the first error; the next call clears what remains.
        let _ = fs::remove_dir_all(&half);
    }
    published
}

/// The real path of a directory that is new or empty.
fn real(dir: &Path) -> Result<PathBuf, PackError> {
    let io = |source| PackError::Io { path: dir.to_owned(), source };
    if !dir.exists() {
        return std::path::absolute(dir).map_err(io);
    }
    let is_lock = |entry: io::Result<fs::DirEntry>| entry.is_ok_and(|entry| entry.file_name() == ".lock");
    if !fs::read_dir(dir).map_err(io)?.all(is_lock) {
        return Err(PackError::NotEmpty { dir: dir.to_owned() });
    }
    if dir.join(".lock").exists() {
        // Another process may be about to begin a run there.
        Lock::take(dir, &Files::default())?;
    }
    dir.canonicalize().map_err(io)
}

/// Removes everything that an earlier call left, except the lock, which this call holds.
fn begin_anew(half: &Path) -> io::Result<()> {
    for entry in fs::read_dir(half)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else if entry.file_name() != ".lock" {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Receives an object with its key.
type TakeObject<'a> = dyn FnMut(&str, &[u8]) -> Result<(), PackError> + 'a;

/// Reads a pack to its end and passes every object to `take`.
pub(super) fn extract(parts: &[PathBuf], take: &mut TakeObject<'_>, limit: Option<u64>) -> Result<usize, PackError> {
    let mut source: Box<dyn Read> = Box::new(io::empty());
    let mut packed = 0;
    for path in parts {
        let io = |source| PackError::Io { path: path.clone(), source };
        let file = File::open(path).map_err(io)?;
        packed += file.metadata().map_err(io)?.len();
        source = Box::new(source.chain(file));
    }
    let first = || parts.first().cloned().unwrap_or_default();
    let damaged = |error: &dyn std::fmt::Display| PackError::Damaged {
        path: first(),
        problem: format!("{error}; expected all parts of a pack, whole and in order ({} were given)", parts.len()),
    };
    let bomb = |allowed: String| PackError::Bomb { path: first(), allowed, packed };
    let most_bytes = limit.unwrap_or(ALWAYS_ALLOWED.max(packed.saturating_mul(MOST_EXPANSION)));
    let most_objects = OBJECTS_ALLOWED + packed / BYTES_PER_OBJECT;
    let decoder = zstd::Decoder::new(source).map_err(|error| damaged(&error))?;
    let mut archive = tar::Archive::new(decoder);
    let (mut objects, mut bytes_left) = (0, most_bytes);
    for entry in archive.entries().map_err(|error| damaged(&error))? {
        let mut entry = entry.map_err(|error| damaged(&error))?;
        let key = entry.path().map_err(|error| damaged(&error))?.to_string_lossy().into_owned();
        let kind = entry.header().entry_type();
        if !kind.is_file() {
            let what = if kind.is_symlink() || kind.is_hard_link() { "a link" } else { "no plain file" };
            return Err(damaged(&format!("{key:?} is {what}")));
        }
        let size = entry.size();
        bytes_left =
            bytes_left.checked_sub(size.saturating_add(ENTRY)).ok_or_else(|| bomb(format!("{most_bytes} bytes")))?;
        if objects as u64 == most_objects {
            return Err(bomb(format!("{most_objects} objects")));
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(|error| damaged(&error))?;
        if bytes.len() as u64 != size {
            return Err(damaged(&format!("{} of {size} bytes of {key}", bytes.len())));
        }
        take(&key, &bytes)?;
        objects += 1;
    }
    // The compressor's checksum follows the archive. Read it to detect damage in the last bytes.
    let mut rest = archive.into_inner().take(bytes_left.saturating_add(1));
    if io::copy(&mut rest, &mut io::sink()).map_err(|error| damaged(&error))? > bytes_left {
        return Err(bomb(format!("{most_bytes} bytes")));
    }
    if objects == 0 {
        return Err(damaged(&"no objects"));
    }
    Ok(objects)
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
