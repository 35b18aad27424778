//! A checkpoint behind the text protocol that clients and tournament scripts speak (`docs/PLAYING.md`).
//!
//! Two threads: one reads lines, answers what cannot wait and queues the rest; the other obeys in order and watches the
//! search, which has threads of its own.
//!
//! | file | what it does |
//! |---|---|
//! | `command` | lines as commands |
//! | `reader`, `queue`, `output` | the way in, the queue between the threads, the way out |
//! | `engine` | obeys, keeps the tree from move to move, watches searches |
//! | `options`, `network`, `game`, `clock` | what is set, what judges, what is played, how long a move may take |
//! | `info` | a search as `info` lines |

mod clock;
mod command;
mod engine;
mod game;
mod info;
mod network;
mod options;
mod output;
mod queue;
mod reader;
#[cfg(test)]
mod tests;

use std::io::{BufRead, Write};
use std::sync::Arc;

use hnefi_engine::NamedRules;
use hnefi_inference::{Devices, PrecisionChoice};

use crate::PlayError;
use engine::Engine;
use network::Network;
use options::Options;
use output::Output;
use queue::CommandQueue;

/// What the engine begins with; `setoption` changes all but the device.
#[derive(Clone, Debug)]
pub struct UciParams {
    /// The rules; `None` for the first rules that the network was trained on, or Brandubh.
    pub rules: Option<NamedRules>,
    /// A checkpoint, a run, or the name of a shipped checkpoint; without, the shipped one of the rules.
    pub model: Option<String>,
    /// Threads that search together.
    pub threads: usize,
    /// Where the network runs.
    pub devices: Devices,
}

impl Default for UciParams {
    fn default() -> UciParams {
        UciParams { rules: None, model: None, threads: 1, devices: Devices::cpu() }
    }
}

/// Serves a client until it says `quit` or closes the input. At the end of the input what was asked for is still
/// answered, but searches without a limit end.
///
/// # Errors
/// When the model asked for cannot be used, or the output cannot be written.
///
/// # Panics
/// When the system cannot start a thread.
pub fn run(
    params: &UciParams,
    input: impl BufRead + Send + 'static,
    output: impl Write + Send + 'static,
) -> Result<(), PlayError> {
    let named =
        params.model.as_deref().map(|name| Network::named(name, &params.devices, PrecisionChoice::Auto)).transpose();
    let network = named.map_err(|problem| PlayError::Network { problem })?;
    let rules = engine::first_ruleset(params.rules, network.as_ref());
    let options = Options::new(rules, params.model.clone(), params.threads);
    let (queue, output) = (Arc::new(CommandQueue::default()), Arc::new(Output::new(Box::new(output))));
    options.remark(params.threads).into_iter().for_each(|text| output.info(&text));
    if let Some(network) = &network {
        output.info(&network.description);
        network.warning(rules).into_iter().for_each(|text| output.info(&text));
    }
    let (readers_queue, readers_output) = (Arc::clone(&queue), Arc::clone(&output));
    // Not joined: it may wait for a line that never comes.
    std::thread::spawn(move || reader::read(input, &readers_queue, &readers_output));
    Engine::new(&queue, &output, &params.devices, options, network).run();
    match output.failure() {
        None => Ok(()),
        Some(source) => Err(PlayError::Stream { doing: "answering the client", source }),
    }
}
