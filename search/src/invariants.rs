//! Invariants of the tree after random sequences of calls, checked on every node.

use std::collections::HashSet;

use hnefi_engine::{MoveList, Position, Preset};
use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator, Handicap, HashEvaluator};
use rand_xoshiro::rand_core::Rng as _;

use super::solver::prove;
use super::tree::{Edge, NodeId, generation_order};
use super::{RootKind, Search, SearchConfig, Selection, run_to_end};
use crate::rng_for;

/// Checks the subtree under `id`, whose position is `position`, and returns its number of nodes.
fn check(search: &Search, id: NodeId, position: &Position) -> usize {
    let node = search.tree.node(id);
    let edges = search.tree.edges(id);
    if id != NodeId::ROOT && !node.is_evaluated() {
        assert!(edges.is_empty() && node.pending == 0, "a cancelled leaf waits for its turn");
        return 1;
    }
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    let mut listed: Vec<_> = edges.iter().map(|edge| edge.mv()).collect();
    if search.config.root == RootKind::Puct {
        listed.sort_by_key(|&mv| generation_order(mv));
    }
    assert_eq!(listed, moves.as_slice(), "the legal moves, under a Gumbel root in order");
    check_line(search, id);
    assert_eq!(node.pending, 0, "nothing is outstanding");
    assert_eq!(node.playouts(), edges.iter().map(|edge| edge.visits).sum::<u32>());
    assert_eq!(node.proven, prove(edges.iter().map(|edge| edge.proven())), "proven exactly if the moves prove it");

    let mut refreshed = search.tree.clone();
    refreshed.refresh(id);
    if node.is_evaluated() {
        let fresh = refreshed.node(id);
        assert_eq!((fresh.value, fresh.moves_left), (node.value, node.moves_left), "the value is up to date");
    }
    let mut nodes = 1;
    for edge in edges {
        let mut after = position.clone();
        after.play(edge.mv()).expect("a legal move");
        if after.outcome().is_some() {
            assert_eq!(edge.proven().map(|proven| proven.plies), Some(1), "every end of the game is known");
            assert!(edge.child.is_none());
        }
        match edge.child {
            Some(child) => {
                let child_node = search.tree.node(child);
                assert_eq!(edge.visits, child_node.visits);
                assert_eq!(edge.proven(), child_node.proven.map(|proven| proven.for_move_before()));
                nodes += check(search, child, &after);
            }
            None => assert!(edge.visits == 0 || edge.proven().is_some()),
        }
    }
    nodes
}

/// Checks that the moves a playout looks at are all that it might choose.
fn check_line(search: &Search, id: NodeId) {
    let (edges, in_play) = (search.tree.edges(id), search.tree.moves_in_play(id));
    if search.config.root == RootKind::Gumbel || !search.tree.node(id).is_evaluated() {
        assert_eq!(in_play.len(), edges.len());
    } else {
        let untouched = |edge: &&Edge| edge.child.is_none() && edge.proven().is_none();
        assert!(in_play.iter().rev().skip(1).all(|edge| !untouched(&edge)), "at most the last one is new");
        let highest = edges.iter().filter(untouched).map(|edge| edge.prior).fold(0.0, f32::max);
        assert_eq!(in_play.last().filter(untouched).map_or(0.0, |next| next.prior), highest, "the next by prior");
        assert!(edges[in_play.len()..].iter().all(|edge| untouched(&edge)), "nothing is left out that was touched");
    }
}

