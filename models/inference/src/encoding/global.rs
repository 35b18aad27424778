//! The global vector: what is the same for every square.
//!
//! One network plays every ruleset, so it is told the rules as well as the clocks that run. All entries are in 0..=1;
//! an option that is off is 0, so that a network trained on one ruleset meets small inputs under another. A technical
//! ply cap is no rule of the game, so it is no input.
//!
//! | index | meaning |
//! |---|---|
//! | 0 | the attackers are to move (picks the heads) |
//! | 1 | (N - 5) / 14 on a board of N squares a side |
//! | 2, 3 | 1 / (1 + 2^(8 - N)), 1 / (1 + 2^(10 - N)) |
//! | 4 | the defenders move first |
//! | 5..=7 | king capture: strong, strong near the throne, weak |
//! | 8 | three attackers capture the king on the edge |
//! | 9, 10 | the king captures as the moving piece, as the piece on the far side |
//! | 11 | no piece may stop on the throne |
//! | 12, 13 | the king, men may pass the empty throne |
//! | 14, 15 | the throne is hostile to attackers when empty, when occupied |
//! | 16 | the throne is hostile to defenders when empty |
//! | 17 | Linnaean capture |
//! | 18 | corners are the king's and hostile |
//! | 19 | corners are hostile to the king |
//! | 20 | every edge square is a goal |
//! | 21, 22 | shieldwall, exit fort |
//! | 23, 24 | encirclement of any pocket, of a single region |
//! | 25 | a side without a move draws (instead of losing) |
//! | 26..=29 | repetition: draw, defenders lose, mover loses, defenders may not |
//! | 30 | 1 / the occurrence at which repetition applies; 0 where it is ignored |
//! | 31 | repetition compares the board alone |
//! | 32 | plies without a capture that make a draw / 200, at most 1 |
//! | 33 | 1 / the occurrence at which a draw fort loses |
//! | 34 | repetition: who repeats wins |
//! | 35 | plies since the last capture / the limit |
//! | 36 | occurrences of this position / the limit |
//! | 37 | corners close a shieldwall |
//! | 38..=40 | 1 / the squares that an attacker, a defending man, the king may go in a move; 0 where it is any number |
//! | 41 | any move that completes a shieldwall closes it, not only one to its end |
//! | 42 | 0 |
//! | 43, 44 | handicap: share of random moves of the attackers, of the defenders |
//! | 45, 46 | handicap: halvings of the playouts of the attackers, of the defenders, over 8 |
//! | 47 | 0; the length is a multiple of 16 for the kernels |
//!
//! Two of the numbers of the side make a smooth step each, so that a linear layer can say anything of 7x7, 9x9 and
//! 11x11, and of larger boards about what it says of 11x11. The handicaps are 0 among equals.

use crate::Handicap;
use hnefi_engine::{
    Encirclement, Escape, KingArmed, KingCapture, KingOnEdge, NoLegalMove, Piece, Position, Repetition,
    RepetitionCompares, Rules, Side,
};

/// Length of the global vector.
pub const GLOBALS: usize = 48;

