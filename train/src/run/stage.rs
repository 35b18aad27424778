//! The change from one stage of a run to the next.
//!
//! The stage of a generation is decided when the generation before it is published, and saved with the state. So it
//! does not change when a run resumes, and a run never returns to an earlier stage, even if its budget is raised.

use hnefi_selfplay::{Fleet, search_config};

use super::{Run, open};
use crate::TrainError;
use crate::learner::LearnerParams;
use crate::window::WindowParams;

impl Run<'_> {
    /// Enters the stage that the budget has reached, before checkpoint and state of the generation are written: grows
    /// the network and continues the learner with its moments and counts. The fleet follows in [`Run::resettle`].
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

    /// Moves the games in flight to the present stage, where they keep their rules, and loads the games of the stage's
    /// replay window.
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

    /// Reports the stage to the observer, if the run has stages.
    pub(super) fn tell_stage(&self) {
        if !self.whole.stages.is_empty() {
            let stage = self.counters.stage;
            self.observer.stage(stage, self.whole.stage_count(), self.whole.stage_name(stage), &self.config);
        }
    }
}
