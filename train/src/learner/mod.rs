//! The learner: a network in training, its optimiser, and the averaged weights, which play.
//!
//! A step takes a batch split into equal shards, each with threads of its own:
//!
//! 1. every shard runs its own copy of the network forward and backward, with batch statistics of its own samples;
//! 2. the gradients are averaged in shard order and clipped by their norm over all parameters;
//! 3. Muon updates the weights of the hidden layers, and AdamW the rest; biases and normalisation parameters do not
//!    decay;
//! 4. the averaged weights move towards the new weights.
//!
//! Each shard computes in a rayon pool of its own. Its operations add in an order that does not depend on the pool's
//! threads, so on one device the same batches give bitwise equal weights. Several devices take shards in turns. The
//! network is with the CPU; a card is sent its weights and returns gradients. A step with a loss or gradient that is
//! not finite changes nothing.

mod card;
mod device;
mod gradients;
mod growth;
mod muon;
mod state;
mod statistics;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use burn::module::{Module, ParamGroup};
use burn::optim::{AdamWConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::{Device, Tensor};
use hnefi_cuda::CardTrainer;
use hnefi_inference::TrainPrecision;
use hnefi_models::Network;
use hnefi_models::fused::PART;
use hnefi_run::LossValues;
use muon::Muon;
use serde::{Deserialize, Serialize};

pub use device::TrainingDevice;
pub use state::LearnerState;

use crate::TrainError;
use crate::batch::BatchTensors;
use crate::config::TrainSection;
use crate::loss::{LossWeights, Losses};
use hnefi_run::sample::Batch;

/// AdamW's epsilon; burn's default of 1e-5 would damp the small gradients of the heads.
const EPSILON: f32 = 1e-8;

/// Weights of all layers but the outputs and the layer that reads the rules: those move by Muon.
const HIDDEN: &str = r"(\.conv|\.pool|\.policy_conv|\.policy_pool|\.value_conv|\.value_hidden)\.weight$";

pub(crate) const CLIP_NORM: f32 = 1.0;

/// Number of consecutive steps without finite loss and gradient after which a run stops.
const BAD_STEPS: u32 = 10;

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// Losses before the step.
    pub losses: LossValues,
    /// Norm over all gradients before clipping.
    pub gradient_norm: f32,
    /// Whether loss and gradient were finite; otherwise the step changed nothing.
    pub finite: bool,
}

/// Counts since the network was initialised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepCounts {
    /// Steps taken or skipped, which is also the number of the next step.
    pub steps: u64,
    /// Samples in the steps taken.
    pub samples: u64,
    /// Number of consecutive steps at the end that were skipped because loss or gradient were not finite.
    pub skipped_in_a_row: u32,
    /// Steps in the average that the run began with.
    #[serde(default)]
    pub averaged_before: u64,
}

impl StepCounts {
    /// The counts of a run that begins with this learner: none but the steps in its average, which goes on.
    #[must_use]
    pub fn of_a_new_run(self) -> StepCounts {
        StepCounts { averaged_before: self.averaged_before + self.steps, ..StepCounts::default() }
    }
}

/// A network in training.
pub struct Learner {
    /// Without autodiff; only copies of it run.
    network: Network,
    average: Network,
    optimiser: ModuleOptimizer,
    /// The state of a trainer of its own; empty where there is none.
    command_state: Vec<u8>,
    counts: StepCounts,
    params: LearnerParams,
    devices: Vec<TrainingDevice>,
    /// For each device that is a card, what makes gradients on it.
    on_cards: Vec<Option<Mutex<CardTrainer>>>,
    pools: Vec<rayon::ThreadPool>,
}

/// The part of the configuration that a step needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearnerParams {
    /// Parts of a batch.
    pub shards: usize,
    /// Threads of each part; they do not change the result.
    pub threads: usize,
    /// Weight decay of both optimisers.
    pub weight_decay: f32,
    /// Largest norm over all gradients.
    pub clip_norm: f32,
    /// Number of steps over which weights are averaged.
    pub average_steps: u32,
    /// Number of consecutive skipped steps that ends the run.
    pub bad_steps: u32,
    /// Weights of the parts of the loss.
    pub weights: LossWeights,
    /// Precision of the tower.
    pub precision: TrainPrecision,
}

impl From<&TrainSection> for LearnerParams {
    fn from(section: &TrainSection) -> LearnerParams {
        LearnerParams {
            shards: section.shards,
            threads: threads(section.batch / section.shards.max(1), section.shards),
            weight_decay: section.weight_decay,
            clip_norm: CLIP_NORM,
            average_steps: section.average_steps,
            bad_steps: BAD_STEPS,
            weights: section.into(),
            precision: section.precision.here(),
        }
    }
}

struct ShardResult {
    gradients: GradientsParams,
    /// Total, policy, value, moves left and occupancy, `[5]`.
    losses: Tensor<1>,
    statistics: Vec<Tensor<1>>,
}

