//! The part of a batch that auxiliary heads learn from. What no head asks for is not there at all.

use burn::tensor::{Device, Int, Tensor, TensorData};
use hnefi_engine::BoardSize;
use hnefi_models::{KING_ENDINGS, OTHER_ENDINGS};

use super::{NO_MOVE, Row};

/// What a piece can come to within the next plies: it stays, or it is captured.
const FATES: usize = 2;

/// Auxiliary targets of a row, seen through its symmetry; each `None` where it is not trained.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuxiliaryRow {
    /// The legal moves of the opponent's next ply with their places and weights, as in [`Row::policy`]; empty where
    /// that ply has no policy target or does not exist.
    pub reply: Option<Vec<(usize, f32)>>,
    /// Weights of the moves of [`Row::policy`], in their order.
    pub soft_policy: Option<Vec<f32>>,
    /// Win, draw and loss of the side to move at each horizon.
    pub short_values: Option<Vec<[f32; 3]>>,
    /// For every square 0 where no piece stands or nobody knows, 1 where it stays, 2 where it is captured: `[N * N]`.
    pub captured: Option<Vec<u8>>,
    /// How and where the game ended.
    pub ending: Option<Ending>,
}

/// How and where a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Nobody saw it: the game was resigned.
    Unseen,
    /// With the king: the kind (he escaped, held a fort, was captured) and the index of his square.
    King(usize, usize),
    /// Otherwise: encirclement, repetition, draw fort, no moves, no capture or ply cap.
    Other(usize),
}

impl Ending {
    /// Place among all endings on a board of so many squares, [`KING_ENDINGS`] times the squares and [`OTHER_ENDINGS`]
    /// in all.
    pub fn index(self, squares: usize) -> Option<usize> {
        match self {
            Ending::Unseen => None,
            Ending::King(kind, square) => Some(kind * squares + square),
            Ending::Other(kind) => Some(KING_ENDINGS * squares + kind),
        }
    }
}

/// Auxiliary targets of a batch of B rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuxiliaryBatch {
    /// Moves of the opponent's next ply.
    pub reply: Option<ReplyBatch>,
    /// `[B, L]`, beside [`super::Batch::policy_target`].
    pub soft_policy: Option<Vec<f32>>,
    /// `[B, horizons, 3]`.
    pub short_values: Option<Vec<f32>>,
    /// `[B, 2, N, N]`: 1 over the number of pieces at each piece's fate, so that a row sums to 1 (to 0 where nobody
    /// knows).
    pub captured: Option<Vec<f32>>,
    /// `[B]` indices into all endings and `[B]` weights, 0 where nobody saw the end.
    pub ending: Option<(Vec<i32>, Vec<f32>)>,
}

/// The opponent's legal moves, as a batch has those of the side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplyBatch {
    /// Places per row, M.
    pub moves: usize,
    /// `[B, M]`.
    pub index: Vec<i32>,
    /// `[B, M]`.
    pub bar: Vec<f32>,
    /// `[B, M]`, weights summing to 1 in a row, to 0 where there is no target.
    pub target: Vec<f32>,
}

impl AuxiliaryBatch {
    /// Stacks the auxiliary targets of rows, which all have the same ones; `moves` are the places per row of the
    /// policy.
    pub(super) fn new(size: BoardSize, rows: &[Row], moves: usize) -> AuxiliaryBatch {
        let squares = size.squares();
        AuxiliaryBatch {
            reply: every(rows, |row| row.reply.as_deref()).map(|rows| ReplyBatch::new(&rows)),
            soft_policy: every(rows, |row| row.soft_policy.as_deref()).map(|rows| {
                let padded = |row: &[f32]| row.iter().copied().chain(std::iter::repeat(0.0)).take(moves).collect();
                rows.iter().flat_map(|row| -> Vec<f32> { padded(row) }).collect()
            }),
            short_values: every(rows, |row| row.short_values.as_deref())
                .map(|rows| rows.iter().flat_map(|row| row.iter().flatten().copied()).collect()),
            captured: every(rows, |row| row.captured.as_deref())
                .map(|rows| rows.iter().flat_map(|fates| fate_shares(fates)).collect()),
            ending: every(rows, |row| row.ending).map(|rows| {
                rows.iter()
                    .map(|ending| ending.index(squares))
                    .map(|index| (index.unwrap_or(0) as i32, if index.is_some() { 1.0 } else { 0.0 }))
                    .unzip()
            }),
        }
    }

