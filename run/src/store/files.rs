//! The file operations of a directory, each of which its watch is asked before.

use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hnefi_inference::file;

use super::watch::{FaultAction, Operation, StoreWatch};

/// The operating system's file system, with the watch asked before every operation.
#[derive(Clone, Debug)]
pub(super) struct Files {
    watch: Arc<dyn StoreWatch>,
}

impl Files {
    pub(super) fn new(watch: Arc<dyn StoreWatch>) -> Files {
        Files { watch }
    }

    fn attempt<T>(&self, operation: Operation<'_>, carry_out: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        match self.watch.attempt(&operation) {
            FaultAction::Fail(error) => Err(error),
            FaultAction::FailAfterwards(error) => carry_out().and(Err(error)),
            FaultAction::Proceed | FaultAction::Short(_) => carry_out(),
        }
    }

    /// What lies at a path, links followed; `None` for nothing.
    pub(super) fn look(&self, path: &Path) -> io::Result<Option<Metadata>> {
        match self.attempt(Operation::Look(path), || fs::metadata(path)) {
            Ok(found) => Ok(Some(found)),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn list(&self, folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
        self.attempt(Operation::List(folder), || fs::read_dir(folder)?.collect())
    }

    pub(super) fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        self.attempt(Operation::Read(path), || file::read(path, most))
    }

    pub(super) fn lock<T>(&self, path: &Path, take: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.attempt(Operation::Lock(path), take)
    }

    /// Makes a folder and its parents and flushes each to the disk.
    pub(super) fn make_folders(&self, folder: &Path) -> io::Result<()> {
        if self.look(folder)?.is_some_and(|found| found.is_dir()) {
            return Ok(());
        }
        if let Some(above) = folder.parent() {
            let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
            self.make_folders(above)?;
            match self.attempt(Operation::MakeFolder(folder), || fs::create_dir(folder)) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => self.flush_folder(above)?,
            }
        }
        Ok(())
    }

    /// Makes a file or a folder, by `make`, under a new name in a folder that begins with `prefix`.
    pub(super) fn make_unfinished<'a, T>(
        &'a self,
        folder: &Path,
        prefix: &str,
        operation: fn(&Path) -> Operation<'_>,
        make: fn(&Path) -> io::Result<T>,
    ) -> io::Result<Unfinished<'a, T>> {
        let mut builder = tempfile::Builder::new();
        let made = builder.prefix(prefix).disable_cleanup(true);
        let made = made.make_in(folder, |path| self.attempt(operation(path), || make(path)))?;
        Ok(Unfinished { files: self, path: made.path().to_owned(), made: Some(made) })
    }

    pub(super) fn make_file(&self, path: &Path) -> io::Result<File> {
        self.attempt(Operation::MakeFile(path), || File::create_new(path))
    }

    pub(super) fn write(&self, path: &Path, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        Written { files: self, path, file }.write_all(bytes)
    }

    pub(super) fn flush(&self, path: &Path, file: &File) -> io::Result<()> {
        self.attempt(Operation::Flush(path), || file.sync_all())
    }

    /// Flushes a folder's entries to the disk, which makes a new file's name durable.
    pub(super) fn flush_folder(&self, folder: &Path) -> io::Result<()> {
        self.attempt(
            Operation::FlushFolder(folder),
            || {
                if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
            },
        )
    }

    pub(super) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.attempt(Operation::Rename(from, to), || fs::rename(from, to))
    }

    pub(super) fn remove(&self, path: &Path) -> io::Result<()> {
        self.attempt(Operation::Remove(path), || fs::remove_file(path))
    }

    pub(super) fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.attempt(Operation::RemoveFolder(path), || fs::remove_dir(path))
    }

    /// Removes a file, or a folder with everything in it.
    pub(super) fn remove_any(&self, path: &Path) -> io::Result<()> {
        if fs::symlink_metadata(path)?.is_dir() { self.remove_tree(path) } else { self.remove(path) }
    }

    /// Removes a folder with everything in it. Links are removed and not followed.
    pub(super) fn remove_tree(&self, folder: &Path) -> io::Result<()> {
        for entry in self.list(folder)? {
            self.remove_any(&entry.path())?;
        }
        self.remove_folder(folder)
    }
}

/// A file or folder under a temporary name, which is removed when dropped unless it was renamed.
#[derive(Debug)]
pub(super) struct Unfinished<'a, T> {
    files: &'a Files,
    pub(super) path: PathBuf,
    made: Option<tempfile::NamedTempFile<T>>,
}

impl Unfinished<'_, File> {
    pub(super) fn file(&mut self) -> &mut File {
        self.made.as_mut().expect("it was not renamed yet").as_file_mut()
    }

    /// Renames the file to a name that no file has.
    pub(super) fn rename_to(mut self, to: &Path) -> io::Result<()> {
        let made = self.made.take().expect("it was not renamed yet");
        let rename = || made.persist_noclobber(to).map(drop).map_err(|refused| refused.error);
        let renamed = self.files.attempt(Operation::Rename(&self.path, to), rename);
        if renamed.is_err() {
            let _ = self.files.remove(&self.path);
        }
        renamed
    }
}

impl Unfinished<'_, ()> {
    /// Renames the folder to a name that no folder with entries has.
    pub(super) fn rename_folder_to(mut self, to: &Path) -> io::Result<()> {
        self.files.rename(&self.path, to)?;
        self.made = None;
        Ok(())
    }
}

impl<T> Drop for Unfinished<'_, T> {
    fn drop(&mut self) {
        // The first error is the one worth telling; the next process removes what is left.
        if let Some(made) = self.made.take() {
            drop(made);
            let _ = self.files.remove_any(&self.path);
        }
    }
}

/// A file being written, write by write.
struct Written<'a> {
    files: &'a Files,
    path: &'a Path,
    file: &'a mut File,
}

impl Write for Written<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.files.watch.attempt(&Operation::Write(self.path, bytes)) {
            FaultAction::Proceed => self.file.write_all(bytes).map(|()| bytes.len()),
            FaultAction::Short(count) => {
                let count = count.min(bytes.len());
                self.file.write_all(&bytes[..count]).map(|()| count)
            }
            FaultAction::Fail(error) => Err(error),
            FaultAction::FailAfterwards(error) => self.file.write_all(bytes).and(Err(error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
