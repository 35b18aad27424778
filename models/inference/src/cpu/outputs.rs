//! What a network says before anything is made of it, for comparing other programs with this one.

use hnefi_engine::{BoardSize, Side};

use super::CpuNetwork;
use crate::encoding::global::ATTACKERS_TO_MOVE;
use crate::{Features, PolicyIndex};

/// The heads' outputs for a batch of B positions on one board, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct RawOutputs {
    /// Policy logits of the side to move, `[B, 4 (N - 1), N, N]`.
    pub policy: Vec<f32>,
    /// Win, draw and loss logits of the side to move, `[B, 3]`.
    pub wdl: Vec<f32>,
    /// ln(1 + plies to the end), `[B, 1]`.
    pub moves_left: Vec<f32>,
    /// Logits of each square's final content (empty, attacker, defender, king), `[B, 4, N, N]`.
    pub occupancy: Vec<f32>,
}

impl CpuNetwork {
    /// Evaluates positions on one board.
    pub fn raw_outputs(&self, features: &[Features], size: BoardSize) -> RawOutputs {
        let mut scratch = self.scratch();
        self.lay_out(size, &mut scratch);
        let places = PolicyIndex::all(size.side());
        let mut out = RawOutputs { policy: Vec::new(), wdl: Vec::new(), moves_left: Vec::new(), occupancy: Vec::new() };
        for features in features {
            self.enter(0, features, &mut scratch);
            self.run_tower(1, &mut scratch);
            let attacking = features.globals[ATTACKERS_TO_MOVE] == 1.0;
            let side = if attacking { Side::Attackers } else { Side::Defenders };
            self.policy(0, side, places.clone(), &mut scratch, &mut out.policy);
            let [wdl @ .., moves_left] = self.value(0, side, &mut scratch);
            out.wdl.extend(wdl);
            out.moves_left.push(moves_left);
            let squares = self.occupancy(0, &mut scratch);
            out.occupancy.extend((0..4).flat_map(|content| squares.iter().map(move |square| square[content])));
        }
        out
    }
}
