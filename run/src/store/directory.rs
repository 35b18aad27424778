//! A run in a directory of the file system.
//!
//! An object is written to a temporary file, flushed to the disk and renamed atomically. A reader sees the whole object
//! or none of it, and a crash or a full disk harms no other object.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hnefi_inference::file;

use super::files::{Files, Unfinished};
use super::layout::largest;
use super::watch::Operation;
use super::{ADDED, Place, StoreError, is_key, limit, lock};

/// Prefix of the names of unfinished files and folders; such names are not keys.
const UNFINISHED: &str = ".unfinished-";

/// In folders that others write to, an unfinished file is abandoned if it is older than this and not locked. The lock
/// alone does not suffice, because network file systems may ignore it.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Folders of a run that hold objects. Unfinished files in other folders, which may be other runs, are left alone.
const FOLDERS: [&str; 10] =
    ["uploads", "checkpoints", "games", "inflight", "ladder", "metrics", "state", "tensorboard", "jobs", "trainer"];

/// Attempts to write an object whose unfinished file another process removes as abandoned.
const ATTEMPTS: usize = 3;

#[derive(Debug)]
pub(super) struct Directory {
    pub(super) dir: PathBuf,
    pub(super) files: Files,
}

impl Place for Directory {
    fn place(&self) -> String {
        format!("run directory {}", self.dir.display())
    }

    fn name(&self, key: &str) -> String {
        self.path(key).display().to_string()
    }

    fn is_remote(&self) -> bool {
        false
    }

    fn folder(&self, key: &str) -> Result<PathBuf, StoreError> {
        Ok(self.path(key))
    }

    fn size(&self, key: &str) -> Result<Option<u64>, StoreError> {
        let found = self.files.look(&self.path(key)).map_err(|source| self.read_error(key, source))?;
        let Some(found) = found else { return Ok(None) };
        file::check_regular(&found).map_err(|source| self.read_error(key, source))?;
        Ok(Some(found.len()))
    }

    fn list(&self, prefix: &str, after: Option<&str>) -> Result<Vec<String>, StoreError> {
        let mut keys = Vec::new();
        // Skip folders outside the prefix: a long run has thousands of metrics files.
        let folder = prefix.rfind('/').map_or("", |slash| &prefix[..slash]);
        let root = if folder.is_empty() { self.dir.clone() } else { self.path(folder) };
        let failed = |source| StoreError::Directory { dir: root.clone(), source };
        if self.files.look(&root).map_err(failed)?.is_some_and(|found| found.is_dir()) {
            let above = root.canonicalize().map_err(failed)?;
            self.walk(&root, folder, &mut vec![above], &mut keys)?;
        }
        keys.retain(|key| key.starts_with(prefix) && after.is_none_or(|after| key.as_str() > after));
        keys.sort_unstable();
        Ok(keys)
    }

    fn get(&self, key: &str) -> Result<Vec<u8>, StoreError> {
        self.files.read(&self.path(key), limit(key)).map_err(|source| self.read_error(key, source))
    }

    fn get_all(&self, keys: &[String]) -> Result<Vec<Result<Vec<u8>, StoreError>>, StoreError> {
        let get = |key: &String| match self.get(key) {
            Err(error) if !error.is_of_object() => Err(error),
            found => Ok(found),
        };
        keys.iter().map(get).collect()
    }

    fn create(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.write_new(key, bytes.len(), |path, folder| {
            for attempt in 1.. {
                let mut file = self.unfinished_file(folder)?;
                let unfinished = file.path.clone();
                if is_added(key) {
                    // The lock tells other processes that the file is being written. Without locks they go by its age.
                    let _ = file.file().try_lock();
                }
                self.files.write(&unfinished, file.file(), bytes)?;
                self.files.flush(&unfinished, file.file())?;
                match file.rename_to(path) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound && attempt < ATTEMPTS => {}
                    Err(error) => return Err(error),
                    Ok(()) => break,
                }
            }
            self.files.flush_folder(folder)
        })
    }

    fn create_folder(&self, key: &str, parts: &[(&str, &[u8])]) -> Result<(), StoreError> {
        let bytes = parts.iter().map(|(_, bytes)| bytes.len()).sum();
        self.write_new(key, bytes, |path, above| {
            let folder = self.unfinished_folder(above)?;
            for (name, bytes) in parts {
                let path = folder.path.join(name);
                let mut file = self.files.make_file(&path)?;
                self.files.write(&path, &mut file, bytes)?;
                self.files.flush(&path, &file)?;
            }
            self.files.flush_folder(&folder.path)?;
            folder.rename_folder_to(path)?;
            self.files.flush_folder(above)
        })
    }

    fn remove_all(&self, keys: &[String]) -> Result<(), StoreError> {
        keys.iter().try_for_each(|key| self.remove(key))
    }

    fn check_place(&self, folder: &str) -> Result<(), StoreError> {
        let path = self.path(folder);
        let tried = self.files.make_folders(&path).and_then(|()| self.unfinished_file(&path).map(drop));
        tried.map_err(|source| StoreError::Directory { dir: path, source })
    }

    fn leads_out(&self, key: &str) -> bool {
        let path = self.path(key);
        match (path.canonicalize(), self.dir.canonicalize()) {
            (Ok(object), Ok(dir)) => !object.starts_with(dir),
            // A broken link, unless the object was superseded meanwhile.
            _ => fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()),
        }
    }
}

