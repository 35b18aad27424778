//! Analyses positions asked for by lines of JSON: many at once on all threads, answered in any order.
//!
//! The input is not trusted, so no line ends the process: an invalid one gets an answer with an `error`. A thread
//! advances several searches side by side and evaluates their leaves together. Each search has one leaf at a time, so
//! the answer to a question does not depend on the others. `docs/ANALYSE.md` describes questions and answers.

mod answer;
mod games;
mod question;
mod queue;

use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};

use hnefi_engine::{MoveList, Position};
use hnefi_inference::{EvalRequest, Evaluations, Evaluator};
use hnefi_record::BadLine;
use hnefi_search::{LeafId, Search, SearchConfig, Selection};

use self::answer::{Answer, Found};
pub use self::games::{PositionProgress, relabel, review};
use self::question::InputLine;
pub use self::question::MOST_PLAYOUTS;
use self::queue::{Queue, Task};
use crate::{BoundedLines, DataError, write_line};

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

/// Makes the evaluator of a thread.
type MakeEvaluator<'a> = &'a (dyn Fn() -> Box<dyn Evaluator> + Sync);

/// Takes in that a position was searched, or is not to be: its game is over, or it was cancelled. Its last value says
/// that no other answer follows for it.
type Receiver<'a> = &'a (dyn Fn(&Task, &Position, Option<&Found<'_>>, bool) -> Result<(), DataError> + Sync);

/// A line of the input; `None` once there are no more, or none are wanted.
type NextLine = Option<Result<String, BadLine>>;

/// Answers every line of `input` by lines on `output`, each flushed at once, until the input has ended and all is
/// answered.
///
/// # Errors
/// When a stream or an evaluator fails, even if the input stays open without a further line: a thread of its own reads
/// it, and outlasts the call until it has the next line. Invalid lines are answered.
pub fn analyse(
    input: impl BufRead + Send + 'static,
    output: impl Write + Send,
    make_evaluator: &(dyn Fn() -> Box<dyn Evaluator> + Sync),
    params: &AnalyseParams,
) -> Result<AnalyseSummary, DataError> {
    let (queue, output, positions) = (Queue::default(), Mutex::new(output), AtomicU64::new(0));
    let give = |answer: &Answer<'_>| write_line(&mut *lock(&output), answer, "answering a question");
    let receive = |task: &Task, position: &Position, found: Option<&Found<'_>>, last: bool| {
        give(&Answer::of(&task.question, task.ply, position, found, last))?;
        positions.fetch_add(last.into(), Ordering::Relaxed);
        Ok(())
    };
    let (sender, lines) = mpsc::sync_channel(1);
    let end = sender.clone();
    std::thread::spawn(move || {
        // Nobody receives once the work has ended.
        let _ = BoundedLines::new(input, LONGEST_LINE).map(Some).chain([None]).try_for_each(|line| sender.send(line));
    });
    // Where there is no room for it, a line comes that wakes the reader as well.
    let wake = || drop(end.try_send(None));
    let ask = || read(&lines, &queue, params.playouts, give);
    let errors = work(&queue, &receive, make_evaluator, params, &wake, ask)?;
    Ok(AnalyseSummary { positions: positions.into_inner(), errors })
}

/// Answers the questions that `ask` puts into the queue, on all threads, and returns what `ask` does. Calls `wake` when
/// an error has ended the queue, for an `ask` that waits for something else.
fn work<T>(
    queue: &Queue,
    receive: Receiver<'_>,
    make_evaluator: MakeEvaluator<'_>,
    params: &AnalyseParams,
    wake: &(dyn Fn() + Sync),
    ask: impl FnOnce() -> Result<T, DataError>,
) -> Result<T, DataError> {
    // The first error that ends the work.
    let failed = Mutex::new(None);
    let asked = std::thread::scope(|scope| {
        for _ in 0..params.threads.max(1) {
            scope.spawn(|| {
                let (evaluator, evaluations) = (make_evaluator(), Evaluations::new());
                let (running, idle) = (Vec::new(), Vec::new());
                let mut worker = Worker { evaluator, params, receive, running, idle, evaluations };
                if let Err(error) = worker.work(queue) {
                    lock(&failed).get_or_insert(error);
                    queue.end();
                    wake();
                }
            });
        }
        let asked = ask();
        queue.close();
        asked
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(asked, Err)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts the questions of all lines into the queue, and returns the number of lines that are none.
fn read(
    lines: &mpsc::Receiver<NextLine>,
    queue: &Queue,
    playouts: u32,
    give: impl Fn(&Answer<'_>) -> Result<(), DataError>,
) -> Result<u64, DataError> {
    let mut errors = 0;
    while let Ok(Some(line)) = lines.recv() {
        if queue.is_closed() {
            break;
        }
        let line = match line {
            Ok(text) if text.trim().is_empty() => continue,
            Ok(text) => InputLine::read(&text, playouts),
            Err(BadLine::Unreadable(source)) => return Err(DataError::Stream { doing: "reading questions", source }),
            Err(problem) => Err((None, problem.to_string())),
        };
        match line {
            Ok(InputLine::Question(question)) => queue.ask(question),
            Ok(InputLine::Cancel(id)) => queue.cancel(&id),
            Err((id, error)) => {
                errors += 1;
                give(&Answer::Error { id: id.as_deref(), error })?;
            }
        }
    }
    Ok(errors)
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
    receive: Receiver<'a>,
    running: Vec<Running>,
    /// Searches to be used again.
    idle: Vec<Search>,
    evaluations: Evaluations,
}

impl Worker<'_> {
    /// Answers questions until there are no more.
    fn work(&mut self, queue: &Queue) -> Result<(), DataError> {
        loop {
            let room = SEARCHES - self.running.len();
            let Some(tasks) = queue.take(room, self.params.threads, self.running.is_empty()) else { return Ok(()) };
            tasks.into_iter().try_for_each(|task| self.begin(task))?;
            self.advance()?;
        }
    }

    /// Begins the search of a task, or answers it where there is nothing to search.
    fn begin(&mut self, task: Task) -> Result<(), DataError> {
        let question = &task.question;
        let position = question.position(task.ply);
        if question.is_cancelled() || position.outcome().is_some() {
            return (self.receive)(&task, &position, None, true);
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
    fn advance(&mut self) -> Result<(), DataError> {
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
                    (self.receive)(&task, &position, Some(&found), true)?;
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
                (self.receive)(task, position, Some(&found), false)?;
            }
        }
        Ok(())
    }
}

/// The next leaf to evaluate; `None` when the search is over.
pub(crate) fn next_leaf(search: &mut Search) -> Option<LeafId> {
    loop {
        match search.select_leaf() {
            Selection::Leaf(leaf) => return Some(leaf),
            Selection::Settled => {}
            Selection::Finished | Selection::Blocked => return None,
        }
    }
}
