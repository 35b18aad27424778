//! The page: hand-written files, embedded in the program.

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::error::ApiError;

/// Names, kinds and contents of what lies in `page/`.
const FILES: [(&str, &str, &str); 19] = [
    ("style.css", "text/css", include_str!("page/style.css")),
    ("watch.css", "text/css", include_str!("page/watch.css")),
    ("icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
    ("theme.js", "text/javascript", include_str!("page/theme.js")),
    ("transport.js", "text/javascript", include_str!("page/transport.js")),
    ("ask.js", "text/javascript", include_str!("page/ask.js")),
    ("ink.js", "text/javascript", include_str!("page/ink.js")),
    ("pieces.js", "text/javascript", include_str!("page/pieces.js")),
    ("wood.js", "text/javascript", include_str!("page/wood.js")),
    ("board.js", "text/javascript", include_str!("page/board.js")),
    ("overlays.js", "text/javascript", include_str!("page/overlays.js")),
    ("chances.js", "text/javascript", include_str!("page/chances.js")),
    ("game.js", "text/javascript", include_str!("page/game.js")),
    ("newgame.js", "text/javascript", include_str!("page/newgame.js")),
    ("analysis.js", "text/javascript", include_str!("page/analysis.js")),
    ("open.js", "text/javascript", include_str!("page/open.js")),
    ("editor.js", "text/javascript", include_str!("page/editor.js")),
    ("plots.js", "text/javascript", include_str!("page/plots.js")),
    ("watch.js", "text/javascript", include_str!("page/watch.js")),
];

/// The board.
pub(super) async fn board() -> Response {
    page(include_str!("page/index.html"))
}

/// The training page.
pub(super) async fn watch() -> Response {
    page(include_str!("page/watch.html"))
}

fn page(text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response()
}

/// A style, a script or the icon.
pub(super) async fn file(Path(name): Path<String>) -> Result<Response, ApiError> {
    let (_, kind, text) = FILES
        .iter()
        .find(|(known, _, _)| *known == name)
        .ok_or_else(|| ApiError::missing(format!("there is no {name:?}")))?;
    let kind = format!("{kind}; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], *text).into_response())
}
