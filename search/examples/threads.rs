//! Playouts per second of one search on 1 to N threads, with an evaluator that costs nothing or takes a fixed time.
//!
//! ```sh
//! cargo run --release -p hnefi-search --example threads -- 16 200 2
//! ```
//!
//! The arguments are the most threads, the microseconds of an evaluation (0 for none), and the seconds for each number
//! of threads. A thread sleeps through its evaluation, so the tree's lock can be tried with more threads than there are
//! processors.

use std::time::{Duration, Instant};

use hnefi_engine::{Position, Preset};
use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator, HashEvaluator};
use hnefi_search::{Bell, RootKind, Search, SearchConfig, search_on_threads};

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

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).map(|text| text.parse().expect("a whole number")).collect();
    let [most, micros, seconds] = numbers[..] else { panic!("expected THREADS MICROSECONDS SECONDS") };
    let position = Position::start(&Preset::Copenhagen.rules());
    let mut alone = 0.0;
    let mut threads = 1;
    while threads <= most {
        let config = SearchConfig { root: RootKind::Puct, ..SearchConfig::default() };
        let mut search = Search::new(config);
        search.begin(&position, u32::MAX, None);
        let pause = Duration::from_micros(micros);
        let mut evaluators: Vec<Box<dyn Evaluator>> =
            (0..threads).map(|_| Box::new(Pausing(HashEvaluator::new(1), pause)) as Box<dyn Evaluator>).collect();
        let bell = Bell::default();
        let began = Instant::now();
        let end = began + Duration::from_secs(seconds);
        let ((), result) = search_on_threads(&mut search, &mut evaluators, &bell, |watched| {
            while Instant::now() < end && !watched.is_over() {
                bell.wait(Some(end));
            }
        });
        result.expect("this evaluator never fails");
        let rate = f64::from(search.report().playouts) / began.elapsed().as_secs_f64();
        if threads == 1 {
            alone = rate;
        }
        println!("{threads:>3} threads {rate:>10.0} playouts/s {:>6.2} times one", rate / alone);
        threads *= 2;
    }
}
