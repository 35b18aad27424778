//! The global vector: what is the same for every square.
//!
//! One network plays every ruleset, so its input has the rules and the clocks. All entries are in 0..=1;
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
    RepetitionCompares, Side,
};

/// Length of the global vector.
pub const GLOBALS: usize = 48;

/// Whether the attackers are to move.
pub const ATTACKERS_TO_MOVE: usize = 0;
/// Plies since the last capture over the limit.
pub const NO_CAPTURE_CLOCK: usize = 35;
/// Occurrences of this position over the limit.
pub const REPETITION_CLOCK: usize = 36;

/// This number of halvings of the playouts, or more, is encoded as 1.
const HALVINGS_SCALE: f32 = 8.0;

/// A limit of this many plies without a capture, or more, is encoded as 1.
const NO_CAPTURE_SCALE: f32 = 200.0;

/// The whole vector of a position, in the order of the table above.
pub(super) fn encode(position: &Position, handicap: Handicap) -> [f32; GLOBALS] {
    let rules = position.rules();
    let (throne, corners, repetition) = (&rules.throne, &rules.corners, rules.repetition);
    let side = rules.size().side() as i32;
    let step = |middle: i32| 1.0 / (1.0 + 2.0_f32.powi(middle - side));
    let repeats = repetition != Repetition::Ignore;
    let occurrence = if repeats { rules.repetition_occurrence } else { 0 };
    let [random_moves, halvings] = [Handicap::random_moves, Handicap::halvings]
        .map(|of| [Side::Attackers, Side::Defenders].map(|side| of(handicap, side)));
    [
        bit(position.side_to_move() == Side::Attackers),
        (side - 5) as f32 / 14.0,
        step(8),
        step(10),
        bit(rules.first == Side::Defenders),
        bit(rules.king_capture == KingCapture::Strong),
        bit(rules.king_capture == KingCapture::StrongNearThrone),
        bit(rules.king_capture == KingCapture::Weak),
        bit(rules.king_on_edge == KingOnEdge::CapturedByThree),
        bit(matches!(rules.king_armed, KingArmed::Armed | KingArmed::HammerOnly)),
        bit(matches!(rules.king_armed, KingArmed::Armed | KingArmed::AnvilOnly)),
        bit(!throne.stop.contains(Piece::King)),
        bit(throne.pass.contains(Piece::King)),
        bit(throne.pass.contains(Piece::Attacker)),
        bit(throne.hostile_empty.contains(Piece::Attacker)),
        bit(throne.hostile_occupied.contains(Piece::Attacker)),
        bit(throne.hostile_empty.contains(Piece::Defender)),
        bit(rules.linnaean_capture),
        bit(corners.is_royal()),
        bit(corners.hostile_empty.contains(Piece::King)),
        bit(rules.escape == Escape::Edge),
        bit(rules.shieldwall),
        bit(rules.exit_fort),
        bit(rules.encirclement == Encirclement::AnyPocket),
        bit(rules.encirclement == Encirclement::SingleRegion),
        bit(rules.no_legal_move == NoLegalMove::Draw),
        bit(repetition == Repetition::Draw),
        bit(repetition == Repetition::DefendersLose),
        bit(repetition == Repetition::MoverLoses),
        bit(repetition == Repetition::DefendersMayNot),
        inverse(occurrence),
        bit(repeats && rules.repetition_compares == RepetitionCompares::BoardAlone),
        share(rules.no_capture_draw_plies.into(), NO_CAPTURE_SCALE),
        inverse(rules.draw_fort_occurrence),
        bit(repetition == Repetition::MoverWins),
        // 35
        share(position.plies_since_capture(), rules.no_capture_draw_plies.into()),
        share(position.occurrences(), occurrence.into()),
        bit(rules.shieldwall && rules.shieldwall_corners),
        inverse(rules.speed.of(Piece::Attacker)),
        inverse(rules.speed.of(Piece::Defender)),
        inverse(rules.speed.of(Piece::King)),
        bit(rules.shieldwall && !rules.shieldwall_flank),
        0.0,
        random_moves[0],
        random_moves[1],
        (halvings[0] / HALVINGS_SCALE).min(1.0),
        (halvings[1] / HALVINGS_SCALE).min(1.0),
        0.0,
    ]
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
