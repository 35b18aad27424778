//! What commands print for good input.

use serde_json::Value;

use super::Workspace;

fn assert_names(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
}

#[test]
fn perft_prints_the_known_counts() {
    let workspace = Workspace::new();
    for (line, nodes) in [
        ("perft --rules brandubh --depth 3", "nodes 39512\n"),
        ("perft --rules copenhagen --depth 3", "nodes 806344\n"),
        (
            "perft --rules fetlar --depth 2 \
             --fen '3aaaaa3/5a5/11/a4d4a/a3ddd3a/aa1ddkdd1aa/a3ddd3a/a4d4a/11/5a5/3aaaaa3 a'",
            "nodes 6788\n",
        ),
    ] {
        assert_eq!(workspace.succeeds(line).out, nodes, "{line}");
    }
}

#[test]
fn keys_are_explained_and_a_whole_configuration_printed() {
    let workspace = Workspace::new();
    let page = workspace.succeeds("train --help-config").out;
    assert!(page.starts_with("# Configuration keys\n") && page.contains("\n- `threshold = 0.05`\n"), "{page}");
    let section = workspace.succeeds("train --help-config selfplay.resign").out;
    assert!(page.contains(&section), "{section}");
    let printed = workspace.succeeds("train --config copenhagen --set train.batch=64 --seed 5 --print-config").out;
    assert_names(&printed, &["seed = 5", "batch = 64", "ply_caps]", "eleven = 300", "name = \"cool-down\""]);
}

#[test]
fn match_ends_with_one_line_of_json() {
    let ended = Workspace::new().succeeds("match alphabeta:1 random --games 8 --seed 3 --json");
    let told = ended.error;
    assert!(told.starts_with("1/8 games +") && told.contains("\n7/8 games +"), "no bar, so lines: {told}");
    let result: Value = serde_json::from_str(ended.out.lines().last().expect("a last line")).expect("JSON");
    assert_eq!(result["games"], 8);
    let score = result["score"].as_f64().expect("a score");
    assert!((0.5..=1.0).contains(&score), "alphabeta:1 scored {score} against random");
}

#[test]
fn doctor_names_cores_and_devices() {
    let text = Workspace::new().succeeds("doctor").out;
    assert_names(&text, &["cores", "memory", "precisions     f32", "cpu", "cuda:0"]);
}

#[test]
fn bench_prints_a_line_of_json_per_figure() {
    let workspace = Workspace::new();
    let answered = [("stop answered, 95 % within", "ms"), ("clock answered, 95 % within", "ms")];
    for (stage, options, names) in [
        (
            "engine",
            "",
            &[("perft 3, all moves made", "moves/s"), ("perft 4, leaves counted", "ms"), ("random games", "plies/s")][..],
        ),
        ("evaluate", "", &[("evaluations", "evals/s")]),
        (
            "search",
            "--threads 3",
            &[("playouts, evaluation 200 us", "playouts/s"), ("tree locked, evaluation 0 us", "%")],
        ),
        ("protocol", "", &[("playouts of one search", "playouts/s"), answered[0], answered[1]]),
    ] {
        let figures = workspace.succeeds(&format!("bench {stage} --seconds 0.01 --repeats 1 --json {options}")).json();
        for (name, unit) in names {
            let named = |figure: &&Value| figure["name"] == *name && figure["unit"] == *unit;
            let boards: Vec<_> = figures.iter().filter(named).map(|figure| &figure["board"]).collect();
            assert!(boards.contains(&&"11x11".into()), "{stage} without {name}: {figures:?}");
            assert!(boards.contains(&&"7x7".into()) || name.starts_with("perft"), "{stage}: {name}: {figures:?}");
        }
        for figure in &figures {
            assert_eq!(figure["stage"], stage);
            // Each of them has a ruleset that is measured.
            assert!(["7x7", "9x9", "11x11"].iter().any(|board| figure["board"] == *board), "{figure}");
            assert!(["net", "precision", "peak"].iter().all(|key| figure.get(key).is_some()), "{figure}");
            assert!(figure["threads"].as_u64().is_some_and(|threads| threads > 0), "{figure}");
            // A delay and a share may be nothing.
            let least = if figure["unit"] == "ms" || figure["unit"] == "%" { 0.0 } else { f64::MIN_POSITIVE };
            assert!(figure["value"].as_f64().is_some_and(|value| value >= least), "{figure}");
            let has_peak = figure["peak"].as_f64().is_some_and(|peak| peak > 0.0);
            assert!(has_peak || !["engine", "evaluate"].contains(&stage), "{figure}");
        }
        for threads in (1..=3).filter(|_| stage == "search") {
            let one = |figure: &&Value| figure["name"] == names[0].0 && figure["threads"] == threads;
            let times = figures.iter().find(one).and_then(|figure| figure["times_one"].as_f64());
            assert!(times.is_some_and(|times| times > 0.0 && (threads > 1 || times == 1.0)), "{threads}: {figures:?}");
        }
    }
}

#[test]
fn a_ladder_is_climbed_once() {
    let workspace = Workspace::new();
    workspace.run_directory("run");
    let line = "ladder run --opponent random --games 2 --playouts 2 --json";
    let first = workspace.succeeds(line).json();
    assert_eq!(first[0]["contestants"][0]["generation"], 7);
    assert_eq!((&first[0]["contestants"][0]["games"], &first[0]["zero"]["player"]), (&2.into(), &"random".into()));
    let matches = || std::fs::read_dir(workspace.at("run/ladder")).expect("matches").count();
    assert_eq!(matches(), 1);
    assert_eq!((workspace.succeeds(line).json(), matches()), (first, 1), "what was played is not played again");
    let shown = workspace.succeeds("ladder run --show").out;
    assert_names(&shown, &["generation 7, 2 playouts", "0 is random; between equals under brandubh"]);
}

#[test]
fn a_run_without_games_to_evaluate_ends_well_and_without_a_table() {
    let settings = "--set evaluate.games=0 --set evaluate.opponents='[\"random\"]' --set budget.generations=1";
    let out = Workspace::new().succeeds(&format!("train {settings} --config tiny.toml --run run")).out;
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

#[test]
fn own_rulesets_of_a_ladder_have_a_balance_each() {
    let workspace = Workspace::new();
    workspace.run_directory("run");
    let own = |king: &str| format!("'dim:7 esc:e ks:{king} surf:n start:/3t3/3t3/3T3/ttTKTtt/3T3/3t3/3t3/'");
    let rules = format!("--rules {} --rules {}", own("w"), own("s"));
    let ended = workspace.succeeds(&format!("ladder run {rules} --opponent random --games 2 --playouts 2 --json"));
    assert_eq!(ended.json()[0]["balances"].as_array().expect("a list").len(), 2);
}
