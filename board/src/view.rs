//! The state of a game as a page shows it. Legal moves are in it: the page knows no rules.

use std::collections::BTreeMap;
use std::time::Duration;

use hnefi_engine::{Escape, Piece, Ply, Position, Preset, Rules, Side, Square};
use hnefi_record::without_passable_ends;
use serde::Serialize;

use super::clock::ClockView;
use super::players::{Fit, PlayerId};
use super::report::ChancesView;
use super::review::{Review, ReviewView};
use super::room::{Inside, Job, Room, RoomPlayer, Source};
use super::strength::Strength;
use super::tree::{Place, START};
use crate::{EndingView, Problem, Seat, Session, words};

/// Rules as a page shows them.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RulesView {
    /// The preset's name, none for a mixture.
    name: Option<&'static str>,
    /// The preset whose rules these are but for what ends a game that nobody has won: people often played on.
    played_on: Option<&'static str>,
    side: usize,
    throne: String,
    /// Squares that only the king may enter and that are hostile to all men.
    corners: Vec<String>,
    /// Whether the king wins on any square of the edge.
    edge_escape: bool,
    /// The standard layout.
    start: String,
}

/// Everything a page shows of a game.
#[derive(Clone, Debug, Serialize)]
pub(super) struct StateView {
    id: String,
    /// Which room of this id it is: `count` begins anew with it.
    opened: u32,
    count: u64,
    stamp: u64,
    number: u64,
    rules: RulesView,
    /// One letter a square, `a1` first: `.`, `a`, `d`, `k`.
    board: String,
    fen: String,
    to_move: Side,
    /// Plies in force, and all plies with those taken back.
    ply: usize,
    plies: usize,
    last: Option<PlyView>,
    /// Where each piece may go, when a person is to move.
    moves: BTreeMap<String, Vec<String>>,
    ending: Option<EndingView>,
    /// How the main line ended, wherever the board stands.
    result: Option<EndingView>,
    history: Vec<PlyView>,
    /// Chances of all positions, the start first; one more than `history`.
    views: Vec<Option<ChancesView>>,
    seats: [SeatView; 2],
    your_turn: bool,
    thinking: bool,
    analysing: bool,
    review: Option<ReviewView>,
    clock: Option<ClockView>,
    adviser: Option<PlayerId>,
    adviser_name: String,
    adviser_fit: Fit,
    hint: Option<HintView>,
    can: CanView,
    /// What was opened, when the game did not begin here.
    source: Option<Source>,
    tree: TreeView,
    /// Whether the position on the board is off the main line, to which one can go back.
    departed: bool,
    problem: Option<Problem>,
}

/// All moves with their variations, in few letters.
#[derive(Clone, Debug, Serialize)]
struct TreeView {
    /// Changes whenever the tree does.
    stamp: u64,
    /// The place on the board, 0 for the start, and the places of the line.
    place: Place,
    line: Vec<Place>,
    /// Who moves first.
    first: Side,
    /// Place, the place before it, and text of each move: behind each at once its main continuation with all that
    /// follows, then the others.
    moves: Vec<(Place, Place, String)>,
    /// What is said of a place.
    comments: BTreeMap<Place, String>,
    /// Marks of a move by their numbers in PGN.
    nags: BTreeMap<Place, Vec<u8>>,
}

/// One ply.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PlyView {
    side: Side,
    from: String,
    to: String,
    captured: Vec<String>,
    text: String,
}

#[derive(Clone, Debug, Serialize)]
struct HintView {
    from: String,
    to: String,
}

