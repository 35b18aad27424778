//! A run directory as a store of objects that are created whole and never changed.
//!
//! Every object has a key such as `games/000001.hgames`. [`Store::create`] writes a temporary file, flushes it to the
//! disk and gives it its name in one step, so a reader sees all of an object or nothing of it, and a crash or a full disk
//! leaves what was there before. Nothing is ever overwritten; newest means highest number. That is also what an object
//! store on a network offers, so nothing here relies on more than create, list, get and remove.
//!
//! One process at a time may write: [`Store::open_or_create`] takes a lock that the operating system gives back when the
//! process ends, however it ends. Any number may read beside it through [`Store::open_to_read`].

mod error;
mod games;
mod layout;
mod lock;
mod pack;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use error::StoreError;
pub use games::{DamagedFile, read_games, read_run_games};
pub use layout::{
    checkpoint_key, checkpoint_number, games_key, games_number, inflight_key, inflight_number, ladder_events_key,
    ladder_key, metrics_key, state_key, tensorboard_key,
};

pub use pack::{PackError, PackParams, Packed, pack, unpack};

use lock::Lock;

/// Begins the name of every file that is still being written; such names are no keys.
const UNFINISHED: &str = ".unfinished-";

/// Prefixes of the objects that a newer one may supersede, the only ones that [`Store::remove`] takes.
const SUPERSEDED: [&str; 2] = ["inflight/", "state/"];

/// An open run directory.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    /// Held as long as the store lives; `None` when it is only read.
    lock: Option<Lock>,
}

impl Store {
    /// Opens a run directory for reading and writing, making it where there is none, and clears away what a killed
    /// process left half written.
    ///
    /// # Errors
    /// When the directory cannot be made or another process has it open for writing.
    pub fn open_or_create(dir: &Path) -> Result<Store, StoreError> {
        fs::create_dir_all(dir).map_err(|source| StoreError::Directory { dir: dir.to_path_buf(), source })?;
        let lock = Lock::take(dir)?;
        let store = Store { dir: dir.to_path_buf(), lock: Some(lock) };
        store.remove_unfinished(dir)?;
        Ok(store)
    }

    /// Opens an existing run directory for reading, whether or not a process is writing to it.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn open_to_read(dir: &Path) -> Result<Store, StoreError> {
        if dir.is_dir() {
            Ok(Store { dir: dir.to_path_buf(), lock: None })
        } else {
            Err(StoreError::NoDirectory { dir: dir.to_path_buf() })
        }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where an object (or a folder of objects) lies, for code that reads files itself.
    pub fn path(&self, key: &str) -> PathBuf {
        let mut path = self.dir.clone();
        path.extend(key.split('/'));
        path
    }

    /// Whether there is such an object or folder of objects.
    pub fn exists(&self, key: &str) -> bool {
        is_key(key) && self.path(key).exists()
    }

    /// Writes a new object: all of it under its name and safely on the disk, or nothing.
    ///
    /// # Errors
    /// When the object exists, the key is none, or the file system refuses; all other objects are unharmed then.
    pub fn create(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.check_writable(key)?;
        let path = self.path(key);
        if path.exists() {
            return Err(self.exists_error(key));
        }
        let write_error =
            |source| StoreError::Write { dir: self.dir.clone(), key: key.to_string(), bytes: bytes.len(), source };
        let folder = path.parent().unwrap_or(&self.dir);
        make_folder(folder).map_err(write_error)?;
        let mut file = unfinished_file(folder).map_err(write_error)?;
        file.write_all(bytes).map_err(write_error)?;
        file.as_file().sync_all().map_err(write_error)?;
        file.persist_noclobber(&path).map_err(|refused| match refused.error.kind() {
            io::ErrorKind::AlreadyExists => self.exists_error(key),
            _ => write_error(refused.error),
        })?;
        sync_folder(folder).map_err(write_error)
    }

