//! What a board in the terminal begins with.

use std::path::PathBuf;
use std::time::Duration;

use hnefi_arena::players::Player;
use hnefi_engine::Rules;

use hnefi_record::{Seat, Session};

use crate::PlayError;

/// Everything a board needs to begin.
pub struct PlaySetup {
    /// The rules played by.
    pub rules: Rules,
    /// FEN to begin from; `None` for the standard start.
    pub start: Option<String>,
    /// Attackers' and defenders' seats, by [`hnefi_engine::Side::index`].
    pub seats: [Seat<Box<dyn Player>>; 2],
    /// Gives hints and, while a person thinks, the view shown in the bar; `None` for neither.
    pub adviser: Option<Box<dyn Player>>,
    /// Seed of the players' random choices.
    pub seed: u64,
    /// Where games are saved.
    pub folder: PathBuf,
    /// How long a move stays on the screen before the next one in a game without people.
    pub pace: Duration,
}

impl PlaySetup {
    /// A game from the standard start, without an adviser, saved to the present folder, at three moves in two seconds.
    pub fn new(rules: Rules, seats: [Seat<Box<dyn Player>>; 2]) -> PlaySetup {
        let pace = Duration::from_millis(667);
        PlaySetup { rules, start: None, seats, adviser: None, seed: 0, folder: PathBuf::from("."), pace }
    }

    /// The game at its start.
    ///
    /// # Errors
    /// When the start position does not stand under the rules.
    pub fn session(&self) -> Result<Session, PlayError> {
        let seats = self.seats.each_ref().map(|seat| seat.map(|player| player.name().to_owned()));
        Ok(Session::new(self.rules, self.start.clone(), seats)?)
    }
}
