//! In place of `bucket/` in a build without the feature `buckets`: no bucket can be opened, so no method is called.

use std::path::PathBuf;

use super::{RetryPolicy, StoreError};

/// No value of this type exists.
#[derive(Debug)]
pub(super) enum Bucket {}

impl Bucket {
    /// Refuses the place by the name of the missing feature.
    pub(super) fn open(url: &str, _retry: RetryPolicy) -> Result<Bucket, StoreError> {
        Err(StoreError::NoBuckets { place: format!("store {url}") })
    }

    pub(super) fn place(&self) -> String {
        match *self {}
    }

    pub(super) fn name(&self, _key: &str) -> String {
        match *self {}
    }

    pub(super) fn check_create_only(&self, _key: &str) -> Result<(), StoreError> {
        match *self {}
    }

    pub(super) fn create(&self, _key: &str, _bytes: &[u8]) -> Result<(), StoreError> {
        match *self {}
    }

    pub(super) fn get(&self, _key: &str) -> Result<Vec<u8>, StoreError> {
        match *self {}
    }

    pub(super) fn get_all(&self, _keys: &[String]) -> Result<Vec<Result<Vec<u8>, StoreError>>, StoreError> {
        match *self {}
    }

    pub(super) fn size(&self, _key: &str) -> Result<Option<u64>, StoreError> {
        match *self {}
    }

    pub(super) fn list(&self, _prefix: &str, _after: Option<&str>) -> Result<Vec<String>, StoreError> {
        match *self {}
    }

    pub(super) fn remove_all(&self, _keys: &[String]) -> Result<(), StoreError> {
        match *self {}
    }

    pub(super) fn folder(&self, _key: &str) -> Result<PathBuf, StoreError> {
        match *self {}
    }
}
