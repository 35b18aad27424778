//! The searches, in short slices: whoever has time does one.
//!
//! Work waits in one line. A slice takes the first, searches for a while, shows what was found and puts the rest at the
//! end of the line; so nobody waits long, however many searches run. Moves and hints come before analyses (`line.rs`).
//! A search begins only while few enough hold memory, and ends as soon as its room no longer wants it; where a move
//! finds no memory the longest analysis ends.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::TryRecvError;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use hnefi_engine::MoveList;
use hnefi_inference::{EvalRequest, Evaluation, Evaluations, Evaluator};
use hnefi_search::{AlphaBeta, Search, SearchConfig, SearchReport, Selection};
use rand::RngExt;

use super::line::{Line, Waiting};
use super::report::{Progress, Report};
use super::review::{self, Look};
use super::room::{Hint, Inside, Job, Room};
use super::task::{Place, Run, Step, most_nodes};
use super::{Answer, Board, Next, PlayerId, Problem, Question, Strength, Task, problem};

/// When to look again at work that waits for memory, for a network or for an answer from elsewhere.
const REST: Duration = Duration::from_millis(15);

/// How long an analysis keeps its memory for sure when another one wants it.
const TURN: Duration = Duration::from_secs(10);

/// Playouts of a short look and of a hint.
const GLANCE: u32 = 48;
const HINT: u32 = 400;

/// Networks that are kept ready in one [`Kept`].
const READY: usize = 4;

/// Nobody is asked for a move then.
const OVER: &str = "the game is over";

/// What whoever does slices keeps between them; each thread has its own.
#[derive(Default)]
pub struct Kept {
    ready: HashMap<String, Box<dyn Evaluator>>,
    scratch: Evaluations,
}

impl Board {
    /// The next piece of work, to be given to [`Board::work`], or how long there is none.
    pub fn next(&self) -> Next<Task> {
        self.line().next(self.host.now())
    }

    /// Does a slice of the work, and puts back into the line what remains. A fault of the program ends the search.
    pub fn work(&self, mut task: Task, kept: &mut Kept) {
        let step = catch_unwind(AssertUnwindSafe(|| self.slice(&mut task, kept)));
        match step {
            Ok(Step::Over) => {}
            Ok(Step::Again) => self.put(task, self.host.now()),
            Ok(Step::Wait(until)) => self.put(task, until),
            Err(_) => {
                // Whatever broke may have left the scratch memory in disorder.
                *kept = Kept::default();
                self.fail(
                    &task,
                    problem!("error.search", "the player cannot go on: {detail}", detail = "a fault of the program"),
                );
            }
        }
    }

    fn line(&self) -> MutexGuard<'_, Line<Task>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands out the work that the room's present state needs, and tells those who look on.
    pub(super) fn update(&self, room: &Arc<Room>, inside: &mut Inside) {
        if let Some(ticket) = inside.next_work(room.is_watched()) {
            let now = self.host.now();
            let played = inside.game_for(&ticket.job);
            let task = Task {
                room: Arc::downgrade(room),
                ticket,
                game: (room.number, inside.game.number()),
                played,
                begun: now,
                earliest: now + inside.pace(),
                run: None,
                asked: None,
                answer: None,
            };
            // What the room wanted before it wants no longer, so the line is never longer than the list of rooms.
            self.line().retain(|waiting| !waiting.room.ptr_eq(&task.room));
            self.put(task, now);
        }
        self.host.ring();
    }

    fn put(&self, task: Task, not_before: Duration) {
        self.line().push(Waiting { urgent: task.is_urgent(), work: task, not_before });
        self.host.work_waits();
    }

    fn fail(&self, task: &Task, problem: Problem) {
        let Some(room) = task.room.upgrade() else { return };
        let mut inside = room.enter();
        if inside.wants(task.ticket.number) {
            inside.finish(Some(problem));
            self.update(&room, &mut inside);
        }
    }

    fn slice(&self, task: &mut Task, kept: &mut Kept) -> Step {
        let Some(room) = task.room.upgrade() else { return Step::Over };
        let mut inside = room.enter();
        if !inside.wants(task.ticket.number) {
            return Step::Over;
        }
        let idle = matches!(task.ticket.job, Job::Analyse { .. } | Job::Glance { .. } | Job::Review { .. });
        if idle && !room.is_watched() {
            inside.ticket = None;
            return Step::Over;
        }
        if let Some(answer) = task.answer {
            return if self.host.now() < task.earliest {
                Step::Wait(task.earliest)
            } else {
                self.play_answer(&room, &mut inside, answer);
                Step::Over
            };
        }
        drop(inside);
        let advanced = match task.ticket.job.clone() {
            Job::Move { id, strength } => self.think(&room, task, kept, &id, strength),
            Job::Hint { id } => self.think(&room, task, kept, &id, Strength::Playouts(HINT)),
            Job::Glance { id } => self.think(&room, task, kept, &id, Strength::Playouts(GLANCE)),
            Job::Review { id, .. } => self.think(&room, task, kept, &id, Strength::Playouts(review::PLAYOUTS)),
            Job::Analyse { id } => self.think(&room, task, kept, &id, Strength::Seconds(f32::INFINITY)),
        };
        match advanced {
            Ok(step) => step,
            Err(error) => {
                self.fail(task, problem!("error.search", "the player cannot go on: {detail}", detail = error));
                Step::Over
            }
        }
    }

