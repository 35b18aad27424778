//! A run in a directory of the file system.
//!
//! An object is written to a temporary file, flushed to the disk and given its name in one step, so a reader sees all of it or
//! nothing, and a crash or a full disk leaves what was there before.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{ADDED, StoreError, is_key};

/// Begins the name of everything that is still being written; such names are no keys.
const UNFINISHED: &str = ".unfinished-";

/// Others may be writing where objects are added; what is older than this was left behind.
const ABANDONED: Duration = Duration::from_secs(3600);

/// A directory.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) dir: PathBuf,
}

impl Directory {
    /// How errors call it.
    pub(super) fn place(&self) -> String {
        format!("run directory {}", self.dir.display())
    }

    /// Where an object or a folder of objects lies.
    pub(super) fn path(&self, key: &str) -> PathBuf {
        let mut path = self.dir.clone();
        path.extend(key.split('/'));
        path
    }

    pub(super) fn create(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.path(key);
        if path.exists() {
            return Err(self.exists_error(key));
        }
        let write_error =
            |source| StoreError::Write { place: self.place(), key: key.to_string(), bytes: bytes.len(), source };
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

    /// Creates a folder with its objects in one step.
    pub(super) fn create_folder(&self, key: &str, parts: &[(&str, &[u8])]) -> Result<(), StoreError> {
        let path = self.path(key);
        if path.exists() {
            return Err(self.exists_error(key));
        }
        let bytes = parts.iter().map(|(_, bytes)| bytes.len()).sum();
        let write_error = |source| StoreError::Write { place: self.place(), key: key.to_string(), bytes, source };
        let above = path.parent().unwrap_or(&self.dir);
        make_folder(above).map_err(write_error)?;
        let written = || {
            let folder = unfinished_folder(above)?;
            for (name, bytes) in parts {
                let mut file = File::create(folder.path().join(name))?;
                file.write_all(bytes)?;
                file.sync_all()?;
            }
            sync_folder(folder.path())?;
            fs::rename(folder.path(), &path)?;
            // It has its name now and must not vanish with the temporary one.
            let _ = folder.keep();
            sync_folder(above)
        };
        written().map_err(write_error)
    }

    pub(super) fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
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

    pub(super) fn get(&self, key: &str) -> Result<Vec<u8>, StoreError> {
        fs::read(self.path(key)).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => StoreError::Missing { place: self.place(), key: key.to_string() },
            _ => StoreError::Read { place: self.place(), key: key.to_string(), source },
        })
    }

    pub(super) fn size(&self, key: &str) -> Option<u64> {
        fs::metadata(self.path(key)).ok().filter(fs::Metadata::is_file).map(|data| data.len())
    }

    pub(super) fn remove(&self, key: &str) -> Result<(), StoreError> {
        let path = self.path(key);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::Remove { place: self.place(), key: key.to_string(), source })
            }
            _ => {
                // The last object of a folder takes the folder along; a folder that holds more refuses, as it should. Where
                // others add objects the folder stays for them.
                if let Some(folder) = path.parent()
                    && !is_added(key)
                {
                    let _ = fs::remove_dir(folder);
                }
                Ok(())
            }
        }
    }

    /// Clears away what killed processes left half written.
    pub(super) fn remove_unfinished(&self) -> Result<(), StoreError> {
        self.clear(&self.dir, "")
    }

    fn clear(&self, folder: &Path, prefix: &str) -> Result<(), StoreError> {
        for entry in entries(folder)? {
            let (path, name) = (entry.path(), entry.file_name());
            let Some(name) = name.to_str() else { continue };
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !name.starts_with(UNFINISHED) {
                if is_folder {
                    self.clear(&path, &format!("{prefix}{name}/"))?;
                }
                continue;
            }
            let age = entry.metadata().and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
            if is_added(prefix) && age.is_some_and(|age| age < ABANDONED) {
                continue;
            }
            let removed = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(|source| StoreError::Directory { dir: path, source })?;
        }
        Ok(())
    }

    fn exists_error(&self, key: &str) -> StoreError {
        StoreError::Exists { place: self.place(), key: key.to_string() }
    }

    fn walk(&self, folder: &Path, prefix: &str, keys: &mut Vec<String>) -> Result<(), StoreError> {
        for entry in entries(folder)? {
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
}

/// Whether others than the one writer create objects there.
fn is_added(key: &str) -> bool {
    ADDED.iter().any(|prefix| key.starts_with(prefix))
}

fn entries(folder: &Path) -> Result<Vec<fs::DirEntry>, StoreError> {
    fs::read_dir(folder)
        .and_then(Iterator::collect)
        .map_err(|source| StoreError::Directory { dir: folder.to_path_buf(), source })
}

/// A new file with a name that is no key; it vanishes again unless it is given its name.
pub(super) fn unfinished_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
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

/// The same for a folder.
fn unfinished_folder(folder: &Path) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(UNFINISHED);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    builder.tempdir_in(folder)
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

    #[test]
    fn a_folder_appears_whole_and_once() {
        let dir = tempfile::tempdir().unwrap();
        let store = Directory { dir: dir.path().to_owned() };
        let parts: [(&str, &[u8]); 2] = [("weights", b"many"), ("card.json", b"{}")];
        store.create_folder("checkpoints/000001", &parts).unwrap();
        assert_eq!(store.list("checkpoints/").unwrap(), ["checkpoints/000001/card.json", "checkpoints/000001/weights"]);
        assert_eq!(store.get("checkpoints/000001/weights").unwrap(), b"many");
        let message = store.create_folder("checkpoints/000001", &parts).unwrap_err().to_string();
        assert!(message.contains("exists already"), "{message}");
        assert_eq!(fs::read_dir(dir.path().join("checkpoints")).unwrap().count(), 1, "nothing is left behind");
    }

    #[test]
    fn what_others_may_still_be_writing_stays() {
        let dir = tempfile::tempdir().unwrap();
        let store = Directory { dir: dir.path().to_owned() };
        for folder in ["arrivals", "games", "checkpoints"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        let left = ["arrivals/.unfinished-a", "games/.unfinished-b"].map(|name| dir.path().join(name));
        for file in &left {
            fs::write(file, b"half").unwrap();
        }
        let folder = dir.path().join("checkpoints/.unfinished-c");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("weights"), b"half").unwrap();
        store.remove_unfinished().unwrap();
        assert!(left[0].exists() && !left[1].exists() && !folder.exists());
    }
}
