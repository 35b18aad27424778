//! Tunings of players whose strength is known.

use hnefi_engine::{GameResult, Preset};

use super::*;
use crate::score_of_elo;

fn made(player: &str, keys: &[&str], games: u32) -> Result<Tuning, TuningError> {
    let Ok(PlayerSpec::Model(player)) = player.parse() else { panic!("{player}: no model") };
    let keys = keys.iter().map(|key| key.parse().unwrap_or_else(|error| panic!("{key}: {error}"))).collect();
    let params = MatchParams { threads: 2, ..MatchParams::new(Preset::Brandubh.rules(), games, 7) };
    Tuning::new(&player, "a", keys, params, &SearchConfig::default())
}

/// A tuning with four pairs an iteration.
fn tuning(games: u32) -> Tuning {
    let keys = ["search.c_puct=0.5..4", "search.fpu_reduction=0..0.5", "search.virtual_loss=1..21"];
    made("model:x,time=1,threads=2,search.virtual_loss=6", &keys, games).expect("a tuning")
}

/// A player's values as shares of their ranges.
fn shares(player: &PlayerSpec) -> [f64; 3] {
    let PlayerSpec::Model(spec) = player else { panic!("{player}") };
    let search = spec.search(&SearchConfig::default());
    let values = [(search.c_puct - 0.5) / 3.5, search.fpu_reduction / 0.5, (search.virtual_loss as f32 - 1.0) / 20.0];
    values.map(f64::from)
}

/// Shares of the best player.
const BEST: [f64; 3] = [0.6, 0.3, 0.8];

/// By how many Elo a player is weaker than the best one.
fn behind(player: &PlayerSpec) -> f64 {
    shares(player).iter().zip(BEST).map(|(share, best)| 400.0 * (share - best).powi(2)).sum()
}

/// Plays the pairs that are asked for.
fn play(tuning: &mut Tuning) {
    let ([a, b], params) = tuning.ask();
    let score = score_of_elo(behind(&b) - behind(&a));
    let mut rng = rng_for(&[params.seed]);
    let mut pairs = PairScores::default();
    for _ in 0..params.games / 2 {
        pairs.add([(); 2].map(|()| if rng.random_bool(score) { GameResult::Win } else { GameResult::Loss }));
    }
    tuning.tell(pairs);
}

#[test]
fn noisy_games_lead_to_the_best_values_and_the_test_confirms_them() {
    let mut tuning = tuning(8000);
    // 94 by c_puct, 121 by virtual_loss.
    assert!((behind(&tuning.tuned()) - 215.0).abs() < 5.0, "{}", tuning.tuned());
    for _ in 0..1000 {
        assert_eq!(tuning.test().0.pairs(), 0);
        play(&mut tuning);
    }
    assert!(behind(&tuning.tuned()) < 20.0, "{}", tuning.tuned());
    while !tuning.is_over() {
        play(&mut tuning);
    }
    let (pairs, report) = tuning.test();
    assert!(report.verdict == Verdict::AcceptH1 && pairs.pairs() < 400, "{pairs:?} {report:?}");
}

#[test]
fn steps_are_spalls() {
    let mut tuning = tuning(80);
    let before: Vec<f64> = tuning.state.values.clone();
    let moves = tuning.moves();
    // Ten iterations: 0.05 * 10^0.101 of the range; a whole number by one half at least.
    for (by, range) in moves.iter().zip([3.5, 0.5, 20.0]) {
        assert!((by.abs() / range - 0.063_091).abs() < 1e-5, "{by} of {range}");
    }
    let [up, down] = tuning.ask().0.map(|player| shares(&player));
    assert!(up.iter().zip(down).zip(&moves).all(|((up, down), by)| (up > &down) == (*by > 0.0)), "{up:?} {down:?}");
    tuning.tell(PairScores([0, 0, 1, 2, 1]));
    // By hand: 4 points, 1.4 / 40^0.5, (11 / 2)^0.602, (1 / 10)^0.202.
    for ((value, before), by) in tuning.state.values.iter().zip(before).zip(moves) {
        assert!(((value - before) / by - 4.0 * 0.221_359 * 2.790_87 * 0.628_058).abs() < 1e-3, "{value} {before}");
    }
}

