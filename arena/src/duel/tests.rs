//! Matches between players whose play is known.

use hnefi_engine::{Game, Move, Preset};

use super::*;
use crate::players::{AlphaBeta, Choice, PlayerError, RandomPlayer, Rollout};
use hnefi_search::Rng;

fn params(games: u32, threads: usize) -> MatchParams {
    MatchParams { threads, ..MatchParams::new(Preset::Brandubh.rules(), games, 42) }
}

fn players(count: usize, pair: impl Fn() -> [Box<dyn Player>; 2]) -> Vec<[Box<dyn Player>; 2]> {
    (0..count).map(|_| pair()).collect()
}

fn rollout_against_random(threads: usize) -> Vec<[Box<dyn Player>; 2]> {
    players(threads, || [Box::new(Rollout::new(8)), Box::new(RandomPlayer)])
}

/// Keeps what it is shown and stops after a number of games.
#[derive(Default)]
struct Notes {
    games: Vec<GameRecord>,
    stop_after: Option<usize>,
}

impl MatchObserver for Notes {
    fn game_finished(&mut self, game: &GameRecord, so_far: &MatchResult) {
        self.games.push(game.clone());
        assert_eq!(so_far.games as usize, self.games.len());
    }

    fn should_stop(&mut self) -> bool {
        self.stop_after.is_some_and(|count| self.games.len() >= count)
    }
}

#[test]
fn one_thread_and_many_give_the_same_games() {
    let (mut alone, mut together) = (Notes::default(), Notes::default());
    let names = ["rollout:8", "random"];
    let first = play_match_with(names, rollout_against_random(1), &params(12, 1), &mut alone).expect("a match");
    let second = play_match_with(names, rollout_against_random(3), &params(12, 3), &mut together).expect("a match");
    assert_eq!(first, second);
    assert_eq!(alone.games, together.games);
}

#[test]
fn pairs_share_an_opening_and_swap_the_sides() {
    let mut notes = Notes::default();
    let names = ["rollout:8", "random"];
    let result = play_match_with(names, rollout_against_random(2), &params(8, 2), &mut notes).expect("a match");
    for pair in notes.games.chunks(2) {
        let opening = |game: &GameRecord| game.plies[..4].iter().map(|ply| ply.mv).collect::<Vec<Move>>();
        assert_eq!(opening(&pair[0]), opening(&pair[1]));
        assert_eq!(pair[0].players, ["rollout:8", "random"]);
        assert_eq!(pair[1].players, ["random", "rollout:8"]);
    }
    assert_eq!((result.as_attackers.games(), result.as_defenders.games(), result.pairs.pairs()), (4, 4, 4));
    assert_eq!(result.ends.values().sum::<u32>(), 8);
    assert!(result.score > 0.5 && (result.pairs.mean() - result.score).abs() < 1e-12);
}

#[test]
fn records_replay_to_their_outcome() {
    let mut notes = Notes::default();
    play_match_with(["a", "b"], rollout_against_random(1), &params(6, 1), &mut notes).expect("a match");
    for record in &notes.games {
        assert!(record.plies.iter().all(|ply| ply.policy.is_empty() && !ply.trains));
        assert_eq!(record.game().expect("legal moves").outcome(), record.outcome);
        assert!(record.is_finished());
    }
}

#[test]
fn the_ply_cap_is_a_draw_of_its_own_kind() {
    let of_rules = Rules { ply_cap: 6, ..Preset::Brandubh.rules() };
    let params = MatchParams { threads: 1, ..MatchParams::new(of_rules, 10, 42) };
    assert_eq!(params.ply_cap, 6, "the rules' own");
    let players = players(1, || [Box::new(RandomPlayer), Box::new(RandomPlayer)]);
    let result = play_match_with(["random", "random"], players, &params, &mut ()).expect("a match");
    assert!(result.ends["draw ply_cap"] >= 5, "{:?}", result.ends);
    assert!(result.mean_plies <= 6.0);
}

