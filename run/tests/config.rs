//! Configurations: the built-in ones, the reference, and every kind of error with its message.

use hnefi_configs::{BUILT_IN as FILES, RULES};
use hnefi_engine::{NamedRules, Preset};
use hnefi_run::config::{ConfigError, KeyError, SECTIONS, TrainConfig, reference};
use toml::{Table, Value};

fn errors(text: &str) -> Vec<KeyError> {
    match TrainConfig::parse(text, "test.toml") {
        Ok(_) => Vec::new(),
        Err(ConfigError::Keys { errors, .. }) => errors,
        Err(error) => panic!("{error}"),
    }
}

/// The only error of a text, as people read it.
fn only_error(text: &str) -> String {
    let errors = errors(text);
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors[0].to_string()
}

#[test]
fn built_in_configurations_have_no_errors() {
    assert_eq!(TrainConfig::names().collect::<Vec<_>>(), FILES.map(|(name, _)| name));
    for (name, _) in FILES {
        assert_eq!(TrainConfig::named(name).unwrap().validate(), []);
    }
    assert!(TrainConfig::named("nothing").is_none());
}

/// Whatever ruleset is named, the network plays its games at the end, and no text stands for it any more.
#[test]
fn any_ruleset_has_a_configuration() {
    let middle = "dim:9 esc:e cor: start:/3ttt3/4t4/4T4/t3T3t/ttTTKTTtt/t3T3t/4T4/4t4/3ttt3/";
    for text in ["brandubh", middle, "copenhagen", "copenhagen-hnefatafl-org-13x13", "tablut-15x15"] {
        let rules: NamedRules = text.parse().unwrap();
        let config = TrainConfig::any(&rules, &["budget.minutes=2".to_owned()]).unwrap();
        assert_eq!((config.validate(), config.budget.minutes), (Vec::new(), 2.0));
        let last = config.stages.iter().rev().find_map(|stage| {
            let rulesets = stage.changes.get("selfplay")?.get("rulesets")?.as_array()?;
            Some(rulesets[0]["rules"].as_str()?.to_owned())
        });
        let last = last.unwrap_or_else(|| config.selfplay.rulesets[0].rules.name());
        assert_eq!(last.parse(), Ok(rules));
        assert!(!config.commented().contains(RULES));
    }
    let refused = TrainConfig::any(&Preset::Tablut.into(), &["train.bach=3".to_owned()]).unwrap_err().to_string();
    assert!(refused.contains("configuration any: 1 error") && refused.contains("train.bach"), "{refused}");
}

#[test]
fn quick_says_what_is_left_out() {
    assert_eq!(TrainConfig::named("quick").unwrap(), TrainConfig::default());
    assert_eq!(TrainConfig::parse("", "empty").unwrap(), TrainConfig::default());
    let changed = TrainConfig::parse("[selfplay.ply_caps]\nseven = 60", "one key").unwrap();
    let mut expected = TrainConfig::default();
    expected.selfplay.ply_caps.seven = 60;
    assert_eq!(changed, expected);
}

/// The values of a table's keys by their paths; a stage's keys stand under its name.
fn leaves(prefix: &str, table: &Table) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (name, value) in table {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Table(inner) => found.extend(leaves(&path, inner)),
            _ => found.push((path, value.clone())),
        }
    }
    found
}

#[test]
fn shipped_files_hold_only_what_differs() {
    let defaults = leaves("", &Table::try_from(TrainConfig::default()).unwrap());
    for (name, text) in FILES {
        assert!(text.lines().all(|line| line.len() <= 120), "{name}.toml has a line of more than 120 characters");
        let mut table: Table = text.parse().unwrap();
        table.remove("stages");
        for (path, value) in leaves("", &table) {
            assert!(!defaults.contains(&(path.clone(), value)), "{name}.toml repeats the default of {path}");
        }
    }
}

