//! A run as a store of objects that are created whole and never changed, in a directory or in a bucket.
//!
//! Every object has a key such as `games/000001.hgames`. A reader sees the whole object or none of it, and a crash or a
//! full disk harms no other object. Objects are never overwritten; the newest has the highest number. The operations
//! are create, list, get and remove, which directories (`directory.rs`) and, with the feature `buckets`, object stores
//! (`bucket/`) offer.
//!
//! One process at a time may write to a directory: [`Store::open_or_create`] takes a lock that the operating system
//! releases when the process ends. Any number of processes may read at the same time, and add games and matches under
//! unique names ([`Access::Add`]).

#[cfg(feature = "buckets")]
mod bucket;
#[cfg(not(feature = "buckets"))]
#[path = "no_bucket.rs"]
mod bucket;
mod checkpoints;
mod directory;
mod error;
mod fetch;
mod files;
mod games;
mod layout;
mod location;
mod lock;
mod retry;
#[cfg(test)]
mod tests;
mod watch;

use std::path::{Path, PathBuf};

pub use checkpoints::{check_checkpoint, read_checkpoint};
pub use error::StoreError;
pub use fetch::{Fetched, fetch};
pub use games::{DamagedFile, read_games, read_run_games};
pub use layout::{
    LARGEST_TRAINER_STATE, checkpoint_key, checkpoint_number, games_key, games_number, inflight_key, inflight_number,
    job_key, job_number, ladder_events_key, ladder_key, largest, metrics_key, metrics_number, state_key,
    tensorboard_key, trainer_key, trainer_number, upload_key,
};
pub use location::Location;
pub use retry::RetryPolicy;
pub use watch::{FaultAction, Operation, StoreWatch, Unwatched};

use hnefi_inference::file;

use bucket::Bucket;
use directory::Directory;
use files::Files;
use lock::Lock;

/// Prefixes of objects that newer ones supersede. [`Store::remove`] removes only these.
const SUPERSEDED: [&str; 3] = ["uploads/", "inflight/", "state/"];

/// Prefixes under which processes other than the trainer create objects.
const ADDED: [&str; 2] = ["uploads/", "ladder/"];

/// The allowed operations of an open store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// All operations. A directory is locked against a second writer. A bucket cannot be locked, so its writers must
    /// exclude each other (`hnefi_train::trainer`).
    Write,
    /// All operations, without a lock, as in a bucket.
    Shared,
    /// Read, and create objects under `uploads/` and `ladder/`, as other processes do at the same time.
    Add,
    /// Read.
    Read,
}

/// An open run directory or bucket.
#[derive(Debug)]
pub struct Store {
    place: Place,
    access: Access,
    /// Held as long as the store lives; `None` without a lock.
    _lock: Option<Lock>,
}

#[derive(Debug)]
enum Place {
    Directory(Directory),
    Bucket(Box<Bucket>),
}

impl Store {
    /// Opens the store at `location`. A missing directory is made, unless `access` is to read or add. For a bucket,
    /// credentials are looked for, and no other request is made.
    ///
    /// # Errors
    /// When a directory is missing, cannot be made, or is locked by another process; when a bucket's name or its
    /// settings in the environment are invalid, there are no credentials, or the crate is built without the feature
    /// `buckets`.
    pub fn open(location: &Location, access: Access, retry: RetryPolicy) -> Result<Store, StoreError> {
        match (location, access) {
            (Location::Directory(dir), Access::Write) => Store::open_or_create_with(dir, Files::new(retry.watch)),
            (Location::Directory(dir), Access::Read) => Store::open_to_read_with(dir, Files::new(retry.watch)),
            // Adding needs an existing run: a misspelt name must not make a new one.
            (Location::Directory(dir), Access::Add) => {
                Ok(Store { access, ..Store::open_to_read_with(dir, Files::new(retry.watch))? })
            }
            (Location::Directory(dir), Access::Shared) => {
                let files = Files::new(retry.watch);
                files.make_folders(dir).map_err(|source| StoreError::Directory { dir: dir.clone(), source })?;
                Ok(Store { place: Place::Directory(Directory { dir: dir.clone(), files }), access, _lock: None })
            }
            (Location::Bucket(url), _) => {
                Ok(Store { place: Place::Bucket(Box::new(Bucket::open(url, retry)?)), access, _lock: None })
            }
        }
    }

    /// Opens a run directory for reading and writing. Makes it if it is missing, and removes unfinished files of killed
    /// processes.
    ///
    /// # Errors
    /// When the directory cannot be made or another process has it open for writing.
    pub fn open_or_create(dir: &Path) -> Result<Store, StoreError> {
        Store::open_or_create_with(dir, Files::default())
    }

