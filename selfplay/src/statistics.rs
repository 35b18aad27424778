//! Statistics of a generation of self-play: each game batch counts its plies, and the counts are summed at the end.

use std::collections::{BTreeMap, HashSet};

use hnefi_engine::{Move, NamedRules, Outcome, Reason, Side};
use hnefi_inference::{Handicap, json};
use serde::{Deserialize, Serialize};

use hnefi_run::{GameRecord, ResignSummary};

const VARIETY_PLY: usize = 8;

/// Counts of one game batch in one generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Counters {
    pub(super) plies: u64,
    pub(super) searched_plies: u64,
    pub(super) playouts: u64,
    pub(super) evaluations: u64,
    pub(super) cache_hits: u64,
    pub(super) surprise: f64,
    pub(super) changed_minds: u64,
}

impl Counters {
    /// Counts a search: compares its policy target with the network's priors over the same moves.
    pub(super) fn compare(&mut self, target: &[(Move, f32)], priors: impl Iterator<Item = f32> + Clone) {
        self.searched_plies += 1;
        self.surprise += divergence(target.iter().map(|&(_, weight)| weight).zip(priors.clone()));
        let searched = position_of_max(target.iter().map(|&(_, weight)| weight));
        self.changed_minds += u64::from(searched != position_of_max(priors));
    }

    /// Refuses sums that no games have, of which a generation's metrics could not be read back.
    pub(super) fn check(&self) -> Result<(), String> {
        let counts = [
            ("plies", self.plies),
            ("searched_plies", self.searched_plies),
            ("playouts", self.playouts),
            ("evaluations", self.evaluations),
            ("cache_hits", self.cache_hits),
        ];
        json::check(json::COUNT, &counts)?;
        json::check(0..=self.searched_plies, &[("changed_minds", self.changed_minds)])?;
        // A divergence is at least 0 but for rounding, and below 88: the smallest prior that counts is near e^-87.
        let plies = self.searched_plies as f64;
        json::check(-0.001 * plies..=100.0 * plies, &[("surprise", self.surprise)])?;
        Ok(())
    }

    fn add(&mut self, other: &Counters) {
        self.plies = self.plies.saturating_add(other.plies);
        self.searched_plies = self.searched_plies.saturating_add(other.searched_plies);
        self.playouts = self.playouts.saturating_add(other.playouts);
        self.evaluations = self.evaluations.saturating_add(other.evaluations);
        self.cache_hits = self.cache_hits.saturating_add(other.cache_hits);
        self.surprise += other.surprise;
        self.changed_minds = self.changed_minds.saturating_add(other.changed_minds);
    }

    /// The sum over all batches, in a fixed order, because floating-point sums depend on it.
    pub(super) fn total(batches: &[Counters]) -> Counters {
        batches.iter().fold(Counters::default(), |mut sum, batch| {
            sum.add(batch);
            sum
        })
    }
}

/// Kullback-Leibler divergence in nats of pairs (target, prior).
fn divergence(pairs: impl Iterator<Item = (f32, f32)>) -> f64 {
    pairs
        .filter(|&(target, _)| target > 0.0)
        .map(|(target, prior)| f64::from(target) * (f64::from(target) / f64::from(prior.max(f32::MIN_POSITIVE))).ln())
        .sum()
}

fn position_of_max(values: impl Iterator<Item = f32>) -> usize {
    let mut best = (0, f32::NEG_INFINITY);
    for (index, value) in values.enumerate() {
        if value > best.1 {
            best = (index, value);
        }
    }
    best.0
}

/// Number of games that ended in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndCount {
    /// The winner; `None` for a draw.
    pub winner: Option<Side>,
    /// The reason's name as in the rules, or `resignation`.
    pub reason: String,
    /// Number of games.
    pub games: u64,
}

/// Statistics of a generation of self-play.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GenerationStats {
    /// Games finished.
    pub games: u64,
    /// Training samples in the finished games.
    pub training_plies: u64,
    /// Mean length of the finished games in plies; 0 without games.
    pub mean_plies: f64,
    /// Endings of the finished games: attackers' wins, defenders' wins, draws, each in the order of [`Reason::ALL`].
    pub ends: Vec<EndCount>,
    /// Finished games longer than 8 plies.
    pub games_beyond_ply_8: u64,
    /// Number of different positions after 8 plies in these games.
    pub distinct_at_ply_8: u64,
    /// Plies played in this generation, including plies of unfinished games.
    pub plies: u64,
    /// Playouts of these plies.
    pub playouts: u64,
    /// Positions that the network evaluated for these plies.
    pub evaluations: u64,
    /// Evaluations found in the cache. The sum of `evaluations` and `cache_hits` does not depend on interruptions; each
    /// alone does, because the cache is not saved.
    pub cache_hits: u64,
    /// Mean Kullback-Leibler divergence of policy target from prior over the searched plies, in nats.
    pub search_surprise: f64,
    /// Share of the searched plies whose policy target has another likeliest move than the prior.
    pub changed_minds: f64,
    /// State of the resignation rule at the end of the generation.
    pub resign: ResignSummary,
    /// The handicaps of the generation, by ruleset.
    pub handicaps: Vec<(NamedRules, Handicap)>,
}

