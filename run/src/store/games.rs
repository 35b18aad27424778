//! Reads a file of recorded games.

use std::path::Path;

use super::layout::LARGEST_GAMES;
use crate::codec::GameReader;
use hnefi_inference::file;
use hnefi_record::RecordError;

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
