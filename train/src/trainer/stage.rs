//! The stage that a run is in, and the change to the next one.
//!
//! The stage of a generation is decided when the generation before it is published, and saved with the state. So it
//! does not change when a run resumes, and a run never returns to an earlier stage, even if its budget is raised.

use hnefi_selfplay::{Fleet, search_config};

use super::clock::Clock;
use super::context::Context;
use super::games::load_missing;
use super::state::RunState;
use crate::TrainError;
use crate::config::{Span, TrainConfig};
use crate::learner::{Learner, LearnerParams};
use crate::worker::threads;

pub(super) struct CurrentStage {
    pub(super) config: TrainConfig,
    span: Span,
}

impl CurrentStage {
    pub(super) fn new(whole: &TrainConfig, number: usize) -> Result<CurrentStage, TrainError> {
        Ok(CurrentStage { config: whole.stage(number)?, span: whole.stage_span(number) })
    }

    pub(super) fn progress(&self, budget: f64) -> f64 {
        self.span.within(budget)
    }

    /// Progress of the stage after the last complete generation, 0 to 1.
    pub(super) fn progress_after(&self, clock: &Clock, complete: u32) -> f64 {
        self.progress(clock.progress(complete, 0.0))
    }
}

/// Enters the stage that the budget has reached with `generation`, before checkpoint and state of the generation are
/// written: grows the network and continues the learner with its moments and counts. The fleet follows in
/// [`move_into`]. Returns whether it is another stage.
pub(super) fn enter(
    whole: &TrainConfig,
    clock: &Clock,
    generation: u32,
    number: &mut usize,
    stage: &mut CurrentStage,
    learner: &mut Learner,
) -> Result<bool, TrainError> {
    let reached = whole.stage_at(clock.progress(generation, 0.0));
    if reached <= *number {
        return Ok(false);
    }
    let next = CurrentStage::new(whole, reached)?;
    let params = LearnerParams::from(&next.config.train);
    *learner = learner.continued(&stage.config.network, &next.config.network, next.config.run.seed, params)?;
    (*number, *stage) = (reached, next);
    Ok(true)
}

/// Moves the games in flight into the present stage, where they keep their rules, and loads the games of the stage's
/// replay window.
pub(super) fn move_into(
    context: &Context<'_>,
    stage: &CurrentStage,
    fleet: &mut Fleet,
    state: &mut RunState,
) -> Result<(), TrainError> {
    let (selfplay, search) = (&stage.config.selfplay, &search_config(&stage.config.search));
    *fleet = Fleet::resume(selfplay, search, fleet.seed(), fleet.snapshot())?.with_threads(threads(&stage.config));
    let window = state.counters.window(&stage.config.train);
    load_missing(&mut state.games, window, &context.rulesets, &context.store, context.observer)?;
    report(context, state.counters.stage, stage);
    Ok(())
}

pub(super) fn report(context: &Context<'_>, number: usize, stage: &CurrentStage) {
    let whole = context.whole;
    if !whole.stages.is_empty() {
        context.observer.stage(number, whole.stage_count(), whole.stage_name(number), &stage.config);
    }
}
