//! Wins, draws and losses, the scores of pairs, and what they say in Elo.
//!
//! Games come in pairs: one opening, both ways round. The two games of a pair are not independent (an opening may
//! favour a side), so the spread of the *pair* scores is what an error bar has to be made of, not the count of games. A
//! score `s` in 0..1 is worth `400 log10(s / (1 - s))` Elo. Its 95 % interval is Wilson's (1927), taken over an
//! effective number of games which the spread of the pairs gives; so it never leaves 0..1 and stays honest at 100 %.

use hnefi_engine::GameResult;
use serde::{Deserialize, Serialize};

/// The normal quantile of a two-sided 95 % interval.
pub const Z95: f64 = 1.959_963_984_540_054;

/// Elo of a factor e in the odds: 400 / ln 10.
pub const ELO_PER_LOGIT: f64 = 400.0 / std::f64::consts::LN_10;

/// Elo difference that an expected score stands for; infinite at 0 and 1.
fn elo_of_score(score: f64) -> f64 {
    ELO_PER_LOGIT * (score / (1.0 - score)).ln()
}

/// Expected score, 0..1, of the stronger by `elo`.
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + (-elo / ELO_PER_LOGIT).exp())
}

/// Results of one player's games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Games won.
    pub wins: u32,
    /// Games drawn, for any reason.
    pub draws: u32,
    /// Games lost.
    pub losses: u32,
}

impl Tally {
    /// All games.
    pub fn games(self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// Wins and half the draws.
    pub fn points(self) -> f64 {
        f64::from(self.wins) + 0.5 * f64::from(self.draws)
    }

    /// Points per game, 0..1; one half when there is no game.
    pub fn score(self) -> f64 {
        if self.games() == 0 { 0.5 } else { self.points() / f64::from(self.games()) }
    }

    /// The same games as the opponent counts them.
    #[must_use]
    pub fn flipped(self) -> Tally {
        Tally { wins: self.losses, draws: self.draws, losses: self.wins }
    }

    /// Adds one game.
    pub fn add(&mut self, result: GameResult) {
        match result {
            GameResult::Win => self.wins += 1,
            GameResult::Draw => self.draws += 1,
            GameResult::Loss => self.losses += 1,
        }
    }

    /// What the games say in Elo, each game counted as independent of the others.
    pub fn elo(self) -> EloInterval {
        let games = f64::from(self.games());
        // Draws spread less than wins and losses; the share of the largest possible spread scales the count of games.
        let mean = self.score();
        let squares = f64::from(self.wins) * (1.0 - mean).powi(2)
            + f64::from(self.draws) * (0.5 - mean).powi(2)
            + f64::from(self.losses) * mean.powi(2);
        EloInterval::from_spread(mean, games, squares, 1.0)
    }
}

impl std::ops::Add for Tally {
    type Output = Tally;

    fn add(self, other: Tally) -> Tally {
        Tally { wins: self.wins + other.wins, draws: self.draws + other.draws, losses: self.losses + other.losses }
    }
}

/// How many pairs ended 0, ½, 1, 1½ and 2 points for one player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PairScores(pub [u32; 5]);

impl PairScores {
    /// Adds one pair.
    pub fn add(&mut self, results: [GameResult; 2]) {
        let [first, second] = results.map(GameResult::score);
        self.0[(2.0 * (first + second)) as usize] += 1;
    }

    /// Number of pairs.
    pub fn pairs(self) -> u32 {
        self.0.iter().sum()
    }

    /// Mean score per game, 0..1; one half when there is no pair.
    pub fn mean(self) -> f64 {
        if self.pairs() == 0 {
            return 0.5;
        }
        self.weighted(|score| score) / f64::from(self.pairs())
    }

    /// What the pairs say in Elo.
    pub fn elo(self) -> EloInterval {
        let mean = self.mean();
        let squares = self.weighted(|score| (score - mean).powi(2));
        EloInterval::from_spread(mean, f64::from(self.pairs()), squares, 0.5)
    }

