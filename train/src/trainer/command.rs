//! A trainer of one's own: a command that takes the steps of a generation in place of the learner (docs/TRAINER.md).
//!
//! It is given tasks, a line of JSON each, and answers with lines of JSON. Everything a task names lies in a folder for
//! the time of the process, made of what the run holds, so that a run in a bucket is trained as one in a directory, and
//! nothing that the command does touches the run. Its state is an object of the run, like the optimiser's moments.

use std::collections::btree_map::Range;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use burn::tensor::Device;
use hnefi_arena::players::Process;
use hnefi_inference::file;
use hnefi_inference::{Card, LARGEST_WEIGHTS, NetworkConfig, WEIGHTS_FILE, Weights, json, printable};
use hnefi_models::Network;
use hnefi_run::sample::ValueTarget;
use hnefi_run::store::LARGEST_TRAINER_STATE;
use hnefi_run::{GameRecord, LossValues, encode_games};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::TrainError;
use crate::config::{TrainConfig, TrainSection};
use crate::learner::Learner;

/// How often the caller is asked whether to go on.
const LOOK: Duration = Duration::from_millis(100);

pub(super) struct Task<'a> {
    pub(super) config: &'a TrainConfig,
    pub(super) generation: u32,
    pub(super) first_step: u64,
    pub(super) rates: Vec<f64>,
    pub(super) value: ValueTarget,
}

/// A task as the command reads it.
#[derive(Serialize)]
struct TaskLine<'a> {
    generation: u32,
    /// A checkpoint's folder: the network to go on from.
    checkpoint: &'a Path,
    /// The state to go on from, in the first task of a process.
    state: Option<PathBuf>,
    /// The files of the replay window, oldest first.
    games: Vec<PathBuf>,
    /// The folder for `model.safetensors` and, as it likes, `trainer.state`.
    output: &'a Path,
    seed: u64,
    first_step: u64,
    rates: &'a [f64],
    value_lambda: f32,
    value_fade: f32,
    train: &'a TrainSection,
}

/// What the command answers.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    /// Steps taken of this task.
    step: u64,
    #[serde(default)]
    losses: LossValues,
    /// Whether the task is done, with the weights in their place.
    #[serde(default)]
    finished: bool,
    /// Samples in these steps, if not a batch each.
    samples: Option<u64>,
}

pub(super) struct TrainerCommand {
    command: String,
    words: Vec<String>,
    /// Started, and without a task yet.
    begun: Option<Process>,
    running: Option<Running>,
}

struct Running {
    process: Process,
    folder: TempDir,
    /// The network of its latest task.
    network: NetworkConfig,
}

impl TrainerCommand {
    pub(super) fn new(command: &str) -> Result<TrainerCommand, TrainError> {
        let open = || refused(command, "it ends within a quotation".to_owned());
        let words = shlex::split(command).ok_or_else(open)?;
        if words.is_empty() {
            return Err(refused(command, "expected a program and its arguments".to_owned()));
        }
        let begun = Some(start(command, &words)?);
        Ok(TrainerCommand { command: command.to_owned(), words, begun, running: None })
    }

    /// Has the steps of a task taken, and gives the learner what came of them. `goes_on` is called with the steps taken,
    /// several times a second, and says whether to wait on. Returns the mean losses, or `None` when it said no; then the
    /// process is gone, and the task is given again.
    pub(super) fn train(
        &mut self,
        learner: &mut Learner,
        window: Range<'_, u32, Vec<GameRecord>>,
        task: &Task<'_>,
        goes_on: &mut dyn FnMut(Option<(u64, LossValues)>) -> Result<bool, TrainError>,
    ) -> Result<Option<LossValues>, TrainError> {
        let trained = self.steps(learner, window, task, goes_on);
        if !matches!(trained, Ok(Some(_))) {
            self.running = None;
        }
        trained
    }

