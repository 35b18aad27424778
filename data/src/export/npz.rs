//! Positions as numpy arrays: one row per ply, one board size per file, in shards so that memory stays bounded however
//! long the run was.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use hnefi_engine::{BoardSize, Preset, Reason, Side};
use hnefi_models::{ENCODING_VERSION, Features, GLOBALS, PLANES, POLICY_PLANES, PolicyIndex, Wdl};
use hnefi_selfplay::GameRecord;
use ndarray::{ArrayView, Dimension, StrideShape, aview0};
use ndarray_npy::{NpzWriter, WritableElement};

use crate::DataError;
use crate::steps::{Step, walk};

/// What the arrays of one shard may take in memory, in bytes.
const SHARD_BYTES: usize = 128 << 20;

/// `reason` of a game that ended by resignation; the reasons of the rules come before it, in their order.
const RESIGNATION: u8 = Reason::ALL.len() as u8;

/// `rules` of a game played under a mixture of options of its own; the presets come before it, in their order.
const OWN_RULES: u8 = Preset::ALL.len() as u8;

/// Writes shards into a folder as games come in.
pub(crate) struct ShardWriter<'a> {
    folder: &'a Path,
    dense_policy: bool,
    most_positions: Option<usize>,
    shards: BTreeMap<BoardSize, Shard>,
    written: BTreeMap<BoardSize, usize>,
}

impl<'a> ShardWriter<'a> {
    /// Shards of at most `most_positions` rows (as many as fit the memory budget when `None`) into an empty folder.
    pub(crate) fn new(folder: &'a Path, dense_policy: bool, most_positions: Option<usize>) -> ShardWriter<'a> {
        ShardWriter { folder, dense_policy, most_positions, shards: BTreeMap::new(), written: BTreeMap::new() }
    }

    /// Adds every ply of a finished game and returns how many they were.
    pub(crate) fn add(&mut self, game: &GameRecord) -> Result<usize, DataError> {
        let size = game.rules.size;
        let most = self.most_positions.unwrap_or(SHARD_BYTES / row_bytes(size, self.dense_policy)).max(1);
        let mut shard = self.shards.remove(&size).unwrap_or_else(|| Shard::new(size, self.dense_policy));
        let facts = GameFacts::of(game);
        let mut index = 0;
        walk(game, |step| {
            shard.push(&facts, index, &step);
            index += 1;
        })?;
        if shard.rows() >= most {
            self.write(&shard)?;
        } else {
            self.shards.insert(size, shard);
        }
        Ok(index)
    }

    /// Writes what is left and returns the number of files.
    pub(crate) fn finish(mut self) -> Result<usize, DataError> {
        for shard in std::mem::take(&mut self.shards).into_values() {
            self.write(&shard)?;
        }
        Ok(self.written.values().sum())
    }

    fn write(&mut self, shard: &Shard) -> Result<(), DataError> {
        let number = self.written.entry(shard.size).or_default();
        *number += 1;
        let side = shard.size.side();
        let path = self.folder.join(format!("positions-{side}x{side}-{number:04}.npz"));
        shard.write(&path).map_err(|problem| DataError::write(&path, problem))
    }
}

/// What all rows of a game share.
struct GameFacts {
    game: u64,
    plies: usize,
    for_attackers: Wdl,
    reason: u8,
    rules: u8,
}

impl GameFacts {
    fn of(game: &GameRecord) -> GameFacts {
        let position_in = |found: Option<usize>, other: u8| found.map_or(other, |index| index as u8);
        let reason = game.outcome.and_then(|outcome| Reason::ALL.iter().position(|&known| known == outcome.reason()));
        let preset = game.rules.preset().and_then(|preset| Preset::ALL.iter().position(|&known| known == preset));
        GameFacts {
            game: game.game,
            plies: game.plies.len(),
            for_attackers: match game.winner() {
                Some(Side::Attackers) => Wdl::WIN,
                Some(Side::Defenders) => Wdl::LOSS,
                None => Wdl::DRAW,
            },
            reason: position_in(reason, RESIGNATION),
            rules: position_in(preset, OWN_RULES),
        }
    }
}

/// The rows of one file, column by column.
struct Shard {
    size: BoardSize,
    dense_policy: bool,
    planes: Vec<u8>,
    globals: Vec<f32>,
    wdl: Vec<f32>,
    raw: Vec<f32>,
    searched: Vec<f32>,
    moves_left: Vec<f32>,
    played: Vec<i32>,
    policy_dense: Vec<f32>,
    policy_offset: Vec<i64>,
    policy_index: Vec<i32>,
    policy_weight: Vec<f32>,
    playouts: Vec<u32>,
    trains: Vec<u8>,
    game: Vec<u64>,
    ply: Vec<u32>,
    reason: Vec<u8>,
    rules: Vec<u8>,
}

impl Shard {
    fn new(size: BoardSize, dense_policy: bool) -> Shard {
        Shard {
            size,
            dense_policy,
            planes: Vec::new(),
            globals: Vec::new(),
            wdl: Vec::new(),
            raw: Vec::new(),
            searched: Vec::new(),
            moves_left: Vec::new(),
            played: Vec::new(),
            policy_dense: Vec::new(),
            policy_offset: vec![0],
            policy_index: Vec::new(),
            policy_weight: Vec::new(),
            playouts: Vec::new(),
            trains: Vec::new(),
            game: Vec::new(),
            ply: Vec::new(),
            reason: Vec::new(),
            rules: Vec::new(),
        }
    }

