//! Training steps.

use hnefi_engine::BoardSize;
use hnefi_inference::{DeviceChoice, NetworkConfig, TrainPrecision};
use hnefi_models::Network;
use hnefi_train::TrainConfig;
use hnefi_train::batch::Batch;
use hnefi_train::learner::{Learner, LearnerParams};
use hnefi_train::sample::{Sampler, ValueTarget};

use super::measure::Effort;
use super::{Figure, Report, board, evaluate, sample, thread_counts};
use crate::cli::Stage;

/// Samples per step.
const BATCH: usize = 256;

/// Number of batches prepared in advance, so that only steps are measured.
const BATCHES: u64 = 4;

/// Measures samples per second, in every precision that this CPU has instructions for; a thread takes a shard of the
/// batch. The peak is the peak of single precision.
pub(super) fn run(effort: Effort, multiply_adds: f64, report: &mut Report) -> anyhow::Result<()> {
    let (fast, slow): (Vec<TrainPrecision>, Vec<TrainPrecision>) =
        TrainPrecision::ALL.into_iter().partition(|precision| precision.missing().is_none());
    for size in [BoardSize::Seven, BoardSize::Eleven] {
        for (blocks, channels) in [(4, 32), (6, 64)] {
            let config = evaluate::network(blocks, channels, true);
            for &precision in &fast {
                for threads in thread_counts() {
                    let value = samples(effort, size, &config, precision, threads)?;
                    // Forward, and backward to the inputs and to the weights.
                    let work = 3 * config.multiply_adds(size.squares());
                    report.add(Figure {
                        stage: Stage::Train,
                        name: format!("training, batches of {BATCH}"),
                        board: Some(board(size)),
                        net: Some(evaluate::network_name(&config)),
                        precision: Some(precision.as_str()),
                        threads,
                        value,
                        unit: "samples/s",
                        peak: Some(threads as f64 * multiply_adds / work as f64),
                    })?;
                }
            }
        }
    }
    for precision in slow {
        let missing = precision.missing().unwrap_or_default();
        report.note(&format!("training in {} is not measured: it needs {missing}", precision.as_str()));
    }
    Ok(())
}

fn samples(
    effort: Effort,
    size: BoardSize,
    network: &NetworkConfig,
    precision: TrainPrecision,
    shards: usize,
) -> anyhow::Result<f64> {
    let games = sample::games(size, 32);
    let sampler = Sampler::new(&games, 1, ValueTarget { search_mix: 0.0, fade: 0.0 });
    let batches: Vec<Vec<Batch>> =
        (0..BATCHES).map(|step| sampler.batch(step, BATCH, shards)).collect::<Result<_, _>>()?;
    let params = LearnerParams { shards, precision, ..LearnerParams::from(&TrainConfig::default().train) };
    let device = hnefi_models::device::open(DeviceChoice::Flex)?;
    let mut learner = Learner::new(&Network::fresh(network, 1, &device), std::slice::from_ref(&device), params)?;
    let mut batches = batches.iter().cycle();
    let mut failed = None;
    let rate = effort.rate(|| {
        let batch = batches.next().expect("there are batches");
        if let Err(error) = learner.step(batch, 1e-4) {
            failed.get_or_insert(error);
        }
        (BATCH / shards * shards) as u64
    });
    failed.map_or(Ok(rate), |error| Err(error.into()))
}
