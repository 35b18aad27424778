//! A bucket does what a directory does, also when its server fails.
//!
//! Settings of a bucket come from the environment, so the parts that need one run in a process of their own: this test
//! binary again, asked for one ignored test.

use std::process::Command;
use std::time::Duration;

use hnefi_run::store::{Access, Location, RetryPolicy, Store, StoreError};

use crate::s3::{BUCKET, Condition, Faults, S3};

/// Runs an ignored test of this file in a process with the server's environment.
fn in_process(s3: &S3, name: &str) {
    let output = Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", &format!("store::{name}"), "--ignored", "--nocapture"])
        .envs(s3.environment())
        .output()
        .expect("it starts");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

fn bucket(prefix: &str, access: Access) -> Store {
    let patience =
        RetryPolicy { request: Duration::from_secs(1), limit: Duration::from_secs(60), ..RetryPolicy::default() };
    // Of another server that scripts/check-buckets.sh has started.
    let place = std::env::var("HNEFI_BUCKET").unwrap_or_else(|_| format!("s3://{BUCKET}"));
    let location = Location::Bucket(format!("{place}/{prefix}"));
    Store::open(&location, access, patience).expect("opened")
}

#[test]
fn a_bucket_is_a_store() {
    let s3 = S3::start();
    in_process(&s3, "the_contract_holds");
    in_process(&s3, "errors_name_what_is_wrong");
}

#[test]
fn a_bucket_that_fails_is_a_store_all_the_same() {
    let s3 = S3::start();
    s3.set_faults(Faults { lost: 8, unanswered: 8, refused: 8, stalled: 4 });
    in_process(&s3, "the_contract_holds");
    let (requests, faulty) = s3.requests();
    assert!(faulty > 5, "{faulty} of {requests} requests went wrong");
}

#[test]
fn a_server_that_overwrites_is_found_out_before_the_first_write() {
    let s3 = S3::start();
    for (condition, name) in [(Condition::PassedOver, "overwrites"), (Condition::Unknown, "does_not_know")] {
        s3.set_condition(condition);
        in_process(&s3, &format!("a_server_that_{name}_is_refused"));
    }
    assert!(s3.created("refused/").iter().all(|object| object.starts_with(b"A store must refuse")), "no other object");
}

#[test]
#[ignore = "run by the test above, with a server"]
fn a_server_that_overwrites_is_refused() {
    refused("it created .create-only twice");
}

#[test]
#[ignore = "run by the test above, with a server"]
fn a_server_that_does_not_know_is_refused() {
    refused("501 Not Implemented");
}

fn refused(problem: &str) {
    let store = bucket("refused", Access::Write);
    let one = store.create("run.json", b"{}").unwrap_err().to_string();
    let folder = store.create_folder("checkpoints/000000", &[("card.json", b"{}")]).unwrap_err().to_string();
    for message in [one, folder] {
        assert!(message.starts_with("store s3://games/refused: its server has no create-only writes"), "{message}");
        assert!(message.contains(problem), "{message}");
    }
    assert_eq!(store.list("").unwrap(), [""; 0], "nothing was written");
}

#[test]
#[ignore = "run by the tests above, with a server"]
fn the_contract_holds() {
    let store = bucket("contract", Access::Write);
    assert!(!store.is_exclusive(), "nothing locks a bucket");
    for key in ["games/000002.hgames", "games/000001.hgames", "games-of-old/1", "run.json", "state/000001/a"] {
        assert!(!store.exists(key).unwrap(), "{key}");
        store.create(key, key.as_bytes()).unwrap();
        assert!(store.exists(key).unwrap(), "{key}");
    }
    assert_eq!(store.list("games/").unwrap(), ["games/000001.hgames", "games/000002.hgames"]);
    assert_eq!(store.list("games/000002").unwrap(), ["games/000002.hgames"]);
    assert_eq!(store.list_after("games/", "games/000001.hgames").unwrap(), ["games/000002.hgames"]);
    assert_eq!(store.list("checkpoints/").unwrap(), [""; 0]);
    assert_eq!(store.list("").unwrap().len(), 5);
    assert_eq!(store.get("state/000001/a").unwrap(), b"state/000001/a");
    assert_eq!(store.size("run.json").unwrap(), Some(8));

    // Nothing is overwritten, and what was lost on the way is not taken for another's.
    assert!(matches!(store.create("run.json", b"second"), Err(StoreError::Exists { .. })));
    store.create_once("run.json", b"second").unwrap();
    assert_eq!(store.get("run.json").unwrap(), b"run.json");
    assert!(matches!(store.get("games/000009.hgames"), Err(StoreError::Missing { .. })));
    assert!(matches!(store.create("metrics/000001.json", &[b' '; 1 << 17]), Err(StoreError::Unfit { .. })));
    for number in 0..40_u32 {
        store.create(&format!("uploads/{number:03}"), &number.to_le_bytes().repeat(1000)).unwrap();
    }
    let keys = store.list("uploads/").unwrap();
    let all = store.get_all(&keys).unwrap();
    for (number, bytes) in (0..40_u32).zip(&all) {
        assert_eq!(*bytes.as_ref().expect("there"), number.to_le_bytes().repeat(1000));
    }
    assert_eq!((keys.len(), all.len()), (40, 40));
    let missing = store.get_all(&["uploads/999".to_owned()]).unwrap();
    assert!(matches!(missing[..], [Err(StoreError::Missing { .. })]), "{missing:?}");

    assert!(matches!(store.remove("games/000001.hgames"), Err(StoreError::Permanent { .. })));
    store.remove("state/000001/a").unwrap();
    store.remove("state/000001/a").unwrap();
    assert!(!store.exists("state/000001/a").unwrap());

    let parts: [(&str, &[u8]); 2] = [("model.safetensors", b"many"), ("card.json", b"{}")];
    store.create_folder("checkpoints/000001", &parts).unwrap();
    assert_eq!(store.checkpoints().unwrap(), [1]);
    let folder = store.folder("checkpoints/000001").unwrap();
    assert_eq!(std::fs::read(folder.join("model.safetensors")).unwrap(), b"many");

    let worker = bucket("contract", Access::Add);
    worker.create("uploads/mine", b"games").unwrap();
    assert!(matches!(worker.create("games/000003.hgames", b""), Err(StoreError::NotOpenFor { .. })));
    let other = bucket("contract-of-others", Access::Read);
    assert_eq!(other.list("").unwrap(), [""; 0], "prefixes are whole names");
}

#[test]
#[ignore = "run by the tests above, with a server"]
fn errors_name_what_is_wrong() {
    let patience =
        RetryPolicy { request: Duration::from_millis(300), limit: Duration::from_secs(2), ..RetryPolicy::default() };
    let missing: Location = "s3://no-such-bucket/run".parse().unwrap();
    let store = Store::open(&missing, Access::Write, patience.clone()).unwrap();
    let message = store.create("run.json", b"").unwrap_err().to_string();
    assert_eq!(message, "store s3://no-such-bucket/run: writing run.json was refused: there is no such bucket");
    let message = store.list("games/").unwrap_err().to_string();
    assert!(message.ends_with("was refused: there is no such bucket"), "{message}");
}

/// No server listens at this address: messages about delays, then one error with the time.
#[test]
fn a_server_that_is_not_there_is_given_up_in_the_end() {
    let output = Command::new(env!("CARGO_BIN_EXE_hnefi"))
        .args(["fetch", "s3://games/run", "--run"])
        .arg(tempfile::tempdir().expect("a folder").path())
        .args(["--store-timeout", "1", "--store-patience", "3"])
        .envs([("AWS_ENDPOINT", "http://127.0.0.1:9"), ("AWS_ALLOW_HTTP", "true"), ("AWS_REGION", "us-east-1")])
        .envs([("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret")])
        .output()
        .expect("it starts");
    let [out, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(!output.status.success());
    assert_eq!(out, "", "warnings are no result");
    let (warning, error) = error.split_once('\n').expect("a warning and an error");
    assert!(warning.starts_with("warning: store s3://games/run: listing \"\" failed: "), "{warning}");
    assert!(warning.ends_with("trying again"), "{warning}");
    assert!(
        error.contains("did not succeed for ") && error.contains("everything written earlier is unharmed"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1, "{error}");
}
