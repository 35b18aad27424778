//! Writes new files and folders atomically.
//!
//! They are written under a hidden name beside the final one, locked meanwhile, and then renamed. What a killed process
//! left there is not locked any more and is removed by the next process that writes to the same place.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use crate::DataError;

/// Suffix of the hidden names.
const UNFINISHED: &str = ".unfinished";

/// Checks that a new file can be written at `out`, before the work for it begins. Parent folders may be missing;
/// nothing is made.
///
/// # Errors
/// When `out` exists or cannot be written.
pub fn check_new_file(out: &Path) -> Result<(), DataError> {
    if out.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(DataError::write(out, "that is the name of a folder; expected that of a new file"));
    }
    // A broken link counts as existing.
    if std::fs::symlink_metadata(out).is_ok() {
        return Err(DataError::write(out, "it exists; nothing is overwritten"));
    }
    check_above(out)
}

/// Checks that a new folder can be written at `out`; an empty folder may exist.
///
/// # Errors
/// As [`check_new_file`].
pub fn check_new_folder(out: &Path) -> Result<(), DataError> {
    // Without a slash at its end, which follows links: they are not replaced.
    let out = out.components().as_path();
    let Ok(found) = std::fs::symlink_metadata(out) else { return check_above(out) };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let above = std::fs::metadata(folder_of(out));
        if found.is_dir() && above.is_ok_and(|above| above.dev() != found.dev()) {
            return Err(DataError::write(out, "another file system is mounted there; expected a new folder in it"));
        }
    }
    let is_empty = found.is_dir() && out.read_dir().map_err(|error| DataError::write(out, error))?.next().is_none();
    if is_empty { check_above(out) } else { Err(DataError::write(out, "it exists and is no empty folder")) }
}

