//! A run that is looked at again and again: the one source of what the terminal, the page and the CSV files show.

use std::collections::BTreeMap;
use std::sync::Arc;

use hnefi_arena::ladder::{self, Standings};
use hnefi_run::store::StoreError;
use hnefi_run::{GenerationMetrics, Run};
use serde::Serialize;

/// A number beyond this, above or below zero, was not measured by anybody.
const LARGEST: f64 = 1e15;

/// Generations over which the pace is measured, few enough that a slower stage soon shows.
const PACE: usize = 6;

/// A generation that took this many times as long as usual was interrupted, and says nothing about the pace.
const INTERRUPTED: f64 = 5.0;

/// What is known of a generation: its numbers, under the names of docs/RUNS.md.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// Number of the generation; 0 is the network that the run began with.
    pub generation: u32,
    /// When it was published, in seconds since 1970; 0 if unknown.
    pub unix_seconds: f64,
    /// Name of its stage, if the run has stages.
    pub stage: String,
    /// Id of its checkpoint.
    pub checkpoint: String,
    /// The numbers. What is no number, or larger than anybody can have measured, is left out.
    pub values: BTreeMap<String, f64>,
}

impl Row {
    /// One of its numbers. How no game of a generation ended, its metrics do not say: none did.
    pub fn value(&self, name: &str) -> Option<f64> {
        let none = || (name.starts_with("ends/") && self.values.contains_key("games/finished")).then_some(0.0);
        self.values.get(name).copied().or_else(none)
    }
}

/// The ratings of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Ratings {
    /// Whose strength is zero; without anybody, the mean is.
    pub zero: Option<String>,
    /// The checkpoints that played on the ladder, with their Elo alone.
    pub rows: Vec<Row>,
}

/// How a run is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct State {
    /// Whether the budget is used up.
    pub finished: bool,
    /// Whether the games of the generation under way are played, so that it is trained on.
    pub trains: bool,
    /// When the newest generation was published, in seconds since 1970; 0 if unknown.
    pub since: f64,
    /// Seconds of a generation, by the clock on the wall; 0 if unknown.
    pub each: f64,
    /// When the budget will be used up at this pace, in seconds since 1970; 0 if unknown.
    pub ends: f64,
}

/// What a look has found that was not known before.
#[derive(Debug, Default)]
pub struct News {
    /// Further generations.
    pub rows: Vec<Row>,
    /// All ratings, when a match was played.
    pub ratings: Option<Ratings>,
    /// The state, when it has changed.
    pub state: Option<State>,
}

/// A run, and how much of it is known.
#[derive(Debug)]
pub struct Followed {
    run: Arc<Run>,
    newest: u32,
    games: f64,
    pace: Pace,
    matches: usize,
    state: Option<State>,
}

impl Followed {
    /// A run of which nothing is known yet.
    pub fn new(run: Arc<Run>) -> Followed {
        Followed { run, newest: 0, games: 0.0, pace: Pace::default(), matches: 0, state: None }
    }

    /// The run.
    pub fn run(&self) -> &Arc<Run> {
        &self.run
    }

    /// Looks for what is new. Of a long run it finds a part at a time: there is more until it finds no rows.
    ///
    /// # Errors
    /// When the run cannot be read.
    pub fn look(&mut self) -> Result<News, StoreError> {
        // Everything is read before anything is noted, so that nothing is lost when a part cannot be read.
        let (metrics, matches) = (self.run.metrics(self.newest)?, self.run.matches_played()?);
        let (played, finished) = (self.run.generations()?, self.run.is_finished()?);
        let ratings = (matches != self.matches).then(|| ratings(&self.run)).transpose()?;
        let rows: Vec<Row> = metrics.iter().map(|metrics| self.row(metrics)).collect();
        self.matches = matches;
        let trains = played.last().is_some_and(|&played| played > self.newest);
        let (each, ends) = self.pace.measured().unwrap_or_default();
        let since = self.pace.latest.last().map_or(0.0, |&(since, _)| since);
        let state = State { finished, trains, since, each, ends };
        let changed = self.state != Some(state);
        self.state = Some(state);
        Ok(News { rows, ratings, state: changed.then_some(state) })
    }

