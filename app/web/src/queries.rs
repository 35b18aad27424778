//! What a page may ask of folders, runs and invitations, field by field.

use serde::Deserialize;

/// A folder or file of the library.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct PathQuery {
    pub(crate) folder: usize,
    #[serde(default)]
    pub(crate) path: String,
    #[serde(default)]
    pub(crate) first: usize,
}

/// Games of a generation of a run: which are wanted, in which order, and where the list begins.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct RunQuery {
    #[serde(default)]
    pub(crate) generation: Option<u32>,
    #[serde(default)]
    pub(crate) first: usize,
    #[serde(default)]
    pub(crate) order: Order,
    /// The moves that they begin with.
    #[serde(default)]
    pub(crate) opening: String,
    /// `attackers`, `defenders` or `draw`, alone or with a reason, as in `draw_ply_cap`; empty for all.
    #[serde(default)]
    pub(crate) result: String,
}

/// The order of a list of games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Order {
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
pub(crate) struct PageQuery {
    pub(crate) page: String,
}
