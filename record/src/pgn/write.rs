//! Writes a game as text.

use std::fmt::Write;

use hnefi_engine::{Bitboard, Side};

use super::result_text;
use crate::json_line::end;
use crate::tree::{captures, line};
use crate::{GameId, GameRecord, GameTree, RulesText, TextError, TreeMove, comment_text};

/// Longest line of moves, in columns.
const WIDTH: usize = 100;

/// The game's tags, an empty line, its moves and result, an empty line; `generation` is the generation of its run, if
/// known.
///
/// # Errors
/// When the game breaks the rules.
pub fn text(game: &GameRecord, generation: Option<u32>) -> Result<String, TextError> {
    written(game, generation, "", &line(game))
}

/// The same of a game with variations, comments and marks.
///
/// # Errors
/// When the game or a variation breaks the rules.
pub fn tree_text(tree: &GameTree) -> Result<String, TextError> {
    written(&tree.record, None, &tree.comment, &tree.moves)
}

fn written(game: &GameRecord, generation: Option<u32>, comment: &str, moves: &[TreeMove]) -> Result<String, TextError> {
    game.check()?;
    let mut out = tags(game, generation)?;
    out.push('\n');
    let mut column = 0;
    for word in words(game, comment, moves)? {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > WIDTH {
            out.push('\n');
            column = 0;
        }
        if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(&word);
        column += width;
    }
    out.push_str("\n\n");
    Ok(out)
}

fn tags(game: &GameRecord, generation: Option<u32>) -> Result<String, TextError> {
    let mut out = String::new();
    let mut tag = |name: &str, value: &str| {
        let value = value.replace('\\', r"\\").replace('"', "\\\"").replace(char::is_control, " ");
        writeln!(out, "[{name} \"{value}\"]").expect("writing to a string cannot fail");
    };
    tag("Game", &game.game.to_string());
    tag("GameId", &GameId::of(game).to_string());
    tag("Seed", &game.seed.to_string());
    if let Some(generation) = generation {
        tag("Generation", &generation.to_string());
    }
    match RulesText::of(&game.rules) {
        RulesText::Name(name) => tag("Rules", &name),
        RulesText::Options(rules) => {
            let options =
                serde_json::to_string(&rules).map_err(|source| TextError::Json { game: game.game, source })?;
            tag("Rules", "own");
            tag("Options", &options);
        }
    }
    if game.rules.ply_cap > 0 {
        tag("PlyCap", &game.rules.ply_cap.to_string());
    }
    if let Some(fen) = &game.start {
        tag("FEN", fen);
    }
    tag("Attackers", &game.players[Side::Attackers.index()]);
    tag("Defenders", &game.players[Side::Defenders.index()]);
    tag("Result", result(game));
    if game.is_finished() {
        tag("Termination", end(game).1);
    }
    if let Some(side) = game.would_have_resigned {
        tag("WouldHaveResigned", side.as_str());
    }
    Ok(out)
}

/// What is still to be written.
enum Rest {
    /// A variation that begins with this move, behind a parenthesis.
    Variation(usize),
    /// What follows a place in the game, 0 for the start and 1 more than a move's place.
    Following(usize),
    /// The end of a variation.
    Close,
}

/// The move text under way.
struct Words<'a> {
    game: &'a GameRecord,
    moves: &'a [TreeMove],
    captured: Vec<Bitboard>,
    /// Plies before each move.
    depths: Vec<usize>,
    first: Side,
    words: Vec<String>,
    /// Whether a defenders' move needs its number, because none of the attackers stands right before it.
    interrupted: bool,
}

/// Move numbers, moves, variations and the result. A game that begins with a defenders' move begins with `1...`, as in
/// chess.
fn words(game: &GameRecord, comment: &str, moves: &[TreeMove]) -> Result<Vec<String>, TextError> {
    let captured = captures(game, moves)?;
    let first = game.start_position()?.side_to_move();
    let mut depths: Vec<usize> = Vec::with_capacity(moves.len());
    // What follows the start, and at 1 more what follows each move.
    let mut following: Vec<Vec<usize>> = vec![Vec::new(); moves.len() + 1];
    for (index, mv) in moves.iter().enumerate() {
        depths.push(mv.after.map_or(0, |after| depths[after] + 1));
        following[mv.after.map_or(0, |after| after + 1)].push(index);
    }
    let words = Vec::with_capacity(moves.len() * 3 / 2 + 1);
    let mut out = Words { game, moves, captured, depths, first, words, interrupted: true };
    out.say(comment);
    let mut rest = vec![Rest::Following(0)];
    while let Some(next) = rest.pop() {
        match next {
            Rest::Following(place) => {
                let Some((&main, variations)) = following[place].split_first() else { continue };
                out.put(main, "");
                rest.push(Rest::Following(main + 1));
                for &variation in variations.iter().rev() {
                    rest.extend([Rest::Close, Rest::Following(variation + 1), Rest::Variation(variation)]);
                }
            }
            Rest::Variation(index) => {
                out.interrupted = true;
                out.put(index, "(");
            }
            Rest::Close => {
                if let Some(last) = out.words.last_mut() {
                    last.push(')');
                }
                out.interrupted = true;
            }
        }
    }
    out.words.push(result(game).to_owned());
    Ok(out.words)
}

impl Words<'_> {
    /// Writes a move with its number where it needs one, its marks and what is said of it.
    fn put(&mut self, index: usize, bracket: &str) {
        let (size, played) = (self.game.rules.size(), &self.moves[index]);
        let defenders_first = usize::from(self.first == Side::Defenders);
        let plies = self.depths[index] + defenders_first;
        let number = plies / 2 + 1;
        let mut bracket = bracket.to_owned();
        if plies.is_multiple_of(2) {
            self.words.push(format!("{bracket}{number}."));
            bracket.clear();
        } else if self.interrupted {
            self.words.push(format!("{bracket}{number}..."));
            bracket.clear();
        }
        self.interrupted = false;
        let mut word = format!("{bracket}{}-{}", played.mv.from().name(size), played.mv.to().name(size));
        for square in self.captured[index] {
            word.push('x');
            word.push_str(&square.name(size));
        }
        self.words.push(word);
        self.words.extend(played.nags.iter().map(|nag| format!("${nag}")));
        self.say(&played.comment);
    }

    /// Writes a comment, if there is one.
    fn say(&mut self, comment: &str) {
        let comment = comment_text(comment);
        if !comment.is_empty() {
            self.words.extend(format!("{{{comment}}}").split(' ').map(str::to_owned));
            self.interrupted = true;
        }
    }
}

fn result(game: &GameRecord) -> &'static str {
    if game.is_finished() { result_text(game.winner()) } else { "*" }
}
