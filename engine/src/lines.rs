//! The pieces once more, line by line in each direction, so that a few vector instructions find every man's moves.
//!
//! A directed line is 16 bits: one rank or file as a piece sees it that moves along it, its bits rising in the
//! direction of the move. There is one for every rank, file and direction, four to a word. In such a line the moves of
//! all pieces are carries of one addition, lines end where bits do, and no direction is harder than another. But
//! squares have no one place, so captures and floods go by the boards of [`State`](crate::state::State).

use crate::bitboard::nth_bit;
use crate::ruleset::Ruleset;
use crate::state::Men;
use crate::tables::lines::{LineWords, WORDS};
use crate::{Bitboard, Move, Rules, Side, Square, ThronePass};

/// The pieces of both sides as lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    attackers: LineWords,
    /// With the king.
    defenders: LineWords,
}

impl Lines {
    /// The lines of a board.
    pub fn of<R: Ruleset>(men: Men) -> Lines {
        let mut lines = Lines { attackers: [0; WORDS], defenders: [0; WORDS] };
        for square in Bitboard(men.attackers) {
            toggle::<R>(&mut lines.attackers, square.index());
        }
        for square in Bitboard(men.defenders | men.king) {
            toggle::<R>(&mut lines.defenders, square.index());
        }
        lines
    }

    /// Moves a piece, of the attackers' or the defenders', and removes the enemies on `captured`. The same again takes
    /// it back.
    #[inline(always)]
    pub fn play<R: Ruleset, const ATTACKERS: bool>(&mut self, mv: Move, captured: Bitboard) {
        let (own, enemies) = match ATTACKERS {
            true => (&mut self.attackers, &mut self.defenders),
            false => (&mut self.defenders, &mut self.attackers),
        };
        toggle::<R>(own, mv.from().index());
        toggle::<R>(own, mv.to().index());
        for square in captured {
            toggle::<R>(enemies, square.index());
        }
    }

    /// The slides of every man of a side, and of its king if he slides as men do.
    #[inline(always)]
    pub fn slides<R: Ruleset>(&self, rules: &Rules, side: Side, king: u128) -> Slides<'_> {
        let t = R::LINES;
        let crossable = R::options(rules).throne_pass == ThronePass::All;
        let own = match side {
            Side::Attackers => &self.attackers,
            Side::Defenders => &self.defenders,
        };
        // Without a king the last place, which is no board's square.
        let king_alone = &t.of_square[king.trailing_zeros().min(127) as usize];
        let mut reached = [0; WORDS];
        for word in 0..words::<R>() {
            let mut men = own[word];
            let mut open = t.board[word] & !(self.attackers[word] | self.defenders[word]);
            let mut stops = !t.throne[word];
            if !crossable {
                men &= !king_alone[word];
                open &= stops;
            }
            if R::options(rules).corners {
                stops &= !t.corners[word];
            }
            // Adding the first square of a run of open squares to the run carries through to its end. It does not
            // leave the line, whose highest bits are not open.
            let first = (men << 1) & open;
            reached[word] = open & !(open + first) & stops;
        }
        Slides { own, reached }
    }
}

/// The moves of one side's pieces along their lines.
pub(crate) struct Slides<'a> {
    own: &'a LineWords,
    /// Where they go. Between two pieces of a line lies at most one run of open squares, so in each direction a
    /// reached square is exactly one move.
    reached: LineWords,
}

impl Slides<'_> {
    /// How many there are.
    #[inline(always)]
    pub fn count<R: Ruleset>(&self) -> usize {
        self.reached[..words::<R>()].iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The move of that index; the order is not the generation order.
    #[inline(always)]
    pub fn nth<R: Ruleset>(&self, index: usize) -> Move {
        // Which word it is in is unpredictable, so nothing here branches on it: first the four words, then the one.
        let counts = self.reached.map(|word| word.count_ones() as usize);
        let (mut four, mut before, mut counted) = (0, 0, 0);
        for of_four in counts[..words::<R>() - 4].chunks_exact(4) {
            counted += of_four.iter().sum::<usize>();
            let beyond = index >= counted;
            four += usize::from(beyond);
            before = if beyond { counted } else { before };
        }
        let mut word = 4 * four;
        counted = before;
        for count in &counts[word..word + 3] {
            counted += count;
            let beyond = index >= counted;
            word += usize::from(beyond);
            before = if beyond { counted } else { before };
        }
        let bit = nth_bit(self.reached[word], index - before);
        let (shift, place) = (bit & 48, bit & 15);
        // The piece that comes here is the nearest one behind.
        let behind = (self.own[word] >> shift) & ((1 << place) - 1);
        let squares = &R::LINES.square[4 * word + shift / 16];
        let square = |place: usize| Square::new(squares[place & 15].into());
        Move::new(square(63 - behind.leading_zeros() as usize), square(place))
    }
}

#[inline(always)]
fn toggle<R: Ruleset>(lines: &mut LineWords, square: usize) {
    let of_square = &R::LINES.of_square[square & 127];
    for word in 0..words::<R>() {
        lines[word] ^= of_square[word];
    }
}

/// How many words the lines of this board need, in whole 256-bit vectors.
#[inline(always)]
const fn words<R: Ruleset>() -> usize {
    R::N.next_multiple_of(4)
}
