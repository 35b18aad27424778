//! The threads that play the lanes, each with an evaluator of its own.
//!
//! A thread takes the lane that has waited longest, plays one round, and puts it back, so all lanes go forward evenly.
//! The caller's thread meanwhile listens: it adds up the progress, asks the observer whether to stop or save, and puts
//! a snapshot together from the state each lane reports between two of its rounds. Nobody waits for anybody.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hnefi_inference::{EvalError, Evaluator};

use super::lane::{Lane, Table};
use super::observer::{FleetObserver, FleetProgress};
use super::snapshot::LaneState;
use super::{FleetError, Quota};

/// How often the observer is asked.
const ATTENTION: Duration = Duration::from_millis(50);

/// Makes the evaluator of one thread.
pub(super) type MakeEvaluator<'a> = &'a (dyn Fn() -> Result<Box<dyn Evaluator>, EvalError> + Sync);

/// What a thread tells the caller's thread.
enum Message {
    /// A lane has played a round.
    Round { lane: usize, progress: FleetProgress },
    /// A lane's state between two rounds, as asked for in this call, or at its end.
    State { lane: usize, call: u64, state: LaneState },
    /// A thread has given up.
    Failed(EvalError),
}

/// What the threads share.
struct Shared<'lanes, 'a> {
    table: &'a Table<'a>,
    waiting: Mutex<VecDeque<(&'lanes mut Lane, u64)>>,
    stop: AtomicBool,
    /// Counts up whenever the lanes' states are wanted.
    call: AtomicU64,
}

/// Plays until every lane has done its part. `save` gets the states of all lanes, each between two of its rounds.
pub(super) fn play(
    lanes: &mut [Lane],
    table: &Table<'_>,
    threads: usize,
    make_evaluator: MakeEvaluator<'_>,
    observer: &dyn FleetObserver,
    save: &mut dyn FnMut(Vec<LaneState>),
) -> Result<(), FleetError> {
    let mut desk = Desk {
        progress: lanes.iter().map(|lane| lane.progress(table)).collect(),
        states: lanes.iter().map(|lane| lane.is_done(table).then(|| lane.state())).collect(),
        calls: lanes.iter().map(|lane| if lane.is_done(table) { u64::MAX } else { 0 }).collect(),
        failed: None,
        stopped: false,
        quota: table.quota,
    };
    let waiting: VecDeque<_> = lanes.iter_mut().filter(|lane| !lane.is_done(table)).map(|lane| (lane, 0)).collect();
    let threads = threads.clamp(1, waiting.len().max(1));
    let shared = Shared { table, waiting: Mutex::new(waiting), stop: AtomicBool::new(false), call: AtomicU64::new(0) };
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for number in 0..threads {
            let (sender, shared) = (sender.clone(), &shared);
            let work = move || work(shared, make_evaluator, &sender);
            // Without a thread there is nothing to fall back on, as with memory.
            std::thread::Builder::new()
                .name(format!("fleet-{number}"))
                .spawn_scoped(scope, work)
                .expect("the operating system starts a thread");
        }
        drop(sender);
        desk.listen(&receiver, &shared, observer, save);
    });
    match desk.failed {
        Some(source) => Err(FleetError::Evaluation { source }),
        None if desk.stopped && lanes.iter().any(|lane| !lane.is_done(table)) => Err(FleetError::Stopped),
        None => Ok(()),
    }
}

/// One thread's work.
fn work(shared: &Shared<'_, '_>, make_evaluator: MakeEvaluator<'_>, sender: &Sender<Message>) {
    // The receiver lives until all senders are gone, so sending cannot fail; if it did, nobody would care.
    let send = |message| {
        let _ = sender.send(message);
    };
    let mut evaluator = match make_evaluator() {
        Ok(evaluator) => evaluator,
        Err(error) => return send(Message::Failed(error)),
    };
    // When none waits, every lane left is with another thread that will go on with it.
    while let Some((lane, mut call)) = shared.take() {
        let wanted = shared.call.load(Ordering::Acquire);
        if call != wanted {
            call = wanted;
            send(Message::State { lane: lane.index(), call, state: lane.state() });
        }
        match lane.play_round(shared.table, &mut *evaluator, &shared.stop) {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return send(Message::Failed(error)),
        }
        send(Message::Round { lane: lane.index(), progress: lane.progress(shared.table) });
        if lane.is_done(shared.table) {
            send(Message::State { lane: lane.index(), call: u64::MAX, state: lane.state() });
        } else {
            shared.waiting().push_back((lane, call));
        }
    }
}

impl<'lanes> Shared<'lanes, '_> {
    fn waiting(&self) -> std::sync::MutexGuard<'_, VecDeque<(&'lanes mut Lane, u64)>> {
        // The queue is whole whatever a thread did that panicked elsewhere.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<(&'lanes mut Lane, u64)> {
        self.waiting().pop_front()
    }
}

/// Where the messages arrive.
struct Desk {
    progress: Vec<FleetProgress>,
    states: Vec<Option<LaneState>>,
    /// The call each lane's state answers; `u64::MAX` for a lane that is done and answers all.
    calls: Vec<u64>,
    failed: Option<EvalError>,
    stopped: bool,
    quota: Quota,
}

impl Desk {
    /// Listens until the last thread is gone.
    fn listen(
        &mut self,
        receiver: &Receiver<Message>,
        shared: &Shared<'_, '_>,
        observer: &dyn FleetObserver,
        save: &mut dyn FnMut(Vec<LaneState>),
    ) {
        let mut saving = None;
        let mut attention = Instant::now();
        loop {
            match receiver.recv_timeout(attention.saturating_duration_since(Instant::now())) {
                Ok(Message::Round { lane, progress }) => self.progress[lane] = progress,
                Ok(Message::State { lane, call, state }) => {
                    self.states[lane] = Some(state);
                    self.calls[lane] = call;
                }
                Ok(Message::Failed(error)) => {
                    self.failed.get_or_insert(error);
                    shared.stop.store(true, Ordering::Relaxed);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if saving.is_some_and(|call| self.calls.iter().all(|&answered| answered >= call)) {
                saving = None;
                save(self.states.iter().flatten().cloned().collect());
            }
            if Instant::now() >= attention {
                attention = Instant::now() + ATTENTION;
                observer.progress(&self.total());
                if observer.should_stop() {
                    self.stopped = true;
                    shared.stop.store(true, Ordering::Relaxed);
                }
                if saving.is_none() && observer.save_due() {
                    saving = Some(shared.call.fetch_add(1, Ordering::Release) + 1);
                }
            }
        }
        observer.progress(&self.total());
    }

    fn total(&self) -> FleetProgress {
        let mut total = FleetProgress::default();
        for lane in &self.progress {
            total.done += lane.done;
            total.games += lane.games;
            total.games_in_flight += lane.games_in_flight;
            total.training_plies += lane.training_plies;
            total.plies += lane.plies;
            total.playouts += lane.playouts;
            total.evaluations += lane.evaluations;
        }
        let (Quota::Plies(quota) | Quota::Games(quota)) = self.quota;
        total.done = (total.done / quota.max(1) as f64).min(1.0);
        total
    }
}
