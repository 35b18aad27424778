//! Judging a network by games whose answers are known.

use super::{Broken, games};
use hnefi_data::{JudgeParams, Judgement, judge};
use hnefi_engine::{Escape, MoveList, NamedRules, Position, Preset, Rules, Side};
use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator, Handicap, HashEvaluator, Wdl};
use hnefi_run::{GameRecord, PlyRecord};
use hnefi_search::{Search, SearchConfig, run_to_end};

fn params(playouts: Option<u32>) -> JudgeParams {
    JudgeParams { playouts, search: SearchConfig::default(), rules: None, threads: 2 }
}

fn judged(games: &[GameRecord], seed: u64, params: &JudgeParams) -> Judgement {
    let make = move || Box::new(HashEvaluator::new(seed)) as Box<dyn Evaluator>;
    judge(games, &make, params, &mut |_| true).expect("hashes do not fail")
}

/// A game in which `choose` makes every move.
fn game(number: u64, mut choose: impl FnMut(&Position, &MoveList) -> usize) -> GameRecord {
    let mut game = games::random_game(Preset::Brandubh.rules(), number, 6);
    game.rules.ply_cap = 40;
    let mut position = Position::start(&game.rules);
    let mut moves = MoveList::new();
    // The first plies are random, so that games differ.
    for ply in &game.plies {
        position.play_unchecked(ply.mv);
    }
    game.start = Some(position.fen());
    position = game.start_position().expect("a sound start");
    game.plies.clear();
    while position.outcome().is_none() {
        position.legal_moves(&mut moves);
        let mv = moves[choose(&position, &moves)];
        game.plies.push(PlyRecord { policy: vec![(mv, 1.0)], trains: true, ..PlyRecord::unsearched(mv) });
        position.play_unchecked(mv);
    }
    game.outcome = position.outcome();
    game
}

/// What a network of hashes says of positions one by one.
fn asked(seed: u64) -> impl FnMut(&Position, &MoveList) -> (f32, Vec<f32>) {
    let (mut evaluator, mut answers) = (HashEvaluator::new(seed), Evaluations::new());
    move |position, moves| {
        let request = EvalRequest { position, moves, handicap: Handicap::NONE, auxiliary: false };
        evaluator.evaluate(&[request], &mut answers).expect("hashes");
        (answers.get(0).wdl.score(), answers.priors(0).to_vec())
    }
}

fn first_choice(seed: u64) -> impl FnMut(&Position, &MoveList) -> usize {
    let mut ask = asked(seed);
    move |position, moves| {
        let (_, priors) = ask(position, moves);
        (0..moves.len()).max_by(|&a, &b| priors[a].total_cmp(&priors[b])).expect("a legal move")
    }
}

#[test]
fn a_network_agrees_with_itself_and_hardly_with_another() {
    let games: Vec<_> = (0..20).map(|number| game(number, first_choice(3))).collect();
    let own = judged(&games, 3, &params(None));
    assert_eq!(own.positions, games.iter().map(|game| game.plies.len()).sum::<usize>());
    assert_eq!((own.games, own.unfinished, own.cut, own.interrupted), (20, 0, 0, false));
    let policy = own.both.policy.expect("positions");
    assert_eq!((policy.top1.mean, policy.top1.standard_error), (1.0, Some(0.0)));
    let other = judged(&games, 4, &params(None)).both.policy.expect("positions");
    let error = other.top1.standard_error.expect("many games");
    assert!((other.top1.mean - other.random_top1).abs() < 5.0 * error.max(0.01), "{other:?}");
    assert!(other.top5.mean > other.top1.mean);
    let sides = [own.attackers.policy, own.defenders.policy].map(|side| side.expect("positions").top1.positions);
    assert_eq!(sides[0] + sides[1], own.positions);
}

