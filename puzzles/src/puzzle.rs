//! A puzzle and its text, a line of JSON.

use std::fmt;

use hnefi_engine::{FenError, Move, MoveTextError, Outcome, Position, Preset, Reason, Side};
use serde::{Deserialize, Serialize};

use crate::{OutOfBudget, Solver};

/// What there is to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Theme {
    /// The attackers capture the king.
    CaptureTheKing,
    /// The attackers close the ring around all defenders.
    CloseTheSiege,
    /// The king reaches his goal.
    Escape,
    /// The defenders build a fort at the edge.
    Fort,
    /// A win in another way: the opponent runs out of moves or must repeat.
    Outplay,
    /// The defenders' only move that does not lose by force.
    SaveTheKing,
    /// The attackers' only move that does not lose by force.
    StopTheKing,
}

impl Theme {
    /// Every theme.
    pub const ALL: [Theme; 7] = [
        Theme::CaptureTheKing,
        Theme::CloseTheSiege,
        Theme::Escape,
        Theme::Fort,
        Theme::Outplay,
        Theme::SaveTheKing,
        Theme::StopTheKing,
    ];

    /// The name in files, such as `capture-the-king`.
    pub const fn name(self) -> &'static str {
        match self {
            Theme::CaptureTheKing => "capture-the-king",
            Theme::CloseTheSiege => "close-the-siege",
            Theme::Escape => "escape",
            Theme::Fort => "fort",
            Theme::Outplay => "outplay",
            Theme::SaveTheKing => "save-the-king",
            Theme::StopTheKing => "stop-the-king",
        }
    }

    pub(crate) const fn of_win(outcome: Outcome) -> Theme {
        match outcome.reason() {
            Reason::KingCaptured => Theme::CaptureTheKing,
            Reason::Encirclement => Theme::CloseTheSiege,
            Reason::KingEscaped => Theme::Escape,
            Reason::ExitFort => Theme::Fort,
            _ => Theme::Outplay,
        }
    }

    pub(crate) const fn of_only_move(side: Side) -> Theme {
        match side {
            Side::Attackers => Theme::StopTheKing,
            Side::Defenders => Theme::SaveTheKing,
        }
    }

    /// Whether the answer holds a position instead of winning it.
    pub const fn is_only_move(self) -> bool {
        matches!(self, Theme::SaveTheKing | Theme::StopTheKing)
    }
}

