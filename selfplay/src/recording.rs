//! Self-play without training: one checkpoint plays a given number of games, which are written to a run directory.
//!
//! `games/000001.hgames` holds the first `games_per_file` games and so on. While a file is being filled, the fleet is
//! saved under `inflight/` every few seconds. After an interruption the same call resumes and writes the same files as
//! without one. A later call with a larger number of games adds files.

use std::time::{Duration, Instant};

use hnefi_inference::{Evaluator, json as checked};
use serde_json::{Value, json};

use super::{Fleet, FleetControl, FleetError, FleetProgress, FleetSnapshot, GenerationStats, Quota, SelfPlayConfig};
use hnefi_run::store::{FleetSave, Store, StoreError, games_key, games_number};
use hnefi_run::{decode_games, differences, encode_games};
use hnefi_search::SearchConfig;

const SETTINGS: &str = "run.json";

/// What to play.
#[derive(Clone, Copy, Debug)]
pub struct RecordingParams<'a> {
    /// Total number of games, including those already recorded.
    pub games: u64,
    /// Seed of the run.
    pub seed: u64,
    /// Playouts of a full search.
    pub playouts: u32,
    /// Id of the checkpoint that plays.
    pub checkpoint_id: &'a str,
    /// Number of games in each file.
    pub games_per_file: u64,
    /// Time between two saves of the games in flight.
    pub save_every: Duration,
    /// Threads that play; the files do not depend on it.
    pub threads: usize,
}

/// What one call has played.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordingSummary {
    /// Total number of recorded games.
    pub games: u64,
    /// Files written, each with the statistics of its games.
    pub files: Vec<(String, GenerationStats)>,
}

/// Plays until `params.games` games are recorded in `store`.
///
/// # Errors
/// When the directory holds a run with other settings, a file cannot be read or written, an evaluator fails, or
/// `control` stops it. Everything up to the last complete round has been saved by then.
pub fn record_games(
    store: &Store,
    config: &SelfPlayConfig,
    search: &SearchConfig,
    params: &RecordingParams<'_>,
    make_evaluator: &(dyn Fn() -> Box<dyn Evaluator> + Sync),
    control: &mut dyn FleetControl,
) -> Result<RecordingSummary, FleetError> {
    let config = &config.without_handicaps();
    write_or_compare(store, &settings(config, search, params))?;
    let (mut file, mut fleet) = take_up(store, config, search, params)?;
    let mut summary = RecordingSummary { games: file.first_game, files: Vec::new() };
    while summary.games < params.games {
        // An earlier call with more games may have begun games beyond this number; they are finished.
        let until = params.games.min(file.first_game + params.games_per_file.max(1)).max(fleet.games_begun());
        let every = params.save_every;
        let mut saver = Saver { store, inner: &mut *control, file, every, due: Instant::now() + every };
        let played = fleet.run(Quota::Games(until), params.playouts, params.checkpoint_id, make_evaluator, &mut saver);
        let generation = match played {
            Ok(generation) => generation,
            Err(error) => {
                saver.save(fleet.snapshot())?;
                return Err(error);
            }
        };
        let key = games_key(file.number);
        store.create(&key, &encode_games(&generation.games))?;
        remove_snapshots(store, file.number)?;
        summary.files.push((key, generation.stats));
        summary.games = until;
        file = File { number: file.number + 1, first_game: until, saves: 0 };
    }
    Ok(summary)
}

#[derive(Clone, Copy, Debug)]
struct File {
    number: u32,
    first_game: u64,
    /// Snapshots taken while it was filled.
    saves: u32,
}

