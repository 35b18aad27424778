//! One game between two players, written down as a [`GameRecord`].

use hnefi_engine::{Game, Move, Rules, Side};
use hnefi_inference::{Handicap, Wdl};
use serde::{Deserialize, Serialize};

use super::MatchError;
use crate::players::{Choice, Player, PlayerError, ProgramErrorKind};
use hnefi_run::{GameRecord, PlyRecord};
use hnefi_search::rng_for;

/// What one game is to be.
#[derive(Clone, Debug)]
pub struct GameParams<'a> {
    /// Rules, ply cap included.
    pub rules: &'a Rules,
    /// Number of the game; with the seed it names all randomness of the game.
    pub game: u64,
    /// Seed of the match.
    pub seed: u64,
    /// Moves played before the players take over.
    pub opening: &'a [Move],
}

/// A game and how it was lost, if not on the board.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedGame {
    /// The game. In the record the side of an external program that broke off has resigned.
    pub record: GameRecord,
    /// What that program did.
    pub forfeit: Option<Forfeit>,
}

/// A game that an external program lost by breaking off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forfeit {
    /// Number of the game, from 0.
    pub game: u64,
    /// Plies played before.
    pub ply: u32,
    /// The culprit's spec.
    pub player: String,
    /// The side it had.
    pub side: Side,
    /// What it did, in a word.
    pub reason: ProgramErrorKind,
    /// What was seen and what was expected.
    pub problem: String,
}

/// Plays a game to its end, or returns `None` as soon as `stop` says so. `players` are the attackers' and the
/// defenders'. An external program that breaks off ([`PlayerError::Program`]) loses the game.
///
/// # Errors
/// When any other player fails or plays an illegal move; the error names the player, the game and the ply.
pub fn play_game(
    params: &GameParams<'_>,
    players: [&mut dyn Player; 2],
    stop: &dyn Fn() -> bool,
) -> Result<Option<PlayedGame>, MatchError> {
    let mut game = Game::new(params.rules);
    let mut record = GameRecord {
        game: params.game,
        seed: params.seed,
        rules: *params.rules,
        start: None,
        players: [players[0].name().to_owned(), players[1].name().to_owned()],
        handicap: Handicap::NONE,
        plies: Vec::new(),
        outcome: None,
        resigned: None,
        would_have_resigned: None,
    };
    let mut players = players;
    players.iter_mut().for_each(|player| player.new_game());
    let failed = |player: &dyn Player, side: Side, ply: u32, problem: String| MatchError::Player {
        player: player.name().to_owned(),
        side,
        game: params.game,
        ply,
        problem,
    };
    for &mv in params.opening {
        game.play(mv).map_err(|error| MatchError::Opening { game: params.game, problem: error.to_string() })?;
        record.plies.push(ply_record(mv, None));
    }
    while game.outcome().is_none() {
        if stop() {
            return Ok(None);
        }
        let (side, ply) = (game.position().side_to_move(), game.position().ply());
        let player = &mut *players[side.index()];
        let mut rng = rng_for(&[params.seed, params.game, u64::from(ply)]);
        let choice = match player.choose(&game, &mut rng) {
            Ok(choice) => choice,
            Err(PlayerError::Program { player, error }) => {
                record.resigned = Some(side);
                let (reason, problem) = (error.kind, error.problem);
                let forfeit = Some(Forfeit { game: params.game, ply, player, side, reason, problem });
                return Ok(Some(PlayedGame { record, forfeit }));
            }
            Err(PlayerError::Stopped { .. }) => return Ok(None),
            Err(error) => return Err(failed(player, side, ply, error.to_string())),
        };
        if let Err(error) = game.play(choice.mv) {
            return Err(failed(player, side, ply, error.to_string()));
        }
        record.plies.push(ply_record(choice.mv, Some(choice)));
    }
    record.outcome = game.outcome();
    Ok(Some(PlayedGame { record, forfeit: None }))
}

/// A ply that trains no network: no policy, and of the values what the player says.
fn ply_record(mv: Move, choice: Option<Choice>) -> PlyRecord {
    let wdl = choice.and_then(|choice| choice.wdl).unwrap_or(Wdl::UNKNOWN);
    let playouts = choice.map_or(0, |choice| choice.playouts);
    PlyRecord { playouts, raw: wdl, searched: wdl, ..PlyRecord::unsearched(mv) }
}