/// The attackers are to move.
pub const ATTACKERS_TO_MOVE: usize = 0;
/// Three numbers that the board's side gives.
pub const BOARD_SIDE: usize = 1;
/// The defenders move first.
pub const DEFENDERS_FIRST: usize = 4;
/// Three entries, one per way to capture the king.
pub const KING_CAPTURE: usize = 5;
/// Three attackers capture the king on the edge.
pub const KING_ON_EDGE: usize = 8;
/// The king captures as the moving piece.
pub const KING_HAMMER: usize = 9;
/// The king captures as the piece on the far side.
pub const KING_ANVIL: usize = 10;
/// Nobody may stop on the throne.
pub const THRONE_FORBIDDEN: usize = 11;
/// The king may pass the empty throne.
pub const THRONE_KING_PASSES: usize = 12;
/// Men may pass the empty throne.
pub const THRONE_MEN_PASS: usize = 13;
/// The empty throne is hostile to attackers.
pub const THRONE_EMPTY_ATTACKERS: usize = 14;
/// The occupied throne is hostile to attackers.
pub const THRONE_OCCUPIED_ATTACKERS: usize = 15;
/// The empty throne is hostile to defenders.
pub const THRONE_EMPTY_DEFENDERS: usize = 16;
/// Linnaean capture.
pub const LINNAEAN: usize = 17;
/// Corners are the king's and hostile.
pub const CORNERS: usize = 18;
/// Corners are hostile to the king.
pub const CORNER_HOSTILE_TO_KING: usize = 19;
/// Every edge square is a goal.
pub const ESCAPE_EDGE: usize = 20;
/// Shieldwall captures.
pub const SHIELDWALL: usize = 21;
/// Exit forts win.
pub const EXIT_FORT: usize = 22;
/// Encirclement: any pocket, then a single region.
pub const ENCIRCLEMENT: usize = 23;
/// A side without a move draws.
pub const NO_MOVE_DRAWS: usize = 25;
/// Four entries: draw, defenders lose, mover loses, defenders may not.
pub const REPETITION: usize = 26;
/// 1 / the occurrence at which repetition applies.
pub const REPETITION_OCCURRENCE: usize = 30;
/// Repetition compares the board alone.
pub const REPETITION_BOARD_ALONE: usize = 31;
/// Limit of plies without a capture.
pub const NO_CAPTURE_LIMIT: usize = 32;
/// 1 / the occurrence at which a draw fort loses.
pub const DRAW_FORT: usize = 33;
/// Who repeats wins.
pub const REPETITION_WINS: usize = 34;
/// Plies since the last capture over the limit.
pub const NO_CAPTURE_CLOCK: usize = 35;
/// Occurrences of this position over the limit.
pub const REPETITION_CLOCK: usize = 36;
/// Corners close a shieldwall.
pub const SHIELDWALL_CORNERS: usize = 37;
/// Three entries, 1 / the most squares of a move: attackers, defending men, the king.
pub const SPEED_LIMIT: usize = 38;
/// Any move that completes a shieldwall closes it.
pub const SHIELDWALL_ANY_MOVE: usize = 41;
/// Two entries, share of random moves: attackers, defenders.
pub const HANDICAP_BLUNDERS: usize = 43;
/// Two entries, halvings of the playouts over 8: attackers, defenders.
pub const HANDICAP_PLAYOUTS: usize = 45;

/// This number of halvings of the playouts, or more, is encoded as 1.
const HALVINGS_SCALE: f32 = 8.0;

/// A limit of this many plies without a capture, or more, is encoded as 1.
const NO_CAPTURE_SCALE: f32 = 200.0;

/// The whole vector of a position.
pub(super) fn encode(position: &Position, handicap: Handicap) -> [f32; GLOBALS] {
    let mut out = [0.0; GLOBALS];
    out[ATTACKERS_TO_MOVE] = bit(position.side_to_move() == Side::Attackers);
    write_rules(position.rules(), &mut out);
    write_clocks(position, &mut out);
    for side in [Side::Attackers, Side::Defenders] {
        out[HANDICAP_BLUNDERS + side.index()] = handicap.random_moves(side);
        out[HANDICAP_PLAYOUTS + side.index()] = (handicap.halvings(side) / HALVINGS_SCALE).min(1.0);
    }
    out
}

/// What the entries from [`BOARD_SIDE`] on say of a board of `side` squares a side.
fn side_numbers(side: usize) -> [f32; 3] {
    let side = side as i32;
    let step = |middle: i32| 1.0 / (1.0 + 2.0_f32.powi(middle - side));
    [(side - 5) as f32 / 14.0, step(8), step(10)]
}

