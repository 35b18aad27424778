//! Games as files.

use std::path::{Path, PathBuf};

use hnefi_data::{ExportParams, Format, export};
use hnefi_run::GameRecord;

use crate::PlayError;

/// Saves a game under a name that ends in `.pgn` or `.jsonl`. A file that exists is left as it is.
///
/// # Errors
/// When the ending is another one, the file exists or cannot be written.
pub fn save(game: GameRecord, path: &Path) -> Result<(), PlayError> {
    // No shell has read it: it would become a folder of that name.
    if path.to_string_lossy().starts_with('~') {
        return Err(PlayError::SaveName { path: path.to_owned() });
    }
    let format = match path.extension().and_then(|ending| ending.to_str()) {
        Some("pgn") => Format::Pgn,
        Some("jsonl") => Format::Jsonl,
        _ => return Err(PlayError::SaveName { path: path.to_owned() }),
    };
    export([game], &ExportParams::new(format), path)?;
    Ok(())
}

/// Saves a game as `game-0001.pgn` and `game-0001.jsonl` under the first free number in a folder; returns both paths.
///
/// # Errors
/// When a file cannot be written.
pub fn save_numbered(game: &GameRecord, folder: &Path) -> Result<[PathBuf; 2], PlayError> {
    let names = |number: u32| ["pgn", "jsonl"].map(|ending| folder.join(format!("game-{number:04}.{ending}")));
    let free = (1..).map(names).find(|paths| paths.iter().all(|path| !path.exists()));
    let paths = free.expect("the numbers do not run out before the disk does");
    for path in &paths {
        save(game.clone(), path)?;
    }
    Ok(paths)
}
