//! Self-play by workers elsewhere alone.

use std::time::Duration;

use hnefi_selfplay::{Fleet, FleetProgress};

use super::game_source::GameSource;
use super::generation::Generation;
use crate::TrainError;

/// Time between two questions whether there is enough, or to stop.
const ATTENTION: Duration = Duration::from_millis(20);

/// Workers elsewhere upload games.
pub(in crate::trainer) struct Elsewhere;

impl GameSource for Elsewhere {
    fn play(&mut self, generation: &mut Generation<'_>, _: &mut Fleet) -> Result<Option<f64>, TrainError> {
        loop {
            generation.look()?;
            let plies = generation.uploads.plies;
            let has_enough = generation.is_time_up(plies) || (plies > 0 && plies >= generation.quota);
            generation.report(&FleetProgress::default(), (0, 0));
            if has_enough {
                return Ok(Some(generation.seconds()));
            }
            if generation.should_stop() {
                return Ok(None);
            }
            std::thread::sleep(ATTENTION);
        }
    }
}
