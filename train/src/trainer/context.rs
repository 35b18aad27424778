//! What does not change while a trainer works.

use hnefi_engine::NamedRules;
use hnefi_run::store::Store;

use super::observer::TrainObserver;
use super::params::TrainerParams;
use crate::config::TrainConfig;

/// What every step of a trainer may read: the configuration, the parameters of the call, and the store, which excludes
/// other writers by itself.
pub(super) struct Context<'a> {
    pub(super) whole: &'a TrainConfig,
    pub(super) rulesets: Vec<NamedRules>,
    pub(super) params: &'a TrainerParams<'a>,
    pub(super) observer: &'a dyn TrainObserver,
    pub(super) store: Store,
}
