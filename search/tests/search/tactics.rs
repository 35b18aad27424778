//! What the solver finds and claims, checked with plain minimax.

use hnefi_engine::{Position, Preset};
use hnefi_inference::{HashEvaluator, UniformEvaluator};
use hnefi_search::{Proven, ProvenResult, RootKind, SearchReport};

use crate::minimax::solve;
use crate::{ROOTS, legal_moves, random_positions, search};

fn brandubh(fen: &str) -> Position {
    Position::from_fen(&Preset::Brandubh.rules(), fen).expect("a FEN of this test")
}

/// The moves that the policy target holds possible, with their weights.
fn target(position: &Position, report: &SearchReport) -> Vec<(String, f32)> {
    let possible = report.policy_target.iter().filter(|(_, weight)| *weight > 0.0);
    possible.map(|(mv, weight)| (mv.text(position.size()), *weight)).collect()
}

#[test]
fn a_win_in_one_needs_no_evaluation_and_all_of_them_share_the_policy() {
    //  7 + . . . . . +
    //  6 . . . A . . .
    //  5 . . . D . . .
    //  4 K . . + . . A
    //  3 . . . D . . .
    //  2 . . . A . . .
    //  1 + . . . . . +
    //    a b c d e f g
    let king = brandubh("7/3a3/3d3/k5a/3d3/3a3/7 d");
    //  4 D . . + A . .
    //  3 . . . . K . .
    //  2 . . . A . . .
    //  1 + . . . . . +
    //    a b c d e f g
    let attackers = brandubh("7/7/7/d3a2/4k2/3a3/7 a");
    for root in ROOTS {
        let report = search(root, &king, 16, &mut UniformEvaluator);
        assert_eq!(report.proven, Some(Proven { result: ProvenResult::Win, plies: 1 }));
        assert_eq!((report.evaluations, report.playouts), (0, 0));
        assert_eq!(target(&king, &report), [("a4a1".to_owned(), 0.5), ("a4a7".to_owned(), 0.5)]);
        assert!(["a4a1", "a4a7"].contains(&report.best.text(king.size()).as_str()));

        let report = search(root, &attackers, 16, &mut UniformEvaluator);
        assert_eq!(target(&attackers, &report), [("d2e2".to_owned(), 1.0)]);
        assert_eq!(report.best.text(attackers.size()), "d2e2");
        assert_eq!(report.pv, [report.best]);
        assert_eq!((report.wdl.score(), report.raw.score()), (1.0, 1.0));
    }
}

#[test]
fn a_win_in_three_is_found_without_any_knowledge() {
    for (fen, playouts) in [
        // The attackers close in on the king.
        ("1a5/7/1a4a/6d/5ak/2a4/2a4 a", 100),
        ("3a1d1/aa5/5d1/a3a2/1kd2a1/2a3d/7 a", 100),
        ("3a3/1aka2d/4d2/5aa/3a3/1a5/2a4 a", 100),
        ("1da4/7/a2a3/5a1/1da4/2d1k1a/3a3 a", 100),
        // The king gets two ways out at once.
        ("7/2d1d2/7/2k4/7/d1a4/4d2 d", 100),
        ("4a2/1a2a2/7/a6/2a1a1a/dk2d2/2a4 d", 100),
        ("7/4a2/4a1a/aak4/7/aaa4/5d1 d", 100),
        ("1a5/2d2d1/7/2k2aa/a1a2d1/7/3a1a1 d", 100),
    ] {
        let position = brandubh(fen);
        let win = Proven { result: ProvenResult::Win, plies: 3 };
        assert_eq!(solve(&position, 3), Some(win), "{fen}: minimax agrees that it is one");
        let report = search(RootKind::Puct, &position, playouts, &mut UniformEvaluator);
        assert_eq!(report.proven, Some(win), "{fen}");
        assert_eq!(report.pv.len(), 3, "{fen}: the line goes to the end");
        let mut end = position.clone();
        for mv in &report.pv {
            end.play(*mv).expect("a legal line");
        }
        assert_eq!(end.outcome().and_then(|outcome| outcome.winner()), Some(position.side_to_move()), "{fen}");
    }
}

#[test]
fn a_loss_in_two_is_seen_from_one_evaluation() {
    // Whatever the attackers do, the king on g3 reaches a corner.
    let position = brandubh("2a4/a6/7/a6/a3d1k/1d2a2/3a3 a");
    let moves = legal_moves(&position);
    for root in ROOTS {
        let report = search(root, &position, 16, &mut UniformEvaluator);
        assert_eq!(report.proven, Some(Proven { result: ProvenResult::Loss, plies: 2 }));
        assert_eq!((report.evaluations, report.playouts), (1, 0));
        assert_eq!(report.wdl.score(), 0.0);
        // All moves are as bad as each other.
        let share = 1.0 / moves.len() as f32;
        assert!(report.policy_target.iter().all(|(_, weight)| (weight - share).abs() < 1e-6));
    }
}

