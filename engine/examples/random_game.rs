//! Plays a random game and shows it: `cargo run --release --example random_game -- brandubh 7`.
//!
//! The arguments are the ruleset and the seed.

use hnefi_engine::{Game, Preset};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default| arguments.get(index).map_or(default, String::as_str);
    let rules = argument(0, "brandubh").parse::<Preset>()?.rules();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(argument(1, "1").parse()?);
    let mut game = Game::new(&rules);
    while let Some(mv) = game.position().random_move(|count| rng.random_range(0..count)) {
        let number = game.len() + 1;
        let ply = game.play(mv)?;
        let captured: String = ply.captured.map(|square| format!("x{}", square.name(rules.size()))).collect();
        println!("{number:>3}. {:<9} {}{captured}", ply.side, mv.text(rules.size()));
    }
    print!("{}", game.position().diagram());
    if let Some(outcome) = game.outcome() {
        println!("{outcome} after {} plies", game.len());
    }
    Ok(())
}
