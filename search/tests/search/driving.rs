//! Every way of driving a search: several leaves at once in any order, cancelling, going on after a move, more
//! playouts, and running out of nodes.

use hnefi_engine::{Position, Preset};
use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator, HashEvaluator};
use hnefi_search::rng_for;
use hnefi_search::{LeafId, RootKind, Search, SearchConfig, Selection, run_to_end};
use rand_xoshiro::rand_core::Rng as _;

use crate::{ROOTS, config, legal_moves, random_positions, run, search, start, visits};

fn answer(search: &mut Search, leaf: LeafId, evaluator: &mut HashEvaluator) {
    let mut buffer = Evaluations::new();
    evaluator.evaluate(&[search.request(leaf)], &mut buffer).expect("never fails");
    search.expand(leaf, buffer.get(0), buffer.priors(0));
}

/// Keeps up to `width` leaves outstanding, answers them in random order and cancels one in ten.
fn run_wide(search: &mut Search, width: usize, seed: u64) -> usize {
    let mut rng = rng_for(&[seed]);
    let mut evaluator = HashEvaluator::new(seed);
    let (mut outstanding, mut widest) = (Vec::new(), 0);
    loop {
        let selection = search.select_leaf();
        if let Selection::Leaf(leaf) = selection {
            let request = search.request(leaf);
            assert_eq!(request.moves, legal_moves(request.position).as_slice());
            outstanding.push(leaf);
            widest = widest.max(outstanding.len());
        }
        let wait = outstanding.len() >= width || matches!(selection, Selection::Blocked | Selection::Finished);
        if wait {
            if outstanding.is_empty() {
                assert_eq!(selection, Selection::Finished, "nothing is outstanding, so nothing can block");
                return widest;
            }
            let leaf = outstanding.swap_remove((rng.next_u64() % outstanding.len() as u64) as usize);
            match rng.next_u64() % 10 {
                0 => search.cancel(leaf),
                _ => answer(search, leaf, &mut evaluator),
            }
        }
    }
}

#[test]
fn leaves_are_answered_in_any_order() {
    for (index, position) in random_positions(Preset::Brandubh, 40, 61).iter().enumerate() {
        for root in ROOTS {
            let mut search = Search::new(config(root));
            search.begin(position, 120, None);
            run_wide(&mut search, 1 + index % 9, index as u64);
            assert!(search.is_finished());
            let report = search.report();
            assert_eq!(visits(&report), report.playouts);
            assert!(report.playouts == 120 || report.proven.is_some(), "{}", position.fen());
        }
    }
}

#[test]
fn many_leaves_can_be_outstanding_at_once() {
    let start = start(Preset::Copenhagen);
    for root in ROOTS {
        let mut search = Search::new(config(root));
        search.begin(&start, 128, None);
        assert_eq!(run_wide(&mut search, 16, 1), 16, "{root:?}");
    }
}

#[test]
fn a_phase_of_sequential_halving_ends_before_the_next_begins() {
    let start = start(Preset::Copenhagen);
    let mut search = Search::new(config(RootKind::Gumbel));
    let mut evaluator = HashEvaluator::new(7);
    search.begin(&start, 64, None);
    let Selection::Leaf(root) = search.select_leaf() else { panic!("the root comes first") };
    assert_eq!(search.select_leaf(), Selection::Blocked, "and nothing before its answer");
    answer(&mut search, root, &mut evaluator);
    let mut leaves = Vec::new();
    while let Selection::Leaf(leaf) = search.select_leaf() {
        leaves.push(leaf);
    }
    assert_eq!(leaves.len(), 16, "all considered moves of the first phase");
    assert_eq!(search.select_leaf(), Selection::Blocked);
}

#[test]
fn virtual_loss_keeps_leaves_apart() {
    let start = start(Preset::Brandubh);
    let mut search = Search::new(config(RootKind::Puct));
    let mut evaluator = HashEvaluator::new(8);
    search.begin(&start, 100, None);
    let Selection::Leaf(root) = search.select_leaf() else { panic!("the root comes first") };
    answer(&mut search, root, &mut evaluator);
    let mut seen = Vec::new();
    for _ in 0..30 {
        let Selection::Leaf(leaf) = search.select_leaf() else { panic!("40 moves are open") };
        let hash = search.request(leaf).position.hash();
        assert!(!seen.contains(&hash), "the same position twice");
        seen.push(hash);
    }
}

#[test]
#[should_panic(expected = "was answered or cancelled before")]
fn a_leaf_is_answered_once() {
    let mut search = Search::new(config(RootKind::Puct));
    search.begin(&Position::start(&Preset::Brandubh.rules()), 4, None);
    let Selection::Leaf(leaf) = search.select_leaf() else { panic!("the root comes first") };
    search.cancel(leaf);
    search.request(leaf);
}

