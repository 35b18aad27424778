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

use std::fmt;
use std::path::{Path, PathBuf};

pub use checkpoints::{check_checkpoint, read_checkpoint};
pub use error::StoreError;
pub use fetch::{Fetched, fetch};
pub use games::read_games;
pub use layout::{
    FleetSave, LARGEST_TRAINER_STATE, checkpoint_key, checkpoint_number, games_key, games_number, job_key, job_number,
    ladder_events_key, ladder_key, largest, metrics_key, metrics_number, state_key, tensorboard_key, trainer_key,
    trainer_number, upload_key,
};
pub use location::Location;
pub use retry::RetryPolicy;
pub use watch::{FaultAction, Operation, StoreWatch, Unwatched};

use hnefi_inference::file;

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
    place: Box<dyn Place>,
    access: Access,
    /// Held as long as the store lives; `None` without a lock.
    _lock: Option<Lock>,
}

/// Where objects lie. [`Store`] has checked the keys, the sizes and the right to write.
trait Place: fmt::Debug + Send + Sync {
    fn place(&self) -> String;
    fn name(&self, key: &str) -> String;
    fn is_remote(&self) -> bool;
    fn folder(&self, key: &str) -> Result<PathBuf, StoreError>;
    fn size(&self, key: &str) -> Result<Option<u64>, StoreError>;
    /// The keys that begin with `prefix` and, if given, come after `after`; sorted.
    fn list(&self, prefix: &str, after: Option<&str>) -> Result<Vec<String>, StoreError>;
    fn get(&self, key: &str) -> Result<Vec<u8>, StoreError>;
    fn get_all(&self, keys: &[String]) -> Result<Vec<Result<Vec<u8>, StoreError>>, StoreError>;
    fn create(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError>;
    fn create_folder(&self, key: &str, parts: &[(&str, &[u8])]) -> Result<(), StoreError>;
    /// Removes objects; missing ones are ignored.
    fn remove_all(&self, keys: &[String]) -> Result<(), StoreError>;

    /// Finds out, before `key` is written first of all, whether the place refuses to create an object that is there.
    fn check_create_only(&self, _key: &str) -> Result<(), StoreError> {
        Ok(())
    }

    /// Finds out whether objects can be written there.
    fn check_place(&self, _folder: &str) -> Result<(), StoreError> {
        Ok(())
    }

    /// Whether links lead from an object to another place.
    fn leads_out(&self, _key: &str) -> bool {
        false
    }
}

/// Opens a bucket, or refuses it by the name of the missing feature.
#[cfg(not(feature = "buckets"))]
fn open_bucket(url: &str, _retry: RetryPolicy) -> Result<Box<dyn Place>, StoreError> {
    let problem = "buckets are not in this build; expected a directory, or a build with the feature `buckets`";
    Err(StoreError::Bucket { place: format!("store {url}"), problem: problem.to_owned() })
}

#[cfg(feature = "buckets")]
fn open_bucket(url: &str, retry: RetryPolicy) -> Result<Box<dyn Place>, StoreError> {
    Ok(Box::new(bucket::Bucket::open(url, retry)?))
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
        let dir = match location {
            Location::Bucket(url) => return Ok(Store { place: open_bucket(url, retry)?, access, _lock: None }),
            Location::Directory(dir) => dir.clone(),
        };
        let files = Files::new(retry.watch);
        let failed = |source| StoreError::Directory { dir: dir.clone(), source };
        match access {
            Access::Write | Access::Shared => files.make_folders(&dir).map_err(failed)?,
            // Adding needs an existing run: a misspelt name must not make a new one.
            Access::Add | Access::Read if files.look(&dir).map_err(failed)?.is_some_and(|found| found.is_dir()) => {}
            Access::Add | Access::Read => return Err(StoreError::NoDirectory { dir }),
        }
        let lock = if access == Access::Write { Some(Lock::take(&dir, &files)?) } else { None };
        let directory = Directory { dir, files };
        if lock.is_some() {
            directory.remove_unfinished()?;
        }
        Ok(Store { place: Box::new(directory), access, _lock: lock })
    }

    /// Opens a run directory for reading and writing. Makes it if it is missing, and removes unfinished files of killed
    /// processes.
    ///
    /// # Errors
    /// When the directory cannot be made or another process has it open for writing.
    pub fn open_or_create(dir: &Path) -> Result<Store, StoreError> {
        Store::open(&Location::Directory(dir.to_owned()), Access::Write, RetryPolicy::default())
    }

