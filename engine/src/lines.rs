//! The pieces once more, line by line in each direction, so that a few vector instructions find every man's moves.
//!
//! A directed line is 16 bits, 32 on boards above 11x11: one rank or file as a piece sees it that moves along it, its
//! bits rising in the direction of the move. There is one for every rank, file and direction, several to a word. In
//! such a line the moves of all pieces are carries of one addition, lines end where bits do, and no direction is harder
//! than another. But squares have no one place, so captures and floods go by the boards of
//! [`State`](crate::state::State).

use crate::bitboard::nth_bit;
use crate::ruleset::{Ruleset, Terms};
use crate::set::Set;
use crate::state::Men;
use crate::{Move, Side, Square};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lines<S: Set> {
    attackers: S::Lines,
    /// With the king.
    defenders: S::Lines,
}

impl<S: Set> Lines<S> {
    pub fn of<R: Ruleset<Set = S>>(g: &Terms<S>, men: Men<S>) -> Lines<S> {
        let mut lines = Lines { attackers: S::NO_LINES, defenders: S::NO_LINES };
        for square in men.attackers.squares() {
            toggle::<R>(g, &mut lines.attackers, square);
        }
        for square in (men.defenders | men.king).squares() {
            toggle::<R>(g, &mut lines.defenders, square);
        }
        lines
    }

    /// Moves a piece, of the attackers' or the defenders', and removes the enemies on `captured`. The same again takes
    /// it back.
    #[inline(always)]
    pub fn play<R: Ruleset<Set = S>, const ATTACKERS: bool>(&mut self, g: &Terms<S>, mv: Move, captured: S) {
        let (own, enemies) = match ATTACKERS {
            true => (&mut self.attackers, &mut self.defenders),
            false => (&mut self.defenders, &mut self.attackers),
        };
        toggle::<R>(g, own, mv.from().index());
        toggle::<R>(g, own, mv.to().index());
        for square in captured.squares() {
            toggle::<R>(g, enemies, square);
        }
    }

    /// The slides of every man of a side, and of its king if he slides as men do.
    #[inline(always)]
    pub fn slides<R: Ruleset<Set = S>>(&self, g: &Terms<S>, side: Side, king: S) -> Slides<'_, S> {
        let (masks, king_as_man) = (&g.line_masks, R::masks(g).king_as_man);
        let own = match side {
            Side::Attackers => &self.attackers,
            Side::Defenders => &self.defenders,
        };
        let (attackers, defenders) = (self.attackers.as_ref(), self.defenders.as_ref());
        // Without a king the last place, which is no board's square.
        let king_alone = S::at(&R::lines(g).of_square, if king.is_empty() { usize::MAX } else { king.first() });
        let (cross, stop) = (masks.cross[side.index()].as_ref(), masks.stop[side.index()].as_ref());
        let (mut reached, mut counts) = (S::NO_LINES, S::NO_LINES);
        for word in 0..words::<R>(g) {
            let mut men = own.as_ref()[word];
            let open = cross[word] & !(attackers[word] | defenders[word]);
            if !king_as_man {
                men &= !king_alone.as_ref()[word];
            }
            // Adding the first square of a run of open squares to the run carries through to its end. It does not
            // leave the line, whose highest bits are not open.
            let first = (men << 1) & open;
            let ends = open & !(open + first) & stop[word];
            reached.as_mut()[word] = ends;
            counts.as_mut()[word] = ends.count_ones().into();
        }
        Slides { own, reached, counts }
    }
}

/// The moves of one side's pieces along their lines.
pub(crate) struct Slides<'a, S: Set> {
    own: &'a S::Lines,
    /// Where they go. Between two pieces of a line lies at most one run of open squares, so in each direction a
    /// reached square is exactly one move.
    reached: S::Lines,
    /// How many there are in each word.
    counts: S::Lines,
}

impl<S: Set> Slides<'_, S> {
    #[inline(always)]
    pub fn count<R: Ruleset<Set = S>>(&self, g: &Terms<S>) -> usize {
        self.counts.as_ref()[..words::<R>(g)].iter().sum::<u64>() as usize
    }

    /// The move of that index; the order is not the generation order.
    #[inline(always)]
    pub fn nth<R: Ruleset<Set = S>>(&self, g: &Terms<S>, index: usize) -> Move {
        // Which word it is in is unpredictable, so nothing here branches on it: first the four words, then the one.
        let (counts, reached) = (self.counts.as_ref(), self.reached.as_ref());
        let index = index as u64;
        let (mut four, mut before, mut counted) = (0, 0, 0);
        for of_four in counts[..words::<R>(g) - 4].chunks_exact(4) {
            counted += of_four.iter().sum::<u64>();
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
        let bit = nth_bit(reached[word], (index - before) as usize);
        let (shift, place) = (bit & (64 - S::LANE), bit & (S::LANE - 1));
        // The piece that comes here is the nearest one behind.
        let behind = (self.own.as_ref()[word] >> shift) & ((1 << place) - 1);
        let squares = R::lines(g).square.as_ref();
        let square = |place: usize| Square::new(squares[64 * word + shift + place].into());
        Move::new(square(63 - behind.leading_zeros() as usize), square(place))
    }
}

#[inline(always)]
fn toggle<R: Ruleset>(g: &Terms<R::Set>, lines: &mut <R::Set as Set>::Lines, square: usize) {
    let of_square = R::Set::at(&R::lines(g).of_square, square).as_ref();
    let lines = lines.as_mut();
    for word in 0..words::<R>(g) {
        lines[word] ^= of_square[word];
    }
}

/// How many words the lines of this board need, in whole 256-bit vectors.
#[inline(always)]
fn words<R: Ruleset>(g: &Terms<R::Set>) -> usize {
    (4 * R::n(g) * R::Set::LANE / 64).next_multiple_of(4)
}
