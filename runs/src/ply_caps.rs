//! How long a game of self-play may be.

use hnefi_engine::BoardSize;
use serde::{Deserialize, Serialize};

/// The self-play ply cap of each board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlyCaps {
    /// On 7x7.
    pub seven: u16,
    /// On 9x9.
    pub nine: u16,
    /// On 11x11.
    pub eleven: u16,
}

impl Default for PlyCaps {
    fn default() -> Self {
        PlyCaps { seven: 150, nine: 200, eleven: 400 }
    }
}

impl PlyCaps {
    /// The cap of a board.
    pub fn of(&self, size: BoardSize) -> u16 {
        match size {
            BoardSize::Seven => self.seven,
            BoardSize::Nine => self.nine,
            BoardSize::Eleven => self.eleven,
        }
    }
}
