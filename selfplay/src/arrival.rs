//! Games that one fleet plays for another: a worker's for the trainer's.
//!
//! A worker keeps nothing of a run but its games in flight. The trainer's fleet is the one that adapts, from
//! everybody's games; what came of it travels to the workers as an [`Adaptation`], and the games come back as
//! [`Arrival`]s.

use serde::{Deserialize, Serialize};

use super::Fleet;
use super::balance::Balance;
use super::resignation::Verification;
use super::statistics::Counters;
use hnefi_run::codec;
use hnefi_run::codec::ARRIVAL;
use hnefi_run::{GameRecord, RecordError};

/// What a fleet has learned from its games about how to play the next ones: handicaps, and whether to resign.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Adaptation {
    balance: Balance,
    verification: Verification,
}

/// Games that a worker brings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arrival {
    /// The worker's seed, which no other has.
    pub worker: u64,
    /// Version of its program.
    pub program: String,
    /// Generation whose network played the latest moves.
    pub generation: u32,
    /// Games that have ended, by number.
    pub games: Vec<GameRecord>,
    pub(super) counters: Counters,
}

impl Arrival {
    /// The arrival as the bytes of a file.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(ARRIVAL, self)
    }

    /// Reads what [`Arrival::encode`] made and checks every game; `file` names it in errors.
    ///
    /// # Errors
    /// When the bytes are no arrival, come from a newer program, or are cut or damaged, or a game is not finished or
    /// does not follow the rules.
    pub fn decode(file: &str, bytes: &[u8]) -> Result<Arrival, RecordError> {
        let arrival: Arrival = codec::decode(ARRIVAL, file, bytes)?;
        for game in &arrival.games {
            game.check()?;
            if !game.is_finished() {
                let problem = "the game goes on; expected finished games".to_owned();
                return Err(RecordError::Inconsistent { game: game.game, place: "end".to_owned(), problem });
            }
        }
        Ok(arrival)
    }

    /// Training plies in its games.
    pub fn training_plies(&self) -> u64 {
        self.games.iter().map(|game| game.training_plies() as u64).sum()
    }
}

impl Fleet {
    /// What this fleet has learned about how to play.
    pub fn adaptation(&self) -> Adaptation {
        Adaptation { balance: self.balance.clone(), verification: self.verification.clone() }
    }

    /// Plays from now on as another fleet would.
    pub fn adapt(&mut self, to: &Adaptation) {
        self.balance = to.balance.clone();
        self.verification = to.verification.clone();
    }

    /// Hands over the games finished so far to be brought to the trainer's fleet. Nothing is learned from them here.
    pub fn send(&mut self, program: &str, generation: u32) -> Arrival {
        let (games, counters) = self.finished();
        let (program, counters) = (program.to_owned(), Counters::total(&counters));
        Arrival { worker: self.seed, program, generation, games, counters }
    }

    /// Games that this fleet has handed over already and that are to arrive anew. Their plies were counted then.
    pub fn returned(&self, program: &str, generation: u32, games: Vec<GameRecord>) -> Arrival {
        let (program, counters) = (program.to_owned(), Counters::default());
        Arrival { worker: self.seed, program, generation, games, counters }
    }

    /// Takes in games that another fleet sent; they belong to this generation.
    pub fn receive(&mut self, arrival: Arrival) {
        self.arrivals.push(arrival);
    }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Side;
    use hnefi_inference::{EvalError, Evaluator};

    use super::*;
    use crate::{Quota, ResignConfig, SelfPlayConfig, Unobserved};
    use hnefi_search::SearchConfig;

    fn uniform() -> Result<Box<dyn Evaluator>, EvalError> {
        Ok(Box::new(hnefi_inference::UniformEvaluator))
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

    fn played(seed: u64) -> Arrival {
        let mut fleet = fleet(seed);
        fleet.play(Quota::Games(32), 4, "network", &uniform, &Unobserved).unwrap();
        fleet.send("hnefi 1", 3)
    }

    #[test]
    fn an_arrival_counts_like_games_of_ones_own() {
        let arrival = Arrival::decode("a", &played(7).encode()).unwrap();
        assert_eq!((arrival.worker, arrival.games.len(), arrival.generation), (7, 32, 3));
        let mut own = fleet(7);
        let mut trainer = fleet(1);
        trainer.receive(arrival);
        let received = trainer.end_generation();
        let expected = own.run(Quota::Games(32), 4, "network", &uniform, &Unobserved).unwrap();
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
        let mut arrival = played(7);
        arrival.games[3].resigned = Some(Side::Attackers);
        let message = Arrival::decode("a", &arrival.encode()).unwrap_err().to_string();
        assert!(message.starts_with("game 3, end: "), "{message}");
        let mut arrival = played(7);
        arrival.games[4].outcome = None;
        arrival.games[4].plies.pop();
        let message = Arrival::decode("a", &arrival.encode()).unwrap_err().to_string();
        assert!(message.starts_with("game 4, end: "), "{message}");
        let message = Arrival::decode("a", &hnefi_run::encode_games(&[])).unwrap_err().to_string();
        assert!(message.contains("expected a worker's game file"), "{message}");
    }
}
