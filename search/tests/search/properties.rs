//! What holds of every search, over random positions, budgets and seeds.

use hnefi_engine::{Position, Preset};
use hnefi_inference::{HashEvaluator, UniformEvaluator, Wdl};
use hnefi_search::{ProvenResult, RootKind, Search, SearchReport, rng_for};

use crate::{ROOTS, config, legal_moves, random_positions, run, search, start, visits};

const BUDGETS: [u32; 8] = [0, 1, 2, 3, 7, 16, 33, 100];

fn is_distribution(wdl: Wdl) -> bool {
    let parts = [wdl.win, wdl.draw, wdl.loss];
    parts.iter().all(|part| (0.0..=1.0 + 1e-5).contains(part)) && (parts.iter().sum::<f32>() - 1.0).abs() < 1e-4
}

/// Checks everything a report promises of a search begun afresh.
fn check(position: &Position, report: &SearchReport, playouts: u32) {
    let context = format!("{} with {playouts} playouts: {report:?}", position.fen());
    let moves = legal_moves(position);
    let listed: Vec<_> = report.moves.iter().map(|mv| mv.mv).collect();
    let targeted: Vec<_> = report.policy_target.iter().map(|(mv, _)| *mv).collect();
    assert_eq!(listed, moves.as_slice(), "{context}");
    assert_eq!(targeted, moves.as_slice(), "{context}");

    assert!(is_distribution(report.wdl) && is_distribution(report.raw), "{context}");
    for mv in &report.moves {
        assert!(mv.wdl.is_none_or(is_distribution), "{context}");
        assert_eq!(mv.score, mv.wdl.map(Wdl::score), "{context}");
        assert!(mv.visits == 0 || mv.wdl.is_some(), "{context}");
    }
    let priors: f32 = report.moves.iter().map(|mv| mv.prior).sum();
    assert!((priors - 1.0).abs() < 1e-4, "{context}");

    let total: f32 = report.policy_target.iter().map(|(_, weight)| weight).sum();
    assert!((total - 1.0).abs() < 1e-4, "{context}");
    let lost = |index: usize| report.moves[index].proven.is_some_and(|proven| proven.result == ProvenResult::Loss);
    let all_lost = (0..moves.len()).all(lost);
    for (index, &(mv, weight)) in report.policy_target.iter().enumerate() {
        assert!((0.0..=1.0).contains(&weight), "{context}");
        assert!(all_lost || !lost(index) || (weight == 0.0 && mv != report.best), "{context}");
    }

    assert!(moves.contains(&report.best), "{context}");
    assert_eq!(report.pv.first(), Some(&report.best), "{context}");
    let mut line = position.clone();
    for &mv in &report.pv {
        assert!(line.outcome().is_none(), "{context}");
        line.play(mv).expect("the expected line is legal");
    }

    assert_eq!(visits(report), report.playouts, "{context}");
    assert!(report.playouts == playouts || report.proven.is_some() && report.playouts < playouts, "{context}");
    assert!(report.evaluations <= u64::from(report.playouts) + 1, "{context}");
    assert_eq!(u64::from(report.nodes), report.evaluations.max(1), "{context}");
    if let Some(proven) = report.proven {
        assert_eq!(report.wdl, proven.wdl(), "{context}");
    }
}

#[test]
fn reports_keep_their_promises() {
    for preset in [Preset::Brandubh, Preset::Tablut, Preset::Copenhagen] {
        let count = if preset == Preset::Brandubh { 160 } else { 24 };
        for (index, position) in random_positions(preset, count, 21).iter().enumerate() {
            let playouts = BUDGETS[index % BUDGETS.len()];
            for root in ROOTS {
                let mut search = Search::new(config(root));
                let mut rng = rng_for(&[index as u64]);
                for noise in [None, Some(&mut rng)] {
                    search.begin(position, playouts, noise);
                    let report = run(&mut search, &mut HashEvaluator::new(index as u64));
                    check(position, &report, playouts);
                }
            }
        }
    }
}

