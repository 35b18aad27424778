//! What a network sees and says: encoding, policy index, evaluations, the burn network, evaluators and checkpoints.
//!
//! A position becomes [`Features`] (binary planes as bitboards and a global vector) by the [`Encoding`] of the network,
//! an [`Evaluator`] turns requests into win/draw/loss, priors over the legal moves and, on request, auxiliary
//! predictions. The burn [`Network`] is the oracle; faster evaluators take their weights from it, and other programs
//! get it as an ONNX file ([`Checkpoint::onnx_bytes`]).

mod auxiliary;
mod burn_evaluator;
mod checkpoint;
mod conversion;
mod cpu;
mod device;
mod devices;
pub mod encoding;
mod evaluation;
pub mod fused;
mod growth;
mod hashing;
pub mod json;
mod kernels;
mod mixing;
pub mod names;
mod network;
mod onnx;
mod outputs;
mod parameters;
mod policy;
mod precision;
mod pretrained;
mod uniform;
mod weights;

pub use auxiliary::{Auxiliaries, AuxiliaryHeads, AuxiliaryOutputs, KING_ENDINGS, OTHER_ENDINGS};
pub use burn_evaluator::BurnEvaluator;
pub use checkpoint::{CARD_FILE, CARD_FORMAT, Card, Checkpoint, CheckpointError, WEIGHTS_FILE};
pub use cpu::{CpuEvaluator, CpuNetwork, CpuNetworkError, spin_multiply_adds};
pub use device::{DeviceChoice, DeviceReport, evaluator, set_device_trial};
pub use devices::{DeviceList, evaluators};
pub use encoding::{ENCODING_VERSION, Encoding, Features, GLOBALS, PLANES, plane};
pub use evaluation::{EvalError, EvalRequest, Evaluation, Evaluations, Evaluator, Wdl};
pub use growth::counterpart;
pub use hashing::HashEvaluator;
pub use network::{Heads, Network, NetworkConfig};
pub use outputs::RawOutputs;
pub use policy::{POLICY_PLANES, PolicyIndex};
pub use precision::{Precision, PrecisionChoice, TrainPrecision, TrainPrecisionChoice};
pub use pretrained::{pretrained, pretrained_for, pretrained_names};
pub use uniform::UniformEvaluator;
