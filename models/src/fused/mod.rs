//! Training at the processor's speed: the residual tower as one operation inside burn's autodiff, global pooling as
//! another, and the heads' 1x1 convolutions and the policy's look at destinations as two more.
//!
//! burn's own convolution converts layouts and copies patches; on small boards Winograd's method, forward and backward,
//! is several times faster (docs/PERFORMANCE.md). Modules, parameters and optimiser stay burn's, and burn's
//! own operations are the oracle that the gradient tests compare with.

mod backward;
mod convolution;
mod destinations;
mod global_pool;
mod network;
mod passes;
mod pointwise;
mod products;
mod squares;
mod tensors;
mod tower;

pub(crate) use network::{forward, serves_network};
pub use passes::{PART, Tower};
pub use tower::{serves, tower};
