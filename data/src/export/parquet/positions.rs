//! The table of positions: a row per ply.

use hnefi_engine::BoardSize;
use hnefi_inference::{Encoding, Features, POLICY_PLANES, PolicyIndex};
use parquet::data_type::{BoolType, ByteArrayType, FloatType, Int32Type, Int64Type};

use super::Rows;
use super::columns::{AnyColumn, Column, text};
use crate::DataError;
use crate::export::facts::{GameFacts, contents, legal_indices, triple};
use crate::export::parts::Entry;
use crate::export::schema::{self, Field};
use crate::export::{BoardColumns, PolicyColumns, SourceGame};
use hnefi_record::Step;

/// The columns, in the order of the schema.
pub(super) struct PositionRows {
    size: BoardSize,
    board: BoardColumns,
    policy: PolicyColumns,
    rows: usize,
    game_id: Column<ByteArrayType>,
    game: Column<Int64Type>,
    generation: Column<Int32Type>,
    ply: Column<Int32Type>,
    rules: Column<ByteArrayType>,
    side: Column<ByteArrayType>,
    /// Planes or contents.
    squares: Column<Int32Type>,
    globals: Column<FloatType>,
    mv: Column<ByteArrayType>,
    played: Column<Int32Type>,
    policy_index: Column<Int32Type>,
    /// Sparse or dense.
    policy_weight: Column<FloatType>,
    /// Indices or a mask.
    legal: Column<Int32Type>,
    wdl: Column<FloatType>,
    raw: Column<FloatType>,
    searched: Column<FloatType>,
    moves_left: Column<FloatType>,
    playouts: Column<Int32Type>,
    trains: Column<BoolType>,
    reason: Column<ByteArrayType>,
}

impl PositionRows {
    pub(super) fn new(size: BoardSize, board: BoardColumns, policy: PolicyColumns) -> PositionRows {
        let squares = match board {
            BoardColumns::Planes => schema::PLANES,
            BoardColumns::Compact => schema::BOARD,
        };
        let (weights, legal) = match policy {
            PolicyColumns::Sparse => (schema::POLICY_WEIGHT, schema::LEGAL),
            PolicyColumns::Dense => (schema::POLICY, schema::LEGAL_MASK),
        };
        PositionRows {
            size,
            board,
            policy,
            rows: 0,
            game_id: Column::new(schema::GAME_ID),
            game: Column::new(schema::GAME),
            generation: Column::new(schema::GENERATION),
            ply: Column::new(schema::PLY),
            rules: Column::new(schema::RULES),
            side: Column::new(schema::SIDE),
            squares: Column::new(squares),
            globals: Column::new(schema::GLOBALS),
            mv: Column::new(schema::MOVE),
            played: Column::new(schema::PLAYED),
            policy_index: Column::new(schema::POLICY_INDEX),
            policy_weight: Column::new(weights),
            legal: Column::new(legal),
            wdl: Column::new(schema::WDL),
            raw: Column::new(schema::RAW),
            searched: Column::new(schema::SEARCHED),
            moves_left: Column::new(schema::MOVES_LEFT),
            playouts: Column::new(schema::PLAYOUTS),
            trains: Column::new(schema::TRAINS),
            reason: Column::new(schema::REASON),
        }
    }

    fn push(&mut self, game: &SourceGame, facts: &GameFacts<'_>, id: &str, index: usize, step: &Step<'_>) {
        let side = step.before.side_to_move();
        let features = Encoding::NEWEST.features(step.before);
        self.rows += 1;
        self.game_id.push(text(id));
        // Unsigned numbers are stored in signed ones of the same width; the schema says which they are.
        self.game.push(game.record.game as i64);
        self.generation.push_optional(game.generation.map(|number| number as i32));
        self.ply.push(index as i32);
        self.rules.push(text(facts.rules));
        self.side.push(text(side.as_str()));
        match self.board {
            BoardColumns::Planes => self.push_planes(&features),
            BoardColumns::Compact => self.squares.push_list(contents(step.before).map(i32::from)),
        }
        self.globals.push_list(features.globals);
        self.mv.push(text(step.ply.mv.text(self.size)));
        self.played.push(PolicyIndex::of(step.ply.mv, self.size).flat(self.size) as i32);
        self.push_policy(step);
        self.wdl.push_list(triple(facts.result_for(side)));
        self.raw.push_list(triple(step.ply.raw));
        self.searched.push_list(triple(step.ply.searched));
        self.moves_left.push((facts.plies - index) as f32);
        self.playouts.push(step.ply.playouts as i32);
        self.trains.push(step.ply.trains);
        self.reason.push(text(facts.reason));
    }

    fn push_planes(&mut self, features: &Features) {
        let squares = self.size.squares();
        let bits = features.planes.iter().flat_map(|plane| (0..squares).map(|square| (plane.0 >> square & 1) as i32));
        self.squares.push_list(bits);
    }

    fn push_policy(&mut self, step: &Step<'_>) {
        let flat = |mv| PolicyIndex::of(mv, self.size).flat(self.size);
        match self.policy {
            PolicyColumns::Sparse => {
                self.legal.push_list(legal_indices(step.before).map(|index| index as i32));
                self.policy_index.push_list(step.ply.policy.iter().map(|&(mv, _)| flat(mv) as i32));
                self.policy_weight.push_list(step.ply.policy.iter().map(|&(_, weight)| weight));
            }
            PolicyColumns::Dense => {
                let mut dense = vec![0.0; POLICY_PLANES * self.size.squares()];
                for &(mv, weight) in &step.ply.policy {
                    dense[flat(mv)] = weight;
                }
                self.policy_weight.push_list(dense);
                let mut mask = vec![0; POLICY_PLANES * self.size.squares()];
                legal_indices(step.before).for_each(|index| mask[index] = 1);
                self.legal.push_list(mask);
            }
        }
    }
}

impl Rows for PositionRows {
    fn fields(&self) -> Vec<Field> {
        schema::position_fields(self.board, self.policy)
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn add(&mut self, entry: &Entry<'_>) -> Result<(), DataError> {
        let (facts, id) = (GameFacts::of(&entry.game.record), entry.id.to_string());
        entry.walk(|index, step| self.push(entry.game, &facts, &id, index, &step))
    }

    fn columns(&mut self) -> Vec<&mut dyn AnyColumn> {
        let mut columns: Vec<&mut dyn AnyColumn> = vec![
            &mut self.game_id,
            &mut self.game,
            &mut self.generation,
            &mut self.ply,
            &mut self.rules,
            &mut self.side,
            &mut self.squares,
            &mut self.globals,
            &mut self.mv,
            &mut self.played,
        ];
        if self.policy == PolicyColumns::Sparse {
            columns.push(&mut self.policy_index);
        }
        columns.push(&mut self.policy_weight);
        columns.push(&mut self.legal);
        columns.push(&mut self.wdl);
        columns.push(&mut self.raw);
        columns.push(&mut self.searched);
        columns.push(&mut self.moves_left);
        columns.push(&mut self.playouts);
        columns.push(&mut self.trains);
        columns.push(&mut self.reason);
        columns
    }

    fn forget(&mut self) {
        self.rows = 0;
    }
}
