//! What waits for its turn. People who wait for a move come before people who look at an analysis.

use std::collections::VecDeque;
use std::time::Duration;

/// One turn in four goes to work that is not urgent, however much is.
const PATIENT_TURN: u32 = 4;

/// Work that waits.
pub(super) struct Waiting<T> {
    pub(super) work: T,
    /// Whether somebody waits for it.
    pub(super) urgent: bool,
    /// There is nothing to do on it before this moment of the host's clock.
    pub(super) not_before: Duration,
}

/// What to do next.
pub enum Next<T> {
    /// A slice of this work.
    Work(T),
    /// Nothing before this moment of the host's clock, unless work comes.
    Wait(Duration),
    /// Nothing, unless work comes.
    Nothing,
}

/// The work that waits.
pub(super) struct WorkQueue<T> {
    waiting: VecDeque<Waiting<T>>,
    turns: u32,
}

impl<T> WorkQueue<T> {
    /// An empty one.
    pub(super) fn new() -> WorkQueue<T> {
        WorkQueue { waiting: VecDeque::new(), turns: 0 }
    }

    /// Puts work at the end.
    pub(super) fn push(&mut self, waiting: Waiting<T>) {
        self.waiting.push_back(waiting);
    }

    /// Throws away what is not wanted.
    pub(super) fn retain(&mut self, wanted: impl Fn(&T) -> bool) {
        self.waiting.retain(|waiting| wanted(&waiting.work));
    }

    /// Takes out the work with the least key among that which has one.
    pub(super) fn take_least<K: Ord>(&mut self, key: impl Fn(&T) -> Option<K>) -> Option<T> {
        let keyed = |(index, waiting): (usize, &Waiting<T>)| Some((key(&waiting.work)?, index));
        let (_, index) = self.waiting.iter().enumerate().filter_map(keyed).min()?;
        self.waiting.remove(index).map(|waiting| waiting.work)
    }

    /// What is due and has waited for longest, urgent work first but for some turns.
    pub(super) fn next(&mut self, now: Duration) -> Next<T> {
        let due = |urgent: bool| {
            self.waiting.iter().position(|waiting| waiting.urgent == urgent && waiting.not_before <= now)
        };
        let patient_first = self.turns % PATIENT_TURN == PATIENT_TURN - 1;
        let index = due(!patient_first).or_else(|| due(patient_first));
        if let Some(waiting) = index.and_then(|index| self.waiting.remove(index)) {
            self.turns = self.turns.wrapping_add(1);
            return Next::Work(waiting.work);
        }
        self.waiting.iter().map(|waiting| waiting.not_before).min().map_or(Next::Nothing, Next::Wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::from_secs(5);

    fn filled(work: &[(&'static str, bool, u64)]) -> WorkQueue<&'static str> {
        let waiting = |&(work, urgent, wait)| Waiting { work, urgent, not_before: NOW + Duration::from_secs(wait) };
        WorkQueue { waiting: work.iter().map(waiting).collect(), turns: 0 }
    }

    fn work<T>(next: Next<T>) -> Option<T> {
        match next {
            Next::Work(work) => Some(work),
            Next::Wait(_) | Next::Nothing => None,
        }
    }

    #[test]
    fn moves_come_first_and_analyses_get_their_share() {
        let mut line = filled(&[("a", false, 0), ("b", false, 0), ("m", true, 0), ("n", true, 0)]);
        let mut order = String::new();
        for _ in 0..8 {
            let work = work(line.next(NOW)).expect("work");
            order.push_str(work);
            line.push(Waiting { work, urgent: "mn".contains(work), not_before: NOW });
        }
        assert_eq!(order, "mnmanmnb", "three urgent turns, then the analysis that waits for longest");
    }

    #[test]
    fn what_is_not_due_keeps_nobody_waiting() {
        let later = NOW + Duration::from_secs(60);
        let mut line = filled(&[("later", true, 60), ("now", false, 0)]);
        assert_eq!(work(line.next(NOW)), Some("now"));
        assert!(matches!(line.next(NOW), Next::Wait(due) if due == later));
        assert_eq!(work(line.next(later)), Some("later"));
        assert!(matches!(line.next(later), Next::Nothing));
    }

    #[test]
    fn the_least_is_taken_out() {
        let mut line = WorkQueue::new();
        for work in [5, 3, 8, 2] {
            line.push(Waiting { work, urgent: false, not_before: NOW });
        }
        assert_eq!(line.take_least(|&work| (work > 2).then_some(work)), Some(3));
        assert_eq!(line.take_least(|&work| (work > 8).then_some(work)), None);
        assert_eq!([(); 3].map(|()| work(line.next(NOW))), [Some(5), Some(8), Some(2)]);
    }
}
