//! Every operation on the files of a directory fails, or is the last of its process.

use hnefi_run::store::Location;

use crate::scene::{Fault, Injected, assert_whole, call, for_each, sample, two_calls, uninterrupted};

/// Numbers of the operating system: interrupted, a broken disk, a full disk.
const EINTR: i32 = 4;
const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// What may happen at an operation of this name.
fn faults(operation: &str) -> Vec<Fault> {
    let reads = ["look", "list", "read"].iter().any(|verb| operation.starts_with(&format!("{verb} ")));
    let mut faults = vec![Fault::Fail(EIO), Fault::Fail(EINTR), Fault::Cut];
    if !reads {
        faults.extend([Fault::Fail(ENOSPC), Fault::Unanswered(EIO)]);
    }
    if operation.starts_with("write ") {
        faults.push(Fault::Short);
    }
    faults
}

fn cases(log: &[String]) -> Vec<(usize, Fault)> {
    log.iter().enumerate().flat_map(|(at, name)| faults(name).into_iter().map(move |fault| (at, fault))).collect()
}

fn sweep(choose: impl Fn(Vec<(usize, Fault)>) -> Vec<(usize, Fault)>) {
    let (log, expected) = uninterrupted();
    let cases = choose(cases(&log));
    for_each(&format!("{} operations on files", log.len()), &cases, |&(at, fault)| {
        let what = format!("operation {at}, {}: {fault:?}", log[at]);
        let dir = tempfile::tempdir().unwrap();
        let location = Location::Directory(dir.path().join("the-run"));
        let watch = Injected::new(at, fault);
        let errors = two_calls(&location, &watch);
        assert!(watch.happened(), "{what}: it did not come");
        // The error names a file of the run, or the run.
        assert!(errors.iter().all(|error| error.contains("the-run") || error.contains("/0000")), "{what}: {errors:?}");
        if fault == Fault::Short {
            assert_eq!(errors, [""; 0], "{what}: the rest of the bytes is written");
        }
        call(&location, Injected::nothing(), 0).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_whole(&location, &expected, &what);
    });
}

/// The list is the same every time, so a number in it names an operation.
#[test]
fn the_operations_are_the_same_every_time() {
    let [(first, results), (again, same)] = [uninterrupted(), uninterrupted()];
    assert_eq!(first, again);
    assert!(results == same && results.keys().any(|key| key.starts_with("ladder/")), "{:?}", results.keys());
    // One call that nobody stops has the same results.
    let dir = tempfile::tempdir().unwrap();
    let location = Location::Directory(dir.path().join("the-run"));
    call(&location, Injected::nothing(), 0).unwrap();
    assert_whole(&location, &results, "one call");
}

#[test]
fn a_sample_of_the_operations_fails() {
    sweep(|cases| sample(cases, 24));
}

#[test]
#[ignore = "takes minutes; docs/TRUST.md"]
fn faults_at_every_operation() {
    sweep(|cases| cases);
}
