//! The search as its callers see it: golden trees, properties over random positions, tactics against plain minimax, and
//! every way of driving it.

mod driving;
mod golden;
mod minimax;
mod properties;
mod tactics;
mod threads;

use hnefi_engine::{MoveList, Position, Preset};
use hnefi_inference::{Evaluations, Evaluator};
use hnefi_search::rng_for;
use hnefi_search::{RootKind, Search, SearchConfig, SearchReport, run_to_end};
use rand_xoshiro::rand_core::Rng as _;

/// The default config with this root.
fn config(root: RootKind) -> SearchConfig {
    // The golden trees were made with this scale, even if another one plays better today.
    SearchConfig { root, c_scale: 0.3, ..SearchConfig::default() }
}

const ROOTS: [RootKind; 2] = [RootKind::Gumbel, RootKind::Puct];

fn start(preset: Preset) -> Position {
    Position::start(&preset.rules())
}

/// Runs a search to its end with an evaluator that never fails.
fn run(search: &mut Search, evaluator: &mut dyn Evaluator) -> SearchReport {
    run_to_end(search, evaluator, &mut Evaluations::new()).expect("test evaluators never fail");
    search.report()
}

/// The number of visits of all moves.
fn visits(report: &SearchReport) -> u32 {
    report.moves.iter().map(|mv| mv.visits).sum()
}

/// A fresh deterministic search run to its end.
fn search(root: RootKind, position: &Position, playouts: u32, evaluator: &mut dyn Evaluator) -> SearchReport {
    let mut search = Search::new(config(root));
    search.begin(position, playouts, None);
    let report = run(&mut search, evaluator);
    assert!(search.is_finished());
    report
}

/// Positions of games between random players that are not over, a few from each game.
fn random_positions(preset: Preset, count: u64, seed: u64) -> Vec<Position> {
    let mut positions = Vec::new();
    for game in 0.. {
        let mut rng = rng_for(&[seed, game]);
        let mut position = Position::start(&preset.rules());
        while position.outcome().is_none() {
            if rng.next_u64().is_multiple_of(12) {
                positions.push(position.clone());
                if positions.len() as u64 == count {
                    return positions;
                }
            }
            let mv = position.random_move(|n| (rng.next_u64() % n as u64) as usize).expect("the game goes on");
            position.play_unchecked(mv);
        }
    }
    positions
}

/// The legal moves of a position.
fn legal_moves(position: &Position) -> MoveList {
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    moves
}