    /// Plays a player's move and asks for what comes next.
    fn play_answer(&self, room: &Arc<Room>, inside: &mut Inside, answer: Answer) {
        if let Some(wdl) = answer.wdl {
            inside.note_view(wdl, answer.playouts);
        }
        let problem = inside.play(answer.mv, self.host.now()).err();
        inside.finish(problem);
        self.update(room, inside);
    }

    /// A slice of whatever the player does to find a move.
    fn think(
        &self,
        room: &Arc<Room>,
        task: &mut Task,
        kept: &mut Kept,
        id: &PlayerId,
        strength: Strength,
    ) -> Result<Step, String> {
        match id {
            PlayerId::Model(key) => self.search(room, task, kept, key, strength),
            PlayerId::Random => self.random(room, task),
            PlayerId::AlphaBeta(depth) => self.alphabeta(room, task, *depth),
            PlayerId::Named => self.ask_outsider(room, task),
        }
    }

    /// A random move.
    fn random(&self, room: &Arc<Room>, task: &mut Task) -> Result<Step, String> {
        let mut rng = task.rng(self.seed, 0);
        let mv = task.played.position().random_move(|count| rng.random_range(0..count)).ok_or(OVER)?;
        self.answered(room, task, Answer { mv, wdl: None, playouts: 0 })
    }

    /// A move of an alpha-beta search, which cannot be interrupted.
    fn alphabeta(&self, room: &Arc<Room>, task: &mut Task, depth: u32) -> Result<Step, String> {
        let mut rng = task.rng(self.seed, 0);
        let found = AlphaBeta::new(depth).search(task.played.position(), &mut rng).ok_or(OVER)?;
        self.answered(room, task, Answer { mv: found.mv, wdl: found.wdl, playouts: 0 })
    }

    /// A look whether the outsider has found its move, after it was asked.
    fn ask_outsider(&self, room: &Arc<Room>, task: &mut Task) -> Result<Step, String> {
        let asked = match &task.asked {
            Some(asked) => asked,
            None => {
                let question = Question { game: task.game, played: task.played.clone(), rng: task.rng(self.seed, 0) };
                let (room, number) = (Arc::downgrade(room), task.ticket.number);
                let wanted = move || room.upgrade().is_some_and(|room| room.enter().wants(number));
                let outsider = self.players.outsider().ok_or("nobody was named on the command line")?;
                task.asked.insert(outsider.ask(question, Box::new(wanted))?)
            }
        };
        match asked.try_recv() {
            Ok(answer) => {
                let answer = answer?;
                self.answered(room, task, answer)
            }
            Err(TryRecvError::Empty) => Ok(Step::Wait(self.host.now() + REST)),
            Err(TryRecvError::Disconnected) => Err("the opponent broke off by a fault of the program".to_owned()),
        }
    }

