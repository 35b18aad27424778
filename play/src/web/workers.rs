//! The searches: a fixed number of threads that share all work in short slices.
//!
//! Work waits in one queue. A thread takes the first, searches for a slice of time, shows what was found and puts the
//! rest at the end of the queue; so nobody waits long, however many searches run. Moves and hints come before analyses
//! (`queue.rs`). A search begins only while few enough hold memory, and ends as soon as its room no longer wants it;
//! where a move finds no memory the longest analysis ends.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::TryRecvError;
use std::time::{Duration, Instant};

use hnefi_arena::players::{AlphaBeta, Player, RandomPlayer};
use hnefi_engine::MoveList;
use hnefi_inference::{EvalRequest, Evaluation, Evaluations, Evaluator};
use hnefi_search::{Search, SearchConfig, SearchReport, Selection};

use super::models::{Models, PlayerId};
use super::named::Question;
use super::queue::{Queue, Waiting};
use super::report::{Progress, Report};
use super::room::{Inside, Job, Room};
use super::strength::Strength;
use super::task::{Answer, Place, Run, Step, Task, most_nodes};

/// How long a thread stays with one search.
const SLICE: Duration = Duration::from_millis(100);

/// When to look again at work that waits for memory or for an answer from elsewhere.
const REST: Duration = Duration::from_millis(15);

/// How long an analysis keeps its memory for sure when another one wants it.
const TURN: Duration = Duration::from_secs(10);

/// Searches that hold memory at once.
const SEARCHES: usize = 8;

/// Playouts of a short look and of a hint.
const GLANCE: u32 = 48;
const HINT: u32 = 400;

/// Networks a thread keeps ready.
const READY: usize = 4;

/// The threads and their queue.
pub(super) struct Workers {
    shared: Arc<Shared>,
}

struct Shared {
    models: Arc<Models>,
    queue: Queue<Task>,
    searching: Arc<AtomicUsize>,
    seed: u64,
}

/// What a thread keeps between slices.
struct ThreadState {
    ready: HashMap<String, Box<dyn Evaluator>>,
    scratch: Evaluations,
}

impl Workers {
    /// Starts so many threads; they run as long as the process.
    pub(super) fn start(models: Arc<Models>, threads: usize, seed: u64) -> Workers {
        let shared = Arc::new(Shared { models, queue: Queue::new(), searching: Arc::new(AtomicUsize::new(0)), seed });
        for _ in 0..threads.max(1) {
            let shared = shared.clone();
            std::thread::spawn(move || shared.work());
        }
        Workers { shared }
    }

    /// Hands out the work that the room's present state needs, and tells those who look on.
    pub(super) fn update(&self, room: &Arc<Room>, inside: &mut Inside) {
        self.shared.update(room, inside);
    }
}

impl Shared {
    fn update(&self, room: &Arc<Room>, inside: &mut Inside) {
        if let Some(ticket) = inside.next_work(room.is_watched()) {
            let now = Instant::now();
            let task = Task {
                room: Arc::downgrade(room),
                ticket,
                game: (room.number, inside.game.number()),
                played: inside.game.game().clone(),
                begun: now,
                earliest: now + inside.pace(),
                run: None,
                asked: None,
                answer: None,
            };
            // What the room wanted before it wants no longer, so the queue is never longer than the list of rooms.
            self.queue.retain(|waiting| !waiting.room.ptr_eq(&task.room));
            self.put(task, now);
        }
        room.ring();
    }

    /// A thread's life.
    fn work(&self) {
        let mut kept = ThreadState { ready: HashMap::new(), scratch: Evaluations::new() };
        loop {
            let mut task = self.queue.take();
            let step = catch_unwind(AssertUnwindSafe(|| self.slice(&mut task, &mut kept)));
            match step {
                Ok(Step::Over) => {}
                Ok(Step::Again) => self.put(task, Instant::now()),
                Ok(Step::Wait(until)) => self.put(task, until),
                Err(_) => {
                    // Whatever broke may have left the scratch memory in disorder.
                    kept = ThreadState { ready: HashMap::new(), scratch: Evaluations::new() };
                    self.fail(&task, "the search broke off by a fault of the program".to_owned());
                }
            }
        }
    }

