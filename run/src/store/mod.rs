//! A run as a store of objects that are created whole and never changed: in a directory, or in a bucket on a network.
//!
//! Every object has a key such as `games/000001.hgames`. A reader sees all of an object or nothing of it, and a crash
//! or a full disk leaves what was there before. Nothing is ever overwritten; newest means highest number. Nothing here
//! relies on more than create, list, get and remove, which is what object stores offer (`bucket.rs`) and a directory
//! can do (`directory.rs`).
//!
//! One process at a time may write to a directory: [`Store::open_or_create`] takes a lock that the operating system
//! gives back when the process ends, however it ends. Any number may read beside it, and any number may add games and
//! matches, which have names of their own ([`Access::Add`]).

mod bucket;
mod checkpoints;
mod client;
mod directory;
mod error;
mod fetch;
mod games;
mod layout;
mod location;
mod lock;
mod pack;
mod patience;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use checkpoints::check_checkpoint;
pub use error::StoreError;
pub use fetch::fetch;
pub use games::{DamagedFile, read_games, read_run_games};
pub use layout::{
    arrival_key, checkpoint_key, checkpoint_number, games_key, games_number, inflight_key, inflight_number,
    ladder_events_key, ladder_key, metrics_key, metrics_number, state_key, tensorboard_key, terms_key, terms_number,
    trainer_key, trainer_number,
};
pub use location::Location;
pub use pack::{PackError, PackParams, Packed, pack, unpack};
pub use patience::{Patience, StoreWatch, Unwatched};

use bucket::Bucket;
use directory::{Directory, make_folder};
use lock::Lock;

/// Prefixes of the objects that a newer one may supersede, the only ones that [`Store::remove`] takes.
const SUPERSEDED: [&str; 3] = ["arrivals/", "inflight/", "state/"];

/// Prefixes under which others than the trainer create objects.
const ADDED: [&str; 2] = ["arrivals/", "ladder/"];

/// What an open store may be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everything. A directory is locked against a second writer; a bucket cannot be, so whoever writes there must see
    /// to it that nobody else does (`hnefi_train::run`).
    Write,
    /// Everything, without a lock, as it is in a bucket whatever is asked.
    Shared,
    /// To read, and to create objects under `arrivals/` and `ladder/`, beside whoever else does.
    Add,
    /// To read.
    Read,
}

/// An open run directory or bucket.
#[derive(Debug)]
pub struct Store {
    place: Place,
    access: Access,
    /// Held as long as the store lives, where there is one.
    _lock: Option<Lock>,
}

#[derive(Debug)]
enum Place {
    Directory(Directory),
    Bucket(Box<Bucket>),
}

impl Store {
    /// Opens the store at `location`. A directory is made where there is none, unless it is only to be read or added
    /// to. A store on a network is not asked anything yet, but credentials for it are looked for.
    ///
    /// # Errors
    /// When a directory is missing, cannot be made, or another process has it open for writing, or a bucket's name or
    /// the settings for it in the environment make no sense, or there are no credentials.
    pub fn open(location: &Location, access: Access, patience: Patience) -> Result<Store, StoreError> {
        match (location, access) {
            (Location::Directory(dir), Access::Write) => Store::open_or_create(dir),
            (Location::Directory(dir), Access::Read) => Store::open_to_read(dir),
            // Who adds to a run adds to one that is there: a slip in its name must not make another.
            (Location::Directory(dir), Access::Add) => Ok(Store { access, ..Store::open_to_read(dir)? }),
            (Location::Directory(dir), Access::Shared) => {
                make_folder(dir).map_err(|source| StoreError::Directory { dir: dir.clone(), source })?;
                Ok(Store { place: Place::Directory(Directory { dir: dir.clone() }), access, _lock: None })
            }
            (Location::Bucket(url), _) => {
                Ok(Store { place: Place::Bucket(Box::new(Bucket::open(url, patience)?)), access, _lock: None })
            }
        }
    }

    /// Opens a run directory for reading and writing, making it where there is none, and clears away what a killed
    /// process left half written.
    ///
    /// # Errors
    /// When the directory cannot be made or another process has it open for writing.
    pub fn open_or_create(dir: &Path) -> Result<Store, StoreError> {
        make_folder(dir).map_err(|source| StoreError::Directory { dir: dir.to_path_buf(), source })?;
        let lock = Lock::take(dir)?;
        let directory = Directory { dir: dir.to_path_buf() };
        directory.remove_unfinished()?;
        Ok(Store { place: Place::Directory(directory), access: Access::Write, _lock: Some(lock) })
    }

    /// Opens an existing run directory for reading, whether or not a process is writing to it.
    ///
    /// # Errors
    /// When there is no such directory.
    pub fn open_to_read(dir: &Path) -> Result<Store, StoreError> {
        if dir.is_dir() {
            let place = Place::Directory(Directory { dir: dir.to_path_buf() });
            Ok(Store { place, access: Access::Read, _lock: None })
        } else {
            Err(StoreError::NoDirectory { dir: dir.to_path_buf() })
        }
    }

