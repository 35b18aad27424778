//! The sequential probability ratio test: stop a match as soon as its question is answered.
//!
//! H0 says that the player is `elo0` stronger, H1 that he is `elo1` stronger, in Elo of the score over both sides.
//! After every pair the log-likelihood ratio is taken over the five pair scores 0, ¼, ½, ¾, 1 as a *generalised* SPRT
//! does: each hypothesis fixes only the mean, and the likelihood is maximised over all distributions with that mean
//! (Van den Bergh, "A practical introduction to the GSPRT", 2019). With observed shares `p`, that maximum is `q_i = p_i
//! / (1 + t (x_i - mean))`, `t` chosen so that the mean is right. Wald's bounds `ln(beta / (1 - alpha))` and `ln((1 -
//! beta) / alpha)` end the test.

use serde::{Deserialize, Serialize};

use super::score::{PairScores, score_of_elo};

/// No difference beyond this is asked for: the scores would be as good as 0 and 1.
const MOST_ELO: f64 = 1000.0;

/// What is asked and how sure the answer has to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SprtParams {
    /// Elo difference under H0.
    pub elo0: f64,
    /// Elo difference under H1; more than `elo0`.
    pub elo1: f64,
    /// Chance of accepting H1 where H0 holds, 0..0.5.
    pub alpha: f64,
    /// Chance of accepting H0 where H1 holds, 0..0.5.
    pub beta: f64,
}

impl Default for SprtParams {
    /// Is it stronger at all, by 20 Elo or more? Both errors at 5 %.
    fn default() -> SprtParams {
        SprtParams { elo0: 0.0, elo1: 20.0, alpha: 0.05, beta: 0.05 }
    }
}

impl SprtParams {
    /// What is wrong with these numbers, if anything.
    pub fn fault(&self) -> Option<String> {
        let chance = |value: f64| value > 0.0 && value < 0.5;
        let known = |elo: f64| elo.abs() <= MOST_ELO;
        if !(known(self.elo0) && known(self.elo1) && self.elo0 < self.elo1) {
            let (elo0, elo1) = (self.elo0, self.elo1);
            Some(format!("elo0 {elo0} and elo1 {elo1}: expected elo0 below elo1, both from -{MOST_ELO} to {MOST_ELO}"))
        } else if !(chance(self.alpha) && chance(self.beta)) {
            Some(format!("alpha {} and beta {}: expected both above 0 and below 0.5", self.alpha, self.beta))
        } else {
            None
        }
    }

    /// The bounds of the log-likelihood ratio: H0 is accepted at or below the first, H1 at or above the second.
    pub fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// Where the test stands after these pairs.
    pub fn judge(&self, pairs: PairScores) -> SprtReport {
        let llr = log_likelihood_ratio(pairs, score_of_elo(self.elo0), score_of_elo(self.elo1));
        let (lower, upper) = self.bounds();
        let verdict = if llr >= upper {
            Verdict::AcceptH1
        } else if llr <= lower {
            Verdict::AcceptH0
        } else {
            Verdict::Undecided
        };
        SprtReport { params: *self, llr, lower, upper, verdict }
    }
}

/// Where a test stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SprtReport {
    /// The question.
    pub params: SprtParams,
    /// Log-likelihood ratio of H1 over H0.
    pub llr: f64,
    /// H0 is accepted here.
    pub lower: f64,
    /// H1 is accepted here.
    pub upper: f64,
    /// The answer so far.
    pub verdict: Verdict,
}

/// The answer of a sequential test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// More games are needed.
    Undecided,
    /// The difference is no more than `elo0`.
    AcceptH0,
    /// The difference is at least `elo1`.
    AcceptH1,
}

/// Imagined games for every pair score that has not been seen, so that no likelihood is zero.
const UNSEEN: f64 = 1e-3;

fn log_likelihood_ratio(pairs: PairScores, mean0: f64, mean1: f64) -> f64 {
    if pairs.pairs() == 0 {
        return 0.0;
    }
    let counts = pairs.0.map(|count| f64::from(count).max(UNSEEN));
    let total: f64 = counts.iter().sum();
    let shares = counts.map(|count| count / total);
    let [q0, q1] = [mean0, mean1].map(|mean| with_mean(shares, mean));
    counts.iter().enumerate().map(|(i, count)| count * (q1[i] / q0[i]).ln()).sum()
}

