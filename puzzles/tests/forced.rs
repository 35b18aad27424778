//! The solver against a plain minimax, and positions whose answers a person can see.

use hnefi_engine::{Game, Move, MoveList, Position, Preset, Side};
use hnefi_puzzles::{MineParams, Solver, mine};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const BUDGET: u64 = 50_000_000;

/// Whether `side` wins within `plies` plies by plain minimax.
fn wins(position: &Position, side: Side, plies: u32) -> bool {
    if let Some(outcome) = position.outcome() {
        return outcome.winner() == Some(side);
    }
    if plies == 0 {
        return false;
    }
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    let mut after = moves.iter().map(|&mv| {
        let mut after = position.clone();
        after.advance(mv);
        wins(&after, side, plies - 1)
    });
    if position.side_to_move() == side { after.any(|won| won) } else { after.all(|won| won) }
}

/// The moves after which the answer of minimax is `expected`.
fn moves_with(position: &Position, side: Side, plies: u32, expected: bool) -> Vec<Move> {
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    moves.retain(|mv| {
        let mut after = position.clone();
        after.advance(mv);
        wins(&after, side, plies) == expected
    });
    moves.to_vec()
}

/// A game of random moves.
fn random_game(rules: Preset, rng: &mut Xoshiro256PlusPlus) -> Game {
    let mut game = Game::new(&rules.rules());
    while game.outcome().is_none() && game.len() < 200 {
        let mv = game.position().random_move(|count| rng.random_range(0..count)).expect("the game goes on");
        game.play(mv).expect("a legal move");
    }
    game
}

#[test]
fn answers_are_those_of_minimax() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut solver = Solver::new(BUDGET);
    let (mut won, mut only) = (0, 0);
    for number in 0..60 {
        let rules = if number % 2 == 0 { Preset::Brandubh } else { Preset::Tablut };
        let game = random_game(rules, &mut rng);
        for back in 1..game.len().min(5) {
            let position = game.position_at(game.len() - back).expect("a position of the game");
            let side = position.side_to_move();
            let plies = if rules == Preset::Brandubh { 3 } else { 1 };
            let expected = (1..=plies).step_by(2).find(|&plies| wins(&position, side, plies));
            assert_eq!(solver.shortest_win(&position, plies), Ok(expected), "{}", position.fen());
            let winning = solver.winning_moves(&position, plies).expect("within the budget");
            assert_eq!(winning, moves_with(&position, side, plies - 1, true), "{}", position.fen());
            let safe = solver.safe_moves(&position, 1, usize::MAX).expect("within the budget");
            assert_eq!(safe, moves_with(&position, side.opponent(), 1, false), "{}", position.fen());
            won += usize::from(expected == Some(3));
            only += usize::from(safe.len() == 1);
        }
    }
    assert!(won >= 5 && only >= 5, "{won} wins in three plies and {only} only moves are too few to tell");
}

#[test]
fn lines_take_the_longest_defence_and_end_the_game() {
    // Whichever line the attackers close, the king has another corner.
    let rules = Preset::Brandubh.rules();
    let position = Position::from_fen(&rules, "7/1k5/7/a5a/7/7/7 d").expect("a position");
    let mut solver = Solver::new(BUDGET);
    assert_eq!(solver.shortest_win(&position, 5), Ok(Some(3)));
    let line = solver.line(&position, 5).expect("within the budget").expect("a win");
    let mut game = Game::from_position(position.clone());
    for &mv in &line {
        game.play(mv).expect("a legal move");
    }
    assert_eq!(line.len(), 3);
    assert_eq!(game.outcome().map(|outcome| outcome.to_string()).as_deref(), Some("defenders by king_escaped"));
    assert_eq!(solver.line(&Position::start(&rules), 3), Ok(None));
}

#[test]
fn nobody_wins_in_no_ply() {
    let position = Position::from_fen(&Preset::Brandubh.rules(), "7/7/5a1/7/7/7/1k5 d").expect("a position");
    let mut solver = Solver::new(BUDGET);
    let winning = solver.winning_moves(&position, 1).expect("within the budget");
    assert!(!winning.is_empty(), "the king has a corner");
    assert_eq!(solver.winning_moves(&position, 0), Ok(Vec::new()));
    assert_eq!([1, 0].map(|plies| solver.wins_by(&position, winning[0], plies)), [Ok(true), Ok(false)]);
}

#[test]
fn a_budget_is_kept() {
    let start = Position::start(&Preset::Copenhagen.rules());
    let mut solver = Solver::new(1_000);
    let error = solver.shortest_win(&start, 5).expect_err("a thousand positions are too few");
    assert_eq!(error.to_string(), "no answer within 1000 positions");
    assert_eq!(Solver::new(1_000).shortest_win(&start, 1), Ok(None));
}

#[test]
fn puzzles_of_games_can_be_checked_again() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let params = MineParams { longest: 3, last: 6, ..MineParams::default() };
    let mut found = 0;
    for _ in 0..40 {
        for puzzle in mine(Preset::Brandubh, &random_game(Preset::Brandubh, &mut rng), &params) {
            puzzle.check(BUDGET).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(puzzle.answers.len(), 1);
            let mut wrong = puzzle.clone();
            wrong.answers.clear();
            assert!(wrong.check(BUDGET).unwrap_err().to_string().contains("the right moves are"), "{wrong:?}");
            found += 1;
        }
    }
    assert!(found >= 10, "{found} puzzles");
}