#[test]
fn a_tuning_that_is_resumed_goes_on_as_if_it_had_not_stopped() {
    let (mut whole, mut broken) = (tuning(160), tuning(160));
    for _ in 0..30 {
        play(&mut whole);
        broken = tuning(160).resume(broken.saved().as_bytes()).expect("its own state");
        play(&mut broken);
        assert_eq!(whole, broken);
    }
    assert_eq!((whole.rounds(), whole.test().0.pairs()), ((10, 20), 40));
}

#[test]
fn states_of_other_tunings_and_damaged_ones_are_refused() {
    let state = tuning(160).saved();
    let refusal = |tuning: Tuning, state: &str| tuning.resume(state.as_bytes()).expect_err(state).to_string();
    assert_eq!(refusal(tuning(80), &state), "the state of another tuning: its games is 160, here 80");
    assert!(refusal(tuning(160), &state.replace("160", "161")).contains("damaged or was edited"));
    let bare = serde_json::to_string(&tuning(160).state).expect("JSON");
    assert!(tuning(160).resume(bare.as_bytes()).is_ok());
    for (found, wrong) in
        [("\"pairs\":4", "\"pairs\":0"), ("[0.9,", "[4.5,"), ("[0.9,", "["), ("[0,0", "[4294967295,0")]
    {
        assert!(bare.contains(found), "{bare}");
        assert!(refusal(tuning(160), &bare.replace(found, wrong)).contains("out of its range"), "{wrong}");
    }
}

#[test]
fn keys_and_ranges_that_cannot_be_tuned_are_refused() {
    for (text, problem) in [
        ("c_puct=0.5..4", "expected search.KEY=LOW..HIGH"),
        ("search.c_puct=0.5", "expected search.KEY=LOW..HIGH"),
        ("search.c_puct=..4", "search.c_puct = : "),
        ("search.c_puct=4..0.5", "a range from 4 to 0.5; expected the lower end first"),
        ("search.c_puct=1..1", "expected the lower end first"),
        ("search.c_puct=-1..1", "search.c_puct = -1: expected 0 to 100"),
        ("search.c_putc=0.5..4", "unknown field `c_putc`, expected one of `root`, `max_num_considered_actions`"),
        ("search.virtual_loss=1..2.5", "search.virtual_loss = 2.5: "),
        ("search.root=gumbel..puct", "expected search.KEY=LOW..HIGH"),
    ] {
        let found = text.parse::<TunedKey>().expect_err(text);
        assert!(found.contains(problem), "{text}: {found}");
    }
    for (player, keys, problem) in [
        (
            "model:x",
            &["search.c_puct=0.5..4"][..],
            "expected search.c_scale, search.c_visit, search.max_num_considered",
        ),
        ("model:x,time=1", &["search.c_scale=0.5..4"], "expected search.c_puct, search.c_puct_base, search.c_puct_fac"),
        ("model:x,time=1", &["search.virtual_loss=1..4"], "it does not change how this player plays"),
        ("model:x,time=1", &["search.max_nodes=100..1000"], "it does not change how this player plays"),
        ("model:x,time=1", &["search.c_puct=0..1", "search.c_puct=0..2"], "it is there twice"),
        (
            "model:x,time=1",
            &["search.c_puct=1..4"],
            "search.c_puct=1..4: tuning starts from the player's 0.9; expected",
        ),
        ("model:x,time=1,search.c_puct=5", &["search.c_puct=1..4"], "tuning starts from the player's 5"),
    ] {
        let found = made(player, keys, 80).expect_err(problem).to_string();
        assert!(found.contains(problem), "{player}, {keys:?}: {found}");
    }
}
