//! The pages and their files, which are in the program.

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;

/// The board.
pub(crate) async fn board() -> Response {
    answer("text/html", hnefi_page::BOARD)
}

/// The lessons.
pub(crate) async fn learn() -> Response {
    answer("text/html", hnefi_page::LESSONS)
}

/// The puzzles.
pub(crate) async fn puzzles() -> Response {
    answer("text/html", hnefi_page::PUZZLES)
}

/// The training page.
pub(crate) async fn watch() -> Response {
    answer("text/html", hnefi_page::TRAINING)
}

/// A style, a script or the icon.
pub(crate) async fn file(Path(name): Path<String>) -> Result<Response, ApiError> {
    let file = hnefi_page::file(&name).ok_or_else(|| ApiError::missing(format!("there is no {name:?}")))?;
    Ok(answer(file.kind, file.text))
}

fn answer(kind: &str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, format!("{kind}; charset=utf-8"))], text).into_response()
}
