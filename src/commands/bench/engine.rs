//! The rules.

use std::hint::black_box;

use hnefi_engine::{Bitboard, BoardSize, MoveList, Position, Square, perft, perft_made};
use hnefi_search::rng_for;
use rand::RngExt;
use rayon::prelude::*;

use super::measure::Effort;
use super::{Figure, Report, preset};
use crate::cli::Stage;

/// Leaves of perft 4 from the 11x11 start.
const LEAVES: u64 = 50_456_804;

/// Measures making moves, counting and random games.
pub(super) fn run(effort: Effort, report: &mut Report) -> anyhow::Result<()> {
    let size = BoardSize::ELEVEN;
    let figure = |name, size, threads, value, unit, peak| Figure {
        peak: Some(peak),
        ..Figure::new(Stage::Engine, name, size, threads, value, unit)
    };
    for threads in effort.thread_counts() {
        let bare = bare_moves(effort, threads);
        let made = effort.rate_on(threads, |_| {
            let mut position = Position::start(&preset(size).rules());
            move || perft_made(&mut position, 3)
        });
        report.add(figure("perft 3, all moves made", size, threads, made, "moves/s", bare))?;
        // Perft counts the leaves and makes the moves that lead to their parents.
        let inner = perft(&mut Position::start(&preset(size).rules()), 3);
        let milliseconds = 1e3 * seconds_of_perft_4(effort, threads)?;
        report.add(figure("perft 4, leaves counted", size, threads, milliseconds, "ms", 1e3 * inner as f64 / bare))?;
        for size in super::SIZES {
            let plies = effort.rate_on(threads, |thread| random_games(size, thread));
            report.add(figure("random games", size, threads, plies, "plies/s", bare))?;
        }
    }
    Ok(())
}

/// Moves per second that only move a piece and update a hash, without any rules.
fn bare_moves(effort: Effort, threads: usize) -> f64 {
    effort.rate_on(threads, |thread| {
        let mut rng = rng_for(&[3, thread as u64]);
        let mut draw = || rng.random_range(0..121_usize);
        let moves: Vec<(Square, Square)> = (0..512).map(|_| (Square::new(draw()), Square::new(draw()))).collect();
        let keys: Vec<u64> = (0..121).map(|_| rng.random()).collect();
        let mut men = Bitboard::EMPTY;
        move || {
            let mut hash = 0;
            for &(from, to) in &moves {
                men = (men | Bitboard::of(to)).without(Bitboard::of(from));
                hash ^= keys[from.index()] ^ keys[to.index()];
                black_box((men, hash));
            }
            moves.len() as u64
        }
    })
}

fn seconds_of_perft_4(effort: Effort, threads: usize) -> anyhow::Result<f64> {
    let start = Position::start(&preset(BoardSize::ELEVEN).rules());
    let count = |mut position: Position, depth| perft(&mut position, depth);
    if threads == 1 {
        return Ok(effort.seconds_of(|| assert_eq!(count(start.clone(), 4), LEAVES)));
    }
    let mut moves = MoveList::new();
    start.legal_moves(&mut moves);
    let after: Vec<Position> = moves
        .iter()
        .map(|&mv| {
            let mut position = start.clone();
            position.advance(mv);
            position
        })
        .collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    Ok(effort.seconds_of(|| {
        let leaves: u64 = pool.install(|| after.par_iter().map(|position| count(position.clone(), 3)).sum());
        assert_eq!(leaves, LEAVES);
    }))
}

/// Uniformly random games to their ends.
fn random_games(size: BoardSize, thread: usize) -> impl FnMut() -> u64 {
    let mut rng = rng_for(&[4, thread as u64]);
    let start = Position::start(&preset(size).rules());
    let mut position = start.clone();
    move || {
        position.clone_from(&start);
        while let Some(mv) = position.random_move(|count| rng.random_range(0..count)) {
            position.advance(mv);
        }
        u64::from(position.ply())
    }
}
