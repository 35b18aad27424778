//! Games as PGN-like text: tags, numbered moves, result. [`PgnReader`] reads it back, and everything that the import
//! format of the PGN standard allows; it passes over variations in parentheses, comments in braces or behind a
//! semicolon, and marks such as `$2` or `?`; [`read_tree`] reads them too, and [`tree_text`] writes them.
//!
//! ```text
//! [Game "12"]
//! [Seed "7"]
//! [Rules "brandubh"]
//! [PlyCap "150"]
//! [Attackers "model:brandubh"]
//! [Defenders "person"]
//! [Result "1-0"]
//! [Termination "king_captured"]
//!
//! 1. d6-c6 d5-b5 2. c6-c5xb5 ... 1-0
//! ```
//!
//! Results put the attackers first: `1-0` is their win, `0-1` the defenders', `*` an unfinished game.

mod read;
mod tokens;
mod write;

pub use read::{PgnReader, play_word, read_tree};
pub use write::{text, tree_text};

use hnefi_engine::Side;

/// The result tag of a finished game with this winner.
pub(crate) fn result_text(winner: Option<Side>) -> &'static str {
    match winner {
        Some(Side::Attackers) => "1-0",
        Some(Side::Defenders) => "0-1",
        None => "1/2-1/2",
    }
}
