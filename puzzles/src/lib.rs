//! Hnefatafl positions with one answer, found in games and proven by exhaustive search.
//!
//! [`Solver`] proves forced wins. [`mine`](fn@mine) looks through a game for positions in which one move wins by force,
//! or one move alone does not lose. [`shipped`] is the collection that comes with the program: for people it is a book
//! of puzzles, for networks a test suite with known answers.
//!
//! ```
//! let puzzles = hnefi_puzzles::shipped();
//! let position = puzzles[0].position()?;
//! assert!(puzzles[0].answers.contains(&puzzles[0].line[0]));
//! assert!(position.outcome().is_none());
//! # Ok::<(), hnefi_puzzles::PuzzleError>(())
//! ```

mod forced;
mod mine;
mod puzzle;

pub use forced::{OutOfBudget, Solver};
pub use mine::{MineParams, mine, orbit};
pub use puzzle::{Puzzle, PuzzleError, Theme, read, write};

/// The collection that comes with the program, sorted by ruleset, theme and length.
pub fn shipped() -> Vec<Puzzle> {
    read(include_str!("../puzzles.jsonl")).expect("a test reads the collection")
}

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
