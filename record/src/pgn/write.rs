//! Writes a game as text.

use std::fmt::Write;

use hnefi_engine::Side;

use super::result_text;
use crate::json_line::end;
use crate::{GameId, GameRecord, RulesText, TextError, walk};

/// Longest line of moves, in columns.
const WIDTH: usize = 100;

/// The game's tags, an empty line, its moves and result, an empty line; `generation` is the generation of its run, if
/// known.
///
/// # Errors
/// When the game breaks the rules.
pub fn text(game: &GameRecord, generation: Option<u32>) -> Result<String, TextError> {
    let mut out = tags(game, generation)?;
    out.push('\n');
    let mut column = 0;
    for word in words(game)? {
        if column > 0 && column + 1 + word.len() > WIDTH {
            out.push('\n');
            column = 0;
        }
        if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(&word);
        column += word.len();
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

/// Move numbers, moves and the result. A game that begins with a defenders' move begins with `1...`, as in chess.
fn words(game: &GameRecord) -> Result<Vec<String>, TextError> {
    let size = game.rules.size();
    let mut words = Vec::with_capacity(game.plies.len() * 3 / 2 + 1);
    let mut number = 1;
    walk(game, |step| {
        let mover = step.before.side_to_move();
        if mover == Side::Attackers {
            words.push(format!("{number}."));
        } else if words.is_empty() {
            words.push(format!("{number}..."));
        }
        if mover == Side::Defenders {
            number += 1;
        }
        let mut word = format!("{}-{}", step.ply.mv.from().name(size), step.ply.mv.to().name(size));
        for square in step.captured {
            word.push('x');
            word.push_str(&square.name(size));
        }
        words.push(word);
    })?;
    words.push(result(game).to_owned());
    Ok(words)
}

fn result(game: &GameRecord) -> &'static str {
    if game.is_finished() { result_text(game.winner()) } else { "*" }
}
