//! A game in flight: its record, and what follows from its number and the seed alone.

use hnefi_engine::Position;

use super::chance::{Purpose, generator, unit};
use super::config::rules_at;
use super::lane::Table;
use super::opening::opening_plies;
use super::resignation;
use hnefi_run::{GameRecord, PlyRecord, RecordError};

/// A game with what follows from its record and the seed.
pub(super) struct Game {
    pub(super) record: GameRecord,
    pub(super) position: Position,
    /// Plies that come from the raw policy.
    pub(super) opening: usize,
    /// Whether it is played on when a side would resign.
    verifies: bool,
}

impl Game {
    /// The game with this number before its first ply.
    pub(super) fn begin(number: u64, table: &Table<'_>) -> Game {
        let seed = table.seed;
        let rules = rules_at(table.config, unit(&mut generator(seed, number, 0, Purpose::Ruleset)));
        let record = GameRecord {
            game: number,
            seed,
            rules,
            start: None,
            players: [String::new(), String::new()],
            plies: Vec::new(),
            outcome: None,
            resigned: None,
            would_have_resigned: None,
        };
        Game::new(record, Position::start(&rules), table)
    }

    /// A game from a snapshot.
    pub(super) fn resume(record: GameRecord, table: &Table<'_>) -> Result<Game, RecordError> {
        let position = record.final_position()?;
        Ok(Game::new(record, position, table))
    }

    fn new(record: GameRecord, position: Position, table: &Table<'_>) -> Game {
        let draw = |purpose| generator(table.seed, record.game, 0, purpose);
        Game {
            opening: opening_plies(table.config.opening_mean_plies, &mut draw(Purpose::OpeningLength)),
            verifies: unit(&mut draw(Purpose::Verification)) < f64::from(table.config.resign.verify_share),
            record,
            position,
        }
    }

    /// Plays a ply and says whether the game is over; its players are named then.
    pub(super) fn play(&mut self, ply: PlyRecord, table: &Table<'_>) -> bool {
        let mover = self.position.side_to_move();
        self.position.advance(ply.mv);
        self.record.plies.push(ply);
        self.record.outcome = self.position.outcome();
        let active = table.resign_active[mover.index()];
        resignation::apply(&mut self.record, mover, active, self.verifies, &table.config.resign);
        if !self.record.is_finished() {
            return false;
        }
        self.record.players = [table.checkpoint.to_string(), table.checkpoint.to_string()];
        true
    }
}
