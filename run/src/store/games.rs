//! Reads recorded games: one file, or all games of a run without its damaged files.

use std::path::Path;

use super::layout::LARGEST_GAMES;
use super::{Store, StoreError, games_number};
use crate::codec::{GameReader, decode_games};
use hnefi_inference::file;
use hnefi_record::{GameRecord, RecordError};

/// A file that could not be read, with the reason.
#[derive(Debug, thiserror::Error)]
#[error("skipped {problem}")]
pub struct DamagedFile {
    /// Key of the file in its run.
    pub key: String,
    /// What is wrong; names the file.
    pub problem: RecordError,
}

/// Opens a file of games.
///
/// # Errors
/// When the file cannot be read, is not a record file, or is damaged.
pub fn read_games(path: &Path) -> Result<GameReader<Vec<u8>>, RecordError> {
    let file = path.display().to_string();
    match file::read(path, LARGEST_GAMES) {
        Ok(bytes) => GameReader::new(file, bytes),
        Err(source) => Err(RecordError::Unreadable { file, source }),
    }
}

/// The games of a run by generation, oldest first, and the skipped files.
pub type RunGames = (Vec<(u32, Vec<GameRecord>)>, Vec<DamagedFile>);

/// Reads all games of a run, skipping damaged files.
///
/// # Errors
/// When the store itself cannot be read.
pub fn read_run_games(store: &Store) -> Result<RunGames, StoreError> {
    let (mut read, mut skipped) = (Vec::new(), Vec::new());
    for key in store.list("games/")? {
        let Some(generation) = games_number(&key) else { continue };
        let games = match store.get(&key) {
            Ok(bytes) => decode_games(&store.name(&key), &bytes),
            Err(StoreError::Unfit { problem, .. }) => {
                Err(RecordError::Unreadable { file: store.name(&key), source: std::io::Error::other(problem) })
            }
            Err(error) => return Err(error),
        };
        match games {
            Ok(games) => read.push((generation, games)),
            Err(problem) => skipped.push(DamagedFile { key, problem }),
        }
    }
    Ok((read, skipped))
}
