//! The board's host: threads that search, a bell for those who listen, and the folders and runs with recorded games.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hnefi_board::{Board, Host, Kept, Next, OpenGame, Refusal};
use hnefi_record::GameRecord;
use tokio::sync::watch;

use super::library::Library;

/// The process around the board.
pub(super) struct Process {
    began: Instant,
    library: Arc<Library>,
    /// Wakes those who listen to games.
    changes: watch::Sender<u64>,
    /// How often work has come, and what wakes the threads for it.
    work: Mutex<u64>,
    bell: Condvar,
}

impl Process {
    /// A host whose clock begins now.
    pub(super) fn new(library: Arc<Library>) -> Process {
        let changes = watch::Sender::new(0);
        Process { began: Instant::now(), library, changes, work: Mutex::new(0), bell: Condvar::new() }
    }

    /// A listener's end of the bell.
    pub(super) fn listen(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn work(&self) -> MutexGuard<'_, u64> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for work that comes after `seen`, no longer than until `due`.
    fn wait(&self, seen: u64, due: Option<Duration>) {
        let mut work = self.work();
        while *work == seen {
            work = match due.map(|due| due.saturating_sub(self.now())) {
                None => self.bell.wait(work).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => return,
                Some(time) => self.bell.wait_timeout(work, time).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }
}

impl Host for Process {
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn work_waits(&self) {
        *self.work() += 1;
        self.bell.notify_one();
    }

    fn ring(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    fn folders(&self) -> Vec<String> {
        self.library.folder_names()
    }

    fn runs(&self) -> Vec<String> {
        self.library.run_names()
    }

    fn recorded(&self, asked: &OpenGame) -> Result<(GameRecord, String), Refusal> {
        self.library.recorded(asked)
    }
}

/// Starts so many threads, which share the searches and run as long as the process.
pub(super) fn search(process: &Arc<Process>, board: &Arc<Board>, threads: usize) {
    for _ in 0..threads.max(1) {
        let (process, board) = (process.clone(), board.clone());
        std::thread::spawn(move || {
            let mut kept = Kept::default();
            loop {
                // Work that comes after this look is not missed.
                let seen = *process.work();
                match board.next() {
                    Next::Work(task) => board.work(task, &mut kept),
                    Next::Wait(due) => process.wait(seen, Some(due)),
                    Next::Nothing => process.wait(seen, None),
                }
            }
        });
    }
}
