//! The network in burn: its layers, training layers with gradients of their own, burn's devices, growth.
//!
//! What a network reads and says, checkpoints and evaluation on CPUs are in `hnefi_inference`, which does without burn.
//! The burn [`Network`] is what training changes, what GPUs evaluate, and the reference of the other evaluators.

mod burn_evaluator;
pub mod device;
pub mod fused;
mod growth;
mod network;
mod outputs;
mod parameters;
mod relu;
mod weights;

pub use burn_evaluator::BurnEvaluator;
pub use network::{Heads, Network};