    fn rows(&self) -> usize {
        self.game.len()
    }

    fn push(&mut self, facts: &GameFacts, index: usize, step: &Step<'_>) {
        let squares = self.size.squares();
        let features = Features::of(step.before);
        for plane in features.planes {
            self.planes.extend((0..squares).map(|square| (plane.0 >> square & 1) as u8));
        }
        self.globals.extend_from_slice(&features.globals);
        let mover = step.before.side_to_move();
        let result = if mover == Side::Attackers { facts.for_attackers } else { facts.for_attackers.flipped() };
        self.wdl.extend_from_slice(&triple(result));
        self.raw.extend_from_slice(&triple(step.ply.raw));
        self.searched.extend_from_slice(&triple(step.ply.searched));
        self.moves_left.push((facts.plies - index) as f32);
        self.played.push(PolicyIndex::of(step.ply.mv, self.size).flat(self.size) as i32);
        self.push_policy(step);
        self.playouts.push(step.ply.playouts);
        self.trains.push(u8::from(step.ply.trains));
        self.game.push(facts.game);
        self.ply.push(index as u32);
        self.reason.push(facts.reason);
        self.rules.push(facts.rules);
    }

    fn push_policy(&mut self, step: &Step<'_>) {
        let entries =
            step.ply.policy.iter().map(|&(mv, weight)| (PolicyIndex::of(mv, self.size).flat(self.size), weight));
        if self.dense_policy {
            let begin = self.policy_dense.len();
            self.policy_dense.resize(begin + POLICY_PLANES * self.size.squares(), 0.0);
            for (index, weight) in entries {
                self.policy_dense[begin + index] = weight;
            }
        } else {
            for (index, weight) in entries {
                self.policy_index.push(index as i32);
                self.policy_weight.push(weight);
            }
            self.policy_offset.push(self.policy_index.len() as i64);
        }
    }

    /// Writes the file; the names and shapes are those of `docs/DATASETS.md`.
    fn write(&self, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let (rows, side) = (self.rows(), self.size.side());
        let mut file = NpzWriter::new(BufWriter::new(File::create_new(path)?));
        file.add_array("encoding", &aview0(&ENCODING_VERSION))?;
        add(&mut file, "planes", (rows, PLANES, side, side), &self.planes)?;
        add(&mut file, "globals", (rows, GLOBALS), &self.globals)?;
        add(&mut file, "wdl", (rows, 3), &self.wdl)?;
        add(&mut file, "raw", (rows, 3), &self.raw)?;
        add(&mut file, "searched", (rows, 3), &self.searched)?;
        if self.dense_policy {
            add(&mut file, "policy", (rows, POLICY_PLANES, side, side), &self.policy_dense)?;
        } else {
            add(&mut file, "policy_offset", rows + 1, &self.policy_offset)?;
            add(&mut file, "policy_index", self.policy_index.len(), &self.policy_index)?;
            add(&mut file, "policy_weight", self.policy_weight.len(), &self.policy_weight)?;
        }
        add(&mut file, "moves_left", rows, &self.moves_left)?;
        add(&mut file, "played", rows, &self.played)?;
        add(&mut file, "playouts", rows, &self.playouts)?;
        add(&mut file, "trains", rows, &self.trains)?;
        add(&mut file, "game", rows, &self.game)?;
        add(&mut file, "ply", rows, &self.ply)?;
        add(&mut file, "reason", rows, &self.reason)?;
        add(&mut file, "rules", rows, &self.rules)?;
        file.finish()?.into_inner()?.sync_all()?;
        Ok(())
    }
}

/// Adds one array, in row-major order, without copying it.
fn add<T: WritableElement, D: Dimension>(
    file: &mut NpzWriter<BufWriter<File>>,
    name: &str,
    shape: impl Into<StrideShape<D>>,
    values: &[T],
) -> Result<(), Box<dyn std::error::Error>> {
    file.add_array(name, &ArrayView::from_shape(shape, values)?)?;
    Ok(())
}

/// Memory of one row, its policy estimated where it is sparse.
fn row_bytes(size: BoardSize, dense_policy: bool) -> usize {
    let policy = if dense_policy { POLICY_PLANES * size.squares() * size_of::<f32>() } else { 32 * 8 };
    PLANES * size.squares() + GLOBALS * size_of::<f32>() + policy + 80
}

fn triple(wdl: Wdl) -> [f32; 3] {
    [wdl.win, wdl.draw, wdl.loss]
}
