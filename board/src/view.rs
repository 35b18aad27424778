//! The state of a game as a page shows it. Legal moves are in it: the page knows no rules.

use std::collections::BTreeMap;

use hnefi_engine::{BoardSize, Ending, Escape, Piece, Ply, Position, Preset, Repetition, Rules, Side, Square};
use serde::Serialize;

use super::players::{Fit, PlayerId};
use super::report::ChancesView;
use super::room::{Inside, Job, RoomPlayer};
use super::strength::Strength;
use crate::{Seat, words};

/// Rules as a page shows them.
#[derive(Clone, Debug, Serialize)]
pub(super) struct RulesView {
    /// The preset's name, none for a mixture.
    name: Option<&'static str>,
    title: String,
    /// What is particular about them, in a sentence.
    about: &'static str,
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
    /// What the last ply did, in words.
    said: String,
    /// Where each piece may go, when a person is to move.
    moves: BTreeMap<String, Vec<String>>,
    ending: Option<EndingView>,
    history: Vec<PlyView>,
    /// Chances of all positions, the start first; one more than `history`.
    views: Vec<Option<ChancesView>>,
    seats: [SeatView; 2],
    your_turn: bool,
    thinking: bool,
    analysing: bool,
    adviser: Option<PlayerId>,
    adviser_name: String,
    adviser_fit: Fit,
    hint: Option<HintView>,
    can: CanView,
    title: Option<String>,
    /// Whether an opened game was left and can be come back to.
    departed: bool,
    problem: Option<String>,
}

/// One ply.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PlyView {
    side: Side,
    from: String,
    to: String,
    captured: Vec<String>,
    text: String,
}

#[derive(Clone, Debug, Serialize)]
struct EndingView {
    winner: Option<Side>,
    words: String,
}

#[derive(Clone, Debug, Serialize)]
struct HintView {
    from: String,
    to: String,
}

#[derive(Clone, Debug, Serialize)]
struct SeatView {
    person: bool,
    name: String,
    player: Option<PlayerId>,
    strength: Option<Strength>,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct CanView {
    undo: bool,
    redo: bool,
    resign: bool,
    hint: bool,
}

impl RulesView {
    pub(super) fn of(rules: &Rules) -> RulesView {
        let n = rules.size().side();
        let name = |file: usize, rank: usize| Square::new(rank * n + file).name(rules.size());
        let corners = [(0, 0), (n - 1, 0), (0, n - 1), (n - 1, n - 1)];
        RulesView {
            name: rules.preset().map(Preset::name),
            title: title(rules),
            about: rules.preset().map_or("Rules of the game as it was recorded.", about),
            side: n,
            throne: name(n / 2, n / 2),
            corners: if rules.corners { corners.map(|(file, rank)| name(file, rank)).to_vec() } else { Vec::new() },
            edge_escape: rules.escape == Escape::Edge,
            start: board(&Position::start(rules)),
        }
    }
}

/// What a page calls the rules, such as `Brandubh, 7x7`.
fn title(rules: &Rules) -> String {
    let name = match rules.preset() {
        Some(Preset::CopenhagenHnefataflOrg) => "Copenhagen (hnefatafl.org)",
        Some(Preset::CopenhagenCyningstan) => "Copenhagen (Cyningstan)",
        Some(Preset::CopenhagenPlaytafl) => "Copenhagen (PlayTafl)",
        Some(Preset::TablutLinnaeus) => "Tablut (Linnaeus)",
        Some(Preset::Historical) => "Historical Hnefatafl",
        Some(_) => return words::rules(rules),
        // People often went on where the rules end a game for repetitions or for want of captures.
        None => match Preset::ALL.into_iter().find(|preset| without_draws(&preset.rules()) == without_draws(rules)) {
            Some(preset) => return format!("{}, played on", title(&preset.rules())),
            None => "As recorded",
        },
    };
    let side = rules.size().side();
    format!("{name}, {side}x{side}")
}

/// The rules but for what ends a game that nobody has won.
fn without_draws(rules: &Rules) -> Rules {
    let repetition = Repetition::Ignore;
    Rules { repetition, draw_fort_occurrence: 0, no_capture_draw_plies: 0, ply_cap: 0, ..*rules }
}

/// What distinguishes a preset, for somebody who is about to choose one.
fn about(preset: Preset) -> &'static str {
    match preset {
        Preset::Copenhagen => "The tournament game: strong king, shieldwalls, edge forts; the king flees to a corner.",
        Preset::CopenhagenHnefataflOrg => "Copenhagen, but the defenders may never repeat a position.",
        Preset::CopenhagenCyningstan => "Copenhagen, but at the third repetition the defenders must find another move.",
        Preset::CopenhagenPlaytafl => "Copenhagen, where the third repetition loses for the defenders.",
        Preset::Fetlar => "The Shetland game: like Copenhagen, without shieldwalls, forts and encirclement.",
        Preset::Brandubh => "The small Irish game: quick and sharp, two enemies take a king in the open.",
        Preset::Tablut => "Nine by nine: the king flees to any square of the edge.",
        Preset::Historical => "Tablut's rules on the large board, which begins with a cross; the defenders move first.",
        Preset::TablutLinnaeus => "Tablut as Linnaeus saw it in Lapland in 1732: nobody returns to the throne.",
    }
}

