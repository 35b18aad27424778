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

/// Games of a generation of a run: which are wanted, in which order, and where the list begins.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct RunQuery {
    #[serde(default)]
    pub(super) generation: Option<u32>,
    #[serde(default)]
    pub(super) first: usize,
    #[serde(default)]
    pub(super) order: Order,
    /// The moves that they begin with.
    #[serde(default)]
    pub(super) opening: String,
    /// `attackers`, `defenders` or `draw`, alone or with a reason, as in `draw_ply_cap`; empty for all.
    #[serde(default)]
    pub(super) result: String,
}

/// The order of a list of games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Order {
    /// As they lie in the file.
    #[default]
    Played,
    Longest,
    Shortest,
    /// The largest change of the searched value between two plies first.
    Surprise,
}

/// The address at which a person sees a page.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct PageQuery {
    pub(super) page: String,
}
