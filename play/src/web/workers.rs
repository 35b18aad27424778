//! The searches: a fixed number of threads that share all work in short slices.
//!
//! Work waits in one queue. A thread takes the first, searches for a slice of time, shows what was found and puts the rest at
//! the end of the queue; so nobody waits long, however many searches run. A search begins only while few enough hold memory,
//! and ends as soon as its room no longer wants it.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use hnefi_engine::{BoardSize, Move, MoveList, Position};
use hnefi_models::{EvalRequest, Evaluation, Evaluations, Evaluator, Wdl};
use hnefi_selfplay::players::{AlphaBeta, Player, RandomPlayer};
use hnefi_selfplay::rng_for;
use hnefi_selfplay::search::{Search, SearchConfig, SearchReport, Selection};

use super::models::{Models, PlayerId};
use super::report::{Progress, Report};
use super::room::{Inside, Room, Ticket, Wish};
use super::strength::Strength;

/// How long a thread stays with one search.
const SLICE: Duration = Duration::from_millis(100);

/// How long a thread rests when all it has is work that must wait.
const REST: Duration = Duration::from_millis(15);

/// Searches that hold memory at once.
const SEARCHES: usize = 8;

/// Playouts of a short look and of a hint.
const GLANCE: u32 = 48;
const HINT: u32 = 400;

/// Networks a thread keeps ready.
const READY: usize = 4;

/// The most nodes of one search, some 100 to 150 MB at most.
fn most_nodes(size: BoardSize) -> u32 {
    match size {
        BoardSize::Seven => 200_000,
        BoardSize::Nine => 120_000,
        BoardSize::Eleven => 70_000,
    }
}

/// The threads and their queue.
pub(super) struct Workers {
    shared: Arc<Shared>,
}

struct Shared {
    models: Arc<Models>,
    queue: Mutex<VecDeque<Task>>,
    bell: Condvar,
    searching: Arc<AtomicUsize>,
    seed: u64,
}

/// A piece of work and how far it has come.
struct Task {
    room: Weak<Room>,
    ticket: Ticket,
    position: Position,
    begun: Instant,
    /// A move is shown no earlier.
    earliest: Instant,
    run: Option<Run>,
    answer: Option<Answer>,
}

/// A search under way.
struct Run {
    search: Search,
    /// Identity of its network.
    network: String,
    root: Option<Evaluation>,
    _place: Place,
}

/// One of the places for searches that hold memory.
struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A player's move.
#[derive(Clone, Copy)]
struct Answer {
    mv: Move,
    wdl: Option<Wdl>,
    playouts: u32,
}

/// What becomes of a task after a slice.
enum Step {
    Again,
    Rest,
    Over,
}

/// What a thread keeps between slices.
struct Bench {
    ready: HashMap<String, Box<dyn Evaluator>>,
    scratch: Evaluations,
}

