//! All rooms, up to a number; a room that nobody has entered for long is given up.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::room::{Room, RoomPlayer};
use crate::{Refusal, Seat, Session};

/// After this long without a request or a listener a room is given up.
const IDLE: Duration = Duration::from_secs(2 * 60 * 60);

/// When there is no room left, those go that have been idle for this long.
const IDLE_WHEN_FULL: Duration = Duration::from_secs(5 * 60);

/// Listeners of one room: more than a person has windows.
const LISTENERS_PER_ROOM: usize = 8;

/// The rooms by id.
pub(super) struct Rooms {
    most: usize,
    most_listeners: usize,
    rooms: Mutex<HashMap<String, Arc<Room>>>,
    listeners: Arc<AtomicUsize>,
    /// The state of the ids, keyed by the system's randomness, so that nobody guesses another's.
    ids: RandomState,
    made: AtomicU64,
}

/// A listener's place, in a room and among all.
pub struct Listening {
    room: Option<Arc<Room>>,
    all: Arc<AtomicUsize>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Ordering::Relaxed);
        if let Some(room) = &self.room {
            room.listeners().fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Rooms {
    /// No rooms yet; at most `most`, with at most `most_listeners` altogether.
    pub(super) fn new(most: usize, most_listeners: usize) -> Rooms {
        Rooms {
            most,
            most_listeners,
            rooms: Mutex::new(HashMap::new()),
            listeners: Arc::new(AtomicUsize::new(0)),
            ids: RandomState::new(),
            made: AtomicU64::new(0),
        }
    }

    /// Opens a room.
    ///
    /// # Errors
    /// When all are in use.
    pub(super) fn open(
        &self,
        game: Session,
        seats: [Seat<RoomPlayer>; 2],
        now: Duration,
    ) -> Result<Arc<Room>, Refusal> {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        clear(&mut rooms, IDLE, now);
        if rooms.len() >= self.most {
            clear(&mut rooms, IDLE_WHEN_FULL, now);
        }
        if rooms.len() >= self.most {
            let most = self.most;
            return Err(Refusal::busy(format!("{most} games are open here and no more are kept; close one or wait")));
        }
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let room = Arc::new(Room::new(self.id(number), number, game, seats, now));
        rooms.insert(room.id.clone(), room.clone());
        Ok(room)
    }

    /// The room of that id.
    ///
    /// # Errors
    /// When there is none (any more).
    pub(super) fn get(&self, id: &str) -> Result<Arc<Room>, Refusal> {
        let rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        rooms.get(id).cloned().ok_or_else(|| Refusal::missing("this game is not open here any more; begin a new one"))
    }

    /// Gives a room up.
    pub(super) fn close(&self, id: &str) {
        let room = self.rooms.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
        if let Some(room) = room {
            room.enter().ticket = None;
        }
    }

    /// A place for a listener of a room, or of none in particular.
    ///
    /// # Errors
    /// When too many listen.
    pub(super) fn listen(&self, room: Option<&Arc<Room>>) -> Result<Listening, Refusal> {
        let take = |count: &AtomicUsize, most: usize| {
            let more = |count: usize| (count < most).then_some(count + 1);
            count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
        };
        if !take(&self.listeners, self.most_listeners) {
            return Err(Refusal::busy("too many pages are open; close some"));
        }
        // From here on the place is given back however this ends.
        let mut listening = Listening { room: None, all: self.listeners.clone() };
        if let Some(room) = room {
            if !take(room.listeners(), LISTENERS_PER_ROOM) {
                return Err(Refusal::busy("this game is open in too many windows; close some"));
            }
            listening.room = Some(room.clone());
        }
        Ok(listening)
    }

    fn id(&self, number: u64) -> String {
        let half = |part: u8| {
            let mut hasher = self.ids.build_hasher();
            hasher.write_u64(number);
            hasher.write_u8(part);
            hasher.finish()
        };
        format!("{:016x}{:016x}", half(0), half(1))
    }
}

/// Removes the rooms that nobody has used for so long and nobody looks at.
fn clear(rooms: &mut HashMap<String, Arc<Room>>, idle: Duration, now: Duration) {
    rooms.retain(|_, room| room.is_watched() || now.saturating_sub(room.enter().used) < idle);
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;

    use super::*;

    fn open(rooms: &Rooms) -> Result<Arc<Room>, Refusal> {
        let seats = [Seat::Person, Seat::Person];
        let game = Session::new(Preset::Brandubh.rules(), None, seats).expect("the start");
        rooms.open(game, [Seat::Person, Seat::Person], Duration::ZERO)
    }

    #[test]
    fn rooms_are_bounded_and_found_by_ids_that_differ() {
        let rooms = Rooms::new(2, 9);
        let (first, second) = (open(&rooms).expect("a room"), open(&rooms).expect("another"));
        assert_ne!(first.id, second.id);
        assert!(open(&rooms).is_err());
        rooms.close(&first.id);
        assert!(rooms.get(&first.id).is_err() && rooms.get(&second.id).is_ok());
        assert!(open(&rooms).is_ok());
    }

    #[test]
    fn listeners_are_bounded_and_give_their_places_back() {
        let rooms = Rooms::new(2, 3);
        let room = open(&rooms).expect("a room");
        let places: Vec<Listening> = (0..3).map(|_| rooms.listen(Some(&room)).expect("a place")).collect();
        assert!(room.is_watched() && rooms.listen(None).is_err());
        drop(places);
        assert!(!room.is_watched() && rooms.listen(None).is_ok());
    }
}
