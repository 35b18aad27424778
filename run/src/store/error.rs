//! Errors of a store; every message names the place and the object.

use std::io;
use std::path::PathBuf;

/// Why a store could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The directory cannot be made, opened or walked.
    #[error("run directory {dir}: {source}")]
    Directory {
        /// The directory or the folder in it.
        dir: PathBuf,
        /// The file system's error.
        source: io::Error,
    },
    /// There is no such run directory.
    #[error(
        "run directory {dir}: {}; expected the directory of a run",
        if dir.exists() { "a file" } else { "not found" }
    )]
    NoDirectory {
        /// The directory.
        dir: PathBuf,
    },
    /// A link leads to a folder above itself.
    #[error("{link}: a link to {to}, in which it lies; expected a folder without such loops")]
    Loop {
        /// The link.
        link: PathBuf,
        /// Its target.
        to: PathBuf,
    },
    /// Another process writes to the directory.
    #[error("run directory {dir}: in use by {holder}; expected one process at a time, wait for it or stop it")]
    Locked {
        /// The directory.
        dir: PathBuf,
        /// `process 1234`, or `another process` if its number cannot be read.
        holder: String,
    },
    /// A store opened for reading was asked to write, or one opened for adding for another kind of write.
    #[error("{key} in {place}: it was opened for {opened}")]
    NotOpenFor {
        /// The place, such as `run directory runs/quick` or `store s3://bucket/run`.
        place: String,
        /// The key to be written or removed.
        key: String,
        /// What it was opened for.
        opened: &'static str,
    },
    /// A text is not a key.
    #[error(
        "object key {key:?}: expected parts of letters, digits, '-', '_' and '.', none beginning with '.', joined by \
         '/'"
    )]
    BadKey {
        /// The text given.
        key: String,
    },
    /// Objects are never overwritten.
    #[error("{key} in {place}: exists already; objects are never overwritten")]
    Exists {
        /// The place.
        place: String,
        /// The object.
        key: String,
    },
    /// A run was to be copied into another one.
    #[error("{place} holds another run than {from}: their run.json differ; nothing was copied, expected another place")]
    OtherRun {
        /// Where it was to be copied to.
        place: String,
        /// Where it was to be copied from.
        from: String,
    },
    /// There is no such object.
    #[error("{key} in {place}: not found")]
    Missing {
        /// The place.
        place: String,
        /// The object.
        key: String,
    },
    /// An object could not be written, for instance because the disk is full.
    #[error("{key} in {place}: writing {bytes} bytes failed, everything written earlier is unharmed: {source}")]
    Write {
        /// The place.
        place: String,
        /// The object.
        key: String,
        /// Size of the object.
        bytes: usize,
        /// The file system's error.
        source: io::Error,
    },
    /// What lies under the name of an object cannot be one: it is no file, or too large.
    #[error("{key} in {place}: {problem}")]
    Unfit {
        /// The place.
        place: String,
        /// The object.
        key: String,
        /// What was found and what was expected.
        problem: String,
    },
    /// An object could not be read or removed.
    #[error("{key} in {place}: {what} failed: {source}")]
    Failed {
        /// The place.
        place: String,
        /// The object.
        key: String,
        /// `reading` or `removing`.
        what: &'static str,
        /// The file system's error.
        source: io::Error,
    },
    /// An object that no newer one supersedes was to be removed.
    #[error(
        "{key} in {place}: not removed; expected a key under uploads/, inflight/ or state/, all else is kept for good"
    )]
    Permanent {
        /// The place.
        place: String,
        /// The object.
        key: String,
    },
    /// A text is not a location.
    #[error(
        "{text:?}: {problem}; expected a directory or s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX"
    )]
    BadLocation {
        /// The text given.
        text: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A bucket cannot be used: there is no support, there are no settings, no create-only writes or no answer, or the
    /// watch stopped a request.
    #[error("{place}: {problem}")]
    Bucket {
        /// The place.
        place: String,
        /// What was found and what was expected.
        problem: String,
    },
    /// An object store refused a request for good.
    #[error("{place}: {what} was refused: {problem}")]
    Refused {
        /// The place.
        place: String,
        /// The request.
        what: String,
        /// The status of its answer, if any.
        status: Option<u16>,
        /// The store's error.
        problem: String,
    },
}

impl StoreError {
    /// Whether one object is missing or cannot be one, and the store is fine otherwise.
    pub fn is_of_object(&self) -> bool {
        matches!(self, StoreError::Missing { .. } | StoreError::Unfit { .. })
    }
}
