//! The threads of a fleet. Each has its own evaluator.
//!
//! A thread takes the first game batch of a queue, plays one round and puts the batch back at the end, so all batches
//! advance evenly. The caller's thread receives messages: it sums up the progress, asks the observer whether to stop or
//! save, and assembles a snapshot from the states that the batches report between their rounds. No thread waits for
//! another.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hnefi_inference::{EvalError, Evaluator};

use super::control::{FleetControl, FleetProgress};
use super::error::FleetError;
use super::game_batch::GameBatch;
use super::settings::{GenerationSettings, Quota};
use super::snapshot::{FleetSnapshot, GameBatchState};

/// Time between two questions to the control.
const OBSERVE_EVERY: Duration = Duration::from_millis(50);

/// Answers every snapshot: the state of a batch that is done does not change.
const EVERY_SNAPSHOT: u64 = u64::MAX;

enum Message {
    Round {
        batch: usize,
        progress: FleetProgress,
    },
    /// The state of a batch between two rounds, for snapshot number `snapshot` or, once the batch is done, for every
    /// one.
    State {
        batch: usize,
        snapshot: u64,
        state: GameBatchState,
    },
    /// An evaluator failed, and its thread ends.
    Failed(EvalError),
}

struct Shared<'batches, 'a> {
    settings: &'a GenerationSettings<'a>,
    queue: Mutex<VecDeque<(&'batches mut GameBatch, u64)>>,
    /// Whether to abandon the rounds under way.
    stop: AtomicBool,
    /// Whether to begin no more rounds.
    rest: AtomicBool,
    snapshot: AtomicU64,
}

/// Plays until every batch has reached its part of the quota. `snapshot` makes a snapshot of the states of all batches,
/// each between two of its rounds.
///
/// The batches play in turn, beginning with number `turn`.
pub(super) fn play(
    batches: &mut [GameBatch],
    turn: usize,
    settings: &GenerationSettings<'_>,
    threads: usize,
    make_evaluator: &(dyn Fn() -> Box<dyn Evaluator> + Sync),
    control: &mut dyn FleetControl,
    snapshot: &dyn Fn(Vec<GameBatchState>) -> FleetSnapshot,
) -> Result<(), FleetError> {
    let mut collector = Collector {
        progress: batches.iter().map(|batch| batch.progress(settings)).collect(),
        states: batches.iter().map(|batch| batch.is_done(settings).then(|| batch.state())).collect(),
        snapshots: batches.iter().map(|batch| if batch.is_done(settings) { EVERY_SNAPSHOT } else { 0 }).collect(),
        failed: None,
        stopped: false,
        quota: settings.quota,
    };
    let (later, first) = batches.split_at_mut(turn);
    let queue: VecDeque<_> =
        first.iter_mut().chain(later).filter(|batch| !batch.is_done(settings)).map(|batch| (batch, 0)).collect();
    let threads = threads.clamp(1, queue.len().max(1));
    let [stop, rest] = [false; 2].map(AtomicBool::new);
    let shared = Shared { settings, queue: Mutex::new(queue), stop, rest, snapshot: AtomicU64::new(0) };
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for number in 0..threads {
            let (sender, shared) = (sender.clone(), &shared);
            let work = move || work(shared, &mut *make_evaluator(), &sender);
            let started = std::thread::Builder::new().name(format!("fleet-{number}")).spawn_scoped(scope, work);
            // Where the operating system starts no more threads, those that there are play on.
            if let Err(source) = started {
                if number == 0 {
                    collector.failed = Some(FleetError::NoThread { source });
                }
                break;
            }
        }
        drop(sender);
        collector.receive(&receiver, &shared, control, snapshot);
    });
    match collector.failed {
        Some(error) => Err(error),
        None if collector.stopped && batches.iter().any(|batch| !batch.is_done(settings)) => Err(FleetError::Stopped),
        None => Ok(()),
    }
}

