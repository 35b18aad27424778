//! `hnefi puzzles`: positions with a proven answer, for people and as a test suite for networks.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail};
use hnefi_arena::players::PlayerSpec;
use hnefi_engine::Preset;
use hnefi_inference::{file::read_text, printable};
use hnefi_puzzles::{MineParams, Puzzle, Theme, mine, orbit, read, shipped, write};
use hnefi_run::GameRecord;
use rayon::prelude::*;
use serde::Serialize;

use super::matches::describe;
use super::records::read_all;
use super::work::Work;
use crate::cli::{FindArgs, PuzzlesArgs, PuzzlesCommand, SolveArgs};
use crate::hardware::{Hardware, cores};
use crate::{interrupt, output, progress};

/// The largest file of puzzles, in bytes.
const LARGEST: u64 = 1 << 28;

/// Positions that a question of `check` may cost.
const BUDGET: u64 = 1_000_000_000;

pub fn run(args: PuzzlesArgs, hardware: &Hardware) -> anyhow::Result<()> {
    match args.command {
        PuzzlesCommand::Solve(args) => solve(&args, hardware),
        PuzzlesCommand::Find(args) => find(&args),
        PuzzlesCommand::Check { file } => check(file.as_deref()),
    }
}

/// The puzzles of a file, or the shipped ones.
fn puzzles(file: Option<&Path>) -> anyhow::Result<Vec<Puzzle>> {
    let Some(file) = file else { return Ok(shipped()) };
    let text = read_text(file, LARGEST).with_context(|| format!("reading {}", file.display()))?;
    let puzzles = read(&text).with_context(|| file.display().to_string())?;
    anyhow::ensure!(!puzzles.is_empty(), "{}: there is no puzzle in it", file.display());
    Ok(puzzles)
}

/// The line of `--json`: a player, and its right moves by theme.
#[derive(Serialize)]
struct Report {
    player: String,
    puzzles: usize,
    solved: usize,
    seconds: f64,
    themes: BTreeMap<&'static str, Count>,
    rulesets: BTreeMap<&'static str, Count>,
    interrupted: bool,
}

#[derive(Clone, Copy, Default, Serialize)]
struct Count {
    puzzles: usize,
    solved: usize,
}

impl Count {
    fn add(&mut self, solved: bool) {
        self.puzzles += 1;
        self.solved += usize::from(solved);
    }

    fn percent(self) -> String {
        format!("{:.1} %", 100.0 * self.solved as f64 / self.puzzles.max(1) as f64)
    }
}

fn solve(args: &SolveArgs, hardware: &Hardware) -> anyhow::Result<()> {
    let mut puzzles = puzzles(args.file.as_deref())?;
    puzzles.retain(|puzzle| args.rules.is_empty() || args.rules.iter().any(|rules| *rules == puzzle.rules));
    let puzzles: Vec<Puzzle> = puzzles.into_iter().step_by(args.every as usize).collect();
    if puzzles.is_empty() {
        bail!("no puzzle is of the requested rulesets");
    }
    let mut models = args.device.models(hardware);
    for player in &args.players {
        describe(player, None, &mut models)?;
    }
    let stop = interrupt::stop_flag()?;
    let threads = args.threads.map_or_else(cores, usize::from);
    let mut reports = Vec::new();
    for player in &args.players {
        let work = Work { bar: progress::count(puzzles.len(), "puzzles"), stop: Arc::clone(&stop) };
        work.bar.set_message(player.to_string());
        let begun = Instant::now();
        let solved = hnefi_arena::solve(player, &puzzles, threads, args.seed, &mut models, &mut |done| {
            work.goes_on(done, puzzles.len())
        })?;
        work.bar.finish_and_clear();
        let report = Report::new(player, &puzzles, &solved, begun.elapsed().as_secs_f64());
        if args.json {
            output::line(serde_json::to_string(&report)?)?;
        }
        let interrupted = report.interrupted;
        reports.push(report);
        if interrupted {
            break;
        }
    }
    if args.json { Ok(()) } else { output::write(|out| print(out, &reports)) }
}

impl Report {
    fn new(player: &PlayerSpec, puzzles: &[Puzzle], solved: &[bool], seconds: f64) -> Report {
        let (mut themes, mut rulesets) = (BTreeMap::<_, Count>::new(), BTreeMap::<_, Count>::new());
        for (puzzle, &solved) in puzzles.iter().zip(solved) {
            themes.entry(puzzle.theme.name()).or_default().add(solved);
            rulesets.entry(puzzle.rules.name()).or_default().add(solved);
        }
        Report {
            player: player.to_string(),
            puzzles: solved.len(),
            solved: solved.iter().filter(|&&solved| solved).count(),
            seconds,
            themes,
            rulesets,
            interrupted: solved.len() < puzzles.len(),
        }
    }

    fn whole(&self) -> Count {
        Count { puzzles: self.puzzles, solved: self.solved }
    }
}

