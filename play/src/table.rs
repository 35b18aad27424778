//! What is played and who sits at the table.

use std::path::PathBuf;
use std::time::Duration;

use hnefi_arena::players::Player;
use hnefi_engine::{Rules, Side};

use crate::PlayError;
use crate::session::{Occupant, Session};

/// Who moves one side's pieces.
pub enum Seat {
    /// A person at this board.
    Person,
    /// A player of the toolkit.
    Player(Box<dyn Player>),
}

impl Seat {
    /// What the session needs to know of it.
    pub(crate) fn occupant(&self) -> Occupant {
        match self {
            Seat::Person => Occupant::Person,
            Seat::Player(player) => Occupant::Player(player.name().to_owned()),
        }
    }
}

/// Everything a board needs to begin.
pub struct Table {
    /// The rules played by.
    pub rules: Rules,
    /// FEN to begin from; `None` for the standard start.
    pub start: Option<String>,
    /// Attackers' and defenders' seats, by [`Side::index`].
    pub seats: [Seat; 2],
    /// Gives hints and, while a person thinks, the view shown in the bar; `None` for neither.
    pub adviser: Option<Box<dyn Player>>,
    /// Seed of the players' random choices.
    pub seed: u64,
    /// Where games are saved.
    pub folder: PathBuf,
    /// How long a move stays on the screen before the next one when nobody sits at the table.
    pub pace: Duration,
}

impl Table {
    /// A game from the standard start, without an adviser, saved to the present folder, at three moves in two seconds.
    pub fn new(rules: Rules, seats: [Seat; 2]) -> Table {
        let pace = Duration::from_millis(667);
        Table { rules, start: None, seats, adviser: None, seed: 0, folder: PathBuf::from("."), pace }
    }

    /// The game at its start.
    ///
    /// # Errors
    /// When the start position does not stand under the rules.
    pub fn session(&self) -> Result<Session, PlayError> {
        let occupants = Side::BOTH.map(|side| self.seats[side.index()].occupant());
        Ok(Session::new(self.rules, self.start.clone(), occupants)?)
    }
}
