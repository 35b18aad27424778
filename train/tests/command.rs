//! A trainer of one's own in the loop: a shell script that hands the network back as it was, and others that fail.
#![cfg(unix)]

#[path = "support/tiny.rs"]
mod tiny;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use hnefi_inference::Checkpoint;
use hnefi_run::GenerationMetrics;
use hnefi_run::store::{Store, checkpoint_key, metrics_key};
use hnefi_train::trainer::{Silent, TrainerParams, TrainingProgress};
use hnefi_train::{Summary, TrainError, TrainObserver, train_at};
use tiny::tiny_config;

/// Hands the weights back and adds a letter to its state, which is as large as an optimiser's moments.
const SAME: &str = r#"
field() { printf %s "$line" | sed "s|.*\"$1\":\"\([^\"]*\)\".*|\1|"; }
state=
while read -r line && [ "$line" != quit ]; do
    case "$line" in *'"state":null'*) ;; *) state=$(tr -d . <"$(field state)") ;; esac
    state=${state}t
    [ -s "$(printf %s "$line" | sed 's|.*"games":\["\([^"]*\)".*|\1|')" ] || exit 3
    echo '{"step":1,"losses":{"total":2.5}}'
    cp "$(field checkpoint)/model.safetensors" "$(field output)/"
    { printf %s "$state"; head -c 2000000 /dev/zero | tr '\0' .; } >"$(field output)/trainer.state"
    echo '{"step":2,"losses":{"total":1.5,"policy":0.5},"finished":true}'
done
"#;

fn run(
    dir: &Path,
    script: Option<&str>,
    generations: u32,
    observer: &dyn TrainObserver,
) -> Result<Summary, TrainError> {
    let path = dir.join("trainer.sh");
    std::fs::write(&path, script.unwrap_or_default()).unwrap();
    let command = format!("sh '{}'", path.display());
    let config = tiny_config(&[&format!("budget.generations={generations}")]);
    let params = TrainerParams::new(&dir.join("run"));
    train_at(&config, &TrainerParams { trainer: script.map(|_| command.as_str()), ..params }, observer)
}

fn id(dir: &Path, generation: u32) -> String {
    Checkpoint::load(&dir.join("run").join(checkpoint_key(generation))).unwrap().card.id
}

fn state(dir: &Path, generation: u32) -> String {
    let state = std::fs::read_to_string(dir.join(format!("run/state/{generation:06}/trainer.state"))).unwrap();
    assert_eq!(state.len(), 2_000_000 + generation as usize, "optimisers are large");
    state.trim_end_matches('.').to_owned()
}

#[test]
fn a_command_trains_and_its_state_goes_on_in_the_next_process() {
    let dir = tempfile::tempdir().unwrap();
    let first = run(dir.path(), Some(SAME), 2, &Silent).unwrap();
    assert_eq!((first.generations, state(dir.path(), 1), state(dir.path(), 2)), (2, "t".into(), "tt".into()));
    let second = run(dir.path(), Some(SAME), 3, &Silent).unwrap();
    assert_eq!(state(dir.path(), 3), "ttt", "the first process's state");
    for generation in 1..=3 {
        assert_eq!(id(dir.path(), generation), id(dir.path(), 0), "handed back as it was");
        let bytes = std::fs::read(dir.path().join("run").join(metrics_key(generation))).unwrap();
        let metrics: GenerationMetrics = serde_json::from_slice(&bytes).unwrap();
        assert_eq!((metrics.training.losses.total, metrics.training.losses.policy), (1.5, 0.5));
        assert!(metrics.training.generation_steps > 5);
    }
    assert!(second.steps > first.steps && second.samples == 2 * 32 * 3, "the two steps of 32 samples that it told of");
    let problem = run(dir.path(), None, 4, &Silent).unwrap_err().to_string();
    assert!(problem.contains("trainer.state: the state of a trainer of its own; expected its command"), "{problem}");
    assert_eq!(run(dir.path(), Some(SAME), 4, &Silent).unwrap().generations, 4);
}

#[test]
fn a_run_in_turns_with_a_command_plays_the_games_of_its_networks() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(one.path(), Some(SAME), 3, &Silent).unwrap();
    run(two.path(), Some(SAME), 1, &Silent).unwrap();
    run(two.path(), Some(SAME), 3, &Silent).unwrap();
    let games = |dir: &Path| std::fs::read(dir.join("run/games/000003.hgames")).unwrap();
    assert_eq!(games(one.path()), games(two.path()), "interrupted or not");
}

#[test]
fn a_command_that_fails_is_one_error_and_harms_nothing() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), Some(SAME), 1, &Silent).unwrap();
    let before = id(dir.path(), 1);
    let output = r#"output=$(printf %s "$line" | sed 's|.*"output":"\([^"]*\)".*|\1|')"#;
    let done = r#"echo '{"step":1,"finished":true}'; sleep 5"#;
    for (script, words) in [
        ("echo 'no such module' >&2; exit 4".to_owned(), "ended (exit status: 4) before it had finished its task: no"),
        ("echo hello; sleep 5".to_owned(), "it wrote \"hello\": expected"),
        ("read -r line; echo '{\"step\":-1}'; sleep 5".to_owned(), "it wrote"),
        (format!("read -r line; {done}"), "model.safetensors: No such file"),
        (format!("read -r line; {output}; echo x >$output/model.safetensors; {done}"), "damaged or cut short"),
    ] {
        let problem = run(dir.path(), Some(&script), 2, &Silent).unwrap_err().to_string();
        let place = format!("trainer \"sh '{}'\": generation 2: ", dir.path().join("trainer.sh").display());
        assert!(problem.starts_with(&place) && problem.contains(words) && !problem.contains('\n'), "{problem}");
    }
    let params = TrainerParams::new(dir.path());
    let missing = TrainerParams { trainer: Some("/no/such/program x"), ..params };
    let problem = train_at(&tiny_config(&[]), &missing, &Silent).unwrap_err().to_string();
    assert!(problem.contains("\"/no/such/program\" cannot be started: "), "{problem}");
    let store = Store::open_to_read(&dir.path().join("run")).unwrap();
    assert_eq!((store.checkpoints().unwrap(), id(dir.path(), 1)), (vec![0, 1], before));
    drop(store);
    assert_eq!(run(dir.path(), Some(SAME), 2, &Silent).unwrap().generations, 2);
    assert_eq!(state(dir.path(), 2), "tt");
}

