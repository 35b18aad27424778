//! From records to samples: every target against what the game shows, and against the same game turned around.

mod support;

use hnefi_engine::{Outcome, Piece, Preset, Reason, Rules, Side, Square, Symmetry};
use hnefi_inference::Wdl;
use hnefi_selfplay::GameRecord;
use hnefi_train::auxiliary::AuxiliaryTargets;
use hnefi_train::batch::{AuxiliaryRow, Ending, Row};
use hnefi_train::sample::{Sampler, Targets, ValueTarget, row};

use support::random_game;

/// The game as seen through a symmetry: the start positions look the same from all sides.
fn turned(game: &GameRecord, symmetry: Symmetry) -> GameRecord {
    let size = game.rules.size;
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
    if let Some(soft) = &mut row.auxiliary.soft_policy {
        let mut placed: Vec<(usize, f32)> =
            row.policy.iter().map(|&(place, _)| place).zip(soft.iter().copied()).collect();
        placed.sort_by_key(|&(place, _)| place);
        *soft = placed.into_iter().map(|(_, weight)| weight).collect();
    }
    row.policy.sort_by_key(|&(place, _)| place);
    if let Some(reply) = &mut row.auxiliary.reply {
        reply.sort_by_key(|&(place, _)| place);
    }
    row
}

/// A value target without fading.
fn mixed(search_mix: f32) -> Targets {
    ValueTarget { search_mix, fade: 0.0 }.into()
}

/// Every auxiliary target.
fn all() -> Targets {
    let auxiliary = AuxiliaryTargets {
        reply: true,
        soft_policy: true,
        short_values: vec![2, 6],
        captured: Some(SOON),
        ending: true,
    };
    Targets { auxiliary, ..mixed(0.25) }
}

/// Plies within which a capture is soon.
const SOON: u32 = 10;

/// The auxiliary targets of a ply.
fn auxiliary(game: &GameRecord, index: usize, symmetry: Symmetry) -> AuxiliaryRow {
    row(game, index, symmetry, &all()).unwrap().auxiliary
}

