//! Schedules over a run: the learning rate and the playouts per move.
//!
//! Both follow *progress*, the used part of the budget from 0 to 1, so runs of eight minutes and of eight hours go
//! through the same phases.

use std::f64::consts::PI;

use crate::config::TrainSection;

/// The learning rate of step number `step` (from 0) at this progress, which is clamped to 0..=1: linear warm-up, then
/// half a cosine.
pub(crate) fn rate_at(section: &TrainSection, step: u64, progress: f64) -> f64 {
    let TrainSection { rate, rate_end, warmup_steps, .. } = *section;
    let rate = rate_end + (rate - rate_end) * 0.5 * (1.0 + (PI * progress.clamp(0.0, 1.0)).cos());
    if step < warmup_steps { rate * (step + 1) as f64 / warmup_steps as f64 } else { rate }
}

/// Playouts per move at this progress; the numbers in `stages` apply to equal parts of the run.
///
/// # Panics
/// When `stages` is empty.
pub(crate) fn playouts_at(stages: &[u32], progress: f64) -> u32 {
    let stage = (progress.clamp(0.0, 1.0) * stages.len() as f64) as usize;
    stages[stage.min(stages.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosine_by_hand() {
        let section = TrainSection { rate: 1e-3, rate_end: 1e-4, warmup_steps: 4, ..TrainSection::default() };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} is not {b}");
        near(rate_at(&section, 0, 0.0), 0.25e-3);
        near(rate_at(&section, 2, 0.0), 0.75e-3);
        near(rate_at(&section, 4, 0.0), 1e-3);
        near(rate_at(&section, 100, 1.0 / 3.0), 7.75e-4); // cos 60 degrees is 1/2
        near(rate_at(&section, 100, 0.5), 5.5e-4);
        near(rate_at(&section, 100, 1.0), 1e-4);
        near(rate_at(&section, 100, 7.0), 1e-4);
    }

    #[test]
    fn playouts_in_thirds() {
        let stages = [16, 32, 64];
        let at = |progress| playouts_at(&stages, progress);
        assert_eq!([at(0.0), at(0.33), at(0.34), at(0.66), at(0.67), at(1.0), at(2.0)], [16, 16, 32, 32, 64, 64, 64]);
        assert_eq!(playouts_at(&[200], 0.5), 200);
    }
}
