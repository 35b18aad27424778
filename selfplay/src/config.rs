//! Search settings, handicap limits and rulesets from a run's configuration.

use hnefi_engine::{Preset, Rules};
use hnefi_inference::Handicap;
use hnefi_run::config::{SearchSection, SelfPlayConfig};
use hnefi_search::{RootKind, SearchConfig};

/// The search settings of self-play.
pub fn search_config(section: &SearchSection) -> SearchConfig {
    let SearchSection { max_num_considered_actions, c_visit, c_scale } = *section;
    SearchConfig { root: RootKind::Gumbel, max_num_considered_actions, c_visit, c_scale, ..SearchConfig::default() }
}

/// The largest handicaps; 0 switches one off.
pub(crate) fn limits(config: &SelfPlayConfig) -> Handicap {
    Handicap { doublings: config.balance_doublings, blunders: config.blunder_share }
}

/// The rules, with the self-play ply cap, of the ruleset whose share contains `point` (0 to 1) when all shares are laid
/// end to end.
pub(crate) fn rules_at(config: &SelfPlayConfig, point: f64) -> Rules {
    let played = || config.rulesets.iter().filter(|ruleset| ruleset.share > 0.0);
    let total: f64 = played().map(|ruleset| f64::from(ruleset.share)).sum();
    let mut left = point * total;
    let chosen = played().find(|ruleset| {
        left -= f64::from(ruleset.share);
        left < 0.0
    });
    // Rounding may leave the point just past the end; then take the last ruleset with a share.
    let preset = chosen.or_else(|| played().next_back()).map_or(Preset::Brandubh.into(), |ruleset| ruleset.rules);
    let rules = preset.rules();
    Rules { ply_cap: config.ply_caps.of(rules.size()), ..rules }
}

#[cfg(test)]
mod tests {
    use hnefi_run::config::RulesetShare;

    use super::*;

    #[test]
    fn rulesets_are_chosen_by_share_and_get_the_cap() {
        let share = |rules, share| RulesetShare { rules, share };
        let rulesets = vec![
            share(Preset::Brandubh.into(), 1.0),
            share(Preset::Fetlar.into(), 0.0),
            share(Preset::Tablut.into(), 3.0),
        ];
        let config = SelfPlayConfig { rulesets, ..SelfPlayConfig::default() };
        for (point, preset, cap) in [
            (0.0, Preset::Brandubh, 150),
            (0.2499, Preset::Brandubh, 150),
            (0.25, Preset::Tablut, 200),
            (0.9999, Preset::Tablut, 200),
            (1.0, Preset::Tablut, 200),
        ] {
            let rules = rules_at(&config, point);
            assert_eq!((rules.preset(), rules.ply_cap), (Some(preset), cap), "{point}");
        }
        assert_eq!(config.rulesets_played(), [Preset::Brandubh, Preset::Tablut]);
    }
}
