//! All rooms, up to a number; a room that nobody changes or listens to for long is given up.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hnefi_record::{Seat, Session};
use serde::Deserialize;

use super::room::{Room, RoomPlayer};
use crate::{Host, Refusal, problem};

/// After this long without a change or a listener a room is given up.
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
            if room.is_gone() {
                room.lock().ticket = None;
            }
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
            made: AtomicU64::new(0),
        }
    }

    /// Opens a room under an unguessable id or, where a page comes back to a game, under the id of before. False with a
    /// room that another page has opened under that id meanwhile, which stays as it is.
    ///
    /// # Errors
    /// When all are in use.
    pub(super) fn open(
        &self,
        id: Option<RoomId>,
        game: Session,
        seats: [Seat<RoomPlayer>; 2],
        host: &dyn Host,
    ) -> Result<(Arc<Room>, bool), Refusal> {
        let now = host.now();
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        clear(&mut rooms, IDLE, now);
        if let Some(room) = id.as_ref().and_then(|id| rooms.get(id.as_str())) {
            return Ok((room.clone(), false));
        }
        if rooms.len() >= self.most {
            clear(&mut rooms, IDLE_WHEN_FULL, now);
        }
        if rooms.len() >= self.most {
            let most = self.most;
            return Err(Refusal::busy(problem!(
                "error.full",
                "{most} games are open here and no more are kept; close one or wait",
                most = most
            )));
        }
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let RoomId(id) = id.unwrap_or_else(|| RoomId::random(host));
        let room = Arc::new(Room::new(id.clone(), number, host.random() as u32, game, seats, now));
        rooms.insert(id, room.clone());
        Ok((room, true))
    }

    /// The room of that id.
    ///
    /// # Errors
    /// When there is none (any more).
    pub(super) fn get(&self, id: &str) -> Result<Arc<Room>, Refusal> {
        let rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        rooms.get(id).filter(|room| !room.is_gone()).cloned().ok_or_else(|| {
            Refusal::missing(problem!("error.gone", "this game is not open here any more; begin a new one"))
        })
    }

    /// Gives a room up, once nobody listens to it any more: another page may show the same game.
    pub(super) fn close(&self, id: &str) {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(room) = rooms.get(id).cloned() else { return };
        room.closed.store(true, Ordering::Relaxed);
        if room.is_gone() {
            rooms.remove(id);
            drop(rooms);
            room.lock().ticket = None;
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
            return Err(Refusal::busy(problem!("error.pages", "too many pages are open; close some")));
        }
        // From here on the place is given back however this ends.
        let mut listening = Listening { room: None, all: self.listeners.clone() };
        if let Some(room) = room {
            if !take(room.listeners(), LISTENERS_PER_ROOM) {
                return Err(Refusal::busy(problem!(
                    "error.windows",
                    "this game is open in too many windows; close some"
                )));
            }
            // Somebody has come back to a game that was closed.
            room.closed.store(false, Ordering::Relaxed);
            listening.room = Some(room.clone());
        }
        Ok(listening)
    }
}

/// The id of a room: 32 letters of 0-9a-f.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct RoomId(String);

/// A text that is the id of no room.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("id {0:?}: expected 32 letters of 0-9a-f")]
pub struct NoRoomId(String);

impl RoomId {
    fn random(host: &dyn Host) -> RoomId {
        RoomId(format!("{:016x}{:016x}", host.random(), host.random()))
    }

    /// As it stands in addresses.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for RoomId {
    type Error = NoRoomId;

    fn try_from(text: String) -> Result<RoomId, NoRoomId> {
        let is_digit = |letter: u8| letter.is_ascii_digit() || (b'a'..=b'f').contains(&letter);
        match text.len() == 32 && text.bytes().all(is_digit) {
            true => Ok(RoomId(text)),
            false => Err(NoRoomId(text)),
        }
    }
}

/// Removes the rooms without listeners that were closed or not used for `idle`.
fn clear(rooms: &mut HashMap<String, Arc<Room>>, idle: Duration, now: Duration) {
    rooms.retain(|_, room| !room.is_gone() && (room.is_watched() || now.saturating_sub(room.lock().used) < idle));
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;

    use super::*;

    /// A host whose random numbers are counted from one on.
    struct Counting(AtomicU64);

    impl Host for Counting {
        fn now(&self) -> Duration {
            Duration::ZERO
        }

        fn random(&self) -> u64 {
            self.0.fetch_add(1, Ordering::Relaxed)
        }

        fn work_waits(&self) {}

        fn ring(&self) {}
    }

    fn open_from(rooms: &Rooms, id: Option<RoomId>, random: u64) -> Result<(Arc<Room>, bool), Refusal> {
        let seats = [Seat::Person, Seat::Person];
        let game = Session::new(Preset::Brandubh.rules(), None, seats).expect("the start");
        rooms.open(id, game, [Seat::Person, Seat::Person], &Counting(AtomicU64::new(random)))
    }

    fn open(rooms: &Rooms) -> Result<Arc<Room>, Refusal> {
        open_from(rooms, None, 2 * rooms.made.load(Ordering::Relaxed)).map(|(room, _)| room)
    }

    #[test]
    fn ids_are_the_hosts_randomness_and_an_id_of_before_is_taken_again() {
        let ids = |random: u64| open_from(&Rooms::new(2, 9), None, random).expect("a room").0.id.clone();
        assert_eq!(ids(7), "00000000000000070000000000000008");
        assert_ne!(ids(7), ids(99), "two loads of a page without a server, whose first game has another id each");
        let rooms = Rooms::new(2, 9);
        let before = RoomId::try_from("0123456789abcdef0123456789abcdef".to_owned()).expect("an id");
        let (room, is_new) = open_from(&rooms, Some(before.clone()), 1).expect("a room");
        assert_eq!((room.id.as_str(), is_new), (before.as_str(), true));
        let (again, is_new) = open_from(&rooms, Some(before), 5).expect("the same");
        assert!(Arc::ptr_eq(&room, &again) && !is_new, "nobody puts another game in the place of one that is open");
        for bad in ["", "0123", "0123456789ABCDEF0123456789abcdef", "../../../../etc/passwd/0123456789"] {
            assert!(RoomId::try_from(bad.to_owned()).is_err(), "{bad}");
        }
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
    fn a_room_that_is_closed_stays_while_others_listen() {
        let rooms = Rooms::new(1, 9);
        let room = open(&rooms).expect("a room");
        let places = [0, 1].map(|_| rooms.listen(Some(&room)).expect("a place"));
        rooms.close(&room.id);
        let [mine, others] = places;
        drop(mine);
        assert!(rooms.get(&room.id).is_ok() && open(&rooms).is_err(), "somebody goes on with it");
        drop(others);
        assert!(rooms.get(&room.id).is_err());
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
