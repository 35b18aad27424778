//! A bot in a hundred lines: alpha-beta over a handful of terms, playing both sides of a game.
//!
//! `cargo run --release --example bot -- brandubh 3`: the ruleset and the plies it looks ahead.

use hnefi_engine::{Bitboard, Game, GameResult, Move, MoveList, Position, Preset, Side};

/// The value of a won game; a sooner win is worth more.
const WON: i32 = 10_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default| arguments.get(index).map_or(default, String::as_str);
    let rules = argument(0, "brandubh").parse::<Preset>()?.rules();
    let depth: u32 = argument(1, "3").parse()?;
    let mut game = Game::new(&rules);
    while game.outcome().is_none() && game.len() < 200 {
        let mut position = game.position().clone();
        let Some((mv, value)) = best_move(&mut position, depth) else { break };
        println!("{:>3}. {:<9} {} ({value})", game.len() + 1, position.side_to_move(), mv.text(rules.size()));
        game.play(mv)?;
    }
    print!("{}", game.position().diagram());
    match game.outcome() {
        Some(outcome) => println!("{outcome}"),
        None => println!("not over after {} plies", game.len()),
    }
    Ok(())
}

/// The best move by a search of `depth` plies, at least one, and its value to the side to move; `None` when the game is
/// over.
fn best_move(position: &mut Position, depth: u32) -> Option<(Move, i32)> {
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    let mut best: Option<(Move, i32)> = None;
    for &mv in &moves {
        let bound = best.map_or(-WON - 1, |(_, value)| value);
        let undo = position.play_unchecked(mv);
        let value = -search(position, depth.saturating_sub(1), -WON - 1, -bound);
        position.undo(undo);
        if value > bound {
            best = Some((mv, value));
        }
    }
    best
}

/// The value of a position to its side to move, between `alpha` and `beta` as far as that matters.
fn search(position: &mut Position, depth: u32, mut alpha: i32, beta: i32) -> i32 {
    if let Some(outcome) = position.outcome() {
        return match outcome.result_for(position.side_to_move()) {
            GameResult::Win => WON - position.ply() as i32,
            GameResult::Draw => 0,
            GameResult::Loss => position.ply() as i32 - WON,
        };
    }
    if depth == 0 {
        return evaluate(position);
    }
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    for &mv in &moves {
        let undo = position.play_unchecked(mv);
        let value = -search(position, depth - 1, -beta, -alpha);
        position.undo(undo);
        alpha = alpha.max(value);
        if alpha >= beta {
            break;
        }
    }
    alpha
}

/// Men, a defender worth two attackers, and the goals within reach of the king, as the side to move sees it.
fn evaluate(position: &Position) -> i32 {
    let board = position.board();
    let men = 2 * board.defenders().len() as i32 - board.attackers().len() as i32;
    let king = board.king().map_or(Bitboard::EMPTY, Bitboard::of);
    let one_move = position.king_destinations(king);
    let goals = position.king_goals();
    let gates = position.king_destinations(one_move - goals) & goals;
    let value = 10 * men + 40 * (one_move & goals).len() as i32 + 5 * gates.len() as i32 + one_move.len() as i32;
    match position.side_to_move() {
        Side::Defenders => value,
        Side::Attackers => -value,
    }
}
