//! What must hold in every order of the threads' steps.

use std::collections::VecDeque;
use std::time::Instant;

use hnefi_engine::{MoveList, Position, Preset};
use hnefi_inference::{DeviceChoice, EvalError, EvalRequest, Evaluations, Evaluator, Handicap, UniformEvaluator};
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::sync::{Arc, Mutex};
use shuttle::thread;

use crate::Command;
use crate::card::CardNetwork;
use crate::careless::CommandQueue as CarelessQueue;
use crate::commands::CommandQueue;
use crate::device::CardQueue;
use crate::jobs::WorkBell;
use crate::threads::{Signal, search_on_threads};
use crate::tree::Search;

/// A signal, the jobs that wait, and those that are done; a worker ends at `None`.
type Line = (WorkBell, Mutex<VecDeque<Option<(usize, usize)>>>, Mutex<Vec<(usize, usize)>>);

/// Orders tried of each kind; `HNEFI_ORDERS` says another number.
fn orders() -> usize {
    std::env::var("HNEFI_ORDERS").map_or(500, |text| text.parse().expect("a number"))
}

/// Tries orders drawn at random, and as many in which a thread of low priority is overtaken at few places.
fn in_many_orders(what: impl Fn() + Send + Sync + 'static) {
    let what = std::sync::Arc::new(what);
    let again = std::sync::Arc::clone(&what);
    shuttle::check_random(move || what(), orders());
    shuttle::check_pct(move || again(), orders(), 3);
}

/// A client that sends searches and goes, and a player that answers them.
macro_rules! searches_and_an_end {
    ($queue:ident) => {
        in_many_orders(|| {
            let queue = Arc::new($queue::default());
            let player = {
                let queue = Arc::clone(&queue);
                thread::spawn(move || {
                    let mut answered = Vec::new();
                    while let Some(queued) = queue.next() {
                        if let Command::Go(number) = queued.command {
                            answered.push(number);
                            queue.answered();
                        }
                    }
                    answered
                })
            };
            for number in 0..3 {
                assert!(queue.push(Command::Go(number), 8, Instant::now()));
            }
            queue.hang_up();
            assert_eq!(player.join().unwrap(), [0, 1, 2]);
            assert!(!queue.is_searching());
        })
    };
}

#[test]
fn every_command_is_answered_before_the_end() {
    searches_and_an_end!(CommandQueue);
}

/// The tests can fail: without the lock the end is missed, and the player waits for good.
#[test]
#[should_panic = "deadlock"]
fn an_end_that_comes_between_look_and_wait_is_noticed() {
    searches_and_an_end!(CarelessQueue);
}

#[test]
fn whoever_quits_or_stops_is_heard() {
    in_many_orders(|| {
        let queue = Arc::new(CommandQueue::default());
        let player = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                while let Some(queued) = queue.next() {
                    // A search without a limit: it ends when the signal says so, and never by itself.
                    while matches!(queued.command, Command::Go(_)) && !queue.is_stopped(queued.search, true) {
                        queue.signal.wait(None);
                    }
                    queue.answered();
                }
            })
        };
        queue.push(Command::Go(0), 8, Instant::now());
        queue.stop();
        queue.push(Command::NewGame, 8, Instant::now());
        queue.push(Command::Go(1), 8, Instant::now());
        queue.quit();
        player.join().unwrap();
    });
}