    /// How messages call it: `run directory runs/quick` or `store s3://bucket/run`.
    pub fn place(&self) -> String {
        match &self.place {
            Place::Directory(directory) => directory.place(),
            Place::Bucket(bucket) => bucket.place(),
        }
    }

    /// Whether nobody else can be writing: a locked directory.
    pub fn is_exclusive(&self) -> bool {
        self._lock.is_some()
    }

    /// Whether every request goes over a network.
    pub fn is_remote(&self) -> bool {
        matches!(self.place, Place::Bucket(_))
    }

    /// Where an object lies, for messages: a path or a URL.
    pub fn name(&self, key: &str) -> String {
        match &self.place {
            Place::Directory(directory) => directory.path(key).display().to_string(),
            Place::Bucket(bucket) => bucket.name(key),
        }
    }

    /// A folder of objects as files of this machine: the folder itself, or a copy that is fetched once and lasts as
    /// long as the store is open.
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

    /// Whether there is such an object.
    ///
    /// # Errors
    /// When a store on a network does not say.
    pub fn exists(&self, key: &str) -> Result<bool, StoreError> {
        Ok(self.size(key)?.is_some())
    }

    /// The size of an object in bytes; `None` when there is none.
    ///
    /// # Errors
    /// When a store on a network does not say.
    pub fn size(&self, key: &str) -> Result<Option<u64>, StoreError> {
        if !is_key(key) {
            return Ok(None);
        }
        match &self.place {
            Place::Directory(directory) => Ok(directory.size(key)),
            Place::Bucket(bucket) => bucket.size(key),
        }
    }

    /// Writes a new object: all of it under its name and safely kept, or nothing.
    ///
    /// # Errors
    /// When the object exists, the key is none, or the store refuses; all other objects are unharmed then.
    pub fn create(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.check_writable(key)?;
        match &self.place {
            Place::Directory(directory) => directory.create(key, bytes),
            Place::Bucket(bucket) => bucket.create(key, bytes),
        }
    }

    /// As [`Store::create`], but it is no error when the object is there already, whatever it holds.
    ///
    /// # Errors
    /// As [`Store::create`] otherwise.
    pub fn create_once(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        match self.create(key, bytes) {
            Err(StoreError::Exists { .. }) => Ok(()),
            other => other,
        }
    }

    /// As [`Store::create`], but it is no error when the same object is there already.
    ///
    /// # Errors
    /// As [`Store::create`], also when another object of that name is there.
    pub fn create_same(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        match self.create(key, bytes) {
            Err(StoreError::Exists { .. }) if self.get(key)? == bytes => Ok(()),
            other => other,
        }
    }

    /// Writes a folder of new objects. In a directory they appear together; in a bucket one by one in this order, so
    /// the last should be the one that readers look for.
    ///
    /// # Errors
    /// As [`Store::create`].
    pub fn create_folder(&self, key: &str, parts: &[(&str, &[u8])]) -> Result<(), StoreError> {
        self.check_writable(key)?;
        match &self.place {
            Place::Directory(directory) => directory.create_folder(key, parts),
            Place::Bucket(bucket) => {
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

    /// The keys that begin with `prefix` and sort after `after`. In a bucket this costs no more the more lie before.
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

    /// The generations whose checkpoints are there and whole, rising.
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
    /// When there is no such object or it cannot be read.
    pub fn get(&self, key: &str) -> Result<Vec<u8>, StoreError> {
        check_key(key)?;
        match &self.place {
            Place::Directory(directory) => directory.get(key),
            Place::Bucket(bucket) => bucket.get(key),
        }
    }

    /// The bytes of several objects, fetched side by side; `None` for those that are not there (any more).
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn get_all(&self, keys: &[String]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        keys.iter().try_for_each(|key| check_key(key))?;
        match &self.place {
            Place::Directory(directory) => keys
                .iter()
                .map(|key| match directory.get(key) {
                    Ok(bytes) => Ok(Some(bytes)),
                    Err(StoreError::Missing { .. }) => Ok(None),
                    Err(error) => Err(error),
                })
                .collect(),
            Place::Bucket(bucket) => bucket.get_all(keys),
        }
    }

    /// Removes an object that a newer one supersedes: games that have been taken in, a snapshot of games in flight, or
    /// a training state. Removing what is not there is no error.
    ///
    /// # Errors
    /// When the key lies elsewhere or the store refuses.
    pub fn remove(&self, key: &str) -> Result<(), StoreError> {
        self.remove_all(std::slice::from_ref(&key.to_owned()))
    }

    /// Removes several such objects, in no particular order.
    ///
    /// # Errors
    /// As [`Store::remove`]; others of them may be gone then.
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

fn is_key(key: &str) -> bool {
    key.split('/').all(|part| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    })
}
