//! The configuration of a run: a TOML file, or one of the five that are built in.
//!
//! A key that is left out has the value that it has in `quick.toml`. Everything else that is not as it should be
//! (unknown keys, wrong types, impossible values) is reported at once, each with its key, what was found and what is
//! allowed; the ranges stand in one table, in `schema.rs`. What a run resolved its configuration to is written to its
//! `run.json`.

mod check;
mod schema;
mod stages;

use std::path::Path;

use hnefi_inference::{DeviceList, NetworkConfig, PrecisionChoice, TrainPrecisionChoice};
pub use hnefi_runs::config::Fault;
use hnefi_runs::config::forget;
use hnefi_search::{RootKind, SearchConfig};
use hnefi_selfplay::SelfPlayConfig;
use serde::{Deserialize, Serialize};

pub use stages::{Span, Stage};

use crate::TrainError;
use crate::loss::LossWeights;
use crate::sample::ValueTarget;
use crate::schedule::RateSchedule;
use crate::window::WindowParams;

/// The configurations that are built in, by name. The first one says what a key is that another one leaves out.
const BUILT_IN: [(&str, &str); 5] = [
    ("quick", include_str!("../../../configs/quick.toml")),
    ("brandubh", include_str!("../../../configs/brandubh.toml")),
    ("copenhagen", include_str!("../../../configs/copenhagen.toml")),
    ("copenhagen-gpu", include_str!("../../../configs/copenhagen-gpu.toml")),
    ("all-boards", include_str!("../../../configs/all-boards.toml")),
];

/// Everything a run is determined by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainConfig {
    /// The run as a whole.
    pub run: RunSection,
    /// Shape of the network.
    pub network: NetworkConfig,
    /// How games are played.
    pub selfplay: SelfPlayConfig,
    /// How a move is searched.
    pub search: SearchSection,
    /// How the network learns from the games.
    pub train: TrainSection,
    /// How long the run goes on.
    pub budget: BudgetSection,
    /// How strength is measured over the run.
    pub ladder: LadderSection,
    /// What the finished network is measured against.
    pub evaluate: EvaluateSection,
    /// What changes from one part of the run to the next; none for a run of one stage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
}

/// The run as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSection {
    /// Names all randomness of the run.
    pub seed: u64,
    /// Threads of self-play; 0 is one per core.
    pub threads: usize,
    /// Where self-play evaluates.
    pub device: DeviceList,
    /// What self-play computes the residual tower in, on the device `cpu`. Runs of before this key have the default.
    #[serde(default)]
    pub precision: PrecisionChoice,
    /// Where the network is trained.
    pub train_device: DeviceList,
    /// Seconds between two saves of the games in flight.
    pub save_seconds: u32,
}

/// How a move is searched: from a Gumbel root (Danihelka et al. 2022). What only players' PUCT searches have is no part
/// of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchSection {
    /// The most root moves considered; a search of n playouts considers at most n/2.
    pub considered: u32,
    /// A score q weighs `(c_visit + most visits of a move) * c_scale * q` logits.
    pub c_visit: f32,
    /// See `c_visit`.
    pub c_scale: f32,
}

/// How the network learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainSection {
    /// Training plies played per generation.
    pub plies_per_generation: u64,
    /// Samples per step.
    pub batch: usize,
    /// Parts a batch is split into, each on a thread of its own; normalised part by part.
    pub shards: usize,
    /// How often each ply is trained on, on average.
    pub reuse: f64,
    /// Highest learning rate.
    pub rate: f64,
    /// Learning rate at the end of the run.
    pub rate_end: f64,
    /// Steps over which it first rises.
    pub warmup_steps: u64,
    /// AdamW's decay of weights; biases and normalisation do not decay.
    pub weight_decay: f32,
    /// Steps over which the weights that play are averaged.
    pub average_steps: u32,
    /// Plies up to which everything is kept in the replay window.
    pub window_base: u64,
    /// Generations the window never falls under.
    pub window_generations: usize,
    /// Share of the searched value in the value target; the rest is the game's result.
    pub value_search_mix: f32,
    /// Plies after which a result counts 1/e in the value target at the run's beginning; the fading vanishes evenly
    /// towards its end; 0 is none.
    pub value_horizon: f32,
    /// Weight of the value loss; that of the policy is 1.
    pub value_weight: f32,
    /// Weight of the loss of moves left.
    pub moves_left_weight: f32,
    /// Weight of the loss of the final occupancy.
    pub occupancy_weight: f32,
    /// What the tower is computed in.
    pub precision: TrainPrecisionChoice,
}

