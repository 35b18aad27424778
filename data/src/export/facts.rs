//! Positions and games as numbers and names.

use hnefi_engine::{MoveList, Position, Square};
use hnefi_inference::{PolicyIndex, Wdl};

/// Win, draw and loss as a list.
pub(super) fn triple(wdl: Wdl) -> [f32; 3] {
    [wdl.win, wdl.draw, wdl.loss]
}

/// The legal moves as indices into a flattened policy, in generation order.
pub(super) fn legal_indices(position: &Position) -> impl Iterator<Item = usize> + use<> {
    let size = position.size();
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    (0..moves.len()).map(move |index| PolicyIndex::of(moves[index], size).flat(size))
}

/// Content of each square: 0 empty, 1 attacker, 2 defender, 3 king.
pub(super) fn contents(position: &Position) -> impl Iterator<Item = u8> + use<'_> {
    let board = position.board();
    let king = board.king();
    (0..position.size().squares()).map(Square::new).map(move |square| {
        if Some(square) == king {
            3
        } else {
            u8::from(board.attackers().contains(square)) + 2 * u8::from(board.defenders().contains(square))
        }
    })
}
