//! Which rulesets new games have: shares of the games, and a curriculum over the run.
//!
//! A ruleset is played in a span of the run, by default all of it. So a run can begin on a small board, where games are
//! short and even random ones end, and go on to larger boards with what the network learned there. The span counts when
//! a game begins: a game goes on under its ruleset to its end, however long that takes.

use hnefi_engine::{BoardSize, Preset, Rules};
use serde::{Deserialize, Serialize};

use super::config::SelfPlayConfig;

/// A ruleset, how much of the games it gets, and when.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulesetShare {
    /// The ruleset.
    pub rules: Preset,
    /// Its weight among the rulesets whose spans hold the moment; shares need not sum to 1.
    pub share: f32,
    /// Part of the run's budget, 0 to 1, from which new games have it.
    #[serde(default, skip_serializing_if = "is_beginning")]
    pub from: f32,
    /// Part of the budget until which new games have it, this moment excluded unless it is the run's end.
    #[serde(default = "end", skip_serializing_if = "is_end")]
    pub until: f32,
}

/// The self-play ply cap of each board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlyCaps {
    /// On 7x7.
    pub seven: u16,
    /// On 9x9.
    pub nine: u16,
    /// On 11x11.
    pub eleven: u16,
}

fn is_beginning(from: &f32) -> bool {
    *from == 0.0
}

fn end() -> f32 {
    1.0
}

fn is_end(until: &f32) -> bool {
    *until == end()
}

impl Default for PlyCaps {
    fn default() -> Self {
        PlyCaps { seven: 150, nine: 200, eleven: 400 }
    }
}

impl PlyCaps {
    /// The cap of a board.
    pub fn of(&self, size: BoardSize) -> u16 {
        match size {
            BoardSize::Seven => self.seven,
            BoardSize::Nine => self.nine,
            BoardSize::Eleven => self.eleven,
        }
    }
}

impl RulesetShare {
    /// A ruleset that is played over the whole run.
    pub const fn throughout(rules: Preset, share: f32) -> RulesetShare {
        RulesetShare { rules, share, from: 0.0, until: 1.0 }
    }

    /// Whether new games may have it when this part of the budget, 0 to 1, is used up.
    fn is_played(&self, progress: f64) -> bool {
        let before_end = progress < f64::from(self.until) || self.until >= end();
        self.share > 0.0 && f64::from(self.from) <= progress && before_end
    }

    /// Whether its span lies in the run and is not empty.
    pub(super) fn has_span(&self) -> bool {
        0.0 <= self.from && self.from < self.until && self.until <= end()
    }
}

/// The first moment of the run at which no ruleset has a share.
pub(super) fn gap(rulesets: &[RulesetShare]) -> Option<f32> {
    // Spans begin at their first moment and end before their last, so a gap begins with the run or where a span ends.
    let ends = rulesets.iter().map(|ruleset| ruleset.until).filter(|&until| until < end());
    let mut moments: Vec<f32> = std::iter::once(0.0).chain(ends).collect();
    moments.sort_by(f32::total_cmp);
    moments.into_iter().find(|&moment| !rulesets.iter().any(|ruleset| ruleset.is_played(f64::from(moment))))
}

