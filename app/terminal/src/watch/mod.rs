//! How training runs are doing, side by side, drawn in the terminal while they go on.

mod screen;
mod series;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hnefi_play::PlayError;
use hnefi_play::watch::{About, Followed, Known, about, differences};
use hnefi_run::Run;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};

use series::Look;

/// How often a run's directory is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// How often a bucket is, where every look costs some requests.
const LOOK_FAR: Duration = Duration::from_secs(15);

/// Weights of the moving mean to choose from.
const SMOOTHINGS: [f64; 4] = [0.0, 0.6, 0.9, 0.97];

/// Draws runs on the terminal until the person leaves. The terminal is given back as it was, also after a panic.
///
/// # Errors
/// When the terminal fails, or a run cannot be read any more.
pub fn run(runs: &[Arc<Run>]) -> Result<(), PlayError> {
    let mut terminal = ratatui::try_init().map_err(PlayError::stream("opening the terminal"))?;
    let _guard = Guard;
    let coloured = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut followed: Vec<Followed> = runs.iter().cloned().map(Followed::new).collect();
    let abouts = about(runs);
    let found = differences(&abouts);
    let mut known: Vec<(About, Known)> = abouts.into_iter().map(|about| (about, Known::default())).collect();
    let look_every = if runs.iter().any(|run| run.store().is_remote()) { LOOK_FAR } else { LOOK };
    let (mut look, mut page, mut next) = (Look::default(), 0, Instant::now());
    loop {
        if Instant::now() >= next {
            for (followed, (_, known)) in followed.iter_mut().zip(&mut known) {
                known.add(followed.look().map_err(PlayError::from)?);
            }
            next = Instant::now() + look_every;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let view = screen::View { runs: &known, differences: &found, look, page, coloured, now };
        terminal.draw(|frame| page = screen::draw(frame, &view)).map_err(PlayError::stream("drawing the runs"))?;
        if !event::poll(next.saturating_duration_since(Instant::now()))
            .map_err(PlayError::stream("reading the keyboard"))?
        {
            continue;
        }
        let Event::Key(key) = event::read().map_err(PlayError::stream("reading the keyboard"))? else { continue };
        let interrupted = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            _ if key.kind == KeyEventKind::Release => {}
            KeyCode::Char('q') | KeyCode::Esc => return Ok(()),
            _ if interrupted => return Ok(()),
            KeyCode::Right | KeyCode::Down | KeyCode::PageDown | KeyCode::Char(' ') => page += 1,
            KeyCode::Left | KeyCode::Up | KeyCode::PageUp => page = page.saturating_sub(1),
            KeyCode::Char('x') => look.axis = (look.axis + 1) % series::charts().axes.len(),
            KeyCode::Char('s') => look.smoothing = after(look.smoothing),
            KeyCode::Char('g') => look.seeds = !look.seeds,
            _ => {}
        }
    }
}

/// The smoothing behind this one.
fn after(smoothing: f64) -> f64 {
    SMOOTHINGS.into_iter().find(|&one| one > smoothing).unwrap_or(0.0)
}

/// Gives the terminal back.
struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        ratatui::restore();
    }
}
