//! `hnefi worker`: plays games for a run whose trainer may be anywhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hnefi_selfplay::fleet::FleetProgress;
use hnefi_selfplay::printable;
use hnefi_selfplay::store::{Access, Store};
use hnefi_train::run::Terms;
use hnefi_train::worker::{self, WorkerObserver, WorkerParams, WorkerSummary};
use indicatif::ProgressBar;

use super::delays::Delays;
use crate::cli::WorkerArgs;
use crate::{interrupt, progress};

/// Plays until the run is finished or Ctrl-C.
pub fn run(args: WorkerArgs) -> anyhow::Result<()> {
    let stop = interrupt::stop_flag()?;
    let bar = progress::spinner();
    let patience = args.store.patience(Delays { bar: bar.clone(), stop: Arc::clone(&stop) });
    let store = Store::open(&args.run, Access::Add, patience)?;
    let params = WorkerParams {
        // Workers of one run must differ, on all machines: chance sees to it.
        seed: args.seed.unwrap_or_else(rand::random),
        device: args.device,
        threads: args.threads,
        games_in_flight: args.games_in_flight,
        bring_every: Duration::from_secs(args.bring_seconds),
        stay: args.stay,
        pretend: args.pretend_ms.map(Duration::from_millis),
    };
    let watcher = Watcher { bar, stop };
    let summary = worker::work(&store, &params, &watcher)?;
    watcher.bar.finish_and_clear();
    println!(
        "{}; brought {} games, {} training plies, in {} objects",
        if summary.finished { "the run is finished" } else { "stopped" },
        summary.games,
        summary.training_plies,
        summary.arrivals
    );
    Ok(())
}

struct Watcher {
    bar: ProgressBar,
    stop: Arc<AtomicBool>,
}

impl Watcher {
    fn line(&self, text: &str) {
        progress::line(&self.bar, text);
    }
}

impl WorkerObserver for Watcher {
    fn waits(&self, text: &str) {
        self.bar.set_message(format!("{}; waiting", printable(text)));
    }

    fn warning(&self, text: &str) {
        self.line(&format!("warning: {text}"));
    }

    fn plays(&self, terms: &Terms) {
        self.line(&format!(
            "plays generation {} with {} playouts a move ({:.0}% of the run)",
            terms.generation,
            terms.playouts,
            100.0 * terms.progress
        ));
    }

    fn progress(&self, so_far: &WorkerSummary, progress: &FleetProgress) {
        self.bar.set_message(format!(
            "{} games brought, {} finished, {} in flight",
            so_far.games, progress.games, progress.games_in_flight
        ));
    }

    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}
