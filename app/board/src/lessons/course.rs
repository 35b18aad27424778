//! Which lessons a ruleset has, and what they say.

use hnefi_engine::{
    Bitboard, Encirclement, Escape, KingArmed, KingCapture, KingOnEdge, NoLegalMove, Piece, Pieces, Preset, Repetition,
    RepetitionCompares, Rules, Side, Special, Speed,
};

use super::exercises::{self, Exercise};
use super::pattern::has_middle_throne;

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
const LESSONS: [(&str, Says, &[Exercise]); 19] = [
    ("board", board, &[]),
    ("moves", moves, &exercises::MOVES),
    ("escape", escape, &exercises::ESCAPE),
    ("squares", squares, &[]),
    ("capture", |_| vec!["capture.custodial", "capture.both"], &exercises::CAPTURE),
    ("between", |_| vec!["between.safe"], &exercises::BETWEEN),
    ("king_fights", king_fights, &exercises::KING_FIGHTS),
    ("throne", throne, &exercises::THRONE),
    ("corners", |rules| only(has_hostile_corners(rules), "corners.hostile"), &exercises::CORNERS),
    ("king_captured", king_captured, &exercises::KING_CAPTURED),
    (
        "linnaean",
        |rules| only(rules.linnaean_capture && has_middle_throne(rules), "linnaean.capture"),
        &exercises::LINNAEAN,
    ),
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

/// The lessons of these rules, with the exercises that can be set on their board and do there what their texts say.
pub(super) fn lessons(rules: &Rules) -> Vec<Lesson> {
    let mut lessons = lessons_for(rules);
    for lesson in &mut lessons {
        let placed = lesson.exercises.iter().filter_map(|exercise| exercise.placed(rules));
        lesson.exercises = placed.collect();
    }
    lessons
}

/// The lessons with all exercises that are meant for such rules.
pub(super) fn lessons_for(rules: &Rules) -> Vec<Lesson> {
    let lessons = LESSONS.into_iter().map(|(id, texts, exercises)| Lesson {
        id,
        texts: texts(rules),
        exercises: exercises.iter().filter(|exercise| (exercise.when)(rules)).copied().collect(),
    });
    lessons.filter(|lesson| !lesson.texts.is_empty()).collect()
}

/// Whether the corners are the board's four.
fn has_usual_corners(rules: &Rules) -> bool {
    rules.marks.corners() == Bitboard::corners(rules.size())
}

/// Whether the corners are the board's four, and enemies of all men.
fn has_hostile_corners(rules: &Rules) -> bool {
    has_usual_corners(rules)
        && [Piece::Attacker, Piece::Defender].iter().all(|&man| rules.corners.hostile_empty.contains(man))
}

/// Who may stop on squares of a kind, coming from others.
fn may_stop(special: &Special) -> Pieces {
    special.stop.iter().filter(|&piece| special.enter.contains(piece)).collect()
}

/// Whether the lessons of the throne and of moving say all there is to say of it; else the lesson of the
/// special squares does.
fn is_usual_throne(rules: &Rules) -> bool {
    let Special { hostile_empty, hostile_occupied, .. } = rules.throne;
    let empty_too = !hostile_occupied.contains(Piece::Attacker) || hostile_empty.contains(Piece::Attacker);
    let stop = may_stop(&rules.throne);
    has_middle_throne(rules)
        && (stop == Pieces::KING || stop == Pieces::NONE)
        && !hostile_occupied.contains(Piece::Defender)
        && empty_too
}

/// The same of the corners.
fn is_usual_corners(rules: &Rules) -> bool {
    let hostile = rules.corners.hostile_empty.or(rules.corners.hostile_occupied);
    has_usual_corners(rules)
        && may_stop(&rules.corners) == Pieces::KING
        && (has_hostile_corners(rules) || hostile == Pieces::NONE)
}

/// Special squares that the other lessons do not explain.
fn squares(rules: &Rules) -> Vec<&'static str> {
    let marks = &rules.marks;
    let kinds = [
        ("squares.throne", marks.throne(), rules.throne, is_usual_throne(rules)),
        ("squares.corners", marks.corners(), rules.corners, is_usual_corners(rules)),
        ("squares.attacker_forts", marks.attacker_forts(), rules.attacker_forts, false),
        ("squares.defender_forts", marks.defender_forts(), rules.defender_forts, false),
    ];
    let told = |(text, squares, special, is_usual): (&'static str, Bitboard, Special, bool)| {
        (!squares.is_empty() && special != Special::ORDINARY && !is_usual).then_some(text)
    };
    kinds.into_iter().filter_map(told).collect()
}

/// Whether the king reaches his goal by one move wherever the way is free: as he pleases, on the whole edge or in the
/// four corners.
fn flees_freely(rules: &Rules) -> bool {
    let open = |special: &Special| may_stop(special).contains(Piece::King);
    let goals = match rules.escape {
        Escape::Corner => has_usual_corners(rules) && open(&rules.corners),
        Escape::Edge => {
            let edge = Bitboard::edge(rules.size());
            let (marks, on_edge) = (&rules.marks, |squares: Bitboard| !(squares & edge).is_empty());
            (!on_edge(marks.throne()) || open(&rules.throne))
                && (!on_edge(marks.corners()) || open(&rules.corners))
                && (!on_edge(marks.attacker_forts()) || open(&rules.attacker_forts))
                && (!on_edge(marks.defender_forts()) || open(&rules.defender_forts))
        }
    };
    goals && rules.speed.king == 0
}

