//! The training plies of one board size, and how often each is drawn.

use hnefi_engine::BoardSize;
use hnefi_selfplay::{GameRecord, PlyRecord, Rng};
use rand_xoshiro::rand_core::Rng as _;

/// Training plies of one board size.
pub(super) struct Pool {
    /// The board.
    pub(super) size: BoardSize,
    /// Number of the game and of the ply.
    plies: Vec<(u32, u32)>,
    /// Sums of the weights up to and with each ply; `None` where all weigh the same.
    sums: Option<Vec<f64>>,
}

impl Pool {
    /// All training plies of the games on boards of this size.
    pub(super) fn new(size: BoardSize, games: &[&GameRecord]) -> Pool {
        let games = games.iter().enumerate().filter(|(_, game)| game.rules.size == size);
        let plies = games.flat_map(|(number, game)| {
            let trains = game.plies.iter().enumerate().filter(|(_, ply)| ply.trains);
            trains.map(move |(ply, _)| (number as u32, ply as u32))
        });
        Pool { size, plies: plies.collect(), sums: None }
    }

    /// Number of plies.
    pub(super) fn len(&self) -> usize {
        self.plies.len()
    }

    /// Gives every ply the weight `(1 - share) + share * s / mean(s)`, where `s` is how far the search moved the value:
    /// the weights' mean stays 1. Without any surprise all weigh the same.
    pub(super) fn weigh(&mut self, games: &[&GameRecord], share: f64) {
        let surprises = self.plies.iter().map(|&(game, ply)| surprise(&games[game as usize].plies[ply as usize]));
        let mean = surprises.clone().sum::<f64>() / self.plies.len().max(1) as f64;
        if share <= 0.0 || mean <= 0.0 {
            self.sums = None;
            return;
        }
        let mut sum = 0.0;
        let sums = surprises.map(|surprise| {
            sum += (1.0 - share) + share * surprise / mean;
            sum
        });
        self.sums = Some(sums.collect());
    }

    /// A ply by its weight: game and ply.
    ///
    /// # Panics
    /// When there is none.
    pub(super) fn draw(&self, rng: &mut Rng) -> (u32, u32) {
        let Some(sums) = &self.sums else { return self.plies[below(rng, self.plies.len())] };
        let at = unit(rng) * sums.last().expect("a pool that is drawn from has plies");
        self.plies[sums.partition_point(|&sum| sum <= at).min(self.plies.len() - 1)]
    }
}

/// How far the search moved the expected score of the position, 0 to 1.
fn surprise(ply: &PlyRecord) -> f64 {
    f64::from((ply.searched.score() - ply.raw.score()).abs())
}

/// A number in `0..bound`; the bias is below `bound / 2^64`.
pub(super) fn below(rng: &mut Rng, bound: usize) -> usize {
    assert!(bound > 0, "nothing to draw from");
    ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize
}

/// A number in 0..1, in steps of 2^-53.
fn unit(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use hnefi_engine::{Move, Outcome, Preset, Reason};
    use hnefi_inference::Wdl;
    use hnefi_selfplay::rng_for;

    use super::*;

    /// A game whose plies the search moved by these scores; every fourth does not train.
    fn game(surprises: &[f32]) -> GameRecord {
        let ply = |(index, &surprise): (usize, &f32)| PlyRecord {
            mv: Move::new(hnefi_engine::Square::new(0), hnefi_engine::Square::new(1)),
            policy: Vec::new(),
            playouts: 1,
            raw: Wdl { win: 0.25, draw: 0.5, loss: 0.25 },
            searched: Wdl { win: 0.25 + surprise, draw: 0.5, loss: 0.25 - surprise },
            trains: index % 4 != 3,
        };
        GameRecord {
            game: 0,
            seed: 0,
            rules: Preset::Brandubh.rules(),
            start: None,
            players: [String::new(), String::new()],
            plies: surprises.iter().enumerate().map(ply).collect(),
            outcome: Some(Outcome::Draw { reason: Reason::PlyCap }),
            resigned: None,
            would_have_resigned: None,
        }
    }

    /// How often each ply of the only game is drawn in 40,000 draws.
    fn frequencies(surprises: &[f32], share: f64) -> Vec<f64> {
        let game = game(surprises);
        let mut pool = Pool::new(BoardSize::Seven, &[&game]);
        pool.weigh(&[&game], share);
        let mut rng = rng_for(&[7]);
        let mut counts = vec![0; surprises.len()];
        for _ in 0..DRAWS {
            counts[pool.draw(&mut rng).1 as usize] += 1;
        }
        counts.into_iter().map(|count| f64::from(count) / f64::from(DRAWS)).collect()
    }

    const DRAWS: u32 = 40_000;

    /// Within four standard deviations of the binomial distribution, and exactly 0 where 0 is expected.
    fn near(found: &[f64], expected: &[f64]) {
        assert!((expected.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        for (ply, (found, expected)) in found.iter().zip(expected).enumerate() {
            let bound = 4.0 * (expected * (1.0 - expected) / f64::from(DRAWS)).sqrt();
            assert!((found - expected).abs() <= bound, "ply {ply}: {found}, expected {expected}");
        }
    }

    #[test]
    fn half_by_surprise() {
        // Five training plies with surprises 0, 0.1, 0.2, 0, 0.2: mean 0.1, weights 0.5, 1, 1.5, 0.5, 1.5.
        let found = frequencies(&[0.0, 0.1, 0.2, 0.2, 0.0, -0.2], 0.5);
        near(&found, &[0.1, 0.2, 0.3, 0.0, 0.1, 0.3]);
    }

    #[test]
    fn all_by_surprise() {
        let found = frequencies(&[0.0, 0.1, 0.2, 0.2, 0.0, -0.2], 1.0);
        near(&found, &[0.0, 0.2, 0.4, 0.0, 0.0, 0.4]);
    }

    #[test]
    fn none_by_surprise_and_no_surprise_at_all() {
        near(&frequencies(&[0.0, 0.1, 0.2, 0.2, 0.0, -0.2], 0.0), &[0.2, 0.2, 0.2, 0.0, 0.2, 0.2]);
        near(&frequencies(&[0.0; 3], 1.0), &[1.0 / 3.0; 3]);
    }
}
