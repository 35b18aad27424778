//! A person against a small player of one's own, on the terminal board.
//!
//! `cargo run --release -p hnefi-play --example board -- [RULES] [attackers|defenders|both|watch] [plain]`

use std::error::Error;
use std::time::Duration;

use hnefi_arena::players::{Choice, Player, PlayerError};
use hnefi_engine::{Game, MoveList, Preset, Side};
use hnefi_inference::Wdl;
use hnefi_play::{Seat, Table, plain, terminal};
use hnefi_search::Rng;
use rand::RngExt;

/// Wins if it can at once, else captures if it can, else moves at random.
struct Grabber;

impl Player for Grabber {
    fn name(&self) -> &str {
        "grabber"
    }

    fn new_game(&mut self) {}

    fn choose(&mut self, game: &Game, rng: &mut Rng) -> Result<Choice, PlayerError> {
        let position = game.position();
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let mover = position.side_to_move();
        let mut best = (-1.0, moves[0]);
        for &mv in moves.iter() {
            let mut after = position.clone();
            let captured = after.advance(mv).len() as f64;
            let wins = after.outcome().is_some_and(|outcome| outcome.winner() == Some(mover));
            let worth = captured + rng.random::<f64>() + if wins { 100.0 } else { 0.0 };
            if worth > best.0 {
                best = (worth, mv);
            }
        }
        std::thread::sleep(Duration::from_millis(400));
        let men = [position.board().attackers().len() as f32, 2.0 * position.board().defenders().len() as f32];
        let win = (0.5 + 0.03 * (men[mover.index()] - men[mover.opponent().index()])).clamp(0.05, 0.95);
        let wdl = Wdl { win, draw: 0.02, loss: 0.98 - win };
        Ok(Choice { mv: best.1, wdl: Some(wdl), playouts: moves.len() as u32, evaluations: 0 })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, usual: &'static str| arguments.get(index).map_or(usual, String::as_str);
    let preset = Preset::from_name(argument(0, "brandubh")).ok_or("no such rules")?;
    let person = argument(1, "attackers");
    let seats = Side::BOTH.map(|side| -> Seat<Box<dyn Player>> {
        if person == side.as_str() || person == "both" { Seat::Person } else { Seat::Player(Box::new(Grabber)) }
    });
    let table = Table {
        rules: preset.rules(),
        start: None,
        seats,
        adviser: Some(Box::new(Grabber)),
        seed: 1,
        folder: std::env::temp_dir(),
        pace: Duration::from_millis(700),
    };
    if argument(2, "") == "plain" {
        plain::run(table, std::io::stdin().lock(), std::io::stdout().lock())?;
    } else {
        terminal::run(table, terminal::Theme::from_environment())?;
    }
    Ok(())
}