#[test]
fn every_key_is_explained() {
    for section in SECTIONS {
        for key in section.keys {
            let path = format!("{}.{}", section.name, key.name);
            assert!(
                key.description.trim().ends_with(['.', ')']) && key.description.trim().len() > 5,
                "{path}: {:?}",
                key.description
            );
            assert!(!key.unit.is_empty(), "{path} has no unit");
            // No key may be a date, and the message says what the reference says.
            let message = only_error(&format!("[{}]\n{} = 1979-05-27", section.name, key.name));
            let (_, allowed) = message.split_once("expected ").unwrap();
            let text = reference(Some(&path)).unwrap().split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
            assert!(text.ends_with(&format!("{}.", allowed.to_lowercase())), "{allowed:?} does not end {text:?}");
        }
    }
}

#[test]
fn the_page_of_the_reference_is_what_the_program_prints() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/CONFIGURATION.md")).unwrap_or_default();
    let printed = reference(None).unwrap();
    assert!(page == printed, "docs/CONFIGURATION.md is out of date: hnefi train --help-config > docs/CONFIGURATION.md");
    assert!(printed.lines().all(|line| line.len() <= 120), "a line of more than 120 characters");
    for section in SECTIONS {
        assert!(printed.contains(&format!("## [{}]\n", section.name)));
    }
}

#[test]
fn the_reference_has_sections_and_keys_by_name() {
    let resign = reference(Some("selfplay.resign")).unwrap();
    assert!(resign.starts_with("## [selfplay.resign]\n") && resign.contains("\n- `threshold = 0.05`\n"), "{resign}");
    let both = reference(Some("playouts")).unwrap();
    assert_eq!(both.matches("- `playouts = ").count(), 3, "of budget, ladder and evaluate: {both}");
    let one = reference(Some("train.rate")).unwrap();
    assert!(one.contains("- `rate = 0.002`\n  Highest learning rate. Number, 0.0000001 to 1 (learning rate).\n"));
    assert_eq!(one.matches("- `").count(), 1);
    let message = reference(Some("train.rat")).unwrap_err().to_string();
    assert_eq!(message, "train.rat is no key and no section; did you mean train.rate?");
}

#[test]
fn a_printed_configuration_is_the_same_configuration() {
    for (name, _) in FILES {
        let config = TrainConfig::named(name).unwrap();
        let printed = config.commented();
        assert_eq!(TrainConfig::parse(&printed, "printed").unwrap(), config, "{printed}");
        assert!(printed.contains("\n# Samples per step. Whole number, 2 to 65536 (samples).\nbatch = "), "{printed}");
    }
}

