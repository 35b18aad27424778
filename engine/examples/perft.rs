//! Counts the move tree of a ruleset's start position: `cargo run --release --example perft -- copenhagen 4`. A rules
//! record stands for a ruleset too.
//!
//! With a third argument `made` every move of the last ply is made and its outcome tested, with `games` that many
//! random games are played to their ends instead: 200 for each unit of depth.

use std::time::Instant;

use hnefi_engine::{NamedRules, Position, perft, perft_made};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default| arguments.get(index).map_or(default, String::as_str);
    let named = argument(0, "copenhagen").parse::<NamedRules>()?;
    let depth: u32 = argument(1, "4").parse()?;
    let mut position = Position::start(&named.rules());
    let begun = Instant::now();
    let (count, what) = match argument(2, "counted") {
        "made" => (perft_made(&mut position, depth), "moves made"),
        "games" => (random_games(&position, 200 * depth), "plies of random games"),
        _ => (perft(&mut position, depth), "leaves"),
    };
    let seconds = begun.elapsed().as_secs_f64();
    println!("{named} {depth}: {count} {what}, {seconds:.3} s, {:.1} million/s", count as f64 / seconds / 1e6);
    Ok(())
}

/// Plays random games and returns their plies.
fn random_games(start: &Position, games: u32) -> u64 {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut position = start.clone();
    let mut plies = 0;
    for _ in 0..games {
        position.clone_from(start);
        while let Some(mv) = position.random_move(|count| rng.random_range(0..count)) {
            position.advance(mv);
        }
        plies += u64::from(position.ply());
    }
    plies
}