impl SelfPlayConfig {
    /// Rules of the ruleset at `point`, in 0..1, of the shares that count when `progress` of the budget is used up,
    /// laid end to end; with the self-play ply cap.
    pub(super) fn rules_at(&self, point: f64, progress: f64) -> Rules {
        let progress = progress.clamp(0.0, 1.0);
        let played = || self.rulesets.iter().filter(|ruleset| ruleset.is_played(progress));
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

    /// The rulesets with a share whose spans have begun when `progress` of the budget is used up, each once.
    pub fn rulesets_begun(&self, progress: f64) -> Vec<Preset> {
        let mut presets = Vec::new();
        for ruleset in &self.rulesets {
            let begun = ruleset.share > 0.0 && f64::from(ruleset.from) <= progress;
            if begun && !presets.contains(&ruleset.rules) {
                presets.push(ruleset.rules);
            }
        }
        presets
    }

    /// The same without what belongs to a run of training: handicaps, past checkpoints, beginnings from earlier games
    /// and the curriculum (every ruleset is played all the time).
    pub(super) fn without_a_run(&self) -> SelfPlayConfig {
        let throughout = |ruleset: &RulesetShare| RulesetShare::throughout(ruleset.rules, ruleset.share);
        SelfPlayConfig {
            balance_doublings: 0.0,
            blunder_share: 0.0,
            past_share: 0.0,
            restart_share: 0.0,
            fork_share: 0.0,
            rulesets: self.rulesets.iter().map(throughout).collect(),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(rulesets: Vec<RulesetShare>) -> SelfPlayConfig {
        SelfPlayConfig { rulesets, ..SelfPlayConfig::default() }
    }

    #[test]
    fn rulesets_are_chosen_by_share_and_get_the_cap() {
        let share = RulesetShare::throughout;
        let config = config(vec![share(Preset::Brandubh, 1.0), share(Preset::Fetlar, 0.0), share(Preset::Tablut, 3.0)]);
        for (point, preset, cap) in [
            (0.0, Preset::Brandubh, 150),
            (0.2499, Preset::Brandubh, 150),
            (0.25, Preset::Tablut, 200),
            (0.9999, Preset::Tablut, 200),
            (1.0, Preset::Tablut, 200),
        ] {
            for progress in [0.0, 0.5, 1.0] {
                let rules = config.rules_at(point, progress);
                assert_eq!((rules.preset(), rules.ply_cap), (Some(preset), cap), "{point}");
            }
        }
    }

    #[test]
    fn a_curriculum_by_hand() {
        let curriculum = config(vec![
            RulesetShare { until: 0.5, ..RulesetShare::throughout(Preset::Brandubh, 1.0) },
            RulesetShare { from: 0.25, until: 0.75, ..RulesetShare::throughout(Preset::Tablut, 1.0) },
            RulesetShare { from: 0.5, ..RulesetShare::throughout(Preset::Copenhagen, 3.0) },
        ]);
        let at = |point, progress| curriculum.rules_at(point, progress).preset().unwrap();
        let [small, middle, large] = [Preset::Brandubh, Preset::Tablut, Preset::Copenhagen];
        assert_eq!([at(0.0, 0.0), at(0.999, 0.0), at(0.999, 0.2499)], [small; 3]);
        assert_eq!([at(0.4999, 0.25), at(0.5, 0.25), at(0.5, 0.4999)], [small, middle, middle]);
        assert_eq!([at(0.2499, 0.5), at(0.25, 0.5), at(0.25, 0.7499)], [middle, large, large]);
        assert_eq!([at(0.0, 0.75), at(0.999, 0.75), at(0.0, 1.0), at(0.0, 7.0)], [large; 4]);
        assert_eq!(gap(&curriculum.rulesets), None);
        assert_eq!(curriculum.rulesets_begun(0.0), [small]);
        assert_eq!(curriculum.rulesets_begun(0.25), [small, middle]);
        assert_eq!(curriculum.rulesets_begun(1.0), [small, middle, large]);
        let alone = curriculum.without_a_run();
        assert_eq!(alone.rules_at(0.999, 0.0).preset(), Some(large), "the curriculum belongs to the run");
    }

    #[test]
    fn gaps_are_found_where_they_begin() {
        let span = |from, until, share| RulesetShare { rules: Preset::Brandubh, share, from, until };
        assert_eq!(gap(&[span(0.0, 1.0, 1.0)]), None);
        assert_eq!(gap(&[span(0.125, 1.0, 1.0)]), Some(0.0));
        assert_eq!(gap(&[span(0.0, 0.5, 1.0)]), Some(0.5));
        assert_eq!(gap(&[span(0.0, 0.5, 1.0), span(0.5, 1.0, 0.0)]), Some(0.5), "a share of nothing");
        assert_eq!(gap(&[span(0.0, 0.25, 1.0), span(0.5, 1.0, 1.0)]), Some(0.25));
        assert_eq!(gap(&[span(0.5, 1.0, 1.0), span(0.0, 0.5, 1.0)]), None, "in any order");
        assert!(!span(0.5, 0.5, 1.0).has_span() && !span(-0.5, 0.5, 1.0).has_span() && !span(0.0, 1.5, 1.0).has_span());
    }

    #[test]
    fn a_ruleset_without_a_span_is_written_as_before_there_were_spans() {
        let throughout = RulesetShare::throughout(Preset::Tablut, 2.0);
        assert_eq!(serde_json::to_string(&throughout).unwrap(), r#"{"rules":"tablut","share":2.0}"#);
        let later = RulesetShare { from: 0.5, ..throughout };
        let text = serde_json::to_string(&later).unwrap();
        assert_eq!(text, r#"{"rules":"tablut","share":2.0,"from":0.5}"#);
        assert_eq!(serde_json::from_str::<RulesetShare>(&text).unwrap(), later);
    }
}
