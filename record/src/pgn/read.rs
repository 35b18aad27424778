//! Reads games and checks every move.

use std::io::BufRead;

use hnefi_engine::{Move, Outcome, Position, Reason, Rules, Side};

use super::result_text;
use super::tokens::{RawGame, RawGames};
use crate::{GameRecord, PlyRecord, RulesText, TextError};

/// Reads a PGN-like text game by game, as an iterator. A game with an error is reported with its line and the next one
/// follows.
///
/// Only `Rules` is required; without `Game` the games are numbered from 0. The records hold moves without policies or
/// values. A decisive result that is not on the board becomes a resignation, whatever `Termination` says; a draw by
/// agreement leaves the game unfinished, because the rules know no such end.
pub struct PgnReader<R> {
    games: RawGames<R>,
    count: u64,
    failed: bool,
}

impl<R: BufRead> PgnReader<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> PgnReader<R> {
        PgnReader { games: RawGames::new(input), count: 0, failed: false }
    }
}

impl<R: BufRead> Iterator for PgnReader<R> {
    type Item = Result<GameRecord, TextError>;

    fn next(&mut self) -> Option<Result<GameRecord, TextError>> {
        if self.failed {
            return None;
        }
        let number = self.count;
        self.count += 1;
        match self.games.next_game() {
            Ok(None) => None,
            Ok(Some(raw)) => Some(game(&raw, number)),
            Err(error) => {
                // A failed stream ends the iteration; after a game with an error the next game follows.
                self.failed = matches!(error, TextError::Stream { .. });
                Some(Err(error))
            }
        }
    }
}

fn game(raw: &RawGame, number: u64) -> Result<GameRecord, TextError> {
    let rules = rules(raw)?;
    let player = |name| raw.tag(name).map_or("?", |(value, _)| value).to_owned();
    let mut record = GameRecord {
        game: number_tag(raw, "Game")?.unwrap_or(number),
        seed: number_tag(raw, "Seed")?.unwrap_or(0),
        rules,
        start: raw.tag("FEN").map(|(fen, _)| fen.to_owned()),
        players: [player("Attackers"), player("Defenders")],
        plies: Vec::new(),
        outcome: None,
        resigned: None,
        would_have_resigned: side_tag(raw, "WouldHaveResigned")?,
    };
    let mut position = match raw.tag("FEN") {
        None => Position::start(&rules),
        Some((fen, line)) => Position::from_fen(&rules, fen).map_err(|error| bad(line, error))?,
    };
    let mut result = raw.tag("Result");
    for (index, (word, line)) in raw.words.iter().enumerate() {
        if ["1-0", "0-1", "1/2-1/2", "*"].contains(&word.as_str()) {
            if let Some((stray, line)) = raw.words.get(index + 1) {
                return Err(bad(*line, format!("{stray:?} follows the result {word}; expected a tag or the end")));
            }
            result = Some((word.as_str(), *line));
        } else {
            let ply = format!("ply {}", index + 1);
            let mv = play_word(&mut position, word).map_err(|problem| bad(*line, format!("{ply}: {problem}")))?;
            record.plies.push(PlyRecord::unsearched(mv));
        }
    }
    record.outcome = position.outcome();
    conclude(raw, &mut record, result)?;
    Ok(record)
}

/// Sets the ending of a game that did not end on the board, and checks the tags of one that did.
fn conclude(raw: &RawGame, record: &mut GameRecord, result: Option<(&str, usize)>) -> Result<(), TextError> {
    if let Some(outcome) = record.outcome {
        if let Some((text, line)) = result
            && text != "*"
            && text != result_text(outcome.winner())
        {
            let board = result_text(outcome.winner());
            return Err(bad(line, format!("the result is {text}, the board says {board}")));
        }
        return agree_on_reason(raw, outcome);
    }
    record.resigned = match result {
        Some(("1-0", _)) => Some(Side::Defenders),
        Some(("0-1", _)) => Some(Side::Attackers),
        _ => None,
    };
    Ok(())
}

fn agree_on_reason(raw: &RawGame, outcome: Outcome) -> Result<(), TextError> {
    let Some((reason, line)) = raw.tag("Termination") else { return Ok(()) };
    let (board, known) = (outcome.reason(), Reason::ALL.iter().any(|known| known.as_str() == reason));
    if known && reason != board.as_str() {
        return Err(bad(line, format!("the termination is {reason}, the board says {}", board.as_str())));
    }
    Ok(())
}

/// Plays one move such as `a4-b4xc4`. Named captures must be the actual ones; the king's capture may be missing, as in
/// many game texts.
///
/// # Errors
/// When the word is no legal move or names other captures than it makes; the message says so.
pub fn play_word(position: &mut Position, word: &str) -> Result<Move, String> {
    let size = position.size();
    let (mv, mut named) = Move::parse_with_captures(word, size).map_err(|error| error.to_string())?;
    let king = position.board().king();
    let captured = position.play(mv).map_err(|error| error.to_string())?;
    let mut found: Vec<_> = captured.collect();
    named.sort();
    // Some texts name a piece twice that is captured in two ways at once.
    named.dedup();
    if named != found {
        found.retain(|&square| Some(square) != king);
    }
    if !named.is_empty() && named != found {
        let names = captured.map(|square| square.name(size)).collect::<Vec<_>>().join(" ");
        let names = if names.is_empty() { "nothing".to_owned() } else { names };
        return Err(format!("move {word} names other captures than it makes: it captures {names}"));
    }
    Ok(mv)
}

fn rules(raw: &RawGame) -> Result<Rules, TextError> {
    let Some((name, line)) = raw.tag("Rules") else {
        return Err(bad(raw.line, "the game has no Rules tag; expected one such as [Rules \"brandubh\"]"));
    };
    let text = match raw.tag("Options") {
        Some((options, line)) => {
            serde_json::from_str(options).map_err(|error| bad(line, format!("the Options tag: {error}")))?
        }
        None => RulesText::Name(name.to_owned()),
    };
    let ply_cap = match number_tag(raw, "PlyCap")? {
        Some(cap) => Some(u16::try_from(cap).map_err(|_| bad(line, format!("PlyCap {cap}: expected at most 65535")))?),
        None => None,
    };
    text.resolve(ply_cap).map_err(|problem| bad(line, problem))
}

fn number_tag(raw: &RawGame, name: &str) -> Result<Option<u64>, TextError> {
    let Some((value, line)) = raw.tag(name) else { return Ok(None) };
    value.parse().map(Some).map_err(|_| bad(line, format!("tag {name} is {value:?}; expected a whole number")))
}

fn side_tag(raw: &RawGame, name: &str) -> Result<Option<Side>, TextError> {
    let Some((value, line)) = raw.tag(name) else { return Ok(None) };
    match Side::BOTH.into_iter().find(|side| side.as_str() == value) {
        Some(side) => Ok(Some(side)),
        None => Err(bad(line, format!("tag {name} is {value:?}; expected attackers or defenders"))),
    }
}

fn bad(line: usize, problem: impl std::fmt::Display) -> TextError {
    TextError::BadText { line, problem: problem.to_string() }
}
