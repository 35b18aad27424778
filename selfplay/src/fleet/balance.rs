//! Evening out lopsided games: the side that loses most thinks longer.
//!
//! Where one side wins nearly every game, as the defenders do on the small boards at first, all results are the same and
//! nothing can be learned from them; it is the loser who has something to learn. So after a generation the playouts of the
//! side that scored less grow by up to [`STEP`] doublings, and shrink again when it catches up. The other side keeps the
//! configured playouts. The state moves at the end of a generation only, so threads do not matter.

use hnefi_engine::Side;
use serde::{Deserialize, Serialize};

use crate::record::GameRecord;

/// The most that one generation changes, in doublings: at a score of 0 or 1.
const STEP: f32 = 0.5;

/// How much longer one side thinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Balance {
    /// Doublings of the attackers' playouts; below 0 of the defenders'.
    doublings: f32,
}

impl Balance {
    /// Takes in the games of a generation; `limit` is the most doublings.
    pub(super) fn observe(&mut self, games: &[GameRecord], limit: f32) {
        if games.is_empty() {
            return;
        }
        let points: f32 = games
            .iter()
            .map(|game| match game.winner() {
                Some(Side::Attackers) => 1.0,
                Some(Side::Defenders) => 0.0,
                None => 0.5,
            })
            .sum();
        let score = points / games.len() as f32;
        self.doublings = (self.doublings + 2.0 * STEP * (0.5 - score)).clamp(-limit, limit);
    }

    /// Playouts of a full search of attackers and defenders.
    pub(super) fn playouts(self, base: u32) -> [u32; 2] {
        let longer = (base as f32 * self.doublings.abs().exp2()).round() as u32;
        if self.doublings >= 0.0 { [longer, base] } else { [base, longer] }
    }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::{Outcome, Preset, Reason};

    use super::*;

    fn games(attackers: usize, defenders: usize) -> Vec<GameRecord> {
        let game = |winner| GameRecord {
            game: 0,
            seed: 0,
            rules: Preset::Brandubh.rules(),
            start: None,
            players: [String::new(), String::new()],
            plies: Vec::new(),
            outcome: Some(Outcome::Win { side: winner, reason: Reason::KingCaptured }),
            resigned: None,
            would_have_resigned: None,
        };
        let wins = |side, count| std::iter::repeat_n(game(side), count);
        wins(Side::Attackers, attackers).chain(wins(Side::Defenders, defenders)).collect()
    }

    #[test]
    fn the_loser_thinks_longer_up_to_the_limit() {
        let mut balance = Balance::default();
        assert_eq!(balance.playouts(16), [16, 16]);
        balance.observe(&games(0, 4), 3.0);
        balance.observe(&games(0, 4), 3.0);
        assert_eq!(balance.playouts(16), [32, 16]);
        for _ in 0..20 {
            balance.observe(&games(0, 4), 3.0);
        }
        assert_eq!(balance.playouts(16), [128, 16]);
        balance.observe(&games(2, 2), 3.0);
        assert_eq!(balance.playouts(16), [128, 16]);
        for _ in 0..8 {
            balance.observe(&games(4, 0), 3.0);
        }
        assert_eq!(balance.playouts(16), [16, 32]);
    }

    #[test]
    fn a_limit_of_nothing_changes_nothing() {
        let mut balance = Balance::default();
        balance.observe(&games(0, 4), 0.0);
        assert_eq!(balance.playouts(16), [16, 16]);
        balance.observe(&[], 3.0);
        assert_eq!(balance.playouts(16), [16, 16]);
    }
}
