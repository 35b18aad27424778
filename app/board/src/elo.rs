//! How strong the levels are, and the players without a network: Elo by rules, where random moves are 0.

use std::collections::BTreeMap;

use hnefi_engine::Preset;
use serde::Deserialize;

/// One line for each ruleset; `app/board/examples/levels.rs` prints one.
const MEASURED: &str = include_str!("elo.jsonl");

/// Elo and its 95 % error of the players under one ruleset, by `random`, `alphabeta:DEPTH` and `level:NUMBER`.
pub(super) type Ratings = BTreeMap<String, [f32; 2]>;

#[derive(Deserialize)]
struct Measurement {
    rules: String,
    elo: Ratings,
}

fn measured() -> impl Iterator<Item = Measurement> {
    MEASURED.lines().filter_map(|line| serde_json::from_str(line).ok())
}

/// The ratings under a ruleset: measured under it, or else under one of the same board and goal.
pub(super) fn ratings(preset: Preset) -> Option<Ratings> {
    let alike = |line: &Measurement| {
        Preset::from_name(&line.rules).is_some_and(|known| known.rules().resembles(&preset.rules()))
    };
    let of = |wanted: &dyn Fn(&Measurement) -> bool| measured().find(|line| wanted(line)).map(|line| line.elo);
    of(&|line| line.rules == preset.name()).or_else(|| of(&alike))
}

/// The attackers' score from the start: what the shipped network's search expects, and what they make in games of this
/// network with itself ([docs/PLAYING.md](../../../docs/PLAYING.md#analysis) has the commands).
const STARTS: [(Preset, [f32; 2]); 9] = [
    (Preset::Copenhagen, [0.43, 0.48]),
    (Preset::CopenhagenHnefataflOrg, [0.43, 0.32]),
    (Preset::CopenhagenCyningstan, [0.39, 0.36]),
    (Preset::CopenhagenPlaytafl, [0.45, 0.42]),
    (Preset::Fetlar, [0.42, 0.48]),
    (Preset::Brandubh, [0.09, 0.13]),
    (Preset::Tablut, [0.61, 0.69]),
    (Preset::TablutLinnaeus, [0.68, 0.60]),
    (Preset::Historical, [0.52, 0.36]),
];

/// The same by the names of the rulesets.
pub(super) fn starts() -> BTreeMap<&'static str, [f32; 2]> {
    STARTS.into_iter().map(|(preset, scores)| (preset.name(), scores)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hnefi_inference::pretrained_for;

    use crate::LEVELS;

    #[test]
    fn levels_are_measured_and_rise() {
        assert_eq!(measured().count(), MEASURED.lines().count(), "every line can be read");
        for preset in Preset::ALL {
            let ratings = ratings(preset).unwrap_or_else(|| panic!("{preset} is not measured"));
            let elo = |id: &str| ratings.get(id).unwrap_or_else(|| panic!("{preset}: no {id}"))[0];
            assert_eq!(elo("random"), 0.0);
            assert!(elo("alphabeta:1") < elo("alphabeta:3"));
            if pretrained_for(preset).is_ok() {
                // Neighbours may be equal: the strongest play the small board almost alike.
                let levels: Vec<f32> = (1..=LEVELS.len()).map(|level| elo(&format!("level:{level}"))).collect();
                assert!(levels.windows(3).all(|three| three[0] < three[2]) && levels[0] > 0.0, "{preset}: {levels:?}");
            }
        }
    }
}
