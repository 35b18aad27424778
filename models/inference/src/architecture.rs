//! The shape of a network: how many blocks and channels it has. [`NetworkConfig::graph`] says what that makes.

use serde::{Deserialize, Serialize};

use crate::graph::Part;

/// Added to variances before the root is taken, by every batch normalisation.
pub const NORM_EPSILON: f64 = 1e-5;

/// Shape of a network. Two checkpoints with the same config can load each other's weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkConfig {
    /// Residual blocks in the tower.
    pub blocks: usize,
    /// Channels of the tower.
    pub channels: usize,
    /// Distance between blocks with global pooling (3: the third, the sixth, ...); 0 for none.
    pub pool_every: usize,
    /// Hidden channels of the policy and value heads.
    pub head_channels: usize,
    /// Hidden units of the value head.
    pub value_hidden: usize,
}

/// A shape that no network can have, or that another does not grow to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ShapeError(String);

impl NetworkConfig {
    /// Whether every size lies within what a network may have: far beyond those that anybody could train, and so that
    /// sums and products of them do not overflow.
    ///
    /// # Errors
    /// With the first size that does not.
    pub fn check_bounds(&self) -> Result<(), ShapeError> {
        let sizes = [
            ("blocks", self.blocks, 0..=1_000),
            ("channels", self.channels, 1..=16_384),
            ("pool_every", self.pool_every, 0..=1_000),
            ("head_channels", self.head_channels, 1..=16_384),
            ("value_hidden", self.value_hidden, 1..=16_384),
        ];
        match sizes.into_iter().find(|(_, size, allowed)| !allowed.contains(size)) {
            Some((name, size, allowed)) => {
                let (low, high) = (allowed.start(), allowed.end());
                Err(ShapeError(format!("network.{name} is {size}; expected {low} to {high}")))
            }
            None => Ok(()),
        }
    }

    /// Whether block `index` (from 0) has global pooling.
    pub fn block_pools(&self, index: usize) -> bool {
        self.pool_every > 0 && (index + 1).is_multiple_of(self.pool_every)
    }

    /// Multiply-adds of one evaluation on a board of `side` squares a side, by the definition of the layers: what a
    /// direct convolution takes. (Winograd's method takes fewer.) Heads that play does not use are left out.
    pub fn multiply_adds(&self, side: usize) -> usize {
        let played = |part: Part| matches!(part, Part::Trunk | Part::Heads(0));
        self.graph().steps.iter().filter(|step| played(step.part)).map(|step| step.op.multiply_adds(side)).sum()
    }

    /// Whether a network of this shape can be grown to `larger`; if not, why.
    ///
    /// # Errors
    /// With the first thing of which `larger` has less.
    pub fn grows_to(&self, larger: &NetworkConfig) -> Result<(), ShapeError> {
        let sizes = [
            ("blocks", self.blocks, larger.blocks),
            ("channels", self.channels, larger.channels),
            ("head_channels", self.head_channels, larger.head_channels),
            ("value_hidden", self.value_hidden, larger.value_hidden),
        ];
        if let Some((name, here, there)) = sizes.into_iter().find(|(_, here, there)| there < here) {
            return Err(ShapeError(format!("{name} would shrink from {here} to {there}")));
        }
        match (0..self.blocks).find(|&index| self.block_pools(index) && !larger.block_pools(index)) {
            Some(index) => Err(ShapeError(format!("block {} would lose its global pooling", index + 1))),
            None => Ok(()),
        }
    }
}