    /// Copies the targets to a device.
    pub(super) fn to_device(&self, rows: usize, side: usize, device: &Device) -> AuxiliaryTensors {
        let matrix = |values: &Vec<f32>| {
            let columns = values.len() / rows;
            Tensor::<2>::from_data(TensorData::new(values.clone(), [rows, columns]), device)
        };
        let places = |values: &Vec<i32>| {
            let columns = values.len() / rows;
            Tensor::<2, Int>::from_data(TensorData::new(values.clone(), [rows, columns]), device)
        };
        AuxiliaryTensors {
            reply: self.reply.as_ref().map(|reply| ReplyTensors {
                index: places(&reply.index),
                bar: matrix(&reply.bar),
                target: matrix(&reply.target),
            }),
            soft_policy: self.soft_policy.as_ref().map(matrix),
            short_values: self.short_values.as_ref().map(|values| {
                let horizons = values.len() / (3 * rows);
                matrix(values).reshape([rows, horizons, 3])
            }),
            captured: self.captured.as_ref().map(|shares| matrix(shares).reshape([rows, FATES, side, side])),
            ending: self.ending.as_ref().map(|(index, weight)| (places(index), matrix(weight))),
        }
    }
}

impl ReplyBatch {
    fn new(rows: &[&[(usize, f32)]]) -> ReplyBatch {
        let moves = rows.iter().map(|row| row.len()).max().unwrap_or(0).max(1);
        let places = rows.len() * moves;
        let mut batch =
            ReplyBatch { moves, index: vec![0; places], bar: vec![NO_MOVE; places], target: vec![0.0; places] };
        for (number, row) in rows.iter().enumerate() {
            for (place, &(flat, weight)) in row.iter().enumerate() {
                let at = number * moves + place;
                (batch.index[at], batch.bar[at], batch.target[at]) = (flat as i32, 0.0, weight);
            }
        }
        batch
    }
}

/// One target of every row; `None` when the rows do not have it.
fn every<'a, T>(rows: &'a [Row], pick: impl Fn(&'a AuxiliaryRow) -> Option<T>) -> Option<Vec<T>> {
    rows.iter().map(|row| pick(&row.auxiliary)).collect()
}

/// Every piece's share at its fate, `[2, N * N]`.
fn fate_shares(fates: &[u8]) -> Vec<f32> {
    let pieces = fates.iter().filter(|&&fate| fate > 0).count();
    let share = |fate: u8| fates.iter().map(move |&found| if found == fate { 1.0 / pieces as f32 } else { 0.0 });
    share(1).chain(share(2)).collect()
}

/// Auxiliary targets on a device.
#[derive(Clone, Debug)]
pub struct AuxiliaryTensors {
    /// The opponent's reply.
    pub reply: Option<ReplyTensors>,
    /// `[B, L]`.
    pub soft_policy: Option<Tensor<2>>,
    /// `[B, horizons, 3]`.
    pub short_values: Option<Tensor<3>>,
    /// `[B, 2, N, N]`.
    pub captured: Option<Tensor<4>>,
    /// Index and weight, both `[B, 1]`.
    pub ending: Option<(Tensor<2, Int>, Tensor<2>)>,
}

/// The opponent's legal moves on a device, each `[B, M]`.
#[derive(Clone, Debug)]
pub struct ReplyTensors {
    /// Places in the policy output.
    pub index: Tensor<2, Int>,
    /// Added to the logits.
    pub bar: Tensor<2>,
    /// Weights.
    pub target: Tensor<2>,
}

/// Number of endings on a board of so many squares.
pub fn endings(squares: usize) -> usize {
    KING_ENDINGS * squares + OTHER_ENDINGS
}
