//! What waits for a thread. People who wait for a move come before those who look at an analysis.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Of so many turns one goes to work that is not urgent, however much is.
const PATIENT_TURN: u32 = 4;

/// Work that waits.
pub(super) struct Waiting<T> {
    pub(super) work: T,
    /// Whether somebody waits for it.
    pub(super) urgent: bool,
    /// There is nothing to do on it before.
    pub(super) not_before: Instant,
}

/// The queue that all threads share.
pub(super) struct Queue<T> {
    line: Mutex<Line<T>>,
    bell: Condvar,
}

struct Line<T> {
    waiting: VecDeque<Waiting<T>>,
    turns: u32,
}

impl<T> Queue<T> {
    /// An empty one.
    pub(super) fn new() -> Queue<T> {
        Queue { line: Mutex::new(Line { waiting: VecDeque::new(), turns: 0 }), bell: Condvar::new() }
    }

    fn line(&self) -> MutexGuard<'_, Line<T>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts work at the end.
    pub(super) fn push(&self, waiting: Waiting<T>) {
        self.line().waiting.push_back(waiting);
        self.bell.notify_one();
    }

    /// Throws away what is not wanted.
    pub(super) fn retain(&self, wanted: impl Fn(&T) -> bool) {
        self.line().waiting.retain(|waiting| wanted(&waiting.work));
    }

    /// Takes out the work with the least key among that which has one.
    pub(super) fn take_least<K: Ord>(&self, key: impl Fn(&T) -> Option<K>) -> Option<T> {
        let mut line = self.line();
        let keyed = |(index, waiting): (usize, &Waiting<T>)| Some((key(&waiting.work)?, index));
        let (_, index) = line.waiting.iter().enumerate().filter_map(keyed).min()?;
        line.waiting.remove(index).map(|waiting| waiting.work)
    }

    /// The next piece of work, when there is one.
    pub(super) fn take(&self) -> T {
        let mut line = self.line();
        loop {
            let now = Instant::now();
            if let Some(work) = line.next(now) {
                return work;
            }
            // Who adds work rings; what waits for its time wakes us by the clock.
            line = match line.waiting.iter().map(|waiting| waiting.not_before).min() {
                None => self.bell.wait(line).unwrap_or_else(PoisonError::into_inner),
                Some(due) => {
                    let woken = self.bell.wait_timeout(line, due.saturating_duration_since(now));
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

impl<T> Line<T> {
    /// What is due and has waited for longest, urgent work first but for some turns.
    fn next(&mut self, now: Instant) -> Option<T> {
        let due = |urgent: bool| {
            self.waiting.iter().position(|waiting| waiting.urgent == urgent && waiting.not_before <= now)
        };
        let patient_first = self.turns % PATIENT_TURN == PATIENT_TURN - 1;
        let index = due(!patient_first).or_else(|| due(patient_first))?;
        self.turns = self.turns.wrapping_add(1);
        self.waiting.remove(index).map(|waiting| waiting.work)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn filled(now: Instant, work: &[(&'static str, bool, u64)]) -> Line<&'static str> {
        let waiting = |&(work, urgent, wait)| Waiting { work, urgent, not_before: now + Duration::from_secs(wait) };
        Line { waiting: work.iter().map(waiting).collect(), turns: 0 }
    }

    #[test]
    fn moves_come_first_and_analyses_get_their_share() {
        let now = Instant::now();
        let mut line = filled(now, &[("a", false, 0), ("b", false, 0), ("m", true, 0), ("n", true, 0)]);
        let mut order = String::new();
        for _ in 0..8 {
            let work = line.next(now).expect("work");
            order.push_str(work);
            line.waiting.push_back(Waiting { work, urgent: "mn".contains(work), not_before: now });
        }
        assert_eq!(order, "mnmanmnb", "three urgent turns, then the analysis that waits for longest");
    }

    #[test]
    fn what_is_not_due_keeps_nobody_waiting() {
        let now = Instant::now();
        let mut line = filled(now, &[("later", true, 60), ("now", false, 0)]);
        assert_eq!(line.next(now), Some("now"));
        assert_eq!(line.next(now), None);
        assert_eq!(line.next(now + Duration::from_secs(60)), Some("later"));
    }

    #[test]
    fn the_least_is_taken_out() {
        let queue = Queue::new();
        for work in [5, 3, 8, 2] {
            queue.push(Waiting { work, urgent: false, not_before: Instant::now() });
        }
        assert_eq!(queue.take_least(|&work| (work > 2).then_some(work)), Some(3));
        assert_eq!(queue.take_least(|&work| (work > 8).then_some(work)), None);
        assert_eq!([queue.take(), queue.take(), queue.take()], [5, 8, 2]);
    }
}
