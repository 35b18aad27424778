//! The state of a game as a page shows it. Legal moves are in it: the page knows no rules.

use std::collections::BTreeMap;
use std::time::Duration;

use hnefi_engine::{Bitboard, Escape, NamedRules, Piece, Ply, Position, Preset, Rules, Side, Special, Square};
use hnefi_record::{Place, START, Seat, Session, without_passable_ends, words};
use serde::Serialize;

use super::clock::ClockView;
use super::players::{Fit, PlayerId};
use super::report::ChancesView;
use super::review::{Review, ReviewView};
use super::room::{Job, Room, RoomPlayer, RoomState, Source};
use super::strength::Strength;
use crate::{EndingView, Problem};

/// Rules as a page shows them.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RulesView {
    /// What stands for the rules in requests: the name of a published ruleset, else a rules record.
    name: String,
    /// What a published ruleset is called that is no preset; the page's texts name the presets.
    title: Option<String>,
    /// The preset whose rules these are but for what draws a game: people often played on.
    played_on: Option<&'static str>,
    side: usize,
    thrones: Vec<String>,
    /// Squares that are the king's goal, or on which men may not do as elsewhere.
    corners: Vec<String>,
    attacker_forts: Vec<String>,
    defender_forts: Vec<String>,
    /// Whether the king wins on any square of the edge.
    edge_escape: bool,
    first: Side,
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
    /// Whether advice is looked for.
    looking: bool,
    analysing: bool,
    review: Option<ReviewView>,
    clock: Option<ClockView>,
    adviser: Option<PlayerId>,
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
    /// How strongly a network plays; of alpha-beta its level, where it has one.
    strength: Option<Strength>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct CanView {
    undo: bool,
    redo: bool,
    resign: bool,
    hint: bool,
    /// Whether the game can be reviewed: it has moves, no player still plays, and a network judges.
    review: bool,
}

impl RulesView {
    pub(crate) fn of(rules: &Rules) -> RulesView {
        let names = |set: Bitboard| set.map(|square| square.name(rules.size())).collect::<Vec<_>>();
        let named = NamedRules::from(*rules);
        let (name, marks) = (named.name(), &rules.marks);
        let has_corners = rules.corners != Special::ORDINARY || rules.escape == Escape::Corner;
        RulesView {
            title: (named.is_published() && named.preset().is_none()).then(|| title(&name)),
            name,
            played_on: played_on(rules).map(Preset::name),
            side: rules.size().side(),
            thrones: names(marks.throne()),
            corners: if has_corners { names(marks.corners()) } else { Vec::new() },
            attacker_forts: names(marks.attacker_forts()),
            defender_forts: names(marks.defender_forts()),
            edge_escape: rules.escape == Escape::Edge,
            first: rules.first,
            start: board(&Position::start(rules)),
        }
    }
}

/// A name such as `sea-battle-9x9` as a title without the board, which a page says itself: `Sea Battle`.
fn title(name: &str) -> String {
    let is_board = |word: &&str| word.split_once('x').is_some_and(|(a, b)| a == b && a.parse::<u8>().is_ok());
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('-').filter(|word| !word.is_empty() && !is_board(word)).map(capital).collect::<Vec<_>>().join(" ")
}

/// The preset that a mixture is like, but for ends that players may pass over.
fn played_on(rules: &Rules) -> Option<Preset> {
    let ends = |rules: &Rules| Rules { ply_cap: 0, ..without_passable_ends(rules) };
    let alike = |preset: &Preset| ends(&preset.rules()) == ends(rules);
    if NamedRules::from(*rules).is_published() { None } else { Preset::ALL.into_iter().find(alike) }
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
    pub(super) fn of(room: &Room, state: &RoomState, now: Duration) -> StateView {
        let game = &state.game;
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
            count: state.state_count,
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
            ending: state.ending_view(ending),
            result: state.ending_view(game.result()),
            history: plies.iter().map(|played| PlyView::of(played, rules)).collect(),
            views: game.views().map(|view| view.map(|(chances, _)| chances.into())).collect(),
            seats: Side::BOTH.map(|side| seat(&state.seats[side.index()], &state.players[side.index()])),
            your_turn,
            thinking: state.ticket.as_ref().is_some_and(|ticket| matches!(ticket.job, Job::Move { .. })),
            looking: state.ticket.as_ref().is_some_and(|ticket| matches!(ticket.job, Job::Hint { .. })),
            analysing: state.analysing,
            review: state.review.as_ref().map(Review::view),
            clock: state.clock.as_ref().map(|clock| clock.view(now)),
            adviser: state.adviser.clone(),
            adviser_fit: state.adviser_fit,
            hint: state
                .hint
                .filter(|hint| hint.stamp == game.stamp())
                .map(|hint| HintView { from: hint.mv.from().name(size), to: hint.mv.to().name(size) }),
            can: CanView {
                undo: !state.is_timed() && game.can_undo(),
                redo: !state.is_timed() && game.has_taken_back(),
                resign: ending.is_none() && !game.is_decided() && game.has_person() && state.source.is_none(),
                hint: your_turn && state.adviser.is_some(),
                review: state.can_review() && matches!(state.adviser, Some(PlayerId::Model(_))),
            },
            source: state.source.clone(),
            tree: TreeView::of(game),
            departed: !game.is_main(),
            problem: state.problem.clone(),
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
            strength: strength.shown_of(id),
        },
    }
}