/// What the minutes of a budget are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timepiece {
    /// Those that pass.
    Wall,
    /// Those that processors work for this program, summed over its threads.
    Processor,
}

impl Timepiece {
    /// The names a config accepts.
    pub const NAMES: [&str; 2] = ["wall", "processor"];
}

/// How long the run goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetSection {
    /// Minutes of self-play and training, kept across resumes; 0 is no limit.
    pub minutes: f64,
    /// Whose minutes.
    pub clock: Timepiece,
    /// Generations; 0 is no limit.
    pub generations: u32,
    /// Playouts a move, stage by stage, each an equal part of the run.
    pub playouts: Vec<u32>,
}

/// How strength is measured over the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LadderSection {
    /// Generations between two that climb the ladder; 0 is never.
    pub every: u32,
    /// Fixed opponents, as on the command line.
    pub opponents: Vec<String>,
    /// How many of those that climbed before each meets.
    pub previous: usize,
    /// Games of a match, half as each side.
    pub games: u32,
    /// Playouts a move of the networks.
    pub playouts: u32,
}

/// What the finished network is measured against.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluateSection {
    /// Players, as on the command line.
    pub opponents: Vec<String>,
    /// Games as each side against each opponent.
    pub games: u32,
    /// Playouts a move of the network.
    pub playouts: u32,
    /// Seconds after which no further match is begun; 0 is no limit.
    pub seconds: u32,
}

impl Default for TrainConfig {
    /// The built-in configuration `quick`.
    fn default() -> Self {
        TrainConfig::named(BUILT_IN[0].0).expect("the first built-in configuration has a name")
    }
}

impl SearchSection {
    /// What self-play searches with.
    pub fn config(&self) -> SearchConfig {
        let SearchSection { considered, c_visit, c_scale } = *self;
        SearchConfig { root: RootKind::Gumbel, considered, c_visit, c_scale, ..SearchConfig::default() }
    }
}

impl TrainSection {
    /// The learning rate over the run.
    pub fn rate_schedule(&self) -> RateSchedule {
        RateSchedule { peak: self.rate, end: self.rate_end, warmup_steps: self.warmup_steps }
    }

    /// The replay window.
    pub fn window(&self) -> WindowParams {
        WindowParams { base: self.window_base, generations: self.window_generations }
    }

    /// What the value target is made of when this part of the run, 0 to 1, is over.
    pub fn value_target(&self, progress: f64) -> ValueTarget {
        let fade = if self.value_horizon > 0.0 { (1.0 - progress) as f32 / self.value_horizon } else { 0.0 };
        ValueTarget { search_mix: self.value_search_mix, fade }
    }

    /// How much each part of the loss counts.
    pub fn loss_weights(&self) -> LossWeights {
        LossWeights {
            policy: 1.0,
            value: self.value_weight,
            moves_left: self.moves_left_weight,
            occupancy: self.occupancy_weight,
        }
    }
}