/// A table with a column for each player.
fn print(out: &mut impl Write, reports: &[Report]) -> std::io::Result<()> {
    for (number, report) in reports.iter().enumerate() {
        writeln!(out, "{}: {}, {:.1} s", number + 1, printable(&report.player), report.seconds)?;
        if report.interrupted {
            writeln!(out, "stopped after {} puzzles", report.puzzles)?;
        }
    }
    let Some(first) = reports.first() else { return Ok(()) };
    let numbers: String = (1..=reports.len()).map(|number| format!(" {number:>8}")).collect();
    writeln!(out, "\n{:<26} {:>7}{numbers}", "right moves", "puzzles")?;
    let mut row = |name: &str, count: &dyn Fn(&Report) -> Option<Count>| {
        let cells = reports.iter().map(|report| {
            let cell = count(report).map_or_else(|| "-".to_owned(), Count::percent);
            format!(" {cell:>8}")
        });
        let puzzles = count(first).map_or(0, |count| count.puzzles);
        writeln!(out, "{name:<26} {puzzles:>7}{}", cells.collect::<String>())
    };
    for theme in Theme::ALL.iter().filter(|theme| first.themes.contains_key(theme.name())) {
        row(theme.name(), &|report| report.themes.get(theme.name()).copied())?;
    }
    for &rules in first.rulesets.keys() {
        row(rules, &|report| report.rulesets.get(rules).copied())?;
    }
    row("all", &|report| Some(report.whole()))
}

fn find(args: &FindArgs) -> anyhow::Result<()> {
    hnefi_data::check_new_file(&args.out)?;
    let games = read_all(&args.sources)?;
    // Check the records, which are not trusted, before any work.
    games.iter().try_for_each(GameRecord::check)?;
    let foreign = games.iter().filter(|game| game.rules.preset().is_none()).count();
    if foreign > 0 {
        progress::warn(&format!("{foreign} games are left out: puzzles are of the nine presets alone"));
    }
    let params = MineParams { longest: args.longest, answers: usize::from(args.answers), ..MineParams::default() };
    let work = Work::begin(progress::count(games.len(), "games"))?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.map_or_else(cores, usize::from)).build()?;
    let found: Vec<Vec<Puzzle>> = pool.install(|| {
        let one = |record: &GameRecord| -> anyhow::Result<Vec<Puzzle>> {
            if work.is_stopped() {
                return Ok(Vec::new());
            }
            work.bar.inc(1);
            let Some(rules) = record.rules.preset() else { return Ok(Vec::new()) };
            Ok(mine(rules, &record.game()?, &params))
        };
        games.par_iter().map(one).collect::<anyhow::Result<_>>()
    })?;
    work.bar.finish_and_clear();
    if work.is_stopped() {
        bail!("stopped before all games were searched; nothing was written");
    }
    let puzzles = select(found.into_iter().flatten(), usize::from(args.each))?;
    hnefi_data::write_new_file(&args.out, write(&puzzles).as_bytes())?;
    let mut counts = BTreeMap::<(&str, &str, u32), usize>::new();
    for puzzle in &puzzles {
        *counts.entry((puzzle.rules.name(), puzzle.theme.name(), puzzle.plies)).or_default() += 1;
    }
    output::write(|out| {
        writeln!(out, "{:<26} {:<18} {:>5} {:>7}", "ruleset", "theme", "plies", "puzzles")?;
        for ((rules, theme, plies), count) in counts {
            writeln!(out, "{rules:<26} {theme:<18} {plies:>5} {count:>7}")?;
        }
        writeln!(out, "{} puzzles of {} games", puzzles.len(), games.len())
    })
}

/// At most `each` puzzles of every ruleset, theme and length, and none twice, turned boards included; sorted.
fn select(found: impl Iterator<Item = Puzzle>, each: usize) -> anyhow::Result<Vec<Puzzle>> {
    let mut seen = HashSet::new();
    let mut kept = BTreeMap::<(usize, Theme, u32), Vec<Puzzle>>::new();
    for puzzle in found {
        let place = Preset::ALL.iter().position(|&preset| preset == puzzle.rules).unwrap_or_default();
        let group = kept.entry((place, puzzle.theme, puzzle.plies)).or_default();
        if group.len() < each && seen.insert((puzzle.rules, orbit(&puzzle.position()?))) {
            group.push(puzzle);
        }
    }
    Ok(kept.into_values().flatten().collect())
}

fn check(file: Option<&Path>) -> anyhow::Result<()> {
    let puzzles = puzzles(file)?;
    let bar = progress::count(puzzles.len(), "puzzles");
    puzzles.par_iter().try_for_each(|puzzle| {
        bar.inc(1);
        puzzle.check(BUDGET)
    })?;
    bar.finish_and_clear();
    output::line(format_args!("{} puzzles are right", puzzles.len()))
}