impl Directory {
    fn path(&self, key: &str) -> PathBuf {
        let mut path = self.dir.clone();
        path.extend(key.split('/'));
        path
    }

    /// Writes what is not there yet, of this size, by `write`, which is given its path and the folder above it.
    fn write_new(
        &self,
        key: &str,
        bytes: usize,
        write: impl FnOnce(&Path, &Path) -> io::Result<()>,
    ) -> Result<(), StoreError> {
        let path = self.path(key);
        let folder = path.parent().unwrap_or(&self.dir);
        let written = || {
            if self.files.look(&path)?.is_some() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            self.files.make_folders(folder)?;
            write(&path, folder)
        };
        let (place, key) = (self.place(), key.to_owned());
        written().map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => StoreError::Exists { place, key },
            _ => StoreError::Write { place, key, bytes, source },
        })
    }

    fn read_error(&self, key: &str, source: io::Error) -> StoreError {
        let (place, key) = (self.place(), key.to_string());
        match source.kind() {
            io::ErrorKind::NotFound => StoreError::Missing { place, key },
            _ if file::is_unfit(&source) => StoreError::Unfit { place, key, problem: source.to_string() },
            _ => StoreError::Failed { place, key, what: "reading", source },
        }
    }

    fn remove(&self, key: &str) -> Result<(), StoreError> {
        let path = self.path(key);
        let folder = path.parent().unwrap_or(&self.dir);
        // A power cut may undo a removal that was not flushed, and a later one not. Of a training state the part that
        // readers look for goes first, so it must be gone for good before the others go.
        let removed = self.files.remove(&path).or_else(|error| match error.kind() {
            // Somebody's folder with the name of an object.
            io::ErrorKind::IsADirectory | io::ErrorKind::PermissionDenied if path.is_dir() => {
                self.files.remove_tree(&path)
            }
            _ => Err(error),
        });
        let removed = removed.and_then(|()| match is_added(key) {
            false => self.files.flush_folder(folder),
            true => Ok(()),
        });
        match removed {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::Failed { place: self.place(), key: key.to_string(), what: "removing", source })
            }
            _ => {
                // Remove the folder too if it is empty now; otherwise this fails, as it should. Folders that others
                // write to stay.
                if !is_added(key) {
                    let _ = self.files.remove_folder(folder);
                }
                Ok(())
            }
        }
    }

    /// Removes unfinished files of killed processes from the folders of this run. This process holds the run's lock, so
    /// outside the folders that others write to, every unfinished file is abandoned.
    pub(super) fn remove_unfinished(&self) -> Result<(), StoreError> {
        self.clear(&self.dir, "")
    }

    fn clear(&self, folder: &Path, prefix: &str) -> Result<(), StoreError> {
        for entry in self.entries(folder)? {
            let (path, name) = (entry.path(), entry.file_name());
            let Some(name) = name.to_str() else { continue };
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !name.starts_with(UNFINISHED) {
                let is_ours = !prefix.is_empty() || FOLDERS.contains(&name);
                if is_folder && is_ours && !lock::is_run(&path) {
                    self.clear(&path, &format!("{prefix}{name}/"))?;
                }
                continue;
            }
            if is_added(prefix) && !is_abandoned(&path) {
                continue;
            }
            let removed = if is_folder { self.files.remove_tree(&path) } else { self.files.remove(&path) };
            removed.map_err(|source| StoreError::Directory { dir: path, source })?;
        }
        Ok(())
    }

    fn entries(&self, folder: &Path) -> Result<Vec<fs::DirEntry>, StoreError> {
        self.files.list(folder).map_err(|source| StoreError::Directory { dir: folder.to_path_buf(), source })
    }

    fn unfinished_file(&self, folder: &Path) -> io::Result<Unfinished<'_, File>> {
        // By the user's umask, as other files.
        self.files.make_unfinished(folder, UNFINISHED, |path| Operation::MakeFile(path), |path| File::create_new(path))
    }

    fn unfinished_folder(&self, folder: &Path) -> io::Result<Unfinished<'_, ()>> {
        self.files.make_unfinished(folder, UNFINISHED, |path| Operation::MakeFolder(path), |path| fs::create_dir(path))
    }

    /// Adds the keys below a folder. `above` holds the real paths of the folder and its parents, to detect links that
    /// lead back to them.
    fn walk(
        &self,
        folder: &Path,
        prefix: &str,
        above: &mut Vec<PathBuf>,
        keys: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let entries = match self.entries(folder) {
            // A state that was superseded meanwhile has taken its folder along.
            Err(StoreError::Directory { source, .. })
                if !prefix.is_empty() && source.kind() == io::ErrorKind::NotFound =>
            {
                return Ok(());
            }
            entries => entries?,
        };
        for entry in entries {
            let name = entry.file_name();
            // Skip names that are not keys: the lock, unfinished files, files of the user.
            let Some(name) = name.to_str().filter(|name| is_key(name)) else { continue };
            let key = if prefix.is_empty() { name.to_string() } else { format!("{prefix}/{name}") };
            let path = entry.path();
            let failed = |source| StoreError::Directory { dir: path.clone(), source };
            let mut kind = entry.file_type().map_err(failed)?;
            let is_link = kind.is_symlink();
            if is_link {
                // A broken link counts as an object that cannot be read.
                let Ok(data) = fs::metadata(&path) else {
                    keys.push(key);
                    continue;
                };
                kind = data.file_type();
            }
            // What bears an object's name and is no file is named when it is read.
            if largest(&key).is_some() {
                keys.push(key);
            } else if kind.is_dir() {
                let real = match above.last() {
                    Some(folder) if !is_link => folder.join(name),
                    _ => path.canonicalize().map_err(failed)?,
                };
                if above.contains(&real) {
                    return Err(StoreError::Loop { link: path, to: real });
                }
                above.push(real);
                self.walk(&path, &key, above, keys)?;
                above.pop();
            } else if kind.is_file() {
                keys.push(key);
            }
        }
        Ok(())
    }
}

