//! `hnefi worker`: plays games for a trainer elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hnefi_inference::printable;
use hnefi_run::store::{Access, RetryPolicy, Store, StoreError};
use hnefi_selfplay::FleetProgress;
use hnefi_train::job::Job;
use hnefi_train::worker::{self, WorkerObserver, WorkerParams, WorkerSummary};
use indicatif::ProgressBar;

use super::delays::Delays;
use crate::cli::WorkerArgs;
use crate::hardware::Hardware;
use crate::{interrupt, output, progress};

/// Time between two looks for a run that has not begun.
const LOOK: Duration = Duration::from_secs(2);

/// The first object of a run.
const RUN: &str = "run.json";

/// Plays until the run is finished or Ctrl-C.
pub fn run(args: WorkerArgs, hardware: &Hardware) -> anyhow::Result<()> {
    let stop = interrupt::stop_flag()?;
    let bar = progress::spinner();
    let retry = args.store.retry(Delays { bar: bar.clone(), stop: Arc::clone(&stop) });
    // Check the devices before looking for the run.
    if let Some(devices) = &args.device {
        hardware.cards.check(devices)?;
    }
    let watcher = Watcher { bar, stop };
    let Some(store) = join(&args, &retry, &watcher)? else { return Ok(()) };
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
    let summary = worker::work(&store, &params, &watcher)?;
    watcher.bar.finish_and_clear();
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
fn join(args: &WorkerArgs, retry: &RetryPolicy, watcher: &Watcher) -> anyhow::Result<Option<Store>> {
    while !watcher.should_stop() {
        let store = match Store::open(&args.run, Access::Add, retry.clone()) {
            Ok(store) => store.exists(RUN)?.then_some(store),
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
        watcher.waits(&format!("{}: no run has begun there yet", args.run));
        let until = Instant::now() + LOOK;
        while Instant::now() < until && !watcher.should_stop() {
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    Ok(None)
}

struct Watcher {
    bar: ProgressBar,
    stop: Arc<AtomicBool>,
}

impl Watcher {
    fn line(&self, text: &str) {
        progress::note(&self.bar, text);
    }
}

impl WorkerObserver for Watcher {
    fn waits(&self, text: &str) {
        let text = format!("{}; waiting", printable(text));
        // Print it once in a log.
        if self.bar.is_hidden() && self.bar.message() != text {
            progress::note(&self.bar, &text);
        }
        self.bar.set_message(text);
    }

    fn chose(&self, text: &str) {
        self.line(text);
    }

    fn warning(&self, text: &str) {
        self.line(&format!("warning: {text}"));
    }

    fn plays(&self, job: &Job) {
        self.line(&format!(
            "plays generation {} with {} playouts a move ({:.0}% of the run)",
            job.generation,
            job.playouts,
            100.0 * job.progress
        ));
    }

    fn progress(&self, so_far: &WorkerSummary, progress: &FleetProgress) {
        self.bar.set_message(format!(
            "{} games uploaded, {} finished, {} in flight",
            so_far.games, progress.games, progress.games_in_flight
        ));
    }

    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}
