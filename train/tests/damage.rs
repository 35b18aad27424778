//! The table of `docs/RUNS.md`, tried: every kind of object of a run, damaged in every way, then training and checking.

#[path = "support/tiny.rs"]
mod tiny;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use hnefi_inference::{Evaluator, UniformEvaluator};
use hnefi_run::GenerationMetrics;
use hnefi_run::store::{Access, RetryPolicy, Store, StoreError, upload_key};
use hnefi_selfplay::{Fleet, FleetProgress, Quota, Uncontrolled, search_config};
use hnefi_train::job::Job;
use hnefi_train::trainer::{RunStart, check};
use hnefi_train::worker::{WorkerObserver, WorkerParams, work};
use hnefi_train::{TrainConfig, TrainObserver, train};
use tiny::tiny_config;

const DOCUMENT: &str = include_str!("../../docs/RUNS.md");

/// The kinds of damage, as the table's columns have them.
const DAMAGE: [&str; 6] = ["missing", "empty", "cut", "bit flipped", "of a newer version", "of another run"];

/// Generations of a few short games, each of which plays on the ladder.
fn config(seed: u64, ruleset: &str) -> TrainConfig {
    tiny_config(&[
        &format!("run.seed={seed}"),
        &format!("selfplay.rulesets=[{{ rules = \"{ruleset}\", share = 1.0 }}]"),
        "train.reuse=1.0",
        "train.window_generations=2",
        "ladder.every=1",
        "budget.generations=5",
    ])
}

/// Notes warnings, and stops after three generations or as soon as games are played.
#[derive(Default)]
struct Watch {
    first: bool,
    warnings: Mutex<Vec<String>>,
    began_at: Mutex<Option<u32>>,
    stop: AtomicBool,
}

impl TrainObserver for Watch {
    fn begins(&self, start: &RunStart<'_>) {
        *self.began_at.lock().unwrap() = Some(start.generations);
    }

    fn warning(&self, text: &str) {
        self.warnings.lock().unwrap().push(text.to_owned());
    }

    fn generating(&self, _: u32, _: &FleetProgress, _: f64) {
        if !self.first {
            self.stop.store(true, Ordering::SeqCst);
        }
    }

    fn generation(&self, metrics: &GenerationMetrics) {
        if metrics.generation == 3 {
            self.stop.store(true, Ordering::SeqCst);
        }
    }

    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}

type Objects = BTreeMap<String, Vec<u8>>;

/// A run of three generations whose ladder waits for the third, with games that a worker brought.
fn objects(config: &TrainConfig) -> Objects {
    let dir = tempfile::tempdir().unwrap();
    let watch = Watch { first: true, ..Watch::default() };
    assert_eq!(train(config, dir.path(), &watch).unwrap().generations, 3);
    let mut fleet = Fleet::new(&config.selfplay, &search_config(&config.search), 9).with_threads(1);
    let uniform = || -> Box<dyn Evaluator> { Box::new(UniformEvaluator) };
    fleet.play(Quota::Games(4), 2, "network", &uniform, &mut Uncontrolled).unwrap();
    let store = Store::open_or_create(dir.path()).unwrap();
    store.create(&upload_key(9, 1), &fleet.send("hnefi", 3).encode()).unwrap();
    read(&store)
}

/// All objects but the ones that are none.
fn read(store: &Store) -> Objects {
    let bytes = |key: &str| match store.get(key) {
        Err(StoreError::Unfit { .. }) => None,
        read => Some(read.unwrap()),
    };
    store.list("").unwrap().into_iter().filter_map(|key| bytes(&key).map(|bytes| (key, bytes))).collect()
}

