//! One search on several threads: each thread selects a leaf, evaluates it and expands it.
//!
//! One lock protects the tree. It is held while a thread walks down by the tree alone, and while it attaches a node's
//! edges and backs up. Making the moves of the path, listing the leaf's moves, testing them for an immediate end,
//! evaluating and ordering them happens without the lock ([`LeafPosition`]). Outstanding leaves count as lost visits
//! (`virtual_loss`), so the threads take different paths. On one thread the search equals [`super::run_to_end`].

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hnefi_inference::{EvalError, Evaluations, Evaluator};

use super::Search;
use super::leaf::LeafPosition;
use super::playout::Selection;

/// Longest wait of a blocked thread before it tries again.
const RETRY: Duration = Duration::from_millis(10);

/// Wakes the thread that watches a search: when the search is over, or when another thread calls [`Signal::notify`].
#[derive(Debug, Default)]
pub struct Signal {
    set: Mutex<bool>,
    wake: Condvar,
}

impl Signal {
    /// Wakes the waiting thread, or makes the next wait return at once.
    pub fn notify(&self) {
        *locked(&self.set) = true;
        self.wake.notify_all();
    }

    /// Waits until another thread notifies, or has notified since the last wait, or until the time `until`.
    pub fn wait(&self, until: Option<Instant>) {
        let mut set = locked(&self.set);
        while !*set {
            set = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => self.wake.wait(set).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => return,
                Some(left) => self.wake.wait_timeout(set, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
        *set = false;
    }
}

/// A running search, as its watching thread sees it.
pub struct Searching<'a> {
    search: Mutex<&'a mut Search>,
    /// Notified when a leaf is expanded while threads wait.
    answered: Condvar,
    waiting: AtomicUsize,
    /// Callers that wait to see the tree; the threads let them go first.
    observers: AtomicUsize,
    running: AtomicUsize,
    stopped: AtomicBool,
    signal: &'a Signal,
}

/// Searches with one thread per evaluator while `watch` runs on the caller's thread. The threads end, and notify
/// `signal`, when the granted playouts are used up or the root is proven. When `watch` returns, the threads are stopped;
/// outstanding leaves are still expanded.
///
/// # Errors
/// The second part of the result is the error of an evaluator, which stops all threads. The search can go on with other
/// evaluators.
///
/// # Panics
/// When an evaluator panics.
pub fn search_on_threads<R>(
    search: &mut Search,
    evaluators: &mut [Box<dyn Evaluator>],
    signal: &Signal,
    watch: impl FnOnce(&Searching<'_>) -> R,
) -> (R, Result<(), EvalError>) {
    let searching = Searching {
        search: Mutex::new(search),
        answered: Condvar::new(),
        waiting: AtomicUsize::new(0),
        observers: AtomicUsize::new(0),
        running: AtomicUsize::new(evaluators.len()),
        stopped: AtomicBool::new(false),
        signal,
    };
    std::thread::scope(|scope| {
        let searching = &searching;
        let threads: Vec<_> = evaluators
            .iter_mut()
            .map(|evaluator| {
                scope.spawn(move || {
                    let _leaving = Leaving(searching);
                    searching.work(evaluator.as_mut())
                })
            })
            .collect();
        let watched = watch(searching);
        searching.stop();
        // Join all threads before returning the first error.
        let ends: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        let ends = ends.into_iter().map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        (watched, ends.collect())
    })
}

/// Counts a thread as ended, also when it panics.
struct Leaving<'a, 'b>(&'a Searching<'b>);

impl Drop for Leaving<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
        if self.0.running.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.signal.notify();
        }
    }
}

impl<'a> Searching<'a> {
    /// Calls `at` with the search while the threads wait.
    pub fn with_search<R>(&self, at: impl FnOnce(&Search) -> R) -> R {
        self.observers.fetch_add(1, Ordering::SeqCst);
        let search = locked(&self.search);
        let seen = at(&search);
        drop(search);
        self.observers.fetch_sub(1, Ordering::SeqCst);
        seen
    }

    /// Whether some thread holds the tree at this moment: the share of such moments shows how much more one tree can
    /// take.
    pub fn is_locked(&self) -> bool {
        self.search.try_lock().is_err()
    }

    /// Whether all threads have ended.
    pub fn is_over(&self) -> bool {
        self.running.load(Ordering::SeqCst) == 0
    }

    /// Lets every thread end after its present leaf.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    fn work(&self, evaluator: &mut dyn Evaluator) -> Result<(), EvalError> {
        let mut search = self.lock_tree();
        let Some(root) = search.root.clone() else { return Ok(()) };
        let (config, among, handicap) = (search.config.clone(), search.among.clone(), search.handicap);
        // The thread's own: what is computed here needs no lock.
        let (mut leaf_position, mut path, mut scratch) =
            (LeafPosition::new(&root, handicap), Vec::new(), Evaluations::new());
        // A walk that goes on from a position above one that turned out to be proven, and the length of its path there.
        let mut resumed = None;
        while !self.is_stopped() || resumed.is_some() {
            let (walk, kept) = resumed.take().map_or_else(|| (search.walk(), None), |(walk, kept)| (walk, Some(kept)));
            let leaf = match walk {
                Selection::Leaf(leaf) => leaf,
                Selection::Finished => break,
                Selection::Blocked => {
                    search = self.wait_for_answers(search);
                    continue;
                }
                Selection::Settled => {
                    if self.observers.load(Ordering::SeqCst) > 0 {
                        drop(search);
                        search = self.lock_tree();
                    }
                    continue;
                }
            };
            search.reserve(leaf);
            path.clear();
            path.extend_from_slice(search.path(leaf));
            drop(search);
            match kept {
                None => leaf_position.reset(&root, handicap),
                Some(len) => leaf_position.undo_to(len),
            }
            leaf_position.make_moves(&path);
            let proven = leaf_position.list_moves(path.is_empty(), &among);
            if proven.is_none() {
                search = self.lock_tree();
                if let Some((wdl, moves_left)) = search.transposition(&mut leaf_position) {
                    search.attach(leaf, wdl, moves_left, &leaf_position);
                    self.notify_waiting();
                    continue;
                }
                drop(search);
            }
            let answer = match proven {
                Some(_) => Ok(()),
                None => evaluator.evaluate(&[leaf_position.request()], &mut scratch),
            };
            if proven.is_none() && answer.is_ok() {
                leaf_position.set_priors(scratch.priors(0), &config);
            }
            search = self.lock_tree();
            match (proven, &answer) {
                (Some(proven), _) => {
                    search.release(leaf);
                    resumed = search.resume(leaf, proven);
                }
                (None, Ok(())) => search.attach_evaluation(leaf, scratch.get(0), &leaf_position),
                (None, Err(_)) => {
                    search.cancel(leaf);
                    self.stop();
                }
            }
            self.notify_waiting();
            answer?;
        }
        Ok(())
    }

    /// Wakes threads that wait for an answer.
    fn notify_waiting(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.answered.notify_all();
        }
    }

    /// Locks the tree, after all callers of [`Searching::with_search`].
    fn lock_tree(&self) -> MutexGuard<'_, &'a mut Search> {
        while self.observers.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
        locked(&self.search)
    }

    fn wait_for_answers<'l>(&self, search: MutexGuard<'l, &'a mut Search>) -> MutexGuard<'l, &'a mut Search> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let (search, _) = self.answered.wait_timeout(search, RETRY).unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        search
    }
}

/// Locks a mutex, poisoned or not: the scope passes a thread's panic on.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
