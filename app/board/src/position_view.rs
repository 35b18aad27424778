//! Positions of puzzles and lessons as a page shows them: no game stands behind them, so a request brings its moves.

use std::collections::BTreeMap;

use hnefi_engine::{Ending, Game, Move, MoveList, Position, Side};
use serde::Serialize;

use crate::refusal::no_move;
use crate::view::{PlyView, board};
use crate::{EndingView, Refusal};

/// A position, and what may be done in it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PositionView {
    /// One letter a square, `a1` first: `.`, `a`, `d`, `k`.
    board: String,
    fen: String,
    to_move: Side,
    /// Where each piece may go.
    moves: BTreeMap<String, Vec<String>>,
    ending: Option<EndingView>,
}

/// A ply, and the board after it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FrameView {
    board: String,
    ply: PlyView,
}

impl PositionView {
    pub(crate) fn of(position: &Position) -> PositionView {
        let size = position.size();
        let (mut list, mut moves) = (MoveList::new(), BTreeMap::<String, Vec<String>>::new());
        position.legal_moves(&mut list);
        for &mv in list.iter() {
            moves.entry(mv.from().name(size)).or_default().push(mv.to().name(size));
        }
        PositionView {
            board: board(position),
            fen: position.fen(),
            to_move: position.side_to_move(),
            moves,
            ending: position.outcome().map(|outcome| EndingView::of(Ending::Board(outcome), position.rules())),
        }
    }
}

/// The plies of a game from the one with this index on.
pub(crate) fn frames(game: &Game, first: usize) -> Vec<FrameView> {
    let (rules, plies) = (game.rules(), game.plies());
    let positions = game.positions().skip(first + 1);
    let shown = plies.iter().skip(first).zip(positions);
    shown.map(|(ply, after)| FrameView { board: board(&after), ply: PlyView::of(ply, rules) }).collect()
}

/// Plays a move that a page sent.
///
/// # Errors
/// When it is no move or not legal.
pub(crate) fn play(game: &mut Game, text: &str) -> Result<Move, Refusal> {
    let mv = Move::parse(text, game.rules().size()).map_err(no_move)?;
    game.play(mv).map_err(no_move)?;
    Ok(mv)
}

/// A rank of a FEN by its letters, with `.` for an empty square.
pub(crate) fn fen_rank(letters: &[char]) -> String {
    let mut text = String::new();
    let mut empty = 0;
    for &letter in letters {
        if letter == '.' {
            empty += 1;
            continue;
        }
        if empty > 0 {
            text.push_str(&empty.to_string());
            empty = 0;
        }
        text.push(letter);
    }
    if empty > 0 {
        text.push_str(&empty.to_string());
    }
    text
}
