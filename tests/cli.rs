//! The binary from outside: what it prints for good input and how it refuses bad input.

use std::process::{Command, Output};

fn hnefi() -> Command {
    Command::new(env!("CARGO_BIN_EXE_hnefi"))
}

fn run(args: &[&str]) -> Output {
    hnefi().args(args).output().expect("the binary starts")
}

/// Runs and expects failure; returns what was printed on standard error.
fn refused(args: &[&str]) -> String {
    let output = run(args);
    assert!(!output.status.success(), "{args:?} succeeded: {}", String::from_utf8_lossy(&output.stdout));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!message.contains("panicked"), "{args:?} panicked: {message}");
    message
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn assert_names(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{part:?} is missing in: {message}");
    }
}

#[test]
fn perft_prints_the_known_counts() {
    assert_eq!(stdout(&run(&["perft", "--rules", "brandubh", "--depth", "3"])), "nodes 39512\n");
    assert_eq!(stdout(&run(&["perft", "--rules", "copenhagen", "--depth", "3"])), "nodes 806344\n");
    let fen = "3aaaaa3/5a5/11/a4d4a/a3ddd3a/aa1ddkdd1aa/a3ddd3a/a4d4a/11/5a5/3aaaaa3 a";
    assert_eq!(stdout(&run(&["perft", "--rules", "fetlar", "--fen", fen, "--depth", "2"])), "nodes 6788\n");
}

#[test]
fn config_faults_are_reported_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bad.toml");
    let broken = "[network]\nlayers = 3\nblocks = \"many\"\nchannels = -32\n";
    std::fs::write(&file, broken).expect("written");
    let run = folder.path().join("run");
    let message = refused(&["train", "--config", file.to_str().expect("utf-8"), "--run", run.to_str().expect("utf-8")]);
    assert_names(&message, &["network.channels", "network.blocks", "many", "network.layers"]);
    assert!(!run.exists(), "a refused config must not leave a run directory");

    std::fs::write(&file, "seed = [1, ").expect("written");
    assert_names(&refused(&["train", "--config", file.to_str().expect("utf-8")]), &["bad.toml"]);
}

#[test]
fn keys_are_explained_and_a_whole_configuration_printed() {
    let page = stdout(&run(&["train", "--help-config"]));
    assert!(page.starts_with("# Configuration keys\n") && page.contains("\n- `threshold = 0.05`\n"), "{page}");
    let section = stdout(&run(&["train", "--help-config", "selfplay.resign"]));
    assert!(page.ends_with(&section) || page.contains(&section), "{section}");
    assert_names(&refused(&["train", "--help-config", "selfplay.resing"]), &["did you mean selfplay.resign?"]);
    let printed =
        stdout(&run(&["train", "--config", "copenhagen", "--set", "train.batch=64", "--seed", "5", "--print-config"]));
    for line in ["seed = 5", "batch = 64", "ply_caps]", "eleven = 300", "name = \"cool-down\""] {
        assert!(printed.contains(line), "{line} is not in {printed}");
    }
}