    fn open_or_create_with(dir: &Path, files: Files) -> Result<Store, StoreError> {
        files.make_folders(dir).map_err(|source| StoreError::Directory { dir: dir.to_path_buf(), source })?;
        let lock = Lock::take(dir, &files)?;
        let directory = Directory { dir: dir.to_path_buf(), files };
        directory.remove_unfinished()?;
        Ok(Store { place: Place::Directory(directory), access: Access::Write, _lock: Some(lock) })
    }

    /// Opens an existing run directory for reading, whether or not a process is writing to it.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn open_to_read(dir: &Path) -> Result<Store, StoreError> {
        Store::open_to_read_with(dir, Files::default())
    }

    fn open_to_read_with(dir: &Path, files: Files) -> Result<Store, StoreError> {
        let found = files.look(dir).map_err(|source| StoreError::Directory { dir: dir.to_path_buf(), source })?;
        if found.is_some_and(|found| found.is_dir()) {
            let place = Place::Directory(Directory { dir: dir.to_path_buf(), files });
            Ok(Store { place, access: Access::Read, _lock: None })
        } else {
            Err(StoreError::NoDirectory { dir: dir.to_path_buf() })
        }
    }

    /// Its name in messages: `run directory runs/quick` or `store s3://bucket/run`.
    pub fn place(&self) -> String {
        match &self.place {
            Place::Directory(directory) => directory.place(),
            Place::Bucket(bucket) => bucket.place(),
        }
    }

    /// Whether this process is the only writer: it has locked a directory.
    pub fn is_exclusive(&self) -> bool {
        self._lock.is_some()
    }

    /// Whether the store is a bucket.
    pub fn is_remote(&self) -> bool {
        matches!(self.place, Place::Bucket(_))
    }

    /// The path or URL of an object, for messages.
    pub fn name(&self, key: &str) -> String {
        match &self.place {
            Place::Directory(directory) => directory.path(key).display().to_string(),
            Place::Bucket(bucket) => bucket.name(key),
        }
    }

    /// A folder of objects as local files: the folder itself, or for a bucket a copy that lasts as long as the store is
    /// open.
    ///
    /// # Errors
    /// When a copy cannot be fetched.
    pub fn folder(&self, key: &str) -> Result<PathBuf, StoreError> {
        check_key(key)?;
        match &self.place {
            Place::Directory(directory) => Ok(directory.path(key)),
            Place::Bucket(bucket) => bucket.folder(key),
        }
    }

    /// Whether the object exists.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn exists(&self, key: &str) -> Result<bool, StoreError> {
        Ok(self.size(key)?.is_some())
    }

    /// The size of an object in bytes; `None` if it does not exist.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn size(&self, key: &str) -> Result<Option<u64>, StoreError> {
        if !is_key(key) {
            return Ok(None);
        }
        match &self.place {
            Place::Directory(directory) => directory.size(key),
            Place::Bucket(bucket) => bucket.size(key),
        }
    }

    /// Writes a new object durably and atomically.
    ///
    /// # Errors
    /// When the object exists, the key is invalid, the bucket's server has no create-only writes, or writing fails. No
    /// other object is harmed.
    pub fn create(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.check_writable(key)?;
        self.check_size(key, bytes)?;
        match &self.place {
            Place::Directory(directory) => directory.create(key, bytes),
            Place::Bucket(bucket) => {
                self.check_order(bucket, key)?;
                bucket.create(key, bytes)
            }
        }
    }

    /// As [`Store::create`], but an existing object, with any bytes, is not an error.
    ///
    /// # Errors
    /// As [`Store::create`] otherwise.
    pub fn create_once(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        match self.create(key, bytes) {
            Err(StoreError::Exists { .. }) => Ok(()),
            other => other,
        }
    }

    /// As [`Store::create`], but an existing object with the same bytes is not an error.
    ///
    /// # Errors
    /// As [`Store::create`], also when the existing object has other bytes.
    pub fn create_same(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        match self.create(key, bytes) {
            Err(StoreError::Exists { .. }) if self.get(key)? == bytes => Ok(()),
            other => other,
        }
    }

    /// Writes a folder of new objects. In a directory they appear together; in a bucket one by one in this order, so
    /// the last should be the object that readers look for.
    ///
    /// # Errors
    /// As [`Store::create`].
    pub fn create_folder(&self, key: &str, parts: &[(&str, &[u8])]) -> Result<(), StoreError> {
        self.check_writable(key)?;
        parts.iter().try_for_each(|(name, bytes)| self.check_size(&format!("{key}/{name}"), bytes))?;
        match &self.place {
            Place::Directory(directory) => directory.create_folder(key, parts),
            Place::Bucket(bucket) => {
                self.check_order(bucket, key)?;
                parts.iter().try_for_each(|(name, bytes)| bucket.create(&format!("{key}/{name}"), bytes))
            }
        }
    }

    /// The keys that begin with `prefix`, sorted; an empty prefix gives all.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        match &self.place {
            Place::Directory(directory) => directory.list(prefix),
            Place::Bucket(bucket) => bucket.list(prefix, None),
        }
    }

    /// The keys that begin with `prefix` and sort after `after`. In a bucket, the cost does not depend on the number of
    /// earlier keys.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list_after(&self, prefix: &str, after: &str) -> Result<Vec<String>, StoreError> {
        match &self.place {
            Place::Directory(directory) => {
                let mut keys = directory.list(prefix)?;
                keys.retain(|key| key.as_str() > after);
                Ok(keys)
            }
            Place::Bucket(bucket) => bucket.list(prefix, Some(after)),
        }
    }

    /// The generations with a complete checkpoint, in ascending order.
    ///
    /// # Errors
    /// When the store cannot be read.
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
    /// When the object does not exist or cannot be read.
    pub fn get(&self, key: &str) -> Result<Vec<u8>, StoreError> {
        check_key(key)?;
        match &self.place {
            Place::Directory(directory) => directory.get(key),
            Place::Bucket(bucket) => bucket.get(key),
        }
    }

    /// The bytes of several objects, fetched concurrently; [`StoreError::Missing`] and [`StoreError::Unfit`] for the
    /// ones that are not there or are none.
    ///
    /// # Errors
    /// When one of them cannot be read for another reason.
    pub fn get_all(&self, keys: &[String]) -> Result<Vec<Result<Vec<u8>, StoreError>>, StoreError> {
        keys.iter().try_for_each(|key| check_key(key))?;
        match &self.place {
            Place::Directory(directory) => keys
                .iter()
                .map(|key| match directory.get(key) {
                    Err(error) if !matches!(error, StoreError::Missing { .. } | StoreError::Unfit { .. }) => Err(error),
                    found => Ok(found),
                })
                .collect(),
            Place::Bucket(bucket) => bucket.get_all(keys),
        }
    }

    /// Whether links lead from an object to another place than the run.
    fn leads_out(&self, key: &str) -> bool {
        match &self.place {
            Place::Directory(directory) => directory.leads_out(key),
            Place::Bucket(_) => false,
        }
    }

    /// Removes a superseded object: a worker's upload, a snapshot of games in flight, or a training state. A missing
    /// object is not an error.
    ///
    /// # Errors
    /// When the key has another prefix or removing fails.
    pub fn remove(&self, key: &str) -> Result<(), StoreError> {
        self.remove_all(std::slice::from_ref(&key.to_owned()))
    }

    /// Removes several superseded objects, in no particular order.
    ///
    /// # Errors
    /// As [`Store::remove`]; some of the objects may have been removed.
    pub fn remove_all(&self, keys: &[String]) -> Result<(), StoreError> {
        for key in keys {
            self.check_writable(key)?;
            let (place, key) = (self.place(), key.clone());
            if !SUPERSEDED.iter().any(|prefix| key.starts_with(prefix)) {
                return Err(StoreError::Permanent { place, key });
            }
            if self.access == Access::Add {
                return Err(StoreError::AddOnly { place, key });
            }
        }
        match &self.place {
            Place::Directory(directory) => keys.iter().try_for_each(|key| directory.remove(key)),
            Place::Bucket(bucket) => bucket.remove_all(keys),
        }
    }

    /// A process that writes more than uploads and matches, whose names are unique, needs a bucket that refuses to
    /// create what is there.
    fn check_order(&self, bucket: &Bucket, key: &str) -> Result<(), StoreError> {
        if self.access == Access::Add { Ok(()) } else { bucket.check_create_only(key) }
    }

    /// Nothing is written that would not be read.
    fn check_size(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        file::check_length(bytes.len() as u64, limit(key)).map_err(|error| StoreError::Unfit {
            place: self.place(),
            key: key.to_string(),
            problem: error.to_string(),
        })
    }

    fn check_writable(&self, key: &str) -> Result<(), StoreError> {
        check_key(key)?;
        match self.access {
            Access::Write | Access::Shared => Ok(()),
            Access::Add if ADDED.iter().any(|prefix| key.starts_with(prefix)) => Ok(()),
            Access::Add => Err(StoreError::AddOnly { place: self.place(), key: key.to_string() }),
            Access::Read => Err(StoreError::ReadOnly { place: self.place(), key: key.to_string() }),
        }
    }
}

fn check_key(key: &str) -> Result<(), StoreError> {
    if is_key(key) { Ok(()) } else { Err(StoreError::BadKey { key: key.to_string() }) }
}

/// The most bytes of an object; names that no object has get as many as a small one.
fn limit(key: &str) -> u64 {
    layout::largest(key).unwrap_or(1 << 20)
}

fn is_key(key: &str) -> bool {
    key.split('/').all(|part| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    })
}
