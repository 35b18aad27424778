//! Streams of events: what happens in a game and in a run, as it happens.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{Stream, unfold};
use serde::Serialize;
use serde_json::json;
use tokio::sync::watch;

use hnefi_board::{Listener, Listening};
use hnefi_run::Run;

use hnefi_play::watch::{Followed, News};

/// How often a quiet stream says that it is there.
const ALIVE: Duration = Duration::from_secs(15);

/// How often a run's directory is looked at.
const LOOK: Duration = Duration::from_secs(2);

/// How often a bucket is, where every look costs some requests.
const LOOK_FAR: Duration = Duration::from_secs(20);

/// The stream of a game: its listener's events, whenever the bell rings.
pub(crate) fn game(
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

/// What a stream of runs has read, and the events that it has not sent yet.
struct RunStream {
    runs: Vec<Followed>,
    waiting: VecDeque<Event>,
    pause: Duration,
    _place: Listening,
}

/// The stream of all runs: `rows`, the generations of a run that were not told yet, `ratings`, all of a run's ratings,
/// whenever another match has been played, and `state`, how it is doing, whenever that changes.
pub(crate) fn runs(runs: &[Arc<Run>], place: Listening) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<>> {
    let pause = if runs.iter().any(|run| run.store().is_remote()) { LOOK_FAR } else { LOOK };
    let runs = runs.iter().cloned().map(Followed::new).collect();
    let told = RunStream { runs, waiting: VecDeque::new(), pause, _place: place };
    let stream = unfold(told, |mut told| async move {
        loop {
            if let Some(event) = told.waiting.pop_front() {
                return Some((Ok(event), told));
            }
            let (looked, events) = tokio::task::spawn_blocking(move || {
                let mut events = VecDeque::new();
                for (run, followed) in told.runs.iter_mut().enumerate() {
                    // What cannot be read now is told when it can.
                    let News { rows, ratings, state } = followed.look().unwrap_or_default();
                    let rows = (!rows.is_empty()).then(|| json!({ "run": run, "rows": rows }));
                    events.extend(rows.and_then(|rows| event("rows", &rows)));
                    events.extend(ratings.and_then(|what| event("ratings", &Of { run, what })));
                    events.extend(state.and_then(|what| event("state", &Of { run, what })));
                }
                (told, events)
            })
            .await
            .ok()?;
            told = looked;
            told.waiting = events;
            if told.waiting.is_empty() {
                tokio::time::sleep(told.pause).await;
            }
        }
    });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(ALIVE))
}

/// Something about a run, which it names by its place.
#[derive(Serialize)]
struct Of<T> {
    run: usize,
    #[serde(flatten)]
    what: T,
}

fn event(name: &str, data: &impl Serialize) -> Option<Event> {
    serde_json::to_string(data).ok().map(|text| Event::default().event(name).data(text))
}
