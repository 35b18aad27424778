//! Analyses positions asked for by lines of JSON: many at once on all threads, answered in any order.
//!
//! The input is not trusted, so no line ends the process: an invalid one gets an answer with an `error`. A thread
//! advances several searches side by side and evaluates their leaves together. Each search has one leaf at a time, so
//! the answer to a question does not depend on the others. `docs/ANALYSE.md` describes questions and answers.

mod answer;
mod question;
mod queue;
mod relabel;
mod review;

use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hnefi_engine::{MoveList, Position};
use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator};
use hnefi_search::{LeafId, Search, SearchConfig, SearchReport, Selection};

use self::answer::{Answer, Found};
use self::question::{InputLine, Question};
use self::queue::{Queue, Task};
pub use self::relabel::relabel;
pub use self::review::review;
use crate::{BoundedLines, DataError};

/// The longest line in bytes.
const LONGEST_LINE: usize = 4 << 20;

/// Searches that a thread advances side by side.
const SEARCHES: usize = 32;

/// Parameters of an analysis.
#[derive(Clone, Debug, PartialEq)]
pub struct AnalyseParams {
    /// Playouts of a question that names none.
    pub playouts: u32,
    /// The search's configuration.
    pub search: SearchConfig,
    /// Number of threads.
    pub threads: usize,
}

/// Counts of a whole stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnalyseSummary {
    /// Positions answered to the end.
    pub positions: u64,
    /// Lines answered by an error.
    pub errors: u64,
}

/// Answers every line of `input` by lines on `output`, each flushed at once, until the input has ended and all is
/// answered.
///
/// # Errors
/// When a stream or an evaluator fails. Invalid lines are answered.
pub fn analyse(
    input: impl BufRead,
    output: impl Write + Send,
    make_evaluator: &(dyn Fn() -> Box<dyn Evaluator> + Sync),
    params: &AnalyseParams,
) -> Result<AnalyseSummary, DataError> {
    let queue = Queue::default();
    let answers = Answers { output: Mutex::new(output), positions: AtomicU64::new(0), failed: Mutex::new(None) };
    let errors = work(&queue, &answers, make_evaluator, params, || read(input, &queue, &answers, params.playouts));
    let Answers { positions, failed, .. } = answers;
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(AnalyseSummary { positions: positions.into_inner(), errors: errors? }),
    }
}

/// Answers the questions that `ask` puts into the queue, on all threads, and returns what `ask` does.
fn work<T>(
    queue: &Queue,
    answers: &impl Receiver,
    make_evaluator: &(dyn Fn() -> Box<dyn Evaluator> + Sync),
    params: &AnalyseParams,
    ask: impl FnOnce() -> T,
) -> T {
    std::thread::scope(|scope| {
        for _ in 0..params.threads.max(1) {
            scope.spawn(|| {
                let mut worker = Worker::new(make_evaluator(), params);
                if let Err(error) = worker.work(queue, answers) {
                    answers.fail(error.into());
                    queue.close();
                }
            });
        }
        let asked = ask();
        queue.close();
        asked
    })
}

