//! What players by external programs have in common, whatever they speak.
//!
//! | file | what it does |
//! |---|---|
//! | `process` | a child process that cannot block, flood or outlive its player |
//! | `words` | how a command becomes words |

mod process;
mod words;

use super::{Fault, FaultKind};

pub(super) use process::{Process, Silence};
pub(super) use words::{seconds, split};

impl From<Silence> for Fault {
    fn from(silence: Silence) -> Fault {
        match silence {
            Silence::Timeout(problem) => Fault { kind: FaultKind::Timeout, problem },
            Silence::Ended(problem) => Fault { kind: FaultKind::Crash, problem },
        }
    }
}