    /// The keys that begin with `prefix`, sorted; an empty prefix gives all.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let mut keys = Vec::new();
        // Folders outside the prefix need not be walked: a long run has thousands of metrics files.
        let folder = prefix.rfind('/').map_or("", |slash| &prefix[..slash]);
        let root = if folder.is_empty() { self.dir.clone() } else { self.path(folder) };
        if root.is_dir() {
            self.walk(&root, folder, &mut keys)?;
        }
        keys.retain(|key| key.starts_with(prefix));
        keys.sort_unstable();
        Ok(keys)
    }

    /// The generations whose checkpoints are there and whole, rising.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn checkpoints(&self) -> Result<Vec<u32>, StoreError> {
        let cards = self.list("checkpoints/")?;
        let mut found: Vec<u32> =
            cards.iter().filter(|key| key.ends_with("/card.json")).filter_map(|key| checkpoint_number(key)).collect();
        found.sort_unstable();
        Ok(found)
    }

    /// The bytes of an object.
    ///
    /// # Errors
    /// When there is no such object or it cannot be read.
    pub fn get(&self, key: &str) -> Result<Vec<u8>, StoreError> {
        check_key(key)?;
        fs::read(self.path(key)).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => StoreError::Missing { dir: self.dir.clone(), key: key.to_string() },
            _ => StoreError::Read { dir: self.dir.clone(), key: key.to_string(), source },
        })
    }

    /// Removes an object that a newer one supersedes: a snapshot of games in flight or a training state. Removing what
    /// is not there is no error.
    ///
    /// # Errors
    /// When the key lies elsewhere or the file system refuses.
    pub fn remove(&self, key: &str) -> Result<(), StoreError> {
        self.check_writable(key)?;
        if !SUPERSEDED.iter().any(|prefix| key.starts_with(prefix)) {
            return Err(StoreError::Permanent { dir: self.dir.clone(), key: key.to_string() });
        }
        let path = self.path(key);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::Remove { dir: self.dir.clone(), key: key.to_string(), source })
            }
            _ => {
                // The last object of a folder takes the folder along; a folder that holds more refuses, as it should.
                if let Some(folder) = path.parent() {
                    let _ = fs::remove_dir(folder);
                }
                Ok(())
            }
        }
    }

    fn exists_error(&self, key: &str) -> StoreError {
        StoreError::Exists { dir: self.dir.clone(), key: key.to_string() }
    }

    fn check_writable(&self, key: &str) -> Result<(), StoreError> {
        check_key(key)?;
        match self.lock {
            Some(_) => Ok(()),
            None => Err(StoreError::ReadOnly { dir: self.dir.clone(), key: key.to_string() }),
        }
    }

    fn walk(&self, folder: &Path, prefix: &str, keys: &mut Vec<String>) -> Result<(), StoreError> {
        for entry in self.entries(folder)? {
            let name = entry.file_name();
            // Names that are no keys are not ours: the lock, unfinished files, what a user put there.
            let Some(name) = name.to_str().filter(|name| is_key(name)) else { continue };
            let key = if prefix.is_empty() { name.to_string() } else { format!("{prefix}/{name}") };
            if entry.path().is_dir() {
                self.walk(&entry.path(), &key, keys)?;
            } else {
                keys.push(key);
            }
        }
        Ok(())
    }

    fn remove_unfinished(&self, folder: &Path) -> Result<(), StoreError> {
        for entry in self.entries(folder)? {
            let path = entry.path();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let unfinished = entry.file_name().to_str().is_some_and(|name| name.starts_with(UNFINISHED));
            if is_folder {
                self.remove_unfinished(&path)?;
            } else if unfinished {
                fs::remove_file(&path).map_err(|source| StoreError::Directory { dir: path, source })?;
            }
        }
        Ok(())
    }

    fn entries(&self, folder: &Path) -> Result<Vec<fs::DirEntry>, StoreError> {
        fs::read_dir(folder)
            .and_then(Iterator::collect)
            .map_err(|source| StoreError::Directory { dir: folder.to_path_buf(), source })
    }
}

fn check_key(key: &str) -> Result<(), StoreError> {
    if is_key(key) { Ok(()) } else { Err(StoreError::BadKey { key: key.to_string() }) }
}

fn is_key(key: &str) -> bool {
    key.split('/').all(|part| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    })
}

/// A new file with a name that is no key; it vanishes again unless it is given its name.
fn unfinished_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(UNFINISHED);
    #[cfg(unix)]
    {
        // Temporary files are private by default, but a run is as readable as the user's umask says.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Makes a folder and those above it, each one safely on the disk.
fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        make_folder(above)?;
        match fs::create_dir(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => sync_folder(above)?,
        }
    }
    Ok(())
}