/// The letters of all squares, `a1` first.
pub(super) fn board(position: &Position) -> String {
    let letter = |index: usize| match position.board().piece_at(Square::new(index)) {
        None => '.',
        Some(Piece::Attacker) => 'a',
        Some(Piece::Defender) => 'd',
        Some(Piece::King) => 'k',
    };
    (0..position.size().squares()).map(letter).collect()
}

impl PlyView {
    fn of(played: &Ply, rules: &Rules) -> PlyView {
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

/// What a ply did, such as `Attackers moved d1 to c1 and captured c2.`
fn said(played: &Ply, size: BoardSize) -> String {
    let (from, to) = (played.mv.from().name(size), played.mv.to().name(size));
    let names: Vec<String> = played.captured.map(|square| square.name(size)).collect();
    let captured = match names.split_last() {
        None => String::new(),
        Some((only, [])) => format!(" and captured {only}"),
        Some((last, others)) => format!(" and captured {} and {last}", others.join(", ")),
    };
    format!("{} moved {from} to {to}{captured}.", words::side(played.side))
}

impl StateView {
    pub(super) fn of(id: &str, inside: &Inside) -> StateView {
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
        let departed = inside.opened.as_ref().is_some_and(|opened| {
            opened.len() != plies.len() || opened.iter().zip(&plies).any(|(mv, played)| *mv != played.mv)
        });
        StateView {
            id: id.to_owned(),
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
            said: game.game().last().map(|ply| said(ply, size)).unwrap_or_default(),
            moves,
            ending: ending
                .map(|ending: Ending| EndingView { winner: ending.winner(), words: words::ending(ending, rules) }),
            history: plies.iter().map(|played| PlyView::of(played, rules)).collect(),
            views: game.views().iter().map(|view| view.map(|(chances, _)| chances.into())).collect(),
            seats: Side::BOTH.map(|side| seat(&inside.seats[side.index()], &inside.players[side.index()])),
            your_turn,
            thinking: inside.ticket.as_ref().is_some_and(|ticket| matches!(ticket.job, Job::Move { .. })),
            analysing: inside.analysing,
            adviser: inside.adviser.clone(),
            adviser_name: inside.adviser_name.clone(),
            adviser_fit: inside.adviser_fit,
            hint: inside
                .hint
                .filter(|hint| hint.stamp == game.stamp())
                .map(|hint| HintView { from: hint.mv.from().name(size), to: hint.mv.to().name(size) }),
            can: CanView {
                undo: !game.game().is_empty() || matches!(ending, Some(Ending::Resigned(_))),
                redo: game.has_taken_back(),
                resign: ending.is_none() && game.has_person() && inside.title.is_none(),
                hint: your_turn && inside.adviser.is_some(),
            },
            title: inside.title.clone(),
            departed,
            problem: inside.problem.clone(),
        }
    }
}

/// Who sits there; at an opened game, who played it.
fn seat(seat: &Seat<RoomPlayer>, played: &Option<String>) -> SeatView {
    match seat {
        Seat::Person => {
            let name = played.clone().unwrap_or_else(|| "you".to_owned());
            SeatView { person: true, name, player: None, strength: None }
        }
        Seat::Player(RoomPlayer { id, name, strength }) => {
            SeatView { person: false, name: name.clone(), player: Some(id.clone()), strength: Some(*strength) }
        }
    }
}