fn write_rules(rules: &Rules, out: &mut [f32; GLOBALS]) {
    out[BOARD_SIDE..BOARD_SIDE + 3].copy_from_slice(&side_numbers(rules.size().side()));
    out[DEFENDERS_FIRST] = bit(rules.first == Side::Defenders);
    let king_capture = match rules.king_capture {
        KingCapture::Strong => 0,
        KingCapture::StrongNearThrone => 1,
        KingCapture::Weak => 2,
    };
    out[KING_CAPTURE + king_capture] = 1.0;
    out[KING_ON_EDGE] = bit(rules.king_on_edge == KingOnEdge::CapturedByThree);
    let (hammer, anvil) = match rules.king_armed {
        KingArmed::Armed => (true, true),
        KingArmed::HammerOnly => (true, false),
        KingArmed::AnvilOnly => (false, true),
        KingArmed::Unarmed => (false, false),
    };
    out[KING_HAMMER] = bit(hammer);
    out[KING_ANVIL] = bit(anvil);
    out[THRONE_FORBIDDEN] = bit(!rules.throne.stop.contains(Piece::King));
    out[THRONE_KING_PASSES] = bit(rules.throne.pass.contains(Piece::King));
    out[THRONE_MEN_PASS] = bit(rules.throne.pass.contains(Piece::Attacker));
    out[THRONE_EMPTY_ATTACKERS] = bit(rules.throne.hostile_empty.contains(Piece::Attacker));
    out[THRONE_OCCUPIED_ATTACKERS] = bit(rules.throne.hostile_occupied.contains(Piece::Attacker));
    out[THRONE_EMPTY_DEFENDERS] = bit(rules.throne.hostile_empty.contains(Piece::Defender));
    out[LINNAEAN] = bit(rules.linnaean_capture);
    out[CORNERS] = bit(rules.corners.is_royal());
    out[CORNER_HOSTILE_TO_KING] = bit(rules.corners.hostile_empty.contains(Piece::King));
    out[ESCAPE_EDGE] = bit(rules.escape == Escape::Edge);
    out[SHIELDWALL] = bit(rules.shieldwall);
    out[SHIELDWALL_CORNERS] = bit(rules.shieldwall && rules.shieldwall_corners);
    out[SHIELDWALL_ANY_MOVE] = bit(rules.shieldwall && !rules.shieldwall_flank);
    for piece in Piece::ALL {
        out[SPEED_LIMIT + piece as usize] = inverse(rules.speed.of(piece));
    }
    out[EXIT_FORT] = bit(rules.exit_fort);
    match rules.encirclement {
        Encirclement::Off => {}
        Encirclement::AnyPocket => out[ENCIRCLEMENT] = 1.0,
        Encirclement::SingleRegion => out[ENCIRCLEMENT + 1] = 1.0,
    }
    out[NO_MOVE_DRAWS] = bit(rules.no_legal_move == NoLegalMove::Draw);
    let repetition = match rules.repetition {
        Repetition::Ignore => None,
        Repetition::Draw => Some(REPETITION),
        Repetition::DefendersLose => Some(REPETITION + 1),
        Repetition::MoverLoses => Some(REPETITION + 2),
        Repetition::DefendersMayNot => Some(REPETITION + 3),
        Repetition::MoverWins => Some(REPETITION_WINS),
    };
    if let Some(index) = repetition {
        out[index] = 1.0;
        out[REPETITION_OCCURRENCE] = inverse(rules.repetition_occurrence);
        out[REPETITION_BOARD_ALONE] = bit(rules.repetition_compares == RepetitionCompares::BoardAlone);
    }
    out[NO_CAPTURE_LIMIT] = share(rules.no_capture_draw_plies.into(), NO_CAPTURE_SCALE);
    out[DRAW_FORT] = inverse(rules.draw_fort_occurrence);
}

fn write_clocks(position: &Position, out: &mut [f32; GLOBALS]) {
    let rules = position.rules();
    out[NO_CAPTURE_CLOCK] = share(position.plies_since_capture(), rules.no_capture_draw_plies.into());
    if rules.repetition != Repetition::Ignore {
        out[REPETITION_CLOCK] = share(position.occurrences(), rules.repetition_occurrence.into());
    }
}

fn bit(value: bool) -> f32 {
    f32::from(u8::from(value))
}

/// `count / limit`, at most 1; 0 when the limit is off.
fn share(count: u32, limit: f32) -> f32 {
    if limit > 0.0 { (count as f32 / limit).min(1.0) } else { 0.0 }
}

/// `1 / count`; 0 when the option is off.
fn inverse(count: u8) -> f32 {
    if count == 0 { 0.0 } else { 1.0 / f32::from(count) }
}
