//! The clocks of a game: a time for each side, and an increment for every move.
//!
//! A clock begins with the second ply, so that nobody loses time before the game has begun.

use std::time::Duration;

use hnefi_engine::Side;
use serde::{Deserialize, Serialize};

/// The longest time and the longest increment, in seconds.
const MOST: u32 = 24 * 3600;

/// How much time each side has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockRequest {
    /// Seconds for the whole game.
    pub seconds: u32,
    /// Seconds that every move brings.
    #[serde(default)]
    pub increment: u32,
}

/// A clock that no board offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a clock of {} s and {} s a move: expected 1 to {MOST} s and at most {MOST} s a move", .0.seconds, .0.increment
)]
pub(super) struct ClockError(ClockRequest);

impl ClockRequest {
    /// The same, if it is within what boards offer.
    ///
    /// # Errors
    /// When it is not.
    pub(super) fn checked(self) -> Result<ClockRequest, ClockError> {
        let within = (1..=MOST).contains(&self.seconds) && self.increment <= MOST;
        within.then_some(self).ok_or(ClockError(self))
    }
}

/// The clocks of both sides.
#[derive(Clone, Debug)]
pub(super) struct Clock {
    pub(super) asked: ClockRequest,
    left: [Duration; 2],
    /// Whose clock runs, and since when.
    running: Option<(Side, Duration)>,
    /// Who had no time left.
    pub(super) out: Option<Side>,
}

/// The clocks as a page shows them.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct ClockView {
    #[serde(flatten)]
    asked: ClockRequest,
    /// Milliseconds left when the state was made, by [`Side::index`].
    left: [u64; 2],
    running: Option<Side>,
}

/// The clocks as a page keeps them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptClock {
    asked: ClockRequest,
    /// Milliseconds left, by [`Side::index`].
    left: [u32; 2],
    running: Option<Side>,
    out: Option<Side>,
}

impl Clock {
    /// What is to be kept.
    pub(super) fn kept(&self, now: Duration) -> KeptClock {
        let left = Side::BOTH.map(|side| u32::try_from(self.left(side, now).as_millis()).unwrap_or(u32::MAX));
        KeptClock { asked: self.asked, left, running: self.running.map(|(side, _)| side), out: self.out }
    }

    /// Goes on with what was kept; meanwhile no time has passed.
    ///
    /// # Errors
    /// When no board offers such clocks.
    pub(super) fn resumed(kept: KeptClock, now: Duration) -> Result<Clock, ClockError> {
        let left = kept.left.map(|left| Duration::from_millis(left.into()));
        let running = kept.running.map(|side| (side, now));
        Ok(Clock { asked: kept.asked.checked()?, left, running, out: kept.out })
    }

    pub(super) fn new(asked: ClockRequest) -> Clock {
        let left = [Duration::from_secs(asked.seconds.into()); 2];
        Clock { asked, left, running: None, out: None }
    }

    /// What a side has left.
    fn left(&self, side: Side, now: Duration) -> Duration {
        let used = match self.running {
            Some((runs, since)) if runs == side => now.saturating_sub(since),
            _ => Duration::ZERO,
        };
        self.left[side.index()].saturating_sub(used)
    }

    /// Whether a clock runs.
    pub(super) fn runs(&self) -> bool {
        self.running.is_some()
    }

    /// Whose time is over.
    pub(super) fn over(&self, now: Duration) -> Option<Side> {
        let (side, _) = self.running?;
        (self.left(side, now) == Duration::ZERO).then_some(side)
    }

    /// A side has moved, and the other one's clock runs.
    pub(super) fn moved(&mut self, side: Side, now: Duration) {
        if self.running.is_some() {
            self.left[side.index()] = self.left(side, now) + Duration::from_secs(self.asked.increment.into());
        }
        self.running = Some((side.opponent(), now));
    }

    /// The game is over.
    pub(super) fn stop(&mut self, now: Duration) {
        if let Some((side, _)) = self.running {
            self.left[side.index()] = self.left(side, now);
        }
        self.running = None;
    }

    pub(super) fn view(&self, now: Duration) -> ClockView {
        let left = Side::BOTH.map(|side| u64::try_from(self.left(side, now).as_millis()).unwrap_or(u64::MAX));
        ClockView { asked: self.asked, left, running: self.running.map(|(side, _)| side) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_runs_for_whoever_is_to_move() {
        let at = Duration::from_secs;
        let mut clock = Clock::new(ClockRequest { seconds: 60, increment: 2 });
        assert_eq!((clock.runs(), clock.view(at(500)).left), (false, [60_000, 60_000]), "nobody has moved");
        clock.moved(Side::Attackers, at(500));
        assert_eq!(clock.view(at(510)).left, [60_000, 50_000], "the first move costs nothing");
        clock.moved(Side::Defenders, at(510));
        clock.moved(Side::Attackers, at(540));
        assert_eq!(clock.view(at(540)).left, [32_000, 52_000]);
        assert_eq!((clock.over(at(591)), clock.over(at(592))), (None, Some(Side::Defenders)));
        clock.stop(at(541));
        assert_eq!((clock.view(at(900)).left, clock.over(at(900))), ([32_000, 51_000], None));
    }

    #[test]
    fn a_clock_that_was_kept_goes_on_as_if_no_time_had_passed() {
        let at = Duration::from_secs;
        let mut clock = Clock::new(ClockRequest { seconds: 60, increment: 0 });
        clock.moved(Side::Attackers, at(10));
        let kept = clock.kept(at(30));
        let again = Clock::resumed(kept, at(5)).expect("a clock");
        assert_eq!((again.view(at(5)).left, again.view(at(6)).left), ([60_000, 40_000], [60_000, 39_000]));
        let asked = ClockRequest { seconds: 0, increment: 0 };
        assert!(Clock::resumed(KeptClock { asked, ..kept }, at(5)).is_err());
    }

    #[test]
    fn clocks_are_bounded() {
        for (seconds, increment, good) in [(180, 2, true), (0, 5, false), (MOST + 1, 0, false), (60, MOST + 1, false)] {
            assert_eq!(ClockRequest { seconds, increment }.checked().is_ok(), good, "{seconds}+{increment}");
        }
    }
}
