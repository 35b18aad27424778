//! Positions as numpy arrays: one row per ply and one board size per file, in shards of bounded memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use hnefi_engine::{BoardSize, Preset, Reason};
use hnefi_inference::{ENCODING_VERSION, Encoding, GLOBALS, PLANES, POLICY_PLANES, PolicyIndex};
use ndarray::{ArrayView, Dimension, StrideShape, aview0};
use ndarray_npy::{NpzWriter, WritableElement};

use super::facts::{GameFacts, contents, legal_indices, triple};
use super::parts::{Entry, PartWriter, Series, WrittenFile};
use super::{BoardColumns, ExportParams, PolicyColumns};
use crate::DataError;
use hnefi_record::Step;

/// Memory limit of the arrays of all open shards, in bytes.
const SHARD_BYTES: usize = 128 << 20;

/// `reason` of a game that ended by resignation; smaller numbers are the reasons of the rules in their order.
const RESIGNATION: u8 = Reason::ALL.len() as u8;

/// `rules` of a game whose rules are not a preset. The presets before it in their order have smaller numbers, later ones
/// larger numbers: a number means the same in all datasets.
const OWN_RULES: u8 = 8;

/// The arrays of a file, for the dataset card: name, type, shape, meaning. P is the number of rows, N the side of the
/// board.
pub(super) fn arrays(board: BoardColumns, policy: PolicyColumns) -> Vec<[&'static str; 4]> {
    let mut arrays = vec![["encoding", "uint32", "scalar", "version of the network's input"]];
    arrays.push(match board {
        BoardColumns::Planes => ["planes", "uint8", "P, 16, N, N", "the network's input planes, 0 or 1"],
        BoardColumns::Compact => ["board", "uint8", "P, N, N", "0 empty, 1 attacker, 2 defender, 3 king"],
    });
    arrays.push(["globals", "float32", "P, 48", "the network's global input; entry 0 is 1 with the attackers to move"]);
    arrays.push(["wdl", "float32", "P, 3", "how the game ended, for the side to move"]);
    arrays.push(["raw", "float32", "P, 3", "the network's chances of win, draw, loss"]);
    arrays.push(["searched", "float32", "P, 3", "the same after the search"]);
    match policy {
        PolicyColumns::Dense => arrays.extend([
            ["policy", "float32", "P, 40, N, N", "policy target"],
            ["legal_mask", "uint8", "P, 40, N, N", "1 where a move is legal, else 0"],
        ]),
        PolicyColumns::Sparse => arrays.extend([
            ["policy_offset", "int64", "P + 1", "where a row's entries of the next two begin and end"],
            ["policy_index", "int32", "K", "policy target: index into a flattened 40, N, N policy"],
            ["policy_weight", "float32", "K", "policy target: its weight"],
            ["legal_offset", "int64", "P + 1", "where a row's entries of the next begin and end"],
            ["legal_index", "int32", "L", "the legal moves, as indices into a flattened 40, N, N policy"],
        ]),
    }
    arrays.extend([
        ["moves_left", "float32", "P", "plies to the end of the game, this one included"],
        ["played", "int32", "P", "the move played, as an index into a flattened 40, N, N policy"],
        ["playouts", "uint32", "P", "playouts of the search"],
        ["trains", "uint8", "P", "whether the ply is a training sample"],
        ["game_id", "uint64", "P", "identity of the game; `f\"{id:016x}\"` is its name in other formats"],
        ["game", "uint64", "P", "number of the game in its run"],
        ["generation", "int32", "P", "generation of the run, -1 where there is none"],
        ["ply", "uint32", "P", "ply in the game, from 0"],
        ["reason", "uint8", "P", "how the game ended, numbered as in docs/DATASETS.md"],
        ["rules", "uint8", "P", "the ruleset, numbered as in docs/DATASETS.md"],
    ]);
    arrays
}

/// Writes shards into a folder as games come in.
pub(super) struct NpzWriters {
    folder: PathBuf,
    board: BoardColumns,
    policy: PolicyColumns,
    most_rows: Option<usize>,
    shard_bytes: usize,
    shards: BTreeMap<BoardSize, Shard>,
    done: Vec<WrittenFile>,
}

