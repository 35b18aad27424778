//! The run, what comes in its way, and its results.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use hnefi_run::store::{Access, FaultAction, Location, Operation, RetryPolicy, Store, StoreWatch, checkpoint_key};
use hnefi_selfplay::FleetProgress;
use hnefi_train::trainer::{TrainerParams, check, train_at};
use hnefi_train::{Summary, TrainConfig, TrainError, TrainObserver};

use crate::tiny::tiny_config;

/// Generations of the run.
pub const GENERATIONS: u32 = 2;

/// Two generations of a few short games, the last of which plays on the ladder.
pub fn config() -> TrainConfig {
    tiny_config(&[
        "run.seed=3",
        "selfplay.ply_caps={ seven = 10 }",
        "train.plies_per_generation=100",
        "train.reuse=0.5",
        "train.warmup_steps=2",
        "ladder.every=2",
        &format!("budget.generations={GENERATIONS}"),
    ])
}

/// What happens at one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It fails with this number of the operating system.
    Fail(i32),
    /// It is carried out, and reported as failed with this number.
    Unanswered(i32),
    /// Half of the bytes are written.
    Short,
    /// The process is dead before it.
    Cut,
    /// The process is dead after it.
    #[cfg_attr(not(feature = "buckets"), expect(dead_code, reason = "what becomes of requests to a bucket"))]
    CutAfterwards,
    /// The process kills itself before it, as `kill -9` does.
    Kill,
}

/// A watch that counts operations and lets something happen at one of them.
pub struct Injected {
    at: usize,
    fault: Option<Fault>,
    count: AtomicUsize,
    dead: AtomicBool,
    /// What every operation was, without the names that differ from process to process.
    pub log: Mutex<Vec<String>>,
}

impl Injected {
    /// Lets this happen at operation `at`, from 0.
    pub fn new(at: usize, fault: Fault) -> Arc<Injected> {
        Arc::new(Injected { at, fault: Some(fault), ..Injected::none() })
    }

    /// A watch that only counts.
    pub fn nothing() -> Arc<Injected> {
        Arc::new(Injected::none())
    }

    fn none() -> Injected {
        let (count, dead) = (AtomicUsize::new(0), AtomicBool::new(false));
        Injected { at: 0, fault: None, count, dead, log: Mutex::default() }
    }

    /// Whether the operation came.
    pub fn happened(&self) -> bool {
        self.count.load(Ordering::SeqCst) > self.at
    }

    fn die(&self) -> FaultAction {
        self.dead.store(true, Ordering::SeqCst);
        FaultAction::Fail(dead())
    }
}

fn dead() -> io::Error {
    io::Error::other("the process is dead")
}

impl StoreWatch for Injected {
    fn attempt(&self, operation: &Operation<'_>) -> FaultAction {
        if self.dead.load(Ordering::SeqCst) {
            return FaultAction::Fail(dead());
        }
        let name = named(operation);
        // A trainer looks for games of workers by the clock, on a busy machine more often. It finds none here.
        if name.contains("uploads") {
            return FaultAction::Proceed;
        }
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        self.log.lock().unwrap().push(name);
        let Some(fault) = self.fault.filter(|_| number == self.at) else { return FaultAction::Proceed };
        match fault {
            Fault::Fail(code) => FaultAction::Fail(io::Error::from_raw_os_error(code)),
            Fault::Unanswered(code) => FaultAction::FailAfterwards(io::Error::from_raw_os_error(code)),
            Fault::Short => match operation {
                Operation::Write(_, bytes) => FaultAction::Short(bytes.len().div_ceil(2)),
                _ => FaultAction::Proceed,
            },
            Fault::Cut => self.die(),
            Fault::CutAfterwards => {
                self.die();
                FaultAction::FailAfterwards(dead())
            }
            Fault::Kill => {
                nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL).expect("a signal");
                unreachable!("a killed process does nothing more")
            }
        }
    }

    fn should_stop(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }
}

