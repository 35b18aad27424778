//! A game in flight: its record, and what follows from its number and the seed alone.
//!
//! In a share of the games a past checkpoint takes one side. Its plies are searched with as many playouts, but without
//! exploring, and do not train. Where a generation has no past checkpoint, the newest network plays both sides of such
//! a game too; a game that goes on in the next generation meets that one's.

use hnefi_engine::{Move, Position, Side};

use super::beginning::Beginning;
use super::chance::{Purpose, generator, unit};
use super::config::SelfPlayConfig;
use super::fork::Fork;
use super::lane::Table;
use super::opening::{opening_plies, wins_at_once};
use super::resignation;
use crate::record::{GameRecord, PlyRecord, RecordError};

/// A game with what follows from its record and the seed.
pub(super) struct Game {
    pub(super) record: GameRecord,
    pub(super) position: Position,
    /// Plies that come from the raw policy.
    pub(super) opening: usize,
    /// The side that a past checkpoint takes, if there is one.
    past: Option<Side>,
    /// Whether it is played on when a side would resign.
    verifies: bool,
}

impl Game {
    /// The game with this number before its first ply.
    pub(super) fn begin(number: u64, table: &Table<'_>) -> Game {
        let (config, seed) = (table.config, table.seed);
        let rules = config.rules_at(unit(&mut generator(seed, number, 0, Purpose::Ruleset)), table.progress);
        let elsewhere = table.stock.position(config, seed, number, &rules);
        let record = GameRecord {
            game: number,
            seed,
            rules,
            start: elsewhere.as_ref().map(Position::fen),
            players: [String::new(), String::new()],
            plies: Vec::new(),
            outcome: None,
            resigned: None,
            would_have_resigned: None,
        };
        Game::new(record, elsewhere.unwrap_or_else(|| Position::start(&rules)), table)
    }

    /// A game from a snapshot.
    pub(super) fn resume(record: GameRecord, table: &Table<'_>) -> Result<Game, RecordError> {
        let position = record.final_position()?;
        Ok(Game::new(record, position, table))
    }

    fn new(record: GameRecord, position: Position, table: &Table<'_>) -> Game {
        let draw = |purpose| generator(table.seed, record.game, 0, purpose);
        // A position that a game goes back to is not left by random moves.
        let mean = if record.start.is_none() { table.config.opening_mean_plies } else { 0.0 };
        Game {
            opening: opening_plies(mean, &mut draw(Purpose::OpeningLength)),
            past: past_side(table.config, table.seed, record.game),
            verifies: unit(&mut draw(Purpose::Verification)) < f64::from(table.config.resign.verify_share),
            record,
            position,
        }
    }

    /// Whether the past checkpoint plays this side.
    pub(super) fn past_plays(&self, side: Side, table: &Table<'_>) -> bool {
        table.past.is_some() && self.past == Some(side)
    }

    /// Whether this is the ply at which the game leaves the earlier one that it began from.
    pub(super) fn forks_now(&self, table: &Table<'_>) -> bool {
        let begins_elsewhere = self.record.plies.is_empty() && self.record.start.is_some();
        begins_elsewhere && Beginning::of_game(table.config, table.seed, self.record.game) == Beginning::Fork
    }

    /// The fork, unless the game can be won at once or no other move is safe.
    pub(super) fn fork(&mut self, moves: &[Move], table: &Table<'_>) -> Option<Fork> {
        if wins_at_once(&self.position, moves) {
            return None;
        }
        let GameRecord { game, rules, start, .. } = &self.record;
        let left = table.stock.move_left(table.seed, *game, rules, start.as_deref()?);
        let mut rng = generator(table.seed, *game, 0, Purpose::ForkMoves);
        Fork::new(&mut self.position, moves, left, &mut rng)
    }

    /// Plays a ply and says whether the game is over; its players are named then.
    pub(super) fn play(&mut self, ply: PlyRecord, table: &Table<'_>) -> bool {
        let mover = self.position.side_to_move();
        self.position.advance(ply.mv);
        self.record.plies.push(ply);
        self.record.outcome = self.position.outcome();
        let against = table.past.zip(self.past);
        if against.is_none() {
            let active = table.resign_active[mover.index()];
            resignation::apply(&mut self.record, mover, active, self.verifies, &table.config.resign);
        }
        if !self.record.is_finished() {
            return false;
        }
        self.record.players = [table.checkpoint.to_string(), table.checkpoint.to_string()];
        if let Some((past, side)) = against {
            self.record.players[side.index()] = past.to_string();
        }
        true
    }
}

/// The side that a past checkpoint takes in the game with this number; `None` in a game that the newest plays alone.
pub(super) fn past_side(config: &SelfPlayConfig, seed: u64, number: u64) -> Option<Side> {
    let mut rng = generator(seed, number, 0, Purpose::PastSide);
    let drawn = unit(&mut rng) < f64::from(config.past_share);
    let side = if unit(&mut rng) < 0.5 { Side::Attackers } else { Side::Defenders };
    drawn.then_some(side)
}
