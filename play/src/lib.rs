//! How people and programs meet a checkpoint, in lines of text.
//!
//! A [`PlaySetup`] says what is played and who sits at it, and [`plain::run`] plays it line by line over any reader and
//! writer, by a [`hnefi_record::Session`]. [`watch`] says how a training run is doing. [`uci::run`] puts a checkpoint
//! behind a text protocol for other programs. The boards that are drawn, in the terminal and in a browser, are in
//! `app/`.

pub mod plain;
mod save;
#[cfg(test)]
mod scripted;
mod setup;
pub mod uci;
pub mod watch;

pub use save::{save, save_numbered};
pub use setup::PlaySetup;

use std::path::PathBuf;

use hnefi_arena::players::PlayerError;

/// The most threads that search one tree unless more are asked for: they share it behind one lock.
const MOST_SEARCH_THREADS: usize = 4;

/// Default number of threads that search one tree together: one per core, at most 4.
pub fn search_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MOST_SEARCH_THREADS))
}

/// Why a game could not be begun, continued or saved.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The start position does not stand under these rules.
    #[error("the start position: {0}")]
    Start(#[from] hnefi_engine::FenError),
    /// A player failed to choose a move.
    #[error("{name} could not choose a move: {problem}")]
    Player {
        /// The player's name.
        name: String,
        /// What it said.
        problem: String,
    },
    /// A player chose a move the rules forbid.
    #[error("{name} chose an {illegal}")]
    PlayerCheats {
        /// The player's name.
        name: String,
        /// The move and the rule against it.
        illegal: hnefi_engine::IllegalMove,
    },
    /// The network asked for cannot be used.
    #[error("{problem}")]
    Network {
        /// Why not.
        problem: String,
    },
    /// A run that is watched cannot be read.
    #[error(transparent)]
    Run(#[from] hnefi_run::store::StoreError),
    /// Resigning needs a person whose turn it is or whose game it is.
    #[error(transparent)]
    NoResignation(#[from] hnefi_record::NoResignation),
    /// A file name that does not say how to save.
    #[error("cannot save as {path}: expected a name ending in .pgn or .jsonl, without ~")]
    SaveName {
        /// The name given.
        path: PathBuf,
    },
    /// The game could not be written.
    #[error("the game was not saved: {0}")]
    Save(#[from] hnefi_data::DataError),
    /// The terminal or the streams failed.
    #[error("{doing}: {source}")]
    Stream {
        /// What was being done.
        doing: &'static str,
        /// What went wrong.
        source: std::io::Error,
    },
}

impl PlayError {
    /// A player of this name could not choose a move.
    pub fn of_player(name: &str, error: PlayerError) -> PlayError {
        // The name is said once.
        let problem = match error {
            PlayerError::Program { error, .. } => error.problem,
            error => error.to_string(),
        };
        PlayError::Player { name: name.to_owned(), problem }
    }

    /// For `map_err` on the streams of a board.
    pub fn stream(doing: &'static str) -> impl Fn(std::io::Error) -> PlayError {
        move |source| PlayError::Stream { doing, source }
    }
}

#[cfg(test)]
mod tests {
    use hnefi_arena::players::{ProgramError, ProgramErrorKind};

    use super::*;

    #[test]
    fn the_name_of_a_player_that_failed_is_said_once() {
        let error = ProgramError { kind: ProgramErrorKind::Crash, problem: "the program ended".to_owned() };
        let error = PlayError::of_player("uci:x", PlayerError::Program { player: "uci:x".to_owned(), error });
        assert_eq!(error.to_string(), "uci:x could not choose a move: the program ended");
    }
}