/// Checks that files can be made in the nearest existing parent folder.
fn check_above(out: &Path) -> Result<(), DataError> {
    if out.file_name().is_none() {
        return Err(DataError::write(out, "expected the name of something new"));
    }
    for above in folder_of(out).ancestors() {
        let above = if above == Path::new("") { Path::new(".") } else { above };
        match std::fs::metadata(above) {
            Ok(found) if found.is_dir() => {
                let refused =
                    |error| DataError::write(out, format!("nothing can be made in {}: {error}", above.display()));
                // An unnamed file, removed at once.
                return tempfile::tempfile_in(above).map(|_| ()).map_err(refused);
            }
            Ok(_) => return Err(DataError::write(out, format!("{} is no folder", above.display()))),
            Err(error) if is_missing(&error) => {}
            Err(error) => return Err(DataError::write(out, error)),
        }
    }
    Err(DataError::write(out, "there is no folder above it"))
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// The folder that will hold `out`.
fn folder_of(out: &Path) -> PathBuf {
    match out.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Makes the parent folders of `out` and removes what killed processes left of earlier attempts to write it.
fn prepare(out: &Path) -> std::io::Result<PathBuf> {
    let folder = folder_of(out);
    std::fs::create_dir_all(&folder)?;
    let begin = hidden(out);
    for entry in std::fs::read_dir(&folder)?.flatten() {
        let name = entry.file_name();
        let bytes = name.as_encoded_bytes();
        if bytes.starts_with(begin.as_encoded_bytes()) && bytes.ends_with(UNFINISHED.as_bytes()) {
            // A process that still writes it holds a lock. A file that cannot be removed does no harm.
            let path = entry.path();
            // Nothing else is ours, and opening a named pipe would wait for its writer.
            let ours = std::fs::metadata(&path).is_ok_and(|found| found.is_file() || found.is_dir());
            if ours && File::open(&path).is_ok_and(|file| file.try_lock().is_ok()) {
                let _ = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
            }
        }
    }
    Ok(folder)
}

/// Prefix of the hidden names of `out`.
fn hidden(out: &Path) -> OsString {
    let mut name = OsString::from(".");
    name.push(out.file_name().unwrap_or(OsStr::new("new")));
    name.push("-");
    name
}

/// Permissions of the umask; temporary files are private by default.
fn permissions(builder: &mut tempfile::Builder<'_, '_>, mode: u32) {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = (builder, mode);
}

/// A temporary file, renamed to `out` by [`finish_file`] or removed when dropped.
pub(crate) fn unfinished_file(out: &Path) -> Result<NamedTempFile, DataError> {
    let made = || {
        let (folder, begin) = (prepare(out)?, hidden(out));
        let mut builder = tempfile::Builder::new();
        permissions(&mut builder, 0o666);
        let file = builder.prefix(&begin).suffix(UNFINISHED).tempfile_in(folder)?;
        // Some file systems have no locks. Without one, another process may remove the file, which is then an error
        // here.
        let _ = file.as_file().try_lock();
        Ok(file)
    };
    made().map_err(|error: std::io::Error| DataError::write(out, error))
}

/// Flushes a complete file and renames it.
pub(crate) fn finish_file(file: NamedTempFile, out: &Path) -> Result<(), DataError> {
    let problem = |error: std::io::Error| DataError::write(out, error);
    file.as_file().sync_all().map_err(problem)?;
    file.persist_noclobber(out).map_err(|error| problem(error.error))?;
    Ok(())
}

/// A temporary folder, renamed to `out` by [`UnfinishedFolder::finish`] or removed when dropped.
pub(crate) struct UnfinishedFolder {
    folder: TempDir,
    _lock: Option<File>,
}

impl UnfinishedFolder {
    pub(crate) fn new(out: &Path) -> Result<UnfinishedFolder, DataError> {
        let made = || {
            let (above, begin) = (prepare(out)?, hidden(out));
            let mut builder = tempfile::Builder::new();
            permissions(&mut builder, 0o777);
            let folder = builder.prefix(&begin).suffix(UNFINISHED).tempdir_in(above)?;
            // As with files; some systems cannot open folders.
            let lock = File::open(folder.path()).ok().filter(|lock| lock.try_lock().is_ok());
            Ok(UnfinishedFolder { folder, _lock: lock })
        };
        made().map_err(|error: std::io::Error| DataError::write(out, error))
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Renames the folder.
    pub(crate) fn finish(self, out: &Path) -> Result<(), DataError> {
        std::fs::rename(self.folder.path(), out).map_err(|error| DataError::write(out, error))?;
        // The folder has its final name, so do not remove it.
        let _ = self.folder.keep();
        Ok(())
    }
}

/// Writes a new folder, whose files `write` makes; it has its name when it is whole.
///
/// # Errors
/// As [`check_new_folder`], and those of `write`.
pub fn write_new_folder(out: &Path, write: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<(), DataError> {
    check_new_folder(out)?;
    let folder = UnfinishedFolder::new(out)?;
    write(folder.path()).map_err(|error| DataError::write(out, error))?;
    folder.finish(out)
}

/// Whether a file with these bytes is still to be written: not where it lies already, as when several files were to be
/// written and something came between them.
///
/// # Errors
/// As [`check_new_file`], when something else lies there.
pub fn is_missing_file(out: &Path, bytes: &[u8]) -> Result<bool, DataError> {
    match hnefi_inference::file::read(out, bytes.len() as u64) {
        Ok(there) if there == bytes => Ok(false),
        _ => check_new_file(out).map(|()| true),
    }
}

/// Writes a new file and its parent folders, atomically and durably. The same file may lie there already.
///
/// # Errors
/// When the file exists with other bytes, or cannot be written.
pub fn write_new_file(out: &Path, bytes: &[u8]) -> Result<(), DataError> {
    if !is_missing_file(out, bytes)? {
        return Ok(());
    }
    let mut file = unfinished_file(out)?;
    // The file itself, whose errors do not name the hidden path.
    file.as_file_mut().write_all(bytes).map_err(|error| DataError::write(out, error))?;
    finish_file(file, out)
}

/// Writes a file in the place of an earlier version of it, as atomically and durably as [`write_new_file`].
///
/// # Errors
/// When it cannot be written; then the earlier version stays.
pub fn replace_file(out: &Path, bytes: &[u8]) -> Result<(), DataError> {
    let problem = |error: std::io::Error| DataError::write(out, error);
    let mut file = unfinished_file(out)?;
    file.as_file_mut().write_all(bytes).map_err(problem)?;
    file.as_file().sync_all().map_err(problem)?;
    file.persist(out).map_err(|error| problem(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_tried_and_left_as_they_were() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("taken"), "x").unwrap();
        std::fs::create_dir(at("empty")).unwrap();
        check_new_file(&at("new")).unwrap();
        check_new_file(&at("far/down/new")).unwrap();
        check_new_folder(&at("empty")).unwrap();
        check_new_folder(&at("far/down/new")).unwrap();
        let count = |path: &Path| std::fs::read_dir(path).unwrap().count();
        assert_eq!((count(dir.path()), count(&at("empty"))), (2, 0), "nothing is made");
        type Check = fn(&Path) -> Result<(), DataError>;
        for (check, name, problem) in [
            (check_new_file as Check, "taken", "it exists; nothing is overwritten"),
            (check_new_file, "empty", "it exists; nothing is overwritten"),
            (check_new_file, "new/", "that is the name of a folder"),
            (check_new_file, "taken/down/new", "taken is no folder"),
            (check_new_file, "..", "it exists"),
            (check_new_folder, "taken", "it exists and is no empty folder"),
            (check_new_folder, "", "it exists and is no empty folder"),
            (check_new_folder, "taken/new", "taken is no folder"),
        ] {
            let message = check(&at(name)).unwrap_err().to_string();
            assert!(message.starts_with("writing ") && message.contains(problem), "{name}: {message}");
        }
        #[cfg(target_os = "linux")]
        for check in [check_new_file as Check, check_new_folder] {
            let message = check(Path::new("/proc/nothing/can/be/made")).unwrap_err().to_string();
            assert!(message.contains("nothing can be made in /proc: "), "{message}");
        }
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("games");
        replace_file(&file, b"one").unwrap();
        replace_file(&file, b"one, two").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"one, two");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left");
        assert!(write_new_file(&file, b"three").is_err());
    }

    #[test]
    fn what_killed_processes_left_is_cleared_away_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let others = at(".set-c.unfinished");
        for folder in [at(".set-a.unfinished"), others.clone()] {
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("half"), "x").unwrap();
        }
        std::fs::write(at(".set-b.unfinished"), "x").unwrap();
        std::fs::write(at(".other-a.unfinished"), "x").unwrap();
        let lock = File::open(&others).unwrap();
        lock.lock().unwrap();
        write_new_file(&at("set"), b"whole").unwrap();
        let mut names: Vec<_> =
            std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, [".other-a.unfinished", ".set-c.unfinished", "set"]);
    }
}
