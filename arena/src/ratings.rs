//! Ratings per side, fitted to the games of many players at once.
//!
//! The two sides play different games, so every player `i` has two strengths, `a_i` with the attackers and `d_i` with
//! the defenders, and every ruleset `r` a balance `s_r`, all in Elo:
//!
//! ```text
//! P(attackers of i beat defenders of j under r) = 1 / (1 + 10^(-(a_i - d_j + s_r) / 400))
//! ```
//!
//! A draw counts as half a win and half a loss. The fit maximises the likelihood times a wide normal prior on every
//! strength and balance; the prior bounds the ratings of players who won or lost everything and settles what the games
//! leave open (only sums such as `a_i - d_j + s_r` show in results). The error bars come from the curvature at the
//! maximum, that is the Fisher information of the games plus the prior's. A draw is informative like a decided game in
//! it, which makes the bars a little too wide, never too narrow, where draws are common.

use serde::{Deserialize, Serialize};

use super::score::{ELO_PER_LOGIT, Tally, Z95};

/// The games that one player's attackers played against another's defenders under one ruleset.
#[derive(Clone, Copy, Debug)]
pub struct Encounter {
    /// Index of the player who led the attackers.
    pub attackers: usize,
    /// Index of the player who led the defenders.
    pub defenders: usize,
    /// Index of the ruleset.
    pub ruleset: usize,
    /// Results as the attackers count them.
    pub tally: Tally,
}

/// How to fit.
#[derive(Clone, Copy, Debug)]
pub struct RatingParams {
    /// Standard deviation of the prior on each strength and balance, in Elo.
    pub prior_sd: f64,
    /// The player whose two strengths are zero by definition; without one, the mean over all players is zero.
    pub anchor: Option<usize>,
}

impl Default for RatingParams {
    fn default() -> RatingParams {
        RatingParams { prior_sd: 1000.0, anchor: None }
    }
}

/// A fitted number with its 95 % error bar.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    /// The estimate, in Elo.
    pub elo: f64,
    /// Half the width of the 95 % interval, in Elo.
    pub error: f64,
}

/// Fitted ratings.
#[derive(Clone, Debug)]
pub struct Ratings {
    players: usize,
    anchor: Option<usize>,
    /// `a_0 .. a_n, d_0 .. d_n, s_0 .. s_r`, in logits.
    strengths: Vec<f64>,
    /// Their covariance, in logits squared.
    covariance: Vec<Vec<f64>>,
}

/// Newton steps after which the fit is taken as it stands; a handful suffices, for the likelihood is concave.
const MAX_STEPS: usize = 100;

impl Ratings {
    /// Fits the strengths of `players` players and the balances of `rulesets` rulesets.
    ///
    /// # Panics
    /// When an index in `encounters` or the anchor is out of range, or the prior is not positive.
    pub fn fit(players: usize, rulesets: usize, encounters: &[Encounter], params: RatingParams) -> Ratings {
        assert!(params.prior_sd > 0.0, "prior_sd {}: expected more than 0", params.prior_sd);
        assert!(params.anchor.is_none_or(|anchor| anchor < players), "anchor {:?} of {players} players", params.anchor);
        for e in encounters {
            let known = e.attackers < players && e.defenders < players && e.ruleset < rulesets;
            assert!(known, "{e:?} among {players} players and {rulesets} rulesets");
        }
        let size = 2 * players + rulesets;
        let mut prior = vec![(ELO_PER_LOGIT / params.prior_sd).powi(2); size];
        if let Some(anchor) = params.anchor {
            // Held at zero by a prior that leaves no room: a tenth of a thousandth of an Elo.
            prior[anchor] = (ELO_PER_LOGIT / 1e-4).powi(2);
            prior[players + anchor] = prior[anchor];
        }
        let model = Model { players, encounters, prior };
        let mut strengths = vec![0.0; size];
        let mut value = model.log_posterior(&strengths);
        for _ in 0..MAX_STEPS {
            let step = solve(model.curvature(&strengths), model.gradient(&strengths));
            // Halve the step until it climbs: far from the maximum Newton's step may overshoot.
            let climbed = (0..40).find_map(|halving| {
                let scale = 0.5_f64.powi(halving);
                let next: Vec<f64> = strengths.iter().zip(&step).map(|(x, dx)| x + scale * dx).collect();
                let reached = model.log_posterior(&next);
                (reached > value).then_some((next, reached))
            });
            let Some((next, reached)) = climbed else { break };
            let gain = reached - value;
            (strengths, value) = (next, reached);
            if gain < 1e-12 {
                break;
            }
        }
        let covariance = inverse(model.curvature(&strengths));
        Ratings { players, anchor: params.anchor, strengths, covariance }
    }

