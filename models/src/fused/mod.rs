//! Training at the processor's speed: one convolution layer with its normalisation, skip, bias and ReLU as one operation
//! inside burn's autodiff.
//!
//! burn's own convolution converts layouts and copies patches; on small boards Winograd's method, forward and backward, is
//! several times faster (`cargo bench -p hnefi-benches`). Modules, parameters and optimiser stay burn's, and burn's own operations are the oracle
//! that the gradient tests compare with.

mod convolution;
mod network;
mod op;
mod passes;

pub(crate) use network::{forward, serves_network};
pub use op::{ConvNormInputs, conv_norm, serves};
