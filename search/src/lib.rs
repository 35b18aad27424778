//! Monte Carlo tree search in two halves: [`Search::select_leaf`] selects a position to evaluate, [`Search::expand`]
//! takes its evaluation. The search never calls an evaluator itself, so a caller can batch the leaves of many games or
//! look evaluations up in a cache.
//!
//! Two algorithms share the tree and the solver: [`RootKind::Gumbel`] for budgets known in advance and
//! [`RootKind::Puct`] for clocks and analysis. Expansion tests every legal move for an immediate end of the game.
//! Proven results propagate up the tree exactly and cost no evaluation and no playout. Proven losses are never visited.
//!
//! A **playout** is one path from the root down to a new position, or to a proven draw, and the backup of its value.
//! The evaluation of the root is not a playout.
//!
//! [`AlphaBeta`] is the baseline without a network: an alpha-beta search with a hand-made evaluation.

mod alphabeta;
mod config;
mod edge_arena;
mod finish;
mod gumbel;
#[cfg(test)]
mod invariants;
mod leaf;
mod limit;
mod playout;
mod policy;
mod puct;
mod report;
mod rng;
mod schedule;
mod solver;
mod text;
mod threads;
mod tree;

use std::sync::atomic::{AtomicBool, Ordering};

use hnefi_engine::{Move, MoveList, Position};
use hnefi_inference::{EvalError, Evaluations, Evaluator, Handicap};

use gumbel::Gumbel;
use leaf::Leaves;
use policy::RootPolicy;
use puct::Puct;
use tree::{NodeId, Tree};

pub use alphabeta::{AlphaBeta, AlphaBetaFound};
pub use config::{KeyError, RootKind, SearchConfig, SettingError};
pub use finish::winning_move;
pub use leaf::LeafId;
pub use limit::Limit;
pub use playout::Selection;
pub use report::{RootMove, SearchReport};
pub use rng::{Rng, rng_for};
pub use solver::{Proven, ProvenResult};
pub use threads::{Searching, Signal, search_on_threads};

/// Tries the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// A search, reused from move to move and game to game so that playouts allocate nothing.
pub struct Search {
    config: SearchConfig,
    tree: Tree,
    /// Memory for the subtree that [`Search::advance`] keeps.
    spare: Tree,
    root: Option<Position>,
    /// The handicap in the network's inputs.
    handicap: Handicap,
    /// The moves of the root that are searched; empty for all.
    among: Vec<Move>,
    leaves: Leaves,
    policy: Box<dyn RootPolicy>,
    /// Playouts granted, begun (outstanding ones included) and backed up since `begin` or `advance`.
    budget: u32,
    begun: u32,
    counted: u32,
    evaluations: u64,
    max_depth: u32,
    /// Whether the tree holds `max_nodes` nodes.
    full: bool,
}

impl Search {
    /// A search without a position.
    pub fn new(config: SearchConfig) -> Search {
        Search {
            spare: Tree::new(config.root.orders_moves()),
            tree: Tree::new(config.root.orders_moves()),
            policy: match config.root {
                RootKind::Gumbel => Box::new(Gumbel::default()),
                RootKind::Puct => Box::new(Puct),
            },
            config,
            root: None,
            handicap: Handicap::NONE,
            among: Vec::new(),
            leaves: Leaves::default(),
            budget: 0,
            begun: 0,
            counted: 0,
            evaluations: 0,
            max_depth: 0,
            full: false,
        }
    }

    /// The search's configuration.
    pub fn config(&self) -> &SearchConfig {
        &self.config
    }

    /// Sets the handicap under which the searches that begin from now on see their positions; at first there is none.
    pub fn set_handicap(&mut self, handicap: Handicap) {
        self.handicap = handicap;
    }

    /// Clears the tree and begins a search of `position`, whose game must not be over. With `noise`, a Gumbel root
    /// samples its moves as self-play does, and the Gumbel variables are drawn here; without it, and with a PUCT root,
    /// the search is deterministic. With 0 playouts the report depends on the root's evaluation alone.
    ///
    /// # Panics
    /// When the position has no legal move.
    pub fn begin(&mut self, position: &Position, playouts: u32, noise: Option<&mut Rng>) {
        self.begin_among(position, &[], playouts, noise);
    }

