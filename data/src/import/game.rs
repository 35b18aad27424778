//! Makes a record of a list of moves.

use hnefi_engine::{Move, Position, Repetition, Rules, Side};
use hnefi_run::{GameRecord, PlyRecord};

use super::{Found, LineError};
use hnefi_record::pgn::play_word;

/// A game as written in a file.
pub(super) struct RecordedGame<'a> {
    pub(super) number: u64,
    /// FEN of the start; `None` for the standard start.
    pub(super) start: Option<String>,
    pub(super) players: [String; 2],
    /// The moves as words such as `a4-b4xc4`, each with its line.
    pub(super) moves: Vec<(&'a str, usize)>,
    pub(super) result: RecordedResult,
    /// The line for errors about the whole game.
    pub(super) line: usize,
}

/// The ending of a game as written in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordedResult {
    Won(Side),
    Drawn,
    /// Unfinished or unknown.
    Open,
}

/// A ply without a search: the move is the policy target.
pub(super) fn ply(mv: Move) -> PlyRecord {
    PlyRecord { policy: vec![(mv, 1.0)], trains: true, ..PlyRecord::unsearched(mv) }
}

impl RecordedGame<'_> {
    /// Plays the game under `rules`; if the game goes on after they end it, without the rule that ended it.
    pub(super) fn build(&self, rules: Rules) -> Result<Found, LineError> {
        let without_draws =
            Rules { repetition: Repetition::Ignore, draw_fort_occurrence: 0, no_capture_draw_plies: 0, ..rules };
        let (record, played_on) = match self.play(rules) {
            Ok(record) => (record, false),
            // The second attempt's error is about an illegal move rather than the end of the game.
            Err(_) => (self.play(without_draws)?, true),
        };
        let agreed_draw = self.result == RecordedResult::Drawn && !record.is_finished();
        Ok(Found { record, played_on, agreed_draw })
    }

    fn play(&self, rules: Rules) -> Result<GameRecord, LineError> {
        let bad = |problem: String| (self.line, problem);
        let mut position = match &self.start {
            None => Position::start(&rules),
            Some(fen) => Position::from_fen(&rules, fen).map_err(|error| bad(error.to_string()))?,
        };
        let mut plies = Vec::with_capacity(self.moves.len());
        for (index, &(word, line)) in self.moves.iter().enumerate() {
            let mv = play_word(&mut position, word)
                .map_err(|problem| (line, format!("game {}, ply {}: {problem}", self.number, index + 1)))?;
            plies.push(ply(mv));
        }
        let outcome = position.outcome();
        let resigned = match (self.result, outcome) {
            (RecordedResult::Won(winner), None) => Some(winner.opponent()),
            (RecordedResult::Won(winner), Some(outcome)) if outcome.winner() != Some(winner) => {
                return Err(bad(format!(
                    "game {}: recorded as won by the {winner}, on the board it is {outcome}",
                    self.number
                )));
            }
            _ => None,
        };
        Ok(GameRecord {
            game: self.number,
            seed: 0,
            rules,
            start: self.start.clone(),
            players: self.players.clone(),
            plies,
            outcome,
            resigned,
            would_have_resigned: None,
        })
    }
}
