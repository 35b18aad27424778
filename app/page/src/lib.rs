//! The pages of the board and of training: hand-written files, embedded in the program.

/// A file of a page.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its address below the folder of files, such as `texts/en.json`.
    pub name: &'static str,
    /// Its content type.
    pub kind: &'static str,
    /// What it says.
    pub text: &'static str,
}

/// A page: the head that all share, then its own title, styles, scripts and body.
macro_rules! page {
    ($name:literal) => {
        concat!(include_str!("../head.html"), include_str!(concat!("../", $name)))
    };
}

/// The page of the board.
pub const BOARD: &str = page!("index.html");
/// The page of the lessons.
pub const LESSONS: &str = page!("learn.html");
/// The page of the puzzles.
pub const PUZZLES: &str = page!("puzzles.html");
/// The training page.
pub const TRAINING: &str = page!("watch.html");

/// Which charts show a run: the axes, and the plots with the names of their numbers.
pub const PLOTS: &str = include_str!("../plots.json");
/// The texts of the page in English, by key.
pub const ENGLISH: &str = include_str!("../texts/en.json");

/// The files of this folder by their names.
macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../", $name)))),*]
    };
}

const FILES: &[(&str, &str)] = files! {
    "again.js"
    "analysis.js"
    "ask.js"
    "board.js"
    "chances.js"
    "clock.js"
    "daily.js"
    "day.js"
    "editor.js"
    "frame.js"
    "game.js"
    "icon.svg"
    "ink.js"
    "invite.js"
    "kept.js"
    "language.js"
    "learn.js"
    "level.js"
    "lines.js"
    "menu.js"
    "moves.css"
    "moves.js"
    "mygames.js"
    "newgame.js"
    "open.js"
    "overlays.js"
    "pieces.js"
    "plots.js"
    "plots.json"
    "premove.js"
    "puzzles.js"
    "rating.js"
    "return.css"
    "review.js"
    "rulesets.js"
    "samples.js"
    "saying.js"
    "share.js"
    "sketch.js"
    "sounds.js"
    "stage.css"
    "stage.js"
    "state.js"
    "store.js"
    "style.css"
    "texts.js"
    "texts/da.json"
    "texts/de.json"
    "texts/en.json"
    "texts/es.json"
    "texts/fr.json"
    "texts/is.json"
    "texts/sv.json"
    "theme.js"
    "transport.js"
    "watch.css"
    "watch.js"
    "wood.js"
};

/// The file of this name.
pub fn file(name: &str) -> Option<File> {
    let &(name, text) = FILES.iter().find(|(known, _)| *known == name)?;
    let kind = match name.rsplit_once('.')?.1 {
        "css" => "text/css",
        "svg" => "image/svg+xml",
        "js" => "text/javascript",
        _ => "application/json",
    };
    Some(File { name, kind, text })
}
