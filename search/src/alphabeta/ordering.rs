//! The order in which moves are tried. Alpha-beta is only as fast as its first move is good.

use hnefi_engine::{BoardSize, Move, MoveList, Position, Side};

/// Deepest ply that has killer moves.
const PLIES: usize = 32;

/// Ranks of the classes of moves; history stays below all of them.
const EXPECTED: u32 = 1 << 30;
const CAPTURE: u32 = 1 << 28;
const KILLER: u32 = 1 << 27;
const HISTORY_LIMIT: u32 = 1 << 26;

/// Which moves refuted others before.
#[derive(Debug)]
pub(super) struct Ordering {
    /// The last two moves that refuted something at each ply.
    killers: [[Option<Move>; 2]; PLIES],
    /// How often and how high up a move refuted something, by side, origin and destination on the board of `squares`
    /// squares that was searched last.
    history: Vec<u32>,
    squares: usize,
}

impl Default for Ordering {
    fn default() -> Ordering {
        Ordering { killers: [[None; 2]; PLIES], history: Vec::new(), squares: 0 }
    }
}

impl Ordering {
    /// Before the search of a new position: killers are stale, history fades.
    pub fn new_search(&mut self, size: BoardSize) {
        self.killers = [[None; 2]; PLIES];
        if self.squares != size.squares() {
            self.squares = size.squares();
            self.history = vec![0; 2 * self.squares * self.squares];
        }
        self.history.iter_mut().for_each(|count| *count /= 4);
    }

    /// Notes that `mv` refuted the move before it, with `depth` plies searched below.
    pub fn refuted_by(&mut self, mv: Move, side: Side, depth: u32, ply: usize) {
        let killers = &mut self.killers[ply.min(PLIES - 1)];
        if killers[0] != Some(mv) {
            *killers = [Some(mv), killers[0]];
        }
        let place = self.place(mv, side);
        let count = &mut self.history[place];
        *count = (*count + depth * depth).min(HISTORY_LIMIT);
    }

    /// The moves of a position with their ranks.
    pub fn rank(&self, position: &Position, moves: &MoveList, expected: Option<Move>, ply: usize) -> Ranked {
        let side = position.side_to_move();
        let landings = position.capture_threats(side).landings;
        let killers = self.killers[ply.min(PLIES - 1)];
        let rank = |&mv: &Move| {
            let class = if expected == Some(mv) {
                EXPECTED
            } else if landings.contains(mv.to()) {
                CAPTURE
            } else if killers.contains(&Some(mv)) {
                KILLER
            } else {
                0
            };
            (class + self.history[self.place(mv, side)], mv)
        };
        Ranked { entries: moves.iter().map(rank).collect(), next: 0 }
    }

    fn place(&self, mv: Move, side: Side) -> usize {
        (side.index() * self.squares + mv.from().index()) * self.squares + mv.to().index()
    }
}

/// Moves that are handed out best first. Each is looked for only when it is asked for: most lists are cut off early.
pub(super) struct Ranked {
    entries: Vec<(u32, Move)>,
    next: usize,
}

impl Ranked {
    pub fn next_best(&mut self) -> Option<Move> {
        let rest = &mut self.entries[self.next..];
        // The first of equals, so that ties keep the order of generation.
        let best = (0..rest.len()).reduce(|best, i| if rest[i].0 > rest[best].0 { i } else { best })?;
        rest.swap(0, best);
        self.next += 1;
        Some(self.entries[self.next - 1].1)
    }
}