impl NpzWriters {
    /// Writes shards into an empty folder. `parts` writers share the memory limit.
    pub(super) fn new(folder: PathBuf, params: &ExportParams, parts: usize) -> NpzWriters {
        NpzWriters {
            folder,
            board: params.board,
            policy: params.policy,
            most_rows: params.shard_rows,
            shard_bytes: SHARD_BYTES / parts.max(1),
            shards: BTreeMap::new(),
            done: Vec::new(),
        }
    }

    fn write(&mut self, shard: &Shard) -> Result<(), DataError> {
        let series = Series::Positions(shard.size);
        let number = self.done.iter().filter(|file| file.series == series).count() + 1;
        let path = self.folder.join(format!("{series}-{number:04}.npz"));
        shard.write(&path).map_err(|problem| DataError::write(&path, problem))?;
        self.done.push(WrittenFile { path, series, rows: shard.rows() as u64, arrow_bytes: 0 });
        Ok(())
    }
}

impl PartWriter for NpzWriters {
    fn add(&mut self, entry: &Entry<'_>) -> Result<(), DataError> {
        let size = entry.game.record.rules.size();
        let most = self.most_rows.unwrap_or(self.shard_bytes / row_bytes(size, self.policy)).max(1);
        let mut shard = self.shards.remove(&size).unwrap_or_else(|| Shard::new(size, self.board, self.policy));
        let facts = RowFacts::of(entry);
        entry.walk(|index, step| shard.push(&facts, index, &step))?;
        if shard.rows() >= most {
            self.write(&shard)?;
        } else {
            self.shards.insert(size, shard);
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<WrittenFile>, DataError> {
        for shard in std::mem::take(&mut self.shards).into_values() {
            self.write(&shard)?;
        }
        Ok(self.done)
    }
}

/// Values shared by all rows of a game, with names as numbers.
struct RowFacts<'a> {
    facts: GameFacts<'a>,
    id: u64,
    generation: i32,
    reason: u8,
    rules: u8,
}

impl RowFacts<'_> {
    fn of<'a>(entry: &Entry<'a>) -> RowFacts<'a> {
        let game = &entry.game.record;
        let position_in = |found: Option<usize>, other: u8| found.map_or(other, |index| index as u8);
        let reason = game.outcome.and_then(|outcome| Reason::ALL.iter().position(|&known| known == outcome.reason()));
        let rules = game.rules.preset().map_or(OWN_RULES, rules_number);
        RowFacts {
            facts: GameFacts::of(game),
            id: entry.id.number(),
            generation: entry.game.generation.and_then(|number| i32::try_from(number).ok()).unwrap_or(-1),
            reason: position_in(reason, RESIGNATION),
            rules,
        }
    }
}

/// `rules` of a game by this preset.
fn rules_number(preset: Preset) -> u8 {
    let index = Preset::ALL.iter().position(|&known| known == preset).map_or(OWN_RULES, |index| index as u8);
    if index < OWN_RULES { index } else { index + 1 }
}

/// The rows of one file, column by column.
struct Shard {
    size: BoardSize,
    board: BoardColumns,
    policy: PolicyColumns,
    /// Planes or contents.
    squares: Vec<u8>,
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
    legal_mask: Vec<u8>,
    legal_offset: Vec<i64>,
    legal_index: Vec<i32>,
    playouts: Vec<u32>,
    trains: Vec<u8>,
    game_id: Vec<u64>,
    game: Vec<u64>,
    generation: Vec<i32>,
    ply: Vec<u32>,
    reason: Vec<u8>,
    rules: Vec<u8>,
}

impl Shard {
    fn new(size: BoardSize, board: BoardColumns, policy: PolicyColumns) -> Shard {
        Shard {
            size,
            board,
            policy,
            squares: Vec::new(),
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
            legal_mask: Vec::new(),
            legal_offset: vec![0],
            legal_index: Vec::new(),
            playouts: Vec::new(),
            trains: Vec::new(),
            game_id: Vec::new(),
            game: Vec::new(),
            generation: Vec::new(),
            ply: Vec::new(),
            reason: Vec::new(),
            rules: Vec::new(),
        }
    }

    fn rows(&self) -> usize {
        self.game.len()
    }