#[test]
fn match_ends_with_one_line_of_json() {
    let output = run(&["match", "alphabeta:1", "random", "--games", "8", "--seed", "3", "--json"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.starts_with("1/8 games +") && told.contains("\n7/8 games +"), "no bar, so lines: {told}");
    let text = stdout(&output);
    let line = text.lines().last().expect("a last line");
    let result: serde_json::Value = serde_json::from_str(line).expect("the last line is JSON");
    assert_eq!(result["games"], 8);
    let score = result["score"].as_f64().expect("a score");
    assert!((0.5..=1.0).contains(&score), "alphabeta:1 scored {score} against random");
}

#[test]
fn doctor_names_cores_and_devices() {
    let text = stdout(&run(&["doctor"]));
    assert_names(&text, &["cores", "memory", "precisions     f32", "cpu", "cuda:0"]);
}

#[test]
fn bench_prints_a_line_of_json_per_figure() {
    let quickly = ["--seconds", "0.01", "--repeats", "1", "--json"];
    let figures = |stage: &str, more: &[&str]| -> Vec<serde_json::Value> {
        let args: Vec<&str> = ["bench", stage].iter().chain(&quickly).chain(more).copied().collect();
        stdout(&run(&args)).lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    };
    for (stage, names) in [
        ("engine", &["perft 3, all moves made", "perft 4, leaves counted", "random games"][..]),
        ("evaluate", &["evaluations"][..]),
    ] {
        let figures = figures(stage, &[]);
        for name in names {
            assert!(figures.iter().any(|figure| figure["name"] == *name), "{stage} without {name}: {figures:?}");
        }
        for figure in &figures {
            assert_eq!(figure["stage"], stage);
            assert!(["board", "net", "precision"].iter().all(|key| figure.get(key).is_some()), "{figure}");
            assert!(figure["threads"].as_u64().is_some_and(|threads| threads > 0), "{figure}");
            assert!(
                ["value", "peak"].iter().all(|key| figure[key].as_f64().is_some_and(|value| value > 0.0)),
                "{figure}"
            );
            assert!(figure["unit"].is_string(), "{figure}");
        }
    }
    let search = figures("search", &["--threads", "3"]);
    for threads in 1..=3 {
        let named = |figure: &&serde_json::Value| figure["name"] == "playouts, evaluation 200 us";
        let found = search.iter().filter(named).find(|figure| figure["threads"] == threads);
        let times = found.and_then(|figure| figure["times_one"].as_f64());
        assert!(times.is_some_and(|times| times > 0.0 && (threads > 1 || times == 1.0)), "{threads}: {search:?}");
    }
    assert!(search.iter().any(|figure| figure["name"] == "tree locked, evaluation 0 us"), "{search:?}");
    assert_names(&refused(&["bench", "--seconds", "0"]), &["seconds", "0.01 to 600"]);
    assert_names(&refused(&["bench", "--device", "cpu"]), &["--device cpu", "cuda:N"]);
    assert_names(
        &refused(&["bench", "search", "--device", "cuda:0"]),
        &["bench search", "evaluate, selfplay or train"],
    );
}

#[test]
fn a_ladder_is_climbed_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let run_dir = folder.path().join("run");
    let to = run_dir.join("checkpoints/000007");
    std::fs::create_dir_all(&to).expect("a folder");
    for file in ["card.json", "model.safetensors"] {
        let from = concat!(env!("CARGO_MANIFEST_DIR"), "/models/inference/pretrained/brandubh/");
        std::fs::copy(format!("{from}{file}"), to.join(file)).expect("copied");
    }
    let dir = run_dir.to_str().expect("a name in UTF-8");
    let args = ["ladder", dir, "--opponent", "random", "--games", "2", "--playouts", "2", "--json"];
    let first: serde_json::Value = serde_json::from_str(&stdout(&run(&args))).expect("JSON");
    assert_eq!(first["contestants"][0]["generation"], 7);
    assert_eq!((&first["contestants"][0]["games"], &first["zero"]["player"]), (&2.into(), &"random".into()));
    let matches = || std::fs::read_dir(run_dir.join("ladder")).expect("matches").count();
    assert_eq!(matches(), 1);
    let again: serde_json::Value = serde_json::from_str(&stdout(&run(&args))).expect("JSON");
    assert_eq!((again, matches()), (first, 1), "what was played is not played again");
    let shown = stdout(&run(&["ladder", dir, "--show"]));
    assert_names(&shown, &["generation 7, 2 playouts", "0 is random; between equals under brandubh"]);

    assert_names(&refused(&["ladder", dir, "--games", "3"]), &["'3'", "--games", "even number"]);
    assert_names(&refused(&["ladder", dir, "--opponent", "deepblue"]), &["deepblue", "alphabeta:DEPTH"]);
    let empty = folder.path().to_str().expect("a name in UTF-8");
    assert_names(&refused(&["ladder", empty]), &["no checkpoints", "runs/quick"]);
}

#[test]
fn what_the_web_board_cannot_begin_with_is_refused_before_it_is_served() {
    let web = |more: &[&str]| refused(&[&["play", "--web", "--listen", "127.0.0.1:0"], more].concat());
    assert_names(&web(&["--fen", "7/7 a"]), &["--fen", "2 rows"]);
    assert_names(&web(&["uci:no-such-program-here"]), &["no-such-program-here", "cannot be started"]);
    assert_names(&web(&["model:no/such/run"]), &["no/such/run", "there is no such folder"]);
    assert_names(&web(&["--plain"]), &["--web", "--plain", "expected one"]);
}

#[test]
fn a_run_without_games_to_evaluate_ends_well_and_without_a_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("tiny.toml");
    std::fs::write(&config, include_str!("data/tiny.toml")).expect("written");
    let output = hnefi()
        .args(["train", "--set", "evaluate.games=0", "--set", r#"evaluate.opponents=["random"]"#, "--config"])
        .arg(&config)
        .arg("--run")
        .arg(folder.path().join("run"))
        .output()
        .expect("the binary starts");
    let (out, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{errors}");
    assert!(out.contains("checkpoint  ") && !out.contains("score of the network"), "{out}");
}

#[test]
fn settings_of_the_search_are_shown_with_their_defaults() {
    let document = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/PLAYING.md");
    let text = std::fs::read_to_string(document).expect("a document");
    let section = text.split_once("### Settings of the search").expect("a section").1;
    let mut shown = serde_json::Map::new();
    for row in section.lines().skip_while(|line| !line.starts_with("|---")).skip(1).take_while(|l| l.starts_with('|')) {
        let cells: Vec<_> = row.split(" | ").collect();
        let values = cells[1].split(", ").map(|value| value.trim_matches('`'));
        for (key, value) in cells[0].trim_start_matches("| ").split(", ").zip(values) {
            let value = value.parse::<f32>().map_or_else(|_| value.into(), Into::into);
            shown.insert(key.trim_matches('`').to_owned(), value);
        }
    }
    let mut defaults = serde_json::to_value(hnefi_search::SearchConfig::default()).expect("JSON");
    for value in defaults.as_object_mut().expect("keys").values_mut() {
        if let Some(number) = value.as_u64() {
            *value = (number as f32).into();
        }
    }
    assert_eq!(serde_json::Value::Object(shown), defaults);
}
