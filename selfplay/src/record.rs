//! The record of one game: moves, policy targets and values, never tensors, so that encodings may change and old games
//! stay readable.

use hnefi_engine::{Move, Outcome, Rules, Side};
use hnefi_models::Wdl;
use serde::{Deserialize, Serialize};

/// One game from its start to its end (or to where it stands, for a game in flight).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameRecord {
    /// Number of the game within its run; with the seed it names all randomness of the game.
    pub game: u64,
    /// Seed of the run.
    pub seed: u64,
    /// The rules, the ply cap of self-play included.
    pub rules: Rules,
    /// FEN the game began from; `None` for the standard start.
    pub start: Option<String>,
    /// Who played attackers and defenders at the end: a checkpoint's id or a player's spec.
    pub players: [String; 2],
    /// The plies, first to last.
    pub plies: Vec<PlyRecord>,
    /// How it ended; `None` while it is in flight.
    pub outcome: Option<Outcome>,
    /// The side that resigned, if the game ended so. `outcome` is `None` then: nobody knows how it would have ended on the board.
    pub resigned: Option<Side>,
    /// The side that would have resigned by the rule, in a game played on to verify the rule.
    pub would_have_resigned: Option<Side>,
}

/// One ply and what the search thought of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlyRecord {
    /// The move played.
    pub mv: Move,
    /// Policy target over legal moves, weights summing to 1, sparse (moves under 0.1 % are left out); empty when the ply has none.
    pub policy: Vec<(Move, f32)>,
    /// Playouts of the search; 0 for a move from the raw policy.
    pub playouts: u32,
    /// The network's value of the position, from the side to move.
    pub raw: Wdl,
    /// The search's value of the position, from the side to move.
    pub searched: Wdl,
    /// Whether the ply trains the network.
    pub trains: bool,
}

impl GameRecord {
    /// The winner by the board or by resignation; `None` for a draw or an unfinished game.
    pub fn winner(&self) -> Option<Side> {
        self.resigned.map(Side::opponent).or_else(|| self.outcome.and_then(Outcome::winner))
    }

    /// Whether the game has ended, on the board or by resignation.
    pub fn is_finished(&self) -> bool {
        self.outcome.is_some() || self.resigned.is_some()
    }
}
