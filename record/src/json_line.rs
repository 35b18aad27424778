//! One game as one line of JSON. Every line is also a request that `hnefi replay` accepts.

use hnefi_engine::{BoardSize, Move, MoveList, Side};
use hnefi_inference::Wdl;
use serde::Serialize;

use crate::{GameId, GameRecord, RulesText, TextError, walk};

/// The fields of a line; lists have one entry per ply.
#[derive(Serialize)]
struct GameLine<'a> {
    game_id: String,
    game: u64,
    seed: u64,
    generation: Option<u32>,
    rules: RulesText,
    ply_cap: u16,
    fen: Option<&'a str>,
    attackers: &'a str,
    defenders: &'a str,
    moves: Vec<String>,
    captures: Vec<Vec<String>>,
    legal: Vec<Vec<String>>,
    policy: Vec<Vec<(String, f32)>>,
    playouts: Vec<u32>,
    raw: Vec<[f32; 3]>,
    searched: Vec<[f32; 3]>,
    trains: Vec<bool>,
    status: &'static str,
    reason: &'static str,
    would_have_resigned: Option<Side>,
}

/// The game as a line, without the line break; `generation` is the generation of its run, if known.
///
/// # Errors
/// When the game breaks the rules.
pub fn json_line(game: &GameRecord, generation: Option<u32>) -> Result<String, TextError> {
    let size = game.rules.size();
    let (mut captures, mut legal) = (Vec::with_capacity(game.plies.len()), Vec::with_capacity(game.plies.len()));
    let mut moves = MoveList::new();
    walk(game, |step| {
        captures.push(step.captured.map(|square| square.name(size)).collect());
        step.before.legal_moves(&mut moves);
        legal.push(moves.iter().map(|mv| mv.text(size)).collect());
    })?;
    let plies = &game.plies;
    let (status, reason) = end(game);
    let line = GameLine {
        game_id: GameId::of(game).to_string(),
        game: game.game,
        seed: game.seed,
        generation,
        rules: RulesText::of(&game.rules),
        ply_cap: game.rules.ply_cap,
        fen: game.start.as_deref(),
        attackers: &game.players[Side::Attackers.index()],
        defenders: &game.players[Side::Defenders.index()],
        moves: plies.iter().map(|ply| ply.mv.text(size)).collect(),
        captures,
        legal,
        policy: plies.iter().map(|ply| policy(&ply.policy, size)).collect(),
        playouts: plies.iter().map(|ply| ply.playouts).collect(),
        raw: plies.iter().map(|ply| triple(ply.raw)).collect(),
        searched: plies.iter().map(|ply| triple(ply.searched)).collect(),
        trains: plies.iter().map(|ply| ply.trains).collect(),
        status,
        reason,
        would_have_resigned: game.would_have_resigned,
    };
    serde_json::to_string(&line).map_err(|source| TextError::Json { game: game.game, source })
}

/// The status and the reason of a game's end in datasets: a reason of the rules, or `resignation`.
pub fn end(game: &GameRecord) -> (&'static str, &'static str) {
    match (game.resigned, game.outcome) {
        (Some(side), _) => (side.opponent().as_str(), "resignation"),
        (None, Some(outcome)) => (outcome.status(), outcome.reason().as_str()),
        (None, None) => ("ongoing", ""),
    }
}

fn policy(policy: &[(Move, f32)], size: BoardSize) -> Vec<(String, f32)> {
    policy.iter().map(|&(mv, weight)| (mv.text(size), weight)).collect()
}

fn triple(wdl: Wdl) -> [f32; 3] {
    [wdl.win, wdl.draw, wdl.loss]
}
