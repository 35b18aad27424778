//! A player that thinks in a thread of its own, so that a board stays alive meanwhile.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use hnefi_arena::players::{Choice, Player};
use hnefi_engine::Game;
use hnefi_search::{Rng, rng_for};

use hnefi_play::PlayError;

/// What the thread is asked.
enum Ask {
    NewGame,
    Choose { stamp: u64, game: Box<Game> },
}

/// A choice and the stamp of the question it answers.
#[derive(Debug)]
pub struct Thought {
    /// The stamp the question came with.
    pub stamp: u64,
    /// What the player chose.
    pub choice: Choice,
}

/// A player in its own thread. The thread ends when this is dropped and the thought at hand is finished.
pub struct Thinker {
    name: String,
    asks: Sender<Ask>,
    answers: Receiver<(u64, Result<Choice, PlayError>)>,
    thinking: Option<u64>,
}

impl Thinker {
    /// Gives `player` a thread; its random choices come from `[seed, purpose]`.
    ///
    /// # Panics
    /// When the system cannot start a thread.
    pub fn spawn(player: Box<dyn Player>, seed: u64, purpose: u64) -> Thinker {
        let name = player.name().to_owned();
        let (asks, questions) = channel();
        let (sender, answers) = channel();
        let rng = rng_for(&[seed, purpose]);
        std::thread::spawn(move || think(player, rng, questions, sender));
        Thinker { name, asks, answers, thinking: None }
    }

    /// The player's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The stamp of the question being thought about.
    pub fn thinking(&self) -> Option<u64> {
        self.thinking
    }

    /// Tells the player that another game begins.
    pub fn new_game(&mut self) {
        // A thread that is gone says so when it is polled for the next answer.
        let _ = self.asks.send(Ask::NewGame);
    }

    /// Asks for a move. An older question that has not been begun is dropped; the answer to one that has is stale.
    pub fn ask(&mut self, stamp: u64, game: &Game) {
        let _ = self.asks.send(Ask::Choose { stamp, game: Box::new(game.clone()) });
        self.thinking = Some(stamp);
    }

    /// The answer to the latest question, once it is there. Stale answers are dropped.
    ///
    /// # Errors
    /// When the player failed or its thread is gone.
    pub fn poll(&mut self) -> Result<Option<Thought>, PlayError> {
        loop {
            match self.answers.try_recv() {
                Ok((stamp, _)) if self.thinking != Some(stamp) => {}
                Ok((stamp, answer)) => {
                    self.thinking = None;
                    return answer.map(|choice| Some(Thought { stamp, choice }));
                }
                Err(TryRecvError::Empty) => return Ok(None),
                Err(TryRecvError::Disconnected) if self.thinking.take().is_some() => {
                    let problem = "its thread broke off".to_owned();
                    return Err(PlayError::Player { name: self.name.clone(), problem });
                }
                Err(TryRecvError::Disconnected) => return Ok(None),
            }
        }
    }
}

/// The thread's life: the newest question, one at a time.
fn think(
    mut player: Box<dyn Player>,
    mut rng: Rng,
    questions: Receiver<Ask>,
    answers: Sender<(u64, Result<Choice, PlayError>)>,
) {
    while let Ok(first) = questions.recv() {
        let mut newest = None;
        for ask in std::iter::once(first).chain(std::iter::from_fn(|| questions.try_recv().ok())) {
            match ask {
                Ask::NewGame => {
                    player.new_game();
                    newest = None;
                }
                Ask::Choose { stamp, game } => newest = Some((stamp, game)),
            }
        }
        if let Some((stamp, game)) = newest {
            let choice = player.choose(&game, &mut rng).map_err(|error| PlayError::of_player(player.name(), error));
            if answers.send((stamp, choice)).is_err() {
                return;
            }
        }
    }
}
