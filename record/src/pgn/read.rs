//! Reads games and checks every move.

use std::io::BufRead;

use hnefi_engine::{Bitboard, BoardSize, Game, Move, Outcome, Ply, Reason, Rules, Side, Square};

use super::tokens::{RawGame, RawGames, Token, is_result};
use crate::recorded::{RecordedGame, end_before, gives_up, played_on};
use crate::{
    GameRecord, GameTree, LONGEST_COMMENT, MOST_NAGS, MoveTree, Node, Place, PlyRecord, Recorded, RecordedResult,
    RulesText, START, TextError, bad, comment_text,
};

/// Reads a PGN-like text game by game, as an iterator. A game with an error is reported with its line and the next one
/// follows.
///
/// Without `Game` the games are numbered from 0. The records hold moves without policies or values. A decisive result
/// that is not on the board becomes a resignation, whatever `Termination` says; a draw by agreement leaves the game
/// unfinished, because the rules know no such end.
pub struct PgnReader<R> {
    games: RawGames<R>,
    rules: Vec<Rules>,
    count: u64,
    failed: bool,
}

impl<R: BufRead> PgnReader<R> {
    /// Reads from `input`. Every game must name its rules.
    pub fn new(input: R) -> PgnReader<R> {
        PgnReader::under(input, &[])
    }

    /// The same, and a game that names no rules has the first of these under which it is legal, beginning with the
    /// rules of the previous game.
    pub fn under(input: R, rules: &[Rules]) -> PgnReader<R> {
        PgnReader { games: RawGames::new(input, false), rules: rules.to_vec(), count: 0, failed: false }
    }

    /// The next game with what became of it.
    pub fn next_recorded(&mut self) -> Option<Result<Recorded, TextError>> {
        if self.failed {
            return None;
        }
        let number = self.count;
        self.count += 1;
        match self.games.next_game() {
            Ok(None) => None,
            Ok(Some(raw)) => Some(game(&raw, number, &mut self.rules)),
            Err(error) => {
                // A failed stream ends the iteration; after a game with an error the next game follows.
                self.failed = matches!(error, TextError::Stream { .. });
                Some(Err(error))
            }
        }
    }
}

impl<R: BufRead> Iterator for PgnReader<R> {
    type Item = Result<GameRecord, TextError>;

    fn next(&mut self) -> Option<Result<GameRecord, TextError>> {
        Some(self.next_recorded()?.map(|recorded| recorded.record))
    }
}

fn game(raw: &RawGame, number: u64, rules: &mut [Rules]) -> Result<Recorded, TextError> {
    let mut game = header(raw, number)?;
    let words = raw.words();
    let end = words.iter().position(|&(word, _)| is_result(word));
    let (moves, result) = words.split_at(end.unwrap_or(words.len()));
    if let [(result, _), (stray, line), ..] = *result {
        return Err(follows_the_result(stray, result, line));
    }
    (game.result, game.line) = ending(raw, result.first().copied())?;
    game.given_up = moves.last().is_some_and(|&(word, _)| gives_up(word));
    game.moves = moves.iter().copied().filter(|&(word, _)| !gives_up(word)).collect();
    let recorded = match named_rules(raw)? {
        Some(named) => game.read_by(&mut [named])?,
        None if rules.is_empty() => return Err(no_rules(raw)),
        None => game.read_by(rules)?,
    };
    agree_on_reason(raw, recorded.record.outcome)?;
    Ok(recorded)
}

/// What the tags say of a game, without its moves.
fn header(raw: &RawGame, number: u64) -> Result<RecordedGame<'static>, TextError> {
    let player = |name| raw.tag(name).map(|(value, _)| value.to_owned());
    Ok(RecordedGame {
        number: number_tag(raw, "Game")?.unwrap_or(number),
        seed: number_tag(raw, "Seed")?.unwrap_or(0),
        start: raw.tag("FEN").map(|(fen, line)| (fen.to_owned(), line)),
        ply_cap: ply_cap(raw)?,
        players: [player("Attackers"), player("Defenders")],
        would_have_resigned: side_tag(raw, "WouldHaveResigned")?,
        ..RecordedGame::default()
    })
}

