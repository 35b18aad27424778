//! A batch of training samples as plain numbers.
//!
//! All rows of a batch have the same board size. The policy is sparse: a row holds its legal moves only (`[B, L]`, with
//! `L` the largest number of moves of a row). The softmax of the loss runs over legal moves, as it does in play, and illegal moves cost nothing.

use hnefi_engine::BoardSize;
use hnefi_inference::{GLOBALS, PLANES};

/// Added to the logit of a place without a legal move, so that its probability is exactly 0 in `f32`.
const NO_MOVE: f32 = -1e9;

/// Number of contents of a square at the end of a game: empty, attacker, defender, king.
pub const CONTENTS: usize = 4;

/// One training sample, transformed by its symmetry.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// `[PLANES, N, N]`.
    pub planes: Vec<f32>,
    /// `[GLOBALS]`.
    pub globals: [f32; GLOBALS],
    /// For each legal move its flat index in the policy output `[4 (N - 1), N, N]` and its target weight. The
    /// weights sum to 1, or are all 0 without a policy target.
    pub policy: Vec<(usize, f32)>,
    /// 1 with a policy target, 0 without.
    pub policy_weight: f32,
    /// Win, draw and loss of the side to move; sums to 1.
    pub value: [f32; 3],
    /// `ln(1 + plies left)`.
    pub moves_left: f32,
    /// Final content of every square as an index into empty, attacker, defender, king: `[N * N]`.
    pub occupancy: Vec<u8>,
    /// Weight of moves left and occupancy: 1 for a game that ended on the board, 0 for a resigned game.
    pub end_weight: f32,
}

/// Rows of one board size, stacked.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Board of all rows.
    pub size: BoardSize,
    /// Number of rows, B.
    pub rows: usize,
    /// Places per row of the policy arrays, L.
    pub moves: usize,
    /// `[B, PLANES, N, N]`.
    pub planes: Vec<f32>,
    /// `[B, GLOBALS]`.
    pub globals: Vec<f32>,
    /// `[B, L]`, indices into `[4 (N - 1) * N * N]`.
    pub policy_index: Vec<i32>,
    /// `[B, L]`, 0 at a legal move and a very low number elsewhere.
    pub policy_bar: Vec<f32>,
    /// `[B, L]`, weights that sum to 1 in each row (to 0 without a policy target).
    pub policy_target: Vec<f32>,
    /// `[B]`.
    pub policy_weight: Vec<f32>,
    /// `[B, 3]`.
    pub value: Vec<f32>,
    /// `[B]`.
    pub moves_left: Vec<f32>,
    /// `[B, 4, N, N]`, one 1 per square.
    pub occupancy: Vec<f32>,
    /// `[B]`.
    pub end_weight: Vec<f32>,
}

impl Batch {
    /// Stacks rows.
    ///
    /// # Panics
    /// When there are no rows, or a row's planes or occupancy do not fit the board.
    pub fn new(size: BoardSize, rows: &[Row]) -> Batch {
        assert!(!rows.is_empty(), "a batch needs a row");
        let squares = size.squares();
        let moves = rows.iter().map(|row| row.policy.len()).max().unwrap_or(0).max(1);
        let mut batch = Batch {
            size,
            rows: rows.len(),
            moves,
            planes: Vec::with_capacity(rows.len() * PLANES * squares),
            globals: Vec::with_capacity(rows.len() * GLOBALS),
            policy_index: vec![0; rows.len() * moves],
            policy_bar: vec![NO_MOVE; rows.len() * moves],
            policy_target: vec![0.0; rows.len() * moves],
            policy_weight: rows.iter().map(|row| row.policy_weight).collect(),
            value: rows.iter().flat_map(|row| row.value).collect(),
            moves_left: rows.iter().map(|row| row.moves_left).collect(),
            occupancy: vec![0.0; rows.len() * CONTENTS * squares],
            end_weight: rows.iter().map(|row| row.end_weight).collect(),
        };
        for (index, row) in rows.iter().enumerate() {
            assert_eq!(row.planes.len(), PLANES * squares, "planes of row {index}");
            assert_eq!(row.occupancy.len(), squares, "occupancy of row {index}");
            batch.planes.extend_from_slice(&row.planes);
            batch.globals.extend_from_slice(&row.globals);
            for (place, &(flat, weight)) in row.policy.iter().enumerate() {
                let at = index * moves + place;
                batch.policy_index[at] = flat as i32;
                batch.policy_bar[at] = 0.0;
                batch.policy_target[at] = weight;
            }
            for (square, &content) in row.occupancy.iter().enumerate() {
                batch.occupancy[(index * CONTENTS + content as usize) * squares + square] = 1.0;
            }
        }
        batch
    }

    /// Mean entropy of the policy targets in nats, a lower bound of the policy loss.
    pub fn policy_entropy(&self) -> f32 {
        let sum: f32 = self.policy_target.iter().filter(|&&p| p > 0.0).map(|&p| -p * p.ln()).sum();
        sum / self.policy_weight.iter().sum::<f32>().max(1.0)
    }
}
