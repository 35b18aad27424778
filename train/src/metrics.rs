//! What a generation measured: one line of JSON in `metrics/`, and the same numbers for TensorBoard.

use std::collections::BTreeMap;

use hnefi_engine::Side;
use hnefi_selfplay::{GenerationStats, Handicap, ResignSummary};
use serde::{Deserialize, Serialize};

use crate::learner::{LossValues, StepReport};

/// Everything measured in one generation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GenerationMetrics {
    /// Number of the generation, from 1.
    pub generation: u32,
    /// Identity of the checkpoint it ended with.
    pub checkpoint: String,
    /// Part of the budget used up at its end, 0 to 1.
    pub progress: f64,
    /// The name of the stage it belonged to; empty for a run without stages.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stage: String,
    /// Seconds of self-play and training since the run began.
    pub elapsed_seconds: f64,
    /// Self-play.
    pub selfplay: SelfPlayMetrics,
    /// Training.
    pub training: TrainingMetrics,
}

/// What self-play measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SelfPlayMetrics {
    /// Seconds spent.
    pub seconds: f64,
    /// Games finished.
    pub games: u64,
    /// Share of the finished games that the attackers won.
    pub attackers: f64,
    /// Share that the defenders won.
    pub defenders: f64,
    /// Share that nobody won.
    pub draws: f64,
    /// Number of games by how they ended, such as `defenders king_escaped` or `draw ply_cap`.
    pub ends: BTreeMap<String, u64>,
    /// Mean length of the finished games in plies.
    pub mean_plies: f64,
    /// Different positions after eight plies, among `games_beyond_ply_8` games.
    pub distinct_at_ply_8: u64,
    /// Finished games longer than eight plies.
    pub games_beyond_ply_8: u64,
    /// Training plies in the finished games.
    pub training_plies: u64,
    /// Playouts a move.
    pub playouts: u32,
    /// Plies played per second.
    pub plies_per_second: f64,
    /// Playouts per second.
    pub playouts_per_second: f64,
    /// Positions evaluated per second.
    pub evaluations_per_second: f64,
    /// Share of the evaluations asked for that were known from an earlier search.
    pub cache_hits: f64,
    /// Mean divergence of the search's policy from the network's, nats.
    pub search_surprise: f64,
    /// Share of the searched plies where the search prefers another move than the network.
    pub changed_minds: f64,
    /// What is known about resignation.
    pub resign: ResignSummary,
    /// The handicaps that evened the games out, by ruleset.
    pub handicaps: BTreeMap<String, Handicap>,
}

/// What training measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingMetrics {
    /// Seconds spent.
    pub seconds: f64,
    /// Steps since the run began.
    pub steps: u64,
    /// Samples since the run began.
    pub samples: u64,
    /// Steps of this generation, skipped ones included.
    pub generation_steps: u64,
    /// Steps of this generation that were skipped because something was not finite.
    pub skipped: u64,
    /// Samples per second.
    pub samples_per_second: f64,
    /// Samples of this generation per new training ply.
    pub reuse: f64,
    /// Training plies in the replay window.
    pub window_plies: u64,
    /// Generations in the replay window.
    pub window_generations: u64,
    /// Learning rate of the last step.
    pub rate: f64,
    /// Mean losses.
    pub losses: LossValues,
    /// Mean entropy of the policy targets, nats: what the policy loss would be at best.
    pub policy_entropy: f32,
    /// Mean gradient norm before clipping.
    pub gradient_norm: f64,
    /// Share of the steps whose gradient was clipped.
    pub clipped: f64,
}