#[test]
fn the_tree_is_consistent_after_anything() {
    for seed in 0..60_u64 {
        let mut rng = rng_for(&[81, seed]);
        let mut below = |n: usize| (rng.next_u64() % n as u64) as usize;
        let root = if seed % 2 == 0 { RootKind::Gumbel } else { RootKind::Puct };
        let mut search = Search::new(SearchConfig { root, max_nodes: 90, ..SearchConfig::default() });
        let (mut evaluator, mut buffer) = (HashEvaluator::new(seed), Evaluations::new());
        let mut position = Position::start(&Preset::Brandubh.rules());
        for _ in 0..below(40) {
            match position.random_move(&mut below) {
                Some(mv) => position.play_unchecked(mv),
                None => break,
            };
        }
        let mut begun = false;
        while position.outcome().is_none() {
            if !begun {
                search.begin(&position, 0, None);
            }
            search.extend(below(60) as u32);
            let (width, mut outstanding) = (1 + below(6), Vec::new());
            loop {
                let selection = search.select_leaf();
                if let Selection::Leaf(leaf) = selection {
                    outstanding.push(leaf);
                }
                if outstanding.len() >= width || matches!(selection, Selection::Blocked | Selection::Finished) {
                    if outstanding.is_empty() {
                        break;
                    }
                    let leaf = outstanding.swap_remove(below(outstanding.len()));
                    if below(8) == 0 {
                        search.cancel(leaf);
                    } else {
                        evaluator.evaluate(&[search.request(leaf)], &mut buffer).expect("never fails");
                        search.expand(leaf, buffer.get(0), buffer.priors(0));
                    }
                }
            }
            assert!(search.is_finished());
            assert_eq!(check(&search, NodeId::ROOT, &position), search.tree.len(), "every node hangs in the tree");
            // Leaves that are not expanded before the next move have no effect.
            search.extend(6);
            for _ in 0..below(7) {
                search.select_leaf();
            }
            let mv = search.report().best;
            begun = search.advance(mv);
            position.play_unchecked(mv);
            if begun {
                check(&search, NodeId::ROOT, &position);
            }
            if position.ply() > 80 {
                break;
            }
        }
    }
}

/// Notes the hash of every position that it is asked for.
struct Noting(HashEvaluator, Vec<u64>);

impl Evaluator for Noting {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        self.1.extend(requests.iter().map(|request| request.position.hash()));
        self.0.evaluate(requests, out)
    }
}

/// Checks that every node has the priors of its own position. Returns the number of nodes.
fn check_priors(search: &Search, id: NodeId, position: &Position, evaluator: &mut HashEvaluator) -> usize {
    if !search.tree.node(id).is_evaluated() {
        return 1;
    }
    let mut edges = search.tree.edges(id).to_vec();
    edges.sort_by_key(|edge| generation_order(edge.mv()));
    let moves: Vec<_> = edges.iter().map(|edge| edge.mv()).collect();
    let mut answer = Evaluations::new();
    evaluator
        .evaluate(&[EvalRequest { position, moves: &moves, handicap: Handicap::NONE, auxiliary: false }], &mut answer)
        .expect("never fails");
    for (edge, prior) in edges.iter().zip(answer.priors(0)) {
        assert!((edge.prior - prior).abs() < 1e-6, "{}: {edge:?}, expected {prior}", position.fen());
    }
    let below = edges.iter().filter_map(|edge| edge.child.map(|child| (edge.mv(), child))).map(|(mv, child)| {
        let mut after = position.clone();
        after.play(mv).expect("a legal move");
        check_priors(search, child, &after, evaluator)
    });
    1 + below.sum::<usize>()
}

#[test]
fn another_order_of_moves_costs_no_evaluation() {
    let config = SearchConfig { root: RootKind::Puct, prior_temperature: 1.0, ..SearchConfig::default() };
    let mut evaluator = Noting(HashEvaluator::new(5), Vec::new());
    let mut position = Position::start(&Preset::Brandubh.rules());
    let mut search = Search::new(config);
    search.begin(&position, 3000, None);
    run_to_end(&mut search, &mut evaluator, &mut Evaluations::new()).expect("never fails");
    let report = search.report();
    assert_eq!(report.playouts, 3000);
    assert_eq!(report.evaluations, evaluator.1.len() as u64);
    assert!(report.evaluations < 2990, "orders of moves that lead to one position: {}", report.evaluations);
    let distinct = |hashes: &[u64]| hashes.iter().collect::<HashSet<_>>().len();
    assert_eq!(distinct(&evaluator.1), evaluator.1.len(), "no position is evaluated twice");
    assert_eq!(check_priors(&search, NodeId::ROOT, &position, &mut evaluator.0), search.tree.len());

    // The part of the tree that is kept after a move is known as well.
    let kept_from = evaluator.1.len();
    assert!(search.advance(report.best));
    position.play_unchecked(report.best);
    let kept = search.tree.len();
    search.extend(2000);
    run_to_end(&mut search, &mut evaluator, &mut Evaluations::new()).expect("never fails");
    assert!(kept > 10 && search.tree.len() > kept + 1000);
    assert_eq!(distinct(&evaluator.1[kept_from..]), evaluator.1.len() - kept_from, "no position is evaluated twice");
    assert_eq!(check_priors(&search, NodeId::ROOT, &position, &mut evaluator.0), search.tree.len());
}
