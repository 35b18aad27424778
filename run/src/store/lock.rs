//! The lock of a run directory: one writer at a time.
//!
//! The lock belongs to the open file, so the operating system releases it when the process ends, also after `kill -9`.
//! A remaining lock file does not block another process.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use hnefi_inference::file::check_regular;

use super::StoreError;
use super::files::Files;

/// The lock file's name, which is not a key.
const NAME: &str = ".lock";

/// How long a lock may be held before it counts as another writer's. A process that was killed takes an instant to go,
/// and a child process shares the open files of its parent until it runs its own program.
const PATIENCE: Duration = Duration::from_millis(200);

/// The lock of a run directory, released when dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// Whether a folder is a run directory: has ever been locked.
pub(super) fn is_run(dir: &Path) -> bool {
    dir.join(NAME).exists()
}

impl Lock {
    /// Locks `dir`, or returns an error that names the process holding the lock.
    pub(super) fn take(dir: &Path, files: &Files) -> Result<Lock, StoreError> {
        let path = dir.join(NAME);
        let failed = |source| StoreError::Directory { dir: path.clone(), source };
        let open = || OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = files.lock(&path, open).map_err(failed)?;
        file.metadata().and_then(|found| check_regular(&found)).map_err(failed)?;
        let asked = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if asked.elapsed() < PATIENCE => std::thread::sleep(PATIENCE / 20),
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::Locked { dir: dir.to_path_buf(), holder: holder(&mut file) });
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
        // The process id serves only the message above, so ignore a full disk.
        let _ = file
            .set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| write!(file, "{}", std::process::id()))
            .and_then(|()| file.flush());
        Ok(Lock { _file: file })
    }
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let pid = file.take(20).read_to_string(&mut text).ok().and_then(|_| text.trim().parse::<u32>().ok());
    pid.map_or_else(|| "another process".to_string(), |pid| format!("process {pid}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    #[test]
    fn a_second_writer_is_told_who_the_first_is() {
        let dir = tempfile::tempdir().unwrap();
        let first = Store::open_or_create(dir.path()).unwrap();
        let asked = Instant::now();
        let message = Store::open_or_create(dir.path()).unwrap_err().to_string();
        assert!(message.contains(&format!("in use by process {}", std::process::id())), "{message}");
        assert!(asked.elapsed() >= PATIENCE, "the first might have been about to go");
        drop(first);
        Store::open_or_create(dir.path()).unwrap();
    }

    #[test]
    fn a_lock_file_alone_blocks_nobody() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(NAME), "999999999 and more").unwrap();
        Store::open_or_create(dir.path()).unwrap();
        assert_eq!(std::fs::read_to_string(dir.path().join(NAME)).unwrap(), std::process::id().to_string());
    }
}