/// Stops as soon as the command has told of a step.
#[derive(Default)]
struct Stops(AtomicBool);

impl TrainObserver for Stops {
    fn training(&self, _: u32, progress: &TrainingProgress, _: f64) {
        assert_eq!((progress.step, progress.losses.total), (1, 2.5));
        self.0.store(true, Ordering::Relaxed);
    }

    fn should_stop(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn a_task_that_is_stopped_is_given_again() {
    let dir = tempfile::tempdir().unwrap();
    let slow = SAME.replace("    cp ", "    sleep 60\n    cp ");
    let stopped = run(dir.path(), Some(&slow), 2, &Stops::default()).unwrap();
    assert!(stopped.stopped && stopped.generations == 0);
    let finished = run(dir.path(), Some(SAME), 2, &Silent).unwrap();
    assert_eq!((finished.generations, state(dir.path(), 2)), (2, "tt".into()));
}

#[test]
fn a_run_goes_on_from_one_of_a_command_without_it() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), Some(SAME), 1, &Silent).unwrap();
    let origin = dir.path().join("run");
    let params = TrainerParams { origin: Some(&origin), ..TrainerParams::new(&dir.path().join("next")) };
    let config = tiny_config(&["budget.generations=1"]);
    assert_eq!(train_at(&config, &params, &Silent).unwrap().generations, 1);
}
