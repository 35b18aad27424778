//! The ladder during training: at intervals the newest checkpoint plays rated matches.
//!
//! The matches do not affect training, and their time is not charged to the budget. After an interruption the next call
//! plays the remaining matches.

use hnefi_arena::ladder;
use hnefi_arena::ladder::{LadderParams, Opponent, Standings};
use hnefi_arena::players::{ModelCache, PlayerSpec};
use hnefi_arena::{MatchObserver, MatchResult};
use hnefi_inference::Devices;
use hnefi_run::GameRecord;
use hnefi_run::store::{Store, ladder_events_key};
use hnefi_search::SearchConfig;

use super::clock::unix_seconds;
use super::context::Context;
use super::observer::TrainObserver;
use crate::TrainError;
use crate::config::{LadderSection, TrainConfig};
use crate::tensorboard::event_file;

/// Plays the ladder matches of `generation`, the newest that has a network, if it is a multiple of `ladder.every` or
/// the last one. `rest` is called before the first match. Returns false if the observer stopped it.
pub(super) fn play(
    context: &Context<'_>,
    every: u32,
    generation: u32,
    is_last: bool,
    rest: &mut dyn FnMut(),
) -> Result<bool, TrainError> {
    let Context { store, observer, .. } = context;
    if !context.params.ladder || every == 0 || (!generation.is_multiple_of(every) && !is_last) {
        return Ok(true);
    }
    // Matches evaluate one position at a time, so they run on the CPU.
    let mut models = ModelCache::new(Devices::cpu(), SearchConfig::default());
    let params = ladder_params(context.whole, &mut models)?;
    let mut rungs = store.checkpoints()?;
    rungs.retain(|rung| rung.is_multiple_of(every));
    let mut warn = |text: &str| observer.warning(text);
    if ladder::matches_left(store, generation, &rungs, &params)? > 0
        && let Some(rungs) = ladder::readable_rungs(store, generation, &rungs, params.previous, &mut warn)?
    {
        rest();
        let mut watcher = Watcher { generation, games: params.games, observer: *observer };
        if !ladder::play_missing_matches(store, generation, &rungs, &params, &mut models, &mut watcher)? {
            return Ok(false);
        }
        let (matches, damaged) = ladder::read_matches(store)?;
        damaged.iter().for_each(|problem| observer.warning(&format!("skipped {problem}")));
        let standings = Standings::fit(&matches);
        log(store, generation, &standings)?;
        observer.standings(generation, &standings);
    }
    Ok(true)
}

fn log(store: &Store, generation: u32, standings: &Standings) -> Result<(), TrainError> {
    let checkpoints = standings.checkpoints();
    let Some((_, standing)) = checkpoints.into_iter().find(|&(number, _)| number == generation) else {
        return Ok(());
    };
    let events = event_file(unix_seconds(), i64::from(generation), &standing.scalars());
    Ok(store.create_once(&ladder_events_key(generation), &events)?)
}

/// The parameters of the ladder from `[ladder]`, with the rulesets of the last stage.
///
/// # Errors
/// When an opponent is not a player's spec or a stage does not fit the configuration, which [`crate::config::checked`]
/// reports too, or an opponent's network cannot be read.
pub fn ladder_params(config: &TrainConfig, models: &mut ModelCache) -> Result<LadderParams, TrainError> {
    let LadderSection { opponents, previous, games, playouts, .. } = &config.ladder;
    let opponents = opponents
        .iter()
        .map(|text| text.parse())
        .collect::<Result<Vec<PlayerSpec>, hnefi_arena::players::PlayerError>>()?;
    let rulesets = config.last_stage()?.selfplay.rulesets_played();
    let threads = match config.run.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    Ok(LadderParams {
        opponents: Opponent::all(&opponents, models)?,
        previous: *previous,
        rulesets,
        games: *games,
        playouts: *playouts,
        seed: config.run.seed,
        threads,
    })
}

struct Watcher<'a> {
    generation: u32,
    games: u32,
    observer: &'a dyn TrainObserver,
}

impl MatchObserver for Watcher<'_> {
    fn game_finished(&mut self, _: &GameRecord, so_far: &MatchResult) {
        self.observer.rating(self.generation, so_far, self.games);
    }

    fn should_stop(&mut self) -> bool {
        self.observer.should_stop()
    }
}
