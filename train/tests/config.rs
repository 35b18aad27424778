//! Configurations: the built-in ones, and every kind of fault with its message.

use hnefi_engine::Preset;
use hnefi_train::{Fault, TrainConfig, TrainError};

const FILES: [(&str, &str); 5] = [
    ("quick", include_str!("../../configs/quick.toml")),
    ("brandubh", include_str!("../../configs/brandubh.toml")),
    ("copenhagen", include_str!("../../configs/copenhagen.toml")),
    ("copenhagen-gpu", include_str!("../../configs/copenhagen-gpu.toml")),
    ("all-boards", include_str!("../../configs/all-boards.toml")),
];

fn faults(text: &str) -> Vec<Fault> {
    match TrainConfig::parse(text, "test.toml") {
        Ok(_) => Vec::new(),
        Err(TrainError::Config { faults, .. }) => faults,
        Err(error) => panic!("{error}"),
    }
}

/// The only fault of a text, as people read it.
fn fault(text: &str) -> String {
    let faults = faults(text);
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults[0].to_string()
}

#[test]
fn built_in_configurations_have_no_faults() {
    assert_eq!(TrainConfig::names().collect::<Vec<_>>(), FILES.map(|(name, _)| name));
    for (name, _) in FILES {
        assert_eq!(TrainConfig::named(name).unwrap().validate(), []);
    }
    assert!(TrainConfig::named("nothing").is_none());
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

/// Calls `check` with the line number, the section, the key and the comment above it, for every key of a file.
fn each_key(text: &str, mut check: impl FnMut(usize, &str, &str, &str)) {
    let (mut section, mut comment) = (String::new(), String::new());
    // Stages repeat keys that stand above them.
    let text = text.split("[[stages]]").next().unwrap_or(text);
    for (number, line) in text.lines().enumerate() {
        assert!(line.len() <= 120, "line {}: longer than 120", number + 1);
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']').to_owned();
        } else if let Some(words) = line.strip_prefix("# ") {
            comment = format!("{comment} {words}");
        } else if line.starts_with([' ', ']']) {
            // Within a list that takes several lines.
        } else if let Some((key, _)) = line.split_once(" = ") {
            check(number + 1, &section, key, &std::mem::take(&mut comment));
        } else {
            comment.clear();
        }
    }
}