    fn weighted(self, value: impl Fn(f64) -> f64) -> f64 {
        self.0.iter().zip(0..).map(|(&count, quarter)| f64::from(count) * value(f64::from(quarter) / 4.0)).sum()
    }
}

/// An Elo difference with its 95 % interval. `None` is unbounded: the Elo of a score of 0 or 1, or one end of an
/// interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EloInterval {
    /// The lower end.
    pub low: Option<f64>,
    /// The difference that fits best.
    pub elo: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

impl EloInterval {
    /// From `units` independent scores in 0..1 with this mean and sum of squared deviations. `prior_share` is the
    /// variance that one more, imagined unit brings, as a share of the largest possible variance `mean (1 - mean)`: it
    /// keeps the interval open when all units happen to agree.
    fn from_spread(mean: f64, units: f64, squares: f64, prior_share: f64) -> EloInterval {
        if units == 0.0 {
            return EloInterval { low: None, elo: Some(0.0), high: None };
        }
        let largest = mean * (1.0 - mean);
        let share = if largest > 0.0 { (squares / largest + prior_share) / (units + 1.0) } else { prior_share };
        let (low, high) = wilson(mean, units / share);
        let bounded = |score: f64| (score > 0.0 && score < 1.0).then(|| elo_of_score(score));
        EloInterval { low: bounded(low), elo: bounded(mean), high: bounded(high) }
    }
}

/// Wilson's score interval for a share `mean` seen in `n` trials.
fn wilson(mean: f64, n: f64) -> (f64, f64) {
    let z2 = Z95 * Z95;
    let centre = (mean + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z95 / (1.0 + z2 / n) * (mean * (1.0 - mean) / n + z2 / (4.0 * n * n)).sqrt();
    // At a mean of 0 or 1 the interval touches the end exactly; rounding must not leave it a hair inside.
    let low = if mean <= 0.0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if mean >= 1.0 { 1.0 } else { (centre + half).min(1.0) };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(left: f64, right: f64, within: f64) -> bool {
        (left - right).abs() <= within
    }

    #[test]
    fn elo_and_score_agree_with_the_textbook() {
        for (score, elo) in [(0.5, 0.0), (0.75, 190.8485), (10.0 / 11.0, 400.0), (0.99, 798.2542), (0.25, -190.8485)] {
            assert!(near(elo_of_score(score), elo, 1e-3), "{score}: {}", elo_of_score(score));
            assert!(near(score_of_elo(elo), score, 1e-6), "{elo}: {}", score_of_elo(elo));
        }
    }

    #[test]
    fn a_tally_counts_draws_as_halves() {
        let tally = Tally { wins: 6, draws: 3, losses: 1 };
        assert_eq!((tally.games(), tally.points(), tally.score()), (10, 7.5, 0.75));
        assert!(near(tally.elo().elo.expect("75 % is bounded"), 190.8485, 1e-3));
        assert_eq!(tally.flipped().flipped(), tally);
        assert_eq!(Tally::default().score(), 0.5);
    }

    #[test]
    fn intervals_shrink_with_the_square_root_of_the_games() {
        let width = |n: u32| {
            let interval = PairScores([n, 2 * n, 10 * n, 6 * n, 3 * n]).elo();
            interval.high.expect("bounded") - interval.low.expect("bounded")
        };
        for n in [10, 40, 160] {
            let ratio = width(n) / width(4 * n);
            assert!(near(ratio, 2.0, 0.03), "{n}: {ratio}");
        }
    }

    #[test]
    fn large_samples_give_the_normal_interval_of_the_pair_scores() {
        let pairs = PairScores([300, 900, 2500, 1700, 600]);
        let n = f64::from(pairs.pairs());
        let scores = [0.0, 0.25, 0.5, 0.75, 1.0];
        let mean = (0..5).map(|i| f64::from(pairs.0[i]) * scores[i]).sum::<f64>() / n;
        let variance = (0..5).map(|i| f64::from(pairs.0[i]) * (scores[i] - mean).powi(2)).sum::<f64>() / n;
        let half = 1.96 * (variance / n).sqrt();
        let interval = pairs.elo();
        assert!(near(interval.low.expect("bounded"), elo_of_score(mean - half), 0.1));
        assert!(near(interval.high.expect("bounded"), elo_of_score(mean + half), 0.1));
    }

    #[test]
    fn opposite_games_of_a_pair_narrow_the_interval() {
        // The same 50 % of points: once every pair is split, once a pair goes whole to one player.
        let split = PairScores([0, 0, 100, 0, 0]).elo();
        let whole = PairScores([50, 0, 0, 0, 50]).elo();
        assert!(split.high.expect("bounded") < whole.high.expect("bounded") / 5.0);
        assert!(split.high.expect("bounded") > 0.0);
    }

    #[test]
    fn a_clean_sweep_is_bounded_from_below_only() {
        let sweep = PairScores([0, 0, 0, 0, 50]).elo();
        assert_eq!((sweep.elo, sweep.high), (None, None));
        // Wilson for 100 of 100: 100 / (100 + 1.96^2).
        let low = score_of_elo(sweep.low.expect("bounded"));
        assert!(near(low, 100.0 / 103.8415, 1e-4), "{low}");
        let swept = PairScores([50, 0, 0, 0, 0]).elo();
        assert_eq!((swept.low, swept.elo), (None, None));
        assert!(near(swept.high.expect("bounded"), -sweep.low.expect("bounded"), 1e-9));
    }

    #[test]
    fn no_games_say_nothing() {
        let interval = PairScores::default().elo();
        assert_eq!((interval.low, interval.elo, interval.high), (None, Some(0.0), None));
    }
}
