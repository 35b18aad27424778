//! One search on several threads: each goes down the tree for a leaf, evaluates it alone, and brings the answer back.
//!
//! The tree is behind one lock, held on the way down and on the way up but never during an evaluation. Leaves under way
//! count as lost visits (`virtual_loss`), which sends the threads different ways. On one thread the search is the same
//! as by [`super::run_to_end`].

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator};

use super::{Search, Selection};

/// How long a thread waits at most for the answers of the others before it looks again by itself.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Wakes whoever watches a search: because the search is over, or because somebody else rang.
#[derive(Debug, Default)]
pub struct Bell {
    rung: Mutex<bool>,
    heard: Condvar,
}

impl Bell {
    /// Wakes the one who waits, or the next one to wait.
    pub fn ring(&self) {
        *locked(&self.rung) = true;
        self.heard.notify_all();
    }

    /// Waits until the bell has been rung since the last wait, or until that time.
    pub fn wait(&self, until: Option<Instant>) {
        let mut rung = locked(&self.rung);
        while !*rung {
            rung = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => self.heard.wait(rung).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => return,
                Some(left) => self.heard.wait_timeout(rung, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
        *rung = false;
    }
}

/// A search in progress on its threads, for the one who watches it.
pub struct Searching<'a> {
    search: Mutex<&'a mut Search>,
    /// Told when a leaf is answered while threads wait for that.
    answered: Condvar,
    waiting: AtomicUsize,
    /// Whether somebody wants to look at the tree: the threads let him pass.
    visitors: AtomicUsize,
    at_work: AtomicUsize,
    stopped: AtomicBool,
    bell: &'a Bell,
}

/// Searches with one thread per evaluator while `watch` runs on the caller's thread. The threads end by themselves when
/// the playouts granted are used up or the result is certain, and ring the bell then; when `watch` returns they are
/// stopped and the leaves under way are still answered.
///
/// # Errors
/// The second part of the result: an evaluator failed, which stops all threads. The search can go on with others.
///
/// # Panics
/// When an evaluator panics.
pub fn search_on_threads<R>(
    search: &mut Search,
    evaluators: &mut [Box<dyn Evaluator>],
    bell: &Bell,
    watch: impl FnOnce(&Searching<'_>) -> R,
) -> (R, Result<(), EvalError>) {
    let searching = Searching {
        search: Mutex::new(search),
        answered: Condvar::new(),
        waiting: AtomicUsize::new(0),
        visitors: AtomicUsize::new(0),
        at_work: AtomicUsize::new(evaluators.len()),
        stopped: AtomicBool::new(false),
        bell,
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
        // All are waited for, whatever the first of them says.
        let ends: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        let ends = ends.into_iter().map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        (watched, ends.collect())
    })
}

/// Signs a thread off, also when it panics.
struct Leaving<'a, 'b>(&'a Searching<'b>);

impl Drop for Leaving<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
        if self.0.at_work.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.bell.ring();
        }
    }
}

impl<'a> Searching<'a> {
    /// Looks at the search as it stands; the threads wait meanwhile.
    pub fn look<R>(&self, at: impl FnOnce(&Search) -> R) -> R {
        self.visitors.fetch_add(1, Ordering::SeqCst);
        let search = locked(&self.search);
        let seen = at(&search);
        drop(search);
        self.visitors.fetch_sub(1, Ordering::SeqCst);
        seen
    }

    /// Whether all threads have ended.
    pub fn is_over(&self) -> bool {
        self.at_work.load(Ordering::SeqCst) == 0
    }

    /// Lets every thread end when the leaf it is evaluating is answered.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// One thread's life.
    fn work(&self, evaluator: &mut dyn Evaluator) -> Result<(), EvalError> {
        let mut search = self.enter();
        // A copy of each leaf, so that the tree is free while it is evaluated.
        let Some(mut position) = search.root.clone() else { return Ok(()) };
        let (mut moves, mut scratch) = (Vec::new(), Evaluations::new());
        while !self.is_stopped() {
            match search.select_leaf() {
                Selection::Finished => break,
                Selection::Blocked => search = self.wait_for_answers(search),
                Selection::Settled => {
                    if self.visitors.load(Ordering::SeqCst) > 0 {
                        drop(search);
                        search = self.enter();
                    }
                }
                Selection::Leaf(leaf) => {
                    let request = search.request(leaf);
                    position.clone_from(request.position);
                    moves.clear();
                    moves.extend_from_slice(request.moves);
                    drop(search);
                    let request = EvalRequest { position: &position, moves: &moves, auxiliary: false };
                    let answer = evaluator.evaluate(&[request], &mut scratch);
                    search = self.enter();
                    match answer {
                        Ok(()) => search.expand(leaf, scratch.get(0), scratch.priors(0)),
                        Err(_) => {
                            search.cancel(leaf);
                            self.stop();
                        }
                    }
                    if self.waiting.load(Ordering::SeqCst) > 0 {
                        self.answered.notify_all();
                    }
                    answer?;
                }
            }
        }
        Ok(())
    }

    /// Takes the lock on the tree, after those who only want to look.
    fn enter(&self) -> MutexGuard<'_, &'a mut Search> {
        while self.visitors.load(Ordering::SeqCst) > 0 {
            std::thread::yield_now();
        }
        locked(&self.search)
    }

    fn wait_for_answers<'l>(&self, search: MutexGuard<'l, &'a mut Search>) -> MutexGuard<'l, &'a mut Search> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let (search, _) = self.answered.wait_timeout(search, LOOK_AGAIN).unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        search
    }
}

/// The lock, also where a thread panicked with it in its hands: the panic comes out of the scope.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
