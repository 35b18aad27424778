//! PUCT: the move with the largest sum of score and exploration bonus (Silver et al. 2017; the growing constant is from
//! the AlphaZero paper, 2018).

use hnefi_inference::Wdl;

use super::config::SearchConfig;
use super::policy::{RootPolicy, shares};
use super::tree::{Edge, NodeId, Tree, first_with_highest};

/// Standard deviations below its score where the bound of a move lies.
const BOUND_DEVIATIONS: f32 = 2.0;

/// The least share of the most visited move's playouts with which a move may be played.
const BOUND_SHARE: f32 = 0.1;

/// The least variance of one playout's score, for moves that seem certain.
const LEAST_VARIANCE: f32 = 0.01;

pub(super) struct Puct;

impl RootPolicy for Puct {
    fn choose(&mut self, config: &SearchConfig, tree: &Tree, id: NodeId, _: u32) -> Option<usize> {
        choose(config, tree, id)
    }

    fn best(&self, _: &SearchConfig, tree: &Tree, admits: &dyn Fn(&Edge) -> bool) -> Option<usize> {
        match tree.node(NodeId::ROOT).proven {
            Some(_) => tree.most_visited(NodeId::ROOT, admits),
            None => highest_bound(tree, admits),
        }
    }

    fn target(&self, _: &SearchConfig, tree: &Tree) -> Vec<f32> {
        let edges = tree.edges(NodeId::ROOT);
        let visited = edges.iter().any(|edge| edge.visits > 0 && !edge.is_lost());
        shares(edges, |edge| match visited {
            _ if edge.is_lost() => 0.0,
            true => edge.visits as f32,
            false => edge.prior.max(1e-12),
        })
    }

    fn value(&self, tree: &Tree, _: &[f32]) -> Wdl {
        tree.node(NodeId::ROOT).value
    }
}

/// The admitted move of the root with the highest lower confidence bound of its score, among the moves that have at
/// least [`BOUND_SHARE`] of the most visited one's playouts; ties go to more visits, then to the higher prior (as Leela
/// Zero and KataGo, with a binomial instead of a measured variance).
fn highest_bound(tree: &Tree, admits: impl Fn(&Edge) -> bool) -> Option<usize> {
    let edges = tree.edges(NodeId::ROOT);
    let most = edges.iter().filter(|edge| admits(edge)).map(|edge| edge.visits).max()?;
    first_with_highest(edges, admits, |_, edge| {
        // A proven draw is as certain as it will be, however few playouts it has had.
        let visits = if edge.proven().is_some() { most } else { edge.visits } as f32;
        let bound = match tree.edge_value(edge).map(Wdl::score) {
            Some(score) if visits > 0.0 && visits >= BOUND_SHARE * most as f32 => {
                let variance = (score * (1.0 - score)).max(LEAST_VARIANCE);
                score - BOUND_DEVIATIONS * (variance / visits).sqrt()
            }
            _ => f32::NEG_INFINITY,
        };
        (bound, edge.visits, edge.prior)
    })
}

/// Index of the open move with the largest PUCT sum; `None` while all open moves wait for evaluations.
fn choose(config: &SearchConfig, tree: &Tree, id: NodeId) -> Option<usize> {
    let node = tree.node(id);
    let edges = tree.moves_in_play(id);
    let visited_mass: f32 = edges.iter().filter(|edge| edge.visits > 0 && !edge.is_lost()).map(|edge| edge.prior).sum();
    let first_play = (node.value.score() - config.fpu_reduction * visited_mass.sqrt()).max(0.0);
    let total = (node.playouts() + u32::from(node.pending)) as f32;
    let exploration = exploration(config, total);
    first_with_highest(
        edges,
        |edge| tree.is_open(edge),
        |_, edge| {
            let virtual_visits = (tree.edge_pending(edge) * config.virtual_loss) as f32;
            let visits = edge.visits as f32;
            let score = match tree.edge_value(edge) {
                // Virtual visits count as losses, with score 0.
                Some(value) => value.score() * visits.max(1.0) / (visits.max(1.0) + virtual_visits),
                None => first_play,
            };
            score
                + moves_left_bonus(config, tree, id, edge)
                + exploration * edge.prior / (1.0 + visits + virtual_visits)
        },
    )
}

/// Bonus for the length of the game, as Leela Chess Zero's moves-left utility: positive for a winning move that ends
/// the game sooner than the position's mean, and for a losing move that ends it later.
fn moves_left_bonus(config: &SearchConfig, tree: &Tree, id: NodeId, edge: &Edge) -> f32 {
    if config.moves_left_weight == 0.0 {
        return 0.0;
    }
    let (Some(value), Some(moves_left)) = (tree.edge_value(edge), tree.edge_moves_left(edge)) else { return 0.0 };
    let sooner = ((tree.node(id).moves_left - moves_left) / config.moves_left_plies).clamp(-1.0, 1.0);
    config.moves_left_weight * sooner * (2.0 * value.score() - 1.0)
}

