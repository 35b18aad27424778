//! How a game ended, in codes, which a page puts into the person's language.

use hnefi_engine::{Ending, Reason, Rules, Side};
use hnefi_record::GameRecord;
use serde::Serialize;

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EndingView {
    /// The winner; `None` in a draw.
    winner: Option<Side>,
    /// A reason of the rules, by [`Reason::as_str`], `resigned`, or `time`.
    reason: &'static str,
    /// After how many plies the rules end such a game, where it was they.
    plies: Option<u16>,
}

impl EndingView {
    /// The ending of a game under `rules`.
    pub fn of(ending: Ending, rules: &Rules) -> EndingView {
        let Ending::Board(outcome) = ending else {
            return EndingView { winner: ending.winner(), reason: "resigned", plies: None };
        };
        let plies = match outcome.reason() {
            Reason::NoCapture => Some(rules.no_capture_draw_plies),
            Reason::PlyCap => Some(rules.ply_cap),
            _ => None,
        };
        EndingView { winner: outcome.winner(), reason: outcome.reason().as_str(), plies }
    }

    /// The same of a game that was not given up: the loser had no time left.
    pub(crate) fn by_time(self) -> EndingView {
        EndingView { reason: "time", ..self }
    }

    /// The ending that a record names; none of an unfinished game.
    pub fn of_record(record: &GameRecord) -> Option<EndingView> {
        let resigned = record.resigned.map(Ending::Resigned);
        resigned.or(record.outcome.map(Ending::Board)).map(|ending| EndingView::of(ending, &record.rules))
    }
}
