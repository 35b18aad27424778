//! Means over positions, with standard errors over games.

use serde::Serialize;

/// A mean over positions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// The mean.
    pub mean: f64,
    /// Its standard error, with games as independent samples; `None` for a single game.
    pub standard_error: Option<f64>,
    /// Number of positions.
    pub positions: usize,
    /// Number of their games.
    pub games: usize,
}

/// The mean of values with the indices of their games, sorted by game; `None` without values.
///
/// The standard error is the linearised error of a ratio of two sums over games (values, positions): with `r_g` the sum
/// of `value - mean` over game g, its square is `G / (G - 1) * sum(r_g^2) / positions^2`.
pub(super) fn rate(values: impl Iterator<Item = (usize, f64)> + Clone) -> Option<Rate> {
    let (sum, positions) = values.clone().fold((0.0, 0usize), |(sum, count), (_, value)| (sum + value, count + 1));
    if positions == 0 {
        return None;
    }
    let mean = sum / positions as f64;
    let (mut games, mut squares, mut current, mut residual) = (0usize, 0.0, None, 0.0);
    for (game, value) in values {
        if current != Some(game) {
            squares += residual * residual;
            residual = 0.0;
            games += 1;
            current = Some(game);
        }
        residual += value - mean;
    }
    squares += residual * residual;
    let standard_error = (games > 1).then(|| (games as f64 / (games - 1) as f64 * squares).sqrt() / positions as f64);
    Some(Rate { mean, standard_error, positions, games })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_positions_give_the_textbook_error() {
        // 3 of 10: sqrt(0.3 * 0.7 / 9).
        let found = rate((0..10).map(|game| (game, if game < 3 { 1.0 } else { 0.0 }))).expect("ten values");
        assert_eq!((found.positions, found.games), (10, 10));
        assert!((found.mean - 0.3).abs() < 1e-12);
        assert!((found.standard_error.expect("many games") - (0.3f64 * 0.7 / 9.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn repeating_every_position_of_a_game_does_not_lower_the_error() {
        let once = rate((0..10).map(|game| (game, f64::from(game as u8 % 2)))).expect("values");
        let often = rate((0..1000).map(|index| (index / 100, f64::from((index / 100) as u8 % 2)))).expect("values");
        assert_eq!(often.positions, 1000);
        let (once, often) = (once.standard_error.expect("games"), often.standard_error.expect("games"));
        assert!((once - often).abs() < 1e-12, "{once} {often}");
    }

    #[test]
    fn one_game_has_no_error_and_no_values_have_no_mean() {
        assert_eq!(rate([(4, 1.0), (4, 0.0)].into_iter()).expect("values").standard_error, None);
        assert_eq!(rate(std::iter::empty()), None);
    }
}