    /// A slice of a search.
    fn search(
        &self,
        room: &Arc<Room>,
        task: &mut Task,
        kept: &mut Kept,
        key: &str,
        strength: Strength,
    ) -> Result<Step, String> {
        let network = match &task.run {
            Some(run) => run.network.clone(),
            None => self.players.resolve(key)?,
        };
        if !self.make_ready(kept, key, &network)? {
            return Ok(Step::Wait(self.host.now() + REST));
        }
        if task.run.is_none() {
            let place = self.take_place().or_else(|| {
                self.make_place(task.is_urgent());
                self.take_place()
            });
            let Some(place) = place else { return Ok(Step::Wait(self.host.now() + REST)) };
            task.run = Some(self.begin(task, kept, network.clone(), strength, place)?);
        }
        let Some(run) = &mut task.run else { return Ok(Step::Over) };
        let (evaluator, scratch) = ready(kept, &network)?;
        let slice_ends = self.host.now() + self.slice;
        let deadline = strength.limit().time().and_then(|time| task.begun.checked_add(time));
        let finished = loop {
            match run.search.select_leaf() {
                Selection::Leaf(leaf) => {
                    let request = run.search.request(leaf);
                    evaluator.evaluate(&[request], scratch).map_err(|error| error.to_string())?;
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
        let longest = self.line().take_least(long);
        let Some(mut task) = longest else { return };
        task.run = None;
        let Some(room) = task.room.upgrade() else { return };
        let mut inside = room.enter();
        let inside = &mut *inside;
        if inside.wants(task.ticket.number) {
            if let Some(report) = &mut inside.report {
                report.displaced = true;
                inside.report_count += 1;
            }
            inside.finish(None);
            self.update(&room, inside);
        }
    }

    fn begin(
        &self,
        task: &Task,
        kept: &mut Kept,
        network: String,
        strength: Strength,
        place: Place,
    ) -> Result<Run, String> {
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
            let (evaluator, scratch) = ready(kept, &network)?;
            let mut moves = MoveList::new();
            task.played.position().legal_moves(&mut moves);
            let request = EvalRequest { position: task.played.position(), moves: &moves, auxiliary: true };
            evaluator.evaluate(&[request], scratch).map_err(|error| error.to_string())?;
            Some(scratch.get(0).clone())
        } else {
            None
        };
        Ok(Run { search, network, root: evaluation, _place: place })
    }

    /// Makes an evaluator of a network unless there is one; false while the network is on its way.
    fn make_ready(&self, kept: &mut Kept, key: &str, network: &str) -> Result<bool, String> {
        if !kept.ready.contains_key(network) {
            let Some(made) = self.players.evaluator(key)? else { return Ok(false) };
            if kept.ready.len() >= READY {
                kept.ready.clear();
            }
            kept.ready.insert(network.to_owned(), made);
        }
        Ok(true)
    }

    /// Shows a room how its search stands.
    fn show(&self, room: &Arc<Room>, task: &Task, found: &SearchReport, root: Option<&Evaluation>, finished: bool) {
        let kind = match task.ticket.job {
            Job::Move { .. } => "move",
            Job::Hint { .. } => "hint",
            Job::Glance { .. } => "glance",
            Job::Analyse { .. } => "analysis",
            // It shows what it finds in the state.
            Job::Review { .. } => return,
        };
        let seconds = self.host.now().saturating_sub(task.begun).as_secs_f32();
        let progress = Progress { stamp: task.ticket.stamp, kind, finished, seconds, root };
        let report = Report::new(task.played.position(), found, &progress);
        let mut inside = room.enter();
        if !inside.wants(task.ticket.number) {
            return;
        }
        if !matches!(task.ticket.job, Job::Move { .. }) {
            inside.note_view(found.wdl, found.playouts);
        }
        inside.report = Some(report);
        inside.report_count += 1;
        drop(inside);
        self.host.ring();
    }

    /// What follows from a finished search.
    fn conclude(
        &self,
        room: &Arc<Room>,
        task: &mut Task,
        found: &SearchReport,
        strength: Strength,
    ) -> Result<Step, String> {
        if let Job::Review { look, .. } = task.ticket.job {
            self.reviewed(room, task, look, found);
            return Ok(Step::Over);
        }
        let mut rng = task.rng(self.seed, 1);
        let (mv, wdl, playouts) = (strength.choose(found, &mut rng), Some(found.wdl), found.playouts.max(1));
        self.answered(room, task, Answer { mv, wdl, playouts })
    }

    /// Takes in a part of a review.
    fn reviewed(&self, room: &Arc<Room>, task: &Task, look: Look, found: &SearchReport) {
        let mut inside = room.enter();
        if !inside.wants(task.ticket.number) {
            return;
        }
        let told = inside.state_count;
        let is_news = inside.review.as_mut().is_some_and(|review| {
            review.take(look, task.played.position().side_to_move(), found);
            review.is_news()
        });
        inside.finish(None);
        if !is_news {
            inside.state_count = told;
        }
        self.update(room, &mut inside);
    }

    /// Takes in a player's answer: a move waits for its time, advice is shown at once.
    fn answered(&self, room: &Arc<Room>, task: &mut Task, answer: Answer) -> Result<Step, String> {
        if matches!(task.ticket.job, Job::Move { .. }) {
            task.answer = Some(answer);
            return Ok(Step::Again);
        }
        let mut inside = room.enter();
        if inside.wants(task.ticket.number) {
            if let Some(wdl) = answer.wdl {
                inside.note_view(wdl, answer.playouts);
            }
            if matches!(task.ticket.job, Job::Hint { .. }) {
                inside.hint = Some(Hint { stamp: task.ticket.stamp, mv: answer.mv });
            }
            inside.finish(None);
            self.update(room, &mut inside);
        }
        Ok(Step::Over)
    }
}

/// The evaluator of a network that was made ready, and the memory for its answers.
fn ready<'a>(kept: &'a mut Kept, network: &str) -> Result<(&'a mut dyn Evaluator, &'a mut Evaluations), String> {
    let evaluator = kept.ready.get_mut(network).ok_or_else(|| format!("the network {network:?} is gone"))?;
    Ok((evaluator.as_mut(), &mut kept.scratch))
}
