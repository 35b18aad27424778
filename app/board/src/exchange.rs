//! A page's request and the answer to it, as in HTTP.

use serde::Serialize;

use crate::{Problem, Refusal, problem};

/// What a page asks.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The method, such as `GET`.
    pub method: &'a str,
    /// The path, such as `/api/setup`.
    pub path: &'a str,
    /// The query, without the question mark.
    pub query: &'a str,
    /// The body, in JSON where the request takes one.
    pub body: &'a [u8],
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status as in HTTP.
    pub status: u16,
    /// The content type.
    pub kind: &'static str,
    /// The name to keep it under, for what a page saves.
    pub file_name: Option<&'static str>,
    /// The content.
    pub body: Vec<u8>,
}

/// What becomes of a request.
pub(super) type Answer = Result<Reply, Refusal>;

impl Reply {
    /// This value as JSON.
    pub(super) fn json(value: &impl Serialize) -> Answer {
        let body =
            serde_json::to_vec(value).map_err(|error| Refusal::fault(format!("an answer that is no JSON: {error}")))?;
        Ok(Reply { status: 200, kind: "application/json", file_name: None, body })
    }
}

impl From<Refusal> for Reply {
    fn from(refusal: Refusal) -> Reply {
        Reply { status: refusal.status, kind: "application/json", file_name: None, body: refusal.body() }
    }
}

/// A request that is not understood.
pub(super) fn request(detail: String) -> Problem {
    problem!("error.request", "the board does not understand the request: {detail}", detail = detail)
}
