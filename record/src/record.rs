//! The record of one game: moves, policy targets and values. Records hold no tensors, so encodings may change and old
//! games stay readable.
//!
//! Training and all other tools read games as records. These types are also the file format (`docs/RECORDS.md`), so a
//! changed field needs a new format version; the golden file in the tests checks this.

use hnefi_engine::{Bitboard, Ending, Game, Move, MoveList, Outcome, Position, Rules, Side};
use hnefi_inference::{Handicap, Wdl};
use serde::{Deserialize, Serialize};

/// Tells a game from all others; it determines all randomness of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GameKey {
    /// Seed of the run, or of the worker that played.
    pub seed: u64,
    /// Number within that run, or of that worker.
    pub game: u64,
}

/// One game, finished or in flight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameRecord {
    /// Number of the game within its run. Seed and number determine all randomness of the game.
    pub game: u64,
    /// Seed of the run, or of the worker that played.
    pub seed: u64,
    /// The rules, including the ply cap of self-play.
    pub rules: Rules,
    /// FEN of the start position; `None` for the standard start.
    pub start: Option<String>,
    /// Players of attackers and defenders at the end of the game: a checkpoint's id or a player's spec.
    pub players: [String; 2],
    /// What favoured a side in self-play, from the first ply to the last.
    pub handicap: Handicap,
    /// The plies, first to last.
    pub plies: Vec<PlyRecord>,
    /// The outcome on the board; `None` for a game in flight or a resigned game.
    pub outcome: Option<Outcome>,
    /// The side that resigned, or whose program failed in a match. `outcome` is `None` then.
    pub resigned: Option<Side>,
    /// The side that would have resigned, in a game that was played to the end to verify the rule.
    pub would_have_resigned: Option<Side>,
}

/// One ply with the results of its search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlyRecord {
    /// The move played.
    pub mv: Move,
    /// Policy target over legal moves: weights that sum to 1, without moves below 0.1 %; empty if the ply has none.
    pub policy: Vec<(Move, f32)>,
    /// Playouts of the search; 0 for a move from the raw policy and for a root that was proven without playouts.
    pub playouts: u32,
    /// The network's value of the position, from the view of the side to move.
    pub raw: Wdl,
    /// The searched value of the position, from the view of the side to move.
    pub searched: Wdl,
    /// Whether the ply is a training ply. Opening plies are not: they have no policy target, and random moves follow
    /// them. (Older records also exclude plies of fast searches and of past checkpoints.)
    pub trains: bool,
}

/// Why a record could not be read or is inconsistent.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// An error of the file system.
    #[error("{file}: reading failed: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the file system said.
        source: std::io::Error,
    },
    /// The file is something else.
    #[error("{file}: {found}; expected a {what}")]
    Foreign {
        /// The file.
        file: String,
        /// What was expected.
        what: &'static str,
        /// The kind or the first bytes of the file.
        found: String,
    },
    /// The file comes from another version of the program.
    #[error("{file}: {what} of version {found}; this program reads versions 1 to {newest}")]
    Version {
        /// The file.
        file: String,
        /// What it is.
        what: &'static str,
        /// Its version.
        found: u32,
        /// The newest version known.
        newest: u32,
    },
    /// The file is truncated.
    #[error("{file}: {found} bytes of a {what}; expected {expected}, the file was cut off")]
    Truncated {
        /// The file.
        file: String,
        /// What it is.
        what: &'static str,
        /// Size in bytes.
        found: u64,
        /// Size it should have (at least).
        expected: u64,
    },
    /// Bytes follow the end of the file.
    #[error("{file}: {extra} bytes follow the end of the {what}; expected none")]
    Trailing {
        /// The file.
        file: String,
        /// What it is.
        what: &'static str,
        /// Number of bytes.
        extra: u64,
    },
    /// The checksum differs.
    #[error("{file}: checksum of the {what} is {found:08x}, expected {expected:08x}; the file is damaged")]
    Checksum {
        /// The file.
        file: String,
        /// What it is.
        what: &'static str,
        /// Checksum of the bytes.
        found: u32,
        /// Checksum in the header.
        expected: u32,
    },
    /// The envelope is valid and its contents are not.
    #[error("{file}: damaged {what}: {problem}")]
    Damaged {
        /// The file.
        file: String,
        /// What it is.
        what: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// A game breaks the rules or contradicts itself.
    #[error("game {game}, {place}: {problem}")]
    Inconsistent {
        /// Number of the game within its run.
        game: u64,
        /// `rules`, `start`, `ply 12` or `end`.
        place: String,
        /// What was found and what was expected.
        problem: String,
    },
}

