//! The training loop: from random weights to a strong network, by self-play.
//!
//! [`run::run`] reads like its description: generate games with the newest network, train on the replay window, publish
//! a checkpoint, again until the budget is used up. Everything is said in a [`TrainConfig`]; everything is written to
//! one run directory, from which the same call goes on after any interruption.
//!
//! | module | what it does |
//! |---|---|
//! | [`config`] | the configuration, with what only those can check who play |
//! | [`mod@run`] | the loop, resuming, and who watches it |
//! | [`mod@imitate`] | learning from recorded games instead |
//! | [`worker`] | playing games for a run whose trainer is elsewhere |
//! | [`window`] | how much of what was played is trained on |
//! | [`sample`], [`batch`] | from game records to tensors |
//! | [`loss`], [`learner`] | from tensors to better weights |
//! | [`schedule`] | what changes as the run goes on |
//! | [`metrics`], [`tensorboard`] | what is reported |

pub mod batch;
pub mod config;
mod error;
pub mod imitate;
pub mod learner;
pub mod loss;
pub mod metrics;
pub mod run;
pub mod sample;
pub mod schedule;
mod steps;
pub mod tensorboard;
pub mod window;
pub mod worker;

pub use config::{ConfigError, Fault, TrainConfig};
pub use error::TrainError;
pub use imitate::{Imitation, imitate};
pub use run::{RunParams, Summary, TrainObserver, run, run_at};
