//! The door through which games come: from this process in turns with training, from a worker in this process, or from
//! workers elsewhere.

mod elsewhere;
mod game_source;
mod generation;
mod in_process;
mod in_turns;
mod uploads;

pub(super) use elsewhere::Elsewhere;
pub(super) use game_source::GameSource;
pub(super) use generation::{Generation, Saves};
pub(super) use in_process::InProcess;
pub(super) use in_turns::InTurns;
pub(super) use uploads::Uploads;