fn write(objects: &Objects, dir: &Path) {
    for (key, bytes) in objects {
        let path = dir.join(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
}

/// The bytes of an object as a later version of the program would have written them, where the kind has a version.
fn newer(key: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    if [".hgames", ".hfleet", ".hupload"].iter().any(|ending| key.ends_with(ending)) {
        let mut bytes = bytes.to_vec();
        bytes[8] = 9;
        return Some(bytes);
    }
    let mut value: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let object = value.as_object_mut()?;
    let version = ["format", "protocol"].into_iter().find(|name| object.contains_key(*name))?;
    object.insert(version.to_owned(), 99.into());
    object.remove("crc32c");
    Some(serde_json::to_vec(&value).unwrap())
}

/// The object of the same kind and generation of another run.
fn of(other: &Objects, key: &str) -> Vec<u8> {
    let begins = &key[..key.len().min(key.find('/').map_or(0, |slash| slash + 7))];
    let found =
        other.get(key).or_else(|| other.iter().find(|(key, _)| key.starts_with(begins)).map(|(_, bytes)| bytes));
    found.unwrap_or_else(|| panic!("{key} of another run")).clone()
}

/// The object damaged; `None` for one that is missing. The outer `None` where there is no such damage.
fn damaged(key: &str, bytes: &[u8], damage: &str, other: &Objects) -> Option<Option<Vec<u8>>> {
    Some(match damage {
        "missing" => None,
        "empty" => Some(Vec::new()),
        "cut" => Some(bytes[..bytes.len() / 2].to_vec()),
        "bit flipped" => {
            let mut bytes = bytes.to_vec();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            Some(bytes)
        }
        "of a newer version" => Some(newer(key, bytes)?),
        _ => Some(of(other, key)),
    })
}

/// What training and checking make of a run in which something else lies in the place of one object, in the words of
/// the table.
fn outcome(config: &TrainConfig, whole: &Objects, key: &str, put: &dyn Fn(&Path)) -> String {
    let dir = tempfile::tempdir().unwrap();
    write(whole, dir.path());
    std::fs::remove_file(dir.path().join(key)).unwrap();
    put(&dir.path().join(key));
    let store = Store::open_to_read(dir.path()).unwrap();
    let objects = read(&store);
    let found: Vec<String> = check(&store).unwrap().into_iter().flat_map(|kind| kind.damage).collect();
    assert_eq!(read(&store), objects, "checking changes nothing");

    let watch = Watch::default();
    let ended = train(config, dir.path(), &watch);
    let warnings = watch.warnings.into_inner().unwrap();
    let folder = key.rsplit_once('/').map_or(key, |(folder, _)| folder);
    let named = |texts: &[String]| texts.iter().any(|text| text.contains(key) || text.contains(folder));
    let word = match &ended {
        Err(error) => {
            let message = error.to_string();
            assert!(message.contains(&dir.path().display().to_string()), "{key}: {message}");
            assert!(!message.contains('\n'), "{key}: {message}");
            "refuses"
        }
        Ok(_) if watch.began_at.into_inner().unwrap() < Some(3) => "goes back",
        Ok(_) if warnings.is_empty() => "goes on",
        Ok(_) => "warns",
    };
    assert!(!matches!(word, "warns") || named(&warnings), "{key}: {warnings:?}");
    // Nothing else was harmed. Games in flight are superseded, the state of a generation that is trained again is
    // written anew, and what was missing may be there again.
    let after = read(&Store::open_to_read(dir.path()).unwrap());
    let superseded = if word == "goes back" { ["inflight/", "state/000003/"] } else { ["inflight/"; 2] };
    for (other, bytes) in &objects {
        if superseded.iter().any(|prefix| other.starts_with(prefix)) {
            continue;
        }
        assert!(after.get(other) == Some(bytes), "{other} was changed for {key}: {warnings:?}");
    }
    format!("{word}, {}", if found.is_empty() { "not found" } else { "found" })
}

/// The table's rows: an object and its cells.
fn rows() -> Vec<(&'static str, Vec<&'static str>)> {
    let header = format!("| object | {} |", DAMAGE.join(" | "));
    let (_, table) = DOCUMENT.split_once(&header).expect("the table");
    let row = |line: &'static str| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        (cells.next().unwrap().trim_matches('`'), cells.collect())
    };
    table.lines().skip(2).take_while(|line| line.starts_with('|')).map(row).collect()
}

#[test]
fn every_kind_of_damage_does_what_the_document_says() {
    let config = config(1, "brandubh");
    let whole = objects(&config);
    let other = objects(&self::config(2, "tablut"));
    let rows = rows();
    // Every kind of object has a row.
    for key in whole.keys() {
        let kind = key.split('/').next();
        assert!(rows.iter().any(|(object, _)| object.split('/').next() == kind), "{key} is not in the table");
    }
    let try_row = |&(key, _): &(&str, _)| -> String {
        let bytes = whole.get(key).unwrap_or_else(|| panic!("{key} is not there: {:?}", whole.keys()));
        let cell = |damage| match damaged(key, bytes, damage, &other) {
            Some(damaged) => outcome(&config, &whole, key, &|path| {
                damaged.iter().for_each(|bytes| std::fs::write(path, bytes).unwrap());
            }),
            None => "-".to_owned(),
        };
        let cells: Vec<String> = DAMAGE.into_iter().map(cell).collect();
        format!("| `{key}` | {} |", cells.join(" | "))
    };
    let (mut found, half) = (Vec::new(), rows.len().div_ceil(2));
    std::thread::scope(|scope| {
        let halves: Vec<_> =
            rows.chunks(half).map(|part| scope.spawn(move || part.iter().map(try_row).collect::<Vec<_>>())).collect();
        found.extend(halves.into_iter().flat_map(|half| half.join().unwrap()));
    });
    let said: Vec<String> = rows.iter().map(|(key, cells)| format!("| `{key}` | {} |", cells.join(" | "))).collect();
    assert!(found == said, "the table should be\n{}", found.join("\n"));
}

/// Nothing waits for the writer of a pipe, nothing reads a device to its end, and nothing takes memory for what is too
/// large.
#[cfg(unix)]
#[test]
fn what_cannot_be_an_object_is_as_an_empty_one() {
    let config = config(1, "brandubh");
    let whole = objects(&config);
    let kinds: [fn(&Path); 4] = [
        |path| assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success()),
        |path| std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
        |path| std::fs::File::create(path).unwrap().set_len(20 << 30).unwrap(),
        |path| std::fs::create_dir(path).unwrap(),
    ];
    let rows = rows();
    let empty = DAMAGE.iter().position(|damage| *damage == "empty").unwrap();
    // Every object in one way; the games in all.
    let mut tried: Vec<_> = rows.iter().enumerate().map(|(at, row)| (row, kinds[at % kinds.len()])).collect();
    tried.extend(kinds.map(|kind| (&rows[1], kind)));
    for ((key, cells), kind) in tried {
        assert_eq!(outcome(&config, &whole, key, &kind), cells[empty], "{key}");
    }
}

#[test]
fn a_whole_run_has_no_damage() {
    let objects = objects(&config(1, "brandubh"));
    let dir = tempfile::tempdir().unwrap();
    write(&objects, dir.path());
    let found = check(&Store::open_to_read(dir.path()).unwrap()).unwrap();
    let damage: Vec<String> = found.iter().flat_map(|kind| kind.damage.clone()).collect();
    assert_eq!(damage, [""; 0]);
    let count: usize = found.iter().map(|kind| kind.objects).sum();
    assert_eq!(count, objects.len(), "every object belongs to a kind");
    for (key, bytes) in objects.iter().filter(|(key, _)| key.ends_with(".json")) {
        assert!(bytes.starts_with(b"{\"crc32c\":\""), "{key} has a checksum");
    }
}

#[test]
fn a_training_state_of_another_run_is_known_by_its_weights() {
    let config = config(1, "brandubh");
    let mut whole = objects(&config);
    let other = objects(&self::config(2, "brandubh"));
    for (key, bytes) in whole.iter_mut().filter(|(key, _)| key.starts_with("state/000003/")) {
        *bytes = other[key].clone();
    }
    let dir = tempfile::tempdir().unwrap();
    write(&whole, dir.path());
    let watch = Watch::default();
    train(&config, dir.path(), &watch).unwrap();
    let warnings = watch.warnings.into_inner().unwrap();
    assert!(warnings.len() == 1 && warnings[0].contains("checkpoints/000003 has other weights"), "{warnings:?}");
}

/// A worker that stops once it has a job, or has reported that there is none.
#[derive(Default)]
struct Worker {
    warnings: Mutex<Vec<String>>,
    waits: Mutex<usize>,
    plays: Mutex<Vec<u32>>,
}

impl WorkerObserver for Worker {
    fn waits(&self, _: &str) {
        *self.waits.lock().unwrap() += 1;
    }

    fn warning(&self, text: &str) {
        self.warnings.lock().unwrap().push(text.to_owned());
    }

    fn plays(&self, job: &Job) {
        self.plays.lock().unwrap().push(job.generation);
    }

    fn should_stop(&self) -> bool {
        *self.waits.lock().unwrap() > 0 || !self.plays.lock().unwrap().is_empty()
    }
}

#[test]
fn a_worker_plays_by_the_newest_readable_job() {
    let mut objects = objects(&config(1, "brandubh"));
    let mut work_with = |damaged: &str, bytes: &[u8]| {
        objects.insert(damaged.to_owned(), bytes.to_vec());
        let dir = tempfile::tempdir().unwrap();
        write(&objects, dir.path());
        let store = Store::open(&dir.path().into(), Access::Add, RetryPolicy::default()).unwrap();
        let (worker, params) = (Worker::default(), params());
        work(&store, &params, &worker).unwrap();
        (worker.warnings.into_inner().unwrap(), worker.plays.into_inner().unwrap())
    };
    // The newest job is of generation 3, the jobs before of generation 2.
    let (warnings, plays) = work_with("jobs/000004.json", b"");
    assert!(warnings.len() == 1 && warnings[0].contains("jobs/000004.json: damaged: EOF"), "{warnings:?}");
    assert_eq!(plays, [2]);
    work_with("jobs/000003.json", b"{");
    work_with("jobs/000002.json", b"[]");
    let (warnings, plays) = work_with("jobs/000001.json", b"{}");
    assert!(warnings.len() == 4 && warnings[3].contains("jobs/000001.json: damaged: missing field"), "{warnings:?}");
    assert_eq!(plays, [0; 0], "it waits for the trainer");
}

fn params() -> WorkerParams {
    WorkerParams { threads: Some(1), upload_every: std::time::Duration::from_secs(1), ..WorkerParams::new(5) }
}