impl Learner {
    /// A learner that begins with this network, on at least one device.
    ///
    /// # Errors
    /// When the operating system refuses a thread, or a card fails.
    ///
    /// # Panics
    /// When there is no device.
    pub fn new(network: &Network, devices: &[TrainingDevice], params: LearnerParams) -> Result<Learner, TrainError> {
        assert!(!devices.is_empty(), "a learner needs a device");
        let network = network.valid();
        let average = network.valid();
        Learner::assemble(network, average, optimiser(params.weight_decay), StepCounts::default(), devices, params)
    }

    fn assemble(
        network: Network,
        average: Network,
        optimiser: ModuleOptimizer,
        counts: StepCounts,
        devices: &[TrainingDevice],
        params: LearnerParams,
    ) -> Result<Learner, TrainError> {
        let on_card = |device: &TrainingDevice| match device {
            TrainingDevice::Cpu => Ok(None),
            TrainingDevice::Card(card) => CardTrainer::new(card).map(|trainer| Some(Mutex::new(trainer))),
        };
        let on_cards = devices.iter().map(on_card).collect::<Result<_, _>>();
        let on_cards = on_cards.map_err(|error| device_error(devices, &error))?;
        let pools = (0..params.shards.max(1))
            .map(|shard| {
                let name = move |_| format!("learner-{shard}");
                rayon::ThreadPoolBuilder::new().num_threads(params.threads.max(1)).thread_name(name).build()
            })
            .collect::<Result<_, _>>()
            .map_err(|error| device_error(devices, &error))?;
        let (devices, command_state) = (devices.to_vec(), Vec::new());
        Ok(Learner { network, average, optimiser, command_state, counts, params, devices, on_cards, pools })
    }

    /// The averaged weights, which play; without autodiff.
    pub fn average(&self) -> &Network {
        &self.average
    }

    /// The weights in training, without autodiff.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The counts so far.
    pub fn counts(&self) -> StepCounts {
        self.counts
    }

    /// The state of the trainer of its own that took the latest steps; empty where there is none.
    pub(crate) fn command_state(&self) -> &[u8] {
        &self.command_state
    }

    /// Takes over what a trainer of its own has made of this learner's network in a number of steps and samples: the
    /// weights, which play, and its state.
    pub(crate) fn take_over(&mut self, network: &Network, state: Vec<u8>, steps: u64, samples: u64) {
        self.network = network.valid();
        self.average = network.valid();
        self.command_state = state;
        self.counts.steps += steps;
        self.counts.samples += samples;
    }

    /// Takes one step at learning rate `rate` on a batch that is split into the learner's number of shards.
    ///
    /// # Errors
    /// When too many steps in a row were not finite, or the device fails.
    ///
    /// # Panics
    /// When the number of shards differs.
    pub fn step(&mut self, shards: &[Batch], rate: f64) -> Result<StepReport, TrainError> {
        assert_eq!(shards.len(), self.pools.len(), "shards of a batch");
        let results = self.run_shards(shards)?;
        let first = &self.pools[0];
        let combined = first.install(|| combine(&self.network, results));
        let read = combined.numbers.clone().try_into_data().map_err(|error| self.device_error(&error))?;
        let read = read.try_to_vec::<f32>().map_err(|error| self.device_error(&error))?;
        let &[total, policy, value, moves_left, occupancy, squared] = read.as_slice() else {
            return Err(self.device_error(&format!("{} numbers came back, expected 6", read.len())));
        };
        let report = StepReport {
            losses: LossValues { total, policy, value, moves_left, occupancy },
            gradient_norm: squared.sqrt(),
            finite: total.is_finite() && squared.is_finite(),
        };
        self.counts.steps += 1;
        if report.finite {
            self.counts.samples += shards.iter().map(|shard| shard.rows as u64).sum::<u64>();
            self.counts.skipped_in_a_row = 0;
            self.apply(combined, report.gradient_norm, rate);
        } else {
            self.counts.skipped_in_a_row += 1;
            if self.counts.skipped_in_a_row >= self.params.bad_steps {
                return Err(TrainError::NotFinite {
                    step: self.counts.steps - 1,
                    count: self.counts.skipped_in_a_row,
                    loss: total,
                    norm: report.gradient_norm,
                });
            }
        }
        Ok(report)
    }

    /// The mean of the shards' gradients, before clipping, by the names of the parameters: for tests and tools.
    ///
    /// # Errors
    /// When a device fails.
    pub fn gradients(&self, shards: &[Batch]) -> Result<BTreeMap<String, Vec<f32>>, TrainError> {
        let combined = combine(&self.network, self.run_shards(shards)?);
        gradients::by_name(&self.network, &combined.gradients).map_err(|problem| self.device_error(&problem))
    }

