//! The configuration of tiny runs.

use hnefi_train::TrainConfig;

/// Three generations of a few short games, without a ladder.
const TINY: [&str; 22] = [
    "run.precision=f32",
    "run.threads=1",
    "network.blocks=1",
    "network.channels=16",
    "network.pool_every=1",
    "network.head_channels=4",
    "network.value_hidden=8",
    "selfplay.games_in_flight=32",
    "selfplay.ply_caps={ seven = 12, nine = 12 }",
    "train.plies_per_generation=150",
    "train.batch=32",
    "train.window_base=400",
    "train.warmup_steps=4",
    "train.average_steps=5",
    "ladder.every=0",
    "ladder.opponents=[\"random\"]",
    "ladder.previous=1",
    "ladder.games=2",
    "ladder.playouts=2",
    "budget.minutes=0",
    "budget.generations=3",
    "budget.playouts=[2]",
];

/// A tiny run with these changes of its configuration.
pub fn tiny_config(changes: &[&str]) -> TrainConfig {
    let changes: Vec<String> = TINY.iter().chain(changes).map(|change| (*change).to_owned()).collect();
    TrainConfig::load_with("quick", &changes).unwrap()
}