#[test]
fn a_search_agrees_with_itself() {
    let mut search = Search::new(SearchConfig::default());
    let (mut evaluator, mut answers) = (HashEvaluator::new(3), Evaluations::new());
    let games: Vec<_> = (0..4)
        .map(|number| {
            game(number, |position, moves| {
                search.begin(position, 12, None);
                run_to_end(&mut search, &mut evaluator, &mut answers).expect("hashes");
                let best = search.report().best;
                moves.iter().position(|&mv| mv == best).expect("a legal move")
            })
        })
        .collect();
    let found = judged(&games, 3, &params(Some(12))).both;
    assert_eq!(found.search.expect("positions").top1.mean, 1.0);
    assert!(found.policy.expect("positions").top1.mean < 1.0);
    assert!(found.searched_value.is_some());
}

#[test]
fn calibration_is_the_mean_squared_difference() {
    let games: Vec<_> = (0..12).map(|number| game(number, first_choice(9))).collect();
    let found = judged(&games, 5, &params(None));
    let (mut ask, mut moves) = (asked(5), MoveList::new());
    let (mut squares, mut count, mut bins) = (0.0, 0usize, [0usize; 10]);
    for game in &games {
        let mut replay = game.replay().expect("a sound start");
        while let Some(ply) = replay.ply() {
            let position = replay.position();
            position.legal_moves(&mut moves);
            let score = f64::from(ask(position, &moves).0);
            let result = match game.winner() {
                None => 0.5,
                Some(side) => f64::from(u8::from(side == position.side_to_move())),
            };
            squares += (score - result) * (score - result);
            bins[((score * 10.0) as usize).min(9)] += 1;
            count += 1;
            assert!(moves.contains(&ply.mv));
            replay.step().expect("a legal move");
        }
    }
    let value = found.both.value.expect("finished games");
    assert_eq!(value.brier.positions, count);
    assert!((value.brier.mean - squares / count as f64).abs() < 1e-9);
    let counted: Vec<_> = value.deciles.iter().map(|bin| bin.observed.map_or(0, |rate| rate.positions)).collect();
    assert_eq!(counted, bins);
    // Thirds of the games by plies, whose squares add up to those of all positions.
    let thirds = found.phases.value.map(|third| third.expect("finished games").brier);
    let first = games.iter().map(|game| (0..game.plies.len()).filter(|ply| ply * 3 < game.plies.len()).count());
    assert_eq!(thirds[0].positions, first.sum::<usize>());
    assert_eq!(thirds.iter().map(|third| third.positions).sum::<usize>(), count);
    let sum: f64 = thirds.iter().map(|third| third.mean * third.positions as f64).sum();
    assert!((sum - squares).abs() < 1e-6);
    assert_eq!(found.phases.searched_value, [None, None, None]);
}

#[test]
fn threads_and_order_do_not_matter_and_unfinished_games_have_no_result() {
    let mut games = games::mixed_games();
    games[0].plies.truncate(5);
    (games[0].outcome, games[0].resigned) = (None, None);
    let one = judged(&games, 3, &JudgeParams { threads: 1, ..params(Some(4)) });
    let four = judged(&games, 3, &JudgeParams { threads: 4, ..params(Some(4)) });
    assert_eq!(one, four);
    assert_eq!(one.unfinished, 1);
    let (policy, value) = (one.both.policy.expect("positions"), one.both.value.expect("finished games"));
    assert_eq!(policy.top1.positions, value.brier.positions + 5);
    let alone = judged(&games[..1], 3, &params(None));
    assert_eq!(alone.both.value, None);
    let nothing = judged(&[], 3, &params(None));
    assert_eq!((nothing.positions, nothing.both.policy), (0, None));
}

#[test]
fn another_ruleset_cuts_games_where_it_ends_them() {
    let games = games::mixed_games();
    let brandubh: Vec<_> = games.into_iter().filter(|game| game.rules.preset() == Some(Preset::Brandubh)).collect();
    let plies: usize = brandubh.iter().map(|game| game.plies.len()).sum();
    let same = judged(&brandubh, 3, &JudgeParams { rules: Some(Preset::Brandubh.into()), ..params(None) });
    assert_eq!((same.cut, same.positions), (0, plies));
    // Where the king has to reach a corner he often comes to an edge before, which is his way out in Tablut.
    let corners = Rules { escape: Escape::Corner, ..Preset::Tablut.rules() };
    let to_corners: Vec<_> = (0..10).map(|number| games::random_game(corners, number, 200)).collect();
    let plies: usize = to_corners.iter().map(|game| game.plies.len()).sum();
    let cut = judged(&to_corners, 3, &JudgeParams { rules: Some(Preset::Tablut.into()), ..params(None) });
    assert!(cut.cut > 0 && (1..plies).contains(&cut.positions), "{} games, {} of {plies}", cut.cut, cut.positions);
}

