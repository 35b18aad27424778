//! `hnefi imitate`: trains a network on recorded games.

use std::sync::atomic::Ordering;

use super::records::read_all;
use crate::cli::ImitateArgs;
use crate::{interrupt, output, progress};

/// Trains and writes the checkpoint.
pub fn run(args: ImitateArgs) -> anyhow::Result<()> {
    let config = hnefi_train::config::load(&args.config, &args.changes)?;
    hnefi_data::check_new_folder(&args.out)?;
    // Check this before reading many games.
    hnefi_models::device::open_all(&config.run.train_device)?;
    let games = read_all(&args.sources)?;
    let stop = interrupt::stop_flag()?;
    let bar = progress::share();
    bar.set_prefix("imitation");
    let learned = hnefi_train::imitate(&config, &games, args.epochs, args.from.as_deref(), &mut |so_far| {
        bar.set_position(1000 * so_far.step / so_far.steps.max(1));
        let losses = &so_far.losses;
        bar.set_message(format!(
            "step {}/{}, policy {:.3}, value {:.3}",
            so_far.step, so_far.steps, losses.policy, losses.value
        ));
        !stop.load(Ordering::SeqCst)
    })?;
    bar.finish_and_clear();
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
    output::line(format_args!("train it    cargo run --release -- train --config {} --from {out}", args.config))
}