#[test]
fn advancing_keeps_every_count() {
    for (index, position) in random_positions(Preset::Brandubh, 30, 71).iter().enumerate() {
        let mut search = Search::new(config(RootKind::Puct));
        let mut evaluator = HashEvaluator::new(index as u64);
        search.begin(position, 150, None);
        let before = run(&mut search, &mut evaluator);
        let text = search.tree_text(20);
        let Some(played) = before.moves.iter().max_by_key(|mv| mv.visits).filter(|mv| mv.visits > 0) else { continue };

        assert!(search.advance(played.mv));
        let kept = search.report();
        assert_eq!(visits(&kept), played.visits - 1, "the visit that made it");
        assert_eq!((kept.playouts, kept.evaluations), (0, 0));
        if played.proven.is_none() {
            assert_eq!(kept.wdl.flipped(), played.wdl.expect("visited"));
            assert!(search.is_finished(), "no playouts are granted yet");
        }
        // The old tree's text holds the new one's, a step further in.
        let subtree: String = search.tree_text(20).lines().skip(1).map(|line| format!("  {line}\n")).collect();
        assert!(text.contains(&subtree), "{text}\n{subtree}");

        search.extend(50);
        let after = run(&mut search, &mut evaluator);
        assert_eq!(visits(&after), played.visits - 1 + after.playouts);
        assert!(after.playouts == 50 || after.proven.is_some());
    }
}

#[test]
fn advancing_makes_outstanding_leaves_void() {
    let start = start(Preset::Brandubh);
    let mut search = Search::new(config(RootKind::Puct));
    let mut evaluator = HashEvaluator::new(12);
    search.begin(&start, 100, None);
    run(&mut search, &mut evaluator);
    search.extend(20);
    for _ in 0..20 {
        assert!(matches!(search.select_leaf(), Selection::Leaf(_)));
    }
    let best = search.report().best;
    assert!(search.advance(best));
    search.extend(300);
    assert_eq!(run(&mut search, &mut evaluator).playouts, 300, "positions once handed out can be asked for again");
}

#[test]
fn advancing_into_the_unknown_asks_for_a_new_beginning() {
    let start = start(Preset::Brandubh);
    let mut evaluator = HashEvaluator::new(9);
    for root in ROOTS {
        let mut search = Search::new(config(root));
        assert!(!search.advance(legal_moves(&start)[0]), "nothing was begun");
        search.begin(&start, 8, None);
        let report = run(&mut search, &mut evaluator);
        let unvisited = report.moves.iter().find(|mv| mv.visits == 0).expect("40 moves, 8 playouts").mv;
        assert!(!search.advance(unvisited));
        assert!(search.is_finished());
        assert_eq!(search.select_leaf(), Selection::Finished);
        search.begin(&start, 8, None);
        assert_eq!(run(&mut search, &mut evaluator).playouts, 8);
    }
}

#[test]
fn a_clock_can_grant_playouts_bit_by_bit() {
    let start = start(Preset::Brandubh);
    let mut evaluator = HashEvaluator::new(10);
    let whole = search(RootKind::Puct, &start, 96, &mut evaluator);
    let mut parts = Search::new(config(RootKind::Puct));
    parts.begin(&start, 0, None);
    for _ in 0..12 {
        parts.extend(8);
        run(&mut parts, &mut evaluator);
    }
    assert_eq!(whole, parts.report());

    let mut gumbel = Search::new(config(RootKind::Gumbel));
    gumbel.begin(&start, 16, None);
    gumbel.extend(10);
    assert_eq!(run(&mut gumbel, &mut evaluator).playouts, 26);
}

#[test]
fn a_search_ends_when_its_nodes_are_used_up() {
    let start = start(Preset::Brandubh);
    for root in ROOTS {
        let mut search = Search::new(SearchConfig { max_nodes: 10, ..config(root) });
        search.begin(&start, 1000, None);
        run_wide(&mut search, 4, 3);
        assert!(search.is_finished());
        let report = search.report();
        assert_eq!(report.nodes, 10, "{root:?}");
        assert!(report.playouts < 1000);
        assert!((report.policy_target.iter().map(|(_, weight)| weight).sum::<f32>() - 1.0).abs() < 1e-4);
    }
}

/// Fails at one call and answers all others.
struct Flaky {
    calls: u32,
    fails_at: u32,
}

impl Evaluator for Flaky {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        self.calls += 1;
        if self.calls == self.fails_at {
            let problem = "unplugged".to_owned();
            return Err(EvalError::Device { count: requests.len(), device: "test".to_owned(), problem });
        }
        HashEvaluator::new(11).evaluate(requests, out)
    }
}

#[test]
fn a_search_survives_a_failing_evaluator() {
    let start = start(Preset::Brandubh);
    let mut buffer = Evaluations::new();
    for root in ROOTS {
        let undisturbed = search(root, &start, 32, &mut HashEvaluator::new(11));
        for fails_at in [1, 2, 17] {
            let mut search = Search::new(config(root));
            let mut evaluator = Flaky { calls: 0, fails_at };
            search.begin(&start, 32, None);
            let error = run_to_end(&mut search, &mut evaluator, &mut buffer).expect_err("unplugged");
            assert!(error.to_string().contains("unplugged"));
            assert_eq!(run(&mut search, &mut evaluator), undisturbed, "{root:?} failing at call {fails_at}");
        }
    }
}
