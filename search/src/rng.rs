//! Random numbers that depend on their purpose, not on earlier draws.
//!
//! Every game and ply derives its own generator from the run's seed. So no generator state is saved, a search repeated
//! after a crash draws the same noise, and the number of threads does not matter.

use hnefi_inference::mixing::mix;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// The generator of the whole program: small, fast, and the same on every platform and in every version.
pub type Rng = Xoshiro256PlusPlus;

/// The generator for one purpose, which a path of numbers such as `[seed, game, ply]` names.
pub fn rng_for(path: &[u64]) -> Rng {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    for &part in path {
        state = mix(state ^ mix(part.wrapping_add(0x9E37_79B9_7F4A_7C15)));
    }
    Rng::seed_from_u64(state)
}
