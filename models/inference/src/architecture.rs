//! The shape of a network: how many blocks and channels it has, and which tensors that makes.
//!
//! Size-agnostic: the same weights serve 7x7, 9x9 and 11x11, because no layer depends on the number of squares.

use serde::{Deserialize, Serialize};

use crate::{GLOBALS, PLANES, POLICY_PLANES};

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
    /// Whether attackers and defenders have heads of their own.
    pub role_heads: bool,
    /// Whether the policy looks at the square that a move goes to as well as at the one that it comes from. Networks
    /// whose card does not say were trained without.
    #[serde(default)]
    pub destinations: bool,
}

impl NetworkConfig {
    /// Whether every size lies within what a network may have: far beyond those that anybody could train, and so that
    /// sums and products of them do not overflow.
    ///
    /// # Errors
    /// With the first size that does not.
    pub fn check_bounds(&self) -> Result<(), String> {
        let sizes = [
            ("blocks", self.blocks, 0..=1_000),
            ("channels", self.channels, 1..=16_384),
            ("pool_every", self.pool_every, 0..=1_000),
            ("head_channels", self.head_channels, 1..=16_384),
            ("value_hidden", self.value_hidden, 1..=16_384),
        ];
        match sizes.into_iter().find(|(_, size, allowed)| !allowed.contains(size)) {
            Some((name, size, allowed)) => {
                Err(format!("network.{name} is {size}; expected {} to {}", allowed.start(), allowed.end()))
            }
            None => Ok(()),
        }
    }

    /// Whether block `index` (from 0) has global pooling.
    pub fn block_pools(&self, index: usize) -> bool {
        self.pool_every > 0 && (index + 1).is_multiple_of(self.pool_every)
    }

    /// Multiply-adds of one evaluation on a board of `squares` squares, by the definition of the layers: what a direct
    /// convolution takes. (Winograd's method takes fewer.) Heads that play does not use are left out.
    pub fn multiply_adds(&self, squares: usize) -> usize {
        let (channels, head) = (self.channels, self.head_channels);
        let stem = PLANES * 9 * channels * squares + GLOBALS * channels;
        let tower = self.blocks * 2 * 9 * channels * channels * squares;
        let pools = (0..self.blocks).filter(|&index| self.block_pools(index)).count() * 3 * channels * channels;
        let destinations = if self.destinations { squares * head * (channels + POLICY_PLANES) } else { 0 };
        let policy = squares * head * (channels + POLICY_PLANES) + destinations + 3 * channels * head;
        let value = squares * channels * head + 3 * head * self.value_hidden + self.value_hidden * 4;
        stem + tower + pools + policy + value
    }

    /// The tensors of a network of this shape, in the order of its layers: names and shapes. A linear layer's weight is
    /// `[inputs, outputs]`, a convolution's `[outputs, inputs, height, width]`. Nothing of the size of a tensor is
    /// allocated, so it may be asked of a shape that was read from a file.
    pub(crate) fn tensors(&self) -> Vec<(String, Vec<usize>)> {
        let (channels, head, hidden) = (self.channels, self.head_channels, self.value_hidden);
        let mut tensors = Tensors(Vec::new());
        tensors.conv_norm("stem", PLANES, channels);
        tensors.layer("globals", &[GLOBALS, channels], channels);
        for block in 0..self.blocks {
            tensors.conv_norm(&format!("blocks.{block}.first"), channels, channels);
            tensors.conv_norm(&format!("blocks.{block}.second"), channels, channels);
            if self.block_pools(block) {
                tensors.layer(&format!("blocks.{block}.pool"), &[3 * channels, channels], channels);
            }
        }
        for role in 0..if self.role_heads { 2 } else { 1 } {
            let mut layer = |name: &str, weight: &[usize], bias| {
                tensors.layer(&format!("roles.{role}.{name}"), weight, bias);
            };
            layer("policy_conv", &[head, channels, 1, 1], head);
            layer("policy_pool", &[3 * channels, head], 0);
            layer("policy_out", &[POLICY_PLANES, head, 1, 1], POLICY_PLANES);
            if self.destinations {
                layer("policy_destination", &[head, channels, 1, 1], 0);
            }
            layer("value_conv", &[head, channels, 1, 1], head);
            layer("value_hidden", &[3 * head, hidden], hidden);
            layer("value_out", &[hidden, 4], 4);
        }
        tensors.layer("occupancy", &[4, channels, 1, 1], 4);
        tensors.0
    }
}

impl NetworkConfig {
    /// Whether a network of this shape can be grown to `larger`; if not, why.
    ///
    /// # Errors
    /// With the first thing of which `larger` has less.
    pub fn grows_to(&self, larger: &NetworkConfig) -> Result<(), String> {
        let sizes = [
            ("blocks", self.blocks, larger.blocks),
            ("channels", self.channels, larger.channels),
            ("head_channels", self.head_channels, larger.head_channels),
            ("value_hidden", self.value_hidden, larger.value_hidden),
        ];
        if let Some((name, here, there)) = sizes.into_iter().find(|(_, here, there)| there < here) {
            return Err(format!("{name} would shrink from {here} to {there}"));
        }
        if self.role_heads && !larger.role_heads {
            return Err("the heads of the two roles would become one".to_owned());
        }
        if self.destinations && !larger.destinations {
            return Err("the policy would no longer look at the destinations of moves".to_owned());
        }
        match (0..self.blocks).find(|&index| self.block_pools(index) && !larger.block_pools(index)) {
            Some(index) => Err(format!("block {} would lose its global pooling", index + 1)),
            None => Ok(()),
        }
    }
}

/// Names and shapes of tensors.
struct Tensors(Vec<(String, Vec<usize>)>);

impl Tensors {
    /// A layer with a bias of this length; 0 for none.
    fn layer(&mut self, name: &str, weight: &[usize], bias: usize) {
        self.0.push((format!("{name}.weight"), weight.to_vec()));
        if bias > 0 {
            self.0.push((format!("{name}.bias"), vec![bias]));
        }
    }

    /// A 3x3 convolution without bias and its batch normalisation.
    fn conv_norm(&mut self, name: &str, inputs: usize, outputs: usize) {
        self.layer(&format!("{name}.conv"), &[outputs, inputs, 3, 3], 0);
        for part in ["gamma", "beta", "running_mean", "running_var"] {
            self.0.push((format!("{name}.norm.{part}"), vec![outputs]));
        }
    }
}
