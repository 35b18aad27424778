//! What can be said on the command line.

mod data;
#[cfg(test)]
mod documents;
mod measuring;
mod playing;
mod training;

use clap::{Parser, Subcommand};
use hnefi_engine::{Preset, Rules};

pub use data::{ExportArgs, ExportNetArgs, ImportArgs};
pub use measuring::{BenchArgs, DoctorArgs, JudgeArgs, LadderArgs, MatchArgs, PerftArgs, Stage};
pub use playing::{PlayArgs, Seat, ServeArgs, UciArgs, WatchArgs};
pub use training::{
    CheckArgs, FetchArgs, ImitateArgs, PackArgs, SelfplayArgs, StoreArgs, TrainArgs, UnpackArgs, WorkerArgs,
};

/// A self-play training toolkit for Hnefatafl (Viking chess).
#[derive(Debug, Parser)]
#[command(name = "hnefi", version, about, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train a network from random weights by self-play; the same command resumes.
    Train(TrainArgs),
    /// Play games for a run that is trained elsewhere; any number of workers, on any machines (docs/SCALING.md).
    Worker(WorkerArgs),
    /// Copy a run from a bucket into a directory.
    Fetch(FetchArgs),
    /// Play self-play games and write their records.
    Selfplay(SelfplayArgs),
    /// Play in the terminal or, with --web, in a browser.
    Play(PlayArgs),
    /// Serve a program by a UCI-style text protocol (docs/PLAYING.md).
    Uci(UciArgs),
    /// Watch a training run, in the terminal or in a browser.
    Watch(WatchArgs),
    /// Let two players meet and measure the difference.
    Match(MatchArgs),
    /// Check whether a run, or a pack of one, is whole (docs/RUNS.md).
    Check(CheckArgs),
    /// Rate the checkpoints of a run, in Elo per side.
    Ladder(LadderArgs),
    /// Put a run into a few files of bounded size.
    Pack(PackArgs),
    /// Make a run of such files again.
    Unpack(UnpackArgs),
    /// Write the games of a run for other tools: Parquet, NumPy, JSON lines, PGN.
    Export(ExportArgs),
    /// Read games that people played into a record file.
    Import(ImportArgs),
    /// Train a network on recorded games, to begin self-play with.
    Imitate(ImitateArgs),
    /// Compare a checkpoint with recorded games: move agreement and value calibration.
    Judge(JudgeArgs),
    /// Write a checkpoint's network for other programs (ONNX).
    ExportNet(ExportNetArgs),
    /// Check games: lines of JSON in, a line of JSON each out.
    Replay,
    /// Count the move sequences of a given length.
    Perft(PerftArgs),
    /// Measure how fast this machine runs each stage.
    Bench(BenchArgs),
    /// Say what this machine can run and what would be chosen.
    Doctor(DoctorArgs),
}

/// Reads a preset's name.
fn preset(text: &str) -> Result<Preset, String> {
    Preset::from_name(text).ok_or_else(|| {
        let names: Vec<&str> = Preset::ALL.iter().map(|preset| preset.name()).collect();
        format!("unknown ruleset {text:?}: expected one of {}", names.join(", "))
    })
}

/// The position a `--fen` names, or the start.
pub fn position(rules: &Rules, fen: Option<&str>) -> anyhow::Result<hnefi_engine::Position> {
    Ok(match fen {
        Some(fen) => hnefi_engine::Position::from_fen(rules, fen)?,
        None => hnefi_engine::Position::start(rules),
    })
}
