//! One search on several threads without a network: what the tree and its lock allow.
//!
//! An evaluation is a hash of the position, at once or after a pause. With pauses there may be more threads than
//! processors, as with networks on a GPU.

use std::time::{Duration, Instant};

use hnefi_engine::{BoardSize, Position};
use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator, HashEvaluator};
use hnefi_search::{RootKind, Search, SearchConfig, Signal, search_on_threads};

use super::measure::{Effort, median};
use super::{Figure, Report, preset};
use crate::cli::Stage;

/// The pauses in microseconds.
const PAUSES: [u64; 2] = [0, 200];

/// Time between two looks at the tree's lock.
const LOOK: Duration = Duration::from_micros(200);

/// Some hundred bytes each. More than a search of some seconds makes.
const NODES: u32 = 2_000_000;

/// Answers by a hash of the position after a pause.
struct Pausing(HashEvaluator, Duration);

impl Evaluator for Pausing {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], answers: &mut Evaluations) -> Result<(), EvalError> {
        if !self.1.is_zero() {
            std::thread::sleep(self.1);
        }
        self.0.evaluate(requests, answers)
    }
}

/// Measures on the smallest and the largest board.
pub(super) fn run(effort: Effort, report: &mut Report) -> anyhow::Result<()> {
    for size in [BoardSize::SEVEN, BoardSize::ELEVEN] {
        for pause in PAUSES {
            // All numbers of threads in turns, so that they see the same load of the machine.
            let mut found = vec![(Vec::new(), Vec::new()); effort.thread_counts().count()];
            for _ in 0..effort.repeats {
                for (threads, (rates, locked)) in effort.thread_counts().zip(&mut found) {
                    let (rate, share) = search(effort.seconds, size, threads, pause)?;
                    rates.push(rate);
                    locked.push(share);
                }
            }
            for (threads, (rates, locked)) in effort.thread_counts().zip(found) {
                for (name, value, unit) in
                    [("playouts", median(rates), "playouts/s"), ("tree locked", 100.0 * median(locked), "%")]
                {
                    let name = format!("{name}, evaluation {pause} us");
                    report.add(Figure::new(Stage::Search, &name, size, threads, value, unit))?;
                }
            }
        }
    }
    Ok(())
}

/// Playouts per second, and the share of looks that found the tree locked.
fn search(seconds: f64, size: BoardSize, threads: usize, pause: u64) -> Result<(f64, f64), EvalError> {
    let config = SearchConfig { root: RootKind::Puct, max_nodes: NODES, ..SearchConfig::default() };
    let mut search = Search::new(config);
    search.begin(&Position::start(&preset(size).rules()), u32::MAX, None);
    let evaluator = || Box::new(Pausing(HashEvaluator::new(1), Duration::from_micros(pause))) as Box<dyn Evaluator>;
    let mut evaluators: Vec<_> = (0..threads).map(|_| evaluator()).collect();
    let (began, end) = (Instant::now(), Instant::now() + Duration::from_secs_f64(seconds));
    let ((elapsed, locked), ended) = search_on_threads(&mut search, &mut evaluators, &Signal::default(), |searching| {
        let (mut looks, mut locked) = (0, 0);
        // On a busy machine a short time may pass without a playout.
        let none_yet = || searching.with_search(|search| search.report().playouts == 0);
        while !searching.is_over() && (Instant::now() < end || none_yet()) {
            std::thread::sleep(LOOK);
            looks += 1;
            locked += u32::from(searching.is_locked());
        }
        (began.elapsed(), f64::from(locked) / f64::from(looks.max(1)))
    });
    ended?;
    Ok((f64::from(search.report().playouts) / elapsed.as_secs_f64(), locked))
}
