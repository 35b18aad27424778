//! What can go wrong with a run directory; every message names the directory and the object.

use std::io;
use std::path::PathBuf;

/// Why a run directory could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The directory cannot be made, opened or walked.
    #[error("run directory {dir}: {source}")]
    Directory {
        /// The directory or the folder in it.
        dir: PathBuf,
        /// What the file system said.
        source: io::Error,
    },
    /// There is no such run directory.
    #[error("run directory {dir}: not found; expected the directory of a run")]
    NoDirectory {
        /// The directory.
        dir: PathBuf,
    },
    /// Another process writes to the directory.
    #[error("run directory {dir}: in use by {holder}; expected one process at a time, wait for it or stop it")]
    Locked {
        /// The directory.
        dir: PathBuf,
        /// `process 1234`, or `another process` where its number cannot be read.
        holder: String,
    },
    /// A store opened for reading was asked to write.
    #[error("{key} in run directory {dir}: the directory was opened for reading only")]
    ReadOnly {
        /// The directory.
        dir: PathBuf,
        /// What should have been written or removed.
        key: String,
    },
    /// A text that cannot be a key.
    #[error(
        "object key {key:?}: expected parts of letters, digits, '-', '_' and '.', none beginning with '.', joined by '/'"
    )]
    BadKey {
        /// What was given.
        key: String,
    },
    /// Objects are never overwritten.
    #[error("{key} in run directory {dir}: exists already; objects are never overwritten")]
    Exists {
        /// The directory.
        dir: PathBuf,
        /// The object.
        key: String,
    },
    /// There is no such object.
    #[error("{key} in run directory {dir}: not found")]
    Missing {
        /// The directory.
        dir: PathBuf,
        /// The object.
        key: String,
    },
    /// An object could not be written, because the disk is full for instance.
    #[error(
        "{key} in run directory {dir}: writing {bytes} bytes failed, everything written earlier is unharmed: {source}"
    )]
    Write {
        /// The directory.
        dir: PathBuf,
        /// The object.
        key: String,
        /// Size of the object.
        bytes: usize,
        /// What the file system said.
        source: io::Error,
    },
    /// An object could not be read.
    #[error("{key} in run directory {dir}: reading failed: {source}")]
    Read {
        /// The directory.
        dir: PathBuf,
        /// The object.
        key: String,
        /// What the file system said.
        source: io::Error,
    },
    /// Only what a newer object supersedes may go.
    #[error(
        "{key} in run directory {dir}: not removed; expected a key under inflight/ or state/, all else is kept for good"
    )]
    Permanent {
        /// The directory.
        dir: PathBuf,
        /// The object.
        key: String,
    },
    /// A superseded object could not be removed.
    #[error("{key} in run directory {dir}: removing failed: {source}")]
    Remove {
        /// The directory.
        dir: PathBuf,
        /// The object.
        key: String,
        /// What the file system said.
        source: io::Error,
    },
}
