//! Positions that the search misjudged, for new games to begin from.
//!
//! Regret-guided search control (RGSC, arXiv 2602.20809) goes back to the positions whose value differs most from how
//! the game went on, as people go back to their mistakes. Here the regret of a position is how far the searched score
//! lies from where the game led: to its result, or, where somebody left the search's advice on the way (a handicap's
//! random move, a move of the opening), to the last searched score before that. So a random blunder makes no regret.
//! (The paper also takes positions from the search tree, and a network that ranks them; this does neither.)
//!
//! Each game offers its worst position, the worst of all are kept, and they are drawn in proportion to their regret.
//! They age with the games they come from.

use hnefi_inference::Wdl;

use crate::record::{GameRecord, PlyRecord};

/// Positions kept for each ruleset.
const KEPT: usize = 128;

/// Regret below this, in points of the score (a win is 1, a draw 0.5), is everyday uncertainty.
const LEAST_REGRET: f32 = 0.25;

/// A move is taken for the search's own when it has at least this part of the weight of its likeliest one.
const OWN_MOVE: f32 = 0.1;

/// A position that the search misjudged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Misjudged<'a> {
    pub(super) game: &'a GameRecord,
    /// Plies played before it.
    pub(super) ply: usize,
    /// By how much, from `LEAST_REGRET` to 1.
    regret: f32,
}

