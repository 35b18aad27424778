//! What a fleet plays: rulesets, openings, ply caps, handicaps and resignation. Read from a configuration file.

use hnefi_engine::Preset;
use hnefi_inference::DeviceList;
use serde::{Deserialize, Serialize};

use super::balance::Limits;
use super::rulesets::RulesetShare;
use hnefi_runs::PlyCaps;
use hnefi_search::ConfigFault;

/// Games of one lane: advanced in lock step, evaluated in one batch.
pub const LANE_GAMES: usize = 32;

/// Self-play, apart from its search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SelfPlayConfig {
    /// Games played at once, a multiple of [`LANE_GAMES`]. Threads take whole lanes, so at least one lane per core.
    pub games_in_flight: usize,
    /// Rulesets with their shares of the games.
    pub rulesets: Vec<RulesetShare>,
    /// Plies after which a game is a draw of its own kind.
    pub ply_caps: PlyCaps,
    /// Mean number of plies that each game begins with from the raw policy, drawn from an exponential distribution; 0
    /// is off.
    pub opening_mean_plies: f32,
    /// Temperature of the raw policy in those plies; above 1 is flatter.
    pub opening_temperature: f32,
    /// The most doublings of the losing side's playouts over the winning side's, adapted generation by generation so
    /// that games come out even; 0 is off. Only in training: games by one checkpoint on their own are played with equal
    /// playouts.
    pub balance_doublings: f32,
    /// The most of its moves that the winning side plays at random, adapted like the doublings; 0 is off. Only in
    /// training, too.
    pub blunder_share: f32,
    /// When a hopeless game is given up.
    pub resign: ResignConfig,
}

/// When a side resigns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ResignConfig {
    /// Whether games may end by resignation at all. The rule is checked against played-out games either way.
    pub enabled: bool,
    /// A side is hopeless while its searched score (1 a win, 0.5 a draw) is below this.
    pub threshold: f32,
    /// It resigns after this many hopeless turns of its own in a row.
    pub plies: u32,
    /// Share of the games that are played on all the same, to verify the rule.
    pub verify_share: f32,
    /// Games in which a side would have resigned that are needed before it may.
    pub min_verified: u32,
    /// It may while less than this share of the latest `min_verified` were not lost in the end.
    pub max_wrong: f32,
}

impl Default for SelfPlayConfig {
    fn default() -> Self {
        SelfPlayConfig {
            games_in_flight: 128,
            rulesets: vec![RulesetShare { rules: Preset::Brandubh, share: 1.0 }],
            ply_caps: PlyCaps::default(),
            opening_mean_plies: 4.0,
            opening_temperature: 1.0,
            balance_doublings: 0.0,
            blunder_share: 0.0,
            resign: ResignConfig::default(),
        }
    }
}

impl Default for ResignConfig {
    fn default() -> Self {
        ResignConfig { enabled: true, threshold: 0.05, plies: 3, verify_share: 0.1, min_verified: 200, max_wrong: 0.05 }
    }
}

impl SelfPlayConfig {
    /// Number of lanes.
    pub fn lanes(&self) -> usize {
        self.games_in_flight / LANE_GAMES
    }

    /// Threads that suit self-play on these devices: one per core, but with a GPU one per lane. Those mostly wait for
    /// it, and the lanes that search while it works are the half that it asks next.
    pub fn threads_on(&self, devices: &DeviceList) -> usize {
        if devices.has_gpu() {
            self.lanes().max(1)
        } else {
            std::thread::available_parallelism().map_or(1, usize::from)
        }
    }

    /// The most that handicaps may come to.
    pub(super) fn limits(&self) -> Limits {
        Limits { doublings: self.balance_doublings, blunders: self.blunder_share }
    }

    /// Every fault of the values, all at once; empty when the config can be used.
    pub fn validate(&self) -> Vec<ConfigFault> {
        let mut faults = Vec::new();
        let mut check = |key, value: String, fits: bool, allowed| {
            if !fits {
                faults.push(ConfigFault { key, value, allowed });
            }
        };
        let games = self.games_in_flight;
        let whole_lanes = games > 0 && games.is_multiple_of(LANE_GAMES) && games <= 65_536;
        check("games_in_flight", games.to_string(), whole_lanes, "a multiple of 32 from 32 to 65536");
        let shares: Vec<f32> = self.rulesets.iter().map(|ruleset| ruleset.share).collect();
        let usable = shares.iter().all(|share| (0.0..=1e6).contains(share)) && shares.iter().any(|&share| share > 0.0);
        check(
            "rulesets",
            format!("shares {shares:?}"),
            usable,
            "at least one ruleset, shares 0 or more and one above 0",
        );
        let PlyCaps { seven, nine, eleven } = self.ply_caps;
        for (key, cap) in [("ply_caps.seven", seven), ("ply_caps.nine", nine), ("ply_caps.eleven", eleven)] {
            check(key, cap.to_string(), (10..=10_000).contains(&cap), "10 to 10000 plies");
        }
        let mean = self.opening_mean_plies;
        check("opening_mean_plies", mean.to_string(), (0.0..=40.0).contains(&mean), "0 to 40 plies");
        let temperature = self.opening_temperature;
        check("opening_temperature", temperature.to_string(), (0.1..=10.0).contains(&temperature), "0.1 to 10");
        let balance = self.balance_doublings;
        check("balance_doublings", balance.to_string(), (0.0..=8.0).contains(&balance), "0 to 8 doublings");
        let blunders = self.blunder_share;
        check("blunder_share", blunders.to_string(), (0.0..=0.9).contains(&blunders), "0 to 0.9");
        let resign = &self.resign;
        let threshold = resign.threshold;
        check("resign.threshold", threshold.to_string(), (0.0..=0.5).contains(&threshold), "0 to 0.5 of a point");
        check("resign.plies", resign.plies.to_string(), (1..=100).contains(&resign.plies), "1 to 100 turns");
        let share = resign.verify_share;
        // Without a verified share the rule could never be found wrong again.
        check("resign.verify_share", share.to_string(), (0.01..=1.0).contains(&share), "0.01 to 1");
        let verified = resign.min_verified;
        check("resign.min_verified", verified.to_string(), (1..=100_000).contains(&verified), "1 to 100000 games");
        let wrong = resign.max_wrong;
        check("resign.max_wrong", wrong.to_string(), (0.0..=0.5).contains(&wrong), "0 to 0.5");
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_valid() {
        assert_eq!(SelfPlayConfig::default().validate(), []);
    }

    #[test]
    fn every_fault_is_reported_at_once() {
        let config = SelfPlayConfig {
            games_in_flight: 33,
            rulesets: vec![],
            opening_mean_plies: f32::NAN,
            resign: ResignConfig { verify_share: 0.0, ..ResignConfig::default() },
            ..SelfPlayConfig::default()
        };
        let keys: Vec<&str> = config.validate().into_iter().map(|fault| fault.key).collect();
        assert_eq!(keys, ["games_in_flight", "rulesets", "opening_mean_plies", "resign.verify_share"]);
        assert_eq!(config.validate()[0].allowed, "a multiple of 32 from 32 to 65536");
    }
}