    /// Runs all shards forward and backward at once, with the devices in turns.
    fn run_shards(&self, shards: &[Batch]) -> Result<Vec<ShardResult>, TrainError> {
        let (network, params) = (&self.network, &self.params);
        let weights = self.on_cards.iter().any(Option::is_some).then(|| network.weights()).transpose()?;
        let run = |number: usize| match (&self.on_cards[number % self.on_cards.len()], &weights) {
            (Some(trainer), Some(weights)) => {
                let mut trainer = trainer.lock().unwrap_or_else(PoisonError::into_inner);
                let result = card::run_shard(&mut trainer, network, weights, &shards[number], params);
                result.map_err(|error| self.device_error(&error))
            }
            _ => Ok(run_shard(network, &shards[number], params, &Device::flex().autodiff())),
        };
        let run = &run;
        std::thread::scope(|scope| {
            let (first, others) = (&self.pools[0], self.pools.iter().enumerate().skip(1));
            let others: Vec<_> =
                others.map(|(number, pool)| scope.spawn(move || pool.install(|| run(number)))).collect();
            let mut results = vec![first.install(|| run(0))];
            for other in others {
                match other.join() {
                    Ok(result) => results.push(result),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            results.into_iter().collect()
        })
    }

    /// Updates the network by the clipped gradients, then the averaged weights.
    fn apply(&mut self, combined: Combined, norm: f32, rate: f64) {
        let Combined { mut gradients, statistics, .. } = combined;
        let pool = &self.pools[0];
        let (network, optimiser) = (&self.network, &mut self.optimiser);
        let params = &self.params;
        // At first the average is the plain mean over all steps, so that it forgets the random start.
        let averaged = self.counts.averaged_before + self.counts.steps;
        let weight = 1.0 / averaged.min(u64::from(params.average_steps)) as f32;
        let average = &self.average;
        (self.network, self.average) = pool.install(|| {
            if norm > params.clip_norm {
                gradients::scale(network, &mut gradients, params.clip_norm / norm);
            }
            let moved = optimiser.step(rate, network.clone().train(), gradients).valid();
            let moved = statistics::replace(moved, statistics);
            let average = average.average(&moved, weight);
            (moved, average)
        });
    }

    fn device_error(&self, problem: &dyn std::fmt::Display) -> TrainError {
        device_error(&self.devices, problem)
    }
}

fn device_error(devices: &[TrainingDevice], problem: &dyn std::fmt::Display) -> TrainError {
    let names: Vec<&str> = devices.iter().map(TrainingDevice::name).collect();
    TrainError::Device { device: names.join(", "), problem: problem.to_string() }
}

/// Threads of each of `shards` shards of `rows` samples: its part of the cores, but no more than it can keep busy.
fn threads(rows: usize, shards: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    (cores / shards.max(1)).clamp(1, rows.div_ceil(PART).max(1))
}

/// Muon for the hidden layers' weights; AdamW for the rest, with decay on weights only.
fn optimiser(weight_decay: f32) -> ModuleOptimizer {
    let adamw = |decay| AdamWConfig::new().with_epsilon(EPSILON).with_weight_decay(decay).build();
    let weights = ParamGroup::from_regex(r"(^|\.)weight$").expect("the pattern is a regular expression");
    let hidden = ParamGroup::from_regex(HIDDEN).expect("the pattern is a regular expression");
    ModuleOptimizer::from(adamw(0.0)).with_group(weights, adamw(weight_decay), None).with_group(
        hidden,
        Muon::new(weight_decay),
        None,
    )
}

/// One shard's forward and backward pass on a copy of the network.
fn run_shard(network: &Network, batch: &Batch, params: &LearnerParams, device: &Device) -> ShardResult {
    // `valid` copies the running statistics; clones would share them.
    let copy = network.valid().train();
    let targets = BatchTensors::of(batch, device);
    let heads = copy.forward_in_training(targets.planes.clone(), targets.globals.clone(), params.precision);
    let losses = Losses::of(heads, &targets, &params.weights);
    let gradients = GradientsParams::from_grads(losses.total.backward(), &copy);
    let values = vec![losses.total, losses.policy, losses.value, losses.moves_left, losses.occupancy];
    ShardResult { gradients, losses: Tensor::cat(values, 0).inner(), statistics: statistics::collect(&copy) }
}

struct Combined {
    gradients: GradientsParams,
    /// The losses and the squared gradient norm, `[6]`, to be read from the device at once.
    numbers: Tensor<1>,
    statistics: Vec<Tensor<1>>,
}

/// The mean of the shards' gradients, losses and statistics.
fn combine(network: &Network, shards: Vec<ShardResult>) -> Combined {
    let count = shards.len() as f32;
    let mut shards = shards.into_iter();
    let ShardResult { mut gradients, mut losses, statistics } =
        shards.next().expect("a learner has at least one shard");
    let mut statistics = vec![statistics];
    for shard in shards {
        gradients::add(network, &mut gradients, shard.gradients);
        losses = losses + shard.losses;
        statistics.push(shard.statistics);
    }
    if count > 1.0 {
        gradients::scale(network, &mut gradients, 1.0 / count);
        losses = losses / count;
    }
    let squared = gradients::squared_norm(network, &gradients).unwrap_or_else(|| losses.zeros_like().narrow(0, 0, 1));
    Combined { gradients, numbers: Tensor::cat(vec![losses, squared], 0), statistics: statistics::mean(statistics) }
}