fn take_up(
    store: &Store,
    config: &SelfPlayConfig,
    search: &SearchConfig,
    params: &RecordingParams<'_>,
) -> Result<(File, Fleet), FleetError> {
    let (mut number, mut first_game, mut verified) = (1, 0, Vec::new());
    for written in store.numbers("games/", games_number)? {
        let key = games_key(written);
        let games =
            decode_games(&store.name(&key), &store.get(&key)?).map_err(|problem| FleetError::NeedsGames { problem })?;
        number = written + 1;
        first_game = games.last().map_or(first_game, |game| game.game + 1);
        verified.extend(games.into_iter().filter(|game| game.would_have_resigned.is_some()));
    }
    let saves = store.numbers("inflight/", |key| FleetSave::from_key(key).filter(|of| of.generation == number))?;
    let mut file = File { number, first_game, saves: saves.last().map_or(0, |newest| newest.save) };
    // Take the newest readable snapshot. Without one the file is played again from its first game, with the same
    // result.
    for save in saves.iter().rev() {
        let key = save.key();
        let bytes = match store.get(&key) {
            Err(StoreError::Unfit { .. }) => continue,
            read => read?,
        };
        let resumed = FleetSnapshot::decode(&key, &bytes)
            .map_err(FleetError::from)
            .and_then(|snapshot| Fleet::resume(config, search, params.seed, snapshot));
        if let Ok(fleet) = resumed {
            file.saves = file.saves.max(save.save);
            return Ok((file, fleet.with_threads(params.threads)));
        }
    }
    let mut fleet = Fleet::starting_at(first_game, config, search, params.seed).with_threads(params.threads);
    fleet.observe_earlier(&verified);
    Ok((file, fleet))
}

fn remove_snapshots(store: &Store, file: u32) -> Result<(), StoreError> {
    for key in store.list("inflight/")? {
        if FleetSave::from_key(&key).is_some_and(|save| save.generation <= file) {
            store.remove(&key)?;
        }
    }
    Ok(())
}

/// All settings that determine the games, and the program version, which is not compared.
fn settings(config: &SelfPlayConfig, search: &SearchConfig, params: &RecordingParams<'_>) -> Value {
    json!({
        "format": 1,
        "kind": "selfplay",
        "program": env!("CARGO_PKG_VERSION"),
        "seed": params.seed,
        "playouts": params.playouts,
        "checkpoint": params.checkpoint_id,
        "games_per_file": params.games_per_file,
        "selfplay": config,
        "search": {
            "max_num_considered_actions": search.max_num_considered_actions,
            "c_visit": search.c_visit,
            "c_scale": search.c_scale,
        },
    })
}

/// Writes the settings of a new run, or compares them with the settings of an existing run.
fn write_or_compare(store: &Store, wanted: &Value) -> Result<(), FleetError> {
    if !store.exists(SETTINGS)? {
        let text = checked::with_checksum(&format!("{wanted:#}\n"));
        return Ok(store.create(SETTINGS, text.as_bytes())?);
    }
    let other_run = |differences: String| FleetError::OtherRun { place: store.place(), differences };
    let found: Value = checked::from_slice(&store.get(SETTINGS)?)
        .map_err(|error| other_run(format!("{SETTINGS} is not readable ({error})")))?;
    let differences = differences(&found, wanted, &|path| path == "program");
    if differences.is_empty() { Ok(()) } else { Err(other_run(differences.join(", "))) }
}

/// Saves snapshots when they are due and passes all other calls on to `inner`.
struct Saver<'a> {
    store: &'a Store,
    inner: &'a mut dyn FleetControl,
    file: File,
    every: Duration,
    due: Instant,
}

impl FleetControl for Saver<'_> {
    fn go_on(&mut self, progress: &FleetProgress) -> Result<bool, StoreError> {
        self.inner.go_on(progress)
    }

    fn save_due(&mut self) -> bool {
        Instant::now() >= self.due
    }

    fn save(&mut self, snapshot: FleetSnapshot) -> Result<(), StoreError> {
        self.due = Instant::now() + self.every;
        let File { number, saves: last, .. } = self.file;
        let save = |save| FleetSave { generation: number, save }.key();
        self.store.create(&save(last + 1), &snapshot.encode())?;
        self.file.saves = last + 1;
        if last > 0 { self.store.remove(&save(last)) } else { Ok(()) }
    }
}
