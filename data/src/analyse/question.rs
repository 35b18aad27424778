//! What a line asks for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hnefi_engine::{Move, Position};
use hnefi_inference::Handicap;
use hnefi_record::RulesText;
use serde::Deserialize;
use serde_json::Value;

/// The most playouts of a question, for which a tree has room.
pub const MOST_PLAYOUTS: u32 = 5_000_000;

/// The most bytes of an id.
const LONGEST_ID: usize = 1000;

/// A line that can be read.
pub(super) enum InputLine {
    Question(Arc<Question>),
    /// The question of this id is to be answered as far as it is.
    Cancel(String),
}

/// Positions of one game to analyse.
pub(super) struct Question {
    pub(super) id: String,
    /// The plies after which the positions stand.
    pub(super) plies: Vec<usize>,
    pub(super) playouts: u32,
    /// The handicap under which the network sees the game.
    pub(super) handicap: Handicap,
    /// The most moves in an answer.
    pub(super) top: usize,
    /// Playouts between two partial answers.
    pub(super) every: Option<u32>,
    /// Whether the final contents of the squares are wanted.
    pub(super) occupancy: bool,
    /// Greater ones are answered first.
    pub(super) priority: i64,
    start: Position,
    moves: Vec<Move>,
    cancelled: AtomicBool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionLine {
    id: String,
    rules: RulesText,
    fen: Option<String>,
    ply_cap: Option<u16>,
    #[serde(default)]
    moves: Vec<String>,
    plies: Option<Vec<usize>>,
    playouts: Option<u32>,
    top: Option<usize>,
    every: Option<u32>,
    #[serde(default)]
    occupancy: bool,
    #[serde(default)]
    priority: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cancel {
    cancel: String,
}

impl InputLine {
    /// Reads a line; an error has the question's id where it has one. A question without `playouts` gets those given.
    pub(super) fn read(text: &str, playouts: u32) -> Result<InputLine, (Option<String>, String)> {
        let shape = r#"expected {"id": "1", "rules": "brandubh", "moves": ["d6c6"]} or {"cancel": "1"}"#;
        let refuse = |error: serde_json::Error| format!("the line is no question: {error}; {shape}");
        let value: Value = serde_json::from_str(text).map_err(|error| (None, refuse(error)))?;
        if value.get("cancel").is_some() {
            let cancel: Cancel = serde_json::from_value(value).map_err(|error| (None, refuse(error)))?;
            return Ok(InputLine::Cancel(cancel.cancel));
        }
        let id = value.get("id").and_then(Value::as_str).map(str::to_owned);
        let asked = serde_json::from_value(value).map_err(refuse);
        asked
            .and_then(|asked| Question::of(asked, playouts))
            .map(Arc::new)
            .map(InputLine::Question)
            .map_err(|problem| (id, problem))
    }
}

impl Question {
    fn of(asked: QuestionLine, playouts: u32) -> Result<Question, String> {
        if asked.id.len() > LONGEST_ID {
            return Err(format!("id: {} bytes; expected at most {LONGEST_ID}", asked.id.len()));
        }
        let mut game = asked.rules.game(asked.ply_cap, asked.fen.as_deref()).map_err(|problem| problem.to_string())?;
        let start = game.position().clone();
        let mut moves = Vec::with_capacity(asked.moves.len());
        for (index, text) in asked.moves.iter().enumerate() {
            let mv = Move::parse(text, start.size()).map_err(|error| error.to_string());
            let played = mv.and_then(|mv| game.play(mv).map(|_| mv).map_err(|error| error.to_string()));
            moves.push(played.map_err(|problem| format!("moves: ply {}: {problem}", index + 1))?);
        }
        let plies = asked.plies.unwrap_or_else(|| vec![moves.len()]);
        if plies.is_empty() {
            return Err("plies: an empty list; expected at least one".to_owned());
        }
        if let Some(ply) = plies.iter().find(|&&ply| ply > moves.len()) {
            return Err(format!("plies: {ply}; expected 0 to {}, the moves there are", moves.len()));
        }
        let playouts = asked.playouts.unwrap_or(playouts);
        if !(1..=MOST_PLAYOUTS).contains(&playouts) {
            return Err(format!("playouts: {playouts}; expected 1 to {MOST_PLAYOUTS}"));
        }
        if asked.every == Some(0) || asked.top == Some(0) {
            let name = if asked.top == Some(0) { "top" } else { "every" };
            return Err(format!("{name}: 0; expected at least 1"));
        }
        Ok(Question {
            id: asked.id,
            plies,
            playouts,
            handicap: Handicap::NONE,
            top: asked.top.unwrap_or(usize::MAX),
            every: asked.every,
            occupancy: asked.occupancy,
            priority: asked.priority,
            start,
            moves,
            cancelled: AtomicBool::new(false),
        })
    }

    /// Positions of a game from a start, each to be searched for its best move under a handicap.
    pub(super) fn of_game(
        id: usize,
        game: (Position, Vec<Move>),
        plies: Vec<usize>,
        playouts: u32,
        handicap: Handicap,
    ) -> Question {
        let ((start, moves), id) = (game, id.to_string());
        let (top, every, occupancy, priority) = (1, None, false, 0);
        let cancelled = AtomicBool::new(false);
        Question { id, plies, playouts, handicap, top, every, occupancy, priority, start, moves, cancelled }
    }

    /// The position after this many plies.
    pub(super) fn position(&self, plies: usize) -> Position {
        let mut position = self.start.clone();
        for &mv in &self.moves[..plies] {
            position.play_unchecked(mv);
        }
        position
    }

    pub(super) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}