fn only(is_on: bool, text: &'static str) -> Vec<&'static str> {
    if is_on { vec![text] } else { Vec::new() }
}

fn board(rules: &Rules) -> Vec<&'static str> {
    let mut texts = vec!["board.sides"];
    texts.push(match rules.escape {
        Escape::Corner if has_usual_corners(rules) => "board.aim_corner",
        Escape::Corner => "board.aim_marked",
        Escape::Edge => "board.aim_edge",
    });
    if rules.start == Preset::Historical.rules().start {
        texts.push("board.cross");
    }
    texts.push(match rules.first {
        Side::Attackers => "board.first_attackers",
        Side::Defenders => "board.first_defenders",
    });
    texts
}

fn moves(rules: &Rules) -> Vec<&'static str> {
    let Speed { attackers, defenders, king } = rules.speed;
    let limits =
        [(attackers, "moves.limit_attackers"), (defenders, "moves.limit_defenders"), (king, "moves.limit_king")];
    let mut texts = vec![if rules.speed == Speed::UNLIMITED { "moves.straight" } else { "moves.limited" }];
    texts.extend(limits.iter().filter(|(limit, _)| *limit > 0).map(|(_, text)| *text));
    if is_usual_throne(rules) {
        let nobody = may_stop(&rules.throne) == Pieces::NONE;
        texts.push(if nobody { "moves.throne_nobody" } else { "moves.throne_king" });
        let pass: Pieces = rules.throne.pass.iter().filter(|&piece| rules.throne.enter.contains(piece)).collect();
        texts.extend(match pass {
            Pieces::ALL => Some("moves.pass_all"),
            Pieces::NONE => Some("moves.pass_nobody"),
            Pieces::KING => Some("moves.pass_king"),
            _ => None,
        });
    }
    if has_usual_corners(rules) && may_stop(&rules.corners) == Pieces::KING {
        texts.push("moves.corners");
    }
    texts
}

fn escape(rules: &Rules) -> Vec<&'static str> {
    by_goal(rules, "escape.corner", "escape.edge")
}

/// What is said of a king who flees freely.
fn by_goal(rules: &Rules, corner: &'static str, edge: &'static str) -> Vec<&'static str> {
    match rules.escape {
        _ if !flees_freely(rules) => Vec::new(),
        Escape::Corner => vec![corner],
        Escape::Edge => vec![edge],
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
    if !is_usual_throne(rules) {
        return Vec::new();
    }
    let empty = rules.throne.hostile_empty;
    let defenders = empty.contains(Piece::Defender).then_some("throne.defenders_when_empty");
    let attackers = match (empty.contains(Piece::Attacker), rules.throne.hostile_occupied.contains(Piece::Attacker)) {
        (_, true) => Some("throne.attackers_always"),
        (true, false) => Some("throne.attackers_when_empty"),
        (false, false) => None,
    };
    let mut texts: Vec<_> = defenders.into_iter().chain(attackers).collect();
    if !texts.is_empty() {
        texts.insert(0, "throne.hostile");
    }
    texts
}

fn king_captured(rules: &Rules) -> Vec<&'static str> {
    let has_throne = !rules.marks.throne().is_empty();
    let mut texts = vec![match rules.king_capture {
        KingCapture::Strong => "king_captured.strong",
        KingCapture::StrongNearThrone if has_throne => "king_captured.near",
        KingCapture::StrongNearThrone | KingCapture::Weak => "king_captured.weak",
    }];
    let throne_helps = has_middle_throne(rules) && rules.throne.hostile_empty.contains(Piece::King);
    if throne_helps && rules.king_capture != KingCapture::Weak {
        texts.push("king_captured.beside");
    }
    // Where the edge is the goal, the king on it has won.
    if rules.escape == Escape::Corner {
        texts.push(match (rules.king_capture, rules.king_on_edge) {
            (KingCapture::Strong, KingOnEdge::Safe) => "king_captured.edge_safe",
            (KingCapture::Strong, KingOnEdge::CapturedByThree) => "king_captured.edge_three",
            _ => "king_captured.edge_no_help",
        });
        let corner_helps = has_usual_corners(rules) && rules.corners.hostile_empty.contains(Piece::King);
        if corner_helps && rules.king_capture != KingCapture::Strong {
            texts.push("king_captured.corner");
        }
    }
    texts.push("king_captured.walks_in");
    texts
}

fn stop(rules: &Rules) -> Vec<&'static str> {
    by_goal(rules, "stop.corner", "stop.edge")
}

fn two_ways(rules: &Rules) -> Vec<&'static str> {
    by_goal(rules, "two_ways.corner", "two_ways.edge")
}

fn shieldwall(rules: &Rules) -> Vec<&'static str> {
    if !rules.shieldwall {
        return Vec::new();
    }
    let mut texts = vec!["shieldwall.row"];
    if rules.shieldwall_flank {
        texts.push("shieldwall.flank");
    }
    if rules.shieldwall_corners && has_usual_corners(rules) && rules.corners != Special::ORDINARY {
        texts.push("shieldwall.corner");
    }
    texts.push("shieldwall.king");
    texts
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
        Repetition::MoverWins => "repetition.mover_wins",
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
    // The text counts in moves of each side.
    if rules.no_capture_draw_plies > 0 && rules.no_capture_draw_plies.is_multiple_of(2) {
        texts.push("end.no_capture");
    }
    texts
}
