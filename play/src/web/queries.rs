//! What a page may ask of folders, runs and invitations, field by field.

use serde::Deserialize;

/// A folder or file of the library.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct PathQuery {
    pub(super) folder: usize,
    #[serde(default)]
    pub(super) path: String,
    #[serde(default)]
    pub(super) first: usize,
}

/// A generation of a run, or a place in its metrics.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct RunQuery {
    #[serde(default)]
    pub(super) generation: Option<u32>,
    #[serde(default)]
    pub(super) after: u32,
    #[serde(default)]
    pub(super) first: usize,
}

/// The address at which a person sees a page.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct PageQuery {
    pub(super) page: String,
}