    fn steps(
        &mut self,
        learner: &mut Learner,
        window: Range<'_, u32, Vec<GameRecord>>,
        task: &Task<'_>,
        goes_on: &mut dyn FnMut(Option<(u64, LossValues)>) -> Result<bool, TrainError>,
    ) -> Result<Option<LossValues>, TrainError> {
        let TrainerCommand { command, words, begun, running } = self;
        let failed = |problem: String| refused(command, format!("generation {}: {problem}", task.generation));
        let broken = |error: io::Error| failed(error.to_string());
        let network = task.config.network;
        // What it holds is of the network before.
        running.take_if(|running| running.network != network);
        let (new, running) = match running {
            Some(running) => (false, running),
            none => {
                let folder = tempfile::tempdir().map_err(broken)?;
                let process = begun.take().map_or_else(|| start(command, words), Ok)?;
                (true, none.insert(Running { process, folder, network }))
            }
        };
        let place = running.folder.path();
        let (checkpoint, output, state) = (place.join("checkpoint"), place.join("output"), place.join("state"));
        for folder in [&checkpoint, &output].into_iter().filter(|folder| folder.exists()) {
            fs::remove_dir_all(folder).map_err(broken)?;
        }
        fs::create_dir(&output).map_err(broken)?;
        let counts = learner.counts();
        let (steps, samples) = (counts.steps, counts.samples);
        let card = Card { generation: task.generation - 1, steps, samples, ..Card::new(network) };
        learner.average().checkpoint(card)?.save(&checkpoint)?;
        let has_state = new && !learner.command_state().is_empty();
        if has_state {
            fs::write(&state, learner.command_state()).map_err(broken)?;
        }
        let line = TaskLine {
            generation: task.generation,
            checkpoint: &checkpoint,
            state: has_state.then_some(state),
            games: lay_out(place, window).map_err(broken)?,
            output: &output,
            seed: task.config.run.seed,
            first_step: task.first_step,
            rates: &task.rates,
            value_lambda: task.value.lambda,
            value_fade: task.value.fade,
            train: &task.config.train,
        };
        // A path may be no text.
        running.process.send(serde_json::to_string(&line).map_err(|error| failed(error.to_string()))?);

        let awaited = "it had finished its task";
        let mut told = None;
        let (losses, samples) = loop {
            if !goes_on(told.take())? {
                return Ok(None);
            }
            let Some(line) = running.process.line(LOOK, awaited).map_err(|error| failed(error.problem))? else {
                continue;
            };
            let answer: Answer = json::from_slice(line.as_bytes()).map_err(|error| {
                let shown: String = line.chars().take(60).collect();
                let expected = "expected {\"step\": N, \"losses\": {...}, \"finished\": true}";
                failed(format!("it wrote {:?}: {error}; {expected}", printable(&shown)))
            })?;
            if answer.finished {
                let samples = answer.samples.unwrap_or(answer.step.saturating_mul(task.config.train.batch as u64));
                json::check(json::COUNT, &[("samples", samples)]).map_err(|error| failed(error.to_string()))?;
                break (answer.losses, samples);
            }
            told = Some((answer.step, answer.losses));
        };
        let path = output.join(WEIGHTS_FILE);
        let bytes =
            file::read(&path, LARGEST_WEIGHTS).map_err(|error| failed(format!("{}: {error}", path.display())))?;
        let weights = Weights::from_safetensors(&network, &bytes, &path).map_err(|error| failed(error.to_string()))?;
        let path = output.join(super::saved::COMMAND_STATE);
        let state = match file::read(&path, LARGEST_TRAINER_STATE) {
            Ok(state) => state,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(failed(format!("{}: {error}", path.display()))),
        };
        learner.take_over(&Network::load(&weights, &Device::flex())?, state, task.rates.len() as u64, samples);
        Ok(Some(losses))
    }
}

/// Writes the games of the window as files, one a generation, and removes the others.
fn lay_out(place: &Path, window: Range<'_, u32, Vec<GameRecord>>) -> io::Result<Vec<PathBuf>> {
    let folder = place.join("games");
    fs::create_dir_all(&folder)?;
    let mut paths = Vec::new();
    for (generation, games) in window {
        let path = folder.join(format!("{generation:06}.hgames"));
        if !path.exists() {
            fs::write(&path, encode_games(games))?;
        }
        paths.push(path);
    }
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if !paths.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(paths)
}

fn start(command: &str, words: &[String]) -> Result<Process, TrainError> {
    Process::start(words).map_err(|error| refused(command, format!("{:?} cannot be started: {error}", words[0])))
}

fn refused(command: &str, problem: String) -> TrainError {
    TrainError::Command { command: command.to_owned(), problem }
}
