//! A game in flight: its record, its position, and its random choices.

use hnefi_engine::Position;
use hnefi_inference::Handicap;

use super::chance::{Purpose, generator, unit};
use super::config::rules_at;
use super::opening::opening_plies;
use super::resignation;
use super::settings::GenerationSettings;
use hnefi_run::{GameRecord, PlyRecord, RecordError};

pub(super) struct Game {
    pub(super) record: GameRecord,
    pub(super) position: Position,
    /// Number of opening plies, drawn from the raw policy.
    pub(super) opening: usize,
    /// Whether the game continues when a side would resign, to verify the rule.
    verifies: bool,
}

impl Game {
    pub(super) fn begin(number: u64, settings: &GenerationSettings<'_>) -> Game {
        let seed = settings.seed;
        let rules = rules_at(settings.config, unit(&mut generator(seed, number, 0, Purpose::Ruleset)));
        let equals = unit(&mut generator(seed, number, 0, Purpose::Equals)) < f64::from(settings.config.equal_share);
        let handicap = if equals { Handicap::NONE } else { settings.balance.of(&rules) };
        let record = GameRecord { handicap, ..GameRecord::new(seed, number, rules) };
        Game::new(record, Position::start(&rules), settings)
    }

    /// Resumes a game that follows the rules and is not over.
    pub(super) fn resume(record: GameRecord, settings: &GenerationSettings<'_>) -> Result<Game, RecordError> {
        record.check()?;
        if record.is_finished() {
            let problem = "the game is over; expected a game in flight".to_owned();
            return Err(RecordError::Inconsistent { game: record.game, place: "end".to_owned(), problem });
        }
        let position = record.final_position()?;
        let mut game = Game::new(record, position, settings);
        // Another stage may have longer openings: what was searched is not opened again.
        if game.record.plies.iter().any(|ply| ply.trains) {
            game.opening = 0;
        }
        Ok(game)
    }

    fn new(record: GameRecord, position: Position, settings: &GenerationSettings<'_>) -> Game {
        let draw = |purpose| generator(settings.seed, record.game, 0, purpose);
        Game {
            opening: opening_plies(settings.config.opening_mean_plies, &mut draw(Purpose::OpeningLength)),
            verifies: unit(&mut draw(Purpose::Verification)) < f64::from(settings.config.resign.verify_share),
            record,
            position,
        }
    }

    /// Plays a ply and returns whether the game is over. A finished game gets the names of its players.
    pub(super) fn play(&mut self, ply: PlyRecord, settings: &GenerationSettings<'_>) -> bool {
        let mover = self.position.side_to_move();
        self.position.advance(ply.mv);
        self.record.plies.push(ply);
        self.record.outcome = self.position.outcome();
        resignation::apply(&mut self.record, mover, self.verifies, settings.verification, &settings.config.resign);
        if !self.record.is_finished() {
            return false;
        }
        self.record.players = [settings.checkpoint.to_string(), settings.checkpoint.to_string()];
        true
    }
}
