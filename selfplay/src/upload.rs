//! Games that a worker's fleet plays for the trainer's fleet.
//!
//! A worker keeps only its games in flight. The trainer's fleet adapts handicaps and resignation to the games of all
//! workers and sends them to the workers as an [`Adaptation`]. The workers send finished games back as [`Upload`]s.

use serde::{Deserialize, Serialize};

use super::Fleet;
use super::balance::Balance;
use super::resignation::Verification;
use super::statistics::Counters;
use hnefi_run::codec::{self, UPLOAD};
use hnefi_run::{GameRecord, RecordError};

/// The handicaps and the resignation rule that a fleet has adapted to its finished games.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Adaptation {
    balance: Balance,
    verification: Verification,
}

/// The finished games that a worker sends to the trainer at one time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Upload {
    /// The worker's seed, which is unique within the run.
    pub worker: u64,
    /// Name and version of the worker's program.
    pub program: String,
    /// Generation whose network played the latest moves.
    pub generation: u32,
    /// The finished games, in order of their numbers.
    pub games: Vec<GameRecord>,
    pub(super) counters: Counters,
}

impl Upload {
    /// Encodes the upload as the bytes of a file.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(UPLOAD, self)
    }

    /// Decodes the bytes of [`Upload::encode`] and replays every game; `file` names them in errors.
    ///
    /// # Errors
    /// When the bytes are not an upload, come from a newer program, or are truncated or damaged, and when a game is
    /// unfinished or breaks the rules.
    pub fn decode(file: &str, bytes: &[u8]) -> Result<Upload, RecordError> {
        let upload: Upload = codec::decode(UPLOAD, file, bytes)?;
        let damaged = |problem| RecordError::Damaged { file: file.to_owned(), what: "worker's game file", problem };
        upload.counters.check().map_err(damaged)?;
        for game in &upload.games {
            game.check()?;
            if !game.is_finished() {
                let problem = "the game goes on; expected finished games".to_owned();
                return Err(RecordError::Inconsistent { game: game.game, place: "end".to_owned(), problem });
            }
        }
        Ok(upload)
    }

    /// Number of training plies in the games.
    pub fn training_plies(&self) -> u64 {
        self.games.iter().map(|game| game.training_plies() as u64).sum()
    }
}

impl Fleet {
    /// The present handicaps and resignation rule.
    pub fn adaptation(&self) -> Adaptation {
        Adaptation { balance: self.balance.clone(), verification: self.verification.clone() }
    }

    /// Takes over the handicaps and the resignation rule of another fleet.
    pub fn adapt(&mut self, to: &Adaptation) {
        self.balance = to.balance.clone();
        self.verification = to.verification.clone();
    }

    /// Takes the games finished so far out of the fleet, for the trainer's fleet. This fleet does not adapt to them.
    pub fn send(&mut self, program: &str, generation: u32) -> Upload {
        let (games, counters) = self.finished();
        let (program, counters) = (program.to_owned(), Counters::total(&counters));
        Upload { worker: self.seed, program, generation, games, counters }
    }

    /// Makes an upload of games that this fleet has already handed over. Its counters are zero, because the plies were
    /// counted at that time.
    pub fn returned(&self, program: &str, generation: u32, games: Vec<GameRecord>) -> Upload {
        let (program, counters) = (program.to_owned(), Counters::default());
        Upload { worker: self.seed, program, generation, games, counters }
    }

    /// Adds another fleet's games to this generation.
    pub fn receive(&mut self, upload: Upload) {
        self.uploads.push(upload);
    }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Side;
    use hnefi_inference::Evaluator;

    use super::*;
    use crate::{Quota, ResignConfig, SelfPlayConfig, Uncontrolled};
    use hnefi_search::SearchConfig;

    fn uniform() -> Box<dyn Evaluator> {
        Box::new(hnefi_inference::UniformEvaluator)
    }

    fn fleet(seed: u64) -> Fleet {
        let resign = ResignConfig {
            enabled: true,
            min_verified: 5,
            verify_share: 1.0,
            threshold: 0.4,
            ..ResignConfig::default()
        };
        let config = SelfPlayConfig {
            games_in_flight: 32,
            balance_doublings: 2.0,
            blunder_share: 0.5,
            resign,
            ..SelfPlayConfig::default()
        };
        Fleet::new(&config, &SearchConfig::default(), seed).with_threads(1)
    }

    fn played(seed: u64) -> Upload {
        let mut fleet = fleet(seed);
        fleet.play(Quota::Games(32), 4, "network", &uniform, &mut Uncontrolled).unwrap();
        fleet.send("hnefi 1", 3)
    }

    #[test]
    fn an_upload_counts_like_own_games() {
        let upload = Upload::decode("a", &played(7).encode()).unwrap();
        assert_eq!((upload.worker, upload.games.len(), upload.generation), (7, 32, 3));
        let mut own = fleet(7);
        let mut trainer = fleet(1);
        trainer.receive(upload);
        let received = trainer.end_generation();
        let expected = own.run(Quota::Games(32), 4, "network", &uniform, &mut Uncontrolled).unwrap();
        assert_eq!(received, expected);
        assert_eq!(trainer.adaptation(), own.adaptation());
        assert_ne!(trainer.adaptation(), fleet(1).adaptation(), "one side won more");
        assert_eq!(trainer.end_generation().games, [], "counted once");
    }

    #[test]
    fn a_worker_plays_as_the_trainer_learned() {
        let mut trainer = fleet(1);
        trainer.receive(played(7));
        trainer.end_generation();
        let text = serde_json::to_string(&trainer.adaptation()).unwrap();
        let mut worker = fleet(7);
        worker.adapt(&serde_json::from_str(&text).unwrap());
        assert_eq!(worker.adaptation(), trainer.adaptation());
    }

    #[test]
    fn games_that_cannot_be_are_refused() {
        let mut upload = played(7);
        upload.games[3].resigned = Some(Side::Attackers);
        let message = Upload::decode("a", &upload.encode()).unwrap_err().to_string();
        assert!(message.starts_with("game 3, end: "), "{message}");
        let mut upload = played(7);
        upload.games[4].outcome = None;
        upload.games[4].plies.pop();
        let message = Upload::decode("a", &upload.encode()).unwrap_err().to_string();
        assert!(message.starts_with("game 4, end: "), "{message}");
        let mut upload = played(7);
        upload.counters.surprise = f64::NAN;
        let message = Upload::decode("a", &upload.encode()).unwrap_err().to_string();
        assert!(message.starts_with("a: damaged worker's game file: surprise is NaN; expected "), "{message}");
        let message = Upload::decode("a", &hnefi_run::encode_games(&[])).unwrap_err().to_string();
        assert!(message.contains("expected a worker's game file"), "{message}");
    }
}
