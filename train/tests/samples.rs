//! From records to samples: every target against what the game shows, and against the same game turned around.

mod support;

use hnefi_engine::{BoardSize, Move, Outcome, Preset, Reason, Rules, Side, Symmetry};
use hnefi_inference::{Handicap, Wdl};
use hnefi_run::GameRecord;
use hnefi_run::sample::Row;
use hnefi_run::sample::{Sampler, ValueTarget, row};

use support::random_game;

/// The game as seen through a symmetry: the start positions look the same from all sides.
fn turned(game: &GameRecord, symmetry: Symmetry) -> GameRecord {
    let size = game.rules.size();
    let mut turned = game.clone();
    for ply in &mut turned.plies {
        ply.mv = symmetry.mv(ply.mv, size);
        for (mv, _) in &mut ply.policy {
            *mv = symmetry.mv(*mv, size);
        }
    }
    turned.check().expect("a turned game follows the rules");
    turned
}

/// The row with its moves in the order of their places; turning changes the order in which moves are generated.
fn sorted(mut row: Row) -> Row {
    row.policy.sort_by_key(|&(place, _)| place);
    row
}

/// A value target without fading.
fn unfaded(lambda: f32) -> ValueTarget {
    ValueTarget { lambda, fade: 0.0 }
}

/// A sample says under which handicap its game was played: what a side lacks is above 0.
#[test]
fn samples_tell_the_handicap() {
    let game = random_game(Preset::Brandubh, 1);
    let globals =
        |handicap| row(&GameRecord { handicap, ..game.clone() }, 0, Symmetry::ALL[0], unfaded(1.0)).unwrap().globals;
    let told = |doublings, blunders| globals(Handicap { doublings, blunders })[43..47].to_vec();
    assert_eq!(told(0.0, 0.0), [0.0; 4]);
    assert_eq!(told(2.0, 0.5), [0.0, 0.5, 0.0, 0.25], "the defenders lack");
    assert_eq!(told(-2.0, -0.5), [0.5, 0.0, 0.25, 0.0], "the attackers lack");
    assert_eq!(globals(Handicap::NONE)[..43], globals(Handicap { doublings: 2.0, blunders: 0.5 })[..43]);
}

#[test]
fn a_symmetry_turns_inputs_and_targets_alike() {
    for (preset, number) in [(Preset::Brandubh, 1), (Preset::Tablut, 2), (Preset::Copenhagen, 3)] {
        let game = random_game(preset, number);
        for symmetry in Symmetry::ALL {
            let turned = turned(&game, symmetry);
            for index in (0..game.plies.len()).step_by(7) {
                let seen = row(&game, index, symmetry, unfaded(0.75)).unwrap();
                let played = row(&turned, index, Symmetry::IDENTITY, unfaded(0.75)).unwrap();
                assert_eq!(sorted(seen), sorted(played), "{} ply {index} through {symmetry:?}", preset.name());
            }
        }
    }
}

#[test]
fn targets_say_what_the_game_shows() {
    let game = random_game(Preset::Brandubh, 4);
    let last = game.final_position().unwrap();
    let men = |content| move |row: &Row| row.occupancy.iter().filter(|&&found| found == content).count();
    for index in 0..game.plies.len() {
        let row = row(&game, index, Symmetry::ALL[index % 8], unfaded(1.0)).unwrap();
        let left = (game.plies.len() - index) as f32;
        assert!((row.moves_left.exp() - 1.0 - left).abs() < 1e-3, "ply {index}: {left} left");
        assert_eq!(men(1)(&row), last.board().attackers().len());
        assert_eq!(men(2)(&row), last.board().defenders().len());
        assert_eq!(men(3)(&row), usize::from(last.board().king().is_some()));
        let weights: f32 = row.policy.iter().map(|&(_, weight)| weight).sum();
        assert_eq!(weights, if game.plies[index].trains { 1.0 } else { 0.0 });
        assert_eq!(row.policy_weight, weights);
    }
}