/// Givers put jobs in a line and ring; workers look and wait, as the threads of the web board do (`host.rs`).
#[test]
fn every_job_is_done_once() {
    in_many_orders(|| {
        let line = Arc::new((WorkBell::new(), Mutex::new(VecDeque::new()), Mutex::new(Vec::new())));
        let give = |line: &Line, job| {
            line.1.lock().unwrap().push_back(job);
            line.0.ring();
        };
        let workers: Vec<_> = (0..2)
            .map(|_| {
                let line = Arc::clone(&line);
                thread::spawn(move || {
                    loop {
                        let seen = line.0.rung();
                        let next = line.1.lock().unwrap().pop_front();
                        match next {
                            Some(Some(job)) => line.2.lock().unwrap().push(job),
                            Some(None) => return,
                            None => line.0.wait(seen, None),
                        }
                    }
                })
            })
            .collect();
        let givers: Vec<_> = (0..2)
            .map(|giver| {
                let line = Arc::clone(&line);
                thread::spawn(move || (0..2).for_each(|job| give(&line, Some((giver, job)))))
            })
            .collect();
        givers.into_iter().for_each(|giver| giver.join().unwrap());
        (0..2).for_each(|_| give(&line, None));
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        let mut all = line.2.lock().unwrap().clone();
        all.sort_unstable();
        assert_eq!(all, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    });
}

#[test]
fn every_asker_of_the_card_gets_an_answer() {
    in_many_orders(|| {
        let queue = CardQueue::new(&Arc::new(CardNetwork), DeviceChoice::Cuda(0)).unwrap();
        let askers: Vec<_> = (0..3)
            .map(|asker| {
                let mut evaluator = queue.evaluator();
                thread::spawn(move || {
                    let position = Position::start(&Preset::Brandubh.rules());
                    let mut moves = MoveList::new();
                    position.legal_moves(&mut moves);
                    let mut out = Evaluations::new();
                    for _ in 0..=asker {
                        let request = EvalRequest {
                            position: &position,
                            moves: &moves,
                            handicap: Handicap::NONE,
                            auxiliary: false,
                        };
                        evaluator.evaluate(&[request], &mut out).unwrap();
                        assert_eq!(out.priors(0).len(), moves.len());
                    }
                })
            })
            .collect();
        drop(queue);
        askers.into_iter().for_each(|asker| asker.join().unwrap());
    });
}

/// Fails at one of its calls.
struct Failing {
    calls: usize,
}

impl Evaluator for Failing {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        self.calls += 1;
        if self.calls == 2 {
            let problem = "on purpose".to_owned();
            return Err(EvalError::Device { count: requests.len(), device: "a test".to_owned(), problem });
        }
        UniformEvaluator.evaluate(requests, out)
    }
}

fn evaluators(count: usize) -> Vec<Box<dyn Evaluator>> {
    (0..count).map(|_| Box::new(UniformEvaluator) as Box<dyn Evaluator>).collect()
}

#[test]
fn a_search_on_many_threads_ends_with_every_leaf_back() {
    in_many_orders(|| {
        let (mut search, signal) = (Search::new(5, 2), Signal::default());
        let ((), ended) = search_on_threads(&mut search, &mut evaluators(3), &signal, |searching| {
            let mut seen = 0;
            while !searching.is_over() {
                let expanded = searching.with_search(Search::expanded);
                assert!(expanded >= seen, "{expanded} after {seen}");
                seen = expanded;
                signal.wait(None);
            }
        });
        ended.unwrap();
        assert_eq!((search.expanded(), search.out()), (5, 0));
    });
}

#[test]
fn a_search_that_is_stopped_leaves_no_leaf_out() {
    in_many_orders(|| {
        let (mut search, signal) = (Search::new(6, 2), Signal::default());
        let seen = AtomicUsize::new(0);
        let ((), ended) = search_on_threads(&mut search, &mut evaluators(2), &signal, |searching| {
            seen.store(searching.with_search(Search::expanded), Ordering::SeqCst);
            searching.stop();
        });
        ended.unwrap();
        assert_eq!(search.out(), 0);
        assert!(search.expanded() >= seen.load(Ordering::SeqCst));
    });
}

#[test]
fn a_failing_evaluator_ends_the_search_of_all() {
    in_many_orders(|| {
        let (mut search, signal) = (Search::new(8, 2), Signal::default());
        let mut evaluators: Vec<Box<dyn Evaluator>> =
            vec![Box::new(Failing { calls: 0 }), Box::new(Failing { calls: 0 })];
        let ((), ended) = search_on_threads(&mut search, &mut evaluators, &signal, |searching| {
            while !searching.is_over() {
                signal.wait(None);
            }
        });
        assert!(ended.is_err() && search.out() == 0, "{} leaves are out", search.out());
    });
}
