//! A card: the network on it, self-play that asks it, and training steps.

use std::sync::Arc;

use anyhow::Context;
use hnefi_cuda::{Card, CardLoad, CardNetwork};
use hnefi_engine::BoardSize;
use hnefi_inference::{DeviceChoice, NetworkConfig, PrecisionChoice, TrainPrecision, Weights};
use hnefi_train::learner::TrainingDevice;

use super::measure::Effort;
use super::{Figure, Report, evaluate, sample, selfplay, train};
use crate::cli::Stage;
use crate::hardware::Hardware;

/// Positions of an evaluation, and samples of a training step.
const BATCHES: [usize; 3] = [32, 256, 1024];

/// How far the losses and gradients of a card may be from the CPU's, as a share.
const TOLERANCE: f32 = 0.02;

/// Games in flight in self-play.
const GAMES: usize = 2048;

/// The card, if there is anything to measure on it.
///
/// # Errors
/// When it is no card, the stage has no part on it, or it cannot be used.
pub(super) fn open(hardware: &Hardware, choice: DeviceChoice, stage: Option<Stage>) -> anyhow::Result<Arc<Card>> {
    if let Some(stage) = stage.filter(|stage| ![Stage::Evaluate, Stage::Selfplay, Stage::Train].contains(stage)) {
        let stage = format!("{stage:?}").to_lowercase();
        anyhow::bail!(
            "bench {stage} --device {choice}: expected evaluate, selfplay or train, or no stage for all three"
        );
    }
    let card = hardware.cards.of(choice)?;
    card.with_context(|| format!("--device {choice}: expected cuda:N; the CPU is measured without it"))
}

/// Measures one stage or all of them on the 11x11 board, with the shipped size of network and larger ones.
pub(super) fn run(
    hardware: &Hardware,
    (choice, card): (DeviceChoice, &Arc<Card>),
    stage: Option<Stage>,
    effort: Effort,
    report: &mut Report,
) -> anyhow::Result<()> {
    report.note(&format!("{}, {} multiprocessors", card.name(), card.multiprocessors()))?;
    let devices = hardware.devices.named(choice);
    let wanted = |one| stage.is_none_or(|stage| stage == one);
    for config in [(8, 32), (10, 128), (15, 192)].map(|(blocks, channels)| evaluate::network(blocks, channels, true)) {
        let figure = |stage, name: &str, precision, threads, value, unit, peak| Figure {
            peak,
            ..Figure::new(stage, name, BoardSize::ELEVEN, threads, value, unit).of(&config, precision)
        };
        let mut alone = None;
        for batch in BATCHES {
            if wanted(Stage::Evaluate) || wanted(Stage::Selfplay) {
                let network = Arc::new(CardNetwork::new(card, &Weights::fresh(&config, 1))?);
                let value = evaluations(effort, &network, batch)?;
                let name = format!("evaluations, batches of {batch}");
                report.add(figure(Stage::Evaluate, &name, "f16", 1, value, "evals/s", None))?;
                alone = Some(value);
            }
        }
        if wanted(Stage::Selfplay) {
            let threads = GAMES / hnefi_selfplay::BATCH_GAMES;
            let (seconds, precision) = (10.0 * effort.seconds, PrecisionChoice::Auto);
            let devices: (_, &dyn Fn() -> _) = (&devices, &|| card.busy());
            let played = selfplay::play(BoardSize::ELEVEN, &config, devices, precision, GAMES, seconds, threads)?;
            let name = format!("evaluations in self-play of {GAMES}");
            report.add(figure(Stage::Selfplay, &name, "f16", threads, played.rate, "evals/s", alone))?;
            let name = "time in which the card has work";
            report.add(figure(Stage::Selfplay, name, "f16", threads, 100.0 * played.busy, "%", None))?;
        }
        for batch in BATCHES {
            if wanted(Stage::Train) {
                let device = TrainingDevice::Card(Arc::clone(card));
                let precision = TrainPrecision::Bf16;
                let value = train::samples(effort, BoardSize::ELEVEN, &config, precision, device, batch, 1)?;
                let name = format!("training, batches of {batch}");
                report.add(figure(Stage::Train, &name, precision.as_str(), 1, value, "samples/s", None))?;
            }
        }
    }
    Ok(())
}

/// Positions a second that the card evaluates of a batch that is ready: both ways between host and card included.
fn evaluations(effort: Effort, network: &Arc<CardNetwork>, batch: usize) -> anyhow::Result<f64> {
    let sample = sample::positions(BoardSize::ELEVEN, batch);
    let mut load = CardLoad::new(network, &sample::requests(&sample))?;
    effort.try_rate(|| load.run().map(|_| batch as u64))
}

/// Compares a training step on the card with one on the CPU.
///
/// # Errors
/// When the card fails, or its losses or the norm of its gradients are others.
pub(in crate::commands) fn compare_training(card: &Arc<Card>) -> anyhow::Result<()> {
    let config = NetworkConfig { blocks: 2, channels: 32, pool_every: 2, head_channels: 8, value_hidden: 16 };
    for size in [BoardSize::SEVEN, BoardSize::ELEVEN] {
        let on = |device| train::step(size, &config, TrainPrecision::F32, device);
        let (expected, found) = (on(TrainingDevice::Cpu)?, on(TrainingDevice::Card(Arc::clone(card)))?);
        let pairs = [
            ("loss", expected.losses.total, found.losses.total),
            ("gradient", expected.gradient_norm, found.gradient_norm),
        ];
        for (what, expected, found) in pairs {
            // What is no number is not near either.
            let near = (found - expected).abs() <= TOLERANCE * expected.abs();
            anyhow::ensure!(
                near,
                "{}: the {what} of a small network is {found} where the CPU has {expected}",
                card.name()
            );
        }
    }
    Ok(())
}
