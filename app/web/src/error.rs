//! What goes wrong, said in JSON: `{"error": "...", "key": "...", "values": {...}}`.

use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use hnefi_board::{Problem, Refusal, problem};
use serde::Serialize;

use crate::Server;

/// Why the server could not be started or broke off.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// Nobody can listen there.
    #[error("listening on {address}: {source}")]
    Listen {
        /// The address asked for.
        address: std::net::SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// A folder named on the command line is not there.
    #[error("{path}: {problem}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The game to begin with does not stand under its rules.
    #[error("the start position: {0}")]
    Start(#[from] hnefi_engine::FenError),
    /// The opponent cannot be seated.
    #[error(transparent)]
    Opponent(#[from] hnefi_arena::players::PlayerError),
    /// The runtime or the sockets failed.
    #[error("the web server: {0}")]
    Server(#[from] std::io::Error),
}

/// A refusal as an answer.
#[derive(Debug)]
pub(crate) struct ApiError(Refusal);

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> ApiError {
        ApiError(refusal)
    }
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, message: impl ToString) -> ApiError {
        ApiError(Refusal::new(status.as_u16(), refused(message)))
    }

    /// The request makes no sense.
    pub(crate) fn bad(message: impl ToString) -> ApiError {
        ApiError(Refusal::bad(refused(message)))
    }

    /// There is no such thing.
    pub(crate) fn missing(message: impl ToString) -> ApiError {
        ApiError(Refusal::missing(refused(message)))
    }
}

/// What the server itself does not take, said in English to the author of the request.
pub(crate) fn refused(message: impl ToString) -> Problem {
    problem!("error.server", "the server refuses this: {detail}", detail = message.to_string())
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, [(header::CONTENT_TYPE, "application/json")], self.0.body()).into_response()
    }
}

/// An answer in JSON.
pub(crate) fn json(value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => ([(header::CONTENT_TYPE, "application/json")], body).into_response(),
        Err(error) => {
            (StatusCode::INTERNAL_SERVER_ERROR, format!("an answer that is no JSON: {error}")).into_response()
        }
    }
}

/// A request's body, which must be JSON and say so: a page of another site cannot send that without asking first.
pub(crate) struct Json(pub(crate) Bytes);

impl FromRequest<Arc<Server>> for Json {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &Arc<Server>) -> Result<Self, ApiError> {
        let kind =
            request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("application/json") {
            let message = format!("content type {kind:?}; expected application/json");
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        let body = tokio::time::timeout(state.patience, Bytes::from_request(request, state)).await;
        let late = |_| ApiError::new(StatusCode::REQUEST_TIMEOUT, "the request took too long to come");
        body.map_err(late)?.map(Json).map_err(|rejection| {
            let message = match rejection.status() {
                StatusCode::PAYLOAD_TOO_LARGE => "the request is too large".to_owned(),
                _ => rejection.body_text(),
            };
            ApiError::new(rejection.status(), message)
        })
    }
}
