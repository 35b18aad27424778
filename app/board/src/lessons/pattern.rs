//! Positions drawn once for all boards: seven by seven squares, laid into a corner or around the throne.

use hnefi_engine::{Bitboard, Move, Position, Rules, Side, Square};

use crate::Refusal;
use crate::position_view::fen_rank;

/// Where the seven by seven squares lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    /// Their `a1` is on the diagonal from the board's, at this distance in squares.
    Corner(usize),
    /// Their middle is the throne.
    Throne,
}

/// A position by its seven ranks, the top first, as in a FEN.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    pub(super) anchor: Anchor,
    /// The king on the throne with a man on each side of him, wherever the throne is.
    pub(super) court: bool,
    pub(super) to_move: Side,
    pub(super) ranks: &'static str,
}

/// Squares along an edge of a pattern.
pub(super) const SMALL: usize = 7;

/// A square of the board by its name in the seven by seven squares.
pub(super) fn square(name: &str, anchor: Anchor, rules: &Rules) -> Option<Square> {
    let side = rules.size().side();
    let shift = shift(anchor, side);
    let (file, rank) = match *name.as_bytes() {
        [file @ b'a'..=b'g', rank @ b'1'..=b'7'] => (usize::from(file - b'a'), usize::from(rank - b'1')),
        _ => return None,
    };
    Some(Square::new((rank + shift) * side + file + shift))
}

/// A move such as `a1a4`, by names in the seven by seven squares.
pub(super) fn mv(text: &str, anchor: Anchor, rules: &Rules) -> Result<Move, Refusal> {
    let squares = text
        .split_at_checked(2)
        .and_then(|(from, to)| Some((square(from, anchor, rules)?, square(to, anchor, rules)?)));
    let (from, to) = squares.ok_or_else(|| Refusal::fault(format!("{text:?} is no move of a lesson")))?;
    let text = format!("{}{}", from.name(rules.size()), to.name(rules.size()));
    Move::parse(&text, rules.size()).map_err(Refusal::fault)
}

/// Whether the throne is one, in the middle.
pub(super) fn has_middle_throne(rules: &Rules) -> bool {
    let throne = rules.marks.throne();
    !throne.is_empty() && throne == Bitboard::throne(rules.size())
}

fn shift(anchor: Anchor, side: usize) -> usize {
    match anchor {
        Anchor::Corner(away) => away,
        Anchor::Throne => side.saturating_sub(SMALL) / 2,
    }
}

impl Pattern {
    /// The position on the board of `rules`.
    pub(super) fn position(&self, rules: &Rules) -> Result<Position, Refusal> {
        let side = rules.size().side();
        let has_room =
            side >= SMALL + shift(self.anchor, SMALL) && (self.anchor != Anchor::Throne || has_middle_throne(rules));
        if !has_room {
            return Err(Refusal::fault(format!("{}: not for a board of {side}x{side} of these rules", self.ranks)));
        }
        let shift = shift(self.anchor, side);
        let mut letters = vec![vec!['.'; side]; side];
        for (row, rank) in self.ranks.split('/').enumerate() {
            let mut file = 0;
            for letter in rank.chars() {
                match letter.to_digit(10) {
                    Some(empty) => file += empty as usize,
                    None => {
                        letters[SMALL - 1 - row + shift][file + shift] = letter;
                        file += 1;
                    }
                }
            }
        }
        if self.court {
            let middle = side / 2;
            let around = [(middle - 1, middle), (middle + 1, middle), (middle, middle - 1), (middle, middle + 1)];
            for ((rank, file), letter) in [((middle, middle), 'k')].into_iter().chain(around.map(|at| (at, 'd'))) {
                if letters[rank][file] != '.' {
                    return Err(Refusal::fault(format!("{}: the court's place is taken", self.ranks)));
                }
                letters[rank][file] = letter;
            }
        }
        let ranks: Vec<String> = letters.iter().rev().map(|rank| fen_rank(rank)).collect();
        let to_move = match self.to_move {
            Side::Attackers => 'a',
            Side::Defenders => 'd',
        };
        let fen = format!("{} {to_move}", ranks.join("/"));
        Position::from_fen(rules, &fen).map_err(Refusal::fault)
    }
}