#[derive(Clone, Debug, Serialize)]
struct SeatView {
    person: bool,
    /// Who plays; at an opened game, who played it, where that is known.
    name: Option<String>,
    player: Option<PlayerId>,
    /// How strongly a network plays.
    strength: Option<Strength>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct CanView {
    undo: bool,
    redo: bool,
    resign: bool,
    hint: bool,
    /// Whether the game can be reviewed: it has moves, and no player still plays.
    review: bool,
}

impl RulesView {
    pub(crate) fn of(rules: &Rules) -> RulesView {
        let n = rules.size().side();
        let name = |file: usize, rank: usize| Square::new(rank * n + file).name(rules.size());
        let corners = [(0, 0), (n - 1, 0), (0, n - 1), (n - 1, n - 1)];
        RulesView {
            name: rules.preset().map(Preset::name),
            played_on: played_on(rules).map(Preset::name),
            side: n,
            throne: name(n / 2, n / 2),
            corners: if rules.corners { corners.map(|(file, rank)| name(file, rank)).to_vec() } else { Vec::new() },
            edge_escape: rules.escape == Escape::Edge,
            start: board(&Position::start(rules)),
        }
    }
}

/// The preset that a mixture is like, but for ends that players may pass over.
fn played_on(rules: &Rules) -> Option<Preset> {
    let ends = |rules: &Rules| Rules { ply_cap: 0, ..without_passable_ends(rules) };
    let alike = |preset: &Preset| ends(&preset.rules()) == ends(rules);
    if rules.preset().is_some() { None } else { Preset::ALL.into_iter().find(alike) }
}

/// The letters of all squares, `a1` first.
pub(crate) fn board(position: &Position) -> String {
    let letter = |index: usize| match position.board().piece_at(Square::new(index)) {
        None => '.',
        Some(Piece::Attacker) => 'a',
        Some(Piece::Defender) => 'd',
        Some(Piece::King) => 'k',
    };
    (0..position.size().squares()).map(letter).collect()
}

impl PlyView {
    pub(crate) fn of(played: &Ply, rules: &Rules) -> PlyView {
        let size = rules.size();
        PlyView {
            side: played.side,
            from: played.mv.from().name(size),
            to: played.mv.to().name(size),
            captured: played.captured.map(|square| square.name(size)).collect(),
            text: words::ply(played, rules),
        }
    }
}

impl TreeView {
    fn of(game: &Session) -> TreeView {
        let tree = game.tree();
        let order = tree.in_order();
        let text = |place: Place| {
            let node = tree.node(place);
            (place, node.parent, node.ply.as_ref().map(|ply| words::ply(ply, game.rules())).unwrap_or_default())
        };
        let said =
            |&place: &Place| Some((place, tree.node(place).comment.clone())).filter(|(_, said)| !said.is_empty());
        let marked = |&place: &Place| Some((place, tree.node(place).nags.clone())).filter(|(_, nags)| !nags.is_empty());
        TreeView {
            stamp: game.tree_stamp(),
            place: game.place(),
            line: game.line().to_vec(),
            first: game.game().start().side_to_move(),
            comments: std::iter::once(&START).chain(&order).filter_map(said).collect(),
            nags: order.iter().filter_map(marked).collect(),
            moves: order.into_iter().map(text).collect(),
        }
    }
}

impl StateView {
    pub(super) fn of(room: &Room, inside: &Inside, now: Duration) -> StateView {
        let game = &inside.game;
        let (rules, position) = (game.rules(), game.position());
        let size = rules.size();
        let your_turn = game.waits_for_person();
        let mut moves: BTreeMap<String, Vec<String>> = BTreeMap::new();
        if your_turn {
            for &mv in game.moves().iter() {
                moves.entry(mv.from().name(size)).or_default().push(mv.to().name(size));
            }
        }
        let ending = game.ending();
        let plies: Vec<&Ply> = game.all_plies().collect();
        StateView {
            id: room.id.clone(),
            opened: room.opened,
            count: inside.state_count,
            stamp: game.stamp(),
            number: game.number(),
            rules: RulesView::of(rules),
            board: board(position),
            fen: position.fen(),
            to_move: game.side_to_move(),
            ply: game.game().len(),
            plies: plies.len(),
            last: game.game().last().map(|ply| PlyView::of(ply, rules)),
            moves,
            ending: inside.ending_view(ending),
            result: inside.ending_view(game.result()),
            history: plies.iter().map(|played| PlyView::of(played, rules)).collect(),
            views: game.views().map(|view| view.map(|(chances, _)| chances.into())).collect(),
            seats: Side::BOTH.map(|side| seat(&inside.seats[side.index()], &inside.players[side.index()])),
            your_turn,
            thinking: inside.ticket.as_ref().is_some_and(|ticket| matches!(ticket.job, Job::Move { .. })),
            analysing: inside.analysing,
            review: inside.review.as_ref().map(Review::view),
            clock: inside.clock.as_ref().map(|clock| clock.view(now)),
            adviser: inside.adviser.clone(),
            adviser_name: inside.adviser_name.clone(),
            adviser_fit: inside.adviser_fit,
            hint: inside
                .hint
                .filter(|hint| hint.stamp == game.stamp())
                .map(|hint| HintView { from: hint.mv.from().name(size), to: hint.mv.to().name(size) }),
            can: CanView {
                undo: !inside.is_timed() && game.can_undo(),
                redo: !inside.is_timed() && game.has_taken_back(),
                resign: ending.is_none() && !game.is_decided() && game.has_person() && inside.source.is_none(),
                hint: your_turn && inside.adviser.is_some(),
                review: inside.can_review(),
            },
            source: inside.source.clone(),
            tree: TreeView::of(game),
            departed: !game.is_main(),
            problem: inside.problem.clone(),
        }
    }
}

/// Who sits there; at an opened game, who played it.
fn seat(seat: &Seat<RoomPlayer>, played: &Option<String>) -> SeatView {
    match seat {
        Seat::Person => SeatView { person: true, name: played.clone(), player: None, strength: None },
        Seat::Player(RoomPlayer { id, name, strength }) => SeatView {
            person: false,
            name: Some(name.clone()),
            player: Some(id.clone()),
            strength: matches!(id, PlayerId::Model(_)).then_some(*strength),
        },
    }
}