    fn push(&mut self, row: &RowFacts<'_>, index: usize, step: &Step<'_>) {
        let squares = self.size.squares();
        let facts = &row.facts;
        let features = Encoding::NEWEST.features(step.before);
        match self.board {
            BoardColumns::Planes => {
                for plane in features.planes {
                    self.squares.extend((0..squares).map(|square| (plane.0 >> square & 1) as u8));
                }
            }
            BoardColumns::Compact => self.squares.extend(contents(step.before)),
        }
        self.globals.extend_from_slice(&features.globals);
        self.wdl.extend_from_slice(&triple(facts.result_for(step.before.side_to_move())));
        self.raw.extend_from_slice(&triple(step.ply.raw));
        self.searched.extend_from_slice(&triple(step.ply.searched));
        self.moves_left.push((facts.plies - index) as f32);
        self.played.push(PolicyIndex::of(step.ply.mv, self.size).flat(self.size) as i32);
        self.push_policy(step);
        self.push_legal(step);
        self.playouts.push(step.ply.playouts);
        self.trains.push(u8::from(step.ply.trains));
        self.game_id.push(row.id);
        self.game.push(facts.game.game);
        self.generation.push(row.generation);
        self.ply.push(index as u32);
        self.reason.push(row.reason);
        self.rules.push(row.rules);
    }

    fn push_policy(&mut self, step: &Step<'_>) {
        let entries =
            step.ply.policy.iter().map(|&(mv, weight)| (PolicyIndex::of(mv, self.size).flat(self.size), weight));
        if self.policy == PolicyColumns::Dense {
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

    fn push_legal(&mut self, step: &Step<'_>) {
        if self.policy == PolicyColumns::Dense {
            let begin = self.legal_mask.len();
            self.legal_mask.resize(begin + POLICY_PLANES * self.size.squares(), 0);
            legal_indices(step.before).for_each(|index| self.legal_mask[begin + index] = 1);
        } else {
            self.legal_index.extend(legal_indices(step.before).map(|index| index as i32));
            self.legal_offset.push(self.legal_index.len() as i64);
        }
    }

    /// Writes the file with the names and shapes of `docs/DATASETS.md`.
    fn write(&self, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let (rows, side) = (self.rows(), self.size.side());
        let mut file = NpzWriter::new(BufWriter::new(File::create_new(path)?));
        file.add_array("encoding", &aview0(&ENCODING_VERSION))?;
        match self.board {
            BoardColumns::Planes => add(&mut file, "planes", (rows, PLANES, side, side), &self.squares)?,
            BoardColumns::Compact => add(&mut file, "board", (rows, side, side), &self.squares)?,
        }
        add(&mut file, "globals", (rows, GLOBALS), &self.globals)?;
        add(&mut file, "wdl", (rows, 3), &self.wdl)?;
        add(&mut file, "raw", (rows, 3), &self.raw)?;
        add(&mut file, "searched", (rows, 3), &self.searched)?;
        if self.policy == PolicyColumns::Dense {
            add(&mut file, "policy", (rows, POLICY_PLANES, side, side), &self.policy_dense)?;
            add(&mut file, "legal_mask", (rows, POLICY_PLANES, side, side), &self.legal_mask)?;
        } else {
            add(&mut file, "policy_offset", rows + 1, &self.policy_offset)?;
            add(&mut file, "policy_index", self.policy_index.len(), &self.policy_index)?;
            add(&mut file, "policy_weight", self.policy_weight.len(), &self.policy_weight)?;
            add(&mut file, "legal_offset", rows + 1, &self.legal_offset)?;
            add(&mut file, "legal_index", self.legal_index.len(), &self.legal_index)?;
        }
        add(&mut file, "moves_left", rows, &self.moves_left)?;
        add(&mut file, "played", rows, &self.played)?;
        add(&mut file, "playouts", rows, &self.playouts)?;
        add(&mut file, "trains", rows, &self.trains)?;
        add(&mut file, "game_id", rows, &self.game_id)?;
        add(&mut file, "game", rows, &self.game)?;
        add(&mut file, "generation", rows, &self.generation)?;
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
fn row_bytes(size: BoardSize, policy: PolicyColumns) -> usize {
    let policy = match policy {
        PolicyColumns::Dense => POLICY_PLANES * size.squares() * (size_of::<f32>() + 1),
        PolicyColumns::Sparse => 32 * 8 + 64 * 4,
    };
    PLANES * size.squares() + GLOBALS * size_of::<f32>() + policy + 100
}
