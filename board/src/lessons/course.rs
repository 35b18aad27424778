//! Which lessons a ruleset has, and what they say.

use hnefi_engine::{
    Encirclement, Escape, KingArmed, KingCapture, KingOnEdge, Layout, NoLegalMove, Repetition, RepetitionCompares,
    Rules, Side, ThroneHostileToAttackers, ThroneHostileToDefenders, ThronePass, ThroneStop,
};

use super::exercises::{self, Exercise};

/// A lesson of a ruleset.
#[derive(Clone, Debug)]
pub(super) struct Lesson {
    pub(super) id: &'static str,
    /// Keys of its paragraphs.
    pub(super) texts: Vec<&'static str>,
    pub(super) exercises: Vec<Exercise>,
}

/// What a lesson says under given rules, by the keys of its paragraphs.
type Says = fn(&Rules) -> Vec<&'static str>;

/// Every lesson: its id, what it says (nothing where the rules have no such thing), and its exercises.
const LESSONS: [(&str, Says, &[Exercise]); 18] = [
    ("board", board, &[]),
    ("moves", moves, &exercises::MOVES),
    ("escape", escape, &exercises::ESCAPE),
    ("capture", |_| vec!["capture.custodial", "capture.both"], &exercises::CAPTURE),
    ("between", |_| vec!["between.safe"], &exercises::BETWEEN),
    ("king_fights", king_fights, &exercises::KING_FIGHTS),
    ("throne", throne, &exercises::THRONE),
    ("corners", |rules| only(rules.corners, "corners.hostile"), &exercises::CORNERS),
    ("king_captured", king_captured, &exercises::KING_CAPTURED),
    ("linnaean", |rules| only(rules.linnaean_capture, "linnaean.capture"), &exercises::LINNAEAN),
    ("stop", stop, &exercises::STOP),
    ("two_ways", two_ways, &exercises::TWO_WAYS),
    ("shieldwall", shieldwall, &exercises::SHIELDWALL),
    ("encirclement", encirclement, &exercises::ENCIRCLEMENT),
    // Where the edge is the goal, the king at the edge needs no fort.
    ("fort", |rules| only(rules.exit_fort && rules.escape == Escape::Corner, "fort.edge"), &exercises::FORT),
    ("repetition", repetition, &exercises::REPETITION),
    ("walls", |rules| only(rules.draw_fort_occurrence > 0, "walls.lost"), &exercises::DRAW_FORT),
    ("end", end, &exercises::NO_MOVES),
];

/// The lessons of these rules.
pub(super) fn lessons(rules: &Rules) -> Vec<Lesson> {
    let lessons = LESSONS.into_iter().map(|(id, texts, exercises)| Lesson {
        id,
        texts: texts(rules),
        exercises: exercises.iter().filter(|exercise| (exercise.when)(rules)).copied().collect(),
    });
    lessons.filter(|lesson| !lesson.texts.is_empty()).collect()
}

fn only(is_on: bool, text: &'static str) -> Vec<&'static str> {
    if is_on { vec![text] } else { Vec::new() }
}

fn board(rules: &Rules) -> Vec<&'static str> {
    let mut texts = vec!["board.sides"];
    texts.push(match rules.escape {
        Escape::Corner => "board.aim_corner",
        Escape::Edge => "board.aim_edge",
    });
    if rules.layout == Layout::LewisCross {
        texts.push("board.cross");
    }
    texts.push(match rules.first {
        Side::Attackers => "board.first_attackers",
        Side::Defenders => "board.first_defenders",
    });
    texts
}

fn moves(rules: &Rules) -> Vec<&'static str> {
    let throne = match rules.throne_stop {
        ThroneStop::King => "moves.throne_king",
        ThroneStop::Nobody => "moves.throne_nobody",
    };
    let pass = match rules.throne_pass {
        ThronePass::All => "moves.pass_all",
        ThronePass::King => "moves.pass_king",
        ThronePass::Nobody => "moves.pass_nobody",
    };
    let mut texts = vec!["moves.straight", throne, pass];
    if rules.corners {
        texts.push("moves.corners");
    }
    texts
}

fn escape(rules: &Rules) -> Vec<&'static str> {
    match rules.escape {
        Escape::Corner => vec!["escape.corner"],
        Escape::Edge => vec!["escape.edge"],
    }
}