#[test]
fn the_line_of_json_holds_what_scripts_read() {
    let result = play_match_with(["rollout:8", "random"], rollout_against_random(2), &params(4, 2), &mut ());
    let result = result.expect("a match");
    let line = serde_json::to_string(&result).expect("plain numbers");
    assert!(!line.contains('\n'));
    let json: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(json["games"], 4);
    assert_eq!(json["rules"], "brandubh");
    for side in ["as_attackers", "as_defenders"] {
        let count = |key: &str| json[side][key].as_u64().unwrap_or_else(|| panic!("{side}.{key} in {line}"));
        assert_eq!(count("wins") + count("draws") + count("losses"), 2);
    }
    let score = json["score"].as_f64().expect("a score");
    assert!((0.0..=1.0).contains(&score));
    assert_eq!(serde_json::from_str::<MatchResult>(&line).expect("the same result"), result);
}

#[test]
fn a_sequential_test_stops_early_and_at_the_same_game_on_any_number_of_threads() {
    let sprt = SprtParams { elo0: 0.0, elo1: 100.0, alpha: 0.05, beta: 0.05 };
    let run = |threads: usize| {
        let params = MatchParams { sprt: Some(sprt), ..params(400, threads) };
        let players = players(threads, || [Box::new(AlphaBeta::new(1)), Box::new(RandomPlayer)]);
        play_match_with(["alphabeta:1", "random"], players, &params, &mut ()).expect("a match")
    };
    let result = run(1);
    assert_eq!(result.sprt.expect("a test was asked for").verdict, Verdict::AcceptH1);
    assert!(result.games < 100 && result.games.is_multiple_of(2), "{} games", result.games);
    assert!(!result.interrupted);
    assert_eq!(run(3), result);
}

#[test]
fn a_match_stops_when_the_observer_says_so_and_counts_what_is_finished() {
    let mut notes = Notes { stop_after: Some(3), ..Notes::default() };
    let result = play_match_with(["a", "b"], rollout_against_random(1), &params(1000, 1), &mut notes).expect("a match");
    assert!(result.interrupted);
    assert_eq!(result.games as usize, notes.games.len());
    assert!(result.games >= 3 && result.games < 1000);
}

/// Plays well for a while, then fails, or plays from an empty square.
struct Faulty {
    moves: u32,
    failure: Option<fn() -> PlayerError>,
}

impl Player for Faulty {
    fn name(&self) -> &str {
        "faulty"
    }

    fn choose(&mut self, game: &Game, rng: &mut Rng) -> Result<Choice, PlayerError> {
        self.moves += 1;
        let choice = RandomPlayer.choose(game, rng)?;
        if self.moves < 3 {
            return Ok(choice);
        }
        if game.position().side_to_move() == Side::Attackers {
            // On two threads game 1 fails before game 0.
            std::thread::sleep(Duration::from_millis(20));
        }
        if let Some(failure) = self.failure {
            return Err(failure());
        }
        Ok(Choice { mv: Move::new(choice.mv.to(), choice.mv.from()), ..choice })
    }
}

#[test]
fn a_player_that_fails_or_breaks_the_rules_stops_the_match_by_name() {
    let deleted = || PlayerError::NoModel { path: "gone".to_owned(), problem: "it was deleted".to_owned() };
    let faults = [(Some(deleted as fn() -> PlayerError), "it was deleted"), (None, "illegal move")];
    for (threads, (failure, expected)) in [1, 2].into_iter().flat_map(|threads| faults.map(|fault| (threads, fault))) {
        let players = players(threads, || [Box::new(Faulty { moves: 0, failure }), Box::new(RandomPlayer)]);
        let params = params(10, threads);
        let error = play_match_with(["faulty", "random"], players, &params, &mut ()).expect_err("a fault");
        let message = error.to_string();
        assert!(message.starts_with("game 0, ply "), "{message}");
        assert!(message.contains("faulty (attackers): ") && message.contains(expected), "{message}");
    }
}

#[test]
fn impossible_matches_are_refused() {
    let refusal = |params: MatchParams| {
        play_match_with(["a", "b"], rollout_against_random(1), &params, &mut ()).expect_err("refused").to_string()
    };
    assert!(refusal(params(101, 1)).contains("101 games: expected an even number"));
    assert!(refusal(params(0, 1)).contains("0 games: expected an even number above 0"));
    assert!(refusal(MatchParams { ply_cap: 4, ..params(2, 1) }).contains("a ply cap of 4: expected more than"));
    assert!(refusal(MatchParams { threads: 0, ..params(2, 1) }).contains("0 threads"));
    let sprt = Some(SprtParams { elo0: 10.0, elo1: 0.0, ..SprtParams::default() });
    assert!(refusal(MatchParams { sprt, ..params(2, 1) }).contains("expected elo0 below elo1"));
}