fn work(shared: &Shared<'_, '_>, evaluator: &mut dyn Evaluator, sender: &Sender<Message>) {
    // The receiver lives until all senders are dropped, so sending does not fail.
    let send = |message| {
        let _ = sender.send(message);
    };
    // An empty queue means that other threads hold all unfinished batches.
    while let Some((batch, mut snapshot)) = shared.next() {
        let wanted = shared.snapshot.load(Ordering::Acquire);
        if snapshot != wanted {
            snapshot = wanted;
            send(Message::State { batch: batch.index, snapshot, state: batch.state() });
        }
        match batch.play_round(shared.settings, evaluator, &shared.stop) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return send(Message::Failed(error)),
        }
        send(Message::Round { batch: batch.index, progress: batch.progress(shared.settings) });
        if batch.is_done(shared.settings) {
            send(Message::State { batch: batch.index, snapshot: EVERY_SNAPSHOT, state: batch.state() });
        } else {
            shared.queue().push_back((batch, snapshot));
        }
        if shared.rest.load(Ordering::Relaxed) {
            return;
        }
    }
}

impl<'batches> Shared<'batches, '_> {
    fn queue(&self) -> std::sync::MutexGuard<'_, VecDeque<(&'batches mut GameBatch, u64)>> {
        // No code panics while it holds this lock, so the queue is consistent.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<(&'batches mut GameBatch, u64)> {
        self.queue().pop_front()
    }
}

struct Collector {
    progress: Vec<FleetProgress>,
    states: Vec<Option<GameBatchState>>,
    /// Number of the snapshot that each batch's state belongs to.
    snapshots: Vec<u64>,
    failed: Option<FleetError>,
    stopped: bool,
    quota: Quota,
}

impl Collector {
    fn receive(
        &mut self,
        receiver: &Receiver<Message>,
        shared: &Shared<'_, '_>,
        control: &mut dyn FleetControl,
        snapshot: &dyn Fn(Vec<GameBatchState>) -> FleetSnapshot,
    ) {
        let mut saving = None;
        let mut observe_at = Instant::now();
        loop {
            match receiver.recv_timeout(observe_at.saturating_duration_since(Instant::now())) {
                Ok(Message::Round { batch, progress }) => self.progress[batch] = progress,
                Ok(Message::State { batch, snapshot, state }) => {
                    self.states[batch] = Some(state);
                    self.snapshots[batch] = snapshot;
                }
                Ok(Message::Failed(source)) => self.fail(shared, FleetError::Evaluation { source }),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if saving.is_some_and(|snapshot| self.snapshots.iter().all(|&answered| answered >= snapshot)) {
                saving = None;
                if let Err(error) = control.save(snapshot(self.states.iter().flatten().cloned().collect())) {
                    self.fail(shared, error.into());
                }
            }
            if Instant::now() >= observe_at {
                observe_at = Instant::now() + OBSERVE_EVERY;
                match control.go_on(&self.total()) {
                    Ok(true) if control.rests(&self.total()) => {
                        self.stopped = true;
                        shared.rest.store(true, Ordering::Relaxed);
                    }
                    Ok(true) => {}
                    Ok(false) => {
                        self.stopped = true;
                        shared.stop.store(true, Ordering::Relaxed);
                    }
                    Err(error) => self.fail(shared, error.into()),
                }
                if saving.is_none() && control.save_due() {
                    saving = Some(shared.snapshot.fetch_add(1, Ordering::Release) + 1);
                }
            }
        }
        if let Err(error) = control.go_on(&self.total()) {
            self.fail(shared, error.into());
        }
    }

    /// Ends the play by this error, unless another one came before it.
    fn fail(&mut self, shared: &Shared<'_, '_>, error: FleetError) {
        self.failed.get_or_insert(error);
        shared.stop.store(true, Ordering::Relaxed);
    }

    fn total(&self) -> FleetProgress {
        let mut total = FleetProgress::default();
        for batch in &self.progress {
            total.done += batch.done;
            total.games += batch.games;
            total.games_in_flight += batch.games_in_flight;
            total.training_plies += batch.training_plies;
            total.plies += batch.plies;
            total.playouts += batch.playouts;
            total.evaluations += batch.evaluations;
        }
        let (Quota::Plies(quota) | Quota::Games(quota)) = self.quota;
        total.done = (total.done / quota.max(1) as f64).min(1.0);
        total
    }
}
