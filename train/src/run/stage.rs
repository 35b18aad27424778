//! From one stage of a run to the next.
//!
//! The stage of a generation is settled when the generation before it is published, and kept with the state. So it does
//! not change when a run goes on after an interruption, and a stage never comes back once it is over, also not when the
//! budget of a finished run is raised.

use hnefi_selfplay::{Fleet, search_config};

use super::{Run, open};
use crate::TrainError;
use crate::learner::LearnerParams;
use crate::window::WindowParams;

impl Run<'_> {
    /// Enters the stage that the budget has reached, before the state and the checkpoint of the generation are written:
    /// the network grows, and the learner goes on with its moments and counts. The fleet follows with
    /// [`Run::resettle`].
    pub(super) fn enter_stage(&mut self, generation: u32) -> Result<bool, TrainError> {
        let reached = self.whole.stage_at(self.clock.progress(generation, 0.0));
        if reached <= self.counters.stage {
            return Ok(false);
        }
        let config = self.whole.stage(reached)?;
        let params = LearnerParams::from(&config.train);
        self.learner = self.learner.continued(&self.config.network, &config.network, config.run.seed, params)?;
        self.counters.stage = reached;
        self.span = self.whole.stage_span(reached);
        self.config = config;
        Ok(true)
    }

    /// Brings the games in flight into the present stage, where they go on under the rules they began with, and the
    /// games that its replay window reaches back to into memory.
    pub(super) fn resettle(&mut self) -> Result<(), TrainError> {
        let (selfplay, search) = (&self.config.selfplay, &search_config(&self.config.search));
        let fleet = Fleet::resume(selfplay, search, self.fleet.seed(), self.fleet.snapshot())?;
        self.fleet = open::with_threads(fleet, &self.config);
        for generation in self.counters.window(WindowParams::from(&self.config.train)) {
            if !self.games.contains_key(&generation)
                && let Some(found) = open::load_games(&self.rulesets, &self.store, generation, self.observer)?
            {
                self.games.insert(generation, found);
            }
        }
        self.tell_stage();
        Ok(())
    }

    /// Tells the observer which stage it is, if the run has any.
    pub(super) fn tell_stage(&self) {
        if !self.whole.stages.is_empty() {
            let stage = self.counters.stage;
            self.observer.stage(stage, self.whole.stage_count(), self.whole.stage_name(stage), &self.config);
        }
    }
}
