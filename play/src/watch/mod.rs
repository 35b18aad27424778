//! How a training run is doing, drawn in the terminal while it goes on, or printed.

mod figures;
mod ratings;
mod screen;

use std::io::Write;
use std::time::{Duration, Instant};

use hnefi_inference::printable;
use hnefi_run::Run;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

use crate::PlayError;
use figures::Figures;
pub use ratings::{Strength, Strengths, strengths};

/// How often a run's directory is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// How often a bucket is, where every look costs some requests.
const LOOK_FAR: Duration = Duration::from_secs(15);

/// Draws a run on the terminal until the person leaves. The terminal is given back as it was, also after a panic.
///
/// # Errors
/// When the terminal fails, or the run cannot be read any more.
pub fn run(run: &Run) -> Result<(), PlayError> {
    let unreadable = |error: hnefi_run::store::StoreError| PlayError::Run { problem: error.to_string() };
    let mut terminal = ratatui::try_init().map_err(PlayError::stream("opening the terminal"))?;
    let _guard = Guard;
    let coloured = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut known: Vec<Figures> = Vec::new();
    let (mut played, mut strength) = (0, Strengths::default());
    loop {
        let after = known.last().map_or(0, |figures| figures.generation);
        known.extend(run.metrics(after).map_err(unreadable)?.iter().map(Figures::of));
        let matches = run.matches_played().map_err(unreadable)?;
        if matches != played {
            (played, strength) = (matches, strengths(run));
        }
        let view = screen::View { name: run.name(), known: &known, strength: &strength, coloured };
        terminal.draw(|frame| screen::draw(frame, &view)).map_err(PlayError::stream("drawing the run"))?;
        let next = Instant::now() + if run.store().is_remote() { LOOK_FAR } else { LOOK };
        while event::poll(next.saturating_duration_since(Instant::now()))
            .map_err(PlayError::stream("reading the keyboard"))?
        {
            match event::read().map_err(PlayError::stream("reading the keyboard"))? {
                Event::Key(key) if key.kind != KeyEventKind::Release => {
                    let interrupted = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
                    if interrupted || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc) {
                        return Ok(());
                    }
                }
                Event::Resize(..) => break,
                _ => {}
            }
        }
    }
}

/// Gives the terminal back.
struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Prints a line for every generation there is.
///
/// # Errors
/// When the run cannot be read or nothing can be written.
pub fn print(run: &Run, mut out: impl Write) -> Result<(), PlayError> {
    let known = run.metrics(0).map_err(|error| PlayError::Run { problem: error.to_string() })?;
    if known.is_empty() {
        writeln!(out, "no generation is complete yet").map_err(PlayError::stream("writing"))?;
    }
    for figures in known.iter().map(Figures::of) {
        writeln!(out, "{}", figures.line()).map_err(PlayError::stream("writing"))?;
    }
    let Strengths { zero, checkpoints } = strengths(run);
    for Strength { generation, attackers, defenders, overall, error, .. } in checkpoints {
        let scale =
            zero.as_ref().map_or_else(|| "the mean is 0".to_owned(), |zero| format!("{} is 0", printable(zero)));
        let line = format!(
            "generation {generation:>4}  Elo attackers {attackers:+.0} defenders {defenders:+.0} \
             overall {overall:+.0} ± {error:.0} ({scale})"
        );
        writeln!(out, "{line}").map_err(PlayError::stream("writing"))?;
    }
    out.flush().map_err(PlayError::stream("writing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_cannot_steer_the_terminal_nor_break_the_ratings() {
        let run = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(run.path().join("ladder")).expect("a folder");
        let none = serde_json::json!({ "elo": null, "low": null, "high": null });
        let played = |player: &str, wins: u32| {
            let tally = serde_json::json!({ "wins": wins, "draws": 0, "losses": 5 });
            serde_json::json!({
                "a": { "generation": 1, "playouts": 8 }, "b": { "player": player },
                "result": {
                    "a": "a", "b": "b", "rules": "\u{1b}[31mrules", "seed": 1,
                    "games": 20, "wins": 10, "draws": 0, "losses": 10,
                    "score": 0.5, "as_attackers": tally, "as_defenders": tally, "elo": none, "elo_as_attackers": none,
                    "elo_as_defenders": none, "attackers_score": 0.5, "pairs": [0, 0, 10, 0, 0], "ends": {},
                    "mean_plies": 30.0, "sprt": null, "interrupted": false,
                },
            })
        };
        let matches =
            [played("\u{1b}[2J\u{202e}opponent", 5), played("absurd", u32::MAX), played("absurd too", 1_000_000)];
        for (index, played) in matches.iter().enumerate() {
            let file = run.path().join(format!("ladder/{index}.json"));
            std::fs::write(file, played.to_string()).expect("a file");
        }
        let mut text = Vec::new();
        print(&Run::open_directory(run.path()).expect("there"), &mut text).expect("printed");
        let text = String::from_utf8(text).expect("text");
        assert!(text.contains("overall +0 ") && text.contains("(\\u{1b}[2J\\u{202e}opponent is 0)"), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains("absurd"), "{text}");
    }
}