/// The result of the tag and of the text, and the line that says so. An unknown one is known from the other.
fn ending(raw: &RawGame, text: Option<(&str, usize)>) -> Result<(RecordedResult, usize), TextError> {
    let read = |(found, line): (&str, usize)| {
        let expected = "expected 1-0 (the attackers won), 0-1, 1/2-1/2 or *";
        let result = RecordedResult::read(found).ok_or_else(|| bad(line, format!("result {found:?}; {expected}")))?;
        Ok::<_, TextError>((result, line))
    };
    let open = (RecordedResult::Open, raw.line);
    let tag = raw.tag("Result").map_or(Ok(open), read)?;
    let text = text.map_or(Ok(open), read)?;
    match (tag.0, text.0) {
        (tag_says, text_says) if tag_says == text_says => Ok(text),
        (_, RecordedResult::Open) => Ok(tag),
        (RecordedResult::Open, _) => Ok(text),
        (tag_says, text_says) => {
            let problem = format!("the result is {text_says}, the Result tag in line {} says {tag_says}", tag.1);
            Err(bad(text.1, problem))
        }
    }
}

fn no_rules(raw: &RawGame) -> TextError {
    let expected = "expected one such as [Rules \"brandubh\"], or --rules for such games";
    bad(raw.line, format!("the game has no Rules tag; {expected}"))
}

fn follows_the_result(stray: &str, result: &str, line: usize) -> TextError {
    bad(line, format!("{stray:?} follows the result {result}; expected a tag or the end"))
}

/// Reads the first game of a text with its variations, comments and marks. As with a [`PgnReader`], a game that
/// names no rules has the first of `rules` under which it is legal, and a game that went on after its rules ended it
/// lacks what ended it.
///
/// # Errors
/// When there is no game, a move is illegal, parentheses or braces do not fit, or a comment is too long; the message
/// names the line. Of several rules it is about those by which most of the text could be read.
pub fn read_tree(text: &str, rules: &[Rules]) -> Result<GameTree, TextError> {
    let raw = RawGames::new(text.as_bytes(), true).next_game()?;
    let raw = raw.ok_or_else(|| bad(1, "the text holds no game"))?;
    let mut furthest: Option<(TextError, usize)> = None;
    for &rules in named_rules(&raw)?.as_ref().map_or(rules, std::slice::from_ref) {
        match played_on(rules, |rules| tree(&raw, rules)) {
            Ok((tree, _)) => return Ok(tree),
            Err(found) if furthest.as_ref().is_none_or(|(_, read)| found.1 > *read) => furthest = Some(found),
            Err(_) => {}
        }
    }
    Err(furthest.map_or_else(|| no_rules(&raw), |(error, _)| error))
}

/// Reads the game by these rules; beside an error stands how many tokens were read before it.
fn tree(raw: &RawGame, rules: Rules) -> Result<GameTree, ((TextError, usize), Option<Reason>)> {
    let refused = |error: TextError, read: usize| ((error, read), None::<Reason>);
    let header = header(raw, 0).map_err(|error| refused(error, 0))?;
    let begun = header.begin(rules).map_err(|error| refused(error, 0))?;
    let mut record = header.record(&begun);
    let mut reading = Reading::new(begun);
    let mut ended = None;
    for (read, (token, line)) in raw.tokens.iter().enumerate() {
        match (token, ended) {
            (Token::Word(word), Some((result, _))) => {
                return Err(refused(follows_the_result(word, result, *line), read));
            }
            (Token::Open, Some((result, _))) => return Err(refused(follows_the_result("(", result, *line), read)),
            (Token::Word(word), None) if is_result(word) => {
                if reading.branches.is_empty() {
                    ended = Some((word.as_str(), *line));
                }
            }
            (Token::Word(word), None) if gives_up(word) => {}
            _ => reading.take(token).map_err(|(problem, ended)| ((bad(*line, problem), read), ended))?,
        }
    }
    // The last move read is the main line's: all variations have ended.
    let Reading { game, tree, .. } = reading;
    record.plies = game.moves().map(PlyRecord::unsearched).collect();
    record.outcome = game.outcome();
    let all = raw.tokens.len();
    let (result, line) = ending(raw, ended).map_err(|error| refused(error, all))?;
    let words = raw.words();
    let last = words.iter().rev().find(|(word, _)| !is_result(word));
    let given_up = last.is_some_and(|(word, _)| gives_up(word));
    let result = if given_up { result.or_given_up(&game) } else { result };
    result.conclude(&mut record).map_err(|(problem, ended)| ((bad(line, problem), all), ended))?;
    agree_on_reason(raw, record.outcome).map_err(|error| refused(error, all))?;
    Ok(GameTree { record, comment: tree.node(START).comment.clone(), moves: tree.moves() })
}

