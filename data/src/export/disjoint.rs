//! Splits without common positions, and how many positions other splits share.
//!
//! Positions are compared by the hash of board and side to move up to the symmetries of the square, because a network
//! that learns from a position learns from its mirror images, too. The games of the first part are written at once;
//! games of later parts wait on the disk until all positions of the parts before are known.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use hnefi_run::{GameRecord, decode_games, encode_games};

use super::SourceGame;
use crate::DataError;
use hnefi_record::walk;

/// The positions so far, and the waiting games of later parts.
pub(super) struct Disjoint {
    /// Positions of earlier parts.
    earlier: HashSet<u64>,
    /// Positions of the present part.
    present: HashSet<u64>,
    /// Games of the second part, the third and so on.
    waiting: Vec<BufWriter<File>>,
}

impl Disjoint {
    /// For `parts` parts. Games wait in unnamed temporary files in the folder.
    pub(super) fn new(parts: usize, folder: &Path) -> io::Result<Disjoint> {
        let waiting =
            (1..parts).map(|_| tempfile::tempfile_in(folder).map(BufWriter::new)).collect::<Result<_, _>>()?;
        Ok(Disjoint { earlier: HashSet::new(), present: HashSet::new(), waiting })
    }

    /// Stores a game of a later part.
    pub(super) fn keep_for_later(&mut self, part: usize, game: &SourceGame) -> io::Result<()> {
        let bytes = encode_games(std::slice::from_ref(&game.record));
        let file = &mut self.waiting[part - 1];
        file.write_all(&game.generation.map_or(-1, i64::from).to_le_bytes())?;
        file.write_all(&(bytes.len() as u64).to_le_bytes())?;
        file.write_all(&bytes)
    }

    /// Returns the stored games of a later part.
    pub(super) fn kept(&mut self, part: usize) -> io::Result<impl Iterator<Item = io::Result<SourceGame>> + use<>> {
        let file = &mut self.waiting[part - 1];
        let bytes = file.stream_position()?;
        file.flush()?;
        let mut file = file.get_ref().try_clone()?;
        file.rewind()?;
        let mut file = BufReader::new(file.take(bytes));
        Ok(std::iter::from_fn(move || match file.fill_buf().map(<[u8]>::is_empty) {
            Ok(true) => None,
            Ok(false) => Some(read(&mut file)),
            Err(error) => Some(Err(error)),
        }))
    }

    /// For each ply of a game, whether an earlier part has its position.
    ///
    /// # Errors
    /// When the game is inconsistent.
    pub(super) fn left_out(&mut self, game: &GameRecord) -> Result<Vec<bool>, DataError> {
        let mut left_out = Vec::with_capacity(game.plies.len());
        walk(game, |step| {
            let position = step.before.hash_up_to_symmetry();
            let known = self.earlier.contains(&position);
            if !known {
                self.present.insert(position);
            }
            left_out.push(known);
        })?;
        Ok(left_out)
    }

    /// Ends the present part.
    pub(super) fn end_part(&mut self) {
        self.earlier.extend(self.present.drain());
    }
}

/// Most different positions that an [`Overlap`] counts, in some 100 MiB.
pub(super) const MOST_POSITIONS: usize = 1 << 20;

/// How many positions of each part stand in an earlier one.
pub(super) struct Overlap {
    parts: usize,
    /// How often each position stands in each part; `None` once there are too many to remember.
    counts: Option<HashMap<u64, Vec<u32>>>,
}

impl Overlap {
    pub(super) fn new(parts: usize) -> Overlap {
        Overlap { parts, counts: Some(HashMap::new()) }
    }

    /// Adds the positions of a game.
    ///
    /// # Errors
    /// When the game is inconsistent.
    pub(super) fn count(&mut self, part: usize, game: &GameRecord) -> Result<(), DataError> {
        let Some(counts) = &mut self.counts else { return Ok(()) };
        walk(game, |step| {
            counts.entry(step.before.hash_up_to_symmetry()).or_insert_with(|| vec![0; self.parts])[part] += 1;
        })?;
        if counts.len() > MOST_POSITIONS {
            self.counts = None;
        }
        Ok(())
    }

    /// The share of each part's positions that stand in an earlier part. Empty if there were too many to count.
    pub(super) fn shares(&self) -> Vec<f64> {
        let Some(counts) = &self.counts else { return Vec::new() };
        let share = |part: usize| {
            let (mut all, mut shared) = (0_u64, 0);
            for counts in counts.values() {
                let count = u64::from(counts[part]);
                all += count;
                shared += if counts[..part].iter().any(|&earlier| earlier > 0) { count } else { 0 };
            }
            shared as f64 / all.max(1) as f64
        };
        (0..self.parts).map(share).collect()
    }
}

/// The next stored game.
fn read(file: &mut impl Read) -> io::Result<SourceGame> {
    let mut number = [0; 8];
    file.read_exact(&mut number)?;
    let generation = u32::try_from(i64::from_le_bytes(number)).ok();
    file.read_exact(&mut number)?;
    let length = usize::try_from(u64::from_le_bytes(number)).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes)?;
    let mut games = decode_games("games put aside", &bytes).map_err(io::Error::other)?;
    let record = games.pop().ok_or_else(|| io::Error::other("a game put aside is gone"))?;
    Ok(SourceGame { record, generation })
}
