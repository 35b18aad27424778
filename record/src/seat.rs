//! Who sits at a board.

/// Who moves one side's pieces; `P` is what is known of a player, its name at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seat<P = String> {
    /// A person at this board.
    Person,
    /// A player: one of the toolkit, or an external program.
    Player(P),
}

impl<P> Seat<P> {
    /// Whether a person sits here.
    pub fn is_person(&self) -> bool {
        matches!(self, Seat::Person)
    }

    /// The player, where one sits.
    pub fn player(&self) -> Option<&P> {
        match self {
            Seat::Person => None,
            Seat::Player(player) => Some(player),
        }
    }

    /// The seat with something else known of its player.
    pub fn map<Q>(&self, known: impl FnOnce(&P) -> Q) -> Seat<Q> {
        self.player().map_or(Seat::Person, |player| Seat::Player(known(player)))
    }
}
