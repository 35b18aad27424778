//! Games as other programs recorded them: moves and a result, made a record.

use hnefi_engine::{Encirclement, Ending, Game, IllegalMoveReason, Reason, Repetition, Rules, Side};
use hnefi_inference::Handicap;

use crate::pgn::{play_word, result_text};
use crate::{GameRecord, PlyRecord, TextError, bad};

/// A game as written in a file.
#[derive(Clone, Debug, Default)]
pub struct RecordedGame<'a> {
    /// Its number.
    pub number: u64,
    /// The seed of its run; 0 of people's games.
    pub seed: u64,
    /// FEN of the start with its line; `None` for the standard start.
    pub start: Option<(String, usize)>,
    /// The ply cap that the game names; `None` for that of the rules.
    pub ply_cap: Option<u16>,
    /// Attackers and defenders, where they are known.
    pub players: [Option<String>; 2],
    /// The moves as words such as `a4-b4xc4`, each with its line.
    pub moves: Vec<(&'a str, usize)>,
    /// How it ended.
    pub result: RecordedResult,
    /// Whether the side to move behind the last move gave up or ran out of time. Says who won if `result` does not.
    pub given_up: bool,
    /// The side that would have resigned.
    pub would_have_resigned: Option<Side>,
    /// The line for errors about the whole game.
    pub line: usize,
}

/// The ending of a game as written in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordedResult {
    /// This side won.
    Won(Side),
    /// A draw.
    Drawn,
    /// Unfinished or unknown.
    #[default]
    Open,
}

impl RecordedResult {
    /// What a program or a person may write for a result: the winner's name or colour, or chess's numbers with the
    /// attackers first. White are the defenders.
    pub fn read(text: &str) -> Option<RecordedResult> {
        let text = text.trim().to_lowercase().replace(DASHES, "-");
        Some(match text.as_str() {
            "1-0" | "attackers" | "attacker" | "black" => RecordedResult::Won(Side::Attackers),
            "0-1" | "defenders" | "defender" | "white" => RecordedResult::Won(Side::Defenders),
            "1/2-1/2" | "\u{bd}-\u{bd}" | "1/2" | "\u{bd}" | "draw" | "drawn" => RecordedResult::Drawn,
            "*" | "?" | "ongoing" | "" => RecordedResult::Open,
            _ => return None,
        })
    }

    /// The result of a game that the side to move gave up, unless it is known otherwise.
    pub(crate) fn or_given_up(self, game: &Game) -> RecordedResult {
        match self {
            RecordedResult::Open if game.outcome().is_none() => {
                RecordedResult::Won(game.position().side_to_move().opponent())
            }
            known => known,
        }
    }

    /// Sets the ending of a game that did not end on the board, and checks the ending of one that did.
    pub(crate) fn conclude(self, record: &mut GameRecord) -> Result<(), (String, Option<Reason>)> {
        match (self, record.outcome) {
            (RecordedResult::Open, _) | (RecordedResult::Drawn, None) => {}
            (RecordedResult::Won(winner), None) => record.resigned = Some(winner.opponent()),
            (RecordedResult::Drawn, Some(outcome)) if outcome.winner().is_none() => {}
            (RecordedResult::Won(winner), Some(outcome)) if outcome.winner() == Some(winner) => {}
            (_, Some(outcome)) => {
                let (board, reason) = (result_text(outcome.winner()), outcome.reason());
                return Err((format!("the result is {self}, the board says {board} ({reason})"), Some(reason)));
            }
        }
        Ok(())
    }
}

impl std::fmt::Display for RecordedResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            RecordedResult::Won(winner) => result_text(Some(*winner)),
            RecordedResult::Drawn => result_text(None),
            RecordedResult::Open => "*",
        })
    }
}

/// What stands for a hyphen in texts that went through a word processor; the last two are Windows' bytes for dashes.
pub(crate) const DASHES: [char; 7] = ['\u{2010}', '\u{2011}', '\u{2013}', '\u{2014}', '\u{2212}', '\u{96}', '\u{97}'];

/// Whether the word behind the last move says that the side to move gave up or ran out of time.
pub fn gives_up(word: &str) -> bool {
    ["resigned", "resigns", "timeout", "---"].contains(&word.to_ascii_lowercase().as_str())
}

/// A record, and what became of the game on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The game.
    pub record: GameRecord,
    /// Whether it went on after the ruleset ended it; the record's rules lack what ended it.
    pub played_on: bool,
    /// Whether it was drawn by agreement, which records do not know: it is unfinished.
    pub agreed_draw: bool,
    /// Whether the file has policy targets; otherwise the record has none.
    pub has_policies: bool,
    /// Where the file's own account of its rules differs from the ruleset, such as `esc:e, not esc:c`.
    pub differing: Vec<String>,
}

