//! The screen: a heading, charts of the run so far, how the latest games ended, and the keys.

use hnefi_inference::printable;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Chart, Dataset, GraphType, LineGauge, Paragraph};

use super::figures::{Figures, brief, percent, time};
use super::{Strength, Strengths};

/// Rows and columns a chart needs to say anything.
const LEAST: (u16, u16) = (28, 8);

/// What is drawn.
pub(super) struct View<'a> {
    pub(super) name: &'a str,
    pub(super) known: &'a [Figures],
    pub(super) strength: &'a Strengths,
    pub(super) coloured: bool,
}

/// One line of a chart.
struct Curve {
    name: &'static str,
    colour: Color,
    pick: fn(&Figures) -> f64,
}

/// A chart: its heading, its lines, and whether its numbers are shares.
struct Plot {
    title: &'static str,
    curves: &'static [Curve],
    share: bool,
}

const PLOTS: [Plot; 6] = [
    Plot {
        title: "Losses",
        curves: &[
            Curve { name: "total", colour: Color::Red, pick: |one| one.loss },
            Curve { name: "policy", colour: Color::Cyan, pick: |one| one.policy },
            Curve { name: "value", colour: Color::Green, pick: |one| one.value },
        ],
        share: false,
    },
    Plot {
        title: "Share won",
        curves: &[
            Curve { name: "attackers", colour: Color::Red, pick: |one| one.attackers },
            Curve { name: "defenders", colour: Color::Cyan, pick: |one| one.defenders },
            Curve { name: "draws", colour: Color::DarkGray, pick: |one| one.draws },
        ],
        share: true,
    },
    Plot {
        title: "Game length, plies",
        curves: &[Curve { name: "mean", colour: Color::Yellow, pick: |one| one.plies }],
        share: false,
    },
    Plot {
        title: "Per second",
        curves: &[
            Curve { name: "playouts", colour: Color::Magenta, pick: |one| one.playouts_per_second },
            Curve { name: "evaluations", colour: Color::Cyan, pick: |one| one.evaluations_per_second },
            Curve { name: "samples", colour: Color::Green, pick: |one| one.samples_per_second },
        ],
        share: false,
    },
    Plot {
        title: "Replay window, plies",
        curves: &[Curve { name: "window", colour: Color::Blue, pick: |one| one.window }],
        share: false,
    },
    Plot {
        title: "Reuse of new plies",
        curves: &[Curve { name: "reuse", colour: Color::Blue, pick: |one| one.reuse }],
        share: false,
    },
];

/// Draws everything.
pub(super) fn draw(frame: &mut Frame, view: &View<'_>) {
    let [head, gauge, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)])
            .areas(frame.area());
    let Some(newest) = view.known.last() else {
        frame.render_widget(
            Line::from(vec![Span::from(view.name.to_owned()).bold(), " waits for its first generation".into()]),
            head,
        );
        frame.render_widget(Line::from("q quits").dim(), foot);
        return;
    };
    let games: f64 = view.known.iter().map(|one| one.games).filter(|games| games.is_finite()).sum();
    let heading = format!(
        "  generation {}, {}, {} games, loss {}",
        newest.generation,
        time(newest.elapsed_seconds),
        brief(games),
        brief(newest.loss)
    );
    frame.render_widget(Line::from(vec![Span::from(view.name.to_owned()).bold(), heading.into()]), head);
    let used = if newest.progress.is_finite() { newest.progress.clamp(0.0, 1.0) } else { 0.0 };
    let style = if view.coloured { Style::new().fg(Color::Red) } else { Style::new() };
    let label = format!("{} of the budget ", percent(used));
    frame.render_widget(LineGauge::default().ratio(used).label(label).filled_style(style), gauge);
    charts(frame, body, view, newest);
    frame.render_widget(Line::from("q quits; the charts follow the run").dim(), foot);
}

/// As many charts as there is room for, in a grid; the ends of the games take a place of their own.
fn charts(frame: &mut Frame, body: Rect, view: &View<'_>, newest: &Figures) {
    let columns = (body.width / LEAST.0).clamp(1, 3);
    let rows = (body.height / LEAST.1).clamp(1, 8_u16.div_ceil(columns));
    let places: Vec<Rect> = Layout::vertical(vec![Constraint::Fill(1); usize::from(rows)])
        .split(body)
        .iter()
        .flat_map(|row| Layout::horizontal(vec![Constraint::Fill(1); usize::from(columns)]).split(*row).to_vec())
        .collect();
    // What matters most comes first: strength where it was measured, losses, shares, how games end, and the rest.
    let rated = !view.strength.checkpoints.is_empty();
    let mut panels: Vec<Panel> = PLOTS.iter().map(Panel::Plot).collect();
    panels.insert(2, Panel::Ends);
    if rated {
        panels.insert(0, Panel::Strength);
    }
    for (panel, place) in panels.into_iter().zip(places) {
        match panel {
            Panel::Strength => strength(frame, place, view),
            Panel::Ends => ends(frame, place, newest),
            Panel::Plot(plot) => figures(frame, place, view, plot),
        }
    }
}

