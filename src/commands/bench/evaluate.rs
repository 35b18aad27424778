//! The network on the CPU.

use std::sync::Arc;

use hnefi_engine::BoardSize;
use hnefi_inference::{CpuEvaluator, CpuNetwork, Evaluations, Evaluator, NetworkConfig, Precision, Weights};

use super::measure::Effort;
use super::{Figure, Report, sample};
use crate::cli::Stage;

/// Positions in one evaluation: the number of games in a game batch.
const BATCH: usize = hnefi_selfplay::BATCH_GAMES;

/// A network to be measured, with pooling as networks are trained, or without it for comparison with other programs.
pub(super) fn network(blocks: usize, channels: usize, real: bool) -> NetworkConfig {
    let pool_every = if real { 3 } else { 0 };
    NetworkConfig { blocks, channels, pool_every, head_channels: 32, value_hidden: 64 }
}

/// Its name in figures.
pub(super) fn network_name(config: &NetworkConfig) -> String {
    let kind = if config.pool_every > 0 { "real" } else { "bench" };
    format!("{}x{} {kind}", config.blocks, config.channels)
}

/// Measures evaluations of distinct positions, in every precision that this CPU has instructions for. The peak is the
/// peak of single precision.
pub(super) fn run(effort: Effort, multiply_adds: f64, report: &mut Report) -> anyhow::Result<()> {
    let (fast, slow): (Vec<Precision>, Vec<Precision>) =
        Precision::ALL.into_iter().partition(|precision| precision.missing().is_none());
    for size in super::SIZES {
        for (blocks, channels) in [(4, 32), (6, 64)] {
            for real in [false, true] {
                let config = network(blocks, channels, real);
                for &precision in &fast {
                    for threads in effort.thread_counts() {
                        let value = evaluations(effort, size, &config, precision, threads)?;
                        let peak = threads as f64 * multiply_adds / config.multiply_adds(size.side()) as f64;
                        let figure = Figure::new(Stage::Evaluate, "evaluations", size, threads, value, "evals/s");
                        report.add(Figure { peak: Some(peak), ..figure.of(&config, precision.as_str()) })?;
                    }
                }
            }
        }
    }
    for precision in slow {
        let missing = precision.missing().unwrap_or_default();
        report.note(&format!("{precision} is not measured: it needs {missing}"))?;
    }
    Ok(())
}

/// Evaluations per second on `threads` threads, encoding and softmax included.
pub(super) fn evaluations(
    effort: Effort,
    size: BoardSize,
    config: &NetworkConfig,
    precision: Precision,
    threads: usize,
) -> anyhow::Result<f64> {
    let network = Arc::new(CpuNetwork::with_precision(&Weights::fresh(config, 1), precision)?);
    let sample = sample::positions(size, 16 * BATCH);
    Ok(effort.rate_on(threads, |_| {
        let (mut evaluator, mut out) = (CpuEvaluator::new(network.clone()), Evaluations::new());
        let mut batches = sample.chunks(BATCH).cycle();
        move || {
            let batch = batches.next().expect("the sample is not empty");
            evaluator.evaluate(&sample::requests(batch), &mut out).expect("fresh weights are finite");
            BATCH as u64
        }
    }))
}
