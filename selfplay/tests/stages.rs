//! What a new stage of a run changes for the games in flight: they go on under the rules they began with, new ones
//! follow the new configuration.

use hnefi_engine::Preset;
use hnefi_inference::{EvalError, Evaluator, Handicap, HashEvaluator};
use hnefi_run::PlyCaps;
use hnefi_search::SearchConfig;
use hnefi_selfplay::{Fleet, Generation, Quota, RulesetShare, SelfPlayConfig, Uncontrolled};

/// Two game batches of short games under one ruleset.
fn config(rules: Preset) -> SelfPlayConfig {
    SelfPlayConfig {
        games_in_flight: 64,
        rulesets: vec![RulesetShare { rules: rules.into(), share: 1.0 }],
        ply_caps: PlyCaps { seven: 40, nine: 40, eleven: 40 },
        ..SelfPlayConfig::default().without_handicaps()
    }
}

fn play(fleet: &mut Fleet, quota: Quota) -> Generation {
    let opinions = || -> Result<Box<dyn Evaluator>, EvalError> { Ok(Box::new(HashEvaluator { seed: 3 })) };
    fleet.run(quota, 6, "newest", &opinions, &mut Uncontrolled).unwrap()
}

fn entered(fleet: &Fleet, config: &SelfPlayConfig) -> Fleet {
    Fleet::resume(config, &SearchConfig::default(), 11, fleet.snapshot()).unwrap()
}

#[test]
fn handicaps_end_when_a_stage_says_so() {
    let even = config(Preset::Brandubh);
    let uneven = SelfPlayConfig { blunder_share: 0.5, balance_doublings: 2.0, ..even.clone() };
    let handicapped = |fleet: &mut Fleet| {
        let stats = play(fleet, Quota::Games(fleet.games_begun() + 64)).stats;
        stats.handicaps.iter().any(|(_, handicap)| *handicap != Handicap::default())
    };
    let mut fleet = Fleet::new(&uneven, &SearchConfig::default(), 11);
    let first: Vec<bool> = (0..3).map(|_| handicapped(&mut fleet)).collect();
    assert_eq!(first, [false, true, true], "none is known in the first generation");
    let mut fleet = entered(&fleet, &even);
    assert_eq!([handicapped(&mut fleet), handicapped(&mut fleet)], [false, false]);
}

#[test]
fn games_in_flight_keep_their_ruleset_to_the_end() {
    let mut fleet = Fleet::new(&config(Preset::Brandubh), &SearchConfig::default(), 11);
    play(&mut fleet, Quota::Plies(1000));
    let begun = fleet.games_begun();
    let mut fleet = entered(&fleet, &config(Preset::Tablut));
    let games = play(&mut fleet, Quota::Plies(4000)).games;
    let count = |preset, new: bool| {
        games.iter().filter(|game| game.rules.preset() == Some(preset) && (game.game >= begun) == new).count()
    };
    assert!(count(Preset::Brandubh, false) > 5 && count(Preset::Tablut, true) > 10, "{} games", games.len());
    assert_eq!(count(Preset::Brandubh, true), 0, "new games follow the new stage");
}