/// What takes a place of the grid.
enum Panel {
    Strength,
    Ends,
    Plot(&'static Plot),
}

/// Points of a line with its name and colour.
struct Drawn {
    name: &'static str,
    colour: Color,
    points: Vec<(f64, f64)>,
}

/// Elo per side over the generations that climbed the ladder.
fn strength(frame: &mut Frame, area: Rect, view: &View<'_>) {
    type Pick = fn(&Strength) -> f64;
    let sides: [(&str, Color, Pick); 3] = [
        ("overall", Color::Yellow, |one| one.overall),
        ("attackers", Color::Red, |one| one.attackers),
        ("defenders", Color::Cyan, |one| one.defenders),
    ];
    let lines = sides.map(|(name, colour, pick)| {
        let all = view.strength.checkpoints.iter().map(|one| (f64::from(one.generation), pick(one)));
        let points = all.filter(|(_, elo)| elo.is_finite()).collect();
        Drawn { name, colour, points }
    });
    chart(frame, area, view, "Elo", &lines, false);
    if let (Some(zero), true) = (&view.strength.zero, area.width > 4 && area.height > 0) {
        // On the frame's lower edge: the upper one is full of names.
        let words = format!(" {} is 0 ", printable(zero));
        let width = u16::try_from(words.chars().count()).unwrap_or(u16::MAX).min(area.width - 4);
        let edge = Rect { x: area.x + 2, y: area.bottom() - 1, width, height: 1 };
        frame.render_widget(Line::from(words).dim(), edge);
    }
}

/// One of the plots of what generations measured.
fn figures(frame: &mut Frame, area: Rect, view: &View<'_>, plot: &Plot) {
    let line = |curve: &Curve| {
        let all = view.known.iter().map(|one| (f64::from(one.generation), (curve.pick)(one)));
        let points = all.filter(|(_, value)| value.is_finite()).collect();
        Drawn { name: curve.name, colour: curve.colour, points }
    };
    let lines: Vec<Drawn> = plot.curves.iter().map(line).collect();
    chart(frame, area, view, plot.title, &lines, plot.share);
}

fn chart(frame: &mut Frame, area: Rect, view: &View<'_>, title: &str, lines: &[Drawn], share: bool) {
    let values = || lines.iter().flat_map(|line| &line.points).map(|&(_, value)| value);
    let high = if share { 1.0 } else { values().fold(0.0, f64::max).max(1e-9) * 1.05 };
    let low = values().fold(0.0, f64::min) * 1.05;
    let first = view.known.first().map_or(0.0, |one| f64::from(one.generation));
    let last = view.known.last().map_or(1.0, |one| f64::from(one.generation)).max(first + 1.0);
    let say = |value: f64| if share { percent(value) } else { brief(value) };
    let mut title = vec![Span::from(format!(" {title} ")).bold()];
    for Drawn { name, colour, points } in lines {
        let words = format!("{name} {} ", points.last().map_or("-".to_owned(), |&(_, value)| say(value)));
        title.push(if view.coloured { Span::from(words).fg(*colour) } else { Span::from(words) });
    }
    let datasets = lines.iter().map(|Drawn { colour, points, .. }| {
        let style = if view.coloured { Style::new().fg(*colour) } else { Style::new() };
        Dataset::default().marker(Marker::Braille).graph_type(GraphType::Line).style(style).data(points)
    });
    let chart = Chart::new(datasets.collect())
        .block(Block::bordered().border_style(Style::new().dim()).title(Line::from(title)))
        .x_axis(Axis::default().bounds([first, last]).labels([brief(first), brief(last)]))
        .y_axis(Axis::default().bounds([low, high]).labels([say(low), say(high)]));
    frame.render_widget(chart, area);
}

/// How the games of the latest generation ended, a bar each.
fn ends(frame: &mut Frame, area: Rect, newest: &Figures) {
    let block = Block::bordered().border_style(Style::new().dim()).title(Line::from(" Latest ends ").bold());
    let inside = block.inner(area);
    let widest = newest.ends.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let room = usize::from(inside.width).saturating_sub(widest + 8);
    let lines: Vec<Line> = newest
        .ends
        .iter()
        .map(|(name, share)| {
            let bar = "█".repeat((share * room as f64).round() as usize);
            Line::from(format!("{name:<widest$} {:>5} {bar}", percent(*share)))
        })
        .collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    fn known(generations: u64) -> Vec<Figures> {
        let one = |generation: u64| {
            figures(&serde_json::json!({
                "generation": generation, "progress": 0.25, "elapsed_seconds": 60.0 * generation as f64,
                "selfplay": { "games": 100, "attackers": 0.4, "defenders": 0.5, "draws": 0.1, "mean_plies": 31.5,
                              "ends": {
                    "attackers king_captured": 40, "defenders king_escaped": 50, "draw ply_cap": 10 } },
                "training": { "losses": { "total": 3.0 / generation as f64, "policy": 2.0, "value": 0.7 } },
            }))
            .expect("metrics")
        };
        (1..=generations).map(one).collect()
    }

    fn figures(metrics: &serde_json::Value) -> Option<Figures> {
        let metrics: hnefi_run::GenerationMetrics = serde_json::from_value(metrics.clone()).ok()?;
        Some(Figures::of(&metrics))
    }

    fn drawn(width: u16, height: u16, known: &[Figures]) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        let rung = |generation: u32| Strength {
            generation,
            attackers: -120.0,
            defenders: 40.0 * f64::from(generation),
            overall: 10.0,
            error: 5.0,
            attackers_error: 7.0,
            defenders_error: 7.0,
        };
        let checkpoints = (0..known.len() as u32).step_by(4).map(rung).collect();
        let strength = Strengths { zero: Some("random".into()), checkpoints };
        let view = View { name: "quick", known, strength: &strength, coloured: true };
        terminal.draw(|frame| draw(frame, &view)).expect("drawn");
        terminal.backend().to_string()
    }