    /// How strong player `index` is with the attackers.
    pub fn attackers(&self, index: usize) -> Rating {
        self.rating(&self.relative(&[(index, 1.0)]))
    }

    /// How strong player `index` is with the defenders.
    pub fn defenders(&self, index: usize) -> Rating {
        self.rating(&self.relative(&[(self.players + index, 1.0)]))
    }

    /// How strong player `index` is over both sides: the mean of the two.
    pub fn overall(&self, index: usize) -> Rating {
        self.rating(&self.relative(&[(index, 0.5), (self.players + index, 0.5)]))
    }

    /// The attackers' advantage under ruleset `index` between two players of zero strength.
    pub fn balance(&self, index: usize) -> Rating {
        let n = self.players;
        let mut weights = vec![(2 * n + index, 1.0)];
        if self.anchor.is_none() {
            // Zero strength is the mean player here: what his attackers have over his defenders belongs to the balance.
            weights.extend((0..n).flat_map(|i| [(i, 1.0 / n as f64), (n + i, -1.0 / n as f64)]));
        }
        self.rating(&weights)
    }

    /// The contrast of some strengths of one player against the mean player (against zero where there is an anchor).
    fn relative(&self, weights: &[(usize, f64)]) -> Vec<(usize, f64)> {
        let mut contrast = weights.to_vec();
        if self.anchor.is_none() {
            for &(index, weight) in weights {
                let first = if index < self.players { 0 } else { self.players };
                contrast.extend((first..first + self.players).map(|i| (i, -weight / self.players as f64)));
            }
        }
        contrast
    }

    /// Value and error of a weighted sum of strengths.
    fn rating(&self, weights: &[(usize, f64)]) -> Rating {
        let value: f64 = weights.iter().map(|&(i, w)| w * self.strengths[i]).sum();
        let variance: f64 = weights
            .iter()
            .flat_map(|&(i, w)| weights.iter().map(move |&(j, v)| (i, j, w * v)))
            .map(|(i, j, weight)| weight * self.covariance[i][j])
            .sum();
        Rating { elo: ELO_PER_LOGIT * value, error: ELO_PER_LOGIT * Z95 * variance.max(0.0).sqrt() }
    }
}

/// The posterior whose maximum is sought. Strengths in logits.
struct Model<'a> {
    players: usize,
    encounters: &'a [Encounter],
    /// Precision of the prior of each strength.
    prior: Vec<f64>,
}

impl Model<'_> {
    /// The three strengths that decide an encounter, with their signs.
    fn terms(&self, e: &Encounter) -> [(usize, f64); 3] {
        [(e.attackers, 1.0), (self.players + e.defenders, -1.0), (2 * self.players + e.ruleset, 1.0)]
    }

    fn logit(&self, e: &Encounter, strengths: &[f64]) -> f64 {
        self.terms(e).iter().map(|&(i, sign)| sign * strengths[i]).sum()
    }

    fn log_posterior(&self, strengths: &[f64]) -> f64 {
        let games: f64 = self
            .encounters
            .iter()
            .map(|e| {
                let x = self.logit(e, strengths);
                let points = e.tally.points();
                -points * softplus(-x) - (f64::from(e.tally.games()) - points) * softplus(x)
            })
            .sum();
        let prior: f64 = strengths.iter().zip(&self.prior).map(|(x, precision)| -0.5 * precision * x * x).sum();
        games + prior
    }

    fn gradient(&self, strengths: &[f64]) -> Vec<f64> {
        let mut gradient: Vec<f64> = strengths.iter().zip(&self.prior).map(|(x, precision)| -precision * x).collect();
        for e in self.encounters {
            let surplus = e.tally.points() - f64::from(e.tally.games()) * logistic(self.logit(e, strengths));
            for (i, sign) in self.terms(e) {
                gradient[i] += sign * surplus;
            }
        }
        gradient
    }

    /// Minus the second derivative: Fisher information of the games plus the prior's precision. Positive definite.
    fn curvature(&self, strengths: &[f64]) -> Vec<Vec<f64>> {
        let size = strengths.len();
        let mut matrix = vec![vec![0.0; size]; size];
        for (i, precision) in self.prior.iter().enumerate() {
            matrix[i][i] = *precision;
        }
        for e in self.encounters {
            let p = logistic(self.logit(e, strengths));
            let information = f64::from(e.tally.games()) * p * (1.0 - p);
            for (i, sign_i) in self.terms(e) {
                for (j, sign_j) in self.terms(e) {
                    matrix[i][j] += sign_i * sign_j * information;
                }
            }
        }
        matrix
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// ln(1 + e^x) without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// Lower Cholesky factor of a positive definite matrix.
fn cholesky(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    for i in 0..matrix.len() {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum();
            let rest = matrix[i][j] - sum;
            matrix[i][j] = if i == j { rest.max(f64::MIN_POSITIVE).sqrt() } else { rest / matrix[j][j] };
        }
    }
    matrix
}