/// The distribution over the pair scores 0, ¼, ½, ¾, 1 that has this mean and is likeliest where `shares` was seen.
fn with_mean(shares: [f64; 5], mean: f64) -> [f64; 5] {
    let offset = |i: usize| i as f64 / 4.0 - mean;
    // The slope below falls monotonically in t between the poles of the outermost scores.
    let slope = |t: f64| (0..5).map(|i| shares[i] * offset(i) / (1.0 + t * offset(i))).sum::<f64>();
    let (mut low, mut high) = (-1.0 / (1.0 - mean), 1.0 / mean);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if slope(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let t = 0.5 * (low + high);
    std::array::from_fn(|i| shares[i] / (1.0 + t * offset(i)))
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use hnefi_engine::GameResult;
    use hnefi_search::rng_for;

    #[test]
    fn bounds_are_walds() {
        let (lower, upper) = SprtParams::default().bounds();
        assert!((lower + 2.944_438_979).abs() < 1e-6 && (upper - 2.944_438_979).abs() < 1e-6);
    }

    #[test]
    fn the_constrained_distribution_has_the_mean_and_sums_to_one() {
        for mean in [0.3, 0.5, 0.64, 0.9] {
            let shares = with_mean([0.1, 0.2, 0.3, 0.25, 0.15], mean);
            let sum: f64 = shares.iter().sum();
            let found: f64 = shares.iter().enumerate().map(|(i, q)| q * i as f64 / 4.0).sum();
            assert!((sum - 1.0).abs() < 1e-9 && (found - mean).abs() < 1e-9, "{mean}: {sum} {found}");
        }
    }

    #[test]
    fn many_pairs_agree_with_the_normal_approximation() {
        let pairs = PairScores([500, 2500, 5000, 2700, 540]);
        let n = f64::from(pairs.pairs());
        let mean = pairs.mean();
        let variance = (0..5).map(|i| f64::from(pairs.0[i]) * (i as f64 / 4.0 - mean).powi(2)).sum::<f64>() / n;
        let (s0, s1) = (score_of_elo(0.0), score_of_elo(10.0));
        let normal = n * (s1 - s0) * (2.0 * mean - s0 - s1) / (2.0 * variance);
        let exact = log_likelihood_ratio(pairs, s0, s1);
        assert!((normal - exact).abs() < 0.02 * exact.abs(), "{normal} {exact}");
    }

    #[test]
    fn swapping_the_players_swaps_the_hypotheses() {
        let pairs = PairScores([3, 10, 30, 12, 9]);
        let mirrored = PairScores([9, 12, 30, 10, 3]);
        let forth = log_likelihood_ratio(pairs, score_of_elo(0.0), score_of_elo(20.0));
        let back = log_likelihood_ratio(mirrored, score_of_elo(0.0), score_of_elo(-20.0));
        assert!((forth - back).abs() < 1e-9);
    }

    #[test]
    fn impossible_questions_are_named() {
        let wrong = SprtParams { elo0: 5.0, elo1: 5.0, ..SprtParams::default() };
        assert!(wrong.fault().is_some_and(|fault| fault.contains("expected elo0 below elo1")));
        let sure = SprtParams { alpha: 0.0, ..SprtParams::default() };
        assert!(sure.fault().is_some_and(|fault| fault.contains("below 0.5")));
        assert_eq!(SprtParams::default().fault(), None);
    }

    /// One simulated match: the truth in Elo, a bias of the opening that both games of a pair share, some draws.
    fn simulate(params: SprtParams, truth: f64, seed: u64) -> Verdict {
        let mut rng = rng_for(&[seed, truth.to_bits()]);
        let mut pairs = PairScores::default();
        let (draw, score) = (0.2, score_of_elo(truth));
        for _ in 0..20_000 {
            let bias = if rng.random_bool(0.5) { 0.15 } else { -0.15 };
            let game = |bias: f64, roll: f64| {
                let win = score + bias - 0.5 * draw;
                match roll {
                    _ if roll < win => GameResult::Win,
                    _ if roll < win + draw => GameResult::Draw,
                    _ => GameResult::Loss,
                }
            };
            pairs.add([game(bias, rng.random()), game(-bias, rng.random())]);
            let verdict = params.judge(pairs).verdict;
            if verdict != Verdict::Undecided {
                return verdict;
            }
        }
        Verdict::Undecided
    }

    #[test]
    fn error_rates_keep_their_promise() {
        let params = SprtParams { elo0: 0.0, elo1: 40.0, alpha: 0.05, beta: 0.1 };
        let matches = 300;
        let count = |truth: f64, verdict: Verdict| {
            (0..matches).filter(|&seed| simulate(params, truth, seed) == verdict).count() as f64 / matches as f64
        };
        // Three standard errors above the nominal 5 % and 10 % of 300 matches.
        let first_kind = count(0.0, Verdict::AcceptH1);
        let second_kind = count(40.0, Verdict::AcceptH0);
        assert!(first_kind <= 0.088, "type I {first_kind}");
        assert!(second_kind <= 0.152, "type II {second_kind}");
        assert!(count(100.0, Verdict::AcceptH1) > 0.995);
        assert!(count(-60.0, Verdict::AcceptH0) > 0.995);
    }
}
