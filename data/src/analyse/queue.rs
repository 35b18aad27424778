//! The positions that wait for a thread.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use super::question::Question;

/// The most positions that wait; the reader waits for room.
const MOST: usize = 100_000;

/// A position of a question.
pub(super) struct Task {
    pub(super) question: Arc<Question>,
    pub(super) ply: usize,
    number: u64,
}

/// The order of the answers: by priority, and first come, first served.
impl Ord for Task {
    fn cmp(&self, other: &Task) -> std::cmp::Ordering {
        let key = |task: &Task| (task.question.priority, Reverse(task.number));
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Task {
    fn partial_cmp(&self, other: &Task) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Task {
    fn eq(&self, other: &Task) -> bool {
        self.number == other.number
    }
}

impl Eq for Task {}

/// Tasks, shared by the reader and the threads.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: BinaryHeap<Task>,
    asked: u64,
    closed: bool,
    /// Whether nothing more is to be answered.
    ended: bool,
    /// Questions that are not answered yet, and some that are.
    open: Vec<Weak<Question>>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        super::lock(&self.state)
    }

    fn wait<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the positions of a question.
    pub(super) fn ask(&self, question: Arc<Question>) {
        let mut state = self.lock();
        while state.waiting.len() >= MOST && !state.closed {
            state = self.wait(state);
        }
        // Answered ones go whenever the list has doubled, not each time.
        if state.open.len() == state.open.capacity() {
            state.open.retain(|question| question.strong_count() > 0);
            let open = state.open.len();
            state.open.reserve(open + 1);
        }
        state.open.push(Arc::downgrade(&question));
        for &ply in &question.plies {
            state.asked += 1;
            let number = state.asked;
            state.waiting.push(Task { question: Arc::clone(&question), ply, number });
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Cancels the questions of this id; their positions are answered as far as they are.
    pub(super) fn cancel(&self, id: &str) {
        let state = self.lock();
        let open = state.open.iter().filter_map(Weak::upgrade);
        open.filter(|question| question.id == id).for_each(|question| question.cancel());
    }

    /// Some of the first tasks, at most `room`: a thread's share of all that wait. Waits for one if `wait`. `None` once
    /// the queue is closed and there is nothing to do, or at the end.
    pub(super) fn take(&self, room: usize, threads: usize, wait: bool) -> Option<Vec<Task>> {
        let mut state = self.lock();
        while wait && state.waiting.is_empty() && !state.closed {
            state = self.wait(state);
        }
        if state.ended {
            return None;
        }
        let share = state.waiting.len().div_ceil(threads.max(1)).min(room);
        let tasks: Vec<Task> = std::iter::from_fn(|| state.waiting.pop()).take(share).collect();
        drop(state);
        if !tasks.is_empty() {
            self.changed.notify_all();
        }
        (!(wait && tasks.is_empty())).then_some(tasks)
    }

    /// No more questions come.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Nothing more is answered, asked or not.
    pub(super) fn end(&self) {
        self.lock().ended = true;
        self.close();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::question::InputLine;
    use super::*;

    #[test]
    fn urgent_questions_come_first() {
        let queue = Queue::default();
        for (id, priority) in [("first", 0), ("later", -1), ("urgent", 9), ("usual", 0)] {
            let line = json!({"id": id, "rules": "brandubh", "moves": ["d6f6"], "plies": [1, 0], "priority": priority});
            let Ok(InputLine::Question(question)) = InputLine::read(&line.to_string(), 40) else { panic!("{line}") };
            queue.ask(question);
        }
        let order: Vec<_> =
            queue.take(8, 1, true).unwrap().into_iter().map(|task| (task.question.id.clone(), task.ply)).collect();
        let expected = ["urgent", "first", "usual", "later"].map(|id| [(id.to_owned(), 1), (id.to_owned(), 0)]);
        assert_eq!(order, expected.concat());
        queue.close();
        assert!(queue.take(8, 1, true).is_none());
    }
}
