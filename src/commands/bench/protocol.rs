//! The engine behind its protocol: speed of one search on several threads, and delay of answers to `stop` and the
//! clock.
//!
//! A client in this process talks to the engine over pipes, as another program would.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context;
use hnefi_engine::BoardSize;
use hnefi_inference::{NetworkConfig, Precision, PrecisionChoice, pretrained};
use hnefi_play::PlayError;
use hnefi_play::uci::{UciParams, run as serve};

use super::measure::{Effort, median};
use super::{Figure, Report, evaluate, preset};
use crate::cli::Stage;

/// The network. Its speed does not depend on the ruleset that it was trained on.
const NETWORK: &str = "brandubh";

/// Times before a search is stopped, varied to meet every state of the search.
const BEFORE_STOP_MS: [u64; 5] = [20, 35, 50, 65, 80];

/// Time allowed by `go movetime`.
const MOVE_TIME: Duration = Duration::from_millis(50);

/// Measures on the smallest and the largest board.
pub(super) fn run(effort: Effort, report: &mut Report) -> anyhow::Result<()> {
    let checkpoint = pretrained(NETWORK).with_context(|| format!("no checkpoint {NETWORK} is shipped"))??;
    let (network, precision) = (checkpoint.card.network, PrecisionChoice::Auto.on_cpu(&checkpoint.weights)?);
    for size in [BoardSize::SEVEN, BoardSize::ELEVEN] {
        for threads in effort.thread_counts() {
            let mut figure = |name, value, unit, peak| {
                let figure = Figure::new(Stage::Protocol, name, size, threads, value, unit);
                report.add(Figure { peak, ..figure.of(&network, precision.as_str()) })
            };
            let (speed, peak) = speed(effort, size, &network, precision, threads)?;
            figure("playouts of one search", speed, "playouts/s", Some(peak))?;
            let latencies = Client::start(size, threads)?.latencies(effort)?;
            figure("stop answered, 95 % within", percentile(latencies.stop), "ms", None)?;
            figure("clock answered, 95 % within", percentile(latencies.clock), "ms", None)?;
        }
    }
    Ok(())
}

/// Playouts per second of one search, and evaluations per second of the threads without a search.
fn speed(
    effort: Effort,
    size: BoardSize,
    network: &NetworkConfig,
    precision: Precision,
    threads: usize,
) -> anyhow::Result<(f64, f64)> {
    let (mut within, mut shares) = (Vec::new(), Vec::new());
    let mut client = Client::start(size, threads)?;
    for _ in 0..effort.repeats {
        let once = Effort { repeats: 1, ..effort };
        let alone = threads as f64 * evaluate::evaluations(once, size, network, precision, 1)?;
        client.send("ucinewgame")?;
        let began = Instant::now();
        let lines = client.ask(&format!("go movetime {}", (1000.0 * effort.seconds).ceil()))?;
        let nodes = lines.iter().rev().find_map(|line| after(line, "nodes")).context("a search without nodes")?;
        let rate = nodes / began.elapsed().as_secs_f64();
        within.push(rate);
        shares.push(rate / alone);
    }
    let within = median(within);
    Ok((within, within / median(shares)))
}

/// Milliseconds by which answers were late.
struct Latencies {
    stop: Vec<f64>,
    clock: Vec<f64>,
}

/// The 95th percentile.
fn percentile(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (0.95 * values.len() as f64).ceil() as usize;
    values.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
}

/// A client of an engine in this process.
struct Client {
    /// `None` once closed.
    input: Option<PipeWriter>,
    output: BufReader<PipeReader>,
    engine: Option<JoinHandle<Result<(), PlayError>>>,
}

impl Client {
    fn start(size: BoardSize, threads: usize) -> anyhow::Result<Client> {
        let (input, writer) = pipe()?;
        let (reader, output) = pipe()?;
        let (rules, model) = (Some(preset(size).into()), Some(NETWORK.to_string()));
        let params = UciParams { rules, model, threads, ..UciParams::default() };
        let engine = std::thread::spawn(move || serve(&params, BufReader::new(input), output));
        let mut client = Client { input: Some(writer), output: BufReader::new(reader), engine: Some(engine) };
        // Loads the network and wakes the processor.
        client.send("isready")?;
        client.until("readyok")?;
        client.ask("go nodes 200")?;
        Ok(client)
    }

    fn send(&mut self, line: &str) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("the engine's input is closed")?;
        writeln!(input, "{line}")?;
        Ok(())
    }

    /// The lines up to one with this prefix.
    fn until(&mut self, begin: &str) -> anyhow::Result<Vec<String>> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                anyhow::bail!("the engine ended before {begin}");
            }
            let found = line.starts_with(begin);
            lines.push(line);
            if found {
                return Ok(lines);
            }
        }
    }

    /// Sends a `go` line and returns the lines up to the move.
    fn ask(&mut self, line: &str) -> anyhow::Result<Vec<String>> {
        self.send(line)?;
        self.until("bestmove")
    }

    /// Delays of stopped and of timed searches. At least twenty of each, because one in twenty may exceed the figure.
    fn latencies(mut self, effort: Effort) -> anyhow::Result<Latencies> {
        let rounds =
            (effort.seconds * effort.repeats as f64 / MOVE_TIME.as_secs_f64()).ceil().clamp(20.0, 1000.0) as usize;
        let (mut stop, mut clock) = (Vec::new(), Vec::new());
        let milliseconds = |time: Duration| 1000.0 * time.as_secs_f64();
        for round in 0..rounds {
            if round % 10 == 0 {
                self.send("ucinewgame")?;
            }
            self.send("go infinite")?;
            std::thread::sleep(Duration::from_millis(BEFORE_STOP_MS[round % BEFORE_STOP_MS.len()]));
            let stopped = Instant::now();
            self.ask("stop")?;
            stop.push(milliseconds(stopped.elapsed()));
            let began = Instant::now();
            self.ask(&format!("go movetime {}", MOVE_TIME.as_millis()))?;
            clock.push(milliseconds(began.elapsed().saturating_sub(MOVE_TIME)));
        }
        Ok(Latencies { stop, clock })
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The end of its input ends the engine.
        self.input = None;
        if let Some(engine) = self.engine.take() {
            let _ = engine.join();
        }
    }
}

/// The number after a word.
fn after(line: &str, key: &str) -> Option<f64> {
    line.split(' ').skip_while(|&word| word != key).nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_leaves_out_one_in_twenty() {
        let values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        assert_eq!(percentile(values), 19.0);
        assert_eq!(percentile(vec![3.0]), 3.0);
        assert_eq!(percentile(Vec::new()), 0.0);
    }
}
