//! Training steps.

use hnefi_engine::BoardSize;
use hnefi_inference::{NetworkConfig, TrainPrecision, Weights};
use hnefi_models::Network;
use hnefi_run::sample::{Batch, Sampler, ValueTarget};
use hnefi_train::TrainConfig;
use hnefi_train::learner::{Learner, LearnerParams, StepReport, TrainingDevice};

use super::measure::Effort;
use super::{Figure, Report, evaluate, sample};
use crate::cli::Stage;

/// Samples per step.
const BATCH: usize = 256;

/// Value targets; they hardly cost anything.
const TARGET: ValueTarget = ValueTarget { lambda: 1.0, fade: 0.0 };

/// Number of batches prepared in advance, so that only steps are measured.
const BATCHES: u64 = 4;

/// Measures samples per second, in every precision that this CPU has instructions for. On more threads than one a batch
/// has two shards, as by default, and each shard half of the threads. The peak is the peak of single precision.
pub(super) fn run(effort: Effort, multiply_adds: f64, report: &mut Report) -> anyhow::Result<()> {
    let (fast, slow): (Vec<TrainPrecision>, Vec<TrainPrecision>) =
        TrainPrecision::ALL.into_iter().partition(|precision| precision.missing().is_none());
    for size in [BoardSize::SEVEN, BoardSize::ELEVEN] {
        let name = format!("preparing batches of {BATCH}");
        report.add(Figure::new(Stage::Train, &name, size, 1, prepared(effort, size)?, "samples/s"))?;
        for (blocks, channels) in [(4, 32), (6, 64)] {
            let config = evaluate::network(blocks, channels, true);
            for &precision in &fast {
                for threads in effort.thread_counts() {
                    let value = samples(effort, size, &config, precision, TrainingDevice::Cpu, BATCH, threads)?;
                    // Forward, and backward to the inputs and to the weights.
                    let work = 3 * config.multiply_adds(size.side());
                    let peak = Some(threads as f64 * multiply_adds / work as f64);
                    let name = format!("training, batches of {BATCH}");
                    let figure = Figure::new(Stage::Train, &name, size, threads, value, "samples/s");
                    report.add(Figure { peak, ..figure.of(&config, precision.as_str()) })?;
                }
            }
        }
    }
    for precision in slow {
        let missing = precision.missing().unwrap_or_default();
        report.note(&format!("training in {} is not measured: it needs {missing}", precision.as_str()))?;
    }
    Ok(())
}

/// Samples per second that one thread prepares: draws, replays, encodes and puts into batches.
fn prepared(effort: Effort, size: BoardSize) -> anyhow::Result<f64> {
    let games = sample::games(size, 32);
    let sampler = Sampler::new(&games, 1, TARGET);
    let mut step = 0;
    effort.try_rate(|| {
        step += 1;
        sampler.batch(step, BATCH, 2).map(|_| BATCH as u64)
    })
}

/// Samples per second of training steps; the batch has two shards where there are two threads.
pub(super) fn samples(
    effort: Effort,
    size: BoardSize,
    network: &NetworkConfig,
    precision: TrainPrecision,
    device: TrainingDevice,
    batch: usize,
    threads: usize,
) -> anyhow::Result<f64> {
    let shards = threads.min(2);
    let games = sample::games(size, 32);
    let sampler = Sampler::new(&games, 1, TARGET);
    let batches: Vec<Vec<Batch>> =
        (0..BATCHES).map(|step| sampler.batch(step, batch, shards)).collect::<Result<_, _>>()?;
    let mut learner = learner(network, precision, device, shards, threads / shards)?;
    let mut batches = batches.iter().cycle();
    effort.try_rate(|| {
        let next = batches.next().expect("there are batches");
        learner.step(next, 1e-4).map(|_| (batch / shards * shards) as u64)
    })
}

/// A learner of a fresh network.
fn learner(
    network: &NetworkConfig,
    precision: TrainPrecision,
    device: TrainingDevice,
    shards: usize,
    threads: usize,
) -> anyhow::Result<Learner> {
    let params = LearnerParams { shards, threads, precision, ..LearnerParams::from(&TrainConfig::default().train) };
    let network = Network::load(&Weights::fresh(network, 1), &Default::default())?;
    Ok(Learner::new(&network, &[device], params)?)
}

/// One step of a fresh network on a small batch.
pub(super) fn step(
    size: BoardSize,
    network: &NetworkConfig,
    precision: TrainPrecision,
    device: TrainingDevice,
) -> anyhow::Result<StepReport> {
    let batch = Sampler::new(&sample::games(size, 4), 1, TARGET).batch(0, 8, 1)?;
    Ok(learner(network, precision, device, 1, 1)?.step(&batch, 1e-4)?)
}
