//! What the rules say about squares, as sets: computed once for a game, at compile time for published boards.

use crate::set::{Set, Wide};
use crate::{Bitboard, Marks, Piece, Rules};

/// Rules about squares as sets. Arrays go by the kind of piece, attackers, defenders, king.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Masks<S> {
    /// Squares that a piece may pass, and those on which it may stop, that comes from outside their kind.
    pub cross: [S; 3],
    pub stop: [S; 3],
    /// Squares hostile to a piece, occupied or not; when empty only; when occupied only.
    pub hostile: [S; 3],
    pub hostile_empty: [S; 3],
    pub hostile_occupied: [S; 3],
    /// Squares on which the king wins by arriving.
    pub goals: S,
    /// Squares that close a shieldwall as men do.
    pub wall_ends: S,
    /// Squares that attackers may pass or stop on, and those they may stop on, wherever they come from.
    pub roam: S,
    pub rest: S,
    pub throne: S,
    /// The thrones and the squares beside them.
    pub near_throne: S,
    /// Whether men may come to stand on squares that are hostile when empty or when occupied alone.
    pub men_on_special: bool,
    /// Whether the king slides as defenders do, except that he may stop on more squares.
    pub king_as_man: bool,
    /// Whether every piece goes as far as its way is free and can pass where it can stop, wherever it comes from. Then
    /// whole sets slide at once; else pieces go step by step.
    pub plain: bool,
}

impl Masks<Bitboard> {
    pub(crate) const fn of(rules: &Rules) -> Masks<Bitboard> {
        let size = rules.size();
        let (board, kinds, marks) = (Bitboard::board(size), rules.kinds(), rules.marks.squares());
        let board_corners = Bitboard::corners(size);
        let nothing = [Bitboard::EMPTY; 3];
        let throne = marks[0].and(board);
        let mut masks = Masks {
            cross: [board; 3],
            stop: [board; 3],
            hostile: nothing,
            hostile_empty: nothing,
            hostile_occupied: nothing,
            goals: rules.goals().and(board),
            wall_ends: if rules.shieldwall_corners { rules.marks.corners().and(board) } else { Bitboard::EMPTY },
            roam: board,
            rest: board,
            throne,
            near_throne: throne.or(throne.neighbours(size)),
            men_on_special: false,
            king_as_man: false,
            plain: rules.speed.attackers == 0 && rules.speed.defenders == 0 && rules.speed.king == 0,
        };
        let mut kind = 0;
        while kind < Marks::KINDS {
            let (special, squares) = (&kinds[kind], marks[kind].and(board));
            let mut index = 0;
            while index < 3 {
                let piece = Piece::ALL[index];
                let (pass, stop) = (special.pass.contains(piece), special.stop.contains(piece));
                let enter = special.enter.contains(piece);
                if !(pass && enter) {
                    // Nothing lies behind a corner of the board: who stops there need not pass.
                    let closed = if stop && enter { squares.without(board_corners) } else { squares };
                    masks.cross[index] = masks.cross[index].without(closed);
                    let odd = if enter { stop && !closed.is_empty() } else { (pass || stop) && !squares.is_empty() };
                    masks.plain &= !odd;
                }
                if !(stop && enter) {
                    masks.stop[index] = masks.stop[index].without(squares);
                }
                let (empty, occupied) =
                    (special.hostile_empty.contains(piece), special.hostile_occupied.contains(piece));
                if empty && occupied {
                    masks.hostile[index] = masks.hostile[index].or(squares);
                } else if empty {
                    masks.hostile_empty[index] = masks.hostile_empty[index].or(squares);
                } else if occupied {
                    masks.hostile_occupied[index] = masks.hostile_occupied[index].or(squares);
                }
                if empty != occupied && !squares.is_empty() && !special.is_royal() {
                    masks.men_on_special = true;
                }
                index += 1;
            }
            if !special.stop.contains(Piece::Attacker) {
                masks.rest = masks.rest.without(squares);
                if !special.pass.contains(Piece::Attacker) {
                    masks.roam = masks.roam.without(squares);
                }
            }
            // A start may have men where none may stop.
            let pieces = rules.start.board();
            if !squares.is_disjoint(pieces.attackers.or(pieces.defenders)) {
                masks.men_on_special = true;
            }
            kind += 1;
        }
        let [_, defenders, king] = masks.cross;
        let same_way = defenders.is_subset(king) && king.without(board_corners).is_subset(defenders);
        masks.king_as_man = masks.plain && same_way && masks.stop[1].is_subset(masks.stop[2]);
        masks
    }
}

/// The same in other sets, at compile time where the sets are narrow.
macro_rules! converted {
    ($set:ty, |$bitboard:ident| $converted:expr, $($const:ident)?) => {
        impl Masks<$set> {
            pub(crate) $($const)? fn converted(masks: &Masks<Bitboard>) -> Masks<$set> {
                $($const)? fn one($bitboard: Bitboard) -> $set {
                    $converted
                }
                $($const)? fn three(sets: &[Bitboard; 3]) -> [$set; 3] {
                    [one(sets[0]), one(sets[1]), one(sets[2])]
                }
                Masks {
                    cross: three(&masks.cross),
                    stop: three(&masks.stop),
                    hostile: three(&masks.hostile),
                    hostile_empty: three(&masks.hostile_empty),
                    hostile_occupied: three(&masks.hostile_occupied),
                    goals: one(masks.goals),
                    wall_ends: one(masks.wall_ends),
                    roam: one(masks.roam),
                    rest: one(masks.rest),
                    throne: one(masks.throne),
                    near_throne: one(masks.near_throne),
                    men_on_special: masks.men_on_special,
                    king_as_man: masks.king_as_man,
                    plain: masks.plain,
                }
            }
        }
    };
}

converted!(u128, |set| set.0[0] as u128 | (set.0[1] as u128) << 64, const);
converted!(Wide, |set| Wide::narrowed(set),);