impl<'a> Misjudged<'a> {
    /// The worst positions of these games, at most one of each, worst first.
    pub(super) fn worst_of(games: impl Iterator<Item = &'a GameRecord>) -> Vec<Misjudged<'a>> {
        let mut found: Vec<Misjudged<'_>> = games.filter_map(Misjudged::worst_in).collect();
        found.retain(|position| position.regret >= LEAST_REGRET);
        // Newer games first among equals, so that the order is the same whatever was there before.
        found.sort_by(|a, b| b.regret.total_cmp(&a.regret).then(b.game.game.cmp(&a.game.game)));
        found.truncate(KEPT);
        found
    }

    /// The position with the highest regret, the first among equals; `None` where no ply was searched in full, and for
    /// games against a past checkpoint, whose mistakes are not the newest one's.
    fn worst_in(game: &'a GameRecord) -> Option<Misjudged<'a>> {
        if game.is_against_another() {
            return None;
        }
        let mut worst: Option<Misjudged<'_>> = None;
        for (ply, regret) in regrets(game)?.into_iter().enumerate() {
            if game.plies[ply].trains && worst.is_none_or(|worst| regret > worst.regret) {
                worst = Some(Misjudged { game, ply, regret });
            }
        }
        worst
    }

    /// The position at `point`, in 0..1, of all regrets laid end to end.
    pub(super) fn at(positions: &[Misjudged<'a>], point: f64) -> Option<Misjudged<'a>> {
        let total: f64 = positions.iter().map(|position| f64::from(position.regret)).sum();
        let mut left = point * total;
        let chosen = positions.iter().find(|position| {
            left -= f64::from(position.regret);
            left < 0.0
        });
        chosen.or(positions.last()).copied()
    }
}

/// How far the searched score of every ply lies from where the game led; 0 for plies that were not searched. `None`
/// when the game's start makes no sense.
fn regrets(game: &GameRecord) -> Option<Vec<f32>> {
    let first = game.start_position().ok()?.side_to_move();
    let last = if game.plies.len().is_multiple_of(2) { first } else { first.opponent() };
    // For the side to move; sides take turns.
    let mut led_to = game.is_finished().then(|| Wdl::of_winner(game.winner(), last));
    let mut regrets = vec![0.0; game.plies.len()];
    for (ply, regret) in game.plies.iter().zip(&mut regrets).rev() {
        led_to = was_searched(ply).then(|| match led_to {
            Some(led_to) if follows_search(ply) => led_to.flipped(),
            _ => ply.searched,
        });
        *regret = led_to.map_or(0.0, |led_to| (ply.searched.score() - led_to.score()).abs());
    }
    Some(regrets)
}

fn was_searched(ply: &PlyRecord) -> bool {
    ply.trains || ply.playouts > 0
}

/// Whether the move is the search's own. Fast searches note no policy, and their moves are played as they are.
fn follows_search(ply: &PlyRecord) -> bool {
    let largest = ply.policy.iter().map(|&(_, weight)| weight).fold(0.0, f32::max);
    let weight = ply.policy.iter().find(|(mv, _)| *mv == ply.mv).map_or(0.0, |&(_, weight)| weight);
    weight >= OWN_MOVE * largest
}

#[cfg(test)]
mod tests {
    use hnefi_engine::{Move, Outcome, Preset, Reason, Side, Square};

    use super::*;

    /// A game of Brandubh, in which the attackers move first, with these searched scores of the side to move.
    fn game(number: u64, scores: &[f32], winner: Option<Side>) -> GameRecord {
        let reason = Reason::KingCaptured;
        let ply = |&score: &f32| {
            let mv = Move::new(Square::new(0), Square::new(1));
            let searched = Wdl { win: score, draw: 0.0, loss: 1.0 - score };
            PlyRecord { mv, policy: vec![(mv, 1.0)], playouts: 8, raw: Wdl::DRAW, searched, trains: true }
        };
        GameRecord {
            game: number,
            seed: 0,
            rules: Preset::Brandubh.rules(),
            start: None,
            players: [String::new(), String::new()],
            plies: scores.iter().map(ply).collect(),
            outcome: Some(winner.map_or(Outcome::Draw { reason }, |side| Outcome::Win { side, reason })),
            resigned: None,
            would_have_resigned: None,
        }
    }

    fn near(found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} is not {expected:?}");
    }

    #[test]
    fn regrets_by_hand() {
        // The attackers' scores are 0.9, 0.8, 0.7 and 0.1, and they lose.
        let lost = game(0, &[0.9, 0.2, 0.7, 0.9], Some(Side::Defenders));
        near(&regrets(&lost).unwrap(), &[0.9, 0.8, 0.7, 0.1]);
        let drawn = game(0, &[0.9, 0.2, 0.7, 0.9], None);
        near(&regrets(&drawn).unwrap(), &[0.4, 0.3, 0.2, 0.4]);
        let mut resigned = lost.clone();
        (resigned.outcome, resigned.resigned) = (None, Some(Side::Attackers));
        assert_eq!(regrets(&resigned), regrets(&lost));
    }

    #[test]
    fn what_the_search_did_not_choose_is_nobodys_regret() {
        let other = Move::new(Square::new(5), Square::new(6));
        let mut blundered = game(0, &[0.9, 0.2, 0.7, 0.9], Some(Side::Defenders));
        blundered.plies[2].mv = other;
        near(&regrets(&blundered).unwrap(), &[0.2, 0.1, 0.0, 0.1]);
        let mut opening = game(0, &[0.9, 0.2, 0.7, 0.9], Some(Side::Defenders));
        (opening.plies[1].playouts, opening.plies[1].trains, opening.plies[1].policy) = (0, false, Vec::new());
        near(&regrets(&opening).unwrap(), &[0.0, 0.0, 0.7, 0.1]);
        let mut fast = game(0, &[0.9, 0.2, 0.7, 0.9], Some(Side::Defenders));
        (fast.plies[2].trains, fast.plies[2].policy) = (false, Vec::new());
        near(&regrets(&fast).unwrap(), &[0.9, 0.8, 0.7, 0.1]);
        let unlikely = PlyRecord { policy: vec![(other, 0.95), (fast.plies[0].mv, 0.05)], ..fast.plies[0].clone() };
        assert!(!follows_search(&unlikely));
    }

    #[test]
    fn a_start_with_the_defenders_to_move_is_read_from_their_side() {
        let fen = "3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 d".to_owned();
        let turned = GameRecord { start: Some(fen), ..game(0, &[0.9, 0.2], Some(Side::Defenders)) };
        near(&regrets(&turned).unwrap(), &[0.1, 0.2]);
    }

    #[test]
    fn the_worst_of_each_game_worst_first() {
        let mut games = vec![
            game(1, &[0.5, 0.5, 0.9, 0.2], Some(Side::Attackers)),
            game(2, &[0.75, 0.9, 0.9], Some(Side::Defenders)),
            game(3, &[0.9, 0.1, 0.9], Some(Side::Attackers)),
            game(4, &[0.75, 0.9, 0.25], Some(Side::Defenders)),
        ];
        games[2].plies[0].trains = false;
        let worst = |games: &[GameRecord]| -> Vec<(u64, usize)> {
            Misjudged::worst_of(games.iter()).iter().map(|position| (position.game.game, position.ply)).collect()
        };
        assert_eq!(worst(&games), [(2, 2), (4, 0), (1, 0)], "game 3 was judged well");
        games[1].players[1] = "another".to_owned();
        assert_eq!(worst(&games), [(4, 0), (1, 0)], "a game against another player");
        let many: Vec<GameRecord> = (0..200).map(|number| game(number, &[1.0], Some(Side::Defenders))).collect();
        let kept = worst(&many);
        assert_eq!((kept.len(), kept[0].0, kept[127].0), (KEPT, 199, 72), "the newest of equals");
    }

    #[test]
    fn drawn_in_proportion_to_regret() {
        let games = [game(1, &[0.75], Some(Side::Defenders)), game(2, &[0.25], Some(Side::Defenders))];
        let positions = Misjudged::worst_of(games.iter());
        let at = |point| Misjudged::at(&positions, point).unwrap().game.game;
        assert_eq!([at(0.0), at(0.7499), at(0.75), at(0.9999), at(1.0)], [1, 1, 2, 2, 2]);
        assert!(Misjudged::at(&[], 0.5).is_none());
    }
}
