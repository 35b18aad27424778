//! The search against a plain minimax, and positions with a known answer.

use hnefi_engine::{Game, Position, Preset, Side};
use rand::RngExt;

use super::*;
use crate::rng_for;

/// What the search must find, without any of its shortcuts but the same leaves.
fn minimax(position: &mut Position, depth: u32, ply: i32) -> i32 {
    if let Some(outcome) = position.outcome() {
        return value_of(outcome, position, ply);
    }
    let mut moves = MoveList::new();
    if immediate_finish(position, &mut moves).is_some() {
        return WIN - ply - 1;
    }
    if depth == 0 && !evaluation::king_threatens(position) {
        return evaluation::evaluate(position);
    }
    position.legal_moves(&mut moves);
    let value = |&mv: &Move| {
        let undo = position.play_unchecked(mv);
        let value = -minimax(position, depth.saturating_sub(1), ply + 1);
        position.undo(undo);
        value
    };
    moves.iter().map(value).max().expect("the game goes on")
}

fn candidates(position: &Position) -> Vec<Candidate> {
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    moves.iter().map(|&mv| Candidate { mv, bonus: 0, value: 0 }).collect()
}

fn play(game: &Game, depth: u32) -> AlphaBetaFound {
    AlphaBeta::new(depth).search(game.position(), &mut rng_for(&[5])).expect("the game goes on")
}

#[test]
fn finds_the_value_of_a_plain_minimax() {
    for (number, preset) in [Preset::Brandubh, Preset::Tablut].into_iter().enumerate() {
        for game in 0..10 {
            let mut rng = rng_for(&[11, number as u64, game]);
            let mut position = Position::start(&preset.rules());
            for _ in 0..8 + 2 * game {
                let Some(mv) = position.random_move(|n| rng.random_range(0..n)) else { break };
                position.play_unchecked(mv);
            }
            let depth = if preset == Preset::Brandubh { 3 } else { 2 };
            if position.outcome().is_some() || immediate_finish(&position, &mut MoveList::new()).is_some() {
                continue;
            }
            let expected = minimax(&mut position.clone(), depth, 0);
            let mut search = Search::new(depth);
            search.ordering.new_search(position.size());
            let mut found = (NO_MOVE, 0);
            let mut candidates = candidates(&position);
            for depth in 1..=depth {
                found = search.root(&mut position.clone(), depth, &mut candidates);
            }
            assert_eq!(found.1, expected, "{} at depth {depth}", position.fen());
        }
    }
}

const NO_MOVE: Move = Move::new(hnefi_engine::Square::new(0), hnefi_engine::Square::new(0));

#[test]
fn takes_a_win_in_one_for_both_sides() {
    for (fen, winner) in
        [("7/3a3/3a3/aa3aa/3d2k/3a3/3a3 d", Side::Defenders), ("7/1ak4/7/2d4/7/7/3a3 a", Side::Attackers)]
    {
        let mut game = Game::from_fen(&Preset::Brandubh.rules(), fen).expect("a legal position");
        let choice = play(&game, 1);
        assert_eq!(choice.wdl, Some(Wdl::WIN));
        game.play(choice.mv).expect("a legal move");
        assert_eq!(game.outcome().and_then(Outcome::winner), Some(winner), "{fen}");
    }
}

#[test]
fn the_same_random_numbers_give_the_same_game_and_others_another() {
    let game = |seed: u64| {
        let mut game = Game::new(&Preset::Brandubh.rules());
        let mut player = AlphaBeta::new(2);
        let mut rng = rng_for(&[seed]);
        player.new_game();
        while game.outcome().is_none() && game.len() < 12 {
            let mv = player.search(game.position(), &mut rng).expect("the game goes on").mv;
            game.play(mv).expect("a legal move");
        }
        game.moves().collect::<Vec<_>>()
    };
    assert_eq!(game(1), game(1));
    assert!((2..6).any(|seed| game(seed) != game(1)));
}

#[test]
fn a_new_game_forgets_the_old_one() {
    let start = Game::new(&Preset::Brandubh.rules());
    let fresh = play(&start, 3);
    let mut player = AlphaBeta::new(3);
    let mut later = start.clone();
    for _ in 0..4 {
        let mv = player.search(later.position(), &mut rng_for(&[9])).expect("the game goes on").mv;
        later.play(mv).expect("a legal move");
    }
    player.new_game();
    assert_eq!(player.search(start.position(), &mut rng_for(&[5])).expect("the game goes on"), fresh);
}
