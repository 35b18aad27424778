//! How a game ends. An outcome is absolute: it names the winner, not a viewpoint.

use std::fmt;
use std::str::FromStr;

use crate::Side;
use crate::names::{UnknownName, by_name};

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Reason {
    /// The attackers took the king.
    KingCaptured,
    /// The king reached a corner, or the edge where that is the goal.
    KingEscaped,
    /// The king holds an unbreakable fort at the edge.
    ExitFort,
    /// No defender can reach the edge any more.
    Encirclement,
    /// A position occurred too often.
    Repetition,
    /// The defenders' configuration stood too often (S1 8b).
    DrawFort,
    /// The side to move has no legal move.
    NoMoves,
    /// Too many plies without a capture.
    NoCapture,
    /// The technical ply cap of self-play or a match was reached.
    PlyCap,
}

impl Reason {
    /// Every reason, in the order of the rules text.
    pub const ALL: [Reason; 9] = [
        Reason::KingCaptured,
        Reason::KingEscaped,
        Reason::ExitFort,
        Reason::Encirclement,
        Reason::Repetition,
        Reason::DrawFort,
        Reason::NoMoves,
        Reason::NoCapture,
        Reason::PlyCap,
    ];

    /// The name used in records, `cases.json` and on the command line, such as `king_captured`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Reason::KingCaptured => "king_captured",
            Reason::KingEscaped => "king_escaped",
            Reason::ExitFort => "exit_fort",
            Reason::Encirclement => "encirclement",
            Reason::Repetition => "repetition",
            Reason::DrawFort => "draw_fort",
            Reason::NoMoves => "no_moves",
            Reason::NoCapture => "no_capture",
            Reason::PlyCap => "ply_cap",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Reason {
    type Err = UnknownName;

    /// Reads [`Reason::as_str`].
    fn from_str(name: &str) -> Result<Reason, UnknownName> {
        by_name("reason", name, &Reason::ALL, Reason::as_str)
    }
}

/// The end of a game on the board.
///
/// ```
/// use hnefi_engine::{GameResult, Outcome, Reason, Side};
///
/// let outcome: Outcome = "defenders by king_escaped".parse()?;
/// assert_eq!(outcome, Outcome::Win { side: Side::Defenders, reason: Reason::KingEscaped });
/// assert_eq!(outcome.result_for(Side::Attackers), GameResult::Loss);
/// assert_eq!(outcome.to_string(), "defenders by king_escaped");
/// # Ok::<(), hnefi_engine::UnknownName>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Outcome {
    /// One side won.
    Win {
        /// The winner.
        side: Side,
        /// How the winner won.
        reason: Reason,
    },
    /// Nobody won.
    Draw {
        /// Why the game was drawn.
        reason: Reason,
    },
}

impl Outcome {
    /// The winner, or `None` for a draw.
    pub const fn winner(self) -> Option<Side> {
        match self {
            Outcome::Win { side, .. } => Some(side),
            Outcome::Draw { .. } => None,
        }
    }

    /// Why the game ended.
    pub const fn reason(self) -> Reason {
        match self {
            Outcome::Win { reason, .. } | Outcome::Draw { reason } => reason,
        }
    }

    /// `attackers`, `defenders` or `draw`, as in `cases.json`.
    pub const fn status(self) -> &'static str {
        match self {
            Outcome::Win { side, .. } => side.as_str(),
            Outcome::Draw { .. } => "draw",
        }
    }

    /// What it is to `side`.
    pub const fn result_for(self, side: Side) -> GameResult {
        GameResult::of_winner(self.winner(), side)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}", self.status(), self.reason())
    }
}

impl FromStr for Outcome {
    type Err = UnknownName;

    /// Reads what [`Outcome`] displays, such as `draw by repetition`.
    fn from_str(text: &str) -> Result<Outcome, UnknownName> {
        let expected = || vec!["attackers by REASON", "defenders by REASON", "draw by REASON"];
        let unknown = || UnknownName { what: "outcome", found: text.to_owned(), expected: expected() };
        let (status, reason) = text.split_once(" by ").ok_or_else(unknown)?;
        let reason = reason.parse()?;
        match status {
            "draw" => Ok(Outcome::Draw { reason }),
            _ => status.parse().map(|side| Outcome::Win { side, reason }).map_err(|_| unknown()),
        }
    }
}

/// How a game ended, on the board or beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// By the rules.
    Board(Outcome),
    /// This side resigned.
    Resigned(Side),
}

impl Ending {
    /// The winner, or `None` for a draw.
    pub const fn winner(self) -> Option<Side> {
        match self {
            Ending::Board(outcome) => outcome.winner(),
            Ending::Resigned(side) => Some(side.opponent()),
        }
    }

    /// What it is to one side.
    pub const fn result_for(self, side: Side) -> GameResult {
        GameResult::of_winner(self.winner(), side)
    }
}

/// The result of a game as one side sees it; the better, the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum GameResult {
    /// The other side won.
    Loss,
    /// Nobody won.
    Draw,
    /// This side won.
    Win,
}

impl GameResult {
    /// The result for `side` of a game that `winner` won; `None` is a draw.
    pub const fn of_winner(winner: Option<Side>, side: Side) -> GameResult {
        match (winner, side) {
            (None, _) => GameResult::Draw,
            (Some(Side::Attackers), Side::Attackers) | (Some(Side::Defenders), Side::Defenders) => GameResult::Win,
            (Some(_), _) => GameResult::Loss,
        }
    }

    /// The same game as the other side sees it.
    #[must_use]
    pub const fn reversed(self) -> GameResult {
        match self {
            GameResult::Loss => GameResult::Win,
            GameResult::Draw => GameResult::Draw,
            GameResult::Win => GameResult::Loss,
        }
    }

    /// Points: a win 1, a draw one half, a loss 0.
    pub const fn score(self) -> f64 {
        match self {
            GameResult::Loss => 0.0,
            GameResult::Draw => 0.5,
            GameResult::Win => 1.0,
        }
    }
}