impl fmt::Display for Theme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A position with few right moves, usually one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Puzzle {
    /// Sixteen hexadecimal digits that follow from ruleset and position.
    pub id: String,
    /// The ruleset.
    pub rules: Preset,
    /// The position. Nothing has been played before it.
    pub fen: String,
    /// What there is to find.
    pub theme: Theme,
    /// For a win, the plies of the longest defence; for an only move, the plies within which every other move loses,
    /// counted from the opponent's reply.
    pub plies: u32,
    /// The right moves, in generation order.
    pub answers: Vec<Move>,
    /// A right move and, for a win, the rest of the way with the longest defence.
    pub line: Vec<Move>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PuzzleLine {
    id: String,
    rules: Preset,
    fen: String,
    theme: Theme,
    plies: u32,
    answers: Vec<String>,
    line: Vec<String>,
}

/// Why a text is no puzzle, or a puzzle is wrong.
#[derive(Debug, thiserror::Error)]
pub enum PuzzleError {
    /// A line is no puzzle.
    #[error("line {line}: {problem}; expected a puzzle as a line of JSON")]
    Json {
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong.
        problem: serde_json::Error,
    },
    /// The position cannot be read.
    #[error(transparent)]
    Fen(#[from] FenError),
    /// A move cannot be read.
    #[error(transparent)]
    Move(#[from] MoveTextError),
    /// The search says something else than the puzzle.
    #[error("puzzle {id}: {problem}")]
    Wrong {
        /// The puzzle.
        id: String,
        /// What the search found and what the puzzle says.
        problem: String,
    },
    /// The search was given up.
    #[error(transparent)]
    OutOfBudget(#[from] OutOfBudget),
}

impl Puzzle {
    /// The position.
    ///
    /// # Errors
    /// When its FEN is no position of the ruleset.
    pub fn position(&self) -> Result<Position, PuzzleError> {
        Ok(Position::from_fen(&self.rules.rules(), &self.fen)?)
    }

    /// Proves the puzzle with at most `budget` positions for each question: its answers are all the right moves, and
    /// its line is legal and ends as the theme says.
    ///
    /// # Errors
    /// What the search found instead.
    pub fn check(&self, budget: u64) -> Result<(), PuzzleError> {
        let position = self.position()?;
        let wrong = |problem: String| PuzzleError::Wrong { id: self.id.clone(), problem };
        if self.id != identity(self.rules, &self.fen) {
            return Err(wrong(format!("its position has the id {}", identity(self.rules, &self.fen))));
        }
        let mut solver = Solver::new(budget);
        let found = if self.theme.is_only_move() {
            solver.safe_moves(&position, self.plies, usize::MAX)?
        } else {
            let shortest = solver.shortest_win(&position, self.plies)?;
            if shortest != Some(self.plies) {
                return Err(wrong(format!("the shortest win takes {shortest:?} plies instead of {}", self.plies)));
            }
            solver.winning_moves(&position, self.plies)?
        };
        if found != self.answers {
            let texts = |moves: &[Move]| moves.iter().map(|mv| mv.text(position.size())).collect::<Vec<_>>().join(" ");
            return Err(wrong(format!("the right moves are {}, not {}", texts(&found), texts(&self.answers))));
        }
        let length = if self.theme.is_only_move() { 1 } else { self.plies as usize };
        if self.plies.is_multiple_of(2) || self.line.len() != length || !self.answers.contains(&self.line[0]) {
            let problem = format!("its line is {} plies, of {} that it has", self.line.len(), self.plies);
            return Err(wrong(format!("{problem}; expected {length}, an odd number, beginning with a right move")));
        }
        let mut end = position;
        for &mv in &self.line {
            if end.outcome().is_some() {
                return Err(wrong("its line goes on after the end".to_owned()));
            }
            end.play(mv).map_err(|error| wrong(error.to_string()))?;
        }
        if self.theme.is_only_move() || end.outcome().map(Theme::of_win) == Some(self.theme) {
            return Ok(());
        }
        Err(wrong(format!("its line ends by {:?}, which is not {}", end.outcome(), self.theme)))
    }
}

/// The id of a puzzle: a hash that is the same for every version of the program (FNV-1a).
pub(crate) fn identity(rules: Preset, fen: &str) -> String {
    let bytes = rules.name().bytes().chain([b' ']).chain(fen.bytes());
    let hash = bytes
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{hash:016x}")
}

/// Reads puzzles, one a line.
///
/// # Errors
/// At the first line that is none.
pub fn read(text: &str) -> Result<Vec<Puzzle>, PuzzleError> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            let line: PuzzleLine =
                serde_json::from_str(line).map_err(|problem| PuzzleError::Json { line: index + 1, problem })?;
            let size = line.rules.rules().size();
            let moves = |texts: &[String]| texts.iter().map(|text| Move::parse(text, size)).collect::<Result<_, _>>();
            Ok(Puzzle {
                answers: moves(&line.answers)?,
                line: moves(&line.line)?,
                id: line.id,
                rules: line.rules,
                fen: line.fen,
                theme: line.theme,
                plies: line.plies,
            })
        })
        .collect()
}

/// Puzzles as text, one a line.
pub fn write(puzzles: &[Puzzle]) -> String {
    let mut text = String::new();
    for puzzle in puzzles {
        let size = puzzle.rules.rules().size();
        let texts = |moves: &[Move]| moves.iter().map(|mv| mv.text(size)).collect();
        let line = PuzzleLine {
            id: puzzle.id.clone(),
            rules: puzzle.rules,
            fen: puzzle.fen.clone(),
            theme: puzzle.theme,
            plies: puzzle.plies,
            answers: texts(&puzzle.answers),
            line: texts(&puzzle.line),
        };
        text += &serde_json::to_string(&line).expect("plain values");
        text.push('\n');
    }
    text
}
