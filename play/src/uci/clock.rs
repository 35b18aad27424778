//! How long a move may take.

use std::time::Duration;

use super::command::Go;
use hnefi_engine::Side;

/// What is kept of a clock for the way there and back.
const RESERVE: Duration = Duration::from_millis(50);

/// A game is planned to last this many more moves of one's own, whenever the clock is looked at. Human games on 11x11
/// have a median of twenty, and long ones must not end on the clock.
const MOVES_AHEAD: u32 = 25;

/// The least time a search gets.
const LEAST: Duration = Duration::from_millis(1);

/// The time that `go` allows a move of `side`; `None` where no clock runs.
pub(super) fn time_for(go: &Go, side: Side) -> Option<Duration> {
    if go.infinite {
        return None;
    }
    // A client that names one clock only means it for both.
    let by_clock = [side, side.opponent()].into_iter().find_map(|side| {
        let left = go.clocks[side.index()]?;
        Some(share(left, go.increments[side.index()], go.moves_to_go))
    });
    match (go.move_time, by_clock) {
        (Some(time), Some(share)) => Some(time.min(share)),
        (time, share) => time.or(share),
    }
}

fn share(left: Duration, increment: Duration, moves_to_go: Option<u32>) -> Duration {
    let left = left.saturating_sub(RESERVE);
    let moves = moves_to_go.unwrap_or(MOVES_AHEAD).clamp(1, MOVES_AHEAD);
    let even = left / moves + increment * 3 / 4;
    // Never more than half of what is left, unless this is the last move of a time control.
    let most = if moves_to_go == Some(1) { left } else { left / 2 };
    even.min(most).max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    fn clocks(attackers: Option<(u64, u64)>, defenders: Option<(u64, u64)>) -> Go {
        let [left, increments] = [|clock: (u64, u64)| ms(clock.0), |clock: (u64, u64)| ms(clock.1)];
        let both = [attackers, defenders];
        let increments = both.map(|clock| clock.map(increments).unwrap_or_default());
        Go { clocks: both.map(|clock| clock.map(left)), increments, ..Go::default() }
    }

    #[test]
    fn each_side_has_its_own_clock() {
        let go = clocks(Some((25_050, 0)), Some((50_050, 1000)));
        assert_eq!(time_for(&go, Side::Attackers), Some(ms(1000)));
        assert_eq!(time_for(&go, Side::Defenders), Some(ms(2750)));
        assert_eq!(time_for(&clocks(Some((25_050, 0)), None), Side::Defenders), Some(ms(1000)));
    }

    #[test]
    fn a_clock_is_never_used_up() {
        for left in [0, 1, 40, 60, 100, 1000, 60_000] {
            for increment in [0, 100, 10_000] {
                let time = time_for(&clocks(Some((left, increment)), None), Side::Attackers).expect("a clock runs");
                assert!(time <= ms(1).max(ms(left) / 2), "{left}+{increment}: {time:?}");
                assert!(time >= LEAST);
            }
        }
        let last = Go { moves_to_go: Some(1), ..clocks(Some((1000, 0)), None) };
        assert_eq!(time_for(&last, Side::Attackers), Some(ms(950)));
        let many = Go { moves_to_go: Some(1000), ..clocks(Some((25_050, 0)), None) };
        assert_eq!(time_for(&many, Side::Attackers), Some(ms(1000)));
    }

    #[test]
    fn the_shorter_limit_counts_and_infinite_beats_them_all() {
        let both = Go { move_time: Some(ms(100)), ..clocks(Some((25_050, 0)), None) };
        assert_eq!(time_for(&both, Side::Attackers), Some(ms(100)));
        assert_eq!(time_for(&Go { infinite: true, ..both }, Side::Attackers), None);
        assert_eq!(time_for(&Go { nodes: Some(5), ..Go::default() }, Side::Attackers), None);
    }
}
