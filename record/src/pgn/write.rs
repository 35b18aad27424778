//! Writes a game as text.

use std::fmt::Write;

use hnefi_engine::{Rules, Side};

use super::result_text;
use crate::json_line::end;
use crate::tree::line;
use crate::{GameId, GameRecord, GameTree, MoveTree, Node, Place, RulesText, START, TextError, TreeMove};

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
    for word in words(game, &MoveTree::of(game, comment, moves)?)? {
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

/// What is still to be written, by its place and the plies before its move.
enum Rest {
    /// A variation that begins with this move, behind a parenthesis.
    Variation(Place, usize),
    /// What follows a place.
    Following(Place, usize),
    /// The end of a variation.
    Close,
}

/// The move text under way.
struct Words<'a> {
    rules: &'a Rules,
    tree: &'a MoveTree,
    words: Vec<String>,
    /// Whether a defenders' move needs its number, because none of the attackers stands right before it.
    interrupted: bool,
}

/// Move numbers, moves, variations and the result. A game that begins with a defenders' move begins with `1...`, as in
/// chess.
fn words(game: &GameRecord, tree: &MoveTree) -> Result<Vec<String>, TextError> {
    let words = Vec::with_capacity(game.plies.len() * 3 / 2 + 1);
    let mut out = Words { rules: &game.rules, tree, words, interrupted: true };
    out.say(&tree.node(START).comment);
    let defenders_first = game.start_position()?.side_to_move() == Side::Defenders;
    let mut rest = vec![Rest::Following(START, usize::from(defenders_first))];
    while let Some(next) = rest.pop() {
        match next {
            Rest::Following(place, plies) => {
                let Some((&main, variations)) = tree.node(place).children.split_first() else { continue };
                out.put(main, plies, "");
                rest.push(Rest::Following(main, plies + 1));
                for &variation in variations.iter().rev() {
                    let following = Rest::Following(variation, plies + 1);
                    rest.extend([Rest::Close, following, Rest::Variation(variation, plies)]);
                }
            }
            Rest::Variation(place, plies) => {
                out.interrupted = true;
                out.put(place, plies, "(");
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
    fn put(&mut self, place: Place, plies: usize, mut bracket: &str) {
        let Node { ply: Some(ply), comment, nags, .. } = self.tree.node(place) else { return };
        let attackers = plies.is_multiple_of(2);
        if attackers || self.interrupted {
            let dots = if attackers { "." } else { "..." };
            self.words.push(format!("{bracket}{}{dots}", plies / 2 + 1));
            bracket = "";
        }
        self.interrupted = false;
        self.words.push(format!("{bracket}{}", crate::words::ply(ply, self.rules)));
        self.words.extend(nags.iter().map(|nag| format!("${nag}")));
        self.say(comment);
    }

    /// Writes a comment, if there is one.
    fn say(&mut self, comment: &str) {
        if !comment.is_empty() {
            self.words.extend(format!("{{{comment}}}").split(' ').map(str::to_owned));
            self.interrupted = true;
        }
    }
}

fn result(game: &GameRecord) -> &'static str {
    if game.is_finished() { result_text(game.winner()) } else { "*" }
}