impl GenerationStats {
    pub(super) fn new(games: &[GameRecord], counters: &Counters, resign: ResignSummary) -> GenerationStats {
        let plies: usize = games.iter().map(|game| game.plies.len()).sum();
        let mean = |sum: f64, count: u64| if count == 0 { 0.0 } else { sum / count as f64 };
        let (games_beyond_ply_8, distinct_at_ply_8) = variety(games);
        GenerationStats {
            games: games.len() as u64,
            training_plies: games.iter().map(|game| game.training_plies() as u64).sum(),
            mean_plies: mean(plies as f64, games.len() as u64),
            ends: count_ends(games),
            games_beyond_ply_8,
            distinct_at_ply_8,
            plies: counters.plies,
            playouts: counters.playouts,
            evaluations: counters.evaluations,
            cache_hits: counters.cache_hits,
            search_surprise: mean(counters.surprise, counters.searched_plies),
            changed_minds: mean(counters.changed_minds as f64, counters.searched_plies),
            resign,
            handicaps: Vec::new(),
        }
    }

    /// Whether a generation can have these numbers.
    ///
    /// # Errors
    /// When one is out of its range.
    pub fn check(&self) -> Result<(), json::OutOfRange> {
        let counts = [
            ("games", self.games),
            ("training_plies", self.training_plies),
            ("games_beyond_ply_8", self.games_beyond_ply_8),
            ("distinct_at_ply_8", self.distinct_at_ply_8),
            ("plies", self.plies),
            ("playouts", self.playouts),
            ("evaluations", self.evaluations),
            ("cache_hits", self.cache_hits),
        ];
        json::check(json::COUNT, &counts)?;
        self.ends.iter().try_for_each(|end| json::check(json::COUNT, &[("ends", end.games)]))?;
        json::check(json::AMOUNT, &[("mean_plies", self.mean_plies)])?;
        json::check(json::SHARE, &[("changed_minds", self.changed_minds)])
    }

    /// Number of games that `side` won, on the board or by resignation.
    pub fn wins(&self, side: Side) -> u64 {
        self.ends.iter().filter(|end| end.winner == Some(side)).map(|end| end.games).sum()
    }

    /// Number of draws.
    pub fn draws(&self) -> u64 {
        self.ends.iter().filter(|end| end.winner.is_none()).map(|end| end.games).sum()
    }
}

fn count_ends(games: &[GameRecord]) -> Vec<EndCount> {
    let mut counts = BTreeMap::<(usize, usize), EndCount>::new();
    for game in games {
        let (winner, reason) = (game.winner(), game.outcome.map(Outcome::reason));
        let place = Reason::ALL.iter().position(|&known| Some(known) == reason).unwrap_or(Reason::ALL.len());
        let key = (winner.map_or(2, Side::index), place);
        let reason = reason.map_or("resignation", Reason::as_str);
        counts.entry(key).or_insert_with(|| EndCount { winner, reason: reason.to_string(), games: 0 }).games += 1;
    }
    counts.into_values().collect()
}

/// Number of games longer than [`VARIETY_PLY`] plies, and number of different positions at that ply.
fn variety(games: &[GameRecord]) -> (u64, u64) {
    let long = || games.iter().filter(|game| game.plies.len() > VARIETY_PLY);
    let seen: HashSet<_> = long()
        .filter_map(|game| {
            let mut replay = game.replay().ok()?;
            for _ in 0..VARIETY_PLY {
                replay.step().ok()?;
            }
            Some((game.rules, replay.position().hash()))
        })
        .collect();
    (long().count() as u64, seen.len() as u64)
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Square;

    use super::*;

    #[test]
    fn surprise_is_the_divergence() {
        let mv = |to| Move::new(Square::new(0), Square::new(to));
        let mut counters = Counters::default();
        counters.compare(&[(mv(1), 0.5), (mv(2), 0.5), (mv(3), 0.0)], [0.25, 0.25, 0.5].into_iter());
        assert!((counters.surprise - 2f64.ln()).abs() < 1e-12, "{}", counters.surprise);
        assert_eq!((counters.searched_plies, counters.changed_minds), (1, 1));
        counters.compare(&[(mv(1), 0.75), (mv(2), 0.25)], [0.75, 0.25].into_iter());
        assert!((counters.surprise - 2f64.ln()).abs() < 1e-12, "agreement adds nothing");
        assert_eq!((counters.searched_plies, counters.changed_minds), (2, 1));
    }

    #[test]
    fn sums_do_not_depend_on_anything_but_order() {
        let batch = Counters {
            plies: 3,
            searched_plies: 2,
            playouts: 32,
            evaluations: 30,
            cache_hits: 4,
            surprise: 0.5,
            changed_minds: 1,
        };
        let total = Counters::total(&[batch, Counters::default(), batch]);
        assert_eq!(
            (total.plies, total.playouts, total.evaluations, total.cache_hits, total.surprise),
            (6, 64, 60, 8, 1.0)
        );
    }
}
