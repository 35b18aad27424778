//! Work that Ctrl-C ends, and threads and locks in processes that fork: a child has one thread, and memory as its
//! parent's threads left it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::refused;

/// How often Ctrl-C is looked for.
pub const LOOK: Duration = Duration::from_millis(100);

/// What `work` makes, on a thread of its own. Ctrl-C, which Python hears on the caller's thread alone, tells `work` to
/// stop and is raised when it has. The caller does not hold the interpreter's lock.
pub fn interruptible<T: Send>(work: impl FnOnce(&Arc<AtomicBool>) -> PyResult<T> + Send) -> PyResult<T> {
    let stopped = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (working, ended) = mpsc::channel::<()>();
        let thread = scope.spawn(|| {
            let _working = working;
            work(&stopped)
        });
        while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if let Err(interrupt) = Python::attach(|py| py.check_signals()) {
                stopped.store(true, Ordering::Relaxed);
                return Err(interrupt);
            }
        }
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// A thread for every core.
pub static ALL_CORES: Pool = Pool::new(0);

/// Threads, made anew in every process that asks for them.
pub struct Pool {
    threads: usize,
    /// The process that made them, and they.
    made: Mutex<Option<(u32, Arc<ThreadPool>)>>,
}

impl Pool {
    /// So many threads, 0 for one a core.
    pub const fn new(threads: usize) -> Pool {
        Pool { threads, made: Mutex::new(None) }
    }

    /// How many there are, 0 for one a core.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The threads of this process.
    pub fn get(&self, _: Python<'_>) -> PyResult<Arc<ThreadPool>> {
        // Whoever holds this lock holds the interpreter's, too, as does whoever forks: a child finds it free.
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        match &*made {
            Some((maker, pool)) if *maker == process => Ok(Arc::clone(pool)),
            _ => {
                let pool = ThreadPoolBuilder::new().num_threads(self.threads).build().map_err(refused)?;
                let pool = Arc::new(pool);
                std::mem::forget(made.replace((process, Arc::clone(&pool))));
                Ok(pool)
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let made = self.made.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // The threads of another process cannot be told to end.
        if made.as_ref().is_some_and(|(maker, _)| *maker != std::process::id()) {
            std::mem::forget(made);
        }
    }
}

/// What one thread uses at a time. The others wait, and the interpreter goes on meanwhile.
pub struct Shared<T> {
    value: Mutex<T>,
    /// The process whose threads used it last.
    process: AtomicU32,
}

impl<T> Shared<T> {
    /// A value that nobody uses yet.
    pub fn new(value: T) -> Shared<T> {
        Shared { value: Mutex::new(value), process: std::process::id().into() }
    }

    /// Raises RuntimeError where its turn would never come.
    pub fn check(&self) -> PyResult<()> {
        let process = std::process::id();
        let elsewhere = self.process.load(Ordering::Relaxed) != process;
        if elsewhere && matches!(self.value.try_lock(), Err(TryLockError::WouldBlock)) {
            let problem = "another thread was using this when the process forked; expected a fork between two calls";
            return Err(PyRuntimeError::new_err(problem));
        }
        self.process.store(process, Ordering::Relaxed);
        Ok(())
    }

    /// Waits for its turn. Raises RuntimeError where that would never come.
    pub fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, T>> {
        self.check()?;
        Ok(self.value.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for its turn, without the interpreter's lock and after [`Shared::check`].
    pub fn wait(&self) -> MutexGuard<'_, T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
