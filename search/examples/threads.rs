//! Playouts per second of one search on 1, 2, 4 and more threads.
//!
//! ```sh
//! cargo run --release -p hnefi-search --example threads -- 16 copenhagen 2
//! cargo run --release -p hnefi-search --example threads -- 16 100 2
//! ```
//!
//! The arguments are the most threads, the evaluator, and the seconds for each number of threads. The evaluator is a
//! shipped network, or a number of microseconds that every evaluation sleeps before it answers with a hash of the
//! position. So the tree's lock can be tried with more threads than there are processors.

use std::time::{Duration, Instant};

use hnefi_engine::{Position, Preset};
use hnefi_inference::{
    DeviceChoice, EvalError, EvalRequest, Evaluations, Evaluator, HashEvaluator, PrecisionChoice, evaluators,
    pretrained,
};
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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [threads, evaluator, seconds] = &arguments[..] else {
        return Err("expected the arguments THREADS NETWORK|MICROSECONDS SECONDS".into());
    };
    let (most, seconds) = (threads.parse::<usize>()?, seconds.parse::<f64>()?);
    let make: Box<dyn Fn() -> Box<dyn Evaluator>> = match evaluator.parse::<u64>() {
        Ok(micros) => Box::new(move || Box::new(Pausing(HashEvaluator::new(1), Duration::from_micros(micros)))),
        Err(_) => {
            let checkpoint = pretrained(evaluator).ok_or_else(|| format!("no network {evaluator:?} is shipped"))??;
            let make = evaluators(&checkpoint.weights, &DeviceChoice::Cpu.into(), PrecisionChoice::Auto)?;
            Box::new(move || make())
        }
    };
    let position = Position::start(&Preset::Copenhagen.rules());
    let mut alone = None;
    for threads in (0..).map(|power| 1 << power).take_while(|&threads| threads <= most) {
        let config = SearchConfig { root: RootKind::Puct, max_nodes: 2_000_000, ..SearchConfig::default() };
        let mut search = Search::new(config);
        search.begin(&position, u32::MAX, None);
        let mut evaluators: Vec<Box<dyn Evaluator>> = (0..threads).map(|_| make()).collect();
        let (bell, began) = (Bell::default(), Instant::now());
        let end = began + Duration::from_secs_f64(seconds);
        let (elapsed, result) = search_on_threads(&mut search, &mut evaluators, &bell, |watched| {
            while Instant::now() < end && !watched.is_over() {
                bell.wait(Some(end));
            }
            began.elapsed()
        });
        result?;
        let rate = f64::from(search.report().playouts) / elapsed.as_secs_f64();
        println!("{threads:>3} threads {rate:>10.0} playouts/s {:>6.2} times one", rate / *alone.get_or_insert(rate));
    }
    Ok(())
}
