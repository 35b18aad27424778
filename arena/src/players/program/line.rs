//! The game as an external program is told it.

use hnefi_engine::{Move, Position, Rules};

/// How the game came to the position: a start and the moves since.
#[derive(Clone, Debug, Default)]
pub(in crate::players) struct Line {
    /// FEN of the start; `None` for the standard one.
    start: Option<String>,
    moves: Vec<Move>,
    /// Where the moves lead, once this was looked at.
    at: Option<Position>,
}

impl Line {
    /// The game from its start (`None` for the standard one) through these moves.
    pub(in crate::players) fn new(start: Option<&str>, moves: &[Move]) -> Line {
        Line { start: start.map(str::to_owned), moves: moves.to_vec(), at: None }
    }

    /// FEN of the start; `None` for the standard one.
    pub(in crate::players) fn start(&self) -> Option<&str> {
        self.start.as_deref()
    }

    /// The moves since.
    pub(in crate::players) fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Brings the line to `position`: it leads there already, or with the reply to our latest move, or begins anew
    /// there.
    pub(in crate::players) fn follow(&mut self, position: &Position) {
        let same = |other: &Position| other.ply() == position.ply() && other.state_key() == position.state_key();
        if let Some(mut at) = self.at.take().or_else(|| self.replay(position.rules())) {
            if same(&at) {
                return;
            }
            if let Some(reply) = position.last_move().filter(|&reply| at.is_legal(reply)) {
                at.advance(reply);
                if same(&at) {
                    self.moves.push(reply);
                    return;
                }
            }
        }
        *self = Line { start: Some(position.fen()), moves: Vec::new(), at: None };
    }

    fn replay(&self, rules: &Rules) -> Option<Position> {
        let mut position = match &self.start {
            None => Position::start(rules),
            Some(fen) => Position::from_fen(rules, fen).ok()?,
        };
        self.moves.iter().try_for_each(|&mv| position.play(mv).map(drop)).ok()?;
        Some(position)
    }

    /// Takes in our own move and where it led.
    pub(in crate::players) fn went_on(&mut self, mv: Move, after: Position) {
        self.moves.push(mv);
        self.at = Some(after);
    }
}
