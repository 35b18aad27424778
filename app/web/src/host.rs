//! The board's host: threads that search, a bell for those who listen, and the folders and runs with recorded games.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hnefi_board::{Board, Host, Next, OpenGame, Origin, Refusal, WorkerCache};
use hnefi_record::GameRecord;
use tokio::sync::watch;

use crate::bell::WorkBell;
use crate::library::Library;

/// The process around the board.
pub(crate) struct Process {
    began: Instant,
    library: Arc<Library>,
    /// Wakes those who listen to games.
    changes: watch::Sender<u64>,
    /// Wakes the threads that search.
    work: WorkBell,
}

impl Process {
    /// A host whose clock begins now.
    pub(crate) fn new(library: Arc<Library>) -> Process {
        let changes = watch::Sender::new(0);
        Process { began: Instant::now(), library, changes, work: WorkBell::new() }
    }

    /// A listener's end of the bell.
    pub(crate) fn listen(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}

impl Host for Process {
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn random(&self) -> u64 {
        // Keyed by the system's randomness, and anew for every state.
        RandomState::new().build_hasher().finish()
    }

    fn work_waits(&self) {
        self.work.ring();
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

    fn recorded(&self, asked: &OpenGame) -> Result<(GameRecord, Origin), Refusal> {
        self.library.recorded(asked)
    }
}

/// Starts `threads` threads, at least one, which share the searches and run as long as the process.
pub(crate) fn search(process: &Arc<Process>, board: &Arc<Board>, threads: usize) {
    for _ in 0..threads.max(1) {
        let (process, board) = (process.clone(), board.clone());
        std::thread::spawn(move || {
            let mut kept = WorkerCache::default();
            loop {
                // Work that comes after this look is not missed.
                let seen = process.work.rung();
                match board.next() {
                    Next::Work(task) => board.work(task, &mut kept),
                    Next::Wait(due) => process.work.wait(seen, Some(due.saturating_sub(process.now()))),
                    Next::Nothing => process.work.wait(seen, None),
                }
            }
        });
    }
}
