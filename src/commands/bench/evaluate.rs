//! The network on the CPU.

use std::sync::Arc;

use hnefi_engine::BoardSize;
use hnefi_models::{CpuEvaluator, CpuNetwork, DeviceChoice, EvalRequest, Evaluations, Evaluator, NetworkConfig};

use super::measure::Effort;
use super::{Figure, Report, board, sample, thread_counts};
use crate::cli::Stage;

/// Positions evaluated together, as many as the games of a lane.
const BATCH: usize = hnefi_selfplay::fleet::LANE_GAMES;

/// A network of the size that is measured: with pooling and heads for each role, or as other programs measure theirs, without.
pub(super) fn network(blocks: usize, channels: usize, real: bool) -> NetworkConfig {
    let pool_every = if real { 3 } else { 0 };
    NetworkConfig { blocks, channels, pool_every, head_channels: 32, value_hidden: 64, role_heads: real }
}

/// What figures call it.
pub(super) fn network_name(config: &NetworkConfig) -> String {
    let kind = if config.pool_every > 0 { "real" } else { "bench" };
    format!("{}x{} {kind}", config.blocks, config.channels)
}

/// Measures evaluations of distinct positions.
pub(super) fn run(effort: Effort, multiply_adds: f64, report: &mut Report) -> anyhow::Result<()> {
    for size in BoardSize::ALL {
        for (blocks, channels) in [(4, 32), (6, 64)] {
            for real in [false, true] {
                let config = network(blocks, channels, real);
                for threads in thread_counts() {
                    let value = evaluations(effort, size, &config, threads)?;
                    let peak = threads as f64 * multiply_adds / config.multiply_adds(size.squares()) as f64;
                    report.add(Figure {
                        stage: Stage::Evaluate,
                        name: "evaluations".to_string(),
                        board: Some(board(size)),
                        net: Some(network_name(&config)),
                        precision: Some("f32"),
                        threads,
                        value,
                        unit: "evals/s",
                        peak: Some(peak),
                    })?;
                }
            }
        }
    }
    Ok(())
}

/// Evaluations per second on so many threads, encoding and softmax included.
pub(super) fn evaluations(
    effort: Effort,
    size: BoardSize,
    config: &NetworkConfig,
    threads: usize,
) -> anyhow::Result<f64> {
    let network = Arc::new(CpuNetwork::new(&config.init_seeded(1, &DeviceChoice::Flex.open()?))?);
    let sample = sample::positions(size, 16 * BATCH);
    Ok(effort.rate_on(threads, |_| {
        let (mut evaluator, mut out) = (CpuEvaluator::new(network.clone()), Evaluations::new());
        let mut batches = sample.chunks(BATCH).cycle();
        move || {
            let batch = batches.next().expect("the sample is not empty");
            let requests: Vec<EvalRequest<'_>> =
                batch.iter().map(|(position, moves)| EvalRequest { position, moves, auxiliary: false }).collect();
            evaluator.evaluate(&requests, &mut out).expect("fresh weights are finite");
            BATCH as u64
        }
    }))
}
