//! Small deterministic pseudo-random numbers, for fresh weights and for the evaluator that stands in for a network.
//!
//! Fresh weights must not depend on the device or on what else draws random numbers in the process, which rules out the
//! generators of the tensor backends.

/// The SplitMix64 finaliser: every input bit reaches every output bit.
#[inline]
pub fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// The upper bits of `value` as a number in 0..1.
#[inline]
pub fn unit(value: u64) -> f32 {
    (value >> 40) as f32 / (1u64 << 24) as f32
}

/// A SplitMix64 sequence (Steele, Lea and Flood 2014).
pub struct Sequence(u64);

impl Sequence {
    /// Begins at a seed.
    pub fn new(seed: u64) -> Sequence {
        Sequence(seed)
    }

    /// The next number in 0..1.
    pub fn next_unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        unit(mix(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_splitmix64() {
        // First outputs for seed 1234567, from the generator's reference implementation.
        let mut sequence = Sequence::new(1_234_567);
        for expected in [6_457_827_717_110_365_317_u64, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423] {
            assert_eq!(sequence.next_unit(), unit(expected));
        }
    }

    #[test]
    fn units_fill_the_interval_evenly() {
        let mut sequence = Sequence::new(1);
        let draws: Vec<f32> = (0..100_000).map(|_| sequence.next_unit()).collect();
        assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
        let mean = draws.iter().sum::<f32>() / draws.len() as f32;
        assert!((mean - 0.5).abs() < 0.005, "mean {mean}");
    }
}
