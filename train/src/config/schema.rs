//! Every key a configuration may have, with its kind, range and unit.

use hnefi_arena::players::PlayerSpec;
use hnefi_inference::DeviceList;
use hnefi_inference::names::{MEANT, did_you_mean, ruleset};
use hnefi_runs::config::real;
use toml::Value;

/// One key.
pub(super) struct Key {
    /// Full path, such as `train.batch`.
    pub(super) path: &'static str,
    pub(super) kind: Kind,
    /// What the number counts or what the text is.
    pub(super) unit: &'static str,
}

/// What a value must be. Ranges include both ends.
pub(super) enum Kind {
    /// A whole number.
    Whole(i64, i64),
    /// A whole number that is a multiple of the third number.
    Multiple(i64, i64, i64),
    /// A real number; whole ones are accepted too.
    Real(f64, f64),
    /// `true` or `false`.
    Switch,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A device's name, or several joined by commas.
    Device,
    /// A list of whole numbers, not empty.
    Wholes(i64, i64),
    /// A list of players' specs, which may be empty.
    Players,
    /// A list of `{ rules = "name", share = number }`.
    Rulesets,
}

impl Kind {
    /// What is allowed, in words.
    pub(super) fn allowed(&self) -> String {
        match self {
            Kind::Whole(low, high) => format!("whole number, {} to {}", whole(*low), whole(*high)),
            Kind::Multiple(low, high, step) => format!("multiple of {step}, {} to {}", whole(*low), whole(*high)),
            Kind::Real(low, high) => format!("number, {low} to {high}"),
            Kind::Switch => "true or false".to_owned(),
            Kind::OneOf(names) => format!("one of {}", quoted(names)),
            Kind::Device => r#""cpu", "flex", "cuda:N", "vulkan:N", or several joined by commas"#.to_owned(),
            Kind::Wholes(low, high) => format!("list of whole numbers, each {} to {}", whole(*low), whole(*high)),
            Kind::Players => r#"list of texts such as "random", "alphabeta:2" or "rollout:200""#.to_owned(),
            Kind::Rulesets => {
                let names: Vec<&str> = hnefi_engine::Preset::ALL.iter().map(|preset| preset.name()).collect();
                format!(
                    r#"list of {{ rules = "NAME", share = NUMBER }}, shares 0 to 1000000, NAME one of {}"#,
                    quoted(&names)
                )
            }
        }
    }

    /// The end of an error about a value that is not allowed: the name that was probably meant, if it is one with a
    /// slip.
    pub(super) fn meant(&self, value: &Value) -> String {
        let texts = |list: &Value, key: Option<&str>| -> Vec<String> {
            let list = list.as_array().into_iter().flatten();
            let texts = list.filter_map(|item| key.map_or(Some(item), |key| item.get(key))?.as_str());
            texts.map(str::to_owned).collect()
        };
        // Each of these says it at the end of its own error.
        let problem = match self {
            Kind::OneOf(known) => value.as_str().map(|text| did_you_mean(text, known.iter().copied())),
            Kind::Device => value.as_str().and_then(|text| Some(text.parse::<DeviceList>().err()?.to_string())),
            Kind::Players => {
                texts(value, None).iter().find_map(|text| Some(text.parse::<PlayerSpec>().err()?.to_string()))
            }
            Kind::Rulesets => texts(value, Some("rules")).iter().find_map(|text| ruleset(text).err()),
            Kind::Whole(..) | Kind::Multiple(..) | Kind::Real(..) | Kind::Switch | Kind::Wholes(..) => None,
        };
        let problem = problem.unwrap_or_default();
        problem.rfind(MEANT).map(|at| problem[at..].to_owned()).unwrap_or_default()
    }

    /// Whether a value is allowed.
    pub(super) fn allows(&self, value: &Value) -> bool {
        let whole = |value: &Value, low: i64, high: i64| value.as_integer().is_some_and(|n| (low..=high).contains(&n));
        match self {
            Kind::Whole(low, high) => whole(value, *low, *high),
            Kind::Multiple(low, high, step) => {
                whole(value, *low, *high) && value.as_integer().is_some_and(|n| n % step == 0)
            }
            Kind::Real(low, high) => real(value).is_some_and(|x| (*low..=*high).contains(&x)),
            Kind::Switch => value.is_bool(),
            Kind::OneOf(names) => value.as_str().is_some_and(|text| names.contains(&text)),
            Kind::Device => value.as_str().is_some_and(|text| text.parse::<DeviceList>().is_ok()),
            Kind::Wholes(low, high) => {
                value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(|n| whole(n, *low, *high)))
            }
            Kind::Players => value.as_array().is_some_and(|list| list.iter().all(is_player)),
            Kind::Rulesets => value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(is_ruleset)),
        }
    }
}

fn is_player(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.parse::<PlayerSpec>().is_ok())
}

fn is_ruleset(value: &Value) -> bool {
    let Some(table) = value.as_table() else { return false };
    let rules = table.get("rules").and_then(Value::as_str).and_then(hnefi_engine::Preset::from_name);
    let share = table.get("share").and_then(real);
    let known = table.keys().all(|key| ["rules", "share"].contains(&key.as_str()));
    known && rules.is_some() && share.is_some_and(|share| (0.0..=1e6).contains(&share))
}

