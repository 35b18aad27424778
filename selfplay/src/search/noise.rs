//! Self-play noise at the root: Gumbel variables and Dirichlet noise.

use rand_xoshiro::rand_core::Rng as _;

use crate::Rng;

/// Fills `out` with `count` independent standard Gumbel variables.
pub(super) fn gumbel(rng: &mut Rng, count: usize, out: &mut Vec<f32>) {
    out.clear();
    out.extend((0..count).map(|_| -(-uniform(rng).ln()).ln() as f32));
}

/// Fills `out` with a draw from the symmetric Dirichlet distribution of `count` places, each with parameter `alpha`.
///
/// A Dirichlet draw is a set of Gamma(alpha) variables divided by their sum. For small alpha nearly all of them
/// underflow (with alpha 0.01 a typical one is e^-100), and if all do, the division gives NaN, or a single 1 where that
/// is papered over. So the variables stay logarithms until the largest has been taken out: ln Gamma(alpha) = ln
/// Gamma(alpha + 1) + ln(U) / alpha.
pub(super) fn dirichlet(rng: &mut Rng, alpha: f64, count: usize, out: &mut Vec<f32>) {
    let logs: Vec<f64> =
        (0..count).map(|_| gamma_above_one(rng, alpha + 1.0).ln() + uniform(rng).ln() / alpha).collect();
    let max = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| (log - max).exp()).sum();
    out.clear();
    out.extend(logs.iter().map(|log| ((log - max).exp() / sum) as f32));
}

/// A Gamma(shape) variable for shape of at least 1 (Marsaglia and Tsang 2000).
fn gamma_above_one(rng: &mut Rng, shape: f64) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(rng);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && uniform(rng).ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// A standard normal variable (Box and Muller).
fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * uniform(rng).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(rng)).cos()
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
    fn dirichlet_moments_agree_with_theory_even_for_small_alpha() {
        // Each place of Dirichlet(alpha, ..., alpha) has mean 1/n and variance (1/n)(1 - 1/n)/(n alpha + 1).
        for (alpha, n) in [(0.01, 200), (0.05, 40), (0.3, 30), (1.0, 10), (10.0, 5)] {
            let mut rng = rng_for(&[7, n as u64]);
            let (mean, variance) = moments(20_000, |out| {
                dirichlet(&mut rng, alpha, n, out);
                assert_eq!(out.len(), n);
                assert!((out.iter().sum::<f32>() - 1.0).abs() < 1e-4);
            });
            let p = 1.0 / n as f64;
            let expected = p * (1.0 - p) / (n as f64 * alpha + 1.0);
            assert!((mean / p - 1.0).abs() < 1e-4, "alpha {alpha}: mean {mean}, expected {p}");
            assert!(
                (variance / expected - 1.0).abs() < 0.03,
                "alpha {alpha}: variance {variance}, expected {expected}"
            );
        }
    }

    #[test]
    fn dirichlet_of_small_alpha_is_not_one_hot() {
        // Dirichlet(0.01 x 200): the sum of squares has mean (alpha + 1)/(n alpha + 1) = 0.3367; one-hot noise would
        // give 1.
        let mut rng = rng_for(&[8]);
        let mut out = Vec::new();
        let mut total = 0.0;
        for _ in 0..5_000 {
            dirichlet(&mut rng, 0.01, 200, &mut out);
            total += out.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>();
        }
        let mean = total / 5_000.0;
        assert!((mean - 1.01 / 3.0).abs() < 0.01, "{mean}");
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