/// What takes in the answers.
trait Receiver: Sync {
    /// A position was searched, or is not to be: its game is over, or it was cancelled. `last`: no other answer
    /// follows for it.
    fn answer(&self, task: &Task, position: &Position, found: Option<&Found<'_>>, last: bool);
    /// Notes an error that ends the work.
    fn fail(&self, error: DataError);
    /// Whether the work is to end.
    fn has_failed(&self) -> bool;
}

/// Puts the questions of all lines into the queue, and returns the number of lines that are none.
fn read<W: Write + Send>(
    input: impl BufRead,
    queue: &Queue,
    answers: &Answers<W>,
    playouts: u32,
) -> Result<u64, DataError> {
    let (mut lines, mut errors) = (BoundedLines::new(input, LONGEST_LINE), 0);
    let failed = |source| DataError::Stream { doing: "reading questions", source };
    while let Some(line) = lines.read().map_err(failed)? {
        if queue.is_closed() {
            break;
        }
        let line = match line {
            Ok(text) if text.trim().is_empty() => continue,
            Ok(text) => InputLine::read(&text, playouts),
            Err(problem) => Err((None, problem)),
        };
        match line {
            Ok(InputLine::Question(question)) => queue.ask(question),
            Ok(InputLine::Cancel(id)) => queue.cancel(&id),
            Err((id, problem)) => {
                errors += 1;
                answers.give(&Answer::error(id.as_deref(), problem));
            }
        }
    }
    Ok(errors)
}

/// Where answers go.
struct Answers<W> {
    output: Mutex<W>,
    positions: AtomicU64,
    /// The first error that ends the work.
    failed: Mutex<Option<DataError>>,
}

impl<W: Write + Send> Answers<W> {
    fn give(&self, answer: &Answer<'_>) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let written = serde_json::to_writer(&mut *output, answer)
            .map_err(std::io::Error::from)
            .and_then(|()| output.write_all(b"\n"))
            .and_then(|()| output.flush());
        drop(output);
        if let Err(source) = written {
            self.fail(DataError::Stream { doing: "answering a question", source });
        } else if answer.is_complete() {
            self.positions.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl<W: Write + Send> Receiver for Answers<W> {
    fn answer(&self, task: &Task, position: &Position, found: Option<&Found<'_>>, last: bool) {
        self.give(&Answer::of(&task.question, task.ply, position, found, last));
    }

    fn fail(&self, error: DataError) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    fn has_failed(&self) -> bool {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// Called with the number of positions searched and the number of all; returns whether to go on.
pub type PositionProgress<'a> = &'a (dyn Fn(usize, usize) -> bool + Sync);

/// Searches for games, whose places are the ids of the questions, and hands each report to `take` with its game and
/// its ply. `None`: `progress` stopped it.
fn search_games<G: Send>(
    games: Vec<G>,
    questions: Vec<Question>,
    take: fn(&mut G, usize, &SearchReport),
    make_evaluator: &(dyn Fn() -> Box<dyn Evaluator> + Sync),
    params: &AnalyseParams,
    progress: PositionProgress<'_>,
) -> Result<Option<Vec<G>>, DataError> {
    let total = questions.iter().map(|question| question.plies.len()).sum();
    let state = Mutex::new(Searched { games, done: 0, stopped: false, failed: None });
    let (queue, searches) = (Queue::default(), Searches { state, total, take, progress });
    work(&queue, &searches, make_evaluator, params, || {
        questions.into_iter().for_each(|question| queue.ask(Arc::new(question)));
    });
    let Searched { games, stopped, failed, .. } = searches.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match failed {
        Some(error) => Err(error),
        None => Ok((!stopped).then_some(games)),
    }
}

/// The searches for games under way.
struct Searches<'a, G> {
    state: Mutex<Searched<G>>,
    total: usize,
    take: fn(&mut G, usize, &SearchReport),
    progress: PositionProgress<'a>,
}

struct Searched<G> {
    games: Vec<G>,
    done: usize,
    stopped: bool,
    /// The first error that ends the work.
    failed: Option<DataError>,
}

impl<G> Searches<'_, G> {
    fn lock(&self) -> MutexGuard<'_, Searched<G>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<G: Send> Receiver for Searches<'_, G> {
    fn answer(&self, task: &Task, _: &Position, found: Option<&Found<'_>>, _: bool) {
        let mut state = self.lock();
        let game = task.question.id.parse::<usize>().ok().and_then(|place| state.games.get_mut(place));
        if let Some((game, found)) = game.zip(found) {
            (self.take)(game, task.ply, &found.report);
        }
        state.done += 1;
        state.stopped |= !(self.progress)(state.done, self.total);
    }

    fn fail(&self, error: DataError) {
        self.lock().failed.get_or_insert(error);
    }

    fn has_failed(&self) -> bool {
        let state = self.lock();
        state.stopped || state.failed.is_some()
    }
}

/// A search for one position of a question.
struct Running {
    task: Task,
    position: Position,
    search: Search,
    /// Playouts at which the next partial answer is due.
    due: u32,
    occupancy: Option<Vec<[f32; 4]>>,
}

/// One thread of the analysis.
struct Worker<'a> {
    evaluator: Box<dyn Evaluator>,
    params: &'a AnalyseParams,
    running: Vec<Running>,
    /// Searches to be used again.
    idle: Vec<Search>,
    evaluations: Evaluations,
}

impl<'a> Worker<'a> {
    fn new(evaluator: Box<dyn Evaluator>, params: &'a AnalyseParams) -> Worker<'a> {
        Worker { evaluator, params, running: Vec::new(), idle: Vec::new(), evaluations: Evaluations::new() }
    }

    /// Answers questions until there are no more.
    fn work(&mut self, queue: &Queue, answers: &impl Receiver) -> Result<(), EvalError> {
        loop {
            if answers.has_failed() {
                queue.close();
                return Ok(());
            }
            let room = SEARCHES - self.running.len();
            let Some(tasks) = queue.take(room, self.params.threads, self.running.is_empty()) else { return Ok(()) };
            for task in tasks {
                self.begin(task, answers)?;
            }
            self.advance(answers)?;
        }
    }

    /// Begins the search of a task, or answers it where there is nothing to search.
    fn begin(&mut self, task: Task, answers: &impl Receiver) -> Result<(), EvalError> {
        let question = &task.question;
        let position = question.position(task.ply);
        if question.is_cancelled() || position.outcome().is_some() {
            answers.answer(&task, &position, None, true);
            return Ok(());
        }
        let occupancy = if question.occupancy {
            let mut moves = MoveList::new();
            position.legal_moves(&mut moves);
            let request =
                EvalRequest { position: &position, moves: &moves, handicap: question.handicap, auxiliary: true };
            self.evaluator.evaluate(&[request], &mut self.evaluations)?;
            self.evaluations.get(0).occupancy.clone()
        } else {
            None
        };
        let mut search = self.idle.pop().unwrap_or_else(|| Search::new(self.params.search.clone()));
        search.set_handicap(question.handicap);
        search.begin(&position, question.playouts, None);
        self.running.push(Running { due: question.every.unwrap_or(u32::MAX), task, position, search, occupancy });
        Ok(())
    }

    /// Evaluates a leaf of every search, and answers those that are over.
    fn advance(&mut self, answers: &impl Receiver) -> Result<(), EvalError> {
        let (mut leaves, mut place): (Vec<(usize, LeafId)>, usize) = (Vec::new(), 0);
        while place < self.running.len() {
            let running = &mut self.running[place];
            let leaf = if running.task.question.is_cancelled() { None } else { next_leaf(&mut running.search) };
            match leaf {
                Some(leaf) => {
                    leaves.push((place, leaf));
                    place += 1;
                }
                None => {
                    // The one that takes its place has not been asked for a leaf yet.
                    let Running { task, position, search, occupancy, .. } = self.running.swap_remove(place);
                    let found = Found { report: search.report(), search: &search, occupancy: occupancy.as_deref() };
                    answers.answer(&task, &position, Some(&found), true);
                    self.idle.push(search);
                }
            }
        }
        let requests: Vec<_> = leaves.iter().map(|&(place, leaf)| self.running[place].search.request(leaf)).collect();
        if requests.is_empty() {
            return Ok(());
        }
        self.evaluator.evaluate(&requests, &mut self.evaluations)?;
        for (number, &(place, leaf)) in leaves.iter().enumerate() {
            let Running { task, position, search, due, occupancy } = &mut self.running[place];
            search.expand(leaf, self.evaluations.get(number), self.evaluations.priors(number));
            let Some(every) = task.question.every else { continue };
            let report = search.report();
            if report.playouts >= *due && report.playouts < task.question.playouts {
                *due = report.playouts + every;
                let found = Found { report, search, occupancy: occupancy.as_deref() };
                answers.answer(task, position, Some(&found), false);
            }
        }
        Ok(())
    }
}

/// The next leaf to evaluate; `None` when the search is over.
fn next_leaf(search: &mut Search) -> Option<LeafId> {
    loop {
        match search.select_leaf() {
            Selection::Leaf(leaf) => return Some(leaf),
            Selection::Settled => {}
            Selection::Finished | Selection::Blocked => return None,
        }
    }
}
