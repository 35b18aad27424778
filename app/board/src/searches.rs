//! The searches, in short slices: a thread that has time does one.
//!
//! Work waits in one line. A slice takes the first, searches for a while, shows what was found and puts the rest at the
//! end of the line, so every search gets its turn soon. Moves and hints come before analyses (`work_queue.rs`). A
//! search begins only while few enough hold memory, and ends as soon as its room no longer wants it; where a move finds
//! no memory the longest analysis ends.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::TryRecvError;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use hnefi_engine::MoveList;
use hnefi_inference::{EvalRequest, Evaluation, Evaluations, Evaluator, Handicap};
use hnefi_search::{AlphaBeta, Search, SearchConfig, SearchReport, Selection};
use rand::RngExt;

use super::report::{Progress, Report};
use super::review::ReviewStep;
use super::room::{Hint, Job, Room, RoomState};
use super::task::{ActiveSearch, Place, Step, most_nodes};
use super::work_queue::{Waiting, WorkQueue};
use super::{Answer, Board, Next, PlayerError, PlayerId, Problem, Question, RoomGame, Strength, Task, problem};

/// When to look again at work that waits for memory, for a network or for an answer from elsewhere.
const REST: Duration = Duration::from_millis(15);

/// How long an analysis keeps its memory for sure when another one wants it.
const TURN: Duration = Duration::from_secs(10);

/// Playouts of a short look and of a hint.
const QUICK_EVAL: u32 = 48;
const HINT: u32 = 400;

/// Networks that one [`WorkerCache`] keeps ready.
const READY: usize = 4;

/// What a thread keeps from one slice to the next.
#[derive(Default)]
pub struct WorkerCache {
    ready: HashMap<String, Box<dyn Evaluator>>,
    scratch: Evaluations,
}

impl Board {
    /// The next piece of work, to be given to [`Board::work`], or how long there is none.
    pub fn next(&self) -> Next<Task> {
        self.queue().next(self.host.now())
    }

