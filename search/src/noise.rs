//! Self-play noise at the root of a Gumbel search.

use rand_xoshiro::rand_core::Rng as _;

use crate::Rng;

/// Fills `out` with `count` independent standard Gumbel variables.
pub(super) fn gumbel(rng: &mut Rng, count: usize, out: &mut Vec<f32>) {
    out.clear();
    out.extend((0..count).map(|_| -(-uniform(rng).ln()).ln() as f32));
}

/// Uniform in the open interval (0, 1), so that its logarithm is finite.
fn uniform(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng_for;

    /// Mean and variance of all variables of many draws.
    fn moments(draws: usize, mut draw: impl FnMut(&mut Vec<f32>)) -> (f64, f64) {
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
        let mut out = Vec::new();
        for _ in 0..draws {
            draw(&mut out);
            for &x in &out {
                assert!(x.is_finite(), "{x}");
                sum += f64::from(x);
                squares += f64::from(x) * f64::from(x);
                count += 1.0;
            }
        }
        let mean = sum / count;
        (mean, squares / count - mean * mean)
    }

    #[test]
    fn gumbel_moments_agree_with_theory() {
        // Mean: the Euler-Mascheroni constant; variance: pi^2 / 6.
        let mut rng = rng_for(&[9]);
        let (mean, variance) = moments(2_000, |out| gumbel(&mut rng, 100, out));
        assert!((mean - 0.577_215_7).abs() < 0.01, "{mean}");
        assert!((variance - 1.644_934).abs() < 0.03, "{variance}");
    }
}
