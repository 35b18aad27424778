//! What a network sees and says, without burn: encoding, policy index, evaluations, checkpoints, and evaluation on
//! CPUs.
//!
//! A position becomes [`Features`]: binary planes as bitboards and a global vector.
//! An [`Evaluator`] turns requests into win/draw/loss, priors over the legal moves and, on request, the final occupancy
//! of the squares. [`CpuEvaluator`] is the fast one; other devices come from a [`Backend`]. Other programs get a
//! network as an ONNX file ([`Checkpoint::onnx_bytes`]).

mod architecture;
mod checkpoint;
mod cpu;
mod devices;
pub mod encoding;
mod evaluation;
mod fastest;
pub mod file;
pub mod graph;
mod handicap;
mod hashing;
pub mod json;
pub mod mixing;
pub mod names;
mod onnx;
mod policy;
mod precision;
mod pretrained;
mod printable;
mod uniform;
mod weights;

pub use architecture::{NORM_EPSILON, NetworkConfig, ShapeError};
pub use checkpoint::{
    CARD_FILE, CARD_FORMAT, Card, Checkpoint, CheckpointError, LARGEST_CARD, LARGEST_WEIGHTS, WEIGHTS_FILE,
};
pub use cpu::{CpuEvaluator, CpuNetwork, CpuNetworkError, RawOutputs, peak_multiply_adds};
pub use devices::{Backend, DeviceChoice, DeviceList, Devices, EvaluatorFactory, Trial};
pub use encoding::{ENCODING_VERSION, Features, GLOBALS, PLANES, plane};
pub use evaluation::{EvalError, EvalRequest, Evaluation, Evaluations, Evaluator, Wdl, plies_left, softmax};
pub use handicap::Handicap;
pub use hashing::HashEvaluator;
pub use policy::{DIRECTIONS, DISTANCES, POLICY_ROWS, PolicyIndex, policy_planes};
pub use precision::{Precision, PrecisionChoice, TrainPrecision, TrainPrecisionChoice};
pub use pretrained::{NotShipped, WITHOUT_NETWORK, pretrained, pretrained_card, pretrained_for, pretrained_names};
pub use printable::{printable, printable_lines};
pub use uniform::UniformEvaluator;
pub use weights::{LAST_LAYER_SCALE, WeightTensor, Weights};

/// Tries the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
