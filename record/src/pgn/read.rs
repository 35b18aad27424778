//! Reads games and checks every move.

use std::io::BufRead;

use hnefi_engine::{Bitboard, BoardSize, Game, Move, Outcome, Position, Reason, Rules, Side, Square};

use super::result_text;
use super::tokens::{RawGame, RawGames, Token};
use crate::{
    GameRecord, GameTree, LONGEST_COMMENT, MOST_NAGS, PlyRecord, RecordError, RulesText, TextError, TreeMove,
    comment_text,
};

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
        PgnReader { games: RawGames::new(input, false), count: 0, failed: false }
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
    let mut record = header(raw, number, rules(raw)?)?;
    let mut position = record.start_position().map_err(|error| start_error(raw, &record, error))?;
    let mut result = raw.tag("Result");
    let words = raw.words();
    for (index, &(word, line)) in words.iter().enumerate() {
        if is_result(word) {
            if let Some(&(stray, line)) = words.get(index + 1) {
                return Err(follows_the_result(stray, word, line));
            }
            result = Some((word, line));
        } else {
            let ply = format!("ply {}", index + 1);
            let mv = play_word(&mut position, word).map_err(|problem| bad(line, format!("{ply}: {problem}")))?;
            record.plies.push(PlyRecord::unsearched(mv));
        }
    }
    record.outcome = position.outcome();
    conclude(raw, &mut record, result)?;
    Ok(record)
}

/// What the tags say of a game, without its moves.
fn header(raw: &RawGame, number: u64, rules: Rules) -> Result<GameRecord, TextError> {
    let player = |name| raw.tag(name).map_or("?", |(value, _)| value).to_owned();
    Ok(GameRecord {
        game: number_tag(raw, "Game")?.unwrap_or(number),
        seed: number_tag(raw, "Seed")?.unwrap_or(0),
        rules,
        start: raw.tag("FEN").map(|(fen, _)| fen.to_owned()),
        players: [player("Attackers"), player("Defenders")],
        plies: Vec::new(),
        outcome: None,
        resigned: None,
        would_have_resigned: side_tag(raw, "WouldHaveResigned")?,
    })
}

/// The FEN's error at the line of its tag.
fn start_error(raw: &RawGame, record: &GameRecord, error: RecordError) -> TextError {
    let fen = raw.tag("FEN");
    match fen.map(|(fen, line)| (Position::from_fen(&record.rules, fen), line)) {
        Some((Err(error), line)) => bad(line, error),
        _ => error.into(),
    }
}

fn is_result(word: &str) -> bool {
    ["1-0", "0-1", "1/2-1/2", "*"].contains(&word)
}

fn follows_the_result(stray: &str, result: &str, line: usize) -> TextError {
    bad(line, format!("{stray:?} follows the result {result}; expected a tag or the end"))
}

/// Reads the first game of a text with its variations, comments and marks. A text without a `Rules` tag is read under
/// `rules`; then plain numbers and the word `timeout`, which people copy along, are passed over.
///
/// # Errors
/// When there is no game, a move is illegal, parentheses or braces do not fit, or a comment is too long; the message
/// names the line.
pub fn read_tree(text: &str, rules: Option<Rules>) -> Result<GameTree, TextError> {
    let raw = RawGames::new(text.as_bytes(), true).next_game()?;
    let raw = raw.ok_or_else(|| bad(1, "the text holds no game"))?;
    let copied = rules.filter(|_| raw.tag("Rules").is_none());
    let rules = copied.map_or_else(|| self::rules(&raw), Ok)?;
    let mut record = header(&raw, 0, rules)?;
    let start = record.start_position().map_err(|error| start_error(&raw, &record, error))?;
    let mut reading = Reading::new(Game::from_position(start));
    let mut result = raw.tag("Result");
    let mut ended = None;
    for (token, line) in &raw.tokens {
        match (token, ended) {
            (Token::Word(word), Some(result)) => return Err(follows_the_result(word, result, *line)),
            (Token::Open, Some(result)) => return Err(follows_the_result("(", result, *line)),
            (Token::Word(word), None) if is_result(word) => {
                if reading.branches.is_empty() {
                    (result, ended) = (Some((word.as_str(), *line)), Some(word.as_str()));
                }
            }
            (Token::Word(word), None) if copied.is_some() && is_copied_along(word) => {}
            _ => reading.take(token).map_err(|problem| bad(*line, problem))?,
        }
    }
    let (main, outcome, comment, moves) = reading.finish();
    record.plies = main.into_iter().map(PlyRecord::unsearched).collect();
    record.outcome = outcome;
    conclude(&raw, &mut record, result)?;
    Ok(GameTree { record, comment, moves })
}

