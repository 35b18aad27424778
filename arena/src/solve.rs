//! Players before puzzles: positions whose right moves are proven.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};

use hnefi_engine::Game;
use hnefi_puzzles::Puzzle;
use hnefi_search::rng_for;

use crate::MatchError;
use crate::duel::POLL;
use crate::players::{ModelCache, PlayerError, PlayerSpec};

/// Lets a player choose a move in the position of every puzzle, and returns whether each puzzle was solved; fewer when
/// the observer stopped. `observer` hears the number of puzzles done, several times a second, and returns whether to go
/// on. An external program that breaks off has not solved the puzzle.
///
/// For players without clocks the answer depends on the seed and not on the number of threads.
///
/// # Errors
/// When a puzzle's position cannot be read, or the player cannot be built or fails.
pub fn solve(
    player: &PlayerSpec,
    puzzles: &[Puzzle],
    threads: usize,
    seed: u64,
    models: &mut ModelCache,
    observer: &mut dyn FnMut(usize) -> bool,
) -> Result<Vec<bool>, MatchError> {
    let mut games = Vec::with_capacity(puzzles.len());
    for puzzle in puzzles {
        let position = puzzle.position().map_err(|error| MatchError::Params { problem: error.to_string() })?;
        games.push(Game::from_position(position));
    }
    let workers = (0..threads.clamp(1, puzzles.len().max(1))).map(|_| player.build(models));
    let workers = workers.collect::<Result<Vec<_>, PlayerError>>()?;
    let (next, stop) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
    let (sender, receiver) = mpsc::channel();
    let mut solved = vec![None; puzzles.len()];
    std::thread::scope(|scope| {
        for mut worker in workers {
            worker.stop_by(&stop);
            let (sender, games, next, stop) = (sender.clone(), &games, &next, &*stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(game) = games.get(index) else { return };
                    worker.new_game();
                    let choice = match worker.choose(game, &mut rng_for(&[seed, index as u64])) {
                        Ok(choice) => Ok(puzzles[index].answers.contains(&choice.mv)),
                        Err(PlayerError::Program { .. }) => Ok(false),
                        Err(PlayerError::Stopped { .. }) => return,
                        Err(error) => Err(error),
                    };
                    if sender.send((index, choice)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut done = 0;
        loop {
            match receiver.recv_timeout(POLL) {
                Ok((index, answer)) => {
                    solved[index] = Some(answer.inspect_err(|_| stop.store(true, Ordering::Relaxed))?);
                    done += 1;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok::<(), PlayerError>(()),
            }
            if !observer(done) {
                stop.store(true, Ordering::Relaxed);
            }
        }
    })?;
    Ok(solved.into_iter().map_while(|answer| answer).collect())
}
