//! The board drawn in the terminal, with keys and mouse, while players think in threads of their own; and training runs
//! ([`watch`]).

mod app;
mod board;
mod glyphs;
mod input;
mod panel;
mod screen;
#[cfg(test)]
#[path = "../../../play/src/scripted.rs"]
mod scripted;
#[cfg(test)]
mod tests;
mod theme;
mod thinker;
pub mod watch;

pub use theme::Theme;
pub use thinker::{Thinker, Thought};

use std::time::{Duration, Instant};

use ratatui::crossterm::event::{self, DisableMouseCapture, EnableMouseCapture, Event, KeyEventKind};
use ratatui::crossterm::execute;

use app::App;
use hnefi_play::{PlayError, PlaySetup};

/// How often the screen is drawn while nothing is pressed.
const FRAME: Duration = Duration::from_millis(50);

/// Plays at a table on the terminal until the person leaves. The terminal is given back as it was, also after a panic.
///
/// # Errors
/// When the start position is none or the terminal fails. A player that fails is shown on the screen.
pub fn run(table: PlaySetup, theme: Theme) -> Result<(), PlayError> {
    let mut app = App::new(table)?;
    let mut terminal = ratatui::try_init().map_err(PlayError::stream("opening the terminal"))?;
    let _guard = MouseGuard::capture()?;
    let mut geometry = None;
    while !app.quit {
        app.tick(Instant::now());
        let draw = terminal.draw(|frame| geometry = screen::draw(frame, &app, &theme, Instant::now()));
        draw.map_err(PlayError::stream("drawing the board"))?;
        // The mouse reports every motion: all that has come is taken before the next drawing.
        let mut patience = FRAME;
        while !app.quit && event::poll(patience).map_err(PlayError::stream("reading the keyboard"))? {
            patience = Duration::ZERO;
            let action = match event::read().map_err(PlayError::stream("reading the keyboard"))? {
                Event::Key(key) if key.kind != KeyEventKind::Release => input::key(key),
                Event::Mouse(mouse) => input::mouse(mouse),
                _ => None,
            };
            if let Some(action) = action {
                app.apply(action, geometry.as_ref());
            }
        }
    }
    Ok(())
}

/// Takes the mouse, and gives it and the terminal back when dropped.
struct MouseGuard;

impl MouseGuard {
    fn capture() -> Result<MouseGuard, PlayError> {
        let guard = MouseGuard;
        execute!(std::io::stdout(), EnableMouseCapture).map_err(PlayError::stream("taking the mouse"))?;
        Ok(guard)
    }
}

impl Drop for MouseGuard {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal and the mouse back.
pub fn give_back() {
    // There is nobody left to tell when the terminal is gone.
    let _ = execute!(std::io::stdout(), DisableMouseCapture);
    ratatui::restore();
}