/// Every key stands in every file, under a comment that tells its story and then what is enforced, word for word as in
/// the message for a wrong value.
#[test]
fn every_key_is_there_and_explained() {
    fn keys(table: &toml::Table) -> usize {
        table.values().map(|value| value.as_table().map_or(1, keys)).sum()
    }
    let every = keys(&toml::Table::try_from(TrainConfig::default()).unwrap());
    for (name, text) in FILES {
        let mut count = 0;
        each_key(text, |line, section, key, comment| {
            count += 1;
            // No key may be a date.
            let message = fault(&format!("[{section}]\n{key} = 1979-05-27")).to_lowercase();
            let (_, allowed) = message.split_once("expected ").unwrap();
            let comment = comment.trim_end_matches('.').to_lowercase();
            let story = comment.strip_suffix(allowed).unwrap_or_else(|| {
                panic!("{name}.toml:{line}: {key} is explained as {comment:?}, which does not end with {allowed:?}")
            });
            assert!(story.trim().len() > 5 && story.trim().ends_with('.'), "{name}.toml:{line}: {key} has no story");
        });
        assert_eq!(count, every, "{name}.toml lacks a key");
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
        opponents = [\"alphabeta:2\", \"deepblue\"]
    ";
    let found: Vec<String> = faults(text).iter().map(Fault::to_string).collect();
    for expected in [
        "colour = 3: expected one of the sections: run, network, selfplay, search, train, budget, ladder, evaluate, stages",
        "run.seed = -1: expected whole number, 0 to 2^63 - 1 (names all randomness)",
        "run.device = \"abacus\": expected \"cpu\", \"flex\", \"cuda:N\", \"vulkan:N\", or several joined by commas (devices)",
        "network.blocks = \"many\": expected whole number, 1 to 100 (residual blocks)",
        "network.chanels = 32: expected a key of [network]: blocks, channels, pool_every, head_channels, value_hidden, \
         role_heads; did you mean network.channels?",
        "train.batch = 100000: expected whole number, 2 to 65536 (samples)",
        "train.rate = true: expected number, 0.0000001 to 1 (learning rate)",
        "selfplay.resign.threshold = 0.7: expected number, 0 to 0.5 (expected score)",
        "ladder.opponents = [\"alphabeta:2\", \"deepblue\"]: expected list of texts such as \"random\", \"alphabeta:2\" or \
         \"rollout:200\" (players as on the command line)",
    ] {
        assert!(found.iter().any(|fault| fault == expected), "{expected:?} is not among {found:#?}");
    }
    assert_eq!(found.len(), 9);
    let message = TrainConfig::parse(text, "mine.toml").unwrap_err().to_string();
    assert!(message.starts_with("configuration mine.toml: 9 faults\n  "), "{message}");
}

#[test]
fn values_that_do_not_go_together() {
    assert_eq!(
        fault("[budget]\nminutes = 0.0"),
        "budget.minutes = 0 and budget.generations = 0: expected one of the two above 0, or the run would never end"
    );
    assert_eq!(
        fault("[train]\nbatch = 100\nshards = 3"),
        "train.batch = 100 with train.shards = 3: expected a multiple of train.shards, at least 2 samples a shard"
    );
    assert_eq!(
        fault("[run]\nprecision = \"int8\"\ndevice = \"flex\""),
        "run.precision = \"int8\" with run.device = \"flex\": expected \"auto\" or \"f32\", since only the device \"cpu\" has the others"
    );
    assert_eq!(faults("[run]\nprecision = \"bf16\""), []);
    assert_eq!(faults("[run]\nprecision = \"auto\"\ndevice = \"flex,flex\""), []);
    assert_eq!(
        fault("[run]\ntrain_device = \"flex,flex,flex\"\n[train]\nshards = 2"),
        "train.shards = 2 with 3 devices in run.train_device: expected at least one part of a batch for each device"
    );
    assert_eq!(
        fault("[train]\nrate = 1e-5"),
        "train.rate_end = 0.0001: expected no more than train.rate, which is 0.00001"
    );
}

#[test]
fn lists_and_tables() {
    let rulesets = |value: &str| fault(&format!("[selfplay]\nrulesets = {value}"));
    assert!(rulesets("[]").contains("expected list of { rules = \"NAME\", share = NUMBER }"));
    assert!(rulesets("[{ rules = \"chess\", share = 1 }]").contains("NAME one of \"copenhagen\""));
    assert!(rulesets("[{ rules = \"brandubh\", share = -1 }]").starts_with("selfplay.rulesets = [{ "));
    assert!(rulesets("[{ rules = \"brandubh\", share = 0 }]").contains("one above 0"), "no share at all");
    assert!(
        rulesets("[{ rules = \"brandubh\", share = 1, since = 0.5 }]").contains("{ rules = \"NAME\", share = NUMBER }")
    );
    assert!(rulesets("[{ rules = \"brandubh\", share = 1, from = 0.5 }]").contains("a stage for each part of the run"));
    assert!(fault("[budget]\nplayouts = []").contains("list of whole numbers, each 2 to 100000"));
    assert!(fault("selfplay = 3").contains("expected a table with the keys games_in_flight, "));
    assert!(fault("[selfplay]\ngames_in_flight = 100").contains("multiple of 32, 32 to 65536"));
    let whole = TrainConfig::parse("[train]\nreuse = 3", "a whole number where a real one is meant").unwrap();
    assert_eq!(whole.train.reuse, 3.0);
}

#[test]
fn the_curriculum_that_is_shipped_goes_from_small_boards_to_large_ones() {
    let config = TrainConfig::named("all-boards").unwrap();
    let played: Vec<Vec<Preset>> =
        (0..config.stage_count()).map(|index| config.stage(index).unwrap().selfplay.rulesets_played()).collect();
    let largest = |presets: &Vec<Preset>| presets.iter().map(|preset| preset.rules().size.side()).max();
    assert_eq!(played.iter().map(largest).collect::<Vec<_>>(), [7, 9, 11].map(Some));
    assert_eq!(played[2].len(), Preset::ALL.len(), "every ruleset");
}

#[test]
fn copenhagen_goes_from_the_small_board_to_the_network_that_is_shipped() {
    let config = TrainConfig::named("copenhagen").unwrap();
    let stages: Vec<TrainConfig> = (0..config.stage_count()).map(|index| config.stage(index).unwrap()).collect();
    let rules: Vec<_> = stages.iter().map(|stage| stage.selfplay.rulesets[0].rules).collect();
    assert_eq!((rules[0], rules[1], rules.last()), (Preset::Brandubh, Preset::Copenhagen, Some(&Preset::Copenhagen)));
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
    assert!(message.contains("one of quick, brandubh, copenhagen, copenhagen-gpu, all-boards"), "{message}");
}

#[test]
fn a_changed_configuration_is_checked_too() {
    let mut config = TrainConfig::default();
    config.train.weight_decay = f32::NAN;
    config.network.channels = 0;
    config.run.seed = u64::MAX;
    let keys: Vec<String> = config.validate().into_iter().map(|fault| fault.key).collect();
    assert!(!keys.is_empty(), "{keys:?}");
    config.run.seed = 1;
    let mut keys: Vec<String> = config.validate().into_iter().map(|fault| fault.key).collect();
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
        ("ladder.opponents=[\"random\", \"alphabta:2\"]", "alphabeta:2"),
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
