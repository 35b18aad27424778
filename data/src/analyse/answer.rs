//! What an answer holds.

use hnefi_engine::{Outcome, Position};
use hnefi_inference::Wdl;
use hnefi_search::{RootMove, Search, SearchReport};
use serde::Serialize;

use super::question::Question;

/// A search, and what it found.
pub(super) struct Found<'a> {
    pub(super) report: SearchReport,
    pub(super) search: &'a Search,
    pub(super) occupancy: Option<&'a [[f32; 4]]>,
}

/// An answer to a line.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Answer<'a> {
    Error { id: Option<&'a str>, error: String },
    Position(Box<Analysed<'a>>),
}

/// A position with what was found.
#[derive(Serialize)]
pub(super) struct Analysed<'a> {
    id: &'a str,
    ply: usize,
    /// Whether no other answer for this position follows.
    last: bool,
    cancelled: bool,
    fen: String,
    /// `ongoing`, `attackers`, `defenders` or `draw`.
    status: &'static str,
    /// Why the game ended; empty while it goes on.
    reason: &'static str,
    #[serde(flatten)]
    searched: Option<Searched<'a>>,
}

/// Everything from the view of the side to move.
#[derive(Serialize)]
struct Searched<'a> {
    playouts: u32,
    /// Chances of win, draw and loss: of the search, and of the network alone.
    wdl: [f32; 3],
    raw: [f32; 3],
    /// The certain result, from -1 to 1, and the plies to it.
    proven: Option<(f32, u32)>,
    /// The best first.
    moves: Vec<AnalysedMove>,
    #[serde(skip_serializing_if = "Option::is_none")]
    occupancy: Option<&'a [[f32; 4]]>,
}

#[derive(Serialize)]
struct AnalysedMove {
    #[serde(rename = "move")]
    mv: String,
    prior: f32,
    visits: u32,
    /// `null` for a move that was not looked at.
    wdl: Option<[f32; 3]>,
    /// The moves that are expected from here, this one first.
    line: Vec<String>,
}

fn chances(wdl: Wdl) -> [f32; 3] {
    [wdl.win, wdl.draw, wdl.loss]
}

impl<'a> Answer<'a> {
    /// A position with what its search found, the best moves first; without a search if its game is over, or if it was
    /// cancelled before its turn came.
    pub(super) fn of(
        question: &'a Question,
        ply: usize,
        position: &Position,
        found: Option<&Found<'a>>,
        last: bool,
    ) -> Answer<'a> {
        let outcome = position.outcome();
        Answer::Position(Box::new(Analysed {
            id: &question.id,
            ply,
            last,
            cancelled: question.is_cancelled(),
            fen: position.fen(),
            status: outcome.map_or("ongoing", Outcome::status),
            reason: outcome.map_or("", |outcome| outcome.reason().as_str()),
            searched: found.map(|found| Searched::of(found, question.top, position)),
        }))
    }
}

impl<'a> Searched<'a> {
    fn of(found: &Found<'a>, top: usize, position: &Position) -> Searched<'a> {
        let (report, size) = (&found.report, position.size());
        let mut moves: Vec<&RootMove> = report.moves.iter().collect();
        let order = |root: &RootMove| (root.mv != report.best, std::cmp::Reverse(root.visits));
        moves.sort_by(|a, b| order(a).cmp(&order(b)).then(b.prior.total_cmp(&a.prior)));
        let moves = moves.into_iter().take(top).map(|root| AnalysedMove {
            mv: root.mv.text(size),
            prior: root.prior,
            visits: root.visits,
            wdl: root.wdl.map(chances),
            line: found.search.line(root.mv).iter().map(|mv| mv.text(size)).collect(),
        });
        Searched {
            playouts: report.playouts,
            wdl: chances(report.wdl),
            raw: chances(report.raw),
            proven: report.proven.map(|proven| (2.0 * proven.wdl().score() - 1.0, proven.plies.into())),
            moves: moves.collect(),
            occupancy: found.occupancy,
        }
    }
}