fn is_copied_along(word: &str) -> bool {
    word == "timeout" || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// A game with variations as it is read: moves in the order of the text.
struct Reading {
    game: Game,
    comment: String,
    moves: Vec<TreeMove>,
    /// What follows the start, and at 1 more what follows each move.
    following: Vec<Vec<usize>>,
    at: Option<usize>,
    /// The moves whose variations are being read.
    branches: Vec<usize>,
    /// What was said at the beginning of a variation, before its first move.
    said: Option<String>,
}

impl Reading {
    fn new(game: Game) -> Reading {
        let (moves, branches) = (Vec::new(), Vec::new());
        Reading { game, comment: String::new(), moves, following: vec![Vec::new()], at: None, branches, said: None }
    }

    fn take(&mut self, token: &Token) -> Result<(), String> {
        match token {
            Token::Word(word) => {
                let ply = self.game.len() + 1;
                self.play(word).map_err(|problem| format!("ply {ply}: {problem}"))
            }
            Token::Comment(text) => {
                let comment = match (&mut self.said, self.at) {
                    (Some(said), _) => said,
                    (None, None) => &mut self.comment,
                    (None, Some(at)) => &mut self.moves[at].comment,
                };
                add(comment, text)
            }
            Token::Nag(nag) => {
                let marked = self.at.filter(|_| self.said.is_none()).map(|at| &mut self.moves[at].nags);
                if let Some(nags) = marked.filter(|nags| nags.len() < MOST_NAGS && !nags.contains(nag)) {
                    nags.push(*nag);
                }
                Ok(())
            }
            Token::Open => {
                let branch = self.at.filter(|_| self.said.is_none());
                let branch =
                    branch.ok_or("a variation before a move; expected the move that it is an alternative to")?;
                self.branches.push(branch);
                self.at = self.moves[branch].after;
                self.game.undo();
                self.said = Some(String::new());
                Ok(())
            }
            Token::Close => {
                let Some(branch) = self.branches.pop() else { return Ok(()) };
                while self.at != self.moves[branch].after {
                    self.at = self.at.and_then(|at| self.moves[at].after);
                    self.game.undo();
                }
                self.game.play(self.moves[branch].mv).map_err(|illegal| illegal.to_string())?;
                self.at = Some(branch);
                self.said = None;
                Ok(())
            }
        }
    }

    fn play(&mut self, word: &str) -> Result<(), String> {
        let (mv, named) =
            Move::parse_with_captures(word, self.game.rules().size()).map_err(|error| error.to_string())?;
        let king = self.game.position().board().king();
        let captured = self.game.play(mv).map_err(|error| error.to_string())?.captured;
        agree_on_captures(word, named, captured, king, self.game.rules().size())?;
        let place = self.at.map_or(0, |at| at + 1);
        let known = self.following[place].iter().copied().find(|&index| self.moves[index].mv == mv);
        let index = known.unwrap_or_else(|| {
            self.moves.push(TreeMove::new(self.at, mv));
            self.following.push(Vec::new());
            self.following[place].push(self.moves.len() - 1);
            self.moves.len() - 1
        });
        if self.branches.is_empty() {
            // A variation may have gone on from the game's own move before the game did.
            let followers = &mut self.following[place];
            followers.sort_by_key(|&follower| follower != index);
        }
        self.at = Some(index);
        let said = self.said.take().unwrap_or_default();
        add(&mut self.moves[index].comment, &said)
    }

    /// The main line, how it ended on the board, and all moves in the order of a [`GameTree`].
    fn finish(self) -> (Vec<Move>, Option<Outcome>, String, Vec<TreeMove>) {
        // The last move read is the main line's: all variations have ended.
        let main = self.game.moves().collect();
        let mut moves = Vec::with_capacity(self.moves.len());
        let mut rest: Vec<(usize, Option<usize>)> = Vec::new();
        let queue = |rest: &mut Vec<_>, place: usize, after| {
            rest.extend(self.following[place].iter().rev().map(|&index| (index, after)));
        };
        queue(&mut rest, 0, None);
        while let Some((index, after)) = rest.pop() {
            moves.push(TreeMove { after, ..self.moves[index].clone() });
            queue(&mut rest, index + 1, Some(moves.len() - 1));
        }
        (main, self.game.outcome(), self.comment, moves)
    }
}

/// Adds what is said to a comment.
fn add(comment: &mut String, said: &str) -> Result<(), String> {
    *comment = comment_text(&format!("{comment} {said}"));
    match comment.chars().count() {
        length if length > LONGEST_COMMENT => {
            Err(format!("a comment of {length} characters; expected at most {LONGEST_COMMENT}"))
        }
        _ => Ok(()),
    }
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
    let (mv, named) = Move::parse_with_captures(word, size).map_err(|error| error.to_string())?;
    let king = position.board().king();
    let captured = position.play(mv).map_err(|error| error.to_string())?;
    agree_on_captures(word, named, captured, king, size)?;
    Ok(mv)
}

fn agree_on_captures(
    word: &str,
    mut named: Vec<Square>,
    captured: Bitboard,
    king: Option<Square>,
    size: BoardSize,
) -> Result<(), String> {
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
    Ok(())
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
