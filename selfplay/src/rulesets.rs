//! Which rulesets new games have, by their shares of the games.
//!
//! A stage of a run may change them, so that it begins on a small board, where games are short and even random ones
//! end, and goes on to larger boards with what the network learned there. A game goes on under its ruleset to its end,
//! however long that takes.

use hnefi_engine::{Preset, Rules};
use serde::{Deserialize, Serialize};

use super::config::SelfPlayConfig;

/// A ruleset and how much of the games it gets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulesetShare {
    /// The ruleset.
    pub rules: Preset,
    /// Its weight among the rulesets; shares need not sum to 1.
    pub share: f32,
}

impl SelfPlayConfig {
    /// Rules of the ruleset at `point`, in 0..1, of the shares laid end to end; with the self-play ply cap.
    pub(super) fn rules_at(&self, point: f64) -> Rules {
        let played = || self.rulesets.iter().filter(|ruleset| ruleset.share > 0.0);
        let total: f64 = played().map(|ruleset| f64::from(ruleset.share)).sum();
        let mut left = point * total;
        let chosen = played().find(|ruleset| {
            left -= f64::from(ruleset.share);
            left < 0.0
        });
        // Rounding may leave the point just past the end: the last ruleset with a share then.
        let preset = chosen.or_else(|| played().next_back()).map_or(Preset::Brandubh, |ruleset| ruleset.rules);
        let rules = preset.rules();
        Rules { ply_cap: self.ply_caps.of(rules.size), ..rules }
    }

    /// The rulesets with a share, each once.
    pub fn rulesets_played(&self) -> Vec<Preset> {
        let mut presets = Vec::new();
        for ruleset in self.rulesets.iter().filter(|ruleset| ruleset.share > 0.0) {
            if !presets.contains(&ruleset.rules) {
                presets.push(ruleset.rules);
            }
        }
        presets
    }

    /// The same without handicaps, which belong to a run of training.
    pub(super) fn without_a_run(&self) -> SelfPlayConfig {
        SelfPlayConfig { balance_doublings: 0.0, blunder_share: 0.0, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rulesets_are_chosen_by_share_and_get_the_cap() {
        let share = |rules, share| RulesetShare { rules, share };
        let rulesets = vec![share(Preset::Brandubh, 1.0), share(Preset::Fetlar, 0.0), share(Preset::Tablut, 3.0)];
        let config = SelfPlayConfig { rulesets, ..SelfPlayConfig::default() };
        for (point, preset, cap) in [
            (0.0, Preset::Brandubh, 150),
            (0.2499, Preset::Brandubh, 150),
            (0.25, Preset::Tablut, 200),
            (0.9999, Preset::Tablut, 200),
            (1.0, Preset::Tablut, 200),
        ] {
            let rules = config.rules_at(point);
            assert_eq!((rules.preset(), rules.ply_cap), (Some(preset), cap), "{point}");
        }
        assert_eq!(config.rulesets_played(), [Preset::Brandubh, Preset::Tablut]);
    }
}
