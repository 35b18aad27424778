//! Plays games given as JSON lines and answers each line with the effects of its moves.
//!
//! The input is not trusted, so no line ends the process: an invalid request gets an answer with an `error`.

use std::io::{BufRead, Write};

use hnefi_engine::{Game, Move, Outcome};
use serde::{Deserialize, Serialize};

use crate::{BoundedLines, DataError, write_line};
use hnefi_record::RulesText;

/// The longest line in bytes; a game of 10,000 plies with its policies fits.
const LONGEST_LINE: usize = 64 << 20;

/// A request. Other fields are ignored, so that exported games are requests too.
#[derive(Deserialize)]
struct Request {
    rules: RulesText,
    fen: Option<String>,
    ply_cap: Option<u16>,
    moves: Vec<String>,
}

/// The answer to one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayAnswer {
    /// The plies before the first illegal one, all of them in a legal game.
    pub plies: Vec<ReplayPly>,
    /// The error, with the ply (from 1) of an illegal move; `None` for a legal game.
    pub error: Option<String>,
}

/// The effects of one move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayPly {
    /// The move as `a4b4`.
    #[serde(rename = "move")]
    pub mv: String,
    /// The legal moves there were to choose from.
    pub legal: usize,
    /// Squares of captured pieces, the king included, in order of rank and file.
    pub captures: Vec<String>,
    /// `ongoing`, `attackers`, `defenders` or `draw` after the move.
    pub status: &'static str,
    /// Why the game ended; empty while it goes on.
    pub reason: &'static str,
}

/// Counts of a whole stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplaySummary {
    /// Number of lines answered.
    pub games: u64,
    /// Number of answers with an error.
    pub errors: u64,
}

/// Answers every line of `input` with a line on `output` and flushes it, so that a program may alternate requests and
/// answers. Blank lines and a byte order mark before the first line are skipped.
///
/// # Errors
/// When a stream fails. Invalid lines are answered.
pub fn replay(input: impl BufRead, mut output: impl Write) -> Result<ReplaySummary, DataError> {
    let mut summary = ReplaySummary::default();
    let mut lines = BoundedLines::new(input, LONGEST_LINE);
    let read = |source| DataError::Stream { doing: "reading games to replay", source };
    while let Some(line) = lines.read().map_err(read)? {
        let answer = match line {
            Ok(text) if text.trim().is_empty() => continue,
            Ok(text) => replay_line(&text),
            Err(problem) => ReplayAnswer::refusal(problem.to_string()),
        };
        summary.games += 1;
        summary.errors += u64::from(answer.error.is_some());
        write_line(&mut output, &answer, "answering a replayed game")?;
    }
    Ok(summary)
}

/// Answers one request, such as `{"rules": "brandubh", "fen": null, "moves": ["d6c6"]}`.
pub fn replay_line(line: &str) -> ReplayAnswer {
    let request: Request = match serde_json::from_str(line) {
        Ok(request) => request,
        Err(error) => {
            let shape = r#"expected {"rules": "brandubh", "fen": null, "moves": ["a4b4"]}"#;
            return ReplayAnswer::refusal(format!("the line is no request: {error}; {shape}"));
        }
    };
    let mut game = match request.rules.game(request.ply_cap, request.fen.as_deref()) {
        Ok(game) => game,
        Err(problem) => return ReplayAnswer::refusal(problem.to_string()),
    };
    let mut plies = Vec::with_capacity(request.moves.len());
    for (index, text) in request.moves.iter().enumerate() {
        match play(&mut game, text) {
            Ok(ply) => plies.push(ply),
            Err(problem) => return ReplayAnswer { plies, error: Some(format!("ply {}: {problem}", index + 1)) },
        }
    }
    ReplayAnswer { plies, error: None }
}

fn play(game: &mut Game, text: &str) -> Result<ReplayPly, String> {
    let size = game.rules().size();
    let mv = Move::parse(text, size).map_err(|error| error.to_string())?;
    let legal = game.position().count_legal_moves();
    let captured = game.play(mv).map_err(|error| error.to_string())?.captured;
    let outcome = game.outcome();
    Ok(ReplayPly {
        mv: mv.text(size),
        legal,
        captures: captured.map(|square| square.name(size)).collect(),
        status: outcome.map_or("ongoing", Outcome::status),
        reason: outcome.map_or("", |outcome| outcome.reason().as_str()),
    })
}

impl ReplayAnswer {
    /// An answer without plies.
    fn refusal(problem: String) -> ReplayAnswer {
        ReplayAnswer { plies: Vec::new(), error: Some(problem) }
    }
}
