//! A request that is refused.

use crate::{Problem, problem};

/// Why a request is refused: a status as in HTTP, and the reason in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status, such as 404.
    pub status: u16,
    /// The reason.
    pub problem: Problem,
}

impl Refusal {
    /// A refusal with this status.
    pub fn new(status: u16, problem: Problem) -> Refusal {
        Refusal { status, problem }
    }

    /// The request makes no sense.
    pub fn bad(problem: Problem) -> Refusal {
        Refusal::new(400, problem)
    }

    /// There is no such thing.
    pub fn missing(problem: Problem) -> Refusal {
        Refusal::new(404, problem)
    }

    /// There is no such path.
    pub fn no_such_page() -> Refusal {
        Refusal::missing(problem!("error.page", "there is no such page"))
    }

    /// The path is known, and the method is not one of its own.
    pub fn wrong_method() -> Refusal {
        Refusal::new(405, problem!("error.method", "this cannot be done by that method"))
    }

    /// The request came at the wrong time, such as a move out of turn.
    pub fn conflict(problem: Problem) -> Refusal {
        Refusal::new(409, problem)
    }

    /// The host has as much to do as it allows itself.
    pub fn busy(problem: Problem) -> Refusal {
        Refusal::new(503, problem)
    }

    /// The program is at fault.
    pub fn fault(detail: impl ToString) -> Refusal {
        Refusal::new(500, problem!("error.fault", "a fault of the program: {detail}", detail = detail.to_string()))
    }

    /// The body of its reply: `{"error": "...", "key": "...", "values": {...}}`.
    pub fn body(&self) -> Vec<u8> {
        // A text, a key and values of a problem are always JSON.
        serde_json::to_vec(&self.problem).unwrap_or_default()
    }
}

/// A move that cannot be played.
pub(crate) fn no_move(error: impl ToString) -> Refusal {
    Refusal::bad(problem!("error.move", "this move cannot be played: {detail}", detail = error.to_string()))
}

/// A position that cannot be played.
pub(crate) fn no_position(error: impl ToString) -> Refusal {
    Refusal::bad(problem!("error.position", "this position cannot be played: {detail}", detail = error.to_string()))
}
