//! The order in which moves are tried. Alpha-beta is only as fast as its first move is good.

use hnefi_engine::{Move, MoveList, Position, Side};

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
    /// How often and how high up a move refuted something, by side and the move's 14 bits.
    history: Vec<u32>,
}

impl Default for Ordering {
    fn default() -> Ordering {
        Ordering { killers: [[None; 2]; PLIES], history: vec![0; 2 << 14] }
    }
}

impl Ordering {
    /// Before the search of a new position: killers are stale, history fades.
    pub fn new_search(&mut self) {
        self.killers = [[None; 2]; PLIES];
        self.history.iter_mut().for_each(|count| *count /= 4);
    }

    /// Notes that `mv` refuted the move before it, with `depth` plies searched below.
    pub fn refuted_by(&mut self, mv: Move, side: Side, depth: u32, ply: usize) {
        let killers = &mut self.killers[ply.min(PLIES - 1)];
        if killers[0] != Some(mv) {
            *killers = [Some(mv), killers[0]];
        }
        let count = &mut self.history[place(mv, side)];
        *count = (*count + depth * depth).min(HISTORY_LIMIT);
    }

    /// The moves of a position with their ranks.
    pub fn rank(&self, position: &Position, moves: &MoveList, expected: Option<Move>, ply: usize) -> Ranked {
        let side = position.side_to_move();
        let landings = position.capture_threats(side).landings;
        let killers = self.killers[ply.min(PLIES - 1)];
        let mut ranked = Ranked { entries: [(0, NO_MOVE); MoveList::CAPACITY], next: 0, len: moves.len() };
        for (entry, &mv) in ranked.entries.iter_mut().zip(moves.iter()) {
            let class = if expected == Some(mv) {
                EXPECTED
            } else if landings.contains(mv.to()) {
                CAPTURE
            } else if killers.contains(&Some(mv)) {
                KILLER
            } else {
                0
            };
            *entry = (class + self.history[place(mv, side)], mv);
        }
        ranked
    }
}

const NO_MOVE: Move = Move::new(hnefi_engine::Square::new(0), hnefi_engine::Square::new(0));

fn place(mv: Move, side: Side) -> usize {
    side.index() << 14 | usize::from(mv.bits())
}

/// Moves that are handed out best first. Each is looked for only when it is asked for: most lists are cut off early.
pub(super) struct Ranked {
    entries: [(u32, Move); MoveList::CAPACITY],
    next: usize,
    len: usize,
}

impl Ranked {
    pub fn next_best(&mut self) -> Option<Move> {
        let rest = &mut self.entries[self.next..self.len];
        // The first of equals, so that ties keep the order of generation.
        let best = (0..rest.len()).reduce(|best, i| if rest[i].0 > rest[best].0 { i } else { best })?;
        rest.swap(0, best);
        self.next += 1;
        Some(self.entries[self.next - 1].1)
    }
}