/// The rules without what ends a game for this reason, if players may pass over such an end: nothing on the board keeps
/// them from moving on.
fn without(reason: Reason, rules: Rules) -> Option<Rules> {
    Some(match reason {
        Reason::Encirclement => Rules { encirclement: Encirclement::Off, ..rules },
        Reason::Repetition => Rules { repetition: Repetition::Ignore, ..rules },
        Reason::DrawFort => Rules { draw_fort_occurrence: 0, ..rules },
        Reason::NoCapture => Rules { no_capture_draw_plies: 0, ..rules },
        _ => return None,
    })
}

/// The rules without any end that players may pass over, see [`Recorded::played_on`].
pub fn without_passable_ends(rules: &Rules) -> Rules {
    Reason::ALL.into_iter().fold(*rules, |rules, reason| without(reason, rules).unwrap_or(rules))
}

/// Does `attempt` under the rules. Where it fails because they have ended the game before, tries again without what
/// ended it. Says whether it did.
pub(crate) fn played_on<T, E>(
    rules: Rules,
    mut attempt: impl FnMut(Rules) -> Result<T, (E, Option<Reason>)>,
) -> Result<(T, bool), E> {
    let mut fewer = rules;
    loop {
        match attempt(fewer) {
            Ok(done) => return Ok((done, fewer != rules)),
            Err((error, ended)) => match ended.and_then(|reason| without(reason, fewer)) {
                Some(without) if without != fewer => fewer = without,
                _ => return Err(error),
            },
        }
    }
}

impl RecordedGame<'_> {
    /// Plays the game under the first of these rules under which it is legal, and puts these first. If the game goes on
    /// after they end it, it is played without what ended it.
    ///
    /// # Errors
    /// When it is legal under none of them, or the board says that the other side won; the error is that of the rules
    /// by which most of the moves could be played.
    pub fn read_by(&self, rules: &mut [Rules]) -> Result<Recorded, TextError> {
        let mut furthest: Option<(TextError, usize)> = None;
        for index in 0..rules.len() {
            match played_on(rules[index], |rules| self.play(rules)) {
                Ok((record, played_on)) => {
                    rules[..=index].rotate_right(1);
                    let agreed_draw = self.result == RecordedResult::Drawn && !record.is_finished();
                    let (has_policies, differing) = (false, Vec::new());
                    return Ok(Recorded { record, played_on, agreed_draw, has_policies, differing });
                }
                Err(found) if furthest.as_ref().is_none_or(|(_, plies)| found.1 > *plies) => furthest = Some(found),
                Err(_) => {}
            }
        }
        Err(furthest.map_or_else(|| bad(self.line, "no ruleset to read the game by"), |(error, _)| error))
    }

    /// The game's start under these rules and its own ply cap.
    pub(crate) fn begin(&self, rules: Rules) -> Result<Game, TextError> {
        let rules = Rules { ply_cap: self.ply_cap.unwrap_or(rules.ply_cap), ..rules };
        match &self.start {
            None => Ok(Game::new(&rules)),
            Some((fen, line)) => Game::from_fen(&rules, fen).map_err(|error| bad(*line, error)),
        }
    }

    /// The record of a game before its first move.
    pub(crate) fn record(&self, begun: &Game) -> GameRecord {
        GameRecord {
            game: self.number,
            seed: self.seed,
            rules: *begun.rules(),
            start: begun.start_fen(),
            players: self.players.clone().map(|name| name.unwrap_or_else(|| "?".to_owned())),
            handicap: Handicap::NONE,
            plies: Vec::new(),
            outcome: None,
            resigned: None,
            would_have_resigned: self.would_have_resigned,
        }
    }

    /// Plays the game; beside an error stands how many plies were played before it.
    fn play(&self, rules: Rules) -> Result<GameRecord, ((TextError, usize), Option<Reason>)> {
        let mut game = self.begin(rules).map_err(|error| ((error, 0), None))?;
        let mut record = self.record(&game);
        record.plies.reserve(self.moves.len());
        for (index, &(word, line)) in self.moves.iter().enumerate() {
            let ply = play_word(&mut game, word)
                .map_err(|(problem, ended)| ((bad(line, format!("ply {}: {problem}", index + 1)), index), ended))?;
            record.plies.push(PlyRecord::unsearched(ply.mv));
        }
        record.outcome = game.outcome();
        let result = if self.given_up { self.result.or_given_up(&game) } else { self.result };
        let all = self.moves.len();
        result.conclude(&mut record).map_err(|(problem, ended)| ((bad(self.line, problem), all), ended))?;
        Ok(record)
    }
}

/// The end by which the rules forbid a move, if it is one.
pub(crate) fn end_before(reason: IllegalMoveReason) -> Option<Reason> {
    match reason {
        IllegalMoveReason::GameOver(Ending::Board(outcome)) => Some(outcome.reason()),
        IllegalMoveReason::Repeats(_) => Some(Reason::Repetition),
        _ => None,
    }
}