fn whole(number: i64) -> String {
    if number == i64::MAX { "2^63 - 1".to_owned() } else { number.to_string() }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

const fn key(path: &'static str, kind: Kind, unit: &'static str) -> Key {
    Key { path, kind, unit }
}

/// All keys, in the order of the configuration files.
pub(super) const KEYS: &[Key] = &[
    key("run.seed", Kind::Whole(0, i64::MAX), "names all randomness"),
    key("run.threads", Kind::Whole(0, 1024), "threads, 0 is one per core, or on a GPU one per 32 games"),
    key("run.device", Kind::Device, "devices"),
    key("run.precision", Kind::OneOf(&hnefi_inference::PrecisionChoice::NAMES), "precision"),
    key("run.train_device", Kind::Device, "devices"),
    key("run.save_seconds", Kind::Whole(1, 86_400), "seconds"),
    key("network.blocks", Kind::Whole(1, 100), "residual blocks"),
    key("network.channels", Kind::Whole(8, 1024), "channels"),
    key("network.pool_every", Kind::Whole(0, 100), "blocks, 0 is never"),
    key("network.head_channels", Kind::Whole(1, 1024), "channels"),
    key("network.value_hidden", Kind::Whole(1, 4096), "units"),
    key("network.role_heads", Kind::Switch, "switch"),
    key("selfplay.games_in_flight", Kind::Multiple(32, 65_536, 32), "games"),
    key("selfplay.rulesets", Kind::Rulesets, "shares of the games"),
    key("selfplay.opening_mean_plies", Kind::Real(0.0, 40.0), "plies, 0 is off"),
    key("selfplay.opening_temperature", Kind::Real(0.1, 10.0), "temperature"),
    key("selfplay.balance_doublings", Kind::Real(0.0, 8.0), "doublings, 0 is off"),
    key("selfplay.blunder_share", Kind::Real(0.0, 0.9), "share of the moves, 0 is off"),
    key("selfplay.ply_caps.seven", Kind::Whole(10, 10_000), "plies"),
    key("selfplay.ply_caps.nine", Kind::Whole(10, 10_000), "plies"),
    key("selfplay.ply_caps.eleven", Kind::Whole(10, 10_000), "plies"),
    key("selfplay.resign.enabled", Kind::Switch, "switch"),
    key("selfplay.resign.threshold", Kind::Real(0.0, 0.5), "expected score"),
    key("selfplay.resign.plies", Kind::Whole(1, 100), "turns of one side"),
    key("selfplay.resign.verify_share", Kind::Real(0.01, 1.0), "share of the games"),
    key("selfplay.resign.min_verified", Kind::Whole(1, 100_000), "games"),
    key("selfplay.resign.max_wrong", Kind::Real(0.0, 0.5), "share of the verified games"),
    key("search.considered", Kind::Whole(1, 480), "moves"),
    key("search.c_visit", Kind::Real(0.0, 1000.0), "visits"),
    key("search.c_scale", Kind::Real(0.0, 10.0), "factor"),
    key("train.plies_per_generation", Kind::Whole(1, 100_000_000), "training plies"),
    key("train.batch", Kind::Whole(2, 65_536), "samples"),
    key("train.shards", Kind::Whole(1, 64), "parts of a batch"),
    key("train.precision", Kind::OneOf(&hnefi_inference::TrainPrecisionChoice::NAMES), "precision"),
    key("train.reuse", Kind::Real(0.01, 100.0), "times"),
    key("train.rate", Kind::Real(1e-7, 1.0), "learning rate"),
    key("train.rate_end", Kind::Real(0.0, 1.0), "learning rate"),
    key("train.warmup_steps", Kind::Whole(0, 1_000_000), "steps"),
    key("train.weight_decay", Kind::Real(0.0, 1.0), "share of a weight per step and learning rate"),
    key("train.average_steps", Kind::Whole(1, 1_000_000), "steps"),
    key("train.window_base", Kind::Whole(1, 1_000_000_000), "training plies"),
    key("train.window_generations", Kind::Whole(1, 1_000_000), "generations"),
    key("train.value_search_mix", Kind::Real(0.0, 1.0), "share of the target"),
    key("train.value_horizon", Kind::Real(0.0, 1e6), "plies, 0 is no fading"),
    key("train.value_weight", Kind::Real(0.0, 100.0), "weight"),
    key("train.moves_left_weight", Kind::Real(0.0, 100.0), "weight"),
    key("train.occupancy_weight", Kind::Real(0.0, 100.0), "weight"),
    key("budget.minutes", Kind::Real(0.0, 1e7), "minutes, 0 is no limit"),
    key("budget.clock", Kind::OneOf(&super::Timepiece::NAMES), "clock"),
    key("budget.generations", Kind::Whole(0, 999_999), "generations, 0 is no limit"),
    key("budget.playouts", Kind::Wholes(2, 100_000), "playouts a move"),
    key("ladder.every", Kind::Whole(0, 999_999), "generations, 0 is never"),
    key("ladder.opponents", Kind::Players, "players as on the command line"),
    key("ladder.previous", Kind::Whole(0, 1_000), "checkpoints"),
    key("ladder.games", Kind::Multiple(2, 100_000, 2), "games a match"),
    key("ladder.playouts", Kind::Whole(2, 1_000_000), "playouts a move"),
    key("evaluate.opponents", Kind::Players, "players as on the command line"),
    key("evaluate.games", Kind::Whole(0, 100_000), "games a side, 0 is no table"),
    key("evaluate.playouts", Kind::Whole(2, 1_000_000), "playouts a move"),
    key("evaluate.seconds", Kind::Whole(0, 1_000_000), "seconds, 0 is no limit"),
];
