//! How a game ends. An outcome is absolute: it names the winner, not a viewpoint.

use serde::{Deserialize, Serialize};

use crate::Side;

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

/// The end of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
}
