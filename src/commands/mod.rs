//! One file a command.

pub mod bench;
pub mod check;
mod delays;
pub mod doctor;
pub mod export;
pub mod export_net;
pub mod fetch;
pub mod imitate;
pub mod import;
pub mod judge;
pub mod ladder;
pub mod matches;
pub mod pack;
pub mod perft;
pub mod play;
mod records;
pub mod replay;
pub mod selfplay;
pub mod shell;
mod table;
pub mod train;
pub mod uci;
pub mod watch;
mod web;
pub mod worker;
