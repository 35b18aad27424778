//! The visit schedule of sequential halving.

/// For each playout, the number of visits of the root move that it takes: the considered moves are visited in turns,
/// then the better half of them, and so on down to two (sequential halving, section 2 and figure 1).
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    /// Visits that the move of the n-th playout has had before.
    targets: Vec<u32>,
    /// For each playout, whether the considered moves are halved before it.
    halves: Vec<bool>,
    /// Moves considered in the last phase.
    last_considered: u32,
}

impl Schedule {
    /// Sets the schedule for `playouts` playouts that begin with `considered` moves; 0 counts as 1.
    pub(super) fn set(&mut self, considered: u32, playouts: u32) {
        self.targets.clear();
        self.halves.clear();
        if considered <= 1 {
            self.last_considered = 1;
            self.extend(playouts);
            return;
        }
        let end = playouts as usize;
        let phases = considered.next_power_of_two().ilog2();
        let (mut remaining, mut visits) = (considered, 0);
        while self.targets.len() < end {
            self.halves.push(!self.targets.is_empty() && remaining != self.last_considered);
            self.last_considered = remaining;
            for _ in 0..(playouts / (phases * remaining)).max(1) {
                self.targets.extend((0..remaining).map(|_| visits));
                visits += 1;
            }
            self.halves.resize(self.targets.len(), false);
            remaining = (remaining / 2).max(2);
        }
        self.targets.truncate(end);
        self.halves.truncate(end);
    }

    /// Adds `playouts` playouts, in turns for the two most visited moves.
    pub(super) fn extend(&mut self, playouts: u32) {
        let considered = self.last_considered.min(2);
        let begin = self.targets.last().map_or(0, |last| last + 1);
        self.targets.extend((0..playouts).map(|index| begin + index / considered));
        self.halves.resize(self.targets.len(), false);
    }

    pub(super) fn target(&self, index: u32) -> u32 {
        self.targets[index as usize]
    }

    /// Whether the moves are halved before playout `index`, which needs the values of all earlier playouts.
    pub(super) fn halves_before(&self, index: u32) -> bool {
        self.halves[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(considered: u32, playouts: u32) -> Vec<u32> {
        let mut schedule = Schedule::default();
        schedule.set(considered, playouts);
        schedule.targets
    }

    #[test]
    fn schedules_written_out() {
        assert!(schedule(1, 0).is_empty());
        assert!(schedule(4, 0).is_empty());
        assert_eq!(schedule(1, 1), [0]);
        assert_eq!(schedule(1, 4), [0, 1, 2, 3]);
        assert_eq!(schedule(2, 5), [0, 0, 1, 1, 2]);
        // 4 moves, 2 phases: 8/(2*4) = 1 visit each, then 8/(2*2) = 2 visits for the better two.
        assert_eq!(schedule(4, 8), [0, 0, 0, 0, 1, 1, 2, 2]);
        // What is left over goes to the last two.
        assert_eq!(schedule(4, 11), [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4]);
        // Odd numbers: 5 moves have 3 phases; 5, then 2, then 2.
        assert_eq!(schedule(5, 10), [0, 0, 0, 0, 0, 1, 1, 2, 2, 3]);
        assert_eq!(schedule(6, 12), [0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3]);
        assert_eq!(schedule(8, 16), [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3]);
        // Fewer playouts than moves: the schedule is cut off.
        assert_eq!(schedule(8, 3), [0, 0, 0]);
        #[rustfmt::skip]
        assert_eq!(schedule(16, 64), [
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // 16 moves, 64/(4*16) = 1 visit
            1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, // 8 moves, 2 visits
            3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, // 4 moves, 4 visits
            7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, // 2 moves, 8 visits
        ]);
    }

    #[test]
    fn a_schedule_is_halved_where_the_considered_moves_are() {
        let mut schedule = Schedule::default();
        schedule.set(8, 16);
        let halves: Vec<u32> = (0..16).filter(|&index| schedule.halves_before(index)).collect();
        assert_eq!(halves, [8, 12]);
        schedule.extend(4);
        assert_eq!(schedule.targets[16..], [4, 4, 5, 5]);
    }
}