#[test]
fn a_technical_ply_cap_is_no_input() {
    for (preset, number) in [(Preset::Brandubh, 1), (Preset::Copenhagen, 3)] {
        let game = random_game(preset, number);
        let capped = |ply_cap| GameRecord { rules: Rules { ply_cap, ..game.rules }, ..game.clone() };
        for index in (0..game.plies.len()).step_by(5) {
            let [one, other, none] = [400, 80, 0].map(|cap| row(&capped(cap), index, Symmetry::IDENTITY, unfaded(1.0)));
            let [one, other, none] = [one.unwrap(), other.unwrap(), none.unwrap()];
            assert_eq!((&one.globals, &one.planes), (&other.globals, &other.planes));
            assert_eq!((&one.globals, &one.planes), (&none.globals, &none.planes));
        }
    }
}

#[test]
fn games_that_nobody_searched_teach_their_results() {
    let mut game = random_game(Preset::Brandubh, 5);
    game.outcome = Some(Outcome::Win { side: Side::Attackers, reason: Reason::KingCaptured });
    let third = 1.0 / 3.0;
    for ply in &mut game.plies {
        // As an import writes it.
        (ply.policy, ply.playouts, ply.trains) = (vec![(ply.mv, 1.0)], 0, true);
        ply.searched = Wdl { win: third, draw: third, loss: third };
    }
    let value = |index| row(&game, index, Symmetry::IDENTITY, unfaded(0.5)).unwrap().value;
    assert_eq!([value(0), value(1)], [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
}

#[test]
fn values_are_from_the_side_to_move() {
    let mut game = random_game(Preset::Brandubh, 5);
    game.outcome = Some(Outcome::Win { side: Side::Attackers, reason: Reason::KingCaptured });
    let value = |game: &GameRecord, index, lambda| row(game, index, Symmetry::IDENTITY, unfaded(lambda)).unwrap().value;
    // The attackers move first.
    assert_eq!(value(&game, 0, 1.0), [1.0, 0.0, 0.0]);
    assert_eq!(value(&game, 1, 1.0), [0.0, 0.0, 1.0]);
    game.plies.truncate(4);
    let searched = |win, draw, loss| Wdl { win, draw, loss };
    (game.plies[2].searched, game.plies[3].searched) = (searched(0.5, 0.25, 0.25), searched(0.25, 0.25, 0.5));
    assert_eq!(value(&game, 3, 0.5), [0.125, 0.125, 0.75]);
    assert_eq!(value(&game, 3, 0.0), [0.25, 0.25, 0.5]);
    assert_eq!(value(&game, 2, 0.5), [0.625, 0.1875, 0.1875]);
    game.outcome = Some(Outcome::Draw { reason: Reason::PlyCap });
    assert_eq!(value(&game, 0, 1.0), [0.0, 1.0, 0.0]);
}

/// The oracle is TD(lambda) ply by ply from the end, which fades by one ply each time. The defenders play half of their
/// moves at random; one of them shows.
#[test]
fn a_value_target_is_made_of_the_next_one() {
    let (lambda, fade) = (0.7, 0.02_f32);
    let target = ValueTarget { lambda, fade };
    let mut game = random_game(Preset::Brandubh, 5);
    for (index, ply) in game.plies.iter_mut().enumerate() {
        let win = (index % 7) as f32 / 10.0;
        (ply.playouts, ply.searched) = (16, Wdl { win, draw: 0.1, loss: 0.9 - win });
        ply.policy.clear();
    }
    // A ply of the opening.
    (game.plies[8].playouts, game.plies[8].trains) = (0, false);
    game.handicap = Handicap { doublings: 0.0, blunders: 0.5 };
    for (index, weight) in [(11, 0.05), (12, 0.05), (13, 0.2)] {
        let ply = &mut game.plies[index];
        ply.policy = vec![(Move::parse("a1a2", BoardSize::SEVEN).unwrap(), 1.0 - weight), (ply.mv, weight)];
    }
    let mover = |index: usize| if index.is_multiple_of(2) { Side::Attackers } else { Side::Defenders };
    let mut next = Wdl::of_winner(game.winner(), mover(game.plies.len()));
    for index in (0..game.plies.len()).rev() {
        let (seen, certainty) = (next.flipped(), (-fade).exp());
        let draw = certainty * seen.draw + 1.0 - certainty;
        let after = Wdl { win: certainty * seen.win, draw, loss: certainty * seen.loss };
        let own = game.plies[index].searched;
        let blend = |own: f32, after: f32| (1.0 - lambda) * own + lambda * after;
        next = match index {
            8 | 11 => after,
            _ => Wdl {
                win: blend(own.win, after.win),
                draw: blend(own.draw, after.draw),
                loss: blend(own.loss, after.loss),
            },
        };
        let found = row(&game, index, Symmetry::IDENTITY, target).unwrap().value;
        for (found, expected) in found.into_iter().zip([next.win, next.draw, next.loss]) {
            assert!((found - expected).abs() < 1e-5, "ply {index}: {found}, expected {expected}");
        }
    }
}

#[test]
fn a_resignation_is_a_win_whose_end_nobody_saw() {
    let mut game = random_game(Preset::Brandubh, 6);
    game.plies.truncate(9);
    (game.outcome, game.resigned) = (None, Some(Side::Attackers));
    let seen = |index| row(&game, index, Symmetry::IDENTITY, unfaded(1.0)).unwrap();
    assert_eq!(seen(1).value, [1.0, 0.0, 0.0], "the defenders to move");
    assert_eq!(seen(2).value, [0.0, 0.0, 1.0], "the attackers to move");
    assert_eq!(seen(2).end_weight, 0.0);
    assert_eq!(row(&random_game(Preset::Brandubh, 6), 2, Symmetry::IDENTITY, unfaded(1.0)).unwrap().end_weight, 1.0);
}

#[test]
fn only_training_plies_of_finished_games_are_drawn() {
    let mut games: Vec<GameRecord> = (10..14).map(|number| random_game(Preset::Brandubh, number)).collect();
    games[3].outcome = None;
    let sampler = Sampler::new(&games, 7, unfaded(1.0));
    let expected: usize = games[..3].iter().map(|game| game.plies.iter().filter(|ply| ply.trains).count()).sum();
    assert_eq!(sampler.plies(), expected);
    for step in 0..20 {
        let batch = &sampler.batch(step, 32, 1).unwrap()[0];
        assert!(batch.policy_weight.iter().all(|&weight| weight == 1.0), "every drawn ply has a policy target");
    }
}

#[test]
fn a_step_names_its_batch() {
    let games: Vec<GameRecord> = (20..24).map(|number| random_game(Preset::Brandubh, number)).collect();
    let sampler = Sampler::new(&games, 7, unfaded(1.0));
    let same = Sampler::new(&games, 7, unfaded(1.0));
    let other = Sampler::new(&games, 8, unfaded(1.0));
    assert_eq!(sampler.batch(3, 16, 2).unwrap(), same.batch(3, 16, 2).unwrap());
    assert_ne!(sampler.batch(3, 16, 2).unwrap(), sampler.batch(4, 16, 2).unwrap());
    assert_ne!(sampler.batch(3, 16, 2).unwrap(), other.batch(3, 16, 2).unwrap());
    let shards = sampler.batch(3, 16, 2).unwrap();
    assert_eq!([shards.len(), shards[0].rows, shards[1].rows], [2, 8, 8]);
    assert_ne!(shards[0], shards[1]);
}

#[test]
fn boards_are_drawn_by_their_share_and_never_mixed() {
    let mut games: Vec<GameRecord> = (30..36).map(|number| random_game(Preset::Brandubh, number)).collect();
    games.extend((36..39).map(|number| random_game(Preset::Copenhagen, number)));
    let sampler = Sampler::new(&games, 9, unfaded(1.0));
    let small: usize = Sampler::new(&games[..6], 9, unfaded(1.0)).plies();
    let share = small as f64 / sampler.plies() as f64;
    let steps = 400;
    let drawn = (0..steps)
        .filter(|&step| {
            let shards = sampler.batch(step, 4, 2).unwrap();
            assert_eq!(shards[0].size, shards[1].size);
            shards[0].size == Preset::Brandubh.rules().size()
        })
        .count();
    // Four standard deviations of the binomial distribution.
    let bound = 4.0 * (share * (1.0 - share) / steps as f64).sqrt();
    assert!((drawn as f64 / steps as f64 - share).abs() < bound, "{drawn} of {steps}, expected a share of {share}");
}

#[test]
fn a_far_result_fades_towards_a_draw() {
    let game = random_game(Preset::Brandubh, 6);
    let fade = 0.02;
    let target = ValueTarget { lambda: 1.0, fade };
    for index in 0..game.plies.len() {
        let [win, draw, loss] = row(&game, index, Symmetry::IDENTITY, target).unwrap().value;
        let certainty = (-fade * (game.plies.len() - index) as f32).exp();
        let decided = if game.outcome.unwrap().winner().is_some() { certainty } else { 0.0 };
        assert!((win + loss - decided).abs() < 1e-6 && (win + draw + loss - 1.0).abs() < 1e-6);
        assert_eq!(win.min(loss), 0.0);
    }
}

/// The end of a game, recorded as a separate game as in older runs, gives the same samples as these plies of the whole
/// game, except for the clocks and the last move.
#[test]
fn a_game_from_elsewhere_trains_like_the_end_of_a_whole_one() {
    let target = ValueTarget { lambda: 0.75, fade: 0.01 };
    let mut compared = 0;
    for (preset, number) in [(Preset::Brandubh, 1), (Preset::Brandubh, 2), (Preset::Tablut, 3)] {
        let whole = random_game(preset, number);
        for cut in [1, 4, 9] {
            let mut replay = whole.replay().unwrap();
            for _ in 0..cut {
                replay.step().unwrap();
            }
            let mut rest = GameRecord { start: Some(replay.position().fen()), ..whole.clone() };
            rest.plies.drain(..cut);
            // What ended the whole game might not end the rest, by the count of repetitions; the record says how it
            // ended.
            for index in (0..rest.plies.len()).step_by(3) {
                let symmetry = Symmetry::ALL[index % 8];
                let expected = row(&whole, cut + index, symmetry, target).unwrap();
                let found = row(&rest, index, symmetry, target).unwrap();
                // Two planes show the last move, which the first position of a game does not have.
                assert!(index == 0 || found.planes == expected.planes, "game {number} cut at {cut}, ply {index}");
                assert_eq!((&found.policy, found.policy_weight), (&expected.policy, expected.policy_weight));
                assert_eq!((found.value, found.moves_left), (expected.value, expected.moves_left));
                assert_eq!((found.occupancy, found.end_weight), (expected.occupancy, expected.end_weight));
                assert_eq!(found.globals.len(), expected.globals.len());
                compared += 1;
            }
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn a_proven_result_fades_like_the_result() {
    let mut game = random_game(Preset::Brandubh, 5);
    game.outcome = Some(Outcome::Win { side: Side::Attackers, reason: Reason::KingCaptured });
    let value = |game: &GameRecord, lambda| {
        row(game, 0, Symmetry::IDENTITY, ValueTarget { lambda, fade: 0.02 }).expect("a training ply").value
    };
    (game.plies[0].playouts, game.plies[0].searched) = (16, Wdl::WIN);
    let (own, result) = (value(&game, 0.0), value(&game, 1.0));
    assert!(own.iter().zip(result).all(|(own, result)| (own - result).abs() < 1e-6), "{own:?} {result:?}");
}
