//! The events of a room for a page that listens.

use std::sync::Arc;

use serde::Serialize;

use crate::Host;
use crate::room::Room;
use crate::rooms::Listening;
use crate::view::StateView;

/// One thing to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// `state` whenever the game changes, `search` whenever a search has found more.
    pub name: &'static str,
    /// The state or the report, as JSON.
    pub data: String,
}

/// A page that listens to a game, and the events that it has had.
pub struct Listener {
    room: Arc<Room>,
    host: Arc<dyn Host>,
    state: u64,
    report: u64,
    _place: Listening,
}

impl Listener {
    pub(super) fn new(room: Arc<Room>, place: Listening, host: Arc<dyn Host>) -> Listener {
        Listener { room, host, state: 0, report: 0, _place: place }
    }

    /// The next event, if there is anything to tell: the state before the search, which belongs to it.
    pub fn news(&mut self) -> Option<Event> {
        let state = self.room.lock();
        if state.state_count != self.state {
            self.state = state.state_count;
            return event("state", &StateView::of(&self.room, &state, self.host.now()));
        }
        if state.report_count != self.report {
            self.report = state.report_count;
            return event("search", state.report.as_ref()?);
        }
        None
    }
}

impl Drop for Listener {
    /// Whoever looked on may come back, as after a break of the connection.
    fn drop(&mut self) {
        self.room.lock().used = self.host.now();
    }
}

fn event(name: &'static str, data: &impl Serialize) -> Option<Event> {
    serde_json::to_string(data).ok().map(|data| Event { name, data })
}
