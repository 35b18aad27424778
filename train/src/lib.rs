//! The training loop: from random weights to a strong network, by self-play.
//!
//! [`run::run`] reads like its description: generate games with the newest network, train on the replay window, publish
//! a checkpoint, again until the budget is used up. Everything is said in a [`TrainConfig`]; everything is written to
//! one run directory, from which the same call goes on after any interruption.
//!
//! | module | what it does |
//! |---|---|
//! | [`config`] | the configuration, and the check of its players |
//! | [`mod@run`] | the loop, resuming, and the observer |
//! | [`mod@imitate`] | learning from recorded games |
//! | [`worker`] | playing games for a trainer elsewhere |
//! | [`window`] | the replay window |
//! | [`sample`], [`batch`] | from game records to tensors |
//! | [`loss`], [`learner`] | from tensors to better weights |
//! | [`schedule`] | learning rate and playouts over the run |
//! | [`metrics`], [`tensorboard`] | metrics, and event files for TensorBoard |

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

pub use config::{ConfigError, KeyError, TrainConfig};
pub use error::TrainError;
pub use imitate::{Imitation, imitate};
pub use run::{RunParams, Summary, TrainObserver, run, run_at};
