//! The game so far: where it began, what was played and captured, and where it stands.

use crate::{
    Bitboard, Ending, FenError, GameResult, IllegalMove, IllegalMoveReason, Move, Outcome, Position, Rules, Side, Undo,
};

/// One move of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ply {
    /// Who moved.
    pub side: Side,
    /// The move.
    pub mv: Move,
    /// Every square it emptied by capture, a captured king's too.
    pub captured: Bitboard,
}

/// A game from its start to where it stands: moves are played, taken back and looked up.
///
/// [`Position`] knows what the rules need and no more. A game knows all that was played, so that players, records and
/// boards need not keep lists beside it.
///
/// ```
/// use hnefi_engine::{Ending, Game, GameResult, Move, Preset, Side};
///
/// let rules = Preset::Brandubh.rules();
/// let mut game = Game::new(&rules);
/// for text in ["d6c6", "d5f5", "c6c5", "d4d6"] {
///     game.play(Move::parse(text, rules.size())?)?;
/// }
/// assert_eq!(game.last().map(|ply| (ply.side, ply.captured.len())), Some((Side::Defenders, 0)));
/// assert_eq!(game.position_at(0).map(|start| start.fen()), Some(game.start().fen()));
///
/// // The king is two moves from a corner, and takes the last one back.
/// game.undo();
/// assert_eq!((game.len(), game.position().side_to_move()), (3, Side::Defenders));
///
/// game.resign(Side::Attackers)?;
/// assert_eq!(game.ending(), Some(Ending::Resigned(Side::Attackers)));
/// assert_eq!(game.result_for(Side::Defenders), Some(GameResult::Win));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Game {
    start: Position,
    position: Position,
    plies: Vec<Ply>,
    /// How each ply is taken back.
    undos: Vec<Undo>,
    resigned: Option<Side>,
}

/// A resignation after the end of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the game is over; nobody can resign")]
pub struct GameOver(pub Ending);

impl Game {
    /// A game at the standard start of its rules.
    pub fn new(rules: &Rules) -> Game {
        Game::from_position(Position::start(rules))
    }

    /// A game that begins with this board, see [`Position::from_fen`].
    ///
    /// # Errors
    /// When the text is no FEN or the position cannot stand on the board.
    pub fn from_fen(rules: &Rules, fen: &str) -> Result<Game, FenError> {
        Position::from_fen(rules, fen).map(Game::from_position)
    }

    /// A game that goes on from here. What was played before counts for repetition and clocks, and is neither listed
    /// nor taken back.
    pub fn from_position(position: Position) -> Game {
        Game { start: position.clone(), position, plies: Vec::new(), undos: Vec::new(), resigned: None }
    }

    /// The rules in force.
    pub fn rules(&self) -> &Rules {
        self.position.rules()
    }

    /// The position the game began from.
    pub fn start(&self) -> &Position {
        &self.start
    }

    /// The FEN the game began from, `None` for the standard start of its rules.
    pub fn start_fen(&self) -> Option<String> {
        let fen = self.start.fen();
        (fen != Position::start(self.rules()).fen()).then_some(fen)
    }

    /// The position on the board.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The plies played, first to last.
    pub fn plies(&self) -> &[Ply] {
        &self.plies
    }

    /// The moves played, first to last.
    pub fn moves(&self) -> impl ExactSizeIterator<Item = Move> + '_ {
        self.plies.iter().map(|ply| ply.mv)
    }

    /// The last ply played.
    pub fn last(&self) -> Option<&Ply> {
        self.plies.last()
    }

    /// Plies played.
    pub fn len(&self) -> usize {
        self.plies.len()
    }

    /// Whether nothing was played yet.
    pub fn is_empty(&self) -> bool {
        self.plies.is_empty()
    }

    /// The position after `ply` plies, `None` when the game has not come so far. It is found by taking moves back from
    /// the present one.
    pub fn position_at(&self, ply: usize) -> Option<Position> {
        let mut position = (ply <= self.len()).then(|| self.position.clone())?;
        for &undo in self.undos[ply..].iter().rev() {
            position.undo(undo);
        }
        Some(position)
    }

    /// Every position from the start to the present one: one more than plies.
    pub fn positions(&self) -> impl Iterator<Item = Position> + '_ {
        let mut plies = self.plies.iter();
        std::iter::successors(Some(self.start.clone()), move |position| {
            let mut next = position.clone();
            next.advance(plies.next()?.mv);
            Some(next)
        })
    }

    /// What was played since `earlier`, if that is this game at an earlier time or now.
    pub fn plies_since(&self, earlier: &Game) -> Option<&[Ply]> {
        let same_start = self.start.state_key() == earlier.start.state_key();
        self.plies.strip_prefix(earlier.plies.as_slice()).filter(|_| same_start)
    }

    /// How the game ended by the rules, `None` while it goes on there.
    pub fn outcome(&self) -> Option<Outcome> {
        self.position.outcome()
    }

    /// How the game ended, by the rules or by resignation; `None` while it goes on.
    pub fn ending(&self) -> Option<Ending> {
        self.resigned.map(Ending::Resigned).or_else(|| self.outcome().map(Ending::Board))
    }

    /// What the game came to for one side, `None` while it goes on.
    pub fn result_for(&self, side: Side) -> Option<GameResult> {
        self.ending().map(|ending| ending.result_for(side))
    }

    /// Plays a move after checking it.
    ///
    /// # Errors
    /// When the move is illegal or the game is over; nothing has changed then.
    pub fn play(&mut self, mv: Move) -> Result<&Ply, IllegalMove> {
        if let Some(side) = self.resigned {
            let reason = IllegalMoveReason::GameOver(Ending::Resigned(side));
            return Err(IllegalMove { mv, size: self.position.size(), reason });
        }
        self.position.check(mv)?;
        let side = self.position.side_to_move();
        let undo = self.position.play_unchecked(mv);
        self.undos.push(undo);
        self.plies.push(Ply { side, mv, captured: undo.captured() });
        Ok(&self.plies[self.plies.len() - 1])
    }

    /// Takes back the last ply, with the resignation that may have followed it; `None` when nothing was played.
    pub fn undo(&mut self) -> Option<Ply> {
        self.resigned = None;
        let (ply, undo) = (self.plies.pop()?, self.undos.pop()?);
        self.position.undo(undo);
        Some(ply)
    }

    /// One side gives up, whichever side is to move.
    ///
    /// # Errors
    /// When the game is over already; it stays as it is.
    pub fn resign(&mut self, side: Side) -> Result<(), GameOver> {
        match self.ending() {
            Some(ending) => Err(GameOver(ending)),
            None => {
                self.resigned = Some(side);
                Ok(())
            }
        }
    }

    /// Takes a resignation back; false when there was none.
    pub fn withdraw_resignation(&mut self) -> bool {
        self.resigned.take().is_some()
    }
}