/// Policy weights below this are left out of a record.
const SMALLEST_WEIGHT: f32 = 1e-3;

/// A policy as a record keeps it: without its smallest weights, which sum to 1 again, in 12 significant bits. That is
/// far finer than a search is accurate, and makes files a fifth smaller.
pub fn recorded_policy(target: &[(Move, f32)]) -> Vec<(Move, f32)> {
    let mut policy: Vec<_> = target.iter().copied().filter(|&(_, weight)| weight >= SMALLEST_WEIGHT).collect();
    let sum: f32 = policy.iter().map(|&(_, weight)| weight).sum();
    policy.iter_mut().for_each(|(_, weight)| *weight = short(*weight / sum));
    policy
}

/// Rounds to 12 significant bits.
fn short(weight: f32) -> f32 {
    const DROPPED: u32 = 12;
    f32::from_bits((weight.to_bits() + (1 << (DROPPED - 1))) & !((1 << DROPPED) - 1))
}

impl PlyRecord {
    /// A move without a search: no policy, no values, and it trains nothing.
    pub fn unsearched(mv: Move) -> PlyRecord {
        PlyRecord { mv, policy: Vec::new(), playouts: 0, raw: Wdl::UNKNOWN, searched: Wdl::UNKNOWN, trains: false }
    }

    /// Whether `searched` comes from a search or is a proven result. Imported games have no searches, and others may
    /// name playouts without a value.
    pub fn has_searched_value(&self) -> bool {
        let Wdl { win, draw, loss } = self.searched;
        (self.playouts > 0 && self.searched != Wdl::UNKNOWN) || [win, draw, loss].contains(&1.0)
    }
}

impl GameRecord {
    /// What tells the game from all others.
    pub fn key(&self) -> GameKey {
        GameKey { seed: self.seed, game: self.game }
    }

    /// A game that begins at the standard start of its rules, between players without names or handicap.
    pub fn new(seed: u64, game: u64, rules: Rules) -> GameRecord {
        GameRecord {
            game,
            seed,
            rules,
            start: None,
            players: [String::new(), String::new()],
            handicap: Handicap::NONE,
            plies: Vec::new(),
            outcome: None,
            resigned: None,
            would_have_resigned: None,
        }
    }

    /// How the game ended, on the board or by resignation; `None` for an unfinished game.
    pub fn ending(&self) -> Option<Ending> {
        self.resigned.map(Ending::Resigned).or_else(|| self.outcome.map(Ending::Board))
    }

    /// The winner, on the board or by resignation; `None` for a draw or an unfinished game.
    pub fn winner(&self) -> Option<Side> {
        self.ending().and_then(Ending::winner)
    }

    /// Whether the game has ended, on the board or by resignation.
    pub fn is_finished(&self) -> bool {
        self.ending().is_some()
    }

    /// Number of training plies.
    pub fn training_plies(&self) -> usize {
        self.plies.iter().filter(|ply| ply.trains).count()
    }

    /// The start position.
    ///
    /// # Errors
    /// When the FEN is not a position under the rules.
    pub fn start_position(&self) -> Result<Position, RecordError> {
        match &self.start {
            None => Ok(Position::start(&self.rules)),
            Some(fen) => Position::from_fen(&self.rules, fen)
                .map_err(|error| self.inconsistent("start".to_string(), error.to_string())),
        }
    }

