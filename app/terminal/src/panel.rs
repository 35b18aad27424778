//! What stands beside the board: who plays, how it stands, the moves, and what goes on.

use std::time::Instant;

use hnefi_engine::{Piece, Side};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Paragraph, Wrap};

use super::app::{App, Front, Question};
use super::glyphs::sign;
use super::theme::Theme;
use hnefi_record::{Chances, words};

/// Signs that turn while a player thinks, ten a second.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The widest bar, in columns.
const BAR: u16 = 40;

/// Draws the panel.
pub(super) fn draw(frame: &mut Frame, area: Rect, app: &App, theme: &Theme, now: Instant) {
    let [head, bar, moves, status] = Layout::vertical([
        Constraint::Length(5),
        Constraint::Length(3),
        Constraint::Min(2),
        Constraint::Length(status_rows(area.height)),
    ])
    .areas(area);
    frame.render_widget(Text::from(heading(app, theme)), head);
    frame.render_widget(Text::from(view(app, theme, bar.width)), bar);
    frame.render_widget(Text::from(move_list(app, theme, moves)), moves);
    frame.render_widget(Paragraph::new(saying(app, theme, now)).wrap(Wrap { trim: true }), status);
}

/// Rows for what goes on: more where there is room.
const fn status_rows(height: u16) -> u16 {
    if height >= 22 { 6 } else { 4 }
}

fn heading<'a>(app: &'a App, theme: &Theme) -> Vec<Line<'a>> {
    let session = &app.session;
    let mut lines = vec![
        Line::from(vec![
            Span::styled(words::rules(session.rules()), theme.strong()),
            Span::styled(format!("   game {}", session.number()), theme.quiet()),
        ]),
        Line::default(),
    ];
    let board = session.position().board();
    for side in Side::BOTH {
        let (piece, men) = match side {
            Side::Attackers => (Piece::Attacker, board.attackers().len()),
            Side::Defenders => (Piece::Defender, board.defenders().len() + usize::from(board.king().is_some())),
        };
        let turn = session.ending().is_none() && session.side_to_move() == side;
        let style = if turn { theme.strong() } else { Style::new() };
        lines.push(Line::from(vec![
            Span::styled(if turn { "▶ " } else { "  " }, style),
            Span::styled(format!("{} {} ", sign(piece), words::side(side)), style),
            Span::styled(format!("{men:>2} "), theme.quiet()),
            Span::styled(words::seat(session.seat(side)), style),
        ]));
    }
    lines
}

/// The bar and what it says in numbers, each below its part.
fn view(app: &App, theme: &Theme, width: u16) -> Vec<Line<'static>> {
    let Some((chances, present)) = app.session.view() else {
        return vec![Line::styled("No view of the position yet.", theme.quiet())];
    };
    let style = if present { Style::new() } else { theme.quiet() };
    let percent = |chance: f32| format!("{} %", (100.0 * chance).round());
    let left = format!("{} {}", sign(Piece::Attacker), percent(chances.attackers));
    let middle = format!("draw {}", percent(chances.draw));
    let right = format!("{} {}", percent(chances.defenders), sign(Piece::Defender));
    let width = usize::from(width.min(BAR));
    let between = width.saturating_sub(left.chars().count() + right.chars().count());
    vec![bar(chances, theme, width), Line::styled(format!("{left}{middle:^between$}{right}"), style)]
}

/// Attackers from the left, defenders from the right, draws between them.
fn bar(chances: Chances, theme: &Theme, width: usize) -> Line<'static> {
    let columns = |chance: f32| ((chance * width as f32).round() as usize).min(width);
    let attackers = columns(chances.attackers);
    let defenders = columns(chances.defenders).min(width - attackers);
    let parts = [attackers, width - attackers - defenders, defenders];
    let symbols = if theme.has_colours() { ["━", "━", "━"] } else { ["█", "▒", "░"] };
    let spans = parts
        .iter()
        .zip(symbols)
        .zip(theme.bar())
        .map(|((&part, symbol), style)| Span::styled(symbol.repeat(part), style));
    Line::from_iter(spans)
}

/// Two plies a line, plies taken back are dim; the latest move stays in sight.
fn move_list(app: &App, theme: &Theme, area: Rect) -> Vec<Line<'static>> {
    let session = &app.session;
    let played = session.game().len();
    let mut lines: Vec<Line> = Vec::new();
    let mut latest = 0;
    let column = (usize::from(area.width).saturating_sub(5) / 2).min(15);
    for (index, ply) in session.all_plies().enumerate() {
        if ply.side == Side::Attackers || lines.is_empty() {
            lines.push(Line::styled(format!("{:>3}. ", lines.len() + 1), theme.quiet()));
            if ply.side == Side::Defenders {
                lines[0].push_span(Span::styled(format!("{:<column$}", "..."), theme.quiet()));
            }
        }
        let style = match index + 1 {
            number if number == played => theme.strong(),
            number if number > played => theme.quiet(),
            _ => Style::new(),
        };
        let row = lines.len() - 1;
        lines[row].push_span(Span::styled(format!("{:<column$}", words::ply(ply, session.rules())), style));
        if index < played {
            latest = row;
        }
    }
    let height = usize::from(area.height);
    let first = (latest + 2).saturating_sub(height).min(lines.len().saturating_sub(height));
    lines.into_iter().skip(first).take(height).collect()
}

/// What goes on, a question or a hint, and the answer to the latest action, in this order.
pub(super) fn saying(app: &App, theme: &Theme, now: Instant) -> Vec<Line<'static>> {
    if let Front::Question(question) = app.front {
        let text = match question {
            Question::Resign => "Resign this game?",
            Question::New { swap: false } => "Leave this game and begin another?",
            Question::New { swap: true } => "Leave this game and begin on the other side?",
            Question::Quit => "Leave this game? (s saves it first)",
        };
        let mut lines = vec![Line::styled(format!("{text} y/n"), theme.strong())];
        lines.extend(app.notice.clone().map(Line::from));
        return lines;
    }
    let mut status = app.status();
    if let Some(duration) = app.thinking_for(now) {
        let turn = (duration.as_millis() / 100) as usize % SPINNER.len();
        status = format!("{} {status} {} s", SPINNER[turn], duration.as_secs());
    }
    let mut lines = vec![Line::styled(status, theme.strong())];
    if let Some(mv) = app.hint() {
        lines.push(Line::from(format!("Hint: {} (h plays it).", words::mv(mv, app.session.rules()))));
    } else if app.waits_for_hint() {
        lines.push(Line::from("Thinking about a hint ..."));
    }
    lines.extend(app.notice.clone().map(Line::from));
    lines
}