    fn row(&mut self, metrics: &GenerationMetrics) -> Row {
        self.newest = metrics.generation;
        self.games += metrics.selfplay.games as f64;
        if measured(metrics.unix_seconds) && metrics.unix_seconds > 0.0 && measured(metrics.progress) {
            self.pace.add(metrics.unix_seconds, metrics.progress);
        }
        let mut values = values(metrics.scalars());
        values.extend(Some(("run/games".to_owned(), self.games)).filter(|(_, games)| measured(*games)));
        // A clock that another version did not have.
        values.retain(|name, value| *value > 0.0 || !["run/wall_minutes", "run/processor_minutes"].contains(&&**name));
        Row {
            generation: metrics.generation,
            unix_seconds: if measured(metrics.unix_seconds) { metrics.unix_seconds } else { 0.0 },
            stage: metrics.stage.clone(),
            checkpoint: metrics.checkpoint.clone(),
            values,
        }
    }
}

/// Whether somebody can have measured this number.
fn measured(number: f64) -> bool {
    number.abs() <= LARGEST
}

fn values(scalars: Vec<(String, f64)>) -> BTreeMap<String, f64> {
    scalars.into_iter().filter(|(_, value)| measured(*value)).collect()
}

/// How fast the latest generations used up the budget.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// When they were published, in seconds, and the progress of the budget then.
    latest: Vec<(f64, f64)>,
}

impl Pace {
    /// A generation is published at a time in seconds, at a progress of the budget, 0 to 1.
    pub fn add(&mut self, at: f64, progress: f64) {
        self.latest.push((at, progress));
        self.latest.drain(..self.latest.len().saturating_sub(PACE));
    }

    /// Seconds of a generation, with the ladder's matches between two of them, and when the budget will be used up at
    /// this pace; 0 if unknown. `None` before a generation is complete. Later stages may be slower.
    pub fn measured(&self) -> Option<(f64, f64)> {
        let mut gaps: Vec<f64> = self.latest.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        gaps.sort_by(f64::total_cmp);
        let usual = *gaps.get(gaps.len() / 2)?;
        gaps.retain(|&gap| gap <= INTERRUPTED * usual);
        let each = gaps.iter().sum::<f64>() / gaps.len().max(1) as f64;
        let (&(_, before), &(since, after)) = (self.latest.first()?, self.latest.last()?);
        let ends = since + each * (1.0 - after) * (self.latest.len() - 1) as f64 / (after - before);
        Some((each.max(0.0), if measured(ends) { ends } else { 0.0 }))
    }
}

/// Ratings fitted to the matches that are there now; empty without any.
fn ratings(run: &Run) -> Result<Ratings, StoreError> {
    let standings = Standings::fit(&ladder::read_matches(run.store())?.0);
    let row = |(generation, standing): (u32, &ladder::Standing)| Row {
        generation,
        values: values(standing.scalars()),
        ..Row::default()
    };
    Ok(Ratings {
        zero: standings.zero.as_ref().map(ToString::to_string),
        rows: standings.checkpoints().into_iter().map(row).collect(),
    })
}

/// All that was found of a run, metrics and ratings of a generation in one row.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The rows by generation.
    pub rows: BTreeMap<u32, Row>,
    /// Whose strength is zero.
    pub zero: Option<String>,
    /// How the run is doing.
    pub state: State,
}

impl Known {
    /// Adds what a look has found.
    pub fn add(&mut self, news: News) {
        for row in news.rows {
            let rated = self.rows.remove(&row.generation).map(|row| row.values).unwrap_or_default();
            let values = rated.into_iter().chain(row.values).collect();
            self.rows.insert(row.generation, Row { values, ..row });
        }
        if let Some(Ratings { zero, rows }) = news.ratings {
            self.zero = zero;
            // A checkpoint that is no longer rated has no Elo any more: its last one is of another fit.
            for known in self.rows.values_mut() {
                known.values.retain(|name, _| !name.starts_with("elo/"));
            }
            for Row { generation, values, .. } in rows {
                let known = self.rows.entry(generation).or_insert_with(|| Row { generation, ..Row::default() });
                known.values.extend(values);
            }
            self.rows.retain(|_, known| !known.values.is_empty());
        }
        self.state = news.state.unwrap_or(self.state);
    }

    /// Everything that is there now.
    ///
    /// # Errors
    /// When the run cannot be read.
    pub fn of(run: &Arc<Run>) -> Result<Known, StoreError> {
        let (mut known, mut followed) = (Known::default(), Followed::new(run.clone()));
        loop {
            let news = followed.look()?;
            let more = !news.rows.is_empty();
            known.add(news);
            if !more {
                return Ok(known);
            }
        }
    }

    /// The newest generation that measured anything.
    pub fn newest(&self) -> Option<&Row> {
        self.rows.values().rev().find(|row| row.values.contains_key("run/progress"))
    }
}