    /// Replays the game ply by ply. Each step checks that the move is legal; the replay ends at the first illegal move.
    ///
    /// # Errors
    /// When the start FEN is not a position under the rules.
    pub fn replay(&self) -> Result<Replay<'_>, RecordError> {
        Ok(Replay { record: self, position: self.start_position()?, next: 0 })
    }

    /// The game as it was played on the board; a resignation is left out.
    ///
    /// # Errors
    /// When the start cannot stand or a move is illegal.
    pub fn game(&self) -> Result<Game, RecordError> {
        let mut game = Game::from_position(self.start_position()?);
        for (index, ply) in self.plies.iter().enumerate() {
            let played = on_board(ply.mv, game.position())
                .and_then(|()| game.play(ply.mv).map(drop).map_err(|illegal| illegal.to_string()));
            played.map_err(|problem| self.inconsistent(format!("ply {index}"), problem))?;
        }
        Ok(game)
    }

    /// The last position of the game.
    ///
    /// # Errors
    /// When the start FEN is not a position under the rules, or a move is illegal.
    pub fn final_position(&self) -> Result<Position, RecordError> {
        let mut replay = self.replay()?;
        while replay.step()?.is_some() {}
        Ok(replay.position)
    }

    /// Checks that the rules can be played, that every move is legal, that policy targets are on legal moves and sum to
    /// 1, that values are probabilities, and that the recorded outcome is the outcome on the board.
    ///
    /// # Errors
    /// When one of these is violated; the message names the game and the ply.
    pub fn check(&self) -> Result<(), RecordError> {
        if let Some(fault) = self.rules.faults().into_iter().next() {
            return Err(self.inconsistent("rules".to_string(), fault));
        }
        let Handicap { doublings, blunders } = self.handicap;
        if !(doublings.abs() <= MOST_DOUBLINGS && blunders.abs() <= 1.0) {
            let problem = format!(
                "{doublings} doublings and {blunders} random moves; expected at most {MOST_DOUBLINGS} and 1 either way"
            );
            return Err(self.inconsistent("handicap".to_string(), problem));
        }
        let mut replay = self.replay()?;
        let mut legal = MoveList::new();
        while let Some(ply) = self.plies.get(replay.next) {
            replay.position.legal_moves(&mut legal);
            let place = || format!("ply {}", replay.next);
            check_ply(ply, &legal).map_err(|problem| self.inconsistent(place(), problem))?;
            replay.step()?;
        }
        self.check_end(replay.position.outcome()).map_err(|problem| self.inconsistent("end".to_string(), problem))
    }

    fn check_end(&self, on_board: Option<Outcome>) -> Result<(), String> {
        let text = |outcome: Option<Outcome>| match outcome {
            None => "no end".to_string(),
            Some(outcome) => outcome.to_string(),
        };
        if self.outcome != on_board {
            return Err(format!("recorded is {}, on the board it is {}", text(self.outcome), text(on_board)));
        }
        if let (Some(side), Some(outcome)) = (self.resigned, on_board) {
            return Err(format!("{side} resigned a game that had ended: {}", text(Some(outcome))));
        }
        Ok(())
    }

    pub(crate) fn inconsistent(&self, place: String, problem: String) -> RecordError {
        RecordError::Inconsistent { game: self.game, place, problem }
    }
}

/// A replay of a game; see [`GameRecord::replay`].
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    record: &'a GameRecord,
    position: Position,
    next: usize,
}

impl<'a> Replay<'a> {
    /// The position reached.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The ply played from this position; `None` at the end of the record.
    pub fn ply(&self) -> Option<&'a PlyRecord> {
        self.record.plies.get(self.next)
    }

    /// Plays the next ply and returns it; `None` at the end of the record.
    ///
    /// # Errors
    /// When the move is illegal; the replay does not advance.
    pub fn step(&mut self) -> Result<Option<&'a PlyRecord>, RecordError> {
        let Some(ply) = self.ply() else { return Ok(None) };
        let played = on_board(ply.mv, &self.position)
            .and_then(|()| self.position.play(ply.mv).map_err(|illegal| illegal.to_string()));
        match played {
            Ok(_) => {
                self.next += 1;
                Ok(Some(ply))
            }
            Err(problem) => Err(self.record.inconsistent(format!("ply {}", self.next), problem)),
        }
    }
}

/// Checks that both squares are on the board and no other bits are set, before the rules read a move from damaged
/// bytes.
fn on_board(mv: Move, position: &Position) -> Result<(), String> {
    let squares = position.size().squares();
    if Move::new(mv.from(), mv.to()) != mv {
        return Err(format!("a move of bits {}; expected two squares, 18 bits", mv.bits()));
    }
    if mv.from().index() < squares && mv.to().index() < squares {
        Ok(())
    } else {
        let (from, to) = (mv.from().index(), mv.to().index());
        Err(format!("move from square {from} to {to}; expected squares 0 to {}", squares - 1))
    }
}