/// A game with variations as it is read.
struct Reading {
    game: Game,
    tree: MoveTree,
    at: Place,
    /// The moves whose variations are being read.
    branches: Vec<Place>,
    /// What was said at the beginning of a variation, before its first move.
    said: Option<String>,
}

impl Reading {
    fn new(game: Game) -> Reading {
        Reading { game, tree: MoveTree::new(), at: START, branches: Vec::new(), said: None }
    }

    fn take(&mut self, token: &Token) -> Result<(), (String, Option<Reason>)> {
        let marked = self.said.is_none() && self.at != START;
        match token {
            Token::Word(word) => {
                let ply = self.game.len() + 1;
                self.play(word).map_err(|(problem, ended)| (format!("ply {ply}: {problem}"), ended))
            }
            Token::Comment(text) => {
                let comment = self.said.as_mut().unwrap_or_else(|| &mut self.tree.node_mut(self.at).comment);
                add(comment, text).map_err(|problem| (problem, None))
            }
            Token::Nag(nag) => {
                let nags = &mut self.tree.node_mut(self.at).nags;
                if marked && nags.len() < MOST_NAGS && !nags.contains(nag) {
                    nags.push(*nag);
                }
                Ok(())
            }
            Token::Open if !marked => {
                Err(("a variation before a move; expected the move that it is an alternative to".to_owned(), None))
            }
            Token::Open => {
                self.branches.push(self.at);
                self.back();
                self.said = Some(String::new());
                Ok(())
            }
            Token::Close => {
                let Some(branch) = self.branches.pop() else { return Ok(()) };
                let &Node { parent, ply, .. } = self.tree.node(branch);
                while self.at != parent {
                    self.back();
                }
                if let Some(ply) = ply {
                    self.game.play(ply.mv).map_err(|illegal| (illegal.to_string(), None))?;
                }
                (self.at, self.said) = (branch, None);
                Ok(())
            }
        }
    }

    /// Takes the last move back.
    fn back(&mut self) {
        self.at = self.tree.node(self.at).parent;
        self.game.undo();
    }

    fn play(&mut self, word: &str) -> Result<(), (String, Option<Reason>)> {
        let ply = play_word(&mut self.game, word)?;
        self.at = self.tree.child_or_add(self.at, ply, self.game.ending());
        if self.branches.is_empty() {
            // A variation may have gone on from the game's own move before the game did.
            self.tree.prefer(self.at);
        }
        let said = self.said.take().unwrap_or_default();
        add(&mut self.tree.node_mut(self.at).comment, &said).map_err(|problem| (problem, None))
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

fn agree_on_reason(raw: &RawGame, outcome: Option<Outcome>) -> Result<(), TextError> {
    let (Some((reason, line)), Some(outcome)) = (raw.tag("Termination"), outcome) else { return Ok(()) };
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
/// When the word is no legal move or names other captures than it makes; the message says so, and beside it stands what
/// forbids a move that the board allows.
pub fn play_word(game: &mut Game, word: &str) -> Result<Ply, (String, Option<Reason>)> {
    let size = game.rules().size();
    let (mv, named) = Move::parse_with_captures(word, size).map_err(|error| (error.to_string(), None))?;
    let king = game.position().board().king();
    let played = *game.play(mv).map_err(|error| (error.to_string(), end_before(error.reason)))?;
    agree_on_captures(word, named, played.captured, king, size).map_err(|problem| (problem, None))?;
    Ok(played)
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

/// The rules that the game names, whatever its ply cap.
fn named_rules(raw: &RawGame) -> Result<Option<Rules>, TextError> {
    let Some((name, line)) = raw.tag("Rules") else { return Ok(None) };
    let text = match raw.tag("Options") {
        Some((options, line)) => {
            serde_json::from_str(options).map_err(|error| bad(line, format!("the Options tag: {error}")))?
        }
        None => RulesText::Name(name.to_owned()),
    };
    text.resolve().map(Some).map_err(|error| bad(line, error.to_string()))
}

fn ply_cap(raw: &RawGame) -> Result<Option<u16>, TextError> {
    let Some(cap) = number_tag(raw, "PlyCap")? else { return Ok(None) };
    let line = raw.tag("PlyCap").map_or(raw.line, |(_, line)| line);
    u16::try_from(cap).map(Some).map_err(|_| bad(line, format!("PlyCap {cap}: expected at most 65535")))
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