impl Workers {
    /// Starts so many threads; they run as long as the process.
    pub(super) fn start(models: Arc<Models>, threads: usize, seed: u64) -> Workers {
        let shared = Arc::new(Shared {
            models,
            queue: Mutex::new(VecDeque::new()),
            bell: Condvar::new(),
            searching: Arc::new(AtomicUsize::new(0)),
            seed,
        });
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
                position: inside.game.position().clone(),
                begun: now,
                earliest: now + inside.pace(),
                run: None,
                answer: None,
            };
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            // What the room wanted before it wants no longer, so the queue is never longer than the list of rooms.
            queue.retain(|waiting| !waiting.room.ptr_eq(&task.room));
            queue.push_back(task);
            drop(queue);
            self.bell.notify_one();
        }
        room.ring();
    }

    /// A thread's life.
    fn work(&self) {
        let mut bench = Bench { ready: HashMap::new(), scratch: Evaluations::new() };
        loop {
            let mut task = self.take();
            let step = catch_unwind(AssertUnwindSafe(|| self.slice(&mut task, &mut bench)));
            match step {
                Ok(Step::Over) => {}
                Ok(Step::Again) => self.put_back(task),
                Ok(Step::Rest) => {
                    self.put_back(task);
                    std::thread::sleep(REST);
                }
                Err(_) => {
                    // Whatever broke may have left the scratch memory in disorder.
                    bench = Bench { ready: HashMap::new(), scratch: Evaluations::new() };
                    self.fail(&task, "the search broke off by a fault of the program".to_owned());
                }
            }
        }
    }

    fn take(&self) -> Task {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match queue.pop_front() {
                Some(task) => return task,
                None => queue = self.bell.wait(queue).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn put_back(&self, task: Task) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.push_back(task);
        drop(queue);
        self.bell.notify_one();
    }

    fn fail(&self, task: &Task, problem: String) {
        let Some(room) = task.room.upgrade() else { return };
        let mut inside = room.enter();
        if inside.wants(task.ticket.number) {
            inside.finish(Some(problem));
            self.update(&room, &mut inside);
        }
    }

    fn slice(&self, task: &mut Task, bench: &mut Bench) -> Step {
        let Some(room) = task.room.upgrade() else { return Step::Over };
        let mut inside = room.enter();
        if !inside.wants(task.ticket.number) {
            return Step::Over;
        }
        let idle = matches!(task.ticket.wish, Wish::Analyse { .. } | Wish::Glance { .. });
        if idle && !room.is_watched() {
            inside.ticket = None;
            return Step::Over;
        }
        if let Some(answer) = task.answer {
            return if Instant::now() < task.earliest {
                Step::Rest
            } else {
                self.play(&room, &mut inside, answer);
                Step::Over
            };
        }
        drop(inside);
        let advanced = match task.ticket.wish.clone() {
            Wish::Move { id, strength } => self.think(&room, task, bench, &id, strength),
            Wish::Hint { id } => self.think(&room, task, bench, &id, Strength::Playouts(HINT)),
            Wish::Glance { id } => self.think(&room, task, bench, &id, Strength::Playouts(GLANCE)),
            Wish::Analyse { id } => self.think(&room, task, bench, &id, Strength::Seconds(f32::INFINITY)),
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
        bench: &mut Bench,
        id: &PlayerId,
        strength: Strength,
    ) -> Result<Step, String> {
        match id {
            PlayerId::Model(key) => self.search(room, task, bench, key, strength),
            PlayerId::Random | PlayerId::AlphaBeta(_) => self.ask(room, task, id),
        }
    }

    /// A move of a player without a network, which cannot be interrupted.
    fn ask(&self, room: &Arc<Room>, task: &mut Task, id: &PlayerId) -> Result<Step, String> {
        let mut player: Box<dyn Player> = match id {
            PlayerId::Random => Box::new(RandomPlayer),
            PlayerId::AlphaBeta(depth) => Box::new(AlphaBeta::new(*depth)),
            PlayerId::Model(key) => return Err(format!("the model {key:?} does not play without a search")),
        };
        let mut rng = rng_for(&[self.seed, task.ticket.number, u64::from(task.position.ply())]);
        let choice = player.choose(&task.position, &mut rng).map_err(|error| error.to_string())?;
        self.answered(room, task, Answer { mv: choice.mv, wdl: choice.wdl, playouts: choice.playouts })
    }

    /// A slice of a search.
    fn search(
        &self,
        room: &Arc<Room>,
        task: &mut Task,
        bench: &mut Bench,
        key: &str,
        strength: Strength,
    ) -> Result<Step, String> {
        if task.run.is_none() {
            let Some(place) = self.place() else { return Ok(Step::Rest) };
            task.run = Some(self.begin(task, bench, key, strength, place)?);
        }
        let Some(run) = &mut task.run else { return Ok(Step::Over) };
        let (evaluator, scratch) = self.evaluator(bench, key, &run.network)?;
        let slice_ends = Instant::now() + SLICE;
        let deadline = strength.time().map(|time| task.begun + time);
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

    fn begin(
        &self,
        task: &Task,
        bench: &mut Bench,
        key: &str,
        strength: Strength,
        place: Place,
    ) -> Result<Run, String> {
        let network = self.models.resolve(key)?;
        let most = most_nodes(task.position.size());
        let playouts = strength.playouts().unwrap_or(u32::MAX / 2);
        let root = strength.root();
        let max_nodes = most.min(playouts.saturating_add(2)).max(2);
        let mut search = Search::new(SearchConfig { root, max_nodes, ..SearchConfig::default() });
        search.begin(&task.position, playouts, None);
        // The occupancy is asked of the root alone, once.
        let wanted = matches!(task.ticket.wish, Wish::Analyse { .. });
        let evaluation = if wanted {
            let (evaluator, scratch) = self.evaluator(bench, key, &network)?;
            let mut moves = MoveList::new();
            task.position.legal_moves(&mut moves);
            let request = EvalRequest { position: &task.position, moves: &moves, auxiliary: true };
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
        bench: &'a mut Bench,
        key: &str,
        network: &str,
    ) -> Result<(&'a mut dyn Evaluator, &'a mut Evaluations), String> {
        if !bench.ready.contains_key(network) {
            let made = self.models.factory(key)?();
            if bench.ready.len() >= READY {
                bench.ready.clear();
            }
            bench.ready.insert(network.to_owned(), made);
        }
        let evaluator = bench.ready.get_mut(network).ok_or_else(|| format!("the model {key:?} is gone"))?;
        Ok((evaluator.as_mut(), &mut bench.scratch))
    }

    /// Shows a room how its search stands.
    fn show(&self, room: &Arc<Room>, task: &Task, found: &SearchReport, root: Option<&Evaluation>, finished: bool) {
        let kind = match task.ticket.wish {
            Wish::Move { .. } => "move",
            Wish::Hint { .. } => "hint",
            Wish::Glance { .. } => "glance",
            Wish::Analyse { .. } => "analysis",
        };
        let seconds = task.begun.elapsed().as_secs_f32();
        let progress = Progress { stamp: task.ticket.stamp, kind, finished, seconds, root };
        let report = Report::new(&task.position, found, &progress);
        let mut inside = room.enter();
        if !inside.wants(task.ticket.number) {
            return;
        }
        if !matches!(task.ticket.wish, Wish::Move { .. }) {
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
        let mut rng = rng_for(&[self.seed, task.ticket.number, u64::from(task.position.ply()), 1]);
        let (mv, wdl, playouts) = (strength.choose(found, &mut rng), Some(found.wdl), found.playouts.max(1));
        self.answered(room, task, Answer { mv, wdl, playouts })
    }

    /// Takes in a player's answer: a move waits for its time, advice is shown at once.
    fn answered(&self, room: &Arc<Room>, task: &mut Task, answer: Answer) -> Result<Step, String> {
        if matches!(task.ticket.wish, Wish::Move { .. }) {
            task.answer = Some(answer);
            return Ok(Step::Again);
        }
        let mut inside = room.enter();
        if inside.wants(task.ticket.number) {
            if let Some(wdl) = answer.wdl {
                inside.note_view(wdl, answer.playouts);
            }
            if matches!(task.ticket.wish, Wish::Hint { .. }) {
                inside.hint = Some(super::room::Hint { stamp: task.ticket.stamp, mv: answer.mv });
            }
            inside.finish(None);
            self.update(room, &mut inside);
        }
        Ok(Step::Over)
    }
}