#[test]
fn a_symmetry_turns_inputs_and_targets_alike() {
    for (preset, number) in [(Preset::Brandubh, 1), (Preset::Tablut, 2), (Preset::Copenhagen, 3)] {
        let game = random_game(preset, number);
        for symmetry in Symmetry::ALL {
            let turned = turned(&game, symmetry);
            for index in (0..game.plies.len()).step_by(7) {
                let seen = row(&game, index, symmetry, &all()).unwrap();
                let played = row(&turned, index, Symmetry::IDENTITY, &all()).unwrap();
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
        let row = row(&game, index, Symmetry::ALL[index % 8], &mixed(0.0)).unwrap();
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
            let [one, other, none] = [400, 80, 0].map(|cap| row(&capped(cap), index, Symmetry::IDENTITY, &mixed(0.0)));
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
    let value = |index| row(&game, index, Symmetry::IDENTITY, &mixed(0.5)).unwrap().value;
    assert_eq!([value(0), value(1)], [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]);
}

#[test]
fn values_are_from_the_side_to_move() {
    let mut game = random_game(Preset::Brandubh, 5);
    game.outcome = Some(Outcome::Win { side: Side::Attackers, reason: Reason::KingCaptured });
    let value = |game: &GameRecord, index, mix| row(game, index, Symmetry::IDENTITY, &mixed(mix)).unwrap().value;
    // The attackers move first.
    assert_eq!(value(&game, 0, 0.0), [1.0, 0.0, 0.0]);
    assert_eq!(value(&game, 1, 0.0), [0.0, 0.0, 1.0]);
    game.plies[1].searched = Wdl { win: 0.25, draw: 0.25, loss: 0.5 };
    assert_eq!(value(&game, 1, 0.5), [0.125, 0.125, 0.75]);
    game.outcome = Some(Outcome::Draw { reason: Reason::PlyCap });
    assert_eq!(value(&game, 0, 0.0), [0.0, 1.0, 0.0]);
}

#[test]
fn a_resignation_is_a_win_whose_end_nobody_saw() {
    let mut game = random_game(Preset::Brandubh, 6);
    game.plies.truncate(9);
    (game.outcome, game.resigned) = (None, Some(Side::Attackers));
    let seen = |index| row(&game, index, Symmetry::IDENTITY, &mixed(0.0)).unwrap();
    assert_eq!(seen(1).value, [1.0, 0.0, 0.0], "the defenders to move");
    assert_eq!(seen(2).value, [0.0, 0.0, 1.0], "the attackers to move");
    assert_eq!(seen(2).end_weight, 0.0);
    assert_eq!(row(&random_game(Preset::Brandubh, 6), 2, Symmetry::IDENTITY, &mixed(0.0)).unwrap().end_weight, 1.0);
}

#[test]
fn only_training_plies_of_finished_games_are_drawn() {
    let mut games: Vec<GameRecord> = (10..14).map(|number| random_game(Preset::Brandubh, number)).collect();
    games[3].outcome = None;
    let sampler = Sampler::new(&games, 7, mixed(0.0));
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
    let sampler = Sampler::new(&games, 7, mixed(0.0));
    let same = Sampler::new(&games, 7, mixed(0.0));
    let other = Sampler::new(&games, 8, mixed(0.0));
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
    let sampler = Sampler::new(&games, 9, mixed(0.0));
    let small: usize = Sampler::new(&games[..6], 9, mixed(0.0)).plies();
    let share = small as f64 / sampler.plies() as f64;
    let steps = 400;
    let drawn = (0..steps)
        .filter(|&step| {
            let shards = sampler.batch(step, 4, 2).unwrap();
            assert_eq!(shards[0].size, shards[1].size);
            shards[0].size == Preset::Brandubh.rules().size
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
    let target = ValueTarget { search_mix: 0.0, fade }.into();
    for index in 0..game.plies.len() {
        let [win, draw, loss] = row(&game, index, Symmetry::IDENTITY, &target).unwrap().value;
        let certainty = (-fade * (game.plies.len() - index) as f32).exp();
        let decided = if game.outcome.unwrap().winner().is_some() { certainty } else { 0.0 };
        assert!((win + loss - decided).abs() < 1e-6 && (win + draw + loss - 1.0).abs() < 1e-6);
        assert_eq!(win.min(loss), 0.0);
    }
}

#[test]
fn auxiliary_targets_are_there_when_wanted() {
    let game = random_game(Preset::Brandubh, 4);
    let without = row(&game, 1, Symmetry::IDENTITY, &mixed(0.25)).unwrap();
    assert_eq!(without.auxiliary, AuxiliaryRow::default());
    let with = row(&game, 1, Symmetry::IDENTITY, &all()).unwrap();
    assert_eq!(Row { auxiliary: AuxiliaryRow::default(), ..with }, without, "nothing else changes");
    let heads = all().auxiliary.heads();
    assert_eq!((heads.reply, heads.short_values, heads.captured), (true, 2, true));
}

#[test]
fn the_reply_is_the_next_plys_policy() {
    let game = random_game(Preset::Tablut, 4);
    for index in 0..game.plies.len() {
        for symmetry in [Symmetry::IDENTITY, Symmetry::ALL[5]] {
            let reply = auxiliary(&game, index, symmetry).reply.unwrap();
            // Every third ply of the game has no policy target, and after the last one nobody answers.
            let next = game.plies.get(index + 1).filter(|next| next.trains);
            let expected = next.map(|_| row(&game, index + 1, symmetry, &mixed(0.0)).unwrap().policy);
            assert_eq!(reply, expected.unwrap_or_default(), "ply {index}");
        }
    }
}

#[test]
fn the_soft_policy_by_hand() {
    let game = random_game(Preset::Brandubh, 4);
    // The fourth root of 1/4 is the square root of 1/2.
    let (half, quarter) = (0.840_896, std::f32::consts::FRAC_1_SQRT_2);
    for index in 0..game.plies.len() {
        let row = row(&game, index, Symmetry::IDENTITY, &all()).unwrap();
        let soft = row.auxiliary.soft_policy.unwrap();
        assert_eq!(soft.len(), row.policy.len());
        for (&(_, weight), soft) in row.policy.iter().zip(soft) {
            let expected = match weight {
                0.5 => half / (half + 2.0 * quarter),
                0.25 if game.plies[index].policy[0].1 == 0.5 => quarter / (half + 2.0 * quarter),
                0.0 => 0.0,
                other => panic!("no ply of this game has a weight of {other}"),
            };
            assert!((soft - expected).abs() < 1e-5, "{weight} became {soft}, expected {expected}");
        }
    }
}

#[test]
fn short_values_by_hand() {
    let mut game = random_game(Preset::Brandubh, 4);
    let last = game.plies.len() - 1;
    let wdl = |win, draw, loss| Wdl { win, draw, loss };
    game.plies[last - 1].searched = wdl(0.5, 0.5, 0.0);
    game.plies[last].searched = wdl(0.0, 0.25, 0.75);
    let viewer = if last.is_multiple_of(2) { Side::Attackers } else { Side::Defenders };
    game.outcome = Some(Outcome::Win { side: viewer, reason: Reason::PlyCap });
    // For the viewer the values are 0, 1/2, 1/2 one ply on and 0, 1/4, 3/4 two plies on, and then he wins.
    let found = auxiliary(&game, last - 2, Symmetry::IDENTITY).short_values.unwrap();
    assert_eq!(found.len(), 2);
    for (found, horizon) in found.into_iter().zip([2.0_f32, 6.0]) {
        let k = (-1.0 / horizon).exp();
        let expected = [k * k, (1.0 - k) * (0.5 + 0.25 * k), (1.0 - k) * (0.5 + 0.75 * k)];
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "horizon {horizon}: {found}, expected {expected}");
        }
    }
    // At the last ply only the result is left.
    assert_eq!(auxiliary(&game, last, Symmetry::IDENTITY).short_values.unwrap(), [[1.0, 0.0, 0.0]; 2]);
}

#[test]
fn captures_are_those_of_the_piece_wherever_it_goes() {
    let (mut stay, mut taken, mut moved_and_taken) = (0, 0, 0);
    for (preset, number) in [(Preset::Brandubh, 1), (Preset::Brandubh, 2), (Preset::Copenhagen, 3)] {
        let game = random_game(preset, number);
        let mut boards = Vec::new();
        let mut replay = game.replay().unwrap();
        loop {
            boards.push(*replay.position().board());
            if replay.step().unwrap().is_none() {
                break;
            }
        }
        for index in 0..game.plies.len() {
            let fates = auxiliary(&game, index, Symmetry::IDENTITY).captured.unwrap();
            for (square, fate) in fates.into_iter().enumerate() {
                let at = Square::new(square);
                if boards[index].piece_at(at).is_none() {
                    assert_eq!(fate, 0);
                    continue;
                }
                // One piece followed alone.
                let (mut at, mut gone) = (at, false);
                for ply in index..game.plies.len().min(index + SOON as usize) {
                    if game.plies[ply].mv.from() == at {
                        at = game.plies[ply].mv.to();
                    } else if boards[ply + 1].piece_at(at).is_none() {
                        gone = true;
                        break;
                    }
                }
                assert_eq!(fate, if gone { 2 } else { 1 }, "square {square} at ply {index}");
                stay += usize::from(!gone);
                taken += usize::from(gone);
                moved_and_taken += usize::from(gone && at != Square::new(square));
            }
        }
    }
    assert!(stay > 100 && taken > 20 && moved_and_taken > 5, "{stay} stay, {taken} and {moved_and_taken} are taken");
}

#[test]
fn the_end_has_a_way_and_a_place() {
    let mut seen = std::collections::BTreeSet::new();
    for number in 0..60 {
        let game = random_game([Preset::Brandubh, Preset::Tablut][number as usize % 2], number);
        let size = game.rules.size;
        let end = game.final_position().unwrap();
        let reason = game.outcome.unwrap().reason();
        let symmetry = Symmetry::ALL[number as usize % 8];
        let found = auxiliary(&game, game.plies.len() / 2, symmetry).ending.unwrap();
        let last = game.plies.last().unwrap().mv;
        match (reason, found) {
            (Reason::KingEscaped, Ending::King(0, square)) => {
                assert_eq!(square, symmetry.square(last.to(), size).index(), "where the last move ended");
            }
            (Reason::KingCaptured, Ending::King(2, square)) => {
                let square = symmetry.inverse().square(Square::new(square), size);
                let mut replay = game.replay().unwrap();
                for _ in 1..game.plies.len() {
                    replay.step().unwrap();
                }
                assert_eq!(replay.position().board().piece_at(square), Some(Piece::King));
                assert_eq!(end.board().piece_at(square), None);
            }
            (Reason::Repetition, Ending::Other(1))
            | (Reason::NoMoves, Ending::Other(3))
            | (Reason::PlyCap, Ending::Other(5)) => {}
            other => panic!("game {number}: {other:?}"),
        }
        seen.insert(reason.as_str());
    }
    assert!(seen.contains("king_escaped") && seen.contains("king_captured"), "{seen:?}");
    let places: Vec<_> =
        [Ending::King(0, 3), Ending::King(2, 48), Ending::Other(0)].iter().map(|end| end.index(49)).collect();
    assert_eq!(places, [Some(3), Some(146), Some(147)]);
}

#[test]
fn a_resignation_hides_what_would_have_come() {
    let mut game = random_game(Preset::Brandubh, 6);
    game.plies.truncate(SOON as usize + 3);
    (game.outcome, game.resigned) = (None, Some(Side::Attackers));
    let seen = |index| auxiliary(&game, index, Symmetry::IDENTITY);
    assert_eq!(seen(2).ending, Some(Ending::Unseen));
    assert!(seen(3).captured.unwrap().iter().any(|&fate| fate > 0), "just enough plies were played");
    assert!(seen(4).captured.unwrap().iter().all(|&fate| fate == 0));
    // The result counts in the values, with the defenders to move at the last ply's end or the attackers.
    let won = seen(game.plies.len() - 1).short_values.unwrap()[0];
    assert_eq!(won, if (game.plies.len() - 1).is_multiple_of(2) { [0.0, 0.0, 1.0] } else { [1.0, 0.0, 0.0] });
}

#[test]
fn surprise_changes_which_plies_are_drawn() {
    let mut games: Vec<GameRecord> = (20..24).map(|number| random_game(Preset::Brandubh, number)).collect();
    let batch = |games: &[GameRecord], share| {
        Sampler::new(games, 7, mixed(0.0)).by_surprise(share).batch(3, 64, 1).unwrap().remove(0)
    };
    assert_eq!(batch(&games, 0.0), Sampler::new(&games, 7, mixed(0.0)).batch(3, 64, 1).unwrap().remove(0));
    assert_eq!(batch(&games, 1.0), batch(&games, 0.0), "no search changed a value: nothing to tell plies apart by");
    // One ply surprises: it is drawn every time.
    let index = games[2].plies.iter().position(|ply| ply.trains).unwrap();
    games[2].plies[index].searched = Wdl::LOSS;
    let only = row(&games[2], index, Symmetry::IDENTITY, &mixed(0.0)).unwrap();
    let batch = batch(&games, 1.0);
    assert!(batch.moves_left.iter().all(|&left| left == only.moves_left), "{:?}", batch.moves_left);
}
