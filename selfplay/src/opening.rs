//! Openings: the first plies of a game are drawn from the raw policy, so that games differ.
//!
//! A game has r opening plies, with r exponentially distributed around a configured mean (KataGo, arXiv 1902.10565,
//! appendix D). A move is drawn in proportion to its prior. Moves that end the game, or that allow the opponent an
//! immediate win, are excluded while another move exists, because the network learns nothing from a game lost by a
//! random blunder.

use hnefi_engine::{Move, MoveList, Position};

use super::chance::unit;
use hnefi_search::Rng;

pub(super) fn opening_plies(mean: f32, rng: &mut Rng) -> usize {
    // 1 - u is in (0, 1], so the logarithm is finite.
    (-f64::from(mean) * (1.0 - unit(rng)).ln()).round() as usize
}

pub(super) fn wins_at_once(position: &Position, moves: &[Move]) -> bool {
    let mover = position.side_to_move();
    moves.iter().any(|&mv| position.outcome_after(mv).is_some_and(|outcome| outcome.winner() == Some(mover)))
}

/// Draws an opening move in proportion to `prior^(1/temperature)` among the safe moves; `None` if no move is safe.
/// `position` is restored; `replies` is scratch memory.
pub(super) fn choose_opening_move(
    position: &mut Position,
    moves: &[Move],
    priors: &[f32],
    temperature: f32,
    rng: &mut Rng,
    replies: &mut MoveList,
) -> Option<Move> {
    let largest = priors.iter().copied().fold(0.0, f32::max).max(f32::MIN_POSITIVE);
    let weigh = |prior: &f32| (f64::from(*prior) / f64::from(largest)).powf(1.0 / f64::from(temperature));
    let mut weights: Vec<f64> = priors.iter().map(weigh).collect();
    // Only drawn moves are tested for safety: two or three tests instead of dozens.
    loop {
        let index = draw(&weights, rng)?;
        if is_safe(position, moves[index], replies) {
            return Some(moves[index]);
        }
        weights[index] = 0.0;
    }
}

/// Draws an index in proportion to the weights; `None` when all are 0.
fn draw(weights: &[f64], rng: &mut Rng) -> Option<usize> {
    let mut left = unit(rng) * weights.iter().sum::<f64>();
    let positive = || weights.iter().enumerate().filter(|&(_, &weight)| weight > 0.0);
    let drawn = positive().find(|&(_, weight)| {
        left -= weight;
        left < 0.0
    });
    // Rounding may carry the point past the end; then take the last index.
    drawn.or_else(|| positive().next_back()).map(|(index, _)| index)
}

/// Whether the game goes on after `mv` and the opponent cannot win at once.
pub(super) fn is_safe(position: &mut Position, mv: Move, replies: &mut MoveList) -> bool {
    let undo = position.play_unchecked(mv);
    let safe = position.outcome().is_none() && {
        position.legal_moves(replies);
        !wins_at_once(position, replies)
    };
    position.undo(undo);
    safe
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;

    use super::*;
    use hnefi_search::rng_for;

    #[test]
    fn lengths_have_the_mean_and_spread_of_the_distribution() {
        let lengths: Vec<usize> = (0..20_000).map(|game| opening_plies(4.0, &mut rng_for(&[game]))).collect();
        let mean = lengths.iter().sum::<usize>() as f64 / lengths.len() as f64;
        assert!((mean - 4.0).abs() < 0.12, "{mean}");
        // P(r = 0) = P(x < 1/2) = 1 - exp(-1/8).
        let none = lengths.iter().filter(|&&length| length == 0).count() as f64 / lengths.len() as f64;
        assert!((none - (1.0 - (-0.125f64).exp())).abs() < 0.01, "{none}");
        assert_eq!(opening_plies(0.0, &mut rng_for(&[7])), 0);
    }

    #[test]
    fn draws_follow_the_weights() {
        let mut counts = [0u32; 4];
        for seed in 0..10_000 {
            counts[draw(&[0.1, 0.0, 0.3, 0.6], &mut rng_for(&[seed])).unwrap()] += 1;
        }
        for (count, expected) in counts.into_iter().zip([1000.0, 0.0, 3000.0, 6000.0]) {
            assert!((f64::from(count) - expected).abs() < 200.0, "{counts:?}");
        }
        assert_eq!(draw(&[0.0, 0.0], &mut rng_for(&[1])), None);
    }

    /// Every position of random games, judged by plain replay as well.
    #[test]
    fn moves_that_lose_at_once_are_avoided_while_others_exist() {
        let rules = Preset::Brandubh.rules();
        let mut tested = 0;
        for seed in 0..40 {
            let mut rng = rng_for(&[seed]);
            let mut position = Position::start(&rules);
            let (mut moves, mut replies) = (MoveList::new(), MoveList::new());
            while position.outcome().is_none() {
                position.legal_moves(&mut moves);
                let priors = vec![1.0 / moves.len() as f32; moves.len()];
                let before = position.clone();
                let chosen = choose_opening_move(&mut position, &moves, &priors, 1.0, &mut rng, &mut replies);
                assert_eq!((position.hash(), position.ply()), (before.hash(), before.ply()));
                let safe: Vec<Move> = moves.iter().copied().filter(|&mv| !loses_or_ends(&before, mv)).collect();
                match chosen {
                    Some(mv) => assert!(safe.contains(&mv)),
                    None => assert!(safe.is_empty()),
                }
                tested += usize::from(safe.len() < moves.len());
                position.play(moves[(unit(&mut rng) * moves.len() as f64) as usize]).unwrap();
            }
        }
        assert!(tested > 100, "{tested} positions with unsafe moves");
    }

    fn loses_or_ends(position: &Position, mv: Move) -> bool {
        let opponent = position.side_to_move().opponent();
        let mut after = position.clone();
        after.play(mv).unwrap();
        let mut replies = MoveList::new();
        after.legal_moves(&mut replies);
        let wins = |&reply: &Move| {
            let mut end = after.clone();
            end.play(reply).unwrap();
            end.outcome().and_then(|outcome| outcome.winner()) == Some(opponent)
        };
        after.outcome().is_some() || replies.iter().any(wins)
    }

    /// The king on a2 is one step from the corner a1.
    #[test]
    fn a_win_at_once_is_seen() {
        let rules = Preset::Brandubh.rules();
        let mut moves = MoveList::new();
        let position = Position::from_fen(&rules, "3a3/3a3/3d3/aad1daa/3d3/k2a3/7 d").unwrap();
        position.legal_moves(&mut moves);
        assert!(wins_at_once(&position, &moves));
        let position = Position::start(&rules);
        position.legal_moves(&mut moves);
        assert!(!wins_at_once(&position, &moves));
    }
}
