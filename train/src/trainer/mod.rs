//! The loop: generate, train, publish, again until the budget is used up.
//!
//! A **generation** is self-play with the newest network until enough games have ended, training on the replay window,
//! and a new checkpoint. Each stage leaves whole objects in the run directory, in this order:
//!
//! ```text
//! inflight/000002-0000.*    games in flight at the end of generation 1's self-play
//! games/000001.hgames       its finished games
//! checkpoints/000001/       what plays next
//! state/000001/             the learner's state; with it the generation is complete
//! metrics/000001.json       metrics, also under tensorboard/
//! jobs/000001.json          the job of the workers
//! ladder/000010-....json    at intervals, rated matches
//! ```
//!
//! The same call resumes after any interruption: from the newest readable state, with the recorded games and the saved
//! games in flight. Interrupted work is repeated with the same result, because all randomness is derived from the seed.
//!
//! A `RunState` (`state.rs`) is what a run is between two steps, as data; a `Trainer` (`parts.rs`) owns it, the store,
//! the learner and the fleet, and its steps (`run_loop.rs`) are functions that are given what they read and what they
//! change. Games come through one door, a `GameSource` (`source/`): in turns with training, from a worker in this
//! process, or from workers on any machine that reaches the store ([`crate::worker`]). A lock keeps a second trainer
//! out of a directory. A bucket has no lock: there a replaced trainer finds out before it publishes anything
//! (`fence.rs`), and games in flight are not saved.

mod check;
mod clock;
mod command;
mod context;
mod fence;
mod games;
mod ladder;
mod learn;
mod observer;
mod open;
mod origin;
mod params;
mod parts;
mod publish;
mod run_loop;
mod saved;
mod selfplay;
mod source;
mod stage;
mod state;

pub use check::{CheckedObjects, check};
pub use ladder::ladder_params;
pub use observer::{RunStart, Silent, TrainObserver, TrainingProgress};
pub(crate) use origin::{Ancestor, ancestor};
pub use params::{SelfPlay, Summary, TrainerParams};
pub use run_loop::{train, train_at};
