//! The functions that JavaScript calls.
//!
//! What they read lies in memory that [`input`] hands out; what they answer lies where [`output_at`] says, as long as
//! [`output_length`] says, until the next call. Texts are UTF-8.

use std::cell::RefCell;
use std::time::Duration;

use crate::{Page, Pause};

/// What is not part of the page.
mod outside {
    unsafe extern "C" {
        /// Milliseconds since any moment; never goes back.
        pub safe fn now() -> f64;
        /// 32 unguessable random bits.
        pub safe fn random() -> u32;
    }
}

/// All there is; a worker has one thread.
#[derive(Default)]
struct State {
    page: Option<Page>,
    input: Vec<u8>,
    output: Vec<u8>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

fn now() -> Duration {
    Duration::from_secs_f64(outside::now().max(0.0) / 1000.0)
}

fn random() -> u64 {
    u64::from(outside::random()) << 32 | u64::from(outside::random())
}

/// Calls `act` with the page, the input and the memory for the output.
fn with<T>(act: impl FnOnce(&mut Page, &[u8], &mut Vec<u8>) -> T) -> T {
    STATE.with_borrow_mut(|State { page, input, output }| {
        act(page.get_or_insert_with(|| Page::new(now, random)), input, output)
    })
}

/// Memory for this number of bytes, which the next call reads.
// SAFETY: no other function of the module has this name, nor has any function below.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.input.clear();
        state.input.resize(length, 0);
        state.input.as_mut_ptr()
    })
}

/// Where the output lies.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn output_at() -> *const u8 {
    STATE.with_borrow(|state| state.output.as_ptr())
}

/// How long it is, in bytes.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn output_length() -> usize {
    STATE.with_borrow(|state| state.output.len())
}

/// Answers the request in the input: the status, with the body in the output.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> u32 {
    with(|page, input, output| {
        let reply = page.ask(input);
        *output = reply.body;
        u32::from(reply.status)
    })
}

/// Listens to the game whose id is in the input: the listener's number, or 0 with the refusal in the output.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn listen() -> u32 {
    with(|page, input, output| match page.listen(&String::from_utf8_lossy(input)) {
        Ok(number) => number,
        Err(refusal) => {
            *output = refusal.body();
            0
        }
    })
}

/// A listener listens no more.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn leave(listener: u32) {
    with(|page, _, _| page.leave(listener));
}

/// The next event: the number of its listener, with its name, a line break and its data in the output; 0 when there is
/// nothing to tell.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn news() -> u32 {
    with(|page, _, output| {
        page.news().map_or(0, |told| {
            *output = format!("{}\n{}", told.event.name, told.event.data).into_bytes();
            told.listener
        })
    })
}

/// Does a slice of the searches: milliseconds until there is more to do, or a negative number when that is when a
/// request comes.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn step() -> f64 {
    with(|page, _, _| match page.step() {
        Pause::None => 0.0,
        Pause::For(time) => time.as_secs_f64() * 1000.0,
        Pause::UntilAsked => -1.0,
    })
}

/// Whether a network is to be fetched, whose name is in the output then.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn wanted() -> u32 {
    with(|page, _, output| {
        page.wanted().map_or(0, |name| {
            *output = name.as_bytes().to_vec();
            1
        })
    })
}

/// Takes in a network: the input is its name, this number of bytes long, and behind it the file, or, where it was not
/// `fetched`, the reason in words.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn network(name_length: usize, fetched: u32) {
    with(|page, input, _| {
        let (name, rest) = input.split_at(name_length.min(input.len()));
        let weights = if fetched != 0 { Ok(rest) } else { Err(String::from_utf8_lossy(rest).into_owned()) };
        page.network(&String::from_utf8_lossy(name), weights);
    });
}
