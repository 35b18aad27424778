//! The page: hand-written files, embedded in the program.

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::error::ApiError;

/// Names, kinds and contents of what lies in `page/`.
const FILES: &[(&str, &str, &str)] = &[
    ("style.css", "text/css", include_str!("page/style.css")),
    ("moves.css", "text/css", include_str!("page/moves.css")),
    ("return.css", "text/css", include_str!("page/return.css")),
    ("watch.css", "text/css", include_str!("page/watch.css")),
    ("icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
    ("stage.css", "text/css", include_str!("page/stage.css")),
    ("frame.js", "text/javascript", include_str!("page/frame.js")),
    ("language.js", "text/javascript", include_str!("page/language.js")),
    ("texts.js", "text/javascript", include_str!("page/texts.js")),
    ("texts/en.json", "application/json", include_str!("page/texts/en.json")),
    ("texts/da.json", "application/json", include_str!("page/texts/da.json")),
    ("texts/de.json", "application/json", include_str!("page/texts/de.json")),
    ("texts/es.json", "application/json", include_str!("page/texts/es.json")),
    ("texts/fr.json", "application/json", include_str!("page/texts/fr.json")),
    ("texts/is.json", "application/json", include_str!("page/texts/is.json")),
    ("texts/sv.json", "application/json", include_str!("page/texts/sv.json")),
    ("theme.js", "text/javascript", include_str!("page/theme.js")),
    ("saying.js", "text/javascript", include_str!("page/saying.js")),
    ("transport.js", "text/javascript", include_str!("page/transport.js")),
    ("ask.js", "text/javascript", include_str!("page/ask.js")),
    ("ink.js", "text/javascript", include_str!("page/ink.js")),
    ("pieces.js", "text/javascript", include_str!("page/pieces.js")),
    ("wood.js", "text/javascript", include_str!("page/wood.js")),
    ("board.js", "text/javascript", include_str!("page/board.js")),
    ("overlays.js", "text/javascript", include_str!("page/overlays.js")),
    ("chances.js", "text/javascript", include_str!("page/chances.js")),
    ("game.js", "text/javascript", include_str!("page/game.js")),
    ("moves.js", "text/javascript", include_str!("page/moves.js")),
    ("menu.js", "text/javascript", include_str!("page/menu.js")),
    ("kept.js", "text/javascript", include_str!("page/kept.js")),
    ("again.js", "text/javascript", include_str!("page/again.js")),
    ("daily.js", "text/javascript", include_str!("page/daily.js")),
    ("day.js", "text/javascript", include_str!("page/day.js")),
    ("invite.js", "text/javascript", include_str!("page/invite.js")),
    ("mygames.js", "text/javascript", include_str!("page/mygames.js")),
    ("rating.js", "text/javascript", include_str!("page/rating.js")),
    ("share.js", "text/javascript", include_str!("page/share.js")),
    ("store.js", "text/javascript", include_str!("page/store.js")),
    ("level.js", "text/javascript", include_str!("page/level.js")),
    ("newgame.js", "text/javascript", include_str!("page/newgame.js")),
    ("analysis.js", "text/javascript", include_str!("page/analysis.js")),
    ("review.js", "text/javascript", include_str!("page/review.js")),
    ("clock.js", "text/javascript", include_str!("page/clock.js")),
    ("sounds.js", "text/javascript", include_str!("page/sounds.js")),
    ("premove.js", "text/javascript", include_str!("page/premove.js")),
    ("sketch.js", "text/javascript", include_str!("page/sketch.js")),
    ("open.js", "text/javascript", include_str!("page/open.js")),
    ("editor.js", "text/javascript", include_str!("page/editor.js")),
    ("stage.js", "text/javascript", include_str!("page/stage.js")),
    ("learn.js", "text/javascript", include_str!("page/learn.js")),
    ("puzzles.js", "text/javascript", include_str!("page/puzzles.js")),
    ("plots.js", "text/javascript", include_str!("page/plots.js")),
    ("plots.json", "application/json", include_str!("page/plots.json")),
    ("lines.js", "text/javascript", include_str!("page/lines.js")),
    ("samples.js", "text/javascript", include_str!("page/samples.js")),
    ("watch.js", "text/javascript", include_str!("page/watch.js")),
];

/// A page: the head that all share, then its own title, styles, scripts and body.
macro_rules! page {
    ($name:literal) => {
        page(concat!(include_str!("page/head.html"), include_str!(concat!("page/", $name))))
    };
}

/// The board.
pub(super) async fn board() -> Response {
    page!("index.html")
}

/// The lessons.
pub(super) async fn learn() -> Response {
    page!("learn.html")
}

/// The puzzles.
pub(super) async fn puzzles() -> Response {
    page!("puzzles.html")
}

/// The training page.
pub(super) async fn watch() -> Response {
    page!("watch.html")
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
