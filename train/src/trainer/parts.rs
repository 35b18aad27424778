//! What a trainer consists of.

use hnefi_engine::NamedRules;
use hnefi_run::store::Store;

use super::clock::Clock;
use super::command::TrainerCommand;
use super::fence::Fence;
use super::observer::TrainObserver;
use super::params::TrainerParams;
use super::selfplay::Players;
use super::stage::CurrentStage;
use super::state::RunState;
use crate::config::TrainConfig;
use crate::learner::Learner;

/// A run in progress: the state of the run, the learner and what plays, with what they work on.
pub(super) struct Trainer<'a> {
    pub(super) context: Context<'a>,
    pub(super) fence: Fence,
    pub(super) clock: Clock,
    pub(super) stage: CurrentStage,
    pub(super) learner: Learner,
    /// What trains in place of the learner, which then only holds the weights.
    pub(super) command: Option<TrainerCommand>,
    pub(super) players: Players,
    pub(super) state: RunState,
}

/// What every step of a trainer may read: the configuration, the parameters of the call, and the store, which excludes
/// other writers by itself.
pub(super) struct Context<'a> {
    pub(super) whole: &'a TrainConfig,
    pub(super) rulesets: Vec<NamedRules>,
    pub(super) params: &'a TrainerParams<'a>,
    pub(super) observer: &'a dyn TrainObserver,
    pub(super) store: Store,
}
