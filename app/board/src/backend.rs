//! What a board needs of the program around it.

use std::collections::HashMap;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use hnefi_engine::Game;
use hnefi_inference::Evaluator;
use hnefi_record::GameRecord;
use hnefi_search::Rng;
use serde::{Deserialize, Serialize};

use crate::{Answer, Offer, OpenGame, PlayerError, Refusal, problem};

/// Where a game lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Name of the file or the run.
    pub place: String,
    /// The generation, of a game of a run.
    pub generation: Option<u32>,
    /// Number of the game there.
    pub game: u64,
}

/// The program that a board runs in: a server with threads, or a worker of a page.
pub trait Host: Send + Sync {
    /// The time since the host began. It never goes back.
    fn now(&self) -> Duration;

    /// An unguessable random number, another one at every call.
    fn random(&self) -> u64;

    /// There is work in the queue, for [`crate::Board::next`].
    fn work_waits(&self);

    /// Something in a room has changed, and [`crate::Listener::news`] may have something to tell.
    fn ring(&self);

    /// Names of the folders that games can be opened from.
    fn folders(&self) -> Vec<String> {
        Vec::new()
    }

    /// Names of the runs that games can be opened from.
    fn runs(&self) -> Vec<String> {
        Vec::new()
    }

    /// A game of a file or a run, and where it lies.
    ///
    /// # Errors
    /// When there is no such game, or it cannot be read.
    fn recorded(&self, _asked: &OpenGame) -> Result<(GameRecord, Origin), Refusal> {
        Err(Refusal::missing(problem!("error.folders", "there are no folders of games here; paste the game")))
    }
}

/// The networks that a board offers, by keys such as `shipped/brandubh`, and the external.
pub trait Players: Send + Sync {
    /// The networks on offer, the preferred ones first.
    fn networks(&self) -> Vec<Offer>;

    /// What a page calls a network.
    ///
    /// # Errors
    /// When there is no such network.
    fn name(&self, key: &str) -> Result<String, PlayerError>;

    /// An identity that stays with one network, while a key such as `run/0` moves on to the newest.
    ///
    /// # Errors
    /// When there is no such network.
    fn resolve(&self, key: &str) -> Result<String, PlayerError>;

    /// Makes an evaluator of a network; `None` while the network is on its way.
    ///
    /// # Errors
    /// When there is no such network or it cannot be loaded.
    fn evaluator(&self, key: &str) -> Result<Option<Box<dyn Evaluator>>, PlayerError>;

    /// Names of networks by the identity that records name them by.
    fn identities(&self) -> HashMap<String, String>;

    /// A player that only this host has.
    fn external(&self) -> Option<&dyn ExternalPlayer> {
        None
    }
}

/// A player that only this host has, such as another program. It thinks for itself, beside the searches.
pub trait ExternalPlayer: Send + Sync {
    /// What pages call it.
    fn name(&self) -> &str;

    /// Asks for a move; the answer comes once. There is none if the question is not `wanted` any more when its turn
    /// comes.
    ///
    /// # Errors
    /// When it cannot be asked.
    fn ask(
        &self,
        question: Question,
        wanted: Box<dyn Fn() -> bool + Send>,
    ) -> Result<Receiver<Result<Answer, PlayerError>>, PlayerError>;
}

/// Which game of which room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoomGame {
    pub(crate) room: u64,
    pub(crate) game: u64,
}

/// What an external is asked.
pub struct Question {
    /// Of which game.
    pub game: RoomGame,
    /// The game so far.
    pub played: Game,
    /// For what it leaves to chance.
    pub rng: Rng,
}
