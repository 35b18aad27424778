//! Self-play beside training: a worker in this process.
//!
//! The worker plays all the time with the newest network, on a thread of its own and a second handle of the store, and
//! uploads games like any worker. It is bounded: as soon as its uploads hold the training plies of a generation that
//! the trainer has not looked at, it rests. So every ply is trained on `train.reuse` times, as in turns.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use hnefi_run::config::BATCH_GAMES;
use hnefi_run::store::{Access, Store};
use hnefi_search::rng_for;
use rand_xoshiro::rand_core::Rng as _;

use super::{Job, Run, Summary};
use crate::TrainError;
use crate::worker::{WorkerObserver, WorkerParams, WorkerSummary, play_for, threads};

/// Separates the seeds of these workers from other values derived from the run's seed.
const OVERLAP: u64 = 0x006F_7665_726C_6170;

/// What the trainer and its worker tell each other. Plies are training plies.
#[derive(Debug, Default)]
pub(super) struct Link {
    /// Plies that the trainer wants uploaded.
    wanted: AtomicU64,
    /// Plies that the worker has uploaded.
    uploaded: AtomicU64,
    /// Plies of finished games that it has not uploaded.
    finished: AtomicU64,
    /// Plies that it had uploaded when the trainer looked.
    looked_at: AtomicU64,
    /// Milliseconds that the worker has played.
    played: AtomicU64,
    /// Milliseconds of them in earlier generations.
    counted: AtomicU64,
    /// Generation of the newest checkpoint.
    published: AtomicU32,
    /// Generation of the checkpoint that plays.
    playing: AtomicU32,
    /// Whether the worker must end.
    stop: AtomicBool,
    /// Whether the worker has ended.
    ended: AtomicBool,
}

impl Link {
    /// The trainer wants this many plies; at 0 the worker rests.
    pub(super) fn want(&self, plies: u64) {
        self.wanted.store(plies, Ordering::SeqCst);
    }

    /// The trainer has published the checkpoint of this generation.
    pub(super) fn publish(&self, generation: u32) {
        self.published.store(generation, Ordering::SeqCst);
    }

    /// Plies that the worker has uploaded.
    pub(super) fn uploaded_plies(&self) -> u64 {
        self.uploaded.load(Ordering::SeqCst)
    }

    /// Plies of finished games that the worker has not uploaded.
    pub(super) fn finished_plies(&self) -> u64 {
        self.finished.load(Ordering::SeqCst)
    }

    /// The trainer has looked at uploads of this many plies.
    pub(super) fn look_at(&self, plies: u64) {
        self.looked_at.store(plies, Ordering::SeqCst);
    }

    /// Plies that the trainer has not looked at.
    pub(super) fn waiting(&self) -> u64 {
        self.uploaded_plies().saturating_sub(self.looked_at.load(Ordering::SeqCst))
    }

    /// Seconds that the worker has played since the last call.
    pub(super) fn lap(&self) -> f64 {
        let played = self.played.load(Ordering::SeqCst);
        (played - self.counted.swap(played, Ordering::SeqCst)) as f64 / 1000.0
    }

    /// Whether the worker has ended, so that no more games come.
    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }
}

/// The worker asks and reports here.
impl WorkerObserver for Link {
    fn plays(&self, job: &Job) {
        self.playing.store(job.generation, Ordering::SeqCst);
    }

    fn uploaded(&self, so_far: &WorkerSummary) {
        self.played.store(so_far.played.as_millis() as u64, Ordering::SeqCst);
        self.uploaded.store(so_far.training_plies, Ordering::SeqCst);
        self.finished.store(0, Ordering::SeqCst);
    }

    fn wants_upload(&self, plies: u64) -> bool {
        self.finished.store(plies, Ordering::SeqCst);
        self.waiting() + plies >= self.wanted.load(Ordering::SeqCst)
            || self.playing.load(Ordering::SeqCst) < self.published.load(Ordering::SeqCst)
    }

    fn must_rest(&self) -> bool {
        self.waiting() >= self.wanted.load(Ordering::SeqCst)
    }

    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

/// Sets a flag when it is dropped, also by a panic.
struct Flag<'a>(&'a AtomicBool);

impl Drop for Flag<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Trains as [`Run::train`] does, with a worker beside it that ends with the training.
///
/// # Errors
/// The errors of the training and of the worker.
pub(super) fn train<'a>(mut run: Run<'a>, link: &'a Link) -> Result<Summary, TrainError> {
    let store = Store::open(&run.params.location, Access::Add, run.params.retry.clone())?;
    // Every call has a seed of its own, because it begins its games anew.
    let seed = rng_for(&[run.config.run.seed, OVERLAP, u64::from(run.fence.epoch())]).next_u64();
    let params = WorkerParams {
        upload_every: Duration::from_secs(u64::from(run.config.run.save_seconds)),
        ..WorkerParams::new(seed)
    };
    let mut config = run.whole.clone();
    // A thread takes a whole batch of games. The number of games is part of the results, but these depend on timing.
    let games = &mut config.selfplay.games_in_flight;
    *games = (*games).max(BATCH_GAMES * threads(run.whole));
    run.link = Some(link);
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new()
            .name("worker".to_owned())
            .spawn_scoped(scope, || {
                let _ended = Flag(&link.ended);
                play_for(&store, || Ok(config.clone()), &params, link)
            })
            .map_err(|error| TrainError::Device { device: "cpu".to_owned(), problem: error.to_string() })?;
        let trained = {
            let _stop = Flag(&link.stop);
            run.train()
        };
        match worker.join() {
            // A trainer without a worker stops, and this is why.
            Ok(played) => trained.and_then(|summary| played.map(|_| summary)),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worker_plays_one_generation_ahead_and_rests() {
        let link = Link::default();
        assert!(link.must_rest(), "nothing is wanted yet");
        link.want(100);
        assert!(!link.must_rest() && !link.wants_upload(99) && link.wants_upload(100));
        link.uploaded(&WorkerSummary { training_plies: 60, ..WorkerSummary::default() });
        assert!(!link.must_rest() && !link.wants_upload(39) && link.wants_upload(40));
        assert_eq!(link.finished_plies(), 40);
        link.uploaded(&WorkerSummary { training_plies: 110, ..WorkerSummary::default() });
        assert!(link.must_rest() && link.finished_plies() == 0);
        link.look_at(60);
        assert!(!link.must_rest() && link.waiting() == 50);
        link.look_at(110);
        assert!(!link.wants_upload(99) && link.wants_upload(100));
        link.publish(3);
        assert!(link.wants_upload(0), "there is a newer network");
    }
}