/// A game begins where its own rules do, also under others.
#[test]
fn another_ruleset_judges_the_same_positions() {
    let rules = |name: &str| name.parse::<NamedRules>().expect("published");
    let game = games::random_game(rules("tawlbwrdd-lewis").rules(), 1, 6);
    let found = |asked| judged(std::slice::from_ref(&game), 3, &JudgeParams { rules: asked, ..params(None) });
    let (own, other) = (found(None), found(Some(rules("tawlbwrdd-lewis-diamond"))));
    assert_eq!((own.cut, other.cut, other.positions), (0, 0, 6));
    assert_eq!(own.both.policy, other.both.policy);
}

#[test]
fn a_ruleset_for_another_board_is_refused() {
    let games =
        [games::random_game(Preset::Copenhagen.rules(), 1, 5), games::random_game(Preset::Brandubh.rules(), 2, 5)];
    let asked = JudgeParams { rules: Some(Preset::Fetlar.into()), ..params(None) };
    let make = || Box::new(HashEvaluator::new(1)) as Box<dyn Evaluator>;
    let error = judge(&games, &make, &asked, &mut |_| true).expect_err("two boards").to_string();
    assert!(error.contains("fetlar") && error.contains("11x11") && error.contains("game 2") && error.contains("7x7"));
}

/// Sees an advantage of the attackers in the handicap alone.
struct ByHandicap;

impl Evaluator for ByHandicap {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        out.clear();
        for request in requests {
            let attackers = if request.handicap.blunders > 0.0 { 0.75 } else { 0.25 };
            let win = if request.position.side_to_move() == Side::Attackers { attackers } else { 1.0 - attackers };
            let wdl = Wdl { win, draw: 0.0, loss: 1.0 - win };
            out.push(wdl, 10.0, None, |logits| logits.extend(request.moves.iter().map(|_| 0.0)));
        }
        Ok(())
    }
}

#[test]
fn the_network_is_told_of_the_handicap_of_a_game() {
    let mut without = games::random_game(Preset::Brandubh.rules(), 1, 9);
    // Before there is anything to win at once.
    without.plies.truncate(2);
    (without.outcome, without.resigned) = (None, Some(Side::Attackers));
    let with = GameRecord { handicap: Handicap { doublings: 0.0, blunders: 0.5 }, ..without.clone() };
    let params = JudgeParams { threads: 1, ..params(Some(4)) };
    let expected = |game: GameRecord| {
        let make = || Box::new(ByHandicap) as Box<dyn Evaluator>;
        let found = judge(&[game], &make, &params, &mut |_| true).expect("no error").attackers;
        [found.value, found.searched_value].map(|value| value.expect("a finished game").predicted)
    };
    for (game, value) in [(without, 0.25), (with, 0.75)] {
        let found = expected(game);
        assert!(found.iter().all(|found| (found - value).abs() < 1e-3), "{found:?}, expected {value}");
    }
}

#[test]
fn a_failing_evaluator_and_a_stop_end_the_work() {
    let games = games::mixed_games();
    let error = judge(&games, &|| Box::new(Broken), &params(None), &mut |_| true).expect_err("unplugged").to_string();
    assert!(error.contains("unplugged"), "{error}");
    let make = || Box::new(HashEvaluator::new(1)) as Box<dyn Evaluator>;
    let stopped = judge(&games, &make, &JudgeParams { threads: 1, ..params(Some(16)) }, &mut |_| false);
    let stopped = stopped.expect("no error");
    assert!(stopped.interrupted && stopped.games < games.len(), "{}", stopped.games);
}
