//! Real processes that kill themselves at an operation.

use std::process::Command;

use hnefi_run::store::Location;

use crate::scene::{Fault, Injected, assert_whole, call, for_each, sample, two_calls, uninterrupted};

/// Names the directory of a run and the operation at which its process is killed.
const RUN: &str = "HNEFI_FAULTS_RUN";
const AT: &str = "HNEFI_FAULTS_AT";

/// The killed process: this binary, called by the tests below.
#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn the_process_that_is_killed() {
    let (Ok(dir), Ok(at)) = (std::env::var(RUN), std::env::var(AT)) else { return };
    let watch = Injected::new(at.parse().unwrap(), Fault::Kill);
    let errors = two_calls(&Location::Directory(dir.into()), &watch);
    panic!("it was not killed: {errors:?}");
}

fn sweep(choose: impl Fn(Vec<usize>) -> Vec<usize>) {
    let (log, expected) = uninterrupted();
    // Before an operation that only reads, the disk is as before the next one that writes.
    let writes = |at: &usize| !["look ", "list ", "read "].iter().any(|verb| log[*at].starts_with(verb));
    let cases = choose((0..log.len()).filter(writes).collect());
    for_each("real kills", &cases, |&at| {
        let what = format!("killed before operation {at}, {}", log[at]);
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("the-run");
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kills::the_process_that_is_killed", "--ignored"])
            .env(RUN, &run)
            .env(AT, at.to_string())
            .output()
            .unwrap();
        let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
        assert_eq!(signal, Some(9), "{what}: {}", String::from_utf8_lossy(&output.stdout));
        let location = Location::Directory(run);
        call(&location, Injected::nothing(), 0).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_whole(&location, &expected, &what);
    });
}

#[test]
fn a_sample_of_real_kills() {
    sweep(|cases| sample(cases, 4));
}

#[test]
#[ignore = "takes minutes; docs/TRUST.md"]
fn faults_by_real_kills() {
    sweep(|cases| cases);
}
