//! The network in burn: its layers, training layers with gradients of their own, growth.
//!
//! What a network reads and says, checkpoints and evaluation on CPUs are in `hnefi_inference`, which does without burn.
//! The burn [`Network`] is what training changes, and the reference of the evaluators.

pub mod fused;
mod growth;
mod network;
mod outputs;
mod parameters;
mod relu;
mod weights;

pub use network::{Heads, Network, RENORM_RATIO, RENORM_SHIFT};
