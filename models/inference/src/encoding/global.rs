//! The global vector: what is the same for every square.
//!
//! One network plays every ruleset, so it is told the rules as well as the clocks that run. All entries are in 0..=1;
//! an option that is off is 0, so that a network trained on one ruleset meets small inputs under another. A technical
//! ply cap is no rule of the game, so it is no input.
//!
//! | index | meaning |
//! |---|---|
//! | 0 | the attackers are to move (picks the heads) |
//! | 1..=3 | the board is 7x7, 9x9, 11x11 |
//! | 4 | the defenders move first |
//! | 5..=7 | king capture: strong, strong near the throne, weak |
//! | 8 | three attackers capture the king on the edge |
//! | 9, 10 | the king captures as the moving piece, as the piece on the far side |
//! | 11 | nobody may stop on the throne |
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
//! | 34, 37 | 0 |
//! | 35 | plies since the last capture / the limit |
//! | 36 | occurrences of this position / the limit |
//! | 38..=47 | 0, kept for later options |

use hnefi_engine::{
    BoardSize, Encirclement, Escape, KingArmed, KingCapture, KingOnEdge, NoLegalMove, Position, Repetition,
    RepetitionCompares, Rules, Side, ThroneHostileToAttackers, ThroneHostileToDefenders, ThronePass, ThroneStop,
};

/// Length of the global vector.
pub const GLOBALS: usize = 48;

/// The attackers are to move.
pub const ATTACKERS_TO_MOVE: usize = 0;
/// Three entries, one per board size.
pub const BOARD_SIZE: usize = 1;
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
/// Plies since the last capture over the limit.
pub const NO_CAPTURE_CLOCK: usize = 35;
/// Occurrences of this position over the limit.
pub const REPETITION_CLOCK: usize = 36;

/// A limit of this many plies without a capture, or more, is encoded as 1.
const NO_CAPTURE_SCALE: f32 = 200.0;

/// The whole vector of a position.
pub(super) fn encode(position: &Position) -> [f32; GLOBALS] {
    let mut out = [0.0; GLOBALS];
    out[ATTACKERS_TO_MOVE] = bit(position.side_to_move() == Side::Attackers);
    write_rules(position.rules(), &mut out);
    write_clocks(position, &mut out);
    out
}

/// Place of a board size among the entries from [`BOARD_SIZE`] on.
fn size_index(size: BoardSize) -> usize {
    match size {
        BoardSize::Seven => 0,
        BoardSize::Nine => 1,
        BoardSize::Eleven => 2,
    }
}

fn write_rules(rules: &Rules, out: &mut [f32; GLOBALS]) {
    out[BOARD_SIZE + size_index(rules.size())] = 1.0;
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
    out[THRONE_FORBIDDEN] = bit(rules.throne_stop == ThroneStop::Nobody);
    out[THRONE_KING_PASSES] = bit(rules.throne_pass != ThronePass::Nobody);
    out[THRONE_MEN_PASS] = bit(rules.throne_pass == ThronePass::All);
    out[THRONE_EMPTY_ATTACKERS] = bit(rules.throne_hostile_to_attackers != ThroneHostileToAttackers::Never);
    out[THRONE_OCCUPIED_ATTACKERS] = bit(rules.throne_hostile_to_attackers == ThroneHostileToAttackers::Always);
    out[THRONE_EMPTY_DEFENDERS] = bit(rules.throne_hostile_to_defenders == ThroneHostileToDefenders::WhenEmpty);
    out[LINNAEAN] = bit(rules.linnaean_capture);
    out[CORNERS] = bit(rules.corners);
    out[CORNER_HOSTILE_TO_KING] = bit(rules.corner_hostile_to_king);
    out[ESCAPE_EDGE] = bit(rules.escape == Escape::Edge);
    out[SHIELDWALL] = bit(rules.shieldwall);
    out[EXIT_FORT] = bit(rules.exit_fort);
    match rules.encirclement {
        Encirclement::Off => {}
        Encirclement::AnyPocket => out[ENCIRCLEMENT] = 1.0,
        Encirclement::SingleRegion => out[ENCIRCLEMENT + 1] = 1.0,
    }
    out[NO_MOVE_DRAWS] = bit(rules.no_legal_move == NoLegalMove::Draw);
    let repetition = match rules.repetition {
        Repetition::Ignore => None,
        Repetition::Draw => Some(0),
        Repetition::DefendersLose => Some(1),
        Repetition::MoverLoses => Some(2),
        Repetition::DefendersMayNot => Some(3),
    };
    if let Some(kind) = repetition {
        out[REPETITION + kind] = 1.0;
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