#[test]
fn all_faults_at_once() {
    let text = "
        colour = 3
        [run]
        seed = -1
        device = \"abacus\"
        [network]
        blocks = \"many\"
        chanels = 32
        [train]
        batch = 100000
        rate = true
        [selfplay.resign]
        threshold = 0.7
        [ladder]
        opponents = [\"alphabeta:2\", 3]
    ";
    let found: Vec<String> = errors(text).iter().map(KeyError::to_string).collect();
    for expected in [
        "colour = 3: expected one of the sections: run, network, selfplay, search, train, budget, ladder, evaluate, \
         stages",
        "run.seed = -1: expected whole number, 0 to 2^63 - 1 (seed)",
        "run.device = \"abacus\": expected \"cpu\", \"cuda:N\", several joined by commas, or \"auto\" \
         (devices)",
        "network.blocks = \"many\": expected whole number, 1 to 100 (residual blocks)",
        "network.chanels = 32: expected a key of [network]: blocks, channels, pool_every, head_channels, value_hidden; \
         did you mean network.channels?",
        "train.batch = 100000: expected whole number, 2 to 65536 (samples)",
        "train.rate = true: expected number, 0.0000001 to 1 (learning rate)",
        "selfplay.resign.threshold = 0.7: expected number, 0 to 0.5 (expected score)",
        "ladder.opponents = [\"alphabeta:2\", 3]: expected list of texts such as \"random\", \"alphabeta:2\" or \
         \"rollout:200\" (players as on the command line)",
    ] {
        assert!(found.iter().any(|error| error == expected), "{expected:?} is not among {found:#?}");
    }
    assert_eq!(found.len(), 9);
    let message = TrainConfig::parse(text, "mine.toml").unwrap_err().to_string();
    assert!(message.starts_with("configuration mine.toml: 9 errors\n  "), "{message}");
}

#[test]
fn values_that_do_not_go_together() {
    assert_eq!(
        only_error("[budget]\nminutes = 0.0"),
        "budget.minutes = 0 and budget.generations = 0: expected one of the two above 0, or the run would never end"
    );
    let stages = "[[stages]]\nname = \"a\"\nshare = 1\n[[stages]]\nname = \"b\"\nshare = 1\n";
    assert!(only_error(&format!("[budget]\nminutes = 0.0\n{stages}")).starts_with("budget.minutes = 0 and "));
    assert!(only_error(&format!("{stages}train = {{ batch = 7 }}")).starts_with("stages.b.train.batch = 7 with "));
    assert_eq!(
        only_error("[train]\nbatch = 100\nshards = 3"),
        "train.batch = 100 with train.shards = 3: expected a multiple of train.shards, at least 2 samples a shard"
    );
    assert_eq!(
        only_error("[run]\nprecision = \"int8\"\ndevice = \"cuda:0\""),
        "run.precision = \"int8\" with run.device = \"cuda:0\": expected \"auto\" or \"f32\", since only the device \
         \"cpu\" has the others"
    );
    assert_eq!(errors("[run]\nprecision = \"int8\""), []);
    assert_eq!(errors("[run]\nprecision = \"auto\"\ndevice = \"cuda:0,cuda:1\""), []);
    assert_eq!(errors("[run]\nprecision = \"int8\"\ndevice = \"auto\""), []);
    assert_eq!(
        only_error("[run]\ntrain_device = \"cuda:0,cuda:1,cuda:2\"\n[train]\nshards = 2"),
        "train.shards = 2 with 3 devices in run.train_device: expected at least one part of a batch for each device"
    );
    assert_eq!(
        only_error("[train]\nrate = 1e-5"),
        "train.rate_end = 0.0001: expected no more than train.rate, which is 0.00001"
    );
}

#[test]
fn lists_and_tables() {
    let rulesets = |value: &str| only_error(&format!("[selfplay]\nrulesets = {value}"));
    assert!(rulesets("[]").contains("expected list of { rules = \"NAME\", share = NUMBER }"));
    let unknown = rulesets("[{ rules = \"chess\", share = 1 }]");
    assert!(unknown.contains("unknown ruleset \"chess\": expected one of copenhagen, "), "{unknown}");
    assert!(rulesets("[{ rules = \"brandubh\", share = -1 }]").starts_with("selfplay.rulesets = [{ "));
    assert!(rulesets("[{ rules = \"brandubh\", share = 0 }]").contains("one above 0"), "no share at all");
    assert!(
        rulesets("[{ rules = \"brandubh\", share = 1, since = 0.5 }]").contains("{ rules = \"NAME\", share = NUMBER }")
    );
    assert!(only_error("[budget]\nplayouts = []").contains("list of whole numbers, each 2 to 100000"));
    assert!(only_error("selfplay = 3").contains("expected a table with the keys games_in_flight, "));
    assert!(only_error("[selfplay]\ngames_in_flight = 100").contains("multiple of 32, 32 to 65536"));
    let whole = TrainConfig::parse("[train]\nreuse = 3", "a whole number where a real one is meant").unwrap();
    assert_eq!(whole.train.reuse, 3.0);
}

#[test]
fn copenhagen_goes_from_the_small_board_to_the_network_that_is_shipped() {
    let config = TrainConfig::named("copenhagen").unwrap();
    let stages: Vec<TrainConfig> = (0..config.stage_count()).map(|index| config.stage(index).unwrap()).collect();
    let played: Vec<Vec<NamedRules>> = stages.iter().map(|stage| stage.selfplay.rulesets_played()).collect();
    assert_eq!(played[0], [Preset::Brandubh]);
    for stage in &played[1..] {
        assert_eq!(stage.len(), Preset::ALL.len(), "every ruleset");
    }
    assert_eq!(stages[1].selfplay.rulesets[0].rules, Preset::Copenhagen);
    let last = stages.last().unwrap();
    assert_eq!((last.network.blocks, last.network.channels), (8, 32));
    assert!(last.train.rate_end < last.train.rate, "the rate falls at the end");
}

#[test]
fn what_is_no_toml_and_what_is_not_there() {
    let message = TrainConfig::parse("[run\nseed = 1", "torn.toml").unwrap_err().to_string();
    assert!(message.starts_with("configuration torn.toml is not TOML: "), "{message}");
    assert!(message.contains("line 1"), "{message}");
    let message = TrainConfig::load("no-such-config").unwrap_err().to_string();
    assert!(message.contains("no-such-config"), "{message}");
    assert!(message.contains("one of quick, brandubh, copenhagen, copenhagen-gpu, tafl"), "{message}");
}

#[test]
fn a_changed_configuration_is_checked_too() {
    let mut config = TrainConfig::default();
    config.train.weight_decay = f32::NAN;
    config.network.channels = 0;
    config.run.seed = u64::MAX;
    let keys: Vec<String> = config.validate().into_iter().map(|error| error.key).collect();
    assert!(!keys.is_empty(), "{keys:?}");
    config.run.seed = 1;
    let mut keys: Vec<String> = config.validate().into_iter().map(|error| error.key).collect();
    keys.sort();
    assert_eq!(keys, ["network.channels", "train.weight_decay"]);
}

#[test]
fn keys_change_on_the_command_line() {
    let with = |changes: &[&str]| {
        let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
        TrainConfig::load_with("quick", &changes)
    };
    let config = with(&["search.c_scale=0.25", "budget.playouts=[4, 8]", "run.seed=7"]).unwrap();
    assert_eq!((config.search.c_scale, config.budget.playouts, config.run.seed), (0.25, vec![4, 8], 7));
    let refused = |change: &str| with(&[change]).unwrap_err().to_string();
    assert!(refused("search.c_scale").contains("expected KEY=VALUE such as search.c_scale=0.3"));
    assert!(refused("search.c_scale=11").contains("search.c_scale = 11: expected number, 0 to 10"));
    for (change, meant) in [
        ("search.c_skale=1", "search.c_scale"),
        ("trian.rate=0.1", "train"),
        ("search.batch=64", "train.batch"),
        ("budget.clock=procesor", "processor"),
        ("run.device=cdua:1", "cuda:1"),
        ("selfplay.rulesets=[{ rules = \"brandub\", share = 1 }]", "brandubh"),
        ("selfplay.resign.treshold=0.1", "selfplay.resign.threshold"),
    ] {
        let message = refused(change);
        assert!(message.ends_with(&format!("; did you mean {meant}?")), "{change}: {message}");
    }
    assert!(!refused("colour=3").contains("did you mean"));
    let message = TrainConfig::load("qiuck").unwrap_err().to_string();
    assert!(message.contains("expected a TOML file or one of quick, ") && message.ends_with("; did you mean quick?"));
}

#[test]
fn threads_that_find_no_games_are_told() {
    let selfplay = TrainConfig::default().selfplay;
    assert_eq!(selfplay.idle_threads(4), None);
    let text = selfplay.idle_threads(16).unwrap();
    assert!(text.contains("4 of 16 threads") && text.contains("selfplay.games_in_flight=512"), "{text}");
}
