//! Every request to a bucket fails before or after it was carried out, or is the last of its process.
//!
//! The bucket is one in memory that creates, lists, reads and removes as an S3 server does.

use std::collections::BTreeSet;

use hnefi_run::Run;
use hnefi_run::store::{Access, Location, RetryPolicy, Store, metrics_key};
use hnefi_train::trainer::check;

use crate::scene::{Fault, GENERATIONS, Injected, Results, assert_whole, call, for_each, results, sample};

/// A broken connection.
const EPIPE: i32 = 32;

fn place(name: &str) -> Location {
    Location::Bucket(format!("memory://{name}/the-run"))
}

fn uninterrupted(name: &str) -> (Vec<String>, Results) {
    let (location, watch) = (place(name), Injected::nothing());
    call(&location, watch.clone(), 0).unwrap();
    let log = std::mem::take(&mut *watch.log.lock().unwrap());
    (log, results(&location))
}

/// Failed requests are made again, so that the run and its results are as if nothing had happened. A trainer that dies
/// is replaced by one that plays with another seed and leaves out the number of the generation that was being written:
/// there the run ends whole, and has no game twice.
fn sweep(name: &str, choose: impl Fn(Vec<(usize, Fault)>) -> Vec<(usize, Fault)>) {
    let (log, expected) = uninterrupted(&format!("{name}-expected"));
    let faults = [Fault::Fail(EPIPE), Fault::Unanswered(EPIPE), Fault::Cut, Fault::CutAfterwards];
    let cases = (0..log.len()).flat_map(|at| faults.map(|fault| (at, fault)));
    let cases = choose(cases.collect());
    for_each(&format!("{} requests to a bucket", log.len()), &cases, |&(at, fault)| {
        let what = format!("request {at}, {}: {fault:?}", log[at]);
        let location = place(&format!("{name}-{at}-{fault:?}").replace(['(', ')'], ""));
        let watch = Injected::new(at, fault);
        let ended = call(&location, watch.clone(), 0);
        assert!(watch.happened(), "{what}: it did not come");
        if !matches!(fault, Fault::Cut | Fault::CutAfterwards) {
            ended.unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_whole(&location, &expected, &what);
            return;
        }
        assert!(ended.is_err() || at + 1 == log.len(), "{what}: nobody noticed");
        let (summary, _) = call(&location, Injected::nothing(), 0).unwrap_or_else(|error| panic!("{what}: {error}"));
        let store = Store::open(&location, Access::Read, RetryPolicy::default()).unwrap();
        // What the dead trainer was publishing may stay unfinished under the number that is left out.
        let unfinished = |text: &String| {
            let left_out = |generation: &u32| !store.exists(&metrics_key(*generation)).unwrap();
            let of = |generation: u32| text.contains(&format!("/{generation:06}/"));
            text.ends_with("not found") && (0..=GENERATIONS).filter(left_out).any(of)
        };
        let damage = check(&store).unwrap().into_iter().flat_map(|kind| kind.damage);
        let damage: Vec<String> = damage.filter(|text| !unfinished(text)).collect();
        assert_eq!(damage, [""; 0], "{what}");
        // Nobody takes its place if it was the last of the budget.
        let newest = store.checkpoints().unwrap().last().copied().unwrap();
        assert!(newest == GENERATIONS || newest + 1 == GENERATIONS, "{what}: the newest checkpoint is {newest}");
        // The network that the run ends with is on the ladder.
        let rated = format!("ladder/{:06}-", summary.checkpoint_generation);
        assert!(!store.list(&rated).unwrap().is_empty(), "{what}: {rated}");
        let run = Run::open(&location, RetryPolicy::default()).unwrap();
        let mut seen = BTreeSet::new();
        for game in run.generations().unwrap().into_iter().flat_map(|generation| run.games(generation).expect(&what)) {
            assert!(seen.insert(game.key()), "{what}: game {} of {} twice", game.game, game.seed);
        }
    });
}

#[test]
fn a_sample_of_the_requests_fails() {
    sweep("sample", |cases| sample(cases, 10));
}

#[test]
#[ignore = "takes minutes; docs/TRUST.md"]
fn faults_at_every_request() {
    sweep("every", |cases| cases);
}
