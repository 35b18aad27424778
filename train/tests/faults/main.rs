//! A tiny run of which every single operation on files, or every request to its bucket, fails once, is the last before
//! the process or the power goes, or is the moment of a real kill: afterwards the same call goes on, and the results
//! are those of a run that nothing happened to.
//!
//! `cargo test` takes a sample. All of it, by name: `cargo test --release --test faults -- --ignored faults_`.

// Numbers of the operating system and real kills.
#![cfg(unix)]

#[cfg(feature = "buckets")]
mod bucket;
mod directory;
mod kills;
mod power;
mod scene;
#[path = "../support/tiny.rs"]
mod tiny;
