//! Reads recorded games from run directories and record files, one file at a time.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::bail;
use hnefi_data::SourceGame;
use hnefi_inference::printable;
use hnefi_run::store::{Store, games_number, read_games};
use hnefi_run::{GameReader, GameRecord, RecordError};
use indicatif::ProgressBar;

use crate::progress;

/// A record file that is not read yet.
pub struct RecordFile {
    path: PathBuf,
    /// Generation in its run.
    pub generation: Option<u32>,
    bytes: u64,
}

/// The record files of all sources; the files of a run are oldest first.
pub fn record_files(sources: &[PathBuf]) -> anyhow::Result<Vec<RecordFile>> {
    let mut files = Vec::new();
    for source in sources {
        if source.is_file() {
            files.push(RecordFile::new(source.clone(), None));
        } else if source.is_dir() {
            let before = files.len();
            let store = Store::open_to_read(source)?;
            for key in store.list("games/")? {
                if let Some(generation) = games_number(&key) {
                    files.push(RecordFile::new(store.folder(&key)?, Some(generation)));
                }
            }
            if files.len() == before {
                bail!("{}: no games/*.hgames in it; expected a run directory with recorded games", source.display());
            }
        } else {
            bail!("{}: neither a run directory nor a record file", source.display());
        }
    }
    Ok(files)
}

impl RecordFile {
    fn new(path: PathBuf, generation: Option<u32>) -> RecordFile {
        // The size is only for the progress bar, so an error counts as 0.
        let bytes = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        RecordFile { path, generation, bytes }
    }
}

/// All games of these run directories and record files.
///
/// # Errors
/// When a source is neither, a named record file cannot be read, or none of the runs' files can be read.
pub fn read_all(sources: &[PathBuf]) -> anyhow::Result<Vec<GameRecord>> {
    let mut games = Games::new(record_files(sources)?, ProgressBar::hidden(), Arc::default());
    let records = games.by_ref().map(|game| game.record).collect();
    games.check()?;
    Ok(records)
}

/// The games of files, one game in memory at a time. A damaged file of a run is skipped with a warning and counted. A
/// damaged file that was named itself ends the iteration, and [`Games::check`] returns its error.
pub struct Games {
    files: std::vec::IntoIter<RecordFile>,
    /// The present file and its generation.
    current: Option<(GameReader<Vec<u8>>, Option<u32>)>,
    bar: ProgressBar,
    total: u64,
    /// Bytes of the files before the present one, and of the present one.
    done: u64,
    present: u64,
    read: u64,
    damaged: usize,
    /// Error of the last skipped file, or of the file that ended the iteration.
    error: Option<RecordError>,
    ended: bool,
    /// Set to true when an error ends the iteration, to stop the consumer.
    stop: Arc<AtomicBool>,
}

impl Games {
    /// All games of these files; `bar` has 1000 steps.
    pub fn new(files: Vec<RecordFile>, bar: ProgressBar, stop: Arc<AtomicBool>) -> Games {
        let total = files.iter().map(|file| file.bytes).sum::<u64>().max(1);
        Games {
            files: files.into_iter(),
            current: None,
            bar,
            total,
            done: 0,
            present: 0,
            read: 0,
            damaged: 0,
            error: None,
            ended: false,
            stop,
        }
    }

    /// Checks, after the last game, that all files were read.
    ///
    /// # Errors
    /// The error of the file that ended the iteration, or of the last file if no file could be read.
    pub fn check(&mut self) -> anyhow::Result<()> {
        match self.error.take() {
            Some(error) if self.ended || self.read == 0 => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Number of skipped files.
    pub fn damaged(&self) -> usize {
        self.damaged
    }

    /// Skips a damaged file of a run with a warning, or ends the iteration at one that was named itself.
    fn pass_over(&mut self, error: RecordError, generation: Option<u32>) {
        if generation.is_some() {
            progress::warning(&self.bar, &format!("skipped: {}", printable(&error.to_string())));
            self.damaged += 1;
        } else {
            self.files = Vec::new().into_iter();
            self.ended = true;
            self.stop.store(true, Ordering::Relaxed);
        }
        self.error = Some(error);
    }

    fn show(&self) {
        let left = |(file, _): &(GameReader<_>, _)| file.left() as f64 / file.games().max(1) as f64;
        let within = 1.0 - self.current.as_ref().map_or(0.0, left);
        let share = (self.done as f64 + within * self.present as f64) / self.total as f64;
        self.bar.set_position((1000.0 * share) as u64);
        self.bar.set_message(format!("{} games", self.read));
    }
}

impl Iterator for Games {
    type Item = SourceGame;

    fn next(&mut self) -> Option<SourceGame> {
        loop {
            if let Some((file, generation)) = &mut self.current {
                let generation = *generation;
                match file.next() {
                    Some(Ok(record)) => {
                        self.read += 1;
                        // Updating the bar at every game would cost more than exporting it.
                        if self.read.is_multiple_of(64) {
                            self.show();
                        }
                        return Some(SourceGame { record, generation });
                    }
                    Some(Err(error)) => self.pass_over(error, generation),
                    None => {}
                }
                self.current = None;
            }
            self.done += self.present;
            let Some(file) = self.files.next() else {
                if self.read == 0 && self.damaged > 0 {
                    self.stop.store(true, Ordering::Relaxed);
                }
                return None;
            };
            self.present = file.bytes;
            match read_games(&file.path) {
                Ok(games) => self.current = Some((games, file.generation)),
                Err(error) => self.pass_over(error, file.generation),
            }
        }
    }
}