/// Flushes the names in a folder to the disk; a new file's name is safe only then.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> (tempfile::TempDir, Store) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(&dir.path().join("run")).unwrap();
        (dir, store)
    }

    #[test]
    fn objects_come_back_sorted_and_by_prefix() {
        let (_dir, store) = open();
        for key in ["games/000002.hgames", "games/000001.hgames", "games-of-old/1", "run.json", "state/000001/a"] {
            store.create(key, key.as_bytes()).unwrap();
        }
        assert_eq!(store.list("games/").unwrap(), ["games/000001.hgames", "games/000002.hgames"]);
        assert_eq!(store.list("games/000002").unwrap(), ["games/000002.hgames"]);
        assert_eq!(store.list("checkpoints/").unwrap(), [""; 0]);
        assert_eq!(store.list("").unwrap().len(), 5);
        assert_eq!(store.get("state/000001/a").unwrap(), b"state/000001/a");
        assert!(store.exists("run.json") && !store.exists("run.toml") && !store.exists("../run"));
    }

    #[test]
    fn nothing_is_overwritten() {
        let (_dir, store) = open();
        store.create("run.json", b"first").unwrap();
        let message = store.create("run.json", b"second").unwrap_err().to_string();
        assert!(message.starts_with("run.json in run directory") && message.contains("exists already"), "{message}");
        assert_eq!(store.get("run.json").unwrap(), b"first");
    }

    #[test]
    fn a_missing_object_is_named() {
        let (_dir, store) = open();
        let message = store.get("games/000009.hgames").unwrap_err().to_string();
        assert!(message.starts_with("games/000009.hgames in") && message.ends_with("not found"), "{message}");
    }

    #[test]
    fn keys_stay_inside_the_directory() {
        let (_dir, store) = open();
        for key in ["", "/etc/passwd", "../x", "games/../x", "games//x", ".lock", "games/.x", "a b", "games/"] {
            assert!(matches!(store.create(key, b""), Err(StoreError::BadKey { .. })), "{key:?}");
            assert!(matches!(store.get(key), Err(StoreError::BadKey { .. })), "{key:?}");
        }
    }

    #[test]
    fn only_superseded_objects_can_be_removed() {
        let (_dir, store) = open();
        store.create("games/000001.hgames", b"kept").unwrap();
        store.create("state/000001/optimiser", b"old").unwrap();
        store.create("state/000001/weights", b"old").unwrap();
        let message = store.remove("games/000001.hgames").unwrap_err().to_string();
        assert!(message.contains("expected a key under inflight/ or state/"), "{message}");
        store.remove("state/000001/optimiser").unwrap();
        assert_eq!(store.list("").unwrap(), ["games/000001.hgames", "state/000001/weights"]);
        store.remove("state/000001/weights").unwrap();
        store.remove("state/000001/weights").unwrap();
        assert!(!store.exists("state/000001"));
    }

    #[test]
    fn what_a_killed_process_left_is_ignored_and_cleared_away() {
        let (dir, store) = open();
        store.create("games/000001.hgames", b"whole").unwrap();
        drop(store);
        let leftover = dir.path().join("run/games").join(format!("{UNFINISHED}x1"));
        fs::write(&leftover, b"ha").unwrap();
        let reader = Store::open_to_read(&dir.path().join("run")).unwrap();
        assert_eq!(reader.list("").unwrap(), ["games/000001.hgames"]);
        assert!(leftover.exists(), "a reader changes nothing");
        let store = Store::open_or_create(&dir.path().join("run")).unwrap();
        assert!(!leftover.exists());
        assert_eq!(store.list("").unwrap(), ["games/000001.hgames"]);
    }

    #[test]
    fn a_reader_cannot_write_and_needs_a_directory() {
        let (dir, _store) = open();
        let reader = Store::open_to_read(&dir.path().join("run")).unwrap();
        let message = reader.create("run.json", b"").unwrap_err().to_string();
        assert!(message.contains("reading only"), "{message}");
        let message = Store::open_to_read(&dir.path().join("nowhere")).unwrap_err().to_string();
        assert!(message.contains("not found; expected the directory of a run"), "{message}");
    }

    #[cfg(unix)]
    #[test]
    fn objects_are_as_readable_as_other_files() {
        use std::os::unix::fs::PermissionsExt;
        let (dir, store) = open();
        store.create("run.json", b"").unwrap();
        fs::write(dir.path().join("other"), b"").unwrap();
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(store.path("run.json")), mode(dir.path().join("other")));
    }
}