    /// Does a slice of the work, and puts back into the line what remains. A fault of the program ends the search.
    pub fn work(&self, mut task: Task, cache: &mut WorkerCache) {
        let step = catch_unwind(AssertUnwindSafe(|| self.slice(&mut task, cache)));
        match step {
            Ok(Step::Over) => {}
            Ok(Step::Again) => self.put(task, self.host.now()),
            Ok(Step::Wait(until)) => self.put(task, until),
            Err(_) => {
                // Whatever broke may have left the scratch memory in disorder.
                *cache = WorkerCache::default();
                self.fail(
                    &task,
                    problem!("error.search", "the player cannot go on: {detail}", detail = "a fault of the program"),
                );
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, WorkQueue<Task>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands out the work that the room's present state needs, and tells those who look on.
    pub(super) fn update(&self, room: &Arc<Room>, state: &mut RoomState) {
        if let Some(ticket) = state.next_work(room.is_watched()) {
            let now = self.host.now();
            let played = state.game_for(&ticket.job);
            let task = Task {
                room: Arc::downgrade(room),
                ticket,
                game: RoomGame { room: room.number, game: state.game.number() },
                played,
                begun: now,
                earliest: now + state.pace(),
                run: None,
                asked: None,
                answer: None,
            };
            // What the room wanted before it wants no longer, so the line is never longer than the list of rooms.
            self.queue().retain(|waiting| !waiting.room.ptr_eq(&task.room));
            self.put(task, now);
        }
        self.host.ring();
    }

    fn put(&self, task: Task, not_before: Duration) {
        self.queue().push(Waiting { urgent: task.is_urgent(), work: task, not_before });
        self.host.work_waits();
    }

    fn fail(&self, task: &Task, problem: Problem) {
        let Some(room) = task.room.upgrade() else { return };
        let mut state = room.lock();
        if state.wants(task.ticket.number) {
            state.finish(Some(problem));
            self.update(&room, &mut state);
        }
    }

    fn slice(&self, task: &mut Task, cache: &mut WorkerCache) -> Step {
        let Some(room) = task.room.upgrade() else { return Step::Over };
        let mut state = room.lock();
        if !state.wants(task.ticket.number) {
            return Step::Over;
        }
        let idle = matches!(task.ticket.job, Job::Analyse { .. } | Job::QuickEval { .. } | Job::Review { .. });
        if idle && !room.is_watched() {
            state.ticket = None;
            return Step::Over;
        }
        if let Some(answer) = task.answer {
            return if self.host.now() < task.earliest {
                Step::Wait(task.earliest)
            } else {
                self.play_answer(&room, &mut state, answer);
                Step::Over
            };
        }
        drop(state);
        let advanced = match task.ticket.job.clone() {
            Job::Move { id, strength } => self.think(&room, task, cache, &id, strength),
            Job::Hint { id } => self.think(&room, task, cache, &id, Strength::Playouts(HINT)),
            Job::QuickEval { id } => self.think(&room, task, cache, &id, Strength::Playouts(QUICK_EVAL)),
            Job::Review { id, .. } => {
                self.think(&room, task, cache, &id, Strength::Playouts(hnefi_record::REVIEW_PLAYOUTS))
            }
            Job::Analyse { id } => self.think(&room, task, cache, &id, Strength::Seconds(f32::INFINITY)),
        };
        match advanced {
            Ok(step) => step,
            Err(error) => {
                self.fail(
                    task,
                    problem!("error.search", "the player cannot go on: {detail}", detail = error.to_string()),
                );
                Step::Over
            }
        }
    }

    /// Plays a player's move and asks for what comes next.
    fn play_answer(&self, room: &Arc<Room>, state: &mut RoomState, answer: Answer) {
        if let Some(wdl) = answer.wdl {
            state.note_view(wdl, answer.playouts);
        }
        let problem = state.play(answer.mv, self.host.now()).err();
        state.finish(problem);
        self.update(room, state);
    }

    /// A slice of whatever the player does to find a move.
    fn think(
        &self,
        room: &Arc<Room>,
        task: &mut Task,
        cache: &mut WorkerCache,
        id: &PlayerId,
        strength: Strength,
    ) -> Result<Step, PlayerError> {
        match id {
            PlayerId::Model(key) => self.search(room, task, cache, key, strength),
            PlayerId::Random => self.random(room, task),
            PlayerId::AlphaBeta(depth) => self.alphabeta(room, task, *depth, strength),
            PlayerId::External => self.ask_external(room, task),
        }
    }

    /// A random move.
    fn random(&self, room: &Arc<Room>, task: &mut Task) -> Result<Step, PlayerError> {
        let mut rng = task.rng(self.seed, 0);
        let mv = task.played.position().random_move(|count| rng.random_range(0..count)).ok_or_else(over)?;
        self.answered(room, task, Answer { mv, wdl: None, playouts: 0 })
    }

    /// A move of an alpha-beta search, which cannot be interrupted; at a low level now and then any move.
    fn alphabeta(
        &self,
        room: &Arc<Room>,
        task: &mut Task,
        depth: u32,
        strength: Strength,
    ) -> Result<Step, PlayerError> {
        let mut rng = task.rng(self.seed, 0);
        if strength.drawn() > 0.0 && rng.random_range(0.0..1.0) < strength.drawn() {
            return self.random(room, task);
        }
        let found = AlphaBeta::new(depth).search(task.played.position(), &mut rng).ok_or_else(over)?;
        self.answered(room, task, Answer { mv: found.mv, wdl: found.wdl, playouts: 0 })
    }

    /// A look whether the external has found its move, after it was asked.
    fn ask_external(&self, room: &Arc<Room>, task: &mut Task) -> Result<Step, PlayerError> {
        let asked = match &task.asked {
            Some(asked) => asked,
            None => {
                let question = Question { game: task.game, played: task.played.clone(), rng: task.rng(self.seed, 0) };
                let (room, number) = (Arc::downgrade(room), task.ticket.number);
                let wanted = move || room.upgrade().is_some_and(|room| room.lock().wants(number));
                let external = self.players.external().ok_or(PlayerError::NoExternal)?;
                task.asked.insert(external.ask(question, Box::new(wanted))?)
            }
        };
        match asked.try_recv() {
            Ok(answer) => {
                let answer = answer?;
                self.answered(room, task, answer)
            }
            Err(TryRecvError::Empty) => Ok(Step::Wait(self.host.now() + REST)),
            Err(TryRecvError::Disconnected) => Err(unusable("the opponent broke off by a fault of the program")),
        }
    }

    /// A slice of a search.
    fn search(
        &self,
        room: &Arc<Room>,
        task: &mut Task,
        cache: &mut WorkerCache,
        key: &str,
        strength: Strength,
    ) -> Result<Step, PlayerError> {
        let network = match &task.run {
            Some(run) => run.network.clone(),
            None => self.players.resolve(key)?,
        };
        if !self.make_ready(cache, key, &network)? {
            return Ok(Step::Wait(self.host.now() + REST));
        }
        if task.run.is_none() {
            let place = self.take_place().or_else(|| {
                self.make_place(task.is_urgent());
                self.take_place()
            });
            let Some(place) = place else { return Ok(Step::Wait(self.host.now() + REST)) };
            task.run = Some(self.begin(task, cache, network.clone(), strength, place)?);
        }
        let Some(run) = &mut task.run else { return Ok(Step::Over) };
        let (evaluator, scratch) = ready(cache, &network)?;
        let slice_ends = self.host.now() + self.slice;
        let deadline = strength.limit().time().and_then(|time| task.begun.checked_add(time));
        let finished = loop {
            match run.search.select_leaf() {
                Selection::Leaf(leaf) => {
                    let request = run.search.request(leaf);
                    evaluator.evaluate(&[request], scratch).map_err(unusable)?;
                    run.search.expand(leaf, scratch.get(0), scratch.priors(0));
                }
                Selection::Settled => {}
                Selection::Blocked | Selection::Finished => break true,
            }
            let now = self.host.now();
            if deadline.is_some_and(|deadline| now >= deadline) {
                break true;
            }
            if now >= slice_ends {
                break false;
            }
        };
        let found = run.search.report();
        let root = run.root.clone();
        self.show(room, task, &found, root.as_ref(), finished);
        if !finished {
            return Ok(Step::Again);
        }
        // The memory goes back before anything waits.
        task.run = None;
        self.conclude(room, task, &found, strength)
    }

    /// Takes a place for a search, if one is free.
    fn take_place(&self) -> Option<Place> {
        let take = |count: usize| (count < self.searches).then_some(count + 1);
        self.searching.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        Some(Place(self.searching.clone()))
    }

    /// Ends the longest analysis so that its memory becomes free: for a move or a hint any, for other work one that has
    /// had its turn. Its room keeps what was found.
    fn make_place(&self, urgent: bool) {
        let now = self.host.now();
        let long = |task: &Task| {
            let analyses = task.run.is_some() && matches!(task.ticket.job, Job::Analyse { .. });
            (analyses && (urgent || now.saturating_sub(task.begun) >= TURN)).then_some(task.begun)
        };
        let longest = self.queue().take_least(long);
        let Some(mut task) = longest else { return };
        task.run = None;
        let Some(room) = task.room.upgrade() else { return };
        let mut state = room.lock();
        let state = &mut *state;
        if state.wants(task.ticket.number) {
            if let Some(report) = &mut state.report {
                report.displaced = true;
                state.report_count += 1;
            }
            state.finish(None);
            self.update(&room, state);
        }
    }

    fn begin(
        &self,
        task: &Task,
        cache: &mut WorkerCache,
        network: String,
        strength: Strength,
        place: Place,
    ) -> Result<ActiveSearch, PlayerError> {
        let most = most_nodes(task.played.rules().size());
        let limit = strength.limit();
        let playouts = limit.playouts().unwrap_or(u32::MAX / 2);
        let root = limit.usual_root();
        let max_nodes = most.min(playouts.saturating_add(2)).max(2);
        let mut search = Search::new(SearchConfig { root, max_nodes, ..SearchConfig::default() });
        search.begin(task.played.position(), playouts, None);
        // The occupancy is asked of the root alone, once.
        let wanted = matches!(task.ticket.job, Job::Analyse { .. });
        let evaluation = if wanted {
            let (evaluator, scratch) = ready(cache, &network)?;
            let mut moves = MoveList::new();
            task.played.position().legal_moves(&mut moves);
            let request = EvalRequest {
                position: task.played.position(),
                moves: &moves,
                handicap: Handicap::NONE,
                auxiliary: true,
            };
            evaluator.evaluate(&[request], scratch).map_err(unusable)?;
            Some(scratch.get(0).clone())
        } else {
            None
        };
        Ok(ActiveSearch { search, network, root: evaluation, _place: place })
    }

    /// Makes an evaluator of a network unless there is one; false while the network is on its way.
    fn make_ready(&self, cache: &mut WorkerCache, key: &str, network: &str) -> Result<bool, PlayerError> {
        if !cache.ready.contains_key(network) {
            let Some(made) = self.players.evaluator(key)? else { return Ok(false) };
            if cache.ready.len() >= READY {
                cache.ready.clear();
            }
            cache.ready.insert(network.to_owned(), made);
        }
        Ok(true)
    }

    /// Shows a room how its search stands.
    fn show(&self, room: &Arc<Room>, task: &Task, found: &SearchReport, root: Option<&Evaluation>, finished: bool) {
        let kind = match task.ticket.job {
            Job::Move { .. } => "move",
            Job::Hint { .. } => "hint",
            Job::QuickEval { .. } => "quick",
            Job::Analyse { .. } => "analysis",
            // It shows what it finds in the state.
            Job::Review { .. } => return,
        };
        let seconds = self.host.now().saturating_sub(task.begun).as_secs_f32();
        let progress = Progress { stamp: task.ticket.stamp, kind, finished, seconds, root };
        let report = Report::new(task.played.position(), found, &progress);
        let mut state = room.lock();
        if !state.wants(task.ticket.number) {
            return;
        }
        if !matches!(task.ticket.job, Job::Move { .. }) {
            state.note_view(found.wdl, found.playouts);
        }
        state.report = Some(report);
        state.report_count += 1;
        drop(state);
        self.host.ring();
    }

    /// What follows from a finished search.
    fn conclude(
        &self,
        room: &Arc<Room>,
        task: &mut Task,
        found: &SearchReport,
        strength: Strength,
    ) -> Result<Step, PlayerError> {
        if let Job::Review { step, .. } = task.ticket.job {
            self.reviewed(room, task, step, found);
            return Ok(Step::Over);
        }
        let mut rng = task.rng(self.seed, 1);
        let (mv, wdl, playouts) = (strength.choose(found, &mut rng), Some(found.wdl), found.playouts.max(1));
        self.answered(room, task, Answer { mv, wdl, playouts })
    }

    /// Takes in a part of a review.
    fn reviewed(&self, room: &Arc<Room>, task: &Task, step: ReviewStep, found: &SearchReport) {
        let mut state = room.lock();
        if !state.wants(task.ticket.number) {
            return;
        }
        let told = state.state_count;
        let is_news = state.review.as_mut().is_some_and(|review| {
            review.take(step, task.played.position().side_to_move(), found);
            review.is_news()
        });
        state.finish(None);
        if !is_news {
            state.state_count = told;
        }
        self.update(room, &mut state);
    }

    /// Takes in a player's answer: a move waits for its time, advice is shown at once.
    fn answered(&self, room: &Arc<Room>, task: &mut Task, answer: Answer) -> Result<Step, PlayerError> {
        if matches!(task.ticket.job, Job::Move { .. }) {
            task.answer = Some(answer);
            return Ok(Step::Again);
        }
        let mut state = room.lock();
        if state.wants(task.ticket.number) {
            if let Some(wdl) = answer.wdl {
                state.note_view(wdl, answer.playouts);
            }
            if matches!(task.ticket.job, Job::Hint { .. }) {
                state.hint = Some(Hint { stamp: task.ticket.stamp, mv: answer.mv });
            }
            state.finish(None);
            self.update(room, &mut state);
        }
        Ok(Step::Over)
    }
}

/// Nobody is asked for a move then.
fn over() -> PlayerError {
    unusable("the game is over")
}

fn unusable(problem: impl ToString) -> PlayerError {
    PlayerError::Unusable(problem.to_string())
}

/// The evaluator of a network that was made ready, and the memory for its answers.
fn ready<'a>(
    cache: &'a mut WorkerCache,
    network: &str,
) -> Result<(&'a mut dyn Evaluator, &'a mut Evaluations), PlayerError> {
    let evaluator = cache.ready.get_mut(network).ok_or_else(|| unusable(format!("the network {network:?} is gone")))?;
    Ok((evaluator.as_mut(), &mut cache.scratch))
}