impl TrainConfig {
    /// Names of the configurations that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|&(name, _)| name)
    }

    /// A configuration that is built in; `None` when there is none of that name.
    pub fn named(name: &str) -> Option<TrainConfig> {
        let (name, text) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
        // The tests read every one of them.
        Some(TrainConfig::parse(text, name).expect("a built-in configuration has no faults"))
    }

    /// A configuration by the name of a built-in one or the path of a TOML file.
    ///
    /// # Errors
    /// When there is neither, or the file has faults.
    pub fn load(name_or_path: &str) -> Result<TrainConfig, TrainError> {
        TrainConfig::load_with(name_or_path, &[])
    }

    /// As [`TrainConfig::load`] with some keys changed: each change is a line such as `search.c_scale = 0.3`. A value
    /// that is not TOML is a text, so that `selfplay.x=name` needs no quotes.
    ///
    /// # Errors
    /// As [`TrainConfig::load`], and when a change is no `KEY=VALUE`.
    pub fn load_with(name_or_path: &str, changes: &[String]) -> Result<TrainConfig, TrainError> {
        let built_in = BUILT_IN.iter().find(|(known, _)| *known == name_or_path).map(|(_, text)| (*text).to_owned());
        let text = match built_in {
            Some(text) => text,
            None => std::fs::read_to_string(Path::new(name_or_path))
                .map_err(|source| TrainError::NoConfig { name: name_or_path.to_owned(), source })?,
        };
        let mut table = read(&text, name_or_path)?;
        for change in changes {
            fill(&mut table, changed(change)?);
        }
        TrainConfig::resolve(table, name_or_path)
    }

    /// Reads a configuration from TOML; `origin` names it in errors.
    ///
    /// # Errors
    /// When the text is no TOML, or with every fault of its keys and values.
    pub fn parse(text: &str, origin: &str) -> Result<TrainConfig, TrainError> {
        TrainConfig::resolve(read(text, origin)?, origin)
    }

    /// The configuration that a table means, with what it leaves out.
    fn resolve(mut table: toml::Table, origin: &str) -> Result<TrainConfig, TrainError> {
        let refuse = |faults| Err(TrainError::Config { origin: origin.to_owned(), faults });
        let mut faults = forget(&mut table);
        faults.extend(check::table(&table));
        if !faults.is_empty() {
            return refuse(faults);
        }
        // The first built-in configuration has every key, which a test makes sure of.
        let mut whole: toml::Table = BUILT_IN[0].1.parse().expect("a built-in configuration is TOML");
        fill(&mut whole, table);
        let config: TrainConfig = match whole.try_into() {
            Ok(config) => config,
            // Nothing that passes the schema is known to end here; if something does, it is still a fault with a name.
            Err(error) => return refuse(vec![Fault::of_whole(error.message())]),
        };
        match config.validate() {
            faults if faults.is_empty() => Ok(config),
            faults => refuse(faults),
        }
    }

    /// Every fault of the values, for a configuration made or changed by a program; empty when it can be used.
    pub fn validate(&self) -> Vec<Fault> {
        let mut faults = match toml::Table::try_from(self) {
            Ok(table) => check::table(&table),
            Err(error) => vec![Fault::of_whole(&error.to_string())],
        };
        for fault in check::relations(self).into_iter().chain(stages::relations(self)) {
            if faults.iter().all(|known| known.key != fault.key) {
                faults.push(fault);
            }
        }
        faults
    }
}

/// The table that a text holds.
fn read(text: &str, origin: &str) -> Result<toml::Table, TrainError> {
    text.parse().map_err(|error: toml::de::Error| TrainError::NotToml {
        origin: origin.to_owned(),
        problem: error.to_string().trim_end().to_owned(),
    })
}

/// The table that a change such as `search.c_scale = 0.3` means.
fn changed(change: &str) -> Result<toml::Table, TrainError> {
    let refuse = || TrainError::NotToml {
        origin: format!("change {change:?}"),
        problem: "expected KEY=VALUE such as search.c_scale=0.3".to_owned(),
    };
    let (key, value) = change.split_once('=').ok_or_else(refuse)?;
    let text = toml::Value::String(value.trim().to_owned());
    let line = format!("{key} = {value}");
    line.parse().or_else(|_| format!("{key} = {text}").parse()).map_err(|_| refuse())
}

/// Puts the values of `given` over those of `whole`, table by table.
fn fill(whole: &mut toml::Table, given: toml::Table) {
    for (name, value) in given {
        match (whole.get_mut(&name), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(value)) => fill(inner, value),
            (_, value) => {
                whole.insert(name, value);
            }
        }
    }
}