/// The most doublings of a handicap.
const MOST_DOUBLINGS: f32 = 16.0;

/// Tolerance for the sums of policy weights, which are rounded 32-bit floats.
const SUM_TOLERANCE: f32 = 1e-3;

fn check_ply(ply: &PlyRecord, legal: &[Move]) -> Result<(), String> {
    if ply.trains && ply.policy.is_empty() {
        return Err("a training ply has no policy target".to_string());
    }
    if let Some((mv, _)) = ply.policy.iter().find(|(mv, _)| !legal.contains(mv)) {
        return Err(format!("the policy target holds an illegal move (bits {})", mv.bits()));
    }
    let mut moves: Vec<u32> = ply.policy.iter().map(|&(mv, _)| mv.bits()).collect();
    moves.sort_unstable();
    if let Some(twice) = moves.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("the policy target holds a move twice (bits {})", twice[0]));
    }
    let sum: f32 = ply.policy.iter().map(|&(_, weight)| weight).sum();
    if ply.policy.iter().any(|&(_, weight)| weight.is_nan() || weight < 0.0) {
        return Err("a policy weight is below 0 or no number".to_string());
    }
    if !ply.policy.is_empty() && (sum - 1.0).abs() > SUM_TOLERANCE {
        return Err(format!("policy weights sum to {sum}; expected 1"));
    }
    for (name, wdl) in [("raw", ply.raw), ("searched", ply.searched)] {
        let sum = wdl.win + wdl.draw + wdl.loss;
        let within = |chance: f32| (-SUM_TOLERANCE..=1.0 + SUM_TOLERANCE).contains(&chance);
        if ![wdl.win, wdl.draw, wdl.loss].into_iter().all(within) || (sum - 1.0).abs() > SUM_TOLERANCE {
            let Wdl { win, draw, loss } = wdl;
            return Err(format!("{name} value is {win}, {draw}, {loss}; expected chances that sum to 1"));
        }
    }
    Ok(())
}

/// One ply of a recorded game.
pub struct Step<'a> {
    /// The position the move was played in.
    pub before: &'a Position,
    /// The recorded ply.
    pub ply: &'a PlyRecord,
    /// All squares of captured pieces.
    pub captured: Bitboard,
}

/// Checks a record and calls `visit` with each step.
///
/// # Errors
/// When the record is inconsistent; then `visit` is not called.
pub fn walk(game: &GameRecord, mut visit: impl FnMut(Step<'_>)) -> Result<(), RecordError> {
    game.check()?;
    let mut position = game.start_position()?;
    for ply in &game.plies {
        // Play, undo and play again: a copy of the position would copy the whole history at every ply.
        let undo = position.play_unchecked(ply.mv);
        position.undo(undo);
        visit(Step { before: &position, ply, captured: undo.captured() });
        position.advance(ply.mv);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use hnefi_engine::BoardSize;

    use super::*;

    #[test]
    fn playouts_without_a_value_are_no_value() {
        let mv = Move::parse("d6f6", BoardSize::SEVEN).unwrap();
        let ply = |playouts, searched| PlyRecord { playouts, searched, ..PlyRecord::unsearched(mv) };
        let guess = Wdl { win: 0.5, draw: 0.0, loss: 0.5 };
        for (ply, has) in
            [(ply(8, guess), true), (ply(8, Wdl::UNKNOWN), false), (ply(0, guess), false), (ply(0, Wdl::DRAW), true)]
        {
            assert_eq!(ply.has_searched_value(), has, "{ply:?}");
        }
    }

    #[test]
    fn short_weights_are_near() {
        for weight in [1.0, 0.5, 0.75, 0.0, 1.0 / 3.0, 0.001, 0.999_99] {
            assert!((short(weight) - weight).abs() <= weight / 4096.0, "{weight}");
            assert_eq!(short(short(weight)), short(weight));
        }
        assert_eq!([short(1.0), short(0.5), short(0.0)], [1.0, 0.5, 0.0]);
    }
}
