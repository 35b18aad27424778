//! Run directories among processes: one writer at a time, kill -9, and a full disk.
//!
//! The tests run this test program again as another process; an environment variable names its run directory.

#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hnefi_inference::{EvalError, Evaluator, HashEvaluator};
use hnefi_run::PlyCaps;
use hnefi_run::store::Store;
use hnefi_search::SearchConfig;
use hnefi_selfplay::{FleetError, RecordingParams, RecordingSummary, SelfPlayConfig, Uncontrolled, record_games};

/// Names the run directory in the process that a test started.
const DIRECTORY: &str = "HNEFI_TEST_RUN_DIRECTORY";

/// The command that runs one test of this program alone, through a shell that prepares the process.
fn again(test: &str, prepare: &str, dir: &Path) -> Command {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("{prepare} exec \"$0\" --exact {test} --nocapture --ignored"))
        .arg(std::env::current_exe().unwrap())
        .env(DIRECTORY, dir);
    command
}

fn directory() -> Option<std::path::PathBuf> {
    std::env::var_os(DIRECTORY).map(Into::into)
}

#[test]
#[ignore = "played by a process that another test starts"]
fn hold_the_lock_until_killed() {
    let Some(dir) = directory() else { return };
    let store = Store::open_or_create(&dir).unwrap();
    store.create("games/000001.hgames", b"whole").unwrap();
    println!("\nlocked");
    std::io::stdout().flush().unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

fn wait_for_line(child: &mut Child, wanted: &str) {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines {
        if line.unwrap() == wanted {
            return;
        }
    }
    panic!("the process ended without saying {wanted:?}");
}

#[test]
fn a_killed_writer_leaves_a_usable_directory() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = again("hold_the_lock_until_killed", "", dir.path()).stdout(Stdio::piped()).spawn().unwrap();
    wait_for_line(&mut child, "locked");
    let message = Store::open_or_create(dir.path()).unwrap_err().to_string();
    assert!(message.contains(&format!("in use by process {}", child.id())), "{message}");
    let reader = Store::open_to_read(dir.path()).unwrap();
    assert_eq!(reader.get("games/000001.hgames").unwrap(), b"whole");
    // `kill` sends SIGKILL: the process can do nothing about it.
    child.kill().unwrap();
    child.wait().unwrap();
    let store = Store::open_or_create(dir.path()).unwrap();
    assert_eq!(store.list("").unwrap(), ["games/000001.hgames"]);
}

#[test]
#[ignore = "played by a process that another test starts"]
fn write_more_than_fits() {
    let Some(dir) = directory() else { return };
    let store = Store::open_or_create(&dir).unwrap();
    let message = store.create("games/000002.hgames", &vec![7; 200_000]).unwrap_err().to_string();
    assert!(message.starts_with("games/000002.hgames in run directory"), "{message}");
    assert!(message.contains("writing 200000 bytes failed, everything written earlier is unharmed"), "{message}");
    assert_eq!(store.list("").unwrap(), ["games/000001.hgames"]);
    assert_eq!(store.get("games/000001.hgames").unwrap(), b"whole");
    store.create("games/000002.hgames", b"small").unwrap();
}

/// A limit on file sizes makes writes fail as a full disk does: part of the bytes are written, then none.
#[test]
fn a_full_disk_harms_nothing() {
    let dir = tempfile::tempdir().unwrap();
    Store::open_or_create(dir.path()).unwrap().create("games/000001.hgames", b"whole").unwrap();
    let prepare = "trap '' XFSZ; ulimit -f 64;";
    let output = again("write_more_than_fits", prepare, dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let store = Store::open_or_create(dir.path()).unwrap();
    assert_eq!(store.list("").unwrap(), ["games/000001.hgames", "games/000002.hgames"]);
    let names = std::fs::read_dir(dir.path().join("games")).unwrap();
    assert_eq!(names.count(), 2, "no unfinished file stays");
}

/// Twenty short games into a run directory.
fn play_games(dir: &Path) -> Result<RecordingSummary, FleetError> {
    let caps = PlyCaps { seven: 30, nine: 30, eleven: 30 };
    let config =
        SelfPlayConfig { games_in_flight: 32, ply_caps: caps, ..SelfPlayConfig::default().without_handicaps() };
    let params = RecordingParams {
        games: 20,
        seed: 5,
        playouts: 4,
        checkpoint_id: "none",
        games_per_file: 10,
        save_every: Duration::from_secs(3600),
        threads: 1,
    };
    let opinions = || -> Result<Box<dyn Evaluator>, EvalError> { Ok(Box::new(HashEvaluator { seed: 1 })) };
    let store = Store::open_or_create(dir)?;
    record_games(&store, &config, &SearchConfig::default(), &params, &opinions, &mut Uncontrolled)
}

#[test]
#[ignore = "played by a process that another test starts"]
fn play_more_than_fits() {
    let Some(dir) = directory() else { return };
    let message = play_games(&dir).unwrap_err().to_string();
    assert!(message.starts_with("games/000001.hgames in run directory"), "{message}");
    assert!(message.contains("everything written earlier is unharmed"), "{message}");
}

#[test]
fn self_play_goes_on_after_a_full_disk() {
    let (straight, filled) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    play_games(straight.path()).unwrap();
    let output = again("play_more_than_fits", "trap '' XFSZ; ulimit -f 8;", filled.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(Store::open_to_read(filled.path()).unwrap().list("").unwrap(), ["run.json"]);
    play_games(filled.path()).unwrap();
    for key in ["games/000001.hgames", "games/000002.hgames"] {
        let bytes = |dir: &Path| Store::open_to_read(dir).unwrap().get(key).unwrap();
        assert!(bytes(straight.path()) == bytes(filled.path()), "{key}");
    }
}