    /// Opens an existing run directory for reading, whether or not a process is writing to it.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn open_to_read(dir: &Path) -> Result<Store, StoreError> {
        Store::open(&Location::Directory(dir.to_owned()), Access::Read, RetryPolicy::default())
    }

    /// Its name in messages: `run directory runs/quick` or `store s3://bucket/run`.
    pub fn place(&self) -> String {
        self.place.place()
    }

    /// Whether this process is the only writer: it has locked a directory.
    pub fn is_exclusive(&self) -> bool {
        self._lock.is_some()
    }

    /// Whether the store is a bucket.
    pub fn is_remote(&self) -> bool {
        self.place.is_remote()
    }

    /// The path or URL of an object, for messages.
    pub fn name(&self, key: &str) -> String {
        self.place.name(key)
    }

    /// A folder of objects as local files: the folder itself, or for a bucket a copy that lasts as long as the store is
    /// open.
    ///
    /// # Errors
    /// When a copy cannot be fetched.
    pub fn folder(&self, key: &str) -> Result<PathBuf, StoreError> {
        check_key(key)?;
        self.place.folder(key)
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
        if is_key(key) { self.place.size(key) } else { Ok(None) }
    }

    /// Finds out, before the work for it is done, whether objects can be written below `folder`, such as `uploads`. Of
    /// a bucket this is not asked.
    ///
    /// # Errors
    /// When it refuses a file.
    pub fn check_place(&self, folder: &str) -> Result<(), StoreError> {
        self.place.check_place(folder)
    }

    /// Writes a new object durably and atomically.
    ///
    /// # Errors
    /// When the object exists, the key is invalid, the bucket's server has no create-only writes, or writing fails. No
    /// other object is harmed.
    pub fn create(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.check_writable(key)?;
        self.check_size(key, bytes)?;
        self.check_order(key)?;
        self.place.create(key, bytes)
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
        self.check_order(key)?;
        self.place.create_folder(key, parts)
    }

    /// The keys that begin with `prefix`, sorted; an empty prefix gives all.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.place.list(prefix, None)
    }

    /// The keys that begin with `prefix` and sort after `after`. In a bucket, the cost does not depend on the number of
    /// earlier keys.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list_after(&self, prefix: &str, after: &str) -> Result<Vec<String>, StoreError> {
        self.place.list(prefix, Some(after))
    }

    /// The numbers in the keys under a prefix, by a function such as [`games_number`]; ascending, each once.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn numbers<N: Ord>(&self, prefix: &str, number: impl Fn(&str) -> Option<N>) -> Result<Vec<N>, StoreError> {
        let mut numbers: Vec<N> = self.list(prefix)?.iter().filter_map(|key| number(key)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }

    /// The generations with a complete checkpoint, in ascending order.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn checkpoints(&self) -> Result<Vec<u32>, StoreError> {
        self.numbers("checkpoints/", |key| checkpoint_number(key).filter(|_| key.ends_with("/card.json")))
    }

    /// The bytes of an object.
    ///
    /// # Errors
    /// When the object does not exist or cannot be read.
    pub fn get(&self, key: &str) -> Result<Vec<u8>, StoreError> {
        check_key(key)?;
        self.place.get(key)
    }

    /// The bytes of several objects, fetched concurrently; [`StoreError::Missing`] and [`StoreError::Unfit`] for the
    /// ones that are not there or are none.
    ///
    /// # Errors
    /// When one of them cannot be read for another reason.
    pub fn get_all(&self, keys: &[String]) -> Result<Vec<Result<Vec<u8>, StoreError>>, StoreError> {
        keys.iter().try_for_each(|key| check_key(key))?;
        self.place.get_all(keys)
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
            if !SUPERSEDED.iter().any(|prefix| key.starts_with(prefix)) {
                return Err(StoreError::Permanent { place: self.place(), key: key.clone() });
            }
            if self.access == Access::Add {
                return Err(self.refused(key));
            }
        }
        self.place.remove_all(keys)
    }

    /// A process that writes more than uploads and matches, whose names are unique, needs a bucket that refuses to
    /// create what is there.
    fn check_order(&self, key: &str) -> Result<(), StoreError> {
        if self.access == Access::Add { Ok(()) } else { self.place.check_create_only(key) }
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
            Access::Add | Access::Read => Err(self.refused(key)),
        }
    }

    fn refused(&self, key: &str) -> StoreError {
        let adds = self.access == Access::Add;
        let opened = if adds { "adding; expected a key under uploads/ or ladder/" } else { "reading only" };
        StoreError::NotOpenFor { place: self.place(), key: key.to_owned(), opened }
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