    fn put(&self, task: Task, not_before: Instant) {
        self.queue.push(Waiting { urgent: task.is_urgent(), work: task, not_before });
    }

    fn fail(&self, task: &Task, problem: String) {
        let Some(room) = task.room.upgrade() else { return };
        let mut inside = room.enter();
        if inside.wants(task.ticket.number) {
            inside.finish(Some(problem));
            self.update(&room, &mut inside);
        }
    }

    fn slice(&self, task: &mut Task, kept: &mut ThreadState) -> Step {
        let Some(room) = task.room.upgrade() else { return Step::Over };
        let mut inside = room.enter();
        if !inside.wants(task.ticket.number) {
            return Step::Over;
        }
        let idle = matches!(task.ticket.job, Job::Analyse { .. } | Job::Glance { .. });
        if idle && !room.is_watched() {
            inside.ticket = None;
            return Step::Over;
        }
        if let Some(answer) = task.answer {
            return if Instant::now() < task.earliest {
                Step::Wait(task.earliest)
            } else {
                self.play(&room, &mut inside, answer);
                Step::Over
            };
        }
        drop(inside);
        let advanced = match task.ticket.job.clone() {
            Job::Move { id, strength } => self.think(&room, task, kept, &id, strength),
            Job::Hint { id } => self.think(&room, task, kept, &id, Strength::Playouts(HINT)),
            Job::Glance { id } => self.think(&room, task, kept, &id, Strength::Playouts(GLANCE)),
            Job::Analyse { id } => self.think(&room, task, kept, &id, Strength::Seconds(f32::INFINITY)),
        };
        match advanced {
            Ok(step) => step,
            Err(problem) => {
                self.fail(task, problem);
                Step::Over
            }
        }
    }

    /// Plays a player's move and asks for what comes next.
    fn play(&self, room: &Arc<Room>, inside: &mut Inside, answer: Answer) {
        if let Some(wdl) = answer.wdl {
            inside.note_view(wdl, answer.playouts);
        }
        let problem = inside.play(answer.mv).err();
        inside.finish(problem);
        self.update(room, inside);
    }

    /// A slice of whatever the player does to find a move.
    fn think(
        &self,
        room: &Arc<Room>,
        task: &mut Task,
        kept: &mut ThreadState,
        id: &PlayerId,
        strength: Strength,
    ) -> Result<Step, String> {
        match id {
            PlayerId::Model(key) => self.search(room, task, kept, key, strength),
            PlayerId::Random => self.ask(room, task, &mut RandomPlayer),
            PlayerId::AlphaBeta(depth) => self.ask(room, task, &mut AlphaBeta::new(*depth)),
            PlayerId::Named => self.ask_named(room, task),
        }
    }

    /// A move of a player without a network, which cannot be interrupted.
    fn ask(&self, room: &Arc<Room>, task: &mut Task, player: &mut dyn Player) -> Result<Step, String> {
        let choice = player.choose(&task.played, &mut task.rng(self.seed, 0)).map_err(|error| error.to_string())?;
        self.answered(room, task, Answer { mv: choice.mv, wdl: choice.wdl, playouts: choice.playouts })
    }

    /// A look whether the opponent of the command line has found its move, after it was asked.
    fn ask_named(&self, room: &Arc<Room>, task: &mut Task) -> Result<Step, String> {
        let asked = match &task.asked {
            Some(asked) => asked,
            None => {
                let question = Question { game: task.game, played: task.played.clone(), rng: task.rng(self.seed, 0) };
                let (room, number) = (Arc::downgrade(room), task.ticket.number);
                let wanted = move || room.upgrade().is_some_and(|room| room.enter().wants(number));
                let named = self.models.named().ok_or("nobody was named on the command line")?;
                task.asked.insert(named.ask(question, wanted).map_err(|error| error.to_string())?)
            }
        };
        match asked.try_recv() {
            Ok(choice) => {
                let choice = choice?;
                self.answered(room, task, Answer { mv: choice.mv, wdl: choice.wdl, playouts: choice.playouts })
            }
            Err(TryRecvError::Empty) => Ok(Step::Wait(Instant::now() + REST)),
            Err(TryRecvError::Disconnected) => Err("the opponent broke off by a fault of the program".to_owned()),
        }
    }

