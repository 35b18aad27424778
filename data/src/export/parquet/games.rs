//! The table of games: a row per game.

use hnefi_engine::Side;
use parquet::data_type::{ByteArrayType, FloatType, Int32Type, Int64Type};

use super::Rows;
use super::columns::{AnyColumn, Column, text};
use crate::DataError;
use crate::export::facts::rules_name;
use crate::export::parts::Entry;
use crate::export::schema::{self, Field};
use hnefi_record::{TextError, end};

/// The columns, in the order of the schema.
pub(super) struct GameRows {
    rows: usize,
    game_id: Column<ByteArrayType>,
    game: Column<Int64Type>,
    seed: Column<Int64Type>,
    generation: Column<Int32Type>,
    rules: Column<ByteArrayType>,
    options: Column<ByteArrayType>,
    ply_cap: Column<Int32Type>,
    fen: Column<ByteArrayType>,
    attackers: Column<ByteArrayType>,
    defenders: Column<ByteArrayType>,
    plies: Column<Int32Type>,
    moves: Column<ByteArrayType>,
    captures: Column<ByteArrayType>,
    playouts: Column<Int32Type>,
    scores: Column<FloatType>,
    status: Column<ByteArrayType>,
    reason: Column<ByteArrayType>,
    would_have_resigned: Column<ByteArrayType>,
}

impl GameRows {
    pub(super) fn new() -> GameRows {
        GameRows {
            rows: 0,
            game_id: Column::new(schema::GAME_ID),
            game: Column::new(schema::GAME),
            seed: Column::new(schema::SEED),
            generation: Column::new(schema::GENERATION),
            rules: Column::new(schema::RULES),
            options: Column::new(schema::OPTIONS),
            ply_cap: Column::new(schema::PLY_CAP),
            fen: Column::new(schema::FEN),
            attackers: Column::new(schema::ATTACKERS),
            defenders: Column::new(schema::DEFENDERS),
            plies: Column::new(schema::PLIES),
            moves: Column::new(schema::MOVES),
            captures: Column::new(schema::CAPTURES),
            playouts: Column::new(schema::ALL_PLAYOUTS),
            scores: Column::new(schema::SCORES),
            status: Column::new(schema::STATUS),
            reason: Column::new(schema::REASON),
            would_have_resigned: Column::new(schema::WOULD_HAVE_RESIGNED),
        }
    }
}

impl Rows for GameRows {
    fn fields(&self) -> Vec<Field> {
        schema::GAME_FIELDS.to_vec()
    }

    fn rows(&self) -> usize {
        self.rows
    }

    fn add(&mut self, entry: &Entry<'_>) -> Result<(), DataError> {
        let record = &entry.game.record;
        let size = record.rules.size();
        let mut captures = Vec::with_capacity(record.plies.len());
        entry.walk(|_, step| {
            let names: Vec<_> = step.captured.map(|square| square.name(size)).collect();
            captures.push(text(names.join(" ")));
        })?;
        let options = match record.rules.preset() {
            Some(_) => None,
            None => Some(
                serde_json::to_string(&record.rules).map_err(|source| TextError::Json { game: record.game, source })?,
            ),
        };
        let (status, reason) = end(record);
        self.rows += 1;
        self.game_id.push(text(entry.id.to_string()));
        self.game.push(record.game as i64);
        self.seed.push(record.seed as i64);
        self.generation.push_optional(entry.game.generation.map(|number| number as i32));
        self.rules.push(text(rules_name(record)));
        self.options.push_optional(options.map(text));
        self.ply_cap.push(record.rules.ply_cap.into());
        self.fen.push_optional(record.start.as_deref().map(text));
        self.attackers.push(text(record.players[Side::Attackers.index()].as_str()));
        self.defenders.push(text(record.players[Side::Defenders.index()].as_str()));
        self.plies.push(record.plies.len() as i32);
        self.moves.push_list(record.plies.iter().map(|ply| text(ply.mv.text(size))));
        self.captures.push_list(captures);
        self.playouts.push_list(record.plies.iter().map(|ply| ply.playouts as i32));
        self.scores.push_list(record.plies.iter().map(|ply| ply.searched.score()));
        self.status.push(text(status));
        self.reason.push(text(reason));
        self.would_have_resigned.push_optional(record.would_have_resigned.map(|side| text(side.as_str())));
        Ok(())
    }

    fn columns(&mut self) -> Vec<&mut dyn AnyColumn> {
        vec![
            &mut self.game_id,
            &mut self.game,
            &mut self.seed,
            &mut self.generation,
            &mut self.rules,
            &mut self.options,
            &mut self.ply_cap,
            &mut self.fen,
            &mut self.attackers,
            &mut self.defenders,
            &mut self.plies,
            &mut self.moves,
            &mut self.captures,
            &mut self.playouts,
            &mut self.scores,
            &mut self.status,
            &mut self.reason,
            &mut self.would_have_resigned,
        ]
    }

    fn forget(&mut self) {
        self.rows = 0;
    }
}