#[cfg(test)]
mod tests {
    use hnefi_run::store::{FaultAction, Location, Operation, RetryPolicy, StoreWatch};

    use super::*;

    #[test]
    fn what_cannot_be_read_now_is_an_error_and_no_news() {
        /// A store that does not read what has this in its name.
        struct Deaf(&'static str);
        impl StoreWatch for Deaf {
            fn attempt(&self, operation: &Operation<'_>) -> FaultAction {
                match operation {
                    Operation::Read(path) if path.to_string_lossy().contains(self.0) => {
                        FaultAction::Fail(std::io::Error::other("gone"))
                    }
                    _ => FaultAction::Proceed,
                }
            }
        }
        for part in ["ladder/", "metrics/"] {
            let folder = tempfile::tempdir().expect("a folder");
            for name in ["ladder/1.json", "metrics/000001.json"] {
                let path = folder.path().join(name);
                std::fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
                std::fs::write(path, "{}").expect("a file");
            }
            let retry = RetryPolicy { watch: Arc::new(Deaf(part)), ..RetryPolicy::interactive() };
            let run = Run::open(&Location::Directory(folder.path().to_owned()), retry).expect("a run");
            assert!(Known::of(&Arc::new(run)).is_err(), "{part}");
        }
    }

    #[test]
    fn the_pace_passes_over_interruptions() {
        let pace = |latest: &[(f64, f64)]| {
            let mut pace = Pace::default();
            latest.iter().for_each(|&(at, progress)| pace.add(at, progress));
            pace.measured()
        };
        assert_eq!((pace(&[]), pace(&[(100.0, 0.1)])), (None, None));
        // A tenth of the budget in 50 seconds each; after five of ten, 250 s are left.
        let even: Vec<(f64, f64)> = (1..=5).map(|step| (50.0 * f64::from(step), 0.1 * f64::from(step))).collect();
        let (each, ends) = pace(&even).expect("a pace");
        assert!((each - 50.0).abs() < 1e-9 && (ends - 500.0).abs() < 1e-6, "{each} {ends}");
        // The same after a night.
        let night: Vec<(f64, f64)> =
            even.iter().map(|&(at, p)| (if p > 0.35 { at + 30_000.0 } else { at }, p)).collect();
        let (each, ends) = pace(&night).expect("a pace");
        assert!((each - 50.0).abs() < 1e-9 && (ends - 30_500.0).abs() < 1e-6, "{each} {ends}");
        assert_eq!(pace(&[(1.0, 0.5), (2.0, 0.5)]), Some((1.0, 0.0)), "without progress nobody knows");
        // A slower stage: after five of its generations, the fast ones no longer count.
        let slower: Vec<(f64, f64)> =
            (0..9).map(|at| (f64::from(if at < 3 { at } else { 100 * at }), 0.01 * f64::from(at))).collect();
        let (each, ends) = pace(&slower).expect("a pace");
        assert!((each - 100.0).abs() < 1e-9 && (ends - 10_000.0).abs() < 1e-6, "{each} {ends}");
    }

    #[test]
    fn metrics_and_ratings_of_a_generation_are_one_row() {
        let row = |generation: u32, name: &str, value: f64| Row {
            generation,
            values: [(name.to_owned(), value)].into(),
            ..Row::default()
        };
        let ratings = |at: &[u32], elo: f64| {
            let rows = at.iter().map(|&at| row(at, "elo/overall", elo)).collect();
            News { ratings: Some(Ratings { zero: None, rows }), ..News::default() }
        };
        let numbers = |known: &Known| -> Vec<(u32, Vec<f64>)> {
            known.rows.values().map(|row| (row.generation, row.values.values().copied().collect())).collect()
        };
        let mut known = Known::default();
        known.add(ratings(&[0, 2], 3.0));
        known.add(News { rows: vec![row(2, "run/progress", 0.5)], ..News::default() });
        known.add(ratings(&[0, 2], 7.0));
        assert_eq!(numbers(&known), [(0, vec![7.0]), (2, vec![7.0, 0.5])]);
        assert_eq!(known.newest().map(|row| row.generation), Some(2));
        known.add(ratings(&[2], 9.0));
        assert_eq!(numbers(&known), [(2, vec![9.0, 0.5])], "what is no longer rated has no Elo");
        known.add(ratings(&[0], 1.0));
        assert_eq!(numbers(&known), [(0, vec![1.0]), (2, vec![0.5])]);
    }
}
