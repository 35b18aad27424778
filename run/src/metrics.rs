//! The metrics of a run: one JSON object per generation, which the watching commands, tables and TensorBoard read.
//!
//! A number that another version did not write is read as 0.

use std::collections::BTreeMap;

use hnefi_inference::{Handicap, json};
use serde::{Deserialize, Serialize};

/// The metrics of one generation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GenerationMetrics {
    /// Number of the generation, from 1.
    pub generation: u32,
    /// Id of the checkpoint that the generation published.
    pub checkpoint: String,
    /// Progress of the budget at the end of the generation, 0 to 1.
    pub progress: f64,
    /// Name of the stage; empty for a run without stages.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stage: String,
    /// Seconds of self-play and training since the run began, by the budget's clock.
    pub elapsed_seconds: f64,
    /// The same by the wall clock.
    pub wall_seconds: f64,
    /// The same in processor time of the trainer's process.
    pub processor_seconds: f64,
    /// When the generation was published, in seconds since 1970.
    pub unix_seconds: f64,
    /// Self-play.
    pub selfplay: SelfPlayMetrics,
    /// Training.
    pub training: TrainingMetrics,
}

/// Metrics of self-play.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SelfPlayMetrics {
    /// Seconds spent.
    pub seconds: f64,
    /// Games finished.
    pub games: u64,
    /// Share of the finished games that the attackers won.
    pub attackers: f64,
    /// Share of the finished games that the defenders won.
    pub defenders: f64,
    /// Share of draws.
    pub draws: f64,
    /// Number of games by ending, such as `defenders king_escaped` or `draw ply_cap`.
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
    /// Share of the requested evaluations that were in the cache.
    pub cache_hits: f64,
    /// Share of the time in which cards had work, copies included; 0 without cards.
    pub card_busy: f64,
    /// Mean divergence of the search's policy from the network's, nats.
    pub search_surprise: f64,
    /// Share of the searched plies whose policy target has another likeliest move than the prior.
    pub changed_minds: f64,
    /// State of the resignation rule.
    pub resign: ResignSummary,
    /// The handicaps, by ruleset.
    pub handicaps: BTreeMap<String, Handicap>,
}

/// Metrics of training.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrainingMetrics {
    /// Seconds spent.
    pub seconds: f64,
    /// Steps since the run began.
    pub steps: u64,
    /// Samples since the run began.
    pub samples: u64,
    /// Steps of this generation, skipped ones included.
    pub generation_steps: u64,
    /// Steps of this generation that were skipped because loss or gradient were not finite.
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
    /// Mean entropy of the policy targets in nats, a lower bound of the policy loss.
    #[serde(deserialize_with = "json::finite")]
    pub policy_entropy: f32,
    /// Mean gradient norm before clipping.
    pub gradient_norm: f64,
    /// Share of the steps whose gradient was clipped.
    pub clipped: f64,
}

/// Mean losses over samples; the parts are unweighted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LossValues {
    /// Weighted sum of the parts.
    #[serde(deserialize_with = "json::finite")]
    pub total: f32,
    /// Cross-entropy of the policy, nats.
    #[serde(deserialize_with = "json::finite")]
    pub policy: f32,
    /// Cross-entropy of win, draw and loss, nats.
    #[serde(deserialize_with = "json::finite")]
    pub value: f32,
    /// Huber loss of `ln(1 + plies left)`.
    #[serde(deserialize_with = "json::finite")]
    pub moves_left: f32,
    /// Cross-entropy of the final contents, nats a square.
    #[serde(deserialize_with = "json::finite")]
    pub occupancy: f32,
}

/// State of the resignation rule over all boards, each of which is verified by its own games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResignSummary {
    /// For each side, attackers first: number of latest games in which it would have resigned and that were played to
    /// the end.
    pub verified: [u32; 2],
    /// For each side: number of these games that it did not lose.
    pub wrong: [u32; 2],
    /// For each side: whether it may resign in the next generation, at least on one board.
    pub active: [bool; 2],
}