impl SelfPlayMetrics {
    /// The numbers of a generation played with `playouts` a move in `seconds`.
    pub fn new(stats: &GenerationStats, playouts: u32, seconds: f64) -> SelfPlayMetrics {
        let share = |count: u64| count as f64 / stats.games.max(1) as f64;
        let rate = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
        let name = |winner: Option<Side>| winner.map_or("draw", Side::as_str);
        SelfPlayMetrics {
            seconds,
            games: stats.games,
            attackers: share(stats.wins(Side::Attackers)),
            defenders: share(stats.wins(Side::Defenders)),
            draws: share(stats.draws()),
            ends: stats.ends.iter().map(|end| (format!("{} {}", name(end.winner), end.reason), end.games)).collect(),
            mean_plies: stats.mean_plies,
            distinct_at_ply_8: stats.distinct_at_ply_8,
            games_beyond_ply_8: stats.games_beyond_ply_8,
            training_plies: stats.training_plies,
            playouts,
            plies_per_second: rate(stats.plies),
            playouts_per_second: rate(stats.playouts),
            evaluations_per_second: rate(stats.evaluations),
            cache_hits: stats.cache_hits as f64 / (stats.cache_hits + stats.evaluations).max(1) as f64,
            search_surprise: stats.search_surprise,
            changed_minds: stats.changed_minds,
            resign: stats.resign,
            handicaps: stats.handicaps.iter().map(|(preset, handicap)| (preset.name().to_owned(), *handicap)).collect(),
        }
    }
}

impl GenerationMetrics {
    /// One line of JSON with its newline.
    pub fn to_line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("metrics hold only numbers and texts");
        line.push('\n');
        line
    }

    /// Names and values for TensorBoard.
    pub fn scalars(&self) -> Vec<(String, f64)> {
        let (selfplay, training, losses) = (&self.selfplay, &self.training, &self.training.losses);
        let fixed = [
            ("loss/total", f64::from(losses.total)),
            ("loss/policy", f64::from(losses.policy)),
            ("loss/policy_above_entropy", f64::from(losses.policy - training.policy_entropy)),
            ("loss/value", f64::from(losses.value)),
            ("loss/moves_left", f64::from(losses.moves_left)),
            ("loss/occupancy", f64::from(losses.occupancy)),
            ("train/gradient_norm", training.gradient_norm),
            ("train/clipped", training.clipped),
            ("train/rate", training.rate),
            ("train/skipped", training.skipped as f64),
            ("train/reuse", training.reuse),
            ("train/window_plies", training.window_plies as f64),
            ("train/samples", training.samples as f64),
            ("speed/samples", training.samples_per_second),
            ("speed/playouts", selfplay.playouts_per_second),
            ("speed/evaluations", selfplay.evaluations_per_second),
            ("speed/plies", selfplay.plies_per_second),
            ("speed/cache_hits", selfplay.cache_hits),
            ("games/attackers", selfplay.attackers),
            ("games/defenders", selfplay.defenders),
            ("games/draws", selfplay.draws),
            ("games/mean_plies", selfplay.mean_plies),
            ("games/distinct_at_ply_8", share(selfplay.distinct_at_ply_8, selfplay.games_beyond_ply_8)),
            ("search/playouts", f64::from(selfplay.playouts)),
            ("search/surprise", selfplay.search_surprise),
            ("search/changed_minds", selfplay.changed_minds),
            ("run/elapsed_minutes", self.elapsed_seconds / 60.0),
            ("run/progress", self.progress),
        ];
        let ends = selfplay
            .ends
            .iter()
            .map(|(end, &games)| (format!("ends/{}", end.replace(' ', "_")), share(games, selfplay.games)));
        let handicaps = selfplay.handicaps.iter().flat_map(|(rules, handicap)| {
            [
                (format!("balance/doublings_{rules}"), f64::from(handicap.doublings)),
                (format!("balance/blunders_{rules}"), f64::from(handicap.blunders)),
            ]
        });
        let fixed = fixed.into_iter().map(|(name, value)| (name.to_owned(), value));
        fixed.chain(ends).chain(handicaps).collect()
    }
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Means over the steps of a generation.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepMeans {
    steps: u64,
    finite: u64,
    clipped: u64,
    sums: [f64; 7],
}

impl StepMeans {
    /// Takes in a step; `entropy` is that of its policy targets.
    pub(crate) fn add(&mut self, report: &StepReport, entropy: f32, clip_norm: f32) {
        self.steps += 1;
        if !report.finite {
            return;
        }
        self.finite += 1;
        self.clipped += u64::from(report.gradient_norm > clip_norm);
        let LossValues { total, policy, value, moves_left, occupancy } = report.losses;
        let numbers = [total, policy, value, moves_left, occupancy, entropy, report.gradient_norm];
        for (sum, number) in self.sums.iter_mut().zip(numbers) {
            *sum += f64::from(number);
        }
    }

