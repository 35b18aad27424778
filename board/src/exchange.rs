//! A page's request and the answer to it, as in HTTP.

use serde::Serialize;
use serde::de::DeserializeOwned;

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

impl Request<'_> {
    /// The parts of the path behind `/api/`; `None` for other paths.
    pub(super) fn parts(path: &str) -> Option<Vec<&str>> {
        Some(path.strip_prefix("/api/")?.split('/').collect())
    }

    /// Whether a request to this path takes a body.
    pub fn takes_body(path: &str) -> bool {
        matches!(
            Request::parts(path).as_deref(),
            Some(
                ["games"]
                    | ["games", "open"]
                    | [
                        "games",
                        _,
                        "move" | "go" | "promote" | "remove" | "comment" | "again" | "analysis" | "review" | "try"
                    ]
                    | ["lessons", "attempt"]
                    | ["puzzles", _, "attempt" | "solution"]
            )
        )
    }

    /// Refuses other methods.
    pub(super) fn only(&self, method: &str) -> Result<(), Refusal> {
        if self.method == method || (self.method == "HEAD" && method == "GET") { Ok(()) } else { Err(wrong_method()) }
    }

    /// The query of a request that takes one.
    pub(super) fn query<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        serde_urlencoded::from_str(self.query)
            .map_err(|error| Refusal::bad(request(format!("the query {:?}: {error}", self.query))))
    }

    /// The body of a request that takes one.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        serde_json::from_slice(self.body).map_err(|error| Refusal::bad(request(error.to_string())))
    }
}

/// A request that is not understood.
pub(super) fn request(detail: String) -> Problem {
    problem!("error.request", "the board does not understand the request: {detail}", detail = detail)
}

/// The path is known, and the method is not one of its own.
pub(super) fn wrong_method() -> Refusal {
    Refusal::new(405, problem!("error.method", "this cannot be done by that method"))
}