/// The factor of `prior / (1 + visits)` at a node with `total` playouts. Counting from 1 lets the priors decide the
/// first playout.
fn exploration(config: &SearchConfig, total: f32) -> f32 {
    let growth = ((total + config.c_puct_base + 1.0) / config.c_puct_base).ln();
    (config.c_puct + config.c_puct_factor * growth) * (total + 1.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::solver::{Proven, ProvenResult};
    use super::super::tree::apply_temperature;
    use super::*;

    /// Index of the move that a root plays whose moves have these visits and scores.
    fn played(moves: &[(u32, f32)]) -> Option<usize> {
        let wdl = |win| Some(Wdl { win, draw: 0.0, loss: 1.0 - win });
        let moves: Vec<_> = moves.iter().map(|&(visits, score)| (0.1, visits, wdl(score), None)).collect();
        Puct.best(&SearchConfig::default(), &Tree::by_hand(Wdl::DRAW, &moves), &|_| true)
    }

    #[test]
    fn the_lower_bound_decides_by_hand() {
        // 0.6 - 2 sqrt(0.24 / 400) = 0.551, 0.7 - 2 sqrt(0.21 / 100) = 0.608, 0.9 with less than a tenth.
        assert_eq!(played(&[(400, 0.6), (100, 0.7), (39, 0.9)]), Some(1));
        // 0.65 - 2 sqrt(0.2275 / 100) = 0.555 and 0.64 - 2 sqrt(0.2304 / 100) = 0.544, both above 0.551 or below.
        assert_eq!(played(&[(400, 0.6), (100, 0.65)]), Some(1));
        assert_eq!(played(&[(400, 0.6), (100, 0.64)]), Some(0));
        // Certain ones: 0.99 - 2 sqrt(0.01 / 400) = 0.98 and 1 - 2 sqrt(0.01 / 50) = 0.972.
        assert_eq!(played(&[(400, 0.99), (50, 1.0)]), Some(0));
        assert_eq!(played(&[(0, 0.5), (1, 0.5)]), Some(1));
    }

    #[test]
    fn a_proven_draw_needs_no_playouts_of_its_own() {
        let wdl = |win| Some(Wdl { win, draw: 0.0, loss: 1.0 - win });
        let draw = Some(Proven { result: ProvenResult::Draw, plies: 1 });
        let played = |score, visits| {
            let tree = Tree::by_hand(Wdl::DRAW, &[(0.5, 1000, wdl(score), None), (0.1, visits, None, draw)]);
            Puct.best(&SearchConfig::default(), &tree, &|_| true)
        };
        assert_eq!([played(0.49, 0), played(0.49, 400), played(0.51, 400)], [Some(1), Some(1), Some(0)]);
    }

    #[test]
    fn exploration_by_hand() {
        // (1.5 + 0.5 ln((15 + 4 + 1) / 4)) * sqrt(16) = (1.5 + 0.5 * 1.609438) * 4
        let config = SearchConfig { c_puct: 1.5, c_puct_base: 4.0, c_puct_factor: 0.5, ..SearchConfig::default() };
        assert!((exploration(&config, 15.0) - 9.218_876).abs() < 1e-5);
    }

    #[test]
    fn moves_left_bonus_by_hand() {
        let wdl = |win, loss| Some(Wdl { win, draw: 0.0, loss });
        let soon = Some(Proven { result: ProvenResult::Win, plies: 1 });
        let mut tree = Tree::by_hand(
            Wdl::DRAW,
            &[
                (0.3, 1, wdl(0.75, 0.25), None),
                (0.3, 1, wdl(0.25, 0.75), None),
                (0.2, 0, None, None),
                (0.2, 0, None, soon),
            ],
        );
        let edges = tree.edges(NodeId::ROOT).to_vec();
        tree.node_mut(NodeId::ROOT).moves_left = 30.0;
        for (edge, moves_left) in edges.iter().zip([19.0, 49.0]) {
            tree.node_mut(edge.child.expect("visited")).moves_left = moves_left;
        }
        let config = SearchConfig { moves_left_weight: 0.06, moves_left_plies: 20.0, ..SearchConfig::default() };
        // Ten plies sooner at a lead of a half: 0.06 * 10/20 * 0.5. Twenty or more later, losing: 0.06 * -1 * -0.5.
        // Nothing is known of the third, and the fourth wins at once: 0.06 * 1 * 1.
        for (edge, expected) in edges.iter().zip([0.015, 0.03, 0.0, 0.06]) {
            assert!((moves_left_bonus(&config, &tree, NodeId::ROOT, edge) - expected).abs() < 1e-6, "{edge:?}");
        }
    }

    #[test]
    fn tempered_priors_by_hand_and_back() {
        let given = [0.64, 0.32, 0.04];
        let mut tree = Tree::by_hand(Wdl::DRAW, &given.map(|prior| (prior, 0, None, None)));
        let edges = tree.edges_mut(NodeId::ROOT);
        apply_temperature(edges, 0.5);
        // Roots 0.8, 0.565685 and 0.2 of sum 1.565685.
        for (edge, expected) in edges.iter().zip([0.510_958, 0.361_302, 0.127_740]) {
            assert!((edge.prior - expected).abs() < 1e-5, "{edges:?}");
        }
        apply_temperature(edges, 2.0);
        for (edge, expected) in edges.iter().zip(given) {
            assert!((edge.prior - expected).abs() < 1e-5, "{edges:?}");
        }
    }
}
