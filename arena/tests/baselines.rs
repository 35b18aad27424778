//! What the baselines are worth, measured. Long, so not part of the quick tests:
//! `cargo test --release -- --ignored baselines_`.

use hnefi_arena::players::ModelCache;
use hnefi_arena::{MatchParams, MatchResult, play_match};
use hnefi_engine::Preset;
use hnefi_inference::Devices;
use hnefi_search::SearchConfig;

fn compete(a: &str, b: &str, preset: Preset, games: u32) -> MatchResult {
    let mut models = ModelCache::new(Devices::cpu(), SearchConfig::default());
    let [a, b] = [a, b].map(|spec| spec.parse().expect("a known player"));
    let params = MatchParams::new(preset.rules(), games, 2026);
    play_match(&a, &b, &params, &mut models, &mut ()).expect("players that need no network do not fail")
}

fn demand(a: &str, b: &str, preset: Preset, games: u32, least: f64) {
    let result = compete(a, b, preset, games);
    let (attackers, defenders) = (result.as_attackers, result.as_defenders);
    let found = format!("{a} against {b} on {}: {:.3}, {attackers:?} {defenders:?}", preset.name(), result.score);
    assert!(result.score >= least, "{found}; expected at least {least}");
    assert!(attackers.score() > 0.5 && defenders.score() > 0.5, "{found}; expected the upper hand on both sides");
}

#[test]
#[ignore = "200 games each: a minute"]
fn baselines_alphabeta_2_beats_random() {
    for preset in [Preset::Brandubh, Preset::Tablut, Preset::Copenhagen] {
        demand("alphabeta:2", "random", preset, 200, 0.99);
    }
}

#[test]
#[ignore = "200 games each: a minute"]
fn baselines_alphabeta_2_beats_rollout_200() {
    for preset in [Preset::Brandubh, Preset::Tablut, Preset::Copenhagen] {
        demand("alphabeta:2", "rollout:200", preset, 200, 0.9);
    }
}

#[test]
#[ignore = "120 games each: a minute"]
fn baselines_stronger_settings_are_stronger() {
    demand("rollout:200", "random", Preset::Brandubh, 200, 0.9);
    // The defenders of alphabeta are hard to beat on 7x7, so only the sum over both sides tells.
    let deeper = compete("alphabeta:4", "alphabeta:2", Preset::Brandubh, 120);
    assert!(deeper.score > 0.55, "alphabeta:4 against alphabeta:2: {deeper:?}");
}