    #[test]
    fn a_large_screen_shows_all_charts() {
        let found = drawn(120, 40, &known(9));
        for words in
            ["quick", "generation 9", "25 % of the budget", "Losses", "Share won", "Latest ends", "Per second", "Reuse"]
        {
            assert!(found.contains(words), "{words}\n{found}");
        }
        assert!(found.contains("defenders king escaped   50 %"), "{found}");
        assert!(found.contains("Elo overall") && found.contains("random is 0") && found.contains("-126"), "{found}");
    }

    /// A file of metrics in which each number in turn is what no number should be.
    #[test]
    fn absurd_numbers_are_drawn_and_printed_like_any_other() {
        let sample = serde_json::json!({
            "generation": 2, "progress": 0.25, "elapsed_seconds": 60.0,
            "selfplay": { "games": 100, "attackers": 0.4, "defenders": 0.5, "draws": 0.1, "mean_plies": 31.5,
                          "playouts_per_second": 2.0, "evaluations_per_second": 3.0, "ends": { "draw ply_cap": 10 } },
            "training": { "losses": { "total": 3.0, "policy": 2.0, "value": 0.7 }, "samples_per_second": 5.0,
                          "window_plies": 9, "reuse": 1.5 },
        });
        let mut paths = Vec::new();
        collect(&sample, String::new(), &mut paths);
        assert_eq!(paths.len(), 17);
        let absurd: Vec<serde_json::Value> = [1e18, -1e18, 1e300, -1e300, f64::MAX, f64::MIN, 5e-324, -0.0, 1e15]
            .map(serde_json::Value::from)
            .into_iter()
            .chain([u64::MAX.into(), i64::MIN.into(), "text".into(), true.into(), serde_json::Value::Null])
            .collect();
        for path in paths.iter().map(Some).chain([None]) {
            for value in &absurd {
                let mut changed = sample.clone();
                for path in path.map_or(&paths[..], std::slice::from_ref) {
                    *changed.pointer_mut(path).expect("it is there") = value.clone();
                }
                let mut run = known(1);
                run.extend(figures(&changed));
                for (width, height) in [(30, 10), (120, 40)] {
                    drawn(width, height, &run);
                }
                for figures in &run {
                    assert!(figures.line().len() < 500, "{path:?} = {value}: {}", figures.line());
                }
            }
        }
    }

    /// The places of all numbers.
    fn collect(value: &serde_json::Value, path: String, paths: &mut Vec<String>) {
        match value.as_object() {
            Some(entries) => {
                entries.iter().for_each(|(name, value)| collect(value, format!("{path}/{name}"), paths));
            }
            None => paths.push(path),
        }
    }

    #[test]
    fn absurd_ratings_and_names_are_drawn_too() {
        let absurd = [1e18, -1e18, f64::MAX, f64::MIN, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
        for (elo, generation) in absurd.into_iter().zip([0, 1, u32::MAX, 7, 8, 9, 10]) {
            let rung = Strength {
                generation,
                attackers: elo,
                defenders: -elo,
                overall: elo,
                error: elo,
                attackers_error: elo,
                defenders_error: elo,
            };
            let zero = Some("\u{1b}[2J".repeat(30_000));
            let strength = Strengths { zero, checkpoints: vec![rung] };
            let run = known(3);
            let view = View { name: "quick", known: &run, strength: &strength, coloured: true };
            let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a terminal");
            terminal.draw(|frame| draw(frame, &view)).expect("drawn");
            assert!(!terminal.backend().to_string().contains('\u{1b}'));
        }
    }

    #[test]
    fn any_screen_and_any_run_can_be_drawn() {
        for (width, height) in [(1, 1), (20, 5), (60, 15), (200, 70)] {
            for generations in [0, 1, 2, 50] {
                drawn(width, height, &known(generations));
            }
        }
        assert!(drawn(60, 10, &[]).contains("waits for its first generation"));
    }
}
