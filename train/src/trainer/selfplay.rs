//! Self-play of one generation, saved as it goes.

use std::time::Instant;

use hnefi_run::store::{FleetSave, StoreError, games_key, upload_key};
use hnefi_run::{GameRecord, PROGRAM, encode_games};
use hnefi_selfplay::Fleet;

use super::clock::Clock;
use super::context::Context;
use super::fence::Fence;
use super::games::{load_games, training_plies};
use super::saved;
use super::source::{GameSource, Generation, Saves, Uploads};
use super::stage::CurrentStage;
use super::state::{FinishedSelfPlay, InFlight, RunState};
use crate::TrainError;
use crate::job::Job;
use crate::learner::Learner;
use crate::schedule::playouts_at;

pub(super) struct Players {
    pub(super) source: Box<dyn GameSource>,
    /// Has the games in flight of self-play in turns, and adapts handicaps and resignation to the games of all players.
    pub(super) fleet: Fleet,
    pub(super) saves: Saves,
}

/// Plays the next generation unless its games are in the store, and returns its statistics; `None` if the observer
/// stopped it, with the games in flight saved.
pub(super) fn generate(
    context: &Context<'_>,
    stage: &CurrentStage,
    clock: &Clock,
    learner: &Learner,
    fence: &Fence,
    players: &mut Players,
    state: &mut RunState,
) -> Result<Option<FinishedSelfPlay>, TrainError> {
    let generation = state.counters.generation + 1;
    if generation > state.played_until {
        fence.check(&context.store)?;
        let wanted = wanted(context, stage, clock, learner, &mut players.saves, state);
        let played = play(wanted, &mut *players.source, &mut players.fleet, fence)?;
        let Some((games, statistics)) = played else { return Ok(None) };
        state.games.insert(generation, games);
        (state.played_until, state.finished) = (generation, statistics);
    }
    let games = state.games.get(&generation).map_or(&[][..], Vec::as_slice);
    state.counters.plies.push(training_plies(games));
    let known = generation == state.played_until;
    Ok(Some(if known { std::mem::take(&mut state.finished) } else { FinishedSelfPlay::default() }))
}

fn wanted<'a>(
    context: &'a Context<'a>,
    stage: &'a CurrentStage,
    clock: &Clock,
    learner: &'a Learner,
    saves: &'a mut Saves,
    state: &RunState,
) -> Generation<'a> {
    let (config, counters) = (&stage.config, &state.counters);
    let playouts = playouts_at(&config.budget.playouts, stage.progress_after(clock, counters.generation));
    let speed = counters.samples_per_second;
    // With a time limit, the last generation is extended instead of leaving a remainder too short to use.
    let plies = config.train.plies_per_generation;
    let is_last = clock.remaining() < 1.5 * counters.generation_seconds;
    Generation {
        number: counters.generation + 1,
        context,
        config,
        clock: *clock,
        learner,
        job: Job { checkpoint: state.checkpoint_id.clone(), playouts, ..state.job.clone() },
        quota: if is_last { 2 * plies } else { plies },
        training_seconds_per_ply: (speed > 0.0).then(|| config.train.reuse / speed),
        uploads: Uploads::new(&state.games),
        saves,
        began: Instant::now(),
        seconds_before: counters.generation_seconds,
        busy: context.params.cards.busy().0,
    }
}

/// Plays a generation and writes its games to the store; returns the recorded games, and the statistics. `None` if the
/// observer stopped it.
fn play(
    mut generation: Generation<'_>,
    source: &mut dyn GameSource,
    fleet: &mut Fleet,
    fence: &Fence,
) -> Result<Option<(Vec<GameRecord>, FinishedSelfPlay)>, TrainError> {
    let seconds = match source.play(&mut generation, fleet) {
        Ok(Some(seconds)) => seconds,
        ended => {
            let saved = generation.save(&fleet.snapshot());
            return ended.and_then(|_| Ok(saved.map(|()| None)?));
        }
    };
    let Generation { number, context, clock, job, uploads, saves, busy, .. } = generation;
    let (uploads, uploaded) = uploads.finish();
    uploads.into_iter().for_each(|upload| fleet.receive(upload));
    let finished = fleet.end_generation();
    let (until, cards) = context.params.cards.busy();
    let card_busy = (until - busy).as_secs_f64() / (seconds * cards.max(1) as f64).max(f64::MIN_POSITIVE);
    let statistics =
        FinishedSelfPlay { stats: finished.stats, playouts: job.playouts, seconds, card_busy: card_busy.min(1.0) };

    // First write the games in flight, which belong to the next generation, then the finished games. After an
    // interruption in between, the game file is missing and this generation's own saves still exist.
    let (store, next) = (&context.store, FleetSave { generation: number + 1, save: 0 });
    if store.is_exclusive() {
        let in_flight = InFlight { spent: clock.spent(), selfplay_seconds: 0.0, finished: Some(statistics.clone()) };
        saved::write_inflight(store, next, &in_flight, &fleet.snapshot().encode())?;
    }
    let games = record(context, fence, fleet, number, finished.games)?;
    store.remove_all(&uploaded)?;
    saved::remove_inflight_before(store, next)?;
    *saves = Saves::default();
    Ok(Some((games, statistics)))
}

/// Writes the games of a generation and returns its recorded games. If a replaced trainer has written other games
/// under this number, this trainer's games become an upload for the next generation.
fn record(
    context: &Context<'_>,
    fence: &Fence,
    fleet: &Fleet,
    generation: u32,
    games: Vec<GameRecord>,
) -> Result<Vec<GameRecord>, TrainError> {
    let store = &context.store;
    match store.create(&games_key(generation), &encode_games(&games)) {
        Ok(()) => return Ok(games),
        Err(StoreError::Exists { .. }) if !store.is_exclusive() => {}
        Err(error) => return Err(error.into()),
    }
    fence.check(store)?;
    let recorded = load_games(&context.rulesets, store, generation, context.observer)?.unwrap_or_default();
    let again = fleet.returned(PROGRAM, generation, games);
    store.create(&upload_key(again.worker, generation), &again.encode())?;
    Ok(recorded)
}
