//! Self-play: speed compared with the network alone, and memory. In single precision and, if another precision is
//! faster, in that one.

use std::time::{Duration, Instant};

use anyhow::Context;
use hnefi_engine::BoardSize;
use hnefi_inference::{Devices, NetworkConfig, Precision, PrecisionChoice, Weights};
use hnefi_run::store::StoreError;
use hnefi_search::SearchConfig;
use hnefi_selfplay::{Fleet, FleetControl, FleetError, FleetProgress, Quota, RulesetShare, SelfPlayConfig};
use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System};

use super::measure::{Effort, median};
use super::{Figure, Report, evaluate, preset};
use crate::cli::Stage;

/// Playouts a move.
const PLAYOUTS: u32 = 64;

/// Games in flight when memory is measured.
const MANY_GAMES: usize = 512;

/// Measures self-play on the smallest and the largest board.
pub(super) fn run(effort: Effort, report: &mut Report) -> anyhow::Result<()> {
    let config = evaluate::network(4, 32, true);
    let fastest = PrecisionChoice::Auto.on_cpu(&Weights::fresh(&config, 1))?;
    let precisions = if fastest == Precision::F32 { vec![fastest] } else { vec![Precision::F32, fastest] };
    let figure = |name: &str, size, precision: Precision, threads, value, unit, peak| Figure {
        peak,
        ..Figure::new(Stage::Selfplay, name, size, threads, value, unit).of(&config, precision.as_str())
    };
    // Measure memory first, before other measurements allocate any.
    let devices = Devices::cpu();
    let on_cpu = |size, precision: Precision, games, seconds, threads| {
        play(size, &config, (&devices, &|| Duration::ZERO), precision.into(), games, seconds, threads)
    };
    let memory = on_cpu(BoardSize::ELEVEN, Precision::F32, MANY_GAMES, 10.0 * effort.seconds, effort.threads)?.memory;
    let (name, mebibytes) = (format!("memory, {MANY_GAMES} games"), memory as f64 / f64::from(1 << 20));
    report.add(figure(&name, BoardSize::ELEVEN, Precision::F32, effort.threads, mebibytes, "MiB", None))?;
    let sizes = [BoardSize::SEVEN, BoardSize::ELEVEN];
    for (size, &precision) in sizes.into_iter().flat_map(|size| precisions.iter().map(move |one| (size, one))) {
        for threads in effort.thread_counts() {
            // Alternate both, so that they see the same load of the machine.
            let (mut alone, mut within) = (Vec::new(), Vec::new());
            for _ in 0..effort.repeats {
                let once = Effort { repeats: 1, ..effort };
                alone.push(threads as f64 * evaluate::evaluations(once, size, &config, precision, 1)?);
                within.push(on_cpu(size, precision, 64 * threads, 2.0 * effort.seconds, threads)?.rate);
            }
            let shares = alone.iter().zip(&within).map(|(alone, within)| within / alone).collect();
            let within = median(within);
            let peak = within / median(shares);
            report.add(figure("evaluations in self-play", size, precision, threads, within, "evals/s", Some(peak)))?;
        }
    }
    Ok(())
}

/// What self-play did.
pub(super) struct Played {
    /// Evaluations per second, after a warm-up.
    pub(super) rate: f64,
    /// Share of that time in which the devices had work.
    #[cfg_attr(not(feature = "train"), expect(dead_code, reason = "cards are measured together with training"))]
    pub(super) busy: f64,
    /// Peak memory in bytes.
    memory: u64,
}

/// Self-play for some seconds on devices, of which is known how long they have had work.
pub(super) fn play(
    size: BoardSize,
    network: &NetworkConfig,
    (devices, busy): (&Devices, &dyn Fn() -> Duration),
    precision: PrecisionChoice,
    games: usize,
    seconds: f64,
    threads: usize,
) -> anyhow::Result<Played> {
    let selfplay = SelfPlayConfig {
        games_in_flight: games,
        rulesets: vec![RulesetShare { rules: preset(size).into(), share: 1.0 }],
        ..SelfPlayConfig::default().without_handicaps()
    };
    let evaluators = devices.evaluators(&Weights::fresh(network, 1), precision)?;
    let mut fleet = Fleet::new(&selfplay, &SearchConfig::default(), 1).with_threads(threads);
    let mut watch = Watch { seconds, busy, began: None, first: None, last: None, memory: 0 };
    let played = fleet.run(Quota::Games(u64::MAX / 2), PLAYOUTS, "bench", &*evaluators, &mut watch);
    match played {
        Err(FleetError::Stopped) | Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    let (first, last) = watch.first.zip(watch.last).context("self-play ended before it was measured")?;
    let elapsed = (last.0 - first.0).as_secs_f64();
    let rate = (last.1 - first.1) as f64 / elapsed;
    Ok(Played { rate, busy: (last.2 - first.2).as_secs_f64() / elapsed, memory: watch.memory })
}

/// Counts evaluations between two moments and watches the process's memory.
struct Watch<'a> {
    seconds: f64,
    busy: &'a dyn Fn() -> Duration,
    began: Option<Instant>,
    /// A moment, the evaluations and the devices' time of work until then.
    first: Option<(Instant, u64, Duration)>,
    last: Option<(Instant, u64, Duration)>,
    memory: u64,
}

impl FleetControl for Watch<'_> {
    fn go_on(&mut self, progress: &FleetProgress) -> Result<bool, StoreError> {
        let now = Instant::now();
        let began = *self.began.get_or_insert(now);
        self.memory = self.memory.max(resident_bytes());
        // Warm up for a tenth of the time, while the first trees grow.
        if (now - began).as_secs_f64() < 0.1 * self.seconds || progress.evaluations == 0 {
            return Ok(true);
        }
        let seen = (now, progress.evaluations, (self.busy)());
        let (first, ..) = *self.first.get_or_insert(seen);
        self.last = Some(seen);
        Ok(first.elapsed().as_secs_f64() < self.seconds)
    }
}

/// Memory of this process that is in use now.
fn resident_bytes() -> u64 {
    let (Ok(pid), Ok(mut system)) = (sysinfo::get_current_pid(), System::new()) else { return 0 };
    let wanted = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[pid]), true, wanted);
    system.process(pid).map_or(0, sysinfo::Process::memory)
}
