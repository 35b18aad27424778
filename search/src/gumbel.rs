//! The Gumbel search of Danihelka et al., "Policy improvement by planning with Gumbel" (ICLR 2022).
//!
//! At the root, the moves with the largest Gumbel + logit are a sample without replacement from the prior, and
//! sequential halving distributes the playouts among them. Below the root and in the policy target, the improved policy
//! is softmax(logits + sigma(completed Q)), equation 11. Scores are from 0 to 1 and never rescaled.
//!
//! One addition: proven losses are excluded, and the next move takes the place of a considered move that is proven
//! lost.

use hnefi_inference::Wdl;
use rand_xoshiro::rand_core::Rng as _;

use super::config::SearchConfig;
use super::policy::RootPolicy;
use super::schedule::Schedule;
use super::tree::{Edge, NodeId, Tree, first_with_highest};
use crate::Rng;

#[derive(Default)]
pub(super) struct Gumbel {
    /// Gumbel variables over the root's moves; empty without noise.
    noise: Vec<f32>,
    schedule: Schedule,
    /// Scratch memory for the weights of one node's moves.
    scratch: Vec<f32>,
}

impl RootPolicy for Gumbel {
    fn begin(&mut self, moves: usize, noise: Option<&mut Rng>) {
        self.noise.clear();
        if let Some(rng) = noise {
            self.noise.extend((0..moves).map(|_| gumbel(rng)));
        }
    }

    fn extend(&mut self, config: &SearchConfig, tree: &Tree, playouts: u32, is_first: bool) {
        if !is_first {
            return self.schedule.extend(playouts);
        }
        let open = tree.edges(NodeId::ROOT).iter().filter(|edge| !edge.is_lost()).count() as u32;
        let considered = config.max_num_considered_actions.min(playouts / 2).min(open);
        self.schedule.set(considered, playouts);
    }

    fn waits_before(&self, index: u32) -> bool {
        self.schedule.halves_before(index)
    }

    fn choose(&mut self, config: &SearchConfig, tree: &Tree, id: NodeId, index: u32) -> Option<usize> {
        if id == NodeId::ROOT {
            choose_at_root(config, tree, &self.noise, &self.schedule, index)
        } else {
            choose(config, tree, id, &mut self.scratch)
        }
    }

    fn best(&self, config: &SearchConfig, tree: &Tree, admits: &dyn Fn(&Edge) -> bool) -> Option<usize> {
        best_at_root(config, tree, &self.noise, admits, |edge| i64::from(edge.visits))
    }

    fn target(&self, config: &SearchConfig, tree: &Tree) -> Vec<f32> {
        let mut weights = Vec::new();
        improved_policy(config, tree, NodeId::ROOT, &mut weights);
        weights
    }

    fn value(&self, tree: &Tree, target: &[f32]) -> Wdl {
        improved_value(tree, NodeId::ROOT, target)
    }
}

