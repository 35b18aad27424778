//! The observer of a store: it sees delays, may give up, and in tests lets operations fail.
//!
//! The file operations of a directory go through `files.rs` and the requests to a bucket through `bucket/`; both ask
//! [`StoreWatch::attempt`] first. So a test can list every operation of a run, and make each of them fail or be the
//! last (`train/tests/faults`).

use std::fmt;
use std::io;
use std::path::Path;

/// An operation on the file system, or a request to a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// Looks for a file or folder.
    Look(&'a Path),
    /// Lists a folder.
    List(&'a Path),
    /// Reads a file.
    Read(&'a Path),
    /// Makes a folder in an existing one.
    MakeFolder(&'a Path),
    /// Makes an empty file that did not exist.
    MakeFile(&'a Path),
    /// Opens the lock of a directory and takes it.
    Lock(&'a Path),
    /// Appends bytes to a file.
    Write(&'a Path, &'a [u8]),
    /// Flushes a file's bytes to the disk.
    Flush(&'a Path),
    /// Flushes a folder's entries to the disk.
    FlushFolder(&'a Path),
    /// Renames a file or a folder to a name in the same folder.
    Rename(&'a Path, &'a Path),
    /// Removes a file.
    Remove(&'a Path),
    /// Removes an empty folder.
    RemoveFolder(&'a Path),
    /// A request to a bucket; the text says which.
    Request(&'a str),
}

impl Operation<'_> {
    /// Whether it only reads.
    pub fn reads(&self) -> bool {
        matches!(self, Operation::Look(_) | Operation::List(_) | Operation::Read(_))
    }
}

impl fmt::Display for Operation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Look(path) => write!(f, "look for {}", path.display()),
            Operation::List(path) => write!(f, "list {}", path.display()),
            Operation::Read(path) => write!(f, "read {}", path.display()),
            Operation::MakeFolder(path) => write!(f, "make folder {}", path.display()),
            Operation::MakeFile(path) => write!(f, "make {}", path.display()),
            Operation::Lock(path) => write!(f, "lock {}", path.display()),
            Operation::Write(path, _) => write!(f, "write {}", path.display()),
            Operation::Flush(path) => write!(f, "flush {}", path.display()),
            Operation::FlushFolder(path) => write!(f, "flush folder {}", path.display()),
            Operation::Rename(from, to) => write!(f, "rename {} to {}", from.display(), to.display()),
            Operation::Remove(path) => write!(f, "remove {}", path.display()),
            Operation::RemoveFolder(path) => write!(f, "remove folder {}", path.display()),
            Operation::Request(what) => f.write_str(what),
        }
    }
}

/// What becomes of an operation.
#[derive(Debug)]
pub enum FaultAction {
    /// It is carried out.
    Proceed,
    /// It fails, and nothing was done.
    Fail(io::Error),
    /// It is carried out and reported as failed, as over a network.
    FailAfterwards(io::Error),
    /// Only this number of the bytes to be written is written.
    Short(usize),
}

/// Receives messages about delays, decides when to give up, and may come in the way of operations.
pub trait StoreWatch: Send + Sync {
    /// A request failed and will be repeated; called at the first failure and then once a minute.
    fn delayed(&self, _text: &str) {}

    /// Whether to give up now; called several times a second while a request waits.
    fn should_stop(&self) -> bool {
        false
    }

    /// Asked before every operation on files and every request to a bucket, each attempt of it; says what becomes of
    /// it. For tests: everybody else lets it proceed.
    fn attempt(&self, _operation: &Operation<'_>) -> FaultAction {
        FaultAction::Proceed
    }
}

impl fmt::Debug for dyn StoreWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreWatch")
    }
}

/// A watch that ignores messages and never gives up early.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl StoreWatch for Unwatched {}