impl GenerationMetrics {
    /// One line of JSON with its newline.
    pub fn to_line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("metrics hold only numbers and texts");
        line.push('\n');
        line
    }

    /// Whether a generation can have these numbers.
    ///
    /// # Errors
    /// When one is out of its range.
    pub fn check(&self) -> Result<(), json::OutOfRange> {
        let (selfplay, training) = (&self.selfplay, &self.training);
        let shares = [
            ("progress", self.progress),
            ("attackers", selfplay.attackers),
            ("defenders", selfplay.defenders),
            ("draws", selfplay.draws),
            ("cache_hits", selfplay.cache_hits),
            ("card_busy", selfplay.card_busy),
            ("changed_minds", selfplay.changed_minds),
            ("clipped", training.clipped),
        ];
        json::check(json::SHARE, &shares)?;
        let amounts = [
            ("elapsed_seconds", self.elapsed_seconds),
            ("selfplay.seconds", selfplay.seconds),
            ("mean_plies", selfplay.mean_plies),
            ("plies_per_second", selfplay.plies_per_second),
            ("playouts_per_second", selfplay.playouts_per_second),
            ("evaluations_per_second", selfplay.evaluations_per_second),
            ("training.seconds", training.seconds),
            ("samples_per_second", training.samples_per_second),
            ("reuse", training.reuse),
            ("rate", training.rate),
        ];
        json::check(json::AMOUNT, &amounts)?;
        let counts = [
            ("games", selfplay.games),
            ("training_plies", selfplay.training_plies),
            ("steps", training.steps),
            ("samples", training.samples),
            ("window_plies", training.window_plies),
        ];
        json::check(json::COUNT, &counts)?;
        selfplay.ends.values().try_for_each(|&games| json::check(json::COUNT, &[("ends", games)]))
    }

    /// Every number under the name that the pages, tables, CSV files and TensorBoard know it by (`docs/RUNS.md`).
    pub fn scalars(&self) -> Vec<(String, f64)> {
        let (selfplay, training, losses) = (&self.selfplay, &self.training, &self.training.losses);
        let resign = &selfplay.resign;
        let fixed = [
            ("loss/total", f64::from(losses.total)),
            ("loss/policy", f64::from(losses.policy)),
            ("loss/policy_entropy", f64::from(training.policy_entropy)),
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
            ("train/window_generations", training.window_generations as f64),
            ("train/samples", training.samples as f64),
            ("train/steps", training.steps as f64),
            ("train/generation_steps", training.generation_steps as f64),
            ("train/seconds", training.seconds),
            ("speed/samples", training.samples_per_second),
            ("speed/playouts", selfplay.playouts_per_second),
            ("speed/evaluations", selfplay.evaluations_per_second),
            ("speed/plies", selfplay.plies_per_second),
            ("speed/cache_hits", selfplay.cache_hits),
            ("speed/card_busy", selfplay.card_busy),
            ("games/finished", selfplay.games as f64),
            ("games/attackers", selfplay.attackers),
            ("games/defenders", selfplay.defenders),
            ("games/draws", selfplay.draws),
            ("games/mean_plies", selfplay.mean_plies),
            ("games/training_plies", selfplay.training_plies as f64),
            ("games/distinct_openings", self.distinct_openings()),
            ("games/seconds", selfplay.seconds),
            ("search/playouts", f64::from(selfplay.playouts)),
            ("search/surprise", selfplay.search_surprise),
            ("search/changed_minds", selfplay.changed_minds),
            ("resign/attackers_verified", f64::from(resign.verified[0])),
            ("resign/attackers_wrong", f64::from(resign.wrong[0])),
            ("resign/attackers_active", f64::from(u8::from(resign.active[0]))),
            ("resign/defenders_verified", f64::from(resign.verified[1])),
            ("resign/defenders_wrong", f64::from(resign.wrong[1])),
            ("resign/defenders_active", f64::from(u8::from(resign.active[1]))),
            ("run/elapsed_minutes", self.elapsed_seconds / 60.0),
            ("run/wall_minutes", self.wall_seconds / 60.0),
            ("run/processor_minutes", self.processor_seconds / 60.0),
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

    /// Share of the games longer than eight plies whose position after eight plies no other of them had before.
    pub fn distinct_openings(&self) -> f64 {
        share(self.selfplay.distinct_at_ply_8, self.selfplay.games_beyond_ply_8)
    }
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_json_object_and_reads_back() {
        let metrics = GenerationMetrics { generation: 3, progress: 0.5, ..GenerationMetrics::default() };
        let line = metrics.to_line();
        assert_eq!(line.matches('\n').count(), 1);
        assert!(line.ends_with("}\n"));
        assert_eq!(serde_json::from_str::<GenerationMetrics>(&line).unwrap(), metrics);
    }

    #[test]
    fn metrics_of_other_versions_are_read() {
        let text = r#"{"generation":3,"selfplay":{"games":7,"of_a_later_version":1}}"#;
        let metrics: GenerationMetrics = serde_json::from_str(text).unwrap();
        assert_eq!((metrics.generation, metrics.selfplay.games, metrics.training.steps), (3, 7, 0));
    }

    #[test]
    fn numbers_too_large_to_be_written_back_are_refused() {
        for text in [
            r#"{"training":{"policy_entropy":1e39}}"#,
            r#"{"training":{"losses":{"value":-1e39}}}"#,
            r#"{"selfplay":{"handicaps":{"brandubh":{"doublings":1e300}}}}"#,
        ] {
            // As a text without a checksum is read, by way of a value, whose numbers are double.
            let value: serde_json::Value = serde_json::from_str(text).unwrap();
            let problem = serde_json::from_value::<GenerationMetrics>(value).unwrap_err().to_string();
            assert!(problem.contains("expected a finite one"), "{text}: {problem}");
            assert!(serde_json::from_str::<GenerationMetrics>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_that_no_generation_has_are_refused_by_name() {
        let mut metrics = GenerationMetrics { progress: 2f64.powi(63), ..GenerationMetrics::default() };
        assert_eq!(metrics.check().unwrap_err().to_string(), "progress is 9223372036854776000; expected 0 to 1");
        metrics.progress = 1.0;
        assert_eq!(metrics.check(), Ok(()));
        metrics.training.samples = u64::MAX;
        assert_eq!(
            metrics.check().unwrap_err().to_string(),
            "samples is 18446744073709551615; expected 0 to 8796093022208"
        );
    }

    #[test]
    fn scalars_name_the_ends() {
        let mut metrics = GenerationMetrics::default();
        metrics.selfplay.games = 8;
        metrics.selfplay.draws = 0.125;
        metrics.selfplay.ends.insert("defenders king_escaped".to_owned(), 5);
        let scalars: BTreeMap<String, f64> = metrics.scalars().into_iter().collect();
        assert_eq!((scalars["ends/defenders_king_escaped"], scalars["games/draws"]), (0.625, 0.125));
    }

    #[test]
    fn every_number_has_a_name_and_every_name_is_documented() {
        // Numbers that are told apart, so that one which is left out is found.
        let mut sample = serde_json::to_value(GenerationMetrics::default()).unwrap();
        let mut count = 0.0;
        number(&mut sample, &mut count);
        let metrics: GenerationMetrics = serde_json::from_value(sample).unwrap();
        let scalars = metrics.scalars();
        // `generation` and `unix_seconds` are the step and the time of all of them, `games_beyond_ply_8` and
        // `distinct_at_ply_8` one share, and `loss/policy_above_entropy` is the difference of two.
        assert_eq!(scalars.len() as f64, count - 2.0 - 1.0 + 1.0 + 6.0, "the switches and counts of resignation");
        let reference = include_str!("../../docs/RUNS.md");
        for (name, _) in scalars {
            assert!(reference.contains(&format!("`{name}`")), "docs/RUNS.md does not explain {name}");
        }
    }

    /// Replaces all numbers outside of lists by 1, 2, 3 and so on.
    fn number(value: &mut serde_json::Value, count: &mut f64) {
        match value {
            serde_json::Value::Object(entries) => entries.values_mut().for_each(|value| number(value, count)),
            serde_json::Value::Number(_) => {
                *count += 1.0;
                *value = serde_json::Value::from(*count as u32);
            }
            _ => {}
        }
    }
}
