//! The exercises: positions with a task, and when they belong to a ruleset.

use hnefi_engine::{
    Escape, Game, KingArmed, KingCapture, KingOnEdge, Move, Piece, Pieces, Reason, Repetition, Rules, Side,
};

use super::pattern::{Anchor, Pattern, SMALL, mv};
use super::task::{Happened, Task};
use crate::Refusal;

/// A position with a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exercise {
    /// Key of its texts.
    pub(super) id: &'static str,
    /// Whether it belongs to the rules.
    pub(super) when: fn(&Rules) -> bool,
    pub(super) pattern: Pattern,
    /// What was played before the task.
    past: Past,
    pub(super) task: Task,
    /// A move that fulfils it, by names in the pattern.
    solution: &'static str,
}

/// What was played before a task.
#[derive(Clone, Copy, Debug)]
enum Past {
    Nothing,
    /// These moves over and over, until the next one would bring the position of the start for the time that the rules
    /// of repetition count to.
    RoundAndRound([&'static str; 4]),
    /// The attackers' moves, and the defenders' between them, in turn: as many as bring the defenders' men to a
    /// formation for the time before the one at which the draw fort is lost.
    Shuffle(&'static [&'static str], [&'static str; 2]),
}

impl Exercise {
    /// The game up to the task.
    pub(super) fn game(&self, rules: &Rules) -> Result<Game, Refusal> {
        let mut game = Game::from_position(self.pattern.position(rules)?);
        for text in self.past.moves(rules) {
            let mv = mv(text, self.pattern.anchor, rules)?;
            game.play(mv).map_err(|error| Refusal::fault(format!("{}: {error}", self.id)))?;
        }
        Ok(game)
    }

    /// The exercise where it can be set by these rules: in the corner of the board or, where something is special
    /// there, further in.
    pub(super) fn placed(self, rules: &Rules) -> Option<Exercise> {
        let last = match self.pattern.anchor {
            Anchor::Corner(_) => rules.size().side().saturating_sub(SMALL),
            Anchor::Throne => 0,
        };
        let at = |away: usize| match self.pattern.anchor {
            Anchor::Corner(_) => Exercise { pattern: Pattern { anchor: Anchor::Corner(away), ..self.pattern }, ..self },
            Anchor::Throne => self,
        };
        (0..=last).map(at).find(|exercise| exercise.holds(rules))
    }

    /// Whether it can be set by these rules, and its solution does what the task says and no more.
    pub(super) fn holds(&self, rules: &Rules) -> bool {
        let played = || {
            let (mut game, mv) = (self.game(rules).ok()?, self.solution(rules).ok()?);
            let begins = game.outcome().is_none();
            let captured = game.play(mv).ok()?.captured.len() as u32;
            let (happened, _) = self.task.judge(&game, mv, self.pattern.anchor);
            let as_told = match self.task {
                Task::Capture(count) => captured == count && game.outcome().is_none(),
                Task::Reach(_) => captured == 0 && game.outcome().is_none(),
                _ => true,
            };
            Some(begins && as_told && happened == Happened::Fulfilled)
        };
        played().unwrap_or(false)
    }

    /// A move that fulfils the task.
    pub(super) fn solution(&self, rules: &Rules) -> Result<Move, Refusal> {
        mv(self.solution, self.pattern.anchor, rules)
    }
}

impl Past {
    fn moves(self, rules: &Rules) -> Vec<&'static str> {
        match self {
            Past::Nothing => Vec::new(),
            Past::RoundAndRound(round) => {
                let count = 4 * (usize::from(rules.repetition_occurrence) - 1) - 1;
                round.into_iter().cycle().take(count).collect()
            }
            Past::Shuffle(attackers, defenders) => {
                let count = 2 * usize::from(rules.draw_fort_occurrence) - 1;
                let mut moves = Vec::new();
                for (&attack, defence) in attackers.iter().zip(defenders.into_iter().cycle()).take(count) {
                    moves.extend([attack, defence]);
                }
                // The defenders are to move.
                moves.pop();
                moves
            }
        }
    }
}

const ALWAYS: fn(&Rules) -> bool = |_| true;
const TO_CORNER: fn(&Rules) -> bool = |rules| rules.escape == Escape::Corner;
const TO_EDGE: fn(&Rules) -> bool = |rules| rules.escape == Escape::Edge;

const fn exercise(
    id: &'static str,
    when: fn(&Rules) -> bool,
    pattern: Pattern,
    task: Task,
    solution: &'static str,
) -> Exercise {
    Exercise { id, when, pattern, past: Past::Nothing, task, solution }
}

/// In the corner of the board, far from the court.
const fn beside_court(to_move: Side, ranks: &'static str) -> Pattern {
    Pattern { anchor: Anchor::Corner(0), court: true, to_move, ranks }
}

/// In the corner of the board, with a king of its own.
const fn in_corner(to_move: Side, ranks: &'static str) -> Pattern {
    Pattern { anchor: Anchor::Corner(0), court: false, to_move, ranks }
}

/// Around the throne.
const fn around_throne(to_move: Side, ranks: &'static str) -> Pattern {
    Pattern { anchor: Anchor::Throne, court: false, to_move, ranks }
}

use Side::{Attackers as A, Defenders as D};

pub(super) const MOVES: [Exercise; 2] = [
    exercise("moves_straight", ALWAYS, beside_court(A, "7/7/6a/7/7/1a5/7"), Task::Reach("b6"), "b2b6"),
    exercise(
        "moves_pass",
        |rules| rules.throne.pass == Pieces::ALL && !rules.throne.stop.contains(Piece::Defender),
        around_throne(D, "5d1/1a2dkd/5d1/1d5/7/7/7"),
        Task::Reach("f4"),
        "b4f4",
    ),
];

pub(super) const ESCAPE: [Exercise; 2] = [
    exercise("escape_corner", TO_CORNER, in_corner(D, "7/2a1a2/7/7/7/7/2k2a1"), Task::End(Reason::KingEscaped), "c1a1"),
    exercise("escape_edge", TO_EDGE, in_corner(D, "7/2a4/5d1/7/1aka3/7/7"), Task::End(Reason::KingEscaped), "c3c1"),
];

pub(super) const CAPTURE: [Exercise; 3] = [
    exercise(
        "capture_attackers",
        // The king on the throne would help to capture a second man, on the smallest board.
        |rules| !rules.throne.hostile_occupied.contains(Piece::Defender),
        beside_court(A, "7/7/6a/7/7/1ad2a1/7"),
        Task::Capture(1),
        "f2d2",
    ),
    exercise("capture_defenders", ALWAYS, beside_court(D, "7/1d5/6a/7/1a5/1d3a1/7"), Task::Capture(1), "b6b4"),
    exercise("capture_two", ALWAYS, beside_court(A, "7/7/7/1a5/1d5/2da3/1a5"), Task::Capture(2), "b1b2"),
];

pub(super) const BETWEEN: [Exercise; 1] =
    [exercise("between", ALWAYS, beside_court(A, "7/7/6a/7/7/1d1d3/2a4"), Task::Reach("c2"), "c1c2")];

pub(super) const KING_FIGHTS: [Exercise; 2] = [
    exercise(
        "king_hammer",
        |rules| matches!(rules.king_armed, KingArmed::Armed | KingArmed::HammerOnly),
        in_corner(D, "2a4/1ak1a2/7/7/2a2a1/2d4/7"),
        Task::Capture(1),
        "c6c4",
    ),
    exercise(
        "king_anvil",
        |rules| matches!(rules.king_armed, KingArmed::Armed | KingArmed::AnvilOnly),
        in_corner(D, "7/d6/2a4/7/1ak1a2/2a4/7"),
        Task::Capture(1),
        "a6a3",
    ),
];

pub(super) const THRONE: [Exercise; 2] = [
    exercise(
        "throne_defender",
        |rules| rules.throne.hostile_empty.contains(Piece::Defender),
        around_throne(A, "5d1/4dkd/5d1/7/3d3/1a5/7"),
        Task::Capture(1),
        "b2d2",
    ),
    exercise(
        "throne_attacker",
        |rules| rules.throne.hostile_empty.contains(Piece::Attacker),
        around_throne(D, "5d1/4dkd/1a3d1/7/3a3/1d5/7"),
        Task::Capture(1),
        "b2d2",
    ),
];

pub(super) const CORNERS: [Exercise; 2] = [
    exercise("corner_defender", ALWAYS, beside_court(A, "7/7/6a/7/7/7/1d3a1"), Task::Capture(1), "f1c1"),
    exercise("corner_attacker", ALWAYS, beside_court(D, "7/7/6a/7/7/7/1a3d1"), Task::Capture(1), "f1c1"),
];

const TAKE_THE_KING: Task = Task::End(Reason::KingCaptured);

pub(super) const KING_CAPTURED: [Exercise; 6] = [
    exercise(
        "king_by_four",
        |rules| rules.king_capture == KingCapture::Strong,
        in_corner(A, "2a4/4d2/7/7/1aka3/2a4/7"),
        TAKE_THE_KING,
        "c7c4",
    ),
    exercise(
        "king_by_two",
        |rules| rules.king_capture != KingCapture::Strong,
        in_corner(A, "7/7/5d1/7/7/1ak2a1/7"),
        TAKE_THE_KING,
        "f2d2",
    ),
    exercise(
        "king_beside_throne",
        |rules| rules.king_capture != KingCapture::Weak,
        around_throne(A, "7/5d1/7/7/2aka2/1a5/7"),
        TAKE_THE_KING,
        "b2d2",
    ),
    exercise(
        "king_on_throne",
        |rules| rules.king_capture != KingCapture::Weak,
        around_throne(A, "7/5d1/3a3/2aka2/7/7/3a3"),
        TAKE_THE_KING,
        "d1d3",
    ),
    exercise(
        "king_against_corner",
        |rules| {
            let hostile = rules.corners.hostile_empty.contains(Piece::King);
            hostile && rules.king_capture != KingCapture::Strong && rules.escape == Escape::Corner
        },
        in_corner(A, "7/7/5d1/7/7/7/1k3a1"),
        TAKE_THE_KING,
        "f1c1",
    ),
    exercise(
        "king_on_edge",
        |rules| {
            let by_three = rules.king_on_edge == KingOnEdge::CapturedByThree;
            by_three && rules.king_capture == KingCapture::Strong && rules.escape == Escape::Corner
        },
        in_corner(A, "7/2a4/5d1/7/7/7/1aka3"),
        TAKE_THE_KING,
        "c6c2",
    ),
];

pub(super) const LINNAEAN: [Exercise; 1] =
    [exercise("linnaean", ALWAYS, around_throne(A, "7/1a5/3d3/2aka2/3a3/7/7"), Task::Capture(1), "b6d6")];

pub(super) const STOP: [Exercise; 2] = [
    exercise("stop_corner", TO_CORNER, in_corner(A, "7/7/1a4a/7/5d1/7/2k1a2"), Task::Prevent, "b5b1"),
    exercise("stop_edge", TO_EDGE, in_corner(A, "7/2a4/5d1/7/a1k2a1/7/5a1"), Task::Prevent, "f1c1"),
];

pub(super) const TWO_WAYS: [Exercise; 2] = [
    exercise("two_ways_corner", TO_CORNER, in_corner(D, "7/1a2a2/7/5a1/2k4/7/7"), Task::TwoWays, "c3c1"),
    exercise("two_ways_edge", TO_EDGE, in_corner(D, "2a4/7/5d1/7/a1k2a1/7/2a4"), Task::TwoWays, "c3c4"),
];

pub(super) const SHIELDWALL: [Exercise; 3] = [
    exercise("wall_attackers", ALWAYS, beside_court(A, "7/7/7/7/2a4/3aa2/3dda1"), Task::Capture(2), "c3c1"),
    exercise("wall_defenders", ALWAYS, beside_court(D, "7/1a5/7/7/2d4/3dd2/3aad1"), Task::Capture(2), "c3c1"),
    exercise(
        "wall_corner",
        |rules| rules.shieldwall_corners,
        beside_court(A, "7/7/7/7/7/1aa4/1dd2a1"),
        Task::Capture(2),
        "f1d1",
    ),
];

pub(super) const ENCIRCLEMENT: [Exercise; 1] = [exercise(
    "ring",
    ALWAYS,
    around_throne(A, "5a1/3a3/2ada2/1adk3/2ada2/3a3/7"),
    Task::End(Reason::Encirclement),
    "f7f4",
)];

pub(super) const FORT: [Exercise; 1] =
    [exercise("fort", ALWAYS, in_corner(D, "7/4d2/7/2a2a1/1a5/3d3/2dk1d1"), Task::End(Reason::ExitFort), "e6e2")];

const ROUND: Past = Past::RoundAndRound(["f2f1", "b3b2", "f1f2", "b2b3"]);
const REPEATING: Pattern = beside_court(A, "7/1a5/6a/7/1d5/5a1/7");

pub(super) const REPETITION: [Exercise; 3] = [
    Exercise {
        id: "repeat_lost",
        when: |rules| matches!(rules.repetition, Repetition::DefendersLose | Repetition::MoverLoses),
        pattern: REPEATING,
        past: ROUND,
        task: Task::GoOn,
        solution: "b2c2",
    },
    Exercise {
        id: "repeat_illegal",
        when: |rules| rules.repetition == Repetition::DefendersMayNot,
        pattern: REPEATING,
        past: ROUND,
        task: Task::GoOn,
        solution: "b2c2",
    },
    Exercise {
        id: "repeat_draw",
        when: |rules| rules.repetition == Repetition::Draw,
        pattern: REPEATING,
        past: ROUND,
        task: Task::End(Reason::Repetition),
        solution: "b2b3",
    },
];

pub(super) const DRAW_FORT: [Exercise; 1] = [Exercise {
    id: "walls",
    when: ALWAYS,
    pattern: beside_court(A, "7/7/7/7/1d5/6a/1a5"),
    past: Past::Shuffle(&["b1c1", "c1d1", "d1e1", "e1f1", "g2g3", "g3g4", "g4g5"], ["b3b2", "b2b3"]),
    task: Task::GoOn,
    solution: "b3a3",
}];

pub(super) const NO_MOVES: [Exercise; 1] =
    [exercise("no_moves", ALWAYS, in_corner(D, "7/4k2/7/7/7/6d/1dad3"), Task::End(Reason::NoMoves), "g2c2")];
