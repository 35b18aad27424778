//! `hnefi imitate`: trains a network on recorded games.

use hnefi_run::config::{ConfigError, TrainConfig};
use hnefi_train::devices::choose_for_training;
use hnefi_train::learner::TrainingDevice;
use indicatif::ProgressBar;

use super::records::read_all;
use super::work::Work;
use crate::cli::ImitateArgs;
use crate::hardware::Hardware;
use crate::{output, progress};

/// The keys that imitation reads: nothing is played, and every game is in the window.
const USED: [&str; 15] = [
    "run.seed",
    "run.train_device",
    "network",
    "train.average_steps",
    "train.batch",
    "train.moves_left_weight",
    "train.occupancy_weight",
    "train.precision",
    "train.rate",
    "train.rate_end",
    "train.shards",
    "train.value_lambda",
    "train.value_weight",
    "train.warmup_steps",
    "train.weight_decay",
];

pub fn config(args: &ImitateArgs) -> Result<TrainConfig, ConfigError> {
    TrainConfig::load_part(&args.config, &args.changes, &USED)
}

pub fn run(args: ImitateArgs, hardware: &Hardware) -> anyhow::Result<()> {
    let mut config = config(&args)?;
    hnefi_data::check_new_folder(&args.out)?;
    // Check this before reading many games.
    choose_for_training(&mut config, &hardware.cards, &|text| progress::note(&ProgressBar::hidden(), text))?;
    let devices = TrainingDevice::open_all(&hardware.cards, &config.run.train_device)?;
    let games = read_all(&args.sources)?;
    let work = Work::begin(progress::share())?;
    work.bar.set_prefix("imitation");
    let learned = hnefi_train::imitate(&config, &devices, &games, args.epochs, args.from.as_deref(), &mut |so_far| {
        work.bar.set_position(1000 * so_far.step / so_far.steps.max(1));
        let losses = &so_far.losses;
        work.bar.set_message(format!(
            "step {}/{}, policy {:.3}, value {:.3}",
            so_far.step, so_far.steps, losses.policy, losses.value
        ));
        !work.is_stopped()
    })?;
    work.bar.finish_and_clear();
    learned.checkpoint.save(&args.out)?;
    let card = &learned.checkpoint.card;
    output::line(format_args!(
        "{} games, {} plies; {} steps, {} samples; policy loss {:.3} (targets {:.3}), value loss {:.3}",
        games.len(),
        learned.plies,
        card.steps,
        card.samples,
        learned.losses.policy,
        learned.entropy,
        learned.losses.value
    ))?;
    let out = args.out.display();
    output::line(format_args!("checkpoint  {out}"))?;
    output::line(format_args!("train it    {} train --config {} --from {out}", super::program(), args.config))
}
