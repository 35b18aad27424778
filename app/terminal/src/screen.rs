//! The whole screen: the board, the panel beside it, the keys below.

use std::time::Instant;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Padding, Paragraph, Wrap};

use super::app::{App, Front};
use super::board::{BoardView, Geometry, least_extent};
use super::input::KEYS;
use super::panel;
use super::theme::Theme;

/// The panel's columns: at least, at most, and the gap beside the board.
const PANEL: (u16, u16) = (30, 46);
const GAP: u16 = 2;

/// Draws everything and says where the board is, for the mouse.
pub(super) fn draw(frame: &mut Frame, app: &App, theme: &Theme, now: Instant) -> Option<Geometry> {
    let [body, keys] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(frame.area());
    let size = app.session.rules().size();
    let beside = Rect { width: body.width.saturating_sub(PANEL.0 + GAP), ..body };
    let geometry = match Geometry::fit(beside, size, app.flipped) {
        Some(geometry) => {
            let geometry = centred(body, geometry, size, app.flipped);
            let left = geometry.area().right() + GAP;
            let width = (body.right() - left).min(PANEL.1);
            let height = height_beside(geometry.area().height, body);
            panel::draw(frame, Rect::new(left, geometry.area().y, width, height), app, theme, now);
            Some(geometry)
        }
        None => {
            // Without room for the panel the board stands alone, above a line of what goes on.
            let [body, status] = Layout::vertical([Constraint::Min(0), Constraint::Length(1)]).areas(body);
            let mut said = panel::saying(app, theme, now);
            // What was said last is the answer to what the person did last.
            frame.render_widget(said.pop().unwrap_or_default(), status);
            Geometry::fit(body, size, app.flipped)
        }
    };
    match &geometry {
        Some(geometry) => board(app).draw(geometry, theme, frame.buffer_mut()),
        None => too_small(frame, app),
    }
    frame.render_widget(key_line(theme), keys);
    if app.front == Front::Help {
        help(frame, theme);
    }
    geometry
}

/// The board and its panel in the middle of the screen, on the largest board that fits.
fn centred(body: Rect, fitted: Geometry, size: hnefi_engine::BoardSize, flipped: bool) -> Geometry {
    let board = fitted.area();
    let panel = (body.width - board.width - GAP).min(PANEL.1);
    let x = body.x + (body.width - board.width - GAP - panel) / 2;
    let y = body.y + (body.height - height_beside(board.height, body)) / 2;
    Geometry::fit(Rect { x, y, ..board }, size, flipped).unwrap_or(fitted)
}

/// Rows of the panel: as many as the board has, but enough for itself beside a small board.
fn height_beside(board: u16, body: Rect) -> u16 {
    board.max(20).min(body.height)
}

fn board(app: &App) -> BoardView<'_> {
    let session = &app.session;
    let last = session.game().last();
    BoardView {
        board: session.position().board(),
        rules: session.rules(),
        last_move: last.map(|ply| ply.mv),
        captured: last.map_or(hnefi_engine::Bitboard::EMPTY, |ply| ply.captured),
        cursor: session.has_person().then_some(app.cursor),
        selected: app.selected,
        targets: app.targets(),
        hint: app.hint(),
    }
}

fn too_small(frame: &mut Frame, app: &App) {
    let (width, height) = least_extent(app.session.rules().size());
    let text = format!("The board needs {width} columns and {} rows; make the window larger.", height + 2);
    frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), frame.area());
}

fn key_line(theme: &Theme) -> Line<'static> {
    // Where everything else is found comes first: a narrow window cuts off the end.
    let keys = [("?", "all keys"), ("q", "quit"), ("Enter", "move"), ("u", "undo"), ("r", "redo"), ("h", "hint")];
    let mut spans = vec![Span::raw(" ")];
    for (key, what) in keys.into_iter().chain([("f", "flip"), ("s", "save"), ("n", "new")]) {
        spans.push(Span::styled(key, theme.strong()));
        spans.push(Span::styled(format!(" {what}  "), theme.quiet()));
    }
    Line::from(spans)
}

fn help(frame: &mut Frame, theme: &Theme) {
    let lines: Vec<Line> = KEYS
        .iter()
        .map(|(key, what)| Line::from(vec![Span::styled(format!("{key:<14}"), theme.strong()), Span::raw(*what)]))
        .collect();
    let area = frame.area();
    let (width, height) = ((54).min(area.width), (lines.len() as u16 + 2).min(area.height));
    let place = Rect::new((area.width - width) / 2, (area.height - height) / 2, width, height);
    frame.render_widget(Clear, place);
    let block = Block::bordered().title(" Keys ").padding(Padding::horizontal(1));
    frame.render_widget(Paragraph::new(lines).block(block), place);
}
