//! Handicaps of self-play, which are inputs of the network.

use hnefi_engine::Side;
use serde::{Deserialize, Serialize};

use crate::json;

/// How much play favours the attackers; negative numbers favour the defenders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Handicap {
    /// Doublings of the favoured side's playouts over the other side's.
    #[serde(deserialize_with = "json::finite")]
    pub doublings: f32,
    /// Share of random moves of the other side, 0 to 1.
    #[serde(deserialize_with = "json::finite")]
    pub blunders: f32,
}

impl Handicap {
    /// Play among equals.
    pub const NONE: Handicap = Handicap { doublings: 0.0, blunders: 0.0 };

    /// The same as seen by a side: what favours it is above 0.
    fn of(self, side: Side) -> Handicap {
        match side {
            Side::Attackers => self,
            Side::Defenders => Handicap { doublings: -self.doublings, blunders: -self.blunders },
        }
    }

    /// Share of its moves that `side` plays at random, 0 to 1.
    pub fn random_moves(self, side: Side) -> f32 {
        (0.0 - self.of(side).blunders).max(0.0)
    }

    /// How many times fewer playouts `side` has than the other side, as a power of two; 0 where it has as many or more.
    pub fn halvings(self, side: Side) -> f32 {
        (0.0 - self.of(side).doublings).max(0.0)
    }

    /// A key that differs between handicaps, 0 for none: for caches of evaluations.
    pub fn key(self) -> u64 {
        let bits = u64::from(self.doublings.to_bits()) << 32 | u64::from(self.blunders.to_bits());
        bits.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}
