//! A GPU: the network on it, self-play that asks it, and training steps, compared with its own matrix products.

use hnefi_engine::BoardSize;
use hnefi_inference::{
    DeviceChoice, EvalRequest, Evaluations, Evaluator, Handicap, NetworkConfig, Precision, TrainPrecision,
};
use hnefi_models::device::{Load, QUEUED};

use super::measure::Effort;
use super::{Figure, Report, board, evaluate, sample, selfplay, train};
use crate::cli::Stage;
use crate::hardware::Hardware;

/// Positions of an evaluation, and samples of a training step.
const BATCHES: [usize; 2] = [128, 1024];

/// Games in flight in self-play.
const GAMES: usize = 2048;

/// Rows and columns of the matrices whose product is the peak.
const SIDE: usize = 4096;

/// The device, if there is anything to measure on it.
///
/// # Errors
/// When it is no GPU, the stage has no part on it, or it cannot be used.
pub(super) fn open(hardware: &Hardware, choice: DeviceChoice, stage: Option<Stage>) -> anyhow::Result<Load> {
    anyhow::ensure!(choice.is_gpu(), "--device {choice}: expected cuda:N or vulkan:N; the CPU is measured without it");
    if let Some(stage) = stage.filter(|stage| ![Stage::Evaluate, Stage::Selfplay, Stage::Train].contains(stage)) {
        let stage = format!("{stage:?}").to_lowercase();
        anyhow::bail!(
            "bench {stage} --device {choice}: expected evaluate, selfplay or train, or no stage for all three"
        );
    }
    Ok(Load::on(&hardware.burn, choice)?)
}

/// Measures one stage or all of them on the 11x11 board, with the shipped size of network and a large one. The peak
/// of networks is the product of two large matrices in single precision, as burn computes it on this device.
pub(super) fn run(
    hardware: &Hardware,
    load: &Load,
    stage: Option<Stage>,
    effort: Effort,
    report: &mut Report,
) -> anyhow::Result<()> {
    let peak = products(effort, load);
    report.note(&format!("{}: {:.2} T multiply-adds/s in products of matrices", load.name(), peak / 1e12))?;
    let devices = hardware.devices.named(load.choice());
    let wanted = |one| stage.is_none_or(|stage| stage == one);
    for config in [(8, 32), (10, 128)].map(|(blocks, channels)| evaluate::network(blocks, channels, true)) {
        let work = config.multiply_adds(BoardSize::ELEVEN.side()) as f64;
        let figure = |stage, name: String, threads, value, unit, peak| Figure {
            stage,
            name,
            board: Some(board(BoardSize::ELEVEN)),
            net: Some(evaluate::network_name(&config)),
            precision: Some(Precision::F32.as_str()),
            threads,
            value,
            unit,
            peak: Some(peak),
        };
        let mut alone = 0.0;
        for batch in BATCHES {
            if wanted(Stage::Evaluate) {
                let value = forward(effort, &config, load, batch);
                let name = format!("network alone, batches of {batch}");
                report.add(figure(Stage::Evaluate, name, 1, value, "evals/s", peak / work))?;
            }
            if wanted(Stage::Evaluate) || wanted(Stage::Selfplay) {
                alone = evaluations(effort, &config, load, batch)?;
                let name = format!("evaluations, batches of {batch}");
                report.add(figure(Stage::Evaluate, name, 1, alone, "evals/s", peak / work))?;
            }
        }
        if wanted(Stage::Selfplay) {
            let threads = GAMES / hnefi_selfplay::BATCH_GAMES;
            let seconds = 10.0 * effort.seconds;
            let (value, _) =
                selfplay::play(BoardSize::ELEVEN, &config, &devices, Precision::F32, GAMES, seconds, threads)?;
            let name = format!("evaluations in self-play of {GAMES}");
            report.add(figure(Stage::Selfplay, name, threads, value, "evals/s", alone))?;
        }
        for batch in BATCHES {
            if wanted(Stage::Train) {
                let value = train::samples(
                    effort,
                    BoardSize::ELEVEN,
                    &config,
                    TrainPrecision::F32,
                    &hardware.burn.open(load.choice())?,
                    batch,
                    1,
                )?;
                let name = format!("training, batches of {batch}");
                report.add(figure(Stage::Train, name, 1, value, "samples/s", peak / (3.0 * work)))?;
            }
        }
    }
    Ok(())
}

/// Multiply-adds a second of a product of large matrices.
fn products(effort: Effort, load: &Load) -> f64 {
    let mut work = load.products(SIDE);
    effort.rate(|| {
        work();
        (QUEUED * SIDE * SIDE * SIDE) as u64
    })
}

/// Positions a second through the network, whose inputs and outputs stay on the device.
fn forward(effort: Effort, config: &NetworkConfig, load: &Load, batch: usize) -> f64 {
    let mut work = load.network(config, BoardSize::ELEVEN, batch);
    effort.rate(|| {
        work();
        (QUEUED * batch) as u64
    })
}

/// Positions a second of one thread that asks: encoding, both ways between host and device, and softmax included.
fn evaluations(effort: Effort, config: &NetworkConfig, load: &Load, batch: usize) -> anyhow::Result<f64> {
    let mut evaluator = load.evaluator(config);
    let sample = sample::positions(BoardSize::ELEVEN, batch);
    let requests: Vec<EvalRequest<'_>> = sample
        .iter()
        .map(|(position, moves)| EvalRequest { position, moves, handicap: Handicap::NONE, auxiliary: false })
        .collect();
    let (mut out, mut failed) = (Evaluations::new(), None);
    let rate = effort.rate(|| {
        if let Err(error) = evaluator.evaluate(&requests, &mut out) {
            failed.get_or_insert(error);
        }
        batch as u64
    });
    failed.map_or(Ok(rate), |error| Err(error.into()))
}
