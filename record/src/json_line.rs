//! One game as one line of JSON. Every line is also a request that `hnefi replay` accepts, and read back by
//! [`crate::json_game`].

use hnefi_engine::{Move, MoveList, Side};
use hnefi_inference::{Handicap, Wdl};
use serde::Serialize;

use crate::{GameId, GameRecord, RulesText, TextError, walk};

/// A game in datasets; lists have one entry per ply.
#[derive(Debug, Serialize)]
pub struct GameLine<'a> {
    /// Identity of the game.
    pub game_id: String,
    /// Number of the game in its run.
    pub game: u64,
    /// Seed of the run.
    pub seed: u64,
    /// Generation of the run, if known.
    pub generation: Option<u32>,
    /// The rules.
    pub rules: RulesText,
    /// Plies after which the game is a draw, 0 for none.
    pub ply_cap: u16,
    /// Where the game began, `None` for the standard start.
    pub fen: Option<&'a str>,
    /// Who played the attackers.
    pub attackers: &'a str,
    /// Who played the defenders.
    pub defenders: &'a str,
    /// What favoured the attackers: doublings of their playouts, and the share of the other side's random moves.
    pub handicap: [f32; 2],
    /// The moves, such as `a4b4`.
    pub moves: Vec<String>,
    /// The squares that each move emptied.
    pub captures: Vec<Vec<String>>,
    /// The legal moves, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legal: Option<Vec<Vec<String>>>,
    /// The policy targets: moves with their weights.
    pub policy: Vec<Vec<(String, f32)>>,
    /// Playouts of the searches.
    pub playouts: Vec<u32>,
    /// The network's chances of win, draw and loss for the side to move.
    pub raw: Vec<[f32; 3]>,
    /// The same chances after the search.
    pub searched: Vec<[f32; 3]>,
    /// Which plies are training samples.
    pub trains: Vec<bool>,
    /// `attackers`, `defenders` (who won), `draw` or `ongoing`.
    pub status: &'static str,
    /// Why the game ended.
    pub reason: &'static str,
    /// The side that would have resigned, in a game that was played on.
    pub would_have_resigned: Option<Side>,
}

impl GameLine<'_> {
    /// The game; `generation` is the generation of its run, if known.
    ///
    /// # Errors
    /// When the game breaks the rules.
    pub fn of(game: &GameRecord, generation: Option<u32>, with_legal: bool) -> Result<GameLine<'_>, TextError> {
        let size = game.rules.size();
        let (mut captures, mut legal) = (Vec::with_capacity(game.plies.len()), Vec::new());
        let mut moves = MoveList::new();
        walk(game, |step| {
            captures.push(step.captured.map(|square| square.name(size)).collect());
            if with_legal {
                step.before.legal_moves(&mut moves);
                legal.push(moves.iter().map(|mv| mv.text(size)).collect());
            }
        })?;
        let plies = &game.plies;
        let Handicap { doublings, blunders } = game.handicap;
        let (status, reason) = end(game);
        let triple = |wdl: Wdl| [wdl.win, wdl.draw, wdl.loss];
        let entry = |&(mv, weight): &(Move, f32)| (mv.text(size), weight);
        Ok(GameLine {
            game_id: GameId::of(game).to_string(),
            game: game.game,
            seed: game.seed,
            generation,
            rules: RulesText::of(&game.rules),
            ply_cap: game.rules.ply_cap,
            fen: game.start.as_deref(),
            attackers: &game.players[Side::Attackers.index()],
            defenders: &game.players[Side::Defenders.index()],
            handicap: [doublings, blunders],
            moves: plies.iter().map(|ply| ply.mv.text(size)).collect(),
            captures,
            legal: with_legal.then_some(legal),
            policy: plies.iter().map(|ply| ply.policy.iter().map(entry).collect()).collect(),
            playouts: plies.iter().map(|ply| ply.playouts).collect(),
            raw: plies.iter().map(|ply| triple(ply.raw)).collect(),
            searched: plies.iter().map(|ply| triple(ply.searched)).collect(),
            trains: plies.iter().map(|ply| ply.trains).collect(),
            status,
            reason,
            would_have_resigned: game.would_have_resigned,
        })
    }
}

/// The game as a line, without the line break; `generation` is the generation of its run, if known.
///
/// # Errors
/// When the game breaks the rules.
pub fn json_line(game: &GameRecord, generation: Option<u32>) -> Result<String, TextError> {
    serde_json::to_string(&GameLine::of(game, generation, true)?)
        .map_err(|source| TextError::Json { game: game.game, source })
}

/// The status and the reason of a game's end in datasets: a reason of the rules, or `resignation`.
pub fn end(game: &GameRecord) -> (&'static str, &'static str) {
    match (game.resigned, game.outcome) {
        (Some(side), _) => (side.opponent().as_str(), "resignation"),
        (None, Some(outcome)) => (outcome.status(), outcome.reason().as_str()),
        (None, None) => ("ongoing", ""),
    }
}