fn gumbel(rng: &mut Rng) -> f32 {
    // Uniform in the open interval (0, 1), so that its logarithm is finite.
    let uniform = ((rng.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    -(-uniform.ln()).ln() as f32
}

/// sigma(q): the contribution of a score to the logits (equation 8).
fn sigma(config: &SearchConfig, most_visits: u32, score: f32) -> f32 {
    (config.c_visit + most_visits as f32) * config.c_scale * score
}

/// The value of unvisited moves (appendix D, equation 33): the node's raw value mixed with the prior-weighted mean of
/// the visited moves, from the view of the side to move. Proven losses are left out.
fn mixed_value(tree: &Tree, id: NodeId) -> Wdl {
    let (mut visits, mut mass) = (0.0, 0.0);
    let mut sum = Wdl { win: 0.0, draw: 0.0, loss: 0.0 };
    for edge in tree.edges(id).iter().filter(|edge| edge.visits > 0 && !edge.is_lost()) {
        if let Some(value) = tree.edge_value(edge) {
            visits += edge.visits as f32;
            mass += edge.prior;
            sum.win += edge.prior * value.win;
            sum.draw += edge.prior * value.draw;
            sum.loss += edge.prior * value.loss;
        }
    }
    let raw = tree.node(id).raw;
    if mass <= 0.0 {
        return raw;
    }
    let mix = |raw: f32, sum: f32| (raw + visits * sum / mass) / (1.0 + visits);
    Wdl { win: mix(raw.win, sum.win), draw: mix(raw.draw, sum.draw), loss: mix(raw.loss, sum.loss) }
}

/// The value of a move, or `mixed` for a move without one.
fn completed(tree: &Tree, edge: &Edge, mixed: Wdl) -> Wdl {
    tree.edge_value(edge).unwrap_or(mixed)
}

/// The improved policy: softmax(logits + sigma(completed Q)) over the moves that are not proven lost, and 0 for proven
/// losses. Fills `out` with one weight per edge.
///
/// Computed as prior * exp(sigma): most moves share the mixed value, so a playout takes one exponential per visited
/// move and no logarithm.
fn improved_policy(config: &SearchConfig, tree: &Tree, id: NodeId, out: &mut Vec<f32>) {
    let edges = tree.edges(id);
    let mixed = mixed_value(tree, id);
    let most = most_visits(edges);
    let best = edges
        .iter()
        .filter(|edge| !edge.is_lost())
        .map(|edge| completed(tree, edge, mixed).score())
        .fold(0.0, f32::max);
    let weight = |score: f32| sigma(config, most, score - best).exp();
    let unknown = weight(mixed.score());
    out.clear();
    out.extend(edges.iter().map(|edge| {
        if edge.is_lost() {
            return 0.0;
        }
        // The lower bound keeps the sum positive if the best move's prior has underflowed.
        edge.prior.max(1e-12) * tree.edge_value(edge).map_or(unknown, |value| weight(value.score()))
    }));
    let sum: f32 = out.iter().sum();
    for weight in out.iter_mut().filter(|_| sum > 0.0) {
        *weight /= sum;
    }
}

/// The value of a node under the improved policy `policy`, from the view of the side to move.
fn improved_value(tree: &Tree, id: NodeId, policy: &[f32]) -> Wdl {
    let mixed = mixed_value(tree, id);
    let mut sum = Wdl { win: 0.0, draw: 0.0, loss: 0.0 };
    for (edge, weight) in tree.edges(id).iter().zip(policy) {
        let value = completed(tree, edge, mixed);
        sum.win += weight * value.win;
        sum.draw += weight * value.draw;
        sum.loss += weight * value.loss;
    }
    sum
}

/// Below the root: the open move with the largest visit deficit, improved policy minus share of the visits (equation
/// 14); `None` while all moves wait for evaluations. `scratch` is overwritten.
fn choose(config: &SearchConfig, tree: &Tree, id: NodeId, scratch: &mut Vec<f32>) -> Option<usize> {
    improved_policy(config, tree, id, scratch);
    let node = tree.node(id);
    let total = 1.0 + (node.playouts() + u32::from(node.pending)) as f32;
    let share = |edge: &Edge| (edge.visits + tree.edge_pending(edge)) as f32 / total;
    first_with_highest(tree.edges(id), |edge| tree.is_open(edge), |index, edge| scratch[index] - share(edge))
}

/// At the root: the open move for playout `index` of the schedule; `None` while all moves wait for evaluations. `noise`
/// holds one Gumbel variable per move, or is empty for a deterministic search.
///
/// Among the moves with the scheduled number of visits, the best by Gumbel + logit + sigma. If there is none, because a
/// considered move was proven lost, the move with the most visits below that number follows.
fn choose_at_root(config: &SearchConfig, tree: &Tree, noise: &[f32], schedule: &Schedule, index: u32) -> Option<usize> {
    let target = i64::from(schedule.target(index));
    let rank = |edge: &Edge| {
        let visits = i64::from(edge.visits + tree.edge_pending(edge));
        if visits <= target { visits } else { -visits }
    };
    best_at_root(config, tree, noise, |edge| tree.is_open(edge), rank)
}

/// The root move with the highest `rank`; Gumbel + logit + sigma(completed Q) breaks ties.
fn best_at_root(
    config: &SearchConfig,
    tree: &Tree,
    noise: &[f32],
    admits: impl Fn(&Edge) -> bool,
    rank: impl Fn(&Edge) -> i64,
) -> Option<usize> {
    let edges = tree.edges(NodeId::ROOT);
    let mixed = mixed_value(tree, NodeId::ROOT);
    let most = most_visits(edges);
    first_with_highest(edges, admits, |index, edge| {
        let gumbel = noise.get(index).copied().unwrap_or(0.0);
        let score = gumbel + edge.prior.max(1e-12).ln() + sigma(config, most, completed(tree, edge, mixed).score());
        (rank(edge), score)
    })
}

fn most_visits(edges: &[Edge]) -> u32 {
    edges.iter().map(|edge| edge.visits).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::solver::{Proven, ProvenResult};
    use super::*;

    const fn wdl(win: f32, draw: f32, loss: f32) -> Wdl {
        Wdl { win, draw, loss }
    }

    /// Two visited moves, an unvisited one and a lost one.
    fn example() -> Tree {
        let lost = Some(Proven { result: ProvenResult::Loss, plies: 2 });
        Tree::by_hand(
            wdl(0.5, 0.2, 0.3),
            &[
                (0.4, 3, Some(wdl(0.75, 0.0, 0.25)), None),
                (0.1, 1, Some(wdl(0.25, 0.5, 0.25)), None),
                (0.3, 0, None, None),
                (0.2, 0, None, lost),
            ],
        )
    }

    fn config() -> SearchConfig {
        SearchConfig { c_visit: 7.0, c_scale: 0.1, ..SearchConfig::default() }
    }

    #[test]
    fn gumbel_moments_agree_with_theory() {
        let mut rng = crate::rng_for(&[9]);
        let drawn: Vec<f64> = (0..200_000).map(|_| gumbel(&mut rng).into()).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / drawn.len() as f64;
        // Mean: the Euler-Mascheroni constant; variance: pi^2 / 6.
        assert!((mean - 0.577_215_7).abs() < 0.01 && (variance - 1.644_934).abs() < 0.03, "{mean} {variance}");
    }

    #[test]
    fn mixed_value_by_hand() {
        // Visited mean under the prior: win (0.4*0.75 + 0.1*0.25)/0.5 = 0.65, draw 0.05/0.5 = 0.1, loss 0.25.
        // With 4 visits: win (0.5 + 4*0.65)/5 = 0.62, draw (0.2 + 0.4)/5 = 0.12, loss (0.3 + 1)/5 = 0.26.
        let mixed = mixed_value(&example(), NodeId::ROOT);
        for (found, expected) in [(mixed.win, 0.62), (mixed.draw, 0.12), (mixed.loss, 0.26)] {
            assert!((found - expected).abs() < 1e-6, "{mixed:?}");
        }
    }

    #[test]
    fn improved_policy_by_hand() {
        // sigma(q) = (7 + 3) * 0.1 * q = q. Scores 0.75, 0.5 and, mixed, 0.62 + 0.06 = 0.68.
        // Weights 0.4 e^0.75 = 0.846800, 0.1 e^0.5 = 0.164872, 0.3 e^0.68 = 0.592163; sum 1.603835.
        let mut policy = Vec::new();
        improved_policy(&config(), &example(), NodeId::ROOT, &mut policy);
        for (found, expected) in policy.iter().zip([0.527_984, 0.102_799, 0.369_217, 0.0]) {
            assert!((found - expected).abs() < 1e-5, "{policy:?}");
        }
        // Its score: 0.527984*0.75 + 0.102799*0.5 + 0.369217*0.68 = 0.698455.
        let value = improved_value(&example(), NodeId::ROOT, &policy);
        assert!((value.score() - 0.698_455).abs() < 1e-5, "{value:?}");
        assert!((value.win + value.draw + value.loss - 1.0).abs() < 1e-6);
    }

    #[test]
    fn below_the_root_the_lagging_move_is_chosen() {
        // Shares 3/5, 1/5 and 0 against 0.53, 0.10 and 0.37: the third lags most.
        assert_eq!(choose(&config(), &example(), NodeId::ROOT, &mut Vec::new()), Some(2));
    }

    #[test]
    fn the_root_follows_schedule_and_scores() {
        let mut schedule = Schedule::default();
        schedule.set(2, 8);
        let at = |noise: &[f32], index| choose_at_root(&config(), &example(), noise, &schedule, index);
        // Target 3: only the first move has 3 visits.
        assert_eq!(at(&[], 6), Some(0));
        // Target 1: the second. Target 0: the third, since the fourth is lost with any noise.
        assert_eq!(at(&[], 2), Some(1));
        assert_eq!(at(&[0.0, 0.0, 0.0, 100.0], 0), Some(2));
        // Target 2: no move has 2 visits; the second has the most below.
        assert_eq!(at(&[], 4), Some(1));
        // Gumbel + logit + sigma: -0.9163 + 0.75 = -0.1663 and -2.3026 + 0.5 + 1.7 = -0.1026.
        let rank = |_: &Edge| 0;
        let not_third = |edge: &Edge| edge.visits > 0;
        assert_eq!(best_at_root(&config(), &example(), &[0.0, 1.6], not_third, rank), Some(0));
        assert_eq!(best_at_root(&config(), &example(), &[0.0, 1.7], not_third, rank), Some(1));
    }
}
