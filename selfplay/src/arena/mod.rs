//! Matches and what they measure.
mod ratings;
mod score;
mod sprt;
pub use ratings::*;
pub use score::*;
pub use sprt::*;
