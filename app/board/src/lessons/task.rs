//! What an exercise asks for, and whether a move does it. The engine alone decides.

use hnefi_engine::{Game, Move, MoveList, Outcome, Position, Reason, Rules};
use serde::Serialize;

use super::pattern::{Anchor, square};

/// What an exercise asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Task {
    /// A piece goes to this square, named as in the exercise's pattern.
    Reach(&'static str),
    /// This number of pieces is captured by one move.
    Capture(u32),
    /// The game ends so.
    End(Reason),
    /// The game goes on.
    GoOn,
    /// The opponent cannot win at once.
    Prevent,
    /// The mover wins by the next move, whatever the opponent does.
    TwoWays,
}

/// A task as a page shows it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct TaskView {
    kind: &'static str,
    /// Squares to point out.
    marks: Vec<String>,
}

/// What a move did, as far as the task is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(crate) enum Happened {
    /// What the task asks for.
    Fulfilled,
    /// The piece went elsewhere.
    Elsewhere,
    /// Nothing was captured.
    NothingCaptured,
    /// Too few were captured.
    TooFew,
    /// The game goes on.
    GoesOn,
    /// The game ended, and should not have, or not so.
    Ended {
        /// The reason's name.
        reason: &'static str,
    },
    /// The opponent wins by the answer.
    Lost {
        /// The reason's name.
        reason: &'static str,
    },
    /// The opponent's answer takes all ways from the mover.
    Answered,
}

impl Task {
    pub(super) fn view(self, anchor: Anchor, rules: &Rules) -> TaskView {
        let (kind, marks) = match self {
            Task::Reach(name) => {
                ("reach", square(name, anchor, rules).map(|square| square.name(rules.size())).into_iter().collect())
            }
            Task::Capture(_) => ("capture", Vec::new()),
            Task::End(_) => ("end", Vec::new()),
            Task::GoOn => ("go_on", Vec::new()),
            Task::Prevent => ("prevent", Vec::new()),
            Task::TwoWays => ("two_ways", Vec::new()),
        };
        TaskView { kind, marks }
    }

    /// What the last move `mv` of the game did, and the opponent's answer that shows it.
    pub(super) fn judge(self, game: &Game, mv: Move, anchor: Anchor) -> (Happened, Option<Move>) {
        let position = game.position();
        let captured = game.last().map_or(0, |ply| ply.captured.len() as u32);
        let ended = position.outcome().map(|outcome| Happened::Ended { reason: outcome.reason().as_str() });
        let happened = match self {
            Task::Reach(name) if square(name, anchor, position.rules()) == Some(mv.to()) => Happened::Fulfilled,
            Task::Reach(_) => ended.unwrap_or(Happened::Elsewhere),
            Task::Capture(count) if captured >= count => Happened::Fulfilled,
            Task::Capture(_) if captured > 0 => Happened::TooFew,
            Task::Capture(_) => ended.unwrap_or(Happened::NothingCaptured),
            Task::End(reason) if position.outcome().map(Outcome::reason) == Some(reason) => Happened::Fulfilled,
            Task::End(_) => ended.unwrap_or(Happened::GoesOn),
            Task::GoOn => ended.unwrap_or(Happened::Fulfilled),
            Task::Prevent => return prevented(position),
            Task::TwoWays => return two_ways(position),
        };
        (happened, None)
    }
}

/// A move by which the side to move wins at once.
fn win_at_once(position: &Position) -> Option<(Move, Outcome)> {
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    let side = position.side_to_move();
    moves.iter().find_map(|&mv| {
        let outcome = position.outcome_after(mv)?;
        (outcome.winner() == Some(side)).then_some((mv, outcome))
    })
}

/// Whether the opponent, who is to move, cannot win at once.
fn prevented(position: &Position) -> (Happened, Option<Move>) {
    match (position.outcome(), win_at_once(position)) {
        (Some(outcome), _) if outcome.winner() == Some(position.side_to_move()) => {
            (Happened::Ended { reason: outcome.reason().as_str() }, None)
        }
        (_, Some((mv, outcome))) => (Happened::Lost { reason: outcome.reason().as_str() }, Some(mv)),
        _ => (Happened::Fulfilled, None),
    }
}

/// Whether the mover wins by the next move after every answer.
fn two_ways(position: &Position) -> (Happened, Option<Move>) {
    let mover = position.side_to_move().opponent();
    match position.outcome() {
        Some(outcome) if outcome.winner() == Some(mover) => return (Happened::Fulfilled, None),
        Some(outcome) => return (Happened::Ended { reason: outcome.reason().as_str() }, None),
        None => {}
    }
    if let Some((mv, outcome)) = win_at_once(position) {
        return (Happened::Lost { reason: outcome.reason().as_str() }, Some(mv));
    }
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    let holds = moves.iter().copied().find(|&mv| {
        let mut after = position.clone();
        after.advance(mv);
        win_at_once(&after).is_none()
    });
    match holds {
        Some(mv) => (Happened::Answered, Some(mv)),
        None => (Happened::Fulfilled, None),
    }
}
