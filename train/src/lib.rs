//! The training loop: from random weights to a strong network, by self-play.
//!
//! [`trainer::train`] reads like its description: generate games with the newest network, train on the replay window,
//! publish a checkpoint, again until the budget is used up. Everything is said in a [`TrainConfig`]; everything is
//! written to one run directory, from which the same call goes on after any interruption.
//!
//! | module | what it does |
//! |---|---|
//! | [`config`] | the configuration, and the check of its players |
//! | [`trainer`] | the loop, resuming, and the observer |
//! | [`mod@imitate`] | learning from recorded games |
//! | [`devices`] | devices chosen by trying |
//! | [`job`], [`worker`] | playing games for a trainer elsewhere |
//! | [`hnefi_run::sample`] | from game records to samples |
//! | [`loss`], [`learner`] | from samples to better weights |
//!
//! The replay window is in `window.rs`, learning rate and playouts over the run in `schedule.rs`, event files for
//! TensorBoard in `tensorboard.rs`.

mod batch;
pub mod config;
pub mod devices;
mod error;
pub mod imitate;
pub mod job;
pub mod learner;
pub mod loss;
mod metrics;
mod run_file;
mod schedule;
mod steps;
mod tensorboard;
pub mod trainer;
mod window;
pub mod worker;

pub use config::{ConfigError, KeyError, TrainConfig};
pub use error::TrainError;
pub use imitate::{Imitation, imitate};
pub use run_file::configuration;
pub use trainer::{Summary, TrainObserver, TrainerParams, train, train_at};
