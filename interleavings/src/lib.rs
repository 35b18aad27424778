//! The queues of the protocol, the web board and the card, and the search on many threads, each in many orders of its
//! threads' steps (docs/TRUST.md). The files are the product's, with shuttle's locks (`build.rs`).
//!
//! Waits with a time limit wait for good here, so a thread that needs the limit to go on is found hanging.

#![cfg(test)]
// What the product uses and the tests here do not.
#![allow(dead_code)]

mod careless {
    include!(concat!(env!("OUT_DIR"), "/careless.rs"));
}
mod commands {
    include!(concat!(env!("OUT_DIR"), "/commands.rs"));
}
mod device {
    include!(concat!(env!("OUT_DIR"), "/device.rs"));
}
mod jobs {
    include!(concat!(env!("OUT_DIR"), "/jobs.rs"));
}
mod threads {
    include!(concat!(env!("OUT_DIR"), "/threads.rs"));
}
mod requests {
    include!(concat!(env!("OUT_DIR"), "/requests.rs"));
}

mod card;
mod tests;
mod tree;

/// A command of the protocol, as far as the queue looks at it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    NewGame,
    Go(u32),
}