/// An operation without the folder of the run and without temporary names.
fn named(operation: &Operation<'_>) -> String {
    let text = operation.to_string();
    let words = text.split(' ').map(|word| {
        let word = match word.split_once("/the-run") {
            Some((_, inside)) => inside.trim_start_matches('/'),
            None if word.starts_with('/') => "..",
            None => word,
        };
        match word.split_once(".unfinished-") {
            Some((folder, name)) => {
                let inside = name.split_once('/').map_or(String::new(), |(_, inside)| format!("/{inside}"));
                format!("{folder}.unfinished{inside}")
            }
            None => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Notes warnings, and stops as soon as generation `stop_in` is being played.
#[derive(Default)]
pub struct Notes {
    stop_in: u32,
    stop: AtomicBool,
    pub warnings: Mutex<Vec<String>>,
}

impl Notes {
    /// Stops as soon as this generation is being played.
    pub fn stopping_in(generation: u32) -> Notes {
        Notes { stop_in: generation, ..Notes::default() }
    }
}

impl TrainObserver for Notes {
    fn generating(&self, generation: u32, _: &FleetProgress, _: f64) {
        if generation == self.stop_in {
            self.stop.store(true, Ordering::SeqCst);
        }
    }

    fn warning(&self, text: &str) {
        self.warnings.lock().unwrap().push(text.to_owned());
    }

    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

/// One call of the program, and its warnings; `stop_in` names the generation in which the user stops it, 0 for none.
pub fn call(location: &Location, watch: Arc<Injected>, stop_in: u32) -> Result<(Summary, Vec<String>), TrainError> {
    let retry = RetryPolicy { watch, ..RetryPolicy::default() };
    let params = TrainerParams { location: location.clone(), retry, ..TrainerParams::new(Path::new("")) };
    let notes = Notes::stopping_in(stop_in);
    let summary = train_at(&config(), &params, &notes)?;
    let store = Store::open(location, Access::Read, RetryPolicy::default())?;
    let there = store.checkpoints()?.into_iter().any(|one| store.name(&checkpoint_key(one)) == summary.checkpoint);
    assert!(there, "{} is not there", summary.checkpoint);
    Ok((summary, notes.warnings.into_inner().unwrap()))
}

/// A call that the user stops in the second generation, and one that goes on to the end. Errors are what the user sees.
pub fn two_calls(location: &Location, watch: &Arc<Injected>) -> Vec<String> {
    let calls = [GENERATIONS, 0].map(|stop_in| call(location, Arc::clone(watch), stop_in));
    calls.into_iter().filter_map(|call| call.err().map(|error| error.to_string())).collect()
}

/// Results by key.
pub type Results = BTreeMap<String, Vec<u8>>;

/// What a run is for: games, checkpoints and matches. (Clocks differ from call to call, and a training state has names
/// drawn at random; what follows from it is here.)
pub fn results(location: &Location) -> Results {
    let store = Store::open(location, Access::Read, RetryPolicy::default()).unwrap();
    let keys = ["games/", "checkpoints/", "ladder/"].map(|prefix| store.list(prefix).unwrap());
    keys.into_iter().flatten().map(|key| (key.clone(), store.get(&key).unwrap())).collect()
}

/// Checks that the run has ended with these results and has no damage.
pub fn assert_whole(location: &Location, expected: &Results, what: &str) {
    let found = results(location);
    let differing = expected.iter().filter(|(key, bytes)| found.get(*key) != Some(bytes)).map(|(key, _)| key);
    let more = found.keys().filter(|key| !expected.contains_key(*key));
    let differing: Vec<&String> = differing.chain(more).collect();
    assert!(differing.is_empty(), "{what}: other results: {differing:?}");
    let store = Store::open(location, Access::Read, RetryPolicy::default()).unwrap();
    let damage: Vec<String> = check(&store).unwrap().into_iter().flat_map(|kind| kind.damage).collect();
    assert_eq!(damage, [""; 0], "{what}");
}

/// Every operation of the two calls where nothing happens, and their results.
pub fn uninterrupted() -> (Vec<String>, Results) {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::Directory(dir.path().join("the-run"));
    let watch = Injected::nothing();
    assert_eq!(two_calls(&location, &watch), [""; 0]);
    let log = std::mem::take(&mut *watch.log.lock().unwrap());
    (log, results(&location))
}

/// Does `one` for every case, on two threads, and says how many and how long. All cases are tried; one that panicked
/// fails the whole.
pub fn for_each<T: Sync>(what: &str, cases: &[T], one: impl Fn(&T) + Sync) {
    let (began, next, failed) = (std::time::Instant::now(), AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| one(case)));
                    failed.fetch_add(usize::from(tried.is_err()), Ordering::SeqCst);
                }
            });
        }
    });
    println!("{what}: {} cases in {:.0} s", cases.len(), began.elapsed().as_secs_f64());
    assert_eq!(failed.into_inner(), 0, "cases of {what} that failed");
}

/// About `count` of these, evenly spread; not the same kinds each time.
pub fn sample<T>(all: Vec<T>, count: usize) -> Vec<T> {
    // An odd step is never in step with the kinds of faults.
    let step = (all.len() / count).max(1) | 1;
    all.into_iter().step_by(step).collect()
}