#[test]
fn a_move_that_allows_a_win_in_one_gets_no_weight() {
    // The king on g3 threatens both corners of his file; only few moves stop him.
    let position = brandubh("2a4/7/3a1a1/7/a3d1k/7/3a3 a");
    for root in ROOTS {
        let report = search(root, &position, 64, &mut HashEvaluator::new(3));
        for (mv, (_, weight)) in report.moves.iter().zip(&report.policy_target) {
            let mut after = position.clone();
            after.play(mv.mv).expect("a legal move");
            let refuted = solve(&after, 1).is_some_and(|reply| reply.result == ProvenResult::Win);
            let lost = mv.proven.is_some_and(|proven| proven.result == ProvenResult::Loss);
            if lost && report.proven.is_none() {
                assert_eq!((*weight, mv.visits), (0.0, 0), "{}", mv.mv.text(position.size()));
            }
            if mv.visits > 0 {
                assert!(!refuted, "{} was followed", mv.mv.text(position.size()));
            }
        }
    }
}

/// Certain results agree with minimax wherever minimax of depth 3 can judge, on the root and on each of its moves, and
/// what minimax sees in two plies the solver sees too.
#[test]
fn certain_results_agree_with_minimax() {
    let mut judged = [0; 3];
    for (index, position) in random_positions(Preset::Brandubh, 120, 11).iter().enumerate() {
        let root = ROOTS[index % 2];
        let report = search(root, position, 200, &mut HashEvaluator::new(index as u64));
        let truth = solve(position, 3);
        let fen = position.fen();
        match (report.proven, truth) {
            (Some(claim), Some(truth)) => {
                assert_eq!(claim.result, truth.result, "{fen}");
                // A proof may be longer than needed, never shorter than possible.
                if claim.result == ProvenResult::Win {
                    assert!(claim.plies >= truth.plies, "{fen}: {claim:?}, minimax {truth:?}");
                }
                if truth.plies <= 2 {
                    assert_eq!(claim, truth, "{fen}");
                }
                judged[0] += 1;
            }
            (Some(claim), None) => assert!(claim.plies > 3, "{fen}: {claim:?}, minimax sees nothing"),
            (None, Some(truth)) => assert!(truth.plies > 2, "{fen}: missed {truth:?}"),
            (None, None) => {}
        }
        for mv in report.moves.iter().filter(|mv| mv.proven.is_some_and(|proven| proven.plies <= 4)) {
            let mut after = position.clone();
            after.play(mv.mv).expect("a legal move");
            let claim = mv.proven.expect("filtered");
            let name = mv.mv.text(position.size());
            match after.outcome() {
                Some(_) => {
                    assert_eq!(claim.plies, 1, "{fen} {name}");
                    judged[1] += 1;
                }
                None => {
                    let truth = solve(&after, claim.plies - 1).expect("minimax sees as far");
                    assert_eq!(claim.result, truth.result.reversed(), "{fen} {name}");
                    judged[2] += 1;
                }
            }
        }
    }
    assert!(judged[0] > 30 && judged[1] > 20 && judged[2] > 300, "too few cases judged: {judged:?}");
}

#[test]
fn draws_by_the_ply_cap_are_known_and_weighed() {
    // With a cap of one ply every move ends the game; moves that neither win nor lose draw.
    let mut rules = Preset::Brandubh.rules();
    rules.ply_cap = 1;
    let start = Position::start(&rules);
    for root in ROOTS {
        let report = search(root, &start, 16, &mut UniformEvaluator);
        assert_eq!(report.proven, Some(Proven { result: ProvenResult::Draw, plies: 1 }));
        assert_eq!(report.wdl.draw, 1.0);
        assert_eq!(report.evaluations, 0);
    }
    // With a cap of two plies every reply draws, so every first move is decided by one way down.
    rules.ply_cap = 2;
    let start = Position::start(&rules);
    for root in ROOTS {
        let report = search(root, &start, 64, &mut HashEvaluator::new(1));
        // Moves never looked at keep the evaluator's opinion.
        assert!((report.wdl.score() - 0.5).abs() < 0.01, "{root:?}");
        let drawn = report.moves.iter().filter(|mv| mv.proven == Some(Proven { result: ProvenResult::Draw, plies: 2 }));
        assert!(drawn.count() > 0);
        assert_eq!(report.playouts, 64, "{root:?}: playouts that settle are counted");
        assert_eq!(report.evaluations, 1);
    }
}
