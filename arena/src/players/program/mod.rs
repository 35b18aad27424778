//! What players by external programs have in common in either protocol.
//!
//! | file | what it does |
//! |---|---|
//! | `process` | a child process that cannot block, flood or outlive its player |
//! | `words` | how a command becomes words |

mod process;
mod words;

pub(super) use process::Process;
pub(super) use words::{seconds, split};
