//! What a search knows so far, as a page shows it: the best moves, where the policy points, how the board may end up.

use hnefi_engine::{Position, Rules};
use hnefi_inference::Evaluation;
use hnefi_record::{Chances, words};
use hnefi_search::{Proven, ProvenResult, RootMove, SearchReport};
use serde::Serialize;

/// Moves a report names.
const MOVES: usize = 8;

/// Plies of the expected line.
const LINE: usize = 12;

/// Chances as a page draws them, absolute.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct ChancesView {
    pub(super) attackers: f32,
    pub(super) draw: f32,
    pub(super) defenders: f32,
}

impl From<Chances> for ChancesView {
    fn from(chances: Chances) -> ChancesView {
        let round = |chance: f32| (chance * 1000.0).round() / 1000.0;
        ChancesView {
            attackers: round(chances.attackers),
            draw: round(chances.draw),
            defenders: round(chances.defenders),
        }
    }
}

/// A proven result for the side to move, and in how many plies.
#[derive(Clone, Copy, Debug, Serialize)]
struct Certain {
    /// `win`, `loss` or `draw`.
    result: &'static str,
    plies: u8,
}

impl From<Proven> for Certain {
    fn from(proven: Proven) -> Certain {
        let result = match proven.result {
            ProvenResult::Win => "win",
            ProvenResult::Loss => "loss",
            ProvenResult::Draw => "draw",
        };
        Certain { result, plies: proven.plies }
    }
}

/// One of the best moves.
#[derive(Clone, Debug, Serialize)]
pub(super) struct MoveView {
    from: String,
    to: String,
    text: String,
    visits: u32,
    /// Share of all visits.
    share: f32,
    prior: f32,
    /// Expected score of the mover, draws half; `None` for a move not looked at.
    score: Option<f32>,
    certain: Option<Certain>,
}

/// What a page shows of a search.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    /// The state of the game it belongs to.
    pub(super) stamp: u64,
    /// `move`, `hint`, `quick` or `analysis`.
    pub(super) kind: &'static str,
    pub(super) finished: bool,
    /// Whether it ended because others needed its memory.
    pub(super) displaced: bool,
    playouts: u32,
    evaluations: u64,
    depth: u32,
    seconds: f32,
    chances: ChancesView,
    raw: ChancesView,
    certain: Option<Certain>,
    /// Expected plies to the end, by the network.
    plies_left: Option<u32>,
    moves: Vec<MoveView>,
    line: Vec<String>,
    /// The network's policy by square of origin and by square of destination, in thousandths; index `rank * N + file`.
    from: Vec<u16>,
    to: Vec<u16>,
    /// How each square may end: chance in hundredths of an attacker, a defender, the king.
    occupancy: Option<Vec<[u8; 3]>>,
}

/// Where and when a search stands, beside what it found.
pub(super) struct Progress<'a> {
    pub(super) stamp: u64,
    pub(super) kind: &'static str,
    pub(super) finished: bool,
    pub(super) seconds: f32,
    pub(super) root: Option<&'a Evaluation>,
}

impl Report {
    /// A page's view of a search of `position`.
    pub(super) fn new(position: &Position, search: &SearchReport, progress: &Progress<'_>) -> Report {
        let (side, rules) = (position.side_to_move(), position.rules());
        let squares = position.size().squares();
        let (mut from, mut to) = (vec![0.0_f32; squares], vec![0.0_f32; squares]);
        for mv in &search.moves {
            from[mv.mv.from().index()] += mv.prior;
            to[mv.mv.to().index()] += mv.prior;
        }
        let thousandths = |weights: Vec<f32>| weights.iter().map(|weight| (weight * 1000.0).round() as u16).collect();
        Report {
            stamp: progress.stamp,
            kind: progress.kind,
            finished: progress.finished,
            displaced: false,
            playouts: search.playouts,
            evaluations: search.evaluations,
            depth: search.max_depth,
            seconds: progress.seconds,
            chances: Chances::of(search.wdl, side).into(),
            raw: Chances::of(search.raw, side).into(),
            certain: search.proven.map(Certain::from),
            plies_left: progress.root.map(|root| root.moves_left.round() as u32),
            moves: best(search, rules),
            line: search.pv.iter().take(LINE).map(|&mv| words::mv(mv, rules)).collect(),
            from: thousandths(from),
            to: thousandths(to),
            occupancy: progress.root.and_then(|root| root.occupancy.as_deref()).map(|squares| {
                let hundredths = |chance: f32| (chance * 100.0).round() as u8;
                squares
                    .iter()
                    .map(|&[_, attacker, defender, king]| [attacker, defender, king].map(hundredths))
                    .collect()
            }),
        }
    }
}

/// The moves a search likes best, the one to play first.
fn best(search: &SearchReport, rules: &Rules) -> Vec<MoveView> {
    let mut moves: Vec<&RootMove> = search.moves.iter().collect();
    let visits: u32 = moves.iter().map(|mv| mv.visits).sum();
    let key = |mv: &RootMove| (mv.mv == search.best, mv.visits, mv.prior);
    moves.sort_by(|a, b| key(b).partial_cmp(&key(a)).unwrap_or(std::cmp::Ordering::Equal));
    let view = |mv: &&RootMove| MoveView {
        from: mv.mv.from().name(rules.size()),
        to: mv.mv.to().name(rules.size()),
        text: words::mv(mv.mv, rules),
        visits: mv.visits,
        share: mv.visits as f32 / visits.max(1) as f32,
        prior: mv.prior,
        score: mv.score,
        certain: mv.proven.map(Certain::from),
    };
    moves.iter().take(MOVES).map(view).collect()
}
