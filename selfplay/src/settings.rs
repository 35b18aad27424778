//! How much to play, and by which settings.

use hnefi_run::config::SelfPlayConfig;

use super::balance::Balance;
use super::resignation::Verification;

/// How much to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    /// A generation: plays until its finished games hold this many training plies. Every batch plays an equal part.
    Plies(u64),
    /// Plays all games with numbers below this one to their ends.
    Games(u64),
}

pub(super) struct GenerationSettings<'a> {
    pub(super) config: &'a SelfPlayConfig,
    pub(super) seed: u64,
    pub(super) balance: &'a Balance,
    /// Playouts of a search without handicaps.
    pub(super) playouts: u32,
    pub(super) quota: Quota,
    pub(super) checkpoint: &'a str,
    pub(super) verification: &'a Verification,
}