    /// A slice of a search.
    fn search(
        &self,
        room: &Arc<Room>,
        task: &mut Task,
        kept: &mut ThreadState,
        key: &str,
        strength: Strength,
    ) -> Result<Step, String> {
        if task.run.is_none() {
            let place = self.place().or_else(|| {
                self.make_place(task.is_urgent());
                self.place()
            });
            let Some(place) = place else { return Ok(Step::Wait(Instant::now() + REST)) };
            task.run = Some(self.begin(task, kept, key, strength, place)?);
        }
        let Some(run) = &mut task.run else { return Ok(Step::Over) };
        let (evaluator, scratch) = self.evaluator(kept, key, &run.network)?;
        let slice_ends = Instant::now() + SLICE;
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
            let now = Instant::now();
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
    fn place(&self) -> Option<Place> {
        let take = |count: usize| (count < SEARCHES).then_some(count + 1);
        self.searching.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        Some(Place(self.searching.clone()))
    }

    /// Ends the longest analysis so that its memory becomes free: for a move or a hint any, for other work one that has
    /// had its turn. Its room keeps what was found.
    fn make_place(&self, urgent: bool) {
        let long = |task: &Task| {
            let analyses = task.run.is_some() && matches!(task.ticket.job, Job::Analyse { .. });
            (analyses && (urgent || task.begun.elapsed() >= TURN)).then_some(task.begun)
        };
        let Some(mut task) = self.queue.take_least(long) else { return };
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
        kept: &mut ThreadState,
        key: &str,
        strength: Strength,
        place: Place,
    ) -> Result<Run, String> {
        let network = self.models.resolve(key)?;
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
            let (evaluator, scratch) = self.evaluator(kept, key, &network)?;
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

    /// This thread's evaluator of a network, and the memory for its answers.
    fn evaluator<'a>(
        &self,
        kept: &'a mut ThreadState,
        key: &str,
        network: &str,
    ) -> Result<(&'a mut dyn Evaluator, &'a mut Evaluations), String> {
        if !kept.ready.contains_key(network) {
            let made = self.models.factory(key)?();
            if kept.ready.len() >= READY {
                kept.ready.clear();
            }
            kept.ready.insert(network.to_owned(), made);
        }
        let evaluator = kept.ready.get_mut(network).ok_or_else(|| format!("the model {key:?} is gone"))?;
        Ok((evaluator.as_mut(), &mut kept.scratch))
    }

    /// Shows a room how its search stands.
    fn show(&self, room: &Arc<Room>, task: &Task, found: &SearchReport, root: Option<&Evaluation>, finished: bool) {
        let kind = match task.ticket.job {
            Job::Move { .. } => "move",
            Job::Hint { .. } => "hint",
            Job::Glance { .. } => "glance",
            Job::Analyse { .. } => "analysis",
        };
        let seconds = task.begun.elapsed().as_secs_f32();
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
        room.ring();
    }

    /// What follows from a finished search.
    fn conclude(
        &self,
        room: &Arc<Room>,
        task: &mut Task,
        found: &SearchReport,
        strength: Strength,
    ) -> Result<Step, String> {
        let mut rng = task.rng(self.seed, 1);
        let (mv, wdl, playouts) = (strength.choose(found, &mut rng), Some(found.wdl), found.playouts.max(1));
        self.answered(room, task, Answer { mv, wdl, playouts })
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
                inside.hint = Some(super::room::Hint { stamp: task.ticket.stamp, mv: answer.mv });
            }
            inside.finish(None);
            self.update(room, &mut inside);
        }
        Ok(Step::Over)
    }
}
