//! Streams of events: what happens in a game and in a run, as it happens.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{Stream, unfold};
use tokio::sync::watch;

use hnefi_board::{Listener, Listening};
use hnefi_run::Run;

use crate::watch::strengths;

/// How often a quiet stream says that it is there.
const ALIVE: Duration = Duration::from_secs(15);

/// How often a run's directory is looked at.
const LOOK: Duration = Duration::from_secs(2);

/// How often a bucket is, where every look costs some requests.
const LOOK_FAR: Duration = Duration::from_secs(20);

/// The stream of a game: its listener's events, whenever the bell rings.
pub(super) fn game(
    listener: Listener,
    bell: watch::Receiver<u64>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let stream = unfold((listener, bell), |(mut listener, mut bell)| async move {
        loop {
            bell.mark_unchanged();
            if let Some(told) = listener.news() {
                return Some((Ok(Event::default().event(told.name).data(told.data)), (listener, bell)));
            }
            // The bell's other end lies in the server; an error would mean it is gone.
            bell.changed().await.ok()?;
        }
    });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(ALIVE))
}

/// What a stream of a run has told.
struct RunTold {
    run: Arc<Run>,
    /// The newest generation.
    generation: u32,
    /// Matches on the ladder.
    matches: usize,
    /// Whether the run is over.
    finished: Option<bool>,
    _place: Listening,
}

/// The stream of a run: `metrics`, a list of the generations that were not told yet, `ladder`, all ratings, whenever
/// another match has been played, and `finished`, whether the budget is used up.
pub(super) fn run(run: Arc<Run>, after: u32, place: Listening) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let told = RunTold { run, generation: after, matches: 0, finished: None, _place: place };
    let stream = unfold(told, |mut told| async move {
        loop {
            let (run, generation, matches) = (told.run.clone(), told.generation, told.matches);
            // What cannot be read now is told when it can.
            let look = move || {
                let played = run.matches_played().unwrap_or(matches);
                let ratings = (played != matches).then(|| strengths(&run));
                (run.metrics(generation).unwrap_or_default(), played, ratings, run.is_finished().ok())
            };
            let (found, played, ratings, over) = tokio::task::spawn_blocking(look).await.ok()?;
            if let Some(newest) = found.last() {
                // Metrics come only of generations above the one asked for, so this rises.
                told.generation = newest.generation;
                return Some((Ok(event("metrics", &found)?), told));
            }
            if let Some(ratings) = ratings {
                told.matches = played;
                return Some((Ok(event("ladder", &ratings)?), told));
            }
            if let Some(over) = over.filter(|over| told.finished != Some(*over)) {
                told.finished = Some(over);
                return Some((Ok(event("finished", &over)?), told));
            }
            tokio::time::sleep(if told.run.store().is_remote() { LOOK_FAR } else { LOOK }).await;
        }
    });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(ALIVE))
}

fn event(name: &str, data: &impl serde::Serialize) -> Option<Event> {
    serde_json::to_string(data).ok().map(|text| Event::default().event(name).data(text))
}