fn king_fights(rules: &Rules) -> Vec<&'static str> {
    match rules.king_armed {
        KingArmed::Armed => vec!["king_fights.armed"],
        KingArmed::HammerOnly => vec!["king_fights.hammer_only"],
        KingArmed::AnvilOnly => vec!["king_fights.anvil_only"],
        KingArmed::Unarmed => vec!["king_fights.unarmed"],
    }
}

fn throne(rules: &Rules) -> Vec<&'static str> {
    let defenders = match rules.throne_hostile_to_defenders {
        ThroneHostileToDefenders::WhenEmpty => Some("throne.defenders_when_empty"),
        ThroneHostileToDefenders::Never => None,
    };
    let attackers = match rules.throne_hostile_to_attackers {
        ThroneHostileToAttackers::Always => Some("throne.attackers_always"),
        ThroneHostileToAttackers::WhenEmpty => Some("throne.attackers_when_empty"),
        ThroneHostileToAttackers::Never => None,
    };
    let mut texts: Vec<_> = defenders.into_iter().chain(attackers).collect();
    if !texts.is_empty() {
        texts.insert(0, "throne.hostile");
    }
    texts
}

fn king_captured(rules: &Rules) -> Vec<&'static str> {
    let mut texts = match rules.king_capture {
        KingCapture::Strong => vec!["king_captured.strong", "king_captured.beside"],
        KingCapture::StrongNearThrone => vec!["king_captured.near", "king_captured.beside"],
        KingCapture::Weak => vec!["king_captured.weak"],
    };
    // Where the edge is the goal, the king on it has won.
    if rules.escape == Escape::Corner {
        texts.push(match (rules.king_capture, rules.king_on_edge) {
            (KingCapture::Strong, KingOnEdge::Safe) => "king_captured.edge_safe",
            (KingCapture::Strong, KingOnEdge::CapturedByThree) => "king_captured.edge_three",
            _ => "king_captured.edge_no_help",
        });
    }
    if rules.corners && rules.corner_hostile_to_king && rules.king_capture != KingCapture::Strong {
        texts.push("king_captured.corner");
    }
    texts.push("king_captured.walks_in");
    texts
}

fn stop(rules: &Rules) -> Vec<&'static str> {
    match rules.escape {
        Escape::Corner => vec!["stop.corner"],
        Escape::Edge => vec!["stop.edge"],
    }
}

fn two_ways(rules: &Rules) -> Vec<&'static str> {
    match rules.escape {
        Escape::Corner => vec!["two_ways.corner"],
        Escape::Edge => vec!["two_ways.edge"],
    }
}

fn shieldwall(rules: &Rules) -> Vec<&'static str> {
    match (rules.shieldwall, rules.corners) {
        (false, _) => Vec::new(),
        (true, false) => vec!["shieldwall.row", "shieldwall.king"],
        (true, true) => vec!["shieldwall.row", "shieldwall.corner", "shieldwall.king"],
    }
}

fn encirclement(rules: &Rules) -> Vec<&'static str> {
    match rules.encirclement {
        Encirclement::Off => Vec::new(),
        Encirclement::AnyPocket => vec!["encirclement.ring", "encirclement.pockets"],
        Encirclement::SingleRegion => vec!["encirclement.ring", "encirclement.single"],
    }
}

fn repetition(rules: &Rules) -> Vec<&'static str> {
    let rule = match rules.repetition {
        Repetition::Ignore => return Vec::new(),
        Repetition::Draw => "repetition.draw",
        Repetition::DefendersLose => "repetition.defenders_lose",
        Repetition::MoverLoses => "repetition.mover_loses",
        Repetition::DefendersMayNot => "repetition.defenders_may_not",
    };
    let compared = match rules.repetition_compares {
        RepetitionCompares::BoardAndSide => "repetition.board_and_side",
        RepetitionCompares::BoardAlone => "repetition.board_alone",
    };
    vec![rule, compared]
}

fn end(rules: &Rules) -> Vec<&'static str> {
    let mut texts = match rules.no_legal_move {
        NoLegalMove::Loss => vec!["end.no_moves_loss"],
        NoLegalMove::Draw => vec!["end.no_moves_draw"],
    };
    if rules.no_capture_draw_plies > 0 {
        texts.push("end.no_capture");
    }
    texts
}
