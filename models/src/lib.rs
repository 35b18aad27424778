//! What a network sees and says: encoding, policy index, evaluations, the burn network, evaluators and checkpoints.
//!
//! A position becomes [`Features`] (binary planes as bitboards and a global vector), an [`Evaluator`] turns requests into
//! win/draw/loss, priors over the legal moves and, on request, auxiliary predictions. The burn [`Network`] is the oracle;
//! faster evaluators take their weights from it.

mod checkpoint;
mod cpu;
mod encoding;
mod evaluation;
mod network;
mod policy;

pub use checkpoint::{Card, Checkpoint, CheckpointError};
pub use cpu::{CpuEvaluator, CpuNetwork, CpuNetworkError};
pub use encoding::{ENCODING_VERSION, Features, GLOBALS, PLANES};
pub use evaluation::{EvalError, EvalRequest, Evaluation, Evaluations, Evaluator, Wdl};
pub use network::{Heads, Network, NetworkConfig};
pub use policy::{POLICY_PLANES, PolicyIndex};
