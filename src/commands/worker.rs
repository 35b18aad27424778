//! `hnefi worker`: plays games for a trainer elsewhere.

use std::time::Duration;

use hnefi_inference::printable;
use hnefi_run::store::{Access, RetryPolicy, Store, StoreError};
use hnefi_selfplay::FleetProgress;
use hnefi_train::job::Job;
use hnefi_train::worker::{self, WorkerObserver, WorkerParams, WorkerSummary};

use super::work::Work;
use crate::cli::WorkerArgs;
use crate::hardware::Hardware;
use crate::{output, progress};

/// Time between two looks for a run that has not begun.
const LOOK: Duration = Duration::from_secs(2);

/// Plays until the run is finished or Ctrl-C.
pub fn run(args: WorkerArgs, hardware: &Hardware) -> anyhow::Result<()> {
    let work = Work::begin(progress::spinner())?;
    let retry = args.store.retry(work.clone());
    // Check the devices before looking for the run.
    if let Some(devices) = &args.device {
        hardware.cards.check(devices)?;
    }
    let Some(store) = join(&args, &retry, &work)? else { return Ok(()) };
    store.check_place("uploads")?;
    let params = WorkerParams {
        // Workers of a run must have different seeds, on all machines, so draw one.
        seed: args.seed.unwrap_or_else(rand::random),
        cards: hardware.cards.clone(),
        device: args.device,
        threads: args.threads,
        games_in_flight: args.games_in_flight,
        upload_every: Duration::from_secs(args.upload_seconds),
        stay: args.stay,
    };
    let summary = worker::work(&store, &params, &work)?;
    work.bar.finish_and_clear();
    output::line(format_args!(
        "{}; uploaded {} games, {} training plies, in {} objects",
        if summary.finished { "the run is finished" } else { "stopped" },
        summary.games,
        summary.training_plies,
        summary.uploads
    ))
}

/// Waits for the run to begin; `None` if stopped before. Without --wait a missing run is an error, because its name is
/// probably misspelt.
fn join(args: &WorkerArgs, retry: &RetryPolicy, work: &Work) -> anyhow::Result<Option<Store>> {
    while !work.is_stopped() {
        let store = match Store::open(&args.run, Access::Add, retry.clone()) {
            Ok(store) => hnefi_train::configuration(&store)?.map(|_| store),
            Err(StoreError::NoDirectory { .. }) => None,
            Err(error) => return Err(error.into()),
        };
        if store.is_some() {
            return Ok(store);
        }
        anyhow::ensure!(
            args.wait,
            "{}: no run has begun there; expected one that `hnefi train` began, or --wait to wait for it",
            args.run
        );
        work.waits(&format!("{}: no run has begun there yet", args.run));
        work.wait(LOOK);
    }
    Ok(None)
}

impl WorkerObserver for Work {
    fn waits(&self, text: &str) {
        let text = format!("{}; waiting", printable(text));
        // Print it once in a log.
        if self.bar.is_hidden() && self.bar.message() != text {
            self.note(&text);
        }
        self.bar.set_message(text);
    }

    fn chose(&self, text: &str) {
        self.note(text);
    }

    fn warning(&self, text: &str) {
        progress::warning(&self.bar, text);
    }

    fn plays(&self, job: &Job) {
        self.note(&format!("plays generation {} with {} playouts a move", job.generation, job.playouts));
    }

    fn progress(&self, so_far: &WorkerSummary, progress: &FleetProgress) {
        self.bar.set_message(format!(
            "{} games uploaded, {} finished, {} in flight",
            so_far.games, progress.games, progress.games_in_flight
        ));
    }

    fn should_stop(&self) -> bool {
        self.is_stopped()
    }
}
