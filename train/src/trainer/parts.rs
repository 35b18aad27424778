//! What a trainer consists of.

use super::clock::Clock;
use super::command::TrainerCommand;
use super::context::Context;
use super::fence::Fence;
use super::selfplay::Players;
use super::stage::CurrentStage;
use super::state::RunState;
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