/// Solves `factor * factor^T * x = right`.
fn substitute(factor: &[Vec<f64>], mut right: Vec<f64>) -> Vec<f64> {
    let size = right.len();
    for i in 0..size {
        let sum: f64 = (0..i).map(|k| factor[i][k] * right[k]).sum();
        right[i] = (right[i] - sum) / factor[i][i];
    }
    for i in (0..size).rev() {
        let sum: f64 = (i + 1..size).map(|k| factor[k][i] * right[k]).sum();
        right[i] = (right[i] - sum) / factor[i][i];
    }
    right
}

fn solve(matrix: Vec<Vec<f64>>, right: Vec<f64>) -> Vec<f64> {
    substitute(&cholesky(matrix), right)
}

fn inverse(matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    let factor = cholesky(matrix);
    (0..size).map(|i| substitute(&factor, (0..size).map(|j| f64::from(u8::from(i == j))).collect())).collect()
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::score_of_elo;
    use hnefi_engine::GameResult;
    use hnefi_search::rng_for;

    impl Ratings {
        /// By how much player `i` is stronger than player `j` over both sides.
        fn difference(&self, i: usize, j: usize) -> Rating {
            let n = self.players;
            self.rating(&[(i, 0.5), (n + i, 0.5), (j, -0.5), (n + j, -0.5)])
        }

        /// Expected score of the attackers of `i` against the defenders of `j` under the first ruleset, 0..1.
        fn expected(&self, i: usize, j: usize) -> f64 {
            let x = &self.strengths;
            logistic(x[i] - x[self.players + j] + x[2 * self.players])
        }
    }

    fn encounter(attackers: usize, defenders: usize, wins: u32, draws: u32, losses: u32) -> Encounter {
        Encounter { attackers, defenders, ruleset: 0, tally: Tally { wins, draws, losses } }
    }

    #[test]
    fn three_quarters_on_both_sides_are_190_elo() {
        let games = [encounter(0, 1, 750, 0, 250), encounter(1, 0, 250, 0, 750)];
        let ratings = Ratings::fit(2, 1, &games, RatingParams { prior_sd: 1e5, anchor: None });
        let difference = ratings.difference(0, 1);
        assert!((difference.elo - 190.8485).abs() < 0.01, "{difference:?}");
        // Two samples of 1,000 games at p = 0.75, the mean of two logits: se = sqrt(2 / (1000 p q)) / 2.
        let error = ELO_PER_LOGIT * Z95 * (2.0 / 187.5_f64).sqrt() / 2.0;
        assert!((difference.error - error).abs() < 0.05, "{} {error}", difference.error);
        assert!(ratings.balance(0).elo.abs() < 0.01);
        assert!((ratings.expected(0, 1) - 0.75).abs() < 1e-4);
        assert!((ratings.overall(0).elo - 190.8485 / 2.0).abs() < 0.01);
    }

    #[test]
    fn a_game_that_favours_a_side_shows_in_the_balance_and_not_in_the_players() {
        let games = [encounter(0, 1, 900, 0, 100), encounter(1, 0, 900, 0, 100)];
        let ratings = Ratings::fit(2, 1, &games, RatingParams { prior_sd: 1e5, anchor: None });
        assert!(ratings.difference(0, 1).elo.abs() < 1e-6);
        assert!((ratings.balance(0).elo - 381.697).abs() < 0.1, "{:?}", ratings.balance(0));
    }

    #[test]
    fn draws_count_half_to_each() {
        let games = [encounter(0, 1, 250, 500, 250), encounter(1, 0, 200, 100, 700)];
        let ratings = Ratings::fit(2, 1, &games, RatingParams { prior_sd: 1e5, anchor: None });
        assert!((ratings.expected(0, 1) - 0.5).abs() < 1e-4);
        assert!((ratings.expected(1, 0) - 0.25).abs() < 1e-4);
    }

    #[test]
    fn errors_shrink_with_the_square_root_of_the_games() {
        let error = |n: u32| {
            let games = [encounter(0, 1, 6 * n, n, 3 * n), encounter(1, 0, 4 * n, n, 5 * n)];
            Ratings::fit(2, 1, &games, RatingParams::default()).difference(0, 1).error
        };
        assert!((error(10) / error(40) - 2.0).abs() < 0.01);
    }

    #[test]
    fn a_clean_sweep_is_bounded_by_the_prior() {
        let games = [encounter(0, 1, 50, 0, 0), encounter(1, 0, 0, 0, 50)];
        let ratings = Ratings::fit(2, 1, &games, RatingParams::default());
        let difference = ratings.difference(0, 1);
        assert!(difference.elo > 500.0 && difference.elo < 2000.0, "{difference:?}");
        assert!(difference.error.is_finite() && difference.error > 200.0, "{difference:?}");
    }

    #[test]
    fn simulated_games_recover_the_truth_within_the_error_bars() {
        let attack = [0.0, 120.0, 300.0, 420.0, 700.0];
        let defence = [0.0, 200.0, 150.0, 500.0, 600.0];
        let balance = [80.0, -150.0];
        let mut rng = rng_for(&[2026, 11]);
        let mut games = Vec::new();
        for (i, attack) in attack.iter().enumerate() {
            for (j, defence) in defence.iter().enumerate().filter(|&(j, _)| j != i) {
                for (ruleset, side) in balance.iter().enumerate() {
                    let p = score_of_elo(attack - defence + side);
                    let mut tally = Tally::default();
                    (0..400)
                        .for_each(|_| tally.add(if rng.random_bool(p) { GameResult::Win } else { GameResult::Loss }));
                    games.push(Encounter { attackers: i, defenders: j, ruleset, tally });
                }
            }
        }
        let ratings = Ratings::fit(5, 2, &games, RatingParams { prior_sd: 2000.0, anchor: Some(0) });
        let mut deviations = Vec::new();
        for (i, (&attack, &defence)) in attack.iter().zip(&defence).enumerate() {
            for (rating, truth) in [(ratings.attackers(i), attack), (ratings.defenders(i), defence)] {
                assert!((rating.elo - truth).abs() < 60.0, "player {i}: {rating:?}, truth {truth}");
                if i > 0 {
                    deviations.push(((rating.elo - truth) / rating.error * Z95).abs());
                }
            }
        }
        for (ruleset, &truth) in balance.iter().enumerate() {
            let rating = ratings.balance(ruleset);
            deviations.push(((rating.elo - truth) / rating.error * Z95).abs());
        }
        assert_eq!((ratings.attackers(0).elo.round(), ratings.defenders(0).elo.round()), (0.0, 0.0));
        // Ten correlated deviations in standard errors: none may be wild, most must be small.
        assert!(deviations.iter().all(|&z| z < 3.5), "{deviations:?}");
        assert!(deviations.iter().filter(|&&z| z < 1.0).count() >= 4, "{deviations:?}");
    }

    #[test]
    fn without_an_anchor_the_mean_player_has_zero_strength() {
        let games = [encounter(0, 1, 30, 5, 15), encounter(1, 2, 20, 5, 10), encounter(2, 0, 12, 1, 20)];
        let ratings = Ratings::fit(3, 1, &games, RatingParams::default());
        let sum = |rating: fn(&Ratings, usize) -> Rating| (0..3).map(|i| rating(&ratings, i).elo).sum::<f64>();
        assert!(sum(Ratings::attackers).abs() < 1e-6 && sum(Ratings::defenders).abs() < 1e-6);
        assert!(sum(Ratings::overall).abs() < 1e-6);
    }
}