#[test]
fn priors_are_reported_as_the_evaluator_gave_them() {
    let start = start(Preset::Brandubh);
    let [gumbel, puct] = ROOTS.map(|root| {
        search(root, &start, 8, &mut HashEvaluator::new(2)).moves.iter().map(|mv| mv.prior).collect::<Vec<_>>()
    });
    assert!(gumbel.iter().zip(&puct).all(|(one, other)| (one - other).abs() < 1e-5), "{gumbel:?} {puct:?}");
}

#[test]
fn one_legal_move_is_enough() {
    // The king is alone and walled in but for one step.
    let fen = "7/7/a6/ka5/7/a6/7 d";
    let position = Position::from_fen(&Preset::Brandubh.rules(), fen).expect("a FEN of this test");
    assert_eq!(legal_moves(&position).len(), 1);
    for root in ROOTS {
        for playouts in BUDGETS {
            let report = search(root, &position, playouts, &mut HashEvaluator::new(1));
            check(&position, &report, playouts);
            assert_eq!(report.policy_target[0].1, 1.0);
        }
    }
}

#[test]
fn a_search_depends_on_nothing_but_what_it_is_given() {
    for root in ROOTS {
        let positions = random_positions(Preset::Brandubh, 6, 31);
        let mut reused = Search::new(config(root));
        for (index, position) in positions.iter().enumerate() {
            let tree = |search: &mut Search| {
                search.begin(position, 40, Some(&mut rng_for(&[31, index as u64])));
                (run(search, &mut HashEvaluator::new(5)), search.tree_text(9))
            };
            assert_eq!(tree(&mut reused), tree(&mut Search::new(config(root))));
        }
    }
}

#[test]
fn gumbel_shares_playouts_as_the_schedule_says() {
    // 64 playouts over 16 moves: 16 x 1, 8 x 2, 4 x 4, 2 x 8 more. Uniform opinions leave nothing proven at the start.
    let start = start(Preset::Tablut);
    for (playouts, expected) in [
        (64, vec![15, 15, 7, 7, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1]),
        (16, vec![4, 4, 2, 2, 1, 1, 1, 1]),
        (4, vec![2, 2]),
        (3, vec![3]),
        (1, vec![1]),
    ] {
        let mut search = Search::new(config(RootKind::Gumbel));
        search.begin(&start, playouts, Some(&mut rng_for(&[41])));
        let report = run(&mut search, &mut HashEvaluator::new(2));
        let mut visits: Vec<u32> = report.moves.iter().map(|mv| mv.visits).filter(|&n| n > 0).collect();
        visits.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(visits, expected, "{playouts} playouts");
    }
}

#[test]
fn noise_changes_the_moves_played_and_its_absence_does_not() {
    let start = start(Preset::Brandubh);
    let best = |seed: Option<u64>| {
        let mut search = Search::new(config(RootKind::Gumbel));
        search.begin(&start, 4, seed.map(|seed| rng_for(&[seed])).as_mut());
        run(&mut search, &mut UniformEvaluator).best
    };
    let mut noisy: Vec<_> = (0..20).map(|seed| best(Some(seed))).collect();
    noisy.sort_unstable();
    noisy.dedup();
    assert!(noisy.len() > 5, "{} moves", noisy.len());
    assert_eq!(best(None), best(None));
}

#[test]
fn gumbel_without_playouts_samples_the_prior() {
    // Gumbel-max: the move with the largest Gumbel + logit is a sample from the prior.
    let start = start(Preset::Brandubh);
    let mut search = Search::new(config(RootKind::Gumbel));
    let mut counts = vec![0.0; legal_moves(&start).len()];
    let games = 20_000;
    let mut priors = Vec::new();
    for game in 0..games {
        search.begin(&start, 0, Some(&mut rng_for(&[51, game])));
        let report = run(&mut search, &mut HashEvaluator::new(4));
        let index = report.moves.iter().position(|mv| mv.mv == report.best).expect("best is legal");
        counts[index] += 1.0;
        priors = report.moves.iter().map(|mv| mv.prior).collect();
    }
    for (count, prior) in counts.iter().zip(&priors) {
        let expected = prior * games as f32;
        assert!((count - expected).abs() < 5.0 * expected.sqrt() + 5.0, "{count} draws, {expected} expected");
    }
}