    /// Mean losses so far.
    pub(crate) fn losses(&self) -> LossValues {
        let [total, policy, value, moves_left, occupancy, ..] = self.means();
        LossValues { total, policy, value, moves_left, occupancy }
    }

    /// Mean entropy of the policy targets so far.
    pub(crate) fn entropy(&self) -> f32 {
        let [.., entropy, _] = self.means();
        entropy
    }

    /// Writes the means and counts into the metrics.
    pub(crate) fn write(&self, metrics: &mut TrainingMetrics) {
        let [.., entropy, norm] = self.means();
        metrics.generation_steps = self.steps;
        metrics.skipped = self.steps - self.finite;
        metrics.losses = self.losses();
        metrics.policy_entropy = entropy;
        metrics.gradient_norm = f64::from(norm);
        metrics.clipped = share(self.clipped, self.finite);
    }

    fn means(&self) -> [f32; 7] {
        self.sums.map(|sum| self.mean(sum))
    }

    fn mean(&self, sum: f64) -> f32 {
        (sum / self.finite.max(1) as f64) as f32
    }
}

#[cfg(test)]
mod tests {
    use hnefi_selfplay::EndCount;

    use super::*;

    fn stats() -> GenerationStats {
        let end = |winner, reason: &str, games| EndCount { winner, reason: reason.into(), games };
        GenerationStats {
            games: 8,
            training_plies: 200,
            mean_plies: 30.5,
            ends: vec![
                end(Some(Side::Attackers), "king_captured", 2),
                end(Some(Side::Defenders), "king_escaped", 5),
                end(None, "ply_cap", 1),
            ],
            plies: 300,
            playouts: 4_800,
            evaluations: 4_000,
            cache_hits: 1_000,
            ..GenerationStats::default()
        }
    }

    #[test]
    fn shares_and_rates_by_hand() {
        let metrics = SelfPlayMetrics::new(&stats(), 16, 10.0);
        assert_eq!([metrics.attackers, metrics.defenders, metrics.draws], [0.25, 0.625, 0.125]);
        assert_eq!([metrics.plies_per_second, metrics.playouts_per_second], [30.0, 480.0]);
        assert_eq!((metrics.evaluations_per_second, metrics.cache_hits), (400.0, 0.2));
        assert_eq!(metrics.ends["draw ply_cap"], 1);
        assert_eq!(SelfPlayMetrics::new(&stats(), 16, 0.0).plies_per_second, 0.0);
    }

    #[test]
    fn a_line_is_one_json_object_and_reads_back() {
        let metrics = GenerationMetrics {
            generation: 3,
            selfplay: SelfPlayMetrics::new(&stats(), 16, 10.0),
            ..GenerationMetrics::default()
        };
        let line = metrics.to_line();
        assert_eq!(line.matches('\n').count(), 1);
        assert!(line.ends_with("}\n"));
        assert_eq!(serde_json::from_str::<GenerationMetrics>(&line).unwrap(), metrics);
    }

    #[test]
    fn means_leave_out_skipped_steps() {
        let losses = |total| LossValues { total, policy: 2.0, ..LossValues::default() };
        let mut means = StepMeans::default();
        means.add(&StepReport { losses: losses(1.0), gradient_norm: 0.5, finite: true }, 0.25, 1.0);
        means.add(&StepReport { losses: losses(f32::NAN), gradient_norm: f32::NAN, finite: false }, 0.5, 1.0);
        means.add(&StepReport { losses: losses(3.0), gradient_norm: 1.5, finite: true }, 0.75, 1.0);
        let mut metrics = TrainingMetrics::default();
        means.write(&mut metrics);
        assert_eq!((metrics.losses.total, metrics.losses.policy), (2.0, 2.0));
        assert_eq!((metrics.generation_steps, metrics.skipped, metrics.clipped), (3, 1, 0.5));
        assert_eq!((metrics.policy_entropy, metrics.gradient_norm), (0.5, 1.0));
    }

    #[test]
    fn scalars_name_the_ends() {
        let metrics =
            GenerationMetrics { selfplay: SelfPlayMetrics::new(&stats(), 16, 10.0), ..GenerationMetrics::default() };
        let scalars: BTreeMap<String, f64> = metrics.scalars().into_iter().collect();
        assert_eq!(scalars["ends/defenders_king_escaped"], 0.625);
        assert_eq!(scalars["games/draws"], 0.125);
    }
}
