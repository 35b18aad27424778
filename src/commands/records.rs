//! The recorded games that a command line names: run directories and record files, read one file at a time.

use std::path::PathBuf;

use anyhow::bail;
use hnefi_data::SourceGame;
use hnefi_selfplay::store::{Store, games_number, read_games};
use hnefi_selfplay::{GameReader, RecordError, printable};
use indicatif::ProgressBar;

/// A record file and what is known of it before it is read.
pub struct RecordFile {
    path: PathBuf,
    /// Generation of the run it lies in.
    pub generation: Option<u32>,
    bytes: u64,
}

/// The record files of all sources, those of a run oldest first.
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
        // Only for the progress bar, so a file that cannot be asked may count as nothing.
        let bytes = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        RecordFile { path, generation, bytes }
    }
}

/// The games of files, one game in memory at a time. Damaged files are named on standard error, counted and skipped.
pub struct Games {
    files: std::vec::IntoIter<RecordFile>,
    /// The file at hand and its generation.
    current: Option<(GameReader<Vec<u8>>, Option<u32>)>,
    bar: ProgressBar,
    total: u64,
    /// Bytes of the files before the present one, and of that.
    done: u64,
    present: u64,
    read: u64,
    damaged: usize,
}

impl Games {
    /// All games of these files; `bar` has 1000 steps.
    pub fn new(files: Vec<RecordFile>, bar: ProgressBar) -> Games {
        let total = files.iter().map(|file| file.bytes).sum::<u64>().max(1);
        Games { files: files.into_iter(), current: None, bar, total, done: 0, present: 0, read: 0, damaged: 0 }
    }

    /// Files that were skipped.
    pub fn damaged(&self) -> usize {
        self.damaged
    }

    fn skip(&mut self, error: &RecordError) {
        self.bar.suspend(|| eprintln!("skipped: {}", printable(&error.to_string())));
        self.damaged += 1;
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
                        // A bar is drawn a few times a second at most; being told of every game would cost more than exporting it.
                        if self.read.is_multiple_of(64) {
                            self.show();
                        }
                        return Some(SourceGame { record, generation });
                    }
                    Some(Err(error)) => self.skip(&error),
                    None => {}
                }
                self.current = None;
            }
            self.done += self.present;
            let file = self.files.next()?;
            self.present = file.bytes;
            match read_games(&file.path) {
                Ok(games) => self.current = Some((games, file.generation)),
                Err(error) => self.skip(&error),
            }
        }
    }
}
