//! A request that is refused.

use serde_json::json;

/// Why a request is refused: a status as in HTTP, and the reason in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status, such as 404.
    pub status: u16,
    /// The reason.
    pub message: String,
}

impl Refusal {
    /// A refusal with this status.
    pub fn new(status: u16, message: impl ToString) -> Refusal {
        Refusal { status, message: message.to_string() }
    }

    /// The request makes no sense.
    pub fn bad(message: impl ToString) -> Refusal {
        Refusal::new(400, message)
    }

    /// There is no such thing.
    pub fn missing(message: impl ToString) -> Refusal {
        Refusal::new(404, message)
    }

    /// The request came at the wrong time, such as a move out of turn.
    pub fn conflict(message: impl ToString) -> Refusal {
        Refusal::new(409, message)
    }

    /// The host has as much to do as it allows itself.
    pub fn busy(message: impl ToString) -> Refusal {
        Refusal::new(503, message)
    }

    /// The body of its reply: `{"error": "..."}`.
    pub fn body(&self) -> Vec<u8> {
        json!({ "error": self.message }).to_string().into_bytes()
    }
}