    /// As [`Search::begin`], for the best of these legal moves; of all, if none are given.
    ///
    /// # Panics
    /// When the position has no legal move, or none of those given is one.
    pub fn begin_among(&mut self, position: &Position, among: &[Move], playouts: u32, noise: Option<&mut Rng>) {
        self.among.clear();
        self.among.extend_from_slice(among);
        let root = match &mut self.root {
            Some(root) => {
                root.clone_from(position);
                root
            }
            none => none.insert(position.clone()),
        };
        self.leaves.abandon_all();
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        moves.retain(|mv| among.is_empty() || among.contains(&mv));
        assert!(!moves.is_empty(), "a search needs a legal move, and there is none in {}", position.fen());
        self.tree.set_root(root, &moves);
        self.policy.begin(moves.len(), noise);
        self.reset_counters();
        self.extend(playouts);
    }

    /// Makes the position after `mv` the root and keeps its subtree. The counters are reset, outstanding leaves become
    /// void, and [`Search::extend`] grants playouts. Returns false if the position was not evaluated or the root is a
    /// Gumbel root; then call [`Search::begin`].
    pub fn advance(&mut self, mv: Move) -> bool {
        self.leaves.abandon_all();
        let Some(root) = self.root.as_mut().filter(|_| self.config.root.orders_moves()) else { return false };
        let child = self.tree.edges(NodeId::ROOT).iter().find(|edge| edge.mv() == mv).and_then(|edge| edge.child);
        let Some(child) = child.filter(|&child| self.tree.node(child).is_evaluated()) else {
            self.root = None;
            self.tree.clear();
            return false;
        };
        root.advance(mv);
        self.among.clear();
        self.tree.copy_subtree(child, &mut self.spare);
        std::mem::swap(&mut self.tree, &mut self.spare);
        self.reset_counters();
        true
    }

    /// Searches the same position again and keeps the tree. The counters are reset, and [`Search::extend`] grants
    /// playouts. Returns false if the position was not evaluated, leaves are outstanding or the root is a Gumbel root;
    /// then call [`Search::begin`].
    pub fn again(&mut self) -> bool {
        let evaluated = self.root.is_some() && self.tree.node(NodeId::ROOT).is_evaluated();
        if !evaluated || self.leaves.outstanding() > 0 || !self.config.root.orders_moves() {
            return false;
        }
        self.reset_counters();
        true
    }

    /// Grants more playouts. A Gumbel root whose schedule has begun gives them in turns to the two moves that remain
    /// from sequential halving.
    pub fn extend(&mut self, more_playouts: u32) {
        self.policy.extend(&self.config, &self.tree, more_playouts, self.budget == 0);
        self.budget = self.budget.saturating_add(more_playouts);
    }

    /// Whether the search is over: all playouts are backed up, or the root is proven.
    pub fn is_finished(&self) -> bool {
        if self.root.is_none() {
            return true;
        }
        let root = self.tree.node(NodeId::ROOT);
        let used_up = self.full || self.counted >= self.budget;
        root.proven.is_some() || (root.is_evaluated() && used_up && self.leaves.outstanding() == 0)
    }

    /// Whether the root is evaluated or proven.
    pub fn knows_root(&self) -> bool {
        self.root.is_some() && {
            let root = self.tree.node(NodeId::ROOT);
            root.is_evaluated() || root.proven.is_some()
        }
    }

    fn reset_counters(&mut self) {
        self.budget = 0;
        self.begun = 0;
        self.counted = 0;
        self.evaluations = 0;
        self.max_depth = 0;
        self.full = false;
    }
}

/// Runs a search to its end with one evaluator, one leaf at a time. `scratch` is overwritten.
///
/// # Errors
/// When the evaluator fails; the search can go on with another one.
pub fn run_to_end(
    search: &mut Search,
    evaluator: &mut dyn Evaluator,
    scratch: &mut Evaluations,
) -> Result<(), EvalError> {
    run_until(search, evaluator, scratch, &AtomicBool::new(false))
}

/// Runs a search as [`run_to_end`], or until the flag is true.
///
/// # Errors
/// As [`run_to_end`].
pub fn run_until(
    search: &mut Search,
    evaluator: &mut dyn Evaluator,
    scratch: &mut Evaluations,
    stopped: &AtomicBool,
) -> Result<(), EvalError> {
    while !stopped.load(Ordering::Relaxed) {
        match search.select_leaf() {
            Selection::Leaf(leaf) => {
                if let Err(error) = evaluator.evaluate(&[search.request(leaf)], scratch) {
                    search.cancel(leaf);
                    return Err(error);
                }
                search.expand(leaf, scratch.get(0), scratch.priors(0));
            }
            Selection::Settled => {}
            Selection::Blocked | Selection::Finished => return Ok(()),
        }
    }
    Ok(())
}
