//! One search on several threads: as many playouts as were granted, stopped when asked, and on one thread the same
//! tree.

use std::time::{Duration, Instant};

use hnefi_engine::{Move, Position, Preset};
use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator, HashEvaluator};
use hnefi_search::{RootKind, Search, Searching, Signal, search_on_threads};

use crate::{config, random_positions, run, search, start, visits};

/// Far more than any of these tests takes.
const LONG: Duration = Duration::from_secs(60);

fn evaluators(count: usize) -> Vec<Box<dyn Evaluator>> {
    (0..count).map(|_| Box::new(HashEvaluator::new(5)) as Box<dyn Evaluator>).collect()
}

/// Waits until all threads have ended.
fn until_over(searching: &Searching<'_>, signal: &Signal) {
    let end = Instant::now() + LONG;
    while !searching.is_over() {
        assert!(Instant::now() < end, "the threads do not end");
        signal.wait(Some(end));
    }
}

/// Searches until all threads have ended.
fn search_together(search: &mut Search, evaluators: &mut [Box<dyn Evaluator>]) -> Result<(), EvalError> {
    let signal = Signal::default();
    search_on_threads(search, evaluators, &signal, |watched| until_over(watched, &signal)).1
}

#[test]
fn one_thread_makes_the_same_tree_as_none() {
    for position in random_positions(Preset::Brandubh, 10, 91) {
        let alone = search(RootKind::Puct, &position, 150, &mut HashEvaluator::new(5));
        let mut shared = Search::new(config(RootKind::Puct));
        shared.begin(&position, 150, None);
        search_together(&mut shared, &mut evaluators(1)).expect("never fails");
        assert_eq!(shared.report(), alone);
    }
}

#[test]
fn a_search_among_some_moves_knows_no_others() {
    // The attackers win at once by d1d6.
    let position = Position::from_fen(&Preset::Brandubh.rules(), "7/1ak4/7/2d4/7/7/3a3 a").expect("a position");
    let moves = ["d1c1", "d1e1"].map(|text| Move::parse(text, position.size()).expect("a move"));
    for threads in [0, 1, 3] {
        let mut search = Search::new(config(RootKind::Puct));
        search.begin_among(&position, &moves, 100, None);
        if threads == 0 {
            run(&mut search, &mut HashEvaluator::new(5));
        } else {
            search_together(&mut search, &mut evaluators(threads)).expect("never fails");
        }
        let report = search.report();
        assert!(moves.contains(&report.best), "{threads}: {report:?}");
        assert_eq!(report.moves.iter().map(|mv| mv.mv).collect::<Vec<_>>(), moves, "{threads}");
        assert_eq!(visits(&report), report.playouts, "{threads}");
        assert!(report.playouts == 100 || report.proven.is_some(), "{threads}: {report:?}");
        // The next search is of all moves again.
        search.begin(&position, 0, None);
        assert_eq!(search.report().best.text(position.size()), "d1d6");
    }
}

#[test]
fn several_threads_keep_the_number_of_playouts_and_can_be_watched() {
    for (index, position) in random_positions(Preset::Copenhagen, 12, 92).iter().enumerate() {
        let mut search = Search::new(config(RootKind::Puct));
        search.begin(position, 300, None);
        let signal = Signal::default();
        let (seen, end) = search_on_threads(&mut search, &mut evaluators(2 + index % 3), &signal, |watched| {
            loop {
                // Asked first: a look at a search that is over sees all of it, however busy the machine.
                let over = watched.is_over();
                let playouts = watched.with_search(|search| search.report().playouts);
                assert!(playouts <= 300);
                if over {
                    return playouts;
                }
                signal.wait(Some(Instant::now() + Duration::from_millis(1)));
            }
        });
        end.expect("never fails");
        assert!(seen > 0 && search.is_finished());
        assert_eq!(seen, search.report().playouts);
        let report = search.report();
        assert_eq!(visits(&report), report.playouts);
        assert!(report.playouts == 300 || report.proven.is_some(), "{}", position.fen());
        assert_eq!(search.line(report.best), report.pv);
        // Nothing was left outstanding, so the same root can go on, and so can its child.
        assert!(report.proven.is_some() || search.again());
        assert!(search.advance(report.best) || report.proven.is_some());
    }
}

#[test]
fn a_search_stops_when_the_watcher_leaves() {
    let mut search = Search::new(config(RootKind::Puct));
    search.begin(&start(Preset::Brandubh), u32::MAX, None);
    let signal = Signal::default();
    let ((), end) = search_on_threads(&mut search, &mut evaluators(3), &signal, |watched| {
        while watched.with_search(|search| search.report().playouts) < 50 {
            signal.wait(Some(Instant::now() + Duration::from_millis(1)));
        }
    });
    end.expect("never fails");
    assert!(!search.is_finished());
    let playouts = search.report().playouts;
    assert!(playouts >= 50);
    assert!(search.again());
    assert_eq!(search.report().playouts, 0, "counters begin anew");
    assert_eq!(visits(&search.report()), playouts, "what is known is kept");
}

#[test]
fn another_thread_wakes_the_watcher() {
    let signal = Signal::default();
    std::thread::scope(|scope| {
        scope.spawn(|| signal.notify());
        signal.wait(Some(Instant::now() + LONG));
    });
    let began = Instant::now();
    signal.wait(Some(began + Duration::from_millis(20)));
    assert!(began.elapsed() >= Duration::from_millis(20), "rung once, heard once");
}

struct Unplugged;

impl Evaluator for Unplugged {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], _: &mut Evaluations) -> Result<(), EvalError> {
        let (count, device) = (requests.len(), "test".to_owned());
        Err(EvalError::Device { count, device, problem: "unplugged".to_owned() })
    }
}

#[test]
fn a_thread_that_fails_ends_the_search_and_leaves_it_usable() {
    let mut search = Search::new(config(RootKind::Puct));
    search.begin(&start(Preset::Brandubh), 100, None);
    let mut team = evaluators(1);
    team.push(Box::new(Unplugged));
    // The sound thread may have done everything before the other one got a leaf.
    if let Err(error) = search_together(&mut search, &mut team) {
        assert!(error.to_string().contains("unplugged"), "{error}");
        search_together(&mut search, &mut team[..1]).expect("never fails");
    }
    assert_eq!(search.report().playouts, 100);
}
