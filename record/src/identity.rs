//! Ids of games, which do not depend on run or file.

use std::fmt;

use hnefi_engine::{Move, Position, Preset, Symmetry};
use sha2::{Digest, Sha256};

use crate::GameRecord;

/// The id of a game: the SHA-256 of its board size, start and moves, the same for its eight images under the symmetries
/// of the square.
///
/// The hashed text is `N\nFEN\nMOVES`: the side of the board, the FEN of the start as [`Position::fen`] writes it
/// (empty for the starts of Brandubh, Tablut and Copenhagen) and the moves as `a4b4` separated by spaces; of the texts
/// of all images it is the first in the order of their bytes. The number of the game and its run are not hashed, so
/// copies of a game have one id and are in the same split, turned and mirrored ones too, in whichever notation their
/// FEN was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GameId([u8; 32]);

impl GameId {
    /// The id of a game.
    pub fn of(game: &GameRecord) -> GameId {
        let size = game.rules.size();
        let usual = [Preset::Brandubh, Preset::Tablut, Preset::Copenhagen];
        let usual = usual.map(|preset| Position::start(&preset.rules()).fen());
        let start = game.start_position().ok();
        // A record that nobody has checked yet may have any move, which has no image then.
        let is_on_board = |mv: Move| [mv.from(), mv.to()].iter().all(|square| square.index() < size.squares());
        let text = |symmetry: Symmetry| {
            let start = match start.as_ref().map(|start| start.transformed(symmetry).fen()) {
                Some(fen) if usual.contains(&fen) => String::new(),
                Some(fen) => fen,
                // It cannot be played on, and is still the same game.
                None => game.start.clone().unwrap_or_default(),
            };
            let moves = game.plies.iter().map(|ply| match is_on_board(ply.mv) {
                true => symmetry.mv(ply.mv, size).text(size),
                false => ply.mv.text(size),
            });
            let moves: Vec<String> = moves.collect();
            format!("{}\n{start}\n{}", size.side(), moves.join(" "))
        };
        let text = Symmetry::ALL.map(text).into_iter().min().unwrap_or_default();
        GameId(Sha256::digest(text.as_bytes()).into())
    }

    /// The first eight bytes, big-endian.
    pub fn number(self) -> u64 {
        first_eight(&self.0)
    }

    /// A number in [0, 1), uniformly distributed over games: the first eight bytes, big-endian, divided by 2^64.
    pub fn share(self) -> f64 {
        unit(&self.0)
    }

    /// A number as [`GameId::share`] that depends on a seed and is independent of other seeds.
    pub fn share_of(self, seed: u64) -> f64 {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        hash.update(self.0);
        unit(&<[u8; 32]>::from(hash.finalize()))
    }
}

fn first_eight(hash: &[u8; 32]) -> u64 {
    hash[..8].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The first eight bytes, big-endian, divided by 2^64.
fn unit(hash: &[u8; 32]) -> f64 {
    // A double has 53 bits; more could round up to 1.
    (first_eight(hash) >> 11) as f64 / (1u64 << 53) as f64
}

/// The first eight bytes in hexadecimal: the field `game_id` of datasets.
impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..8].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;

    use super::*;
    use crate::PgnReader;

    #[test]
    fn a_start_is_one_in_every_notation() {
        let id = |fen: &str| {
            let text = format!("[Rules \"brandubh\"]\n{fen}\n1. d6-f6 *\n");
            let game = PgnReader::new(text.as_bytes()).next().unwrap().unwrap();
            assert_eq!(game.rules, Preset::Brandubh.rules());
            GameId::of(&game)
        };
        let usual = id("");
        assert_eq!(id("[FEN \"3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a\"]\n"), usual);
        let fewer = id("[FEN \"3a3/3a3/3d3/aadkdaa/3d3/3a3/7 a\"]\n");
        assert_ne!(fewer, usual);
        for other in [
            "3a3/3a3/3d3/aadkdaa/3d3/3a3/7 attackers",
            "/7/3t3/3T3/ttTKTtt/3T3/3t3/3t3/",
            "3A3/3A3/3D3/AADKDAA/3D3/3A3/7\ta",
        ] {
            assert_eq!(id(&format!("[FEN \"{other}\"]\n")), fewer, "{other}");
        }
    }
}
