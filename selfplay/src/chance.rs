//! Random numbers of self-play. Each is derived from the run's seed and its purpose, so it depends neither on the
//! thread that draws it nor on interruptions.

use rand_xoshiro::rand_core::Rng as _;

use hnefi_search::{Rng, rng_for};

/// The purpose of a random number. Repeatable runs depend on these values, so never reuse one. (6, 7 and 9 to 13
/// belonged to removed features.)
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    Ruleset = 1,
    OpeningLength = 2,
    OpeningMove = 3,
    SearchNoise = 4,
    /// Whether a game verifies the resignation rule.
    Verification = 5,
    /// Whether a move is random, and which one.
    Blunder = 8,
    Equals = 14,
}

/// The generator for one purpose at one ply of one game. Choices made once per game use ply 0.
pub(super) fn generator(seed: u64, game: u64, ply: usize, purpose: Purpose) -> Rng {
    rng_for(&[seed, game, ply as u64, purpose as u64])
}

/// A uniform number in [0, 1), a multiple of 2^-53.
pub(super) fn unit(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