/// Whether processes other than the trainer create objects there.
fn is_added(key: &str) -> bool {
    ADDED.iter().any(|prefix| key.starts_with(prefix))
}

/// Whether an unfinished file is abandoned: it is old and not locked. A file with a time in the future stays.
fn is_abandoned(path: &Path) -> bool {
    let age = fs::metadata(path).and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
    let is_free = || file::open(path, u64::MAX).is_ok_and(|file| file.try_lock().is_ok());
    age.is_some_and(|age| age >= ABANDONED) && is_free()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::SystemTime;

    use super::*;
    use crate::store::{Access, FaultAction, RetryPolicy, Store, StoreWatch};

    /// Removes a folder just before it is listed.
    #[derive(Debug)]
    struct Superseding;

    impl StoreWatch for Superseding {
        fn attempt(&self, operation: &Operation<'_>) -> FaultAction {
            if let Operation::List(folder) = operation
                && folder.ends_with("state/000001")
            {
                fs::remove_dir_all(folder).unwrap();
            }
            FaultAction::Proceed
        }
    }

    #[test]
    fn a_state_may_be_superseded_while_it_is_listed() {
        let dir = tempfile::tempdir().unwrap();
        let retry = RetryPolicy { watch: Arc::new(Superseding), ..RetryPolicy::default() };
        let store = Store::open(&dir.path().into(), Access::Shared, retry).unwrap();
        for key in ["state/000001/counters.json", "state/000002/counters.json"] {
            store.create(key, b"x").unwrap();
        }
        assert_eq!(store.list("").unwrap(), ["state/000002/counters.json"]);
    }

    #[derive(Default)]
    struct Flushed(Mutex<Vec<PathBuf>>);

    impl StoreWatch for Flushed {
        fn attempt(&self, operation: &Operation<'_>) -> FaultAction {
            if let Operation::FlushFolder(folder) = operation {
                self.0.lock().unwrap().push(folder.to_path_buf());
            }
            FaultAction::Proceed
        }
    }

    fn directory(dir: &Path) -> Directory {
        Directory { dir: dir.to_owned(), files: Files::new(RetryPolicy::default().watch) }
    }

    #[test]
    fn a_new_directory_is_flushed_with_all_that_was_made_for_it() {
        let dir = tempfile::tempdir().unwrap();
        let flushed = Arc::new(Flushed::default());
        let retry = RetryPolicy { watch: flushed.clone(), ..RetryPolicy::default() };
        let store = Store::open(&dir.path().join("runs/quick").as_path().into(), Access::Write, retry).unwrap();
        store.create("games/000001.hgames", b"x").unwrap();
        let expected = ["", "runs", "runs/quick", "runs/quick/games"].map(|folder| dir.path().join(folder));
        assert_eq!(*flushed.0.lock().unwrap(), expected);
    }

    #[test]
    fn a_folder_appears_whole_and_once() {
        let dir = tempfile::tempdir().unwrap();
        let store = directory(dir.path());
        let parts: [(&str, &[u8]); 2] = [("weights", b"many"), ("card.json", b"{}")];
        store.create_folder("checkpoints/000001", &parts).unwrap();
        assert_eq!(
            store.list("checkpoints/", None).unwrap(),
            ["checkpoints/000001/card.json", "checkpoints/000001/weights"]
        );
        assert_eq!(store.get("checkpoints/000001/weights").unwrap(), b"many");
        let message = store.create_folder("checkpoints/000001", &parts).unwrap_err().to_string();
        assert!(message.contains("exists already"), "{message}");
        assert_eq!(fs::read_dir(dir.path().join("checkpoints")).unwrap().count(), 1, "nothing is left behind");
    }

    /// Writes an unfinished file that was last written an hour and a half before now, or so much after.
    fn leave(path: &Path, after: Duration) -> File {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"half").unwrap();
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(5400) + after).unwrap();
        file
    }

    #[test]
    fn what_others_may_still_be_writing_stays() {
        let dir = tempfile::tempdir().unwrap();
        let store = directory(dir.path());
        let now = Duration::from_secs(5400);
        let at = |name: &str| dir.path().join(name);
        leave(&at("uploads/.unfinished-new"), now);
        leave(&at("uploads/.unfinished-future"), 2 * now);
        leave(&at("ladder/.unfinished-abandoned"), Duration::ZERO);
        let writing = leave(&at("uploads/.unfinished-slow"), Duration::ZERO);
        writing.lock().unwrap();
        leave(&at("games/.unfinished-b"), now);
        leave(&at("state/000001/.unfinished-d"), now);
        leave(&at("checkpoints/.unfinished-c/weights"), now);
        leave(&at(".unfinished-e"), now);
        store.remove_unfinished().unwrap();
        for stays in ["uploads/.unfinished-new", "uploads/.unfinished-future", "uploads/.unfinished-slow"] {
            assert!(at(stays).exists(), "{stays}");
        }
        for gone in [
            "ladder/.unfinished-abandoned",
            "games/.unfinished-b",
            "state/000001/.unfinished-d",
            "checkpoints/.unfinished-c",
            ".unfinished-e",
        ] {
            assert!(!at(gone).exists(), "{gone}");
        }
    }

    #[test]
    fn runs_below_a_directory_are_not_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let parent = dir.path();
        // One run has the name of a folder of runs.
        let runs = ["quick", "games"].map(|name| parent.join(name));
        let left = runs.each_ref().map(|run| run.join("games/.unfinished-x"));
        let held = runs.each_ref().map(|run| Store::open_or_create(run).unwrap());
        for file in &left {
            leave(file, Duration::ZERO);
        }
        Store::open_or_create(parent).unwrap();
        assert!(left.iter().all(|file| file.exists()));
        drop(held);
        Store::open_or_create(&runs[0]).unwrap();
        assert!(!left[0].exists() && left[1].exists());
    }

    /// A process that adds an object locks the unfinished file, and writes it again if it was removed.
    #[test]
    fn what_is_being_added_is_locked() {
        let dir = tempfile::tempdir().unwrap();
        let store = directory(dir.path());
        let watched = dir.path().join("uploads");
        fs::create_dir(&watched).unwrap();
        std::thread::scope(|scope| {
            let writer =
                scope.spawn(|| (0..400).try_for_each(|number| store.create(&format!("uploads/{number}"), &[7; 4096])));
            let mut held = 0;
            while !writer.is_finished() {
                for entry in fs::read_dir(&watched).unwrap().flatten() {
                    let is_unfinished = entry.file_name().to_string_lossy().starts_with(UNFINISHED);
                    let locked = |file: File| matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock));
                    held += usize::from(is_unfinished && File::open(entry.path()).is_ok_and(locked));
                }
            }
            writer.join().unwrap().unwrap();
            assert!(held > 0, "never seen locked");
        });
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_unless_they_lead_back() {
        let dir = tempfile::tempdir().unwrap();
        let (run, other) = (dir.path().join("run"), dir.path().join("other"));
        let store = Store::open_or_create(&run).unwrap();
        Store::open_or_create(&other).unwrap().create("000001.hgames", b"x").unwrap();
        std::os::unix::fs::symlink(&other, run.join("games")).unwrap();
        assert_eq!(store.list("").unwrap(), ["games/000001.hgames"]);
        for to in [&run, &other] {
            let link = other.join("back");
            std::os::unix::fs::symlink(to, &link).unwrap();
            let message = store.list("").unwrap_err().to_string();
            assert!(message.contains("games/back: a link to ") && message.contains("in which it lies"), "{message}");
            fs::remove_file(link).unwrap();
        }
        // A pipe is no object: to read it would take forever.
        let pipe = run.join("metrics");
        std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert_eq!(store.list("").unwrap(), ["games/000001.hgames"]);
    }
}
