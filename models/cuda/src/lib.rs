//! The network on NVIDIA cards, without burn.
//!
//! The program finds the driver when it runs; nothing of NVIDIA's is needed to build it. The kernels are C++ in
//! `kernels/`, compiled once to PTX (`scripts/compile-kernels.py`), which lies beside them and in the program, and
//! which the driver translates for its card. The same C++ compiles for a CPU as a library that takes the driver's
//! place, so tests run all of this where no card is (`kernels/emulated/`).
//!
//! | file | what it does |
//! |---|---|
//! | `card` | a card: its driver, memory, and the start of kernels |
//! | `layers` | layers on a card |
//! | `network` | a network on a card, and batches through it |
//! | `requests` | requests to numbers, and numbers to answers |
//! | `training` | the gradients of a training step |
//! | `queue` | a card shared by many threads, whose requests go together |
//! | `cards` | the cards of a program by their names |
//! | `compare` | a card compared with the CPU |

mod card;
mod cards;
mod compare;
mod layers;
mod network;
mod queue;
mod requests;
mod training;

pub use card::{Card, CardError};
pub use cards::Cards;
pub use compare::compare_evaluation;
pub use network::{CardLoad, CardNetwork};
pub use training::{CardTrainer, Gradients, Renormalisation, Samples, Targets};
