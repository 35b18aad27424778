//! Metrics of a generation from self-play statistics and step reports.

use hnefi_engine::Side;
use hnefi_run::{LossValues, SelfPlayMetrics, TrainingMetrics};
use hnefi_selfplay::GenerationStats;

use crate::learner::{CLIP_NORM, StepReport};

/// Metrics of self-play with `playouts` playouts per move in `seconds` seconds, on the CPU.
pub(crate) fn selfplay_metrics(stats: &GenerationStats, playouts: u32, seconds: f64) -> SelfPlayMetrics {
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
        card_busy: 0.0,
        search_surprise: stats.search_surprise,
        changed_minds: stats.changed_minds,
        resign: stats.resign,
        handicaps: stats.handicaps.iter().map(|(preset, handicap)| (preset.name(), *handicap)).collect(),
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct StepMeans {
    steps: u64,
    finite: u64,
    clipped: u64,
    sums: [f64; 7],
}

impl StepMeans {
    /// Adds a step; `entropy` is the mean entropy of its policy targets, in nats.
    pub(crate) fn add(&mut self, report: &StepReport, entropy: f32) {
        self.steps += 1;
        if !report.finite {
            return;
        }
        self.finite += 1;
        self.clipped += u64::from(report.gradient_norm > CLIP_NORM);
        let LossValues { total, policy, value, moves_left, occupancy } = report.losses;
        let numbers = [total, policy, value, moves_left, occupancy, entropy, report.gradient_norm];
        for (sum, number) in self.sums.iter_mut().zip(numbers) {
            *sum += f64::from(number);
        }
    }

    pub(crate) fn losses(&self) -> LossValues {
        let [total, policy, value, moves_left, occupancy, ..] = self.means();
        LossValues { total, policy, value, moves_left, occupancy }
    }

    pub(crate) fn entropy(&self) -> f32 {
        let [.., entropy, _] = self.means();
        entropy
    }

    pub(crate) fn write(&self, metrics: &mut TrainingMetrics) {
        let [.., entropy, norm] = self.means();
        metrics.generation_steps = self.steps;
        metrics.skipped = self.steps - self.finite;
        metrics.losses = self.losses();
        metrics.policy_entropy = entropy;
        metrics.gradient_norm = f64::from(norm);
        metrics.clipped = self.clipped as f64 / self.finite.max(1) as f64;
    }

    fn means(&self) -> [f32; 7] {
        self.sums.map(|sum| (sum / self.finite.max(1) as f64) as f32)
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
        let metrics = selfplay_metrics(&stats(), 16, 10.0);
        assert_eq!([metrics.attackers, metrics.defenders, metrics.draws], [0.25, 0.625, 0.125]);
        assert_eq!([metrics.plies_per_second, metrics.playouts_per_second], [30.0, 480.0]);
        assert_eq!((metrics.evaluations_per_second, metrics.cache_hits), (400.0, 0.2));
        assert_eq!(metrics.ends["draw ply_cap"], 1);
        assert_eq!(selfplay_metrics(&stats(), 16, 0.0).plies_per_second, 0.0);
    }

    #[test]
    fn means_leave_out_skipped_steps() {
        let losses = |total| LossValues { total, policy: 2.0, ..LossValues::default() };
        let mut means = StepMeans::default();
        means.add(&StepReport { losses: losses(1.0), gradient_norm: 0.5, finite: true }, 0.25);
        means.add(&StepReport { losses: losses(f32::NAN), gradient_norm: f32::NAN, finite: false }, 0.5);
        means.add(&StepReport { losses: losses(3.0), gradient_norm: 1.5, finite: true }, 0.75);
        let mut metrics = TrainingMetrics::default();
        means.write(&mut metrics);
        assert_eq!((metrics.losses.total, metrics.losses.policy), (2.0, 2.0));
        assert_eq!((metrics.generation_steps, metrics.skipped, metrics.clipped), (3, 1, 0.5));
        assert_eq!((metrics.policy_entropy, metrics.gradient_norm), (0.5, 1.0));
    }
}
