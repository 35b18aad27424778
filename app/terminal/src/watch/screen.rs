//! The screen: a heading, the charts of a page, and the keys.

use hnefi_inference::printable;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Chart, Dataset, GraphType, LineGauge, Paragraph};

use super::series::{Drawn, Look, charts, drawn, text};
use hnefi_play::watch::{About, Difference, Known, brief, percent, time};

/// Rows and columns a chart needs to say anything.
const LEAST: (u16, u16) = (28, 8);

/// Colours of lines, which terminals show on dark and on light; beyond them the same with other dots.
const COLOURS: [Color; 7] =
    [Color::Cyan, Color::Yellow, Color::Magenta, Color::Green, Color::Red, Color::Blue, Color::Gray];

/// What is drawn.
pub(super) struct View<'a> {
    pub(super) runs: &'a [(About, Known)],
    pub(super) differences: &'a [Difference],
    pub(super) look: Look,
    /// The page, from 0; beyond the last one the last one.
    pub(super) page: usize,
    pub(super) coloured: bool,
    /// Now, in seconds since 1970.
    pub(super) now: f64,
}

/// What takes a place of the grid.
enum Panel {
    Runs,
    Chart(Drawn),
    Ends(Vec<(String, f64)>),
    Differences,
}

/// Draws everything. Returns the page that was drawn.
pub(super) fn draw(frame: &mut Frame, view: &View<'_>) -> usize {
    let heads: u16 = if view.runs.len() == 1 { 3 } else { 1 };
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(heads), Constraint::Min(0), Constraint::Length(1)]).areas(frame.area());
    heading(frame, head, view);
    if view.runs.iter().all(|(_, known)| known.newest().is_none()) {
        frame.render_widget(Line::from("q quits").dim(), foot);
        return 0;
    }
    let panels = panels(view);
    let columns = (body.width / LEAST.0).clamp(1, 3);
    let most = panels.len().div_ceil(usize::from(columns));
    let rows = (body.height / LEAST.1).clamp(1, u16::try_from(most).unwrap_or(u16::MAX));
    let each = usize::from(columns * rows);
    let pages = panels.len().div_ceil(each);
    let page = view.page.min(pages - 1);
    let places = Layout::vertical(vec![Constraint::Fill(1); usize::from(rows)])
        .split(body)
        .iter()
        .flat_map(|row| Layout::horizontal(vec![Constraint::Fill(1); usize::from(columns)]).split(*row).to_vec())
        .collect::<Vec<Rect>>();
    for (panel, place) in panels.iter().skip(page * each).zip(places) {
        match panel {
            Panel::Runs => runs(frame, place, view),
            Panel::Chart(drawn) => chart(frame, place, view, drawn),
            Panel::Ends(ends) => bars(frame, place, ends),
            Panel::Differences => differences(frame, place, view),
        }
    }
    let (axis, smoothing) = (&charts().axes[view.look.axis].0, view.look.smoothing);
    let mut keys = vec![format!("page {} of {pages} ← →", page + 1), format!("x: {axis}")];
    keys.push(format!("s: smoothing {smoothing}"));
    if view.runs.iter().enumerate().any(|(place, (about, _))| about.group != place) {
        keys.push(format!("g: seeds {}", if view.look.seeds { "as one" } else { "apart" }));
    }
    keys.push("q: quit".to_owned());
    frame.render_widget(Line::from(keys.join("  ")).dim(), foot);
    page
}

/// What there is to draw, what matters most first.
fn panels(view: &View<'_>) -> Vec<Panel> {
    let mut panels: Vec<Panel> = drawn(view.runs, view.look).into_iter().map(Panel::Chart).collect();
    match view.runs {
        [(_, known)] => {
            let values = known.newest().into_iter().flat_map(|newest| &newest.values);
            let end = |(name, &share): (&String, &f64)| {
                Some((printable(&name.strip_prefix("ends/")?.replace('_', " ")).into_owned(), share.clamp(0.0, 1.0)))
            };
            let mut ends: Vec<(String, f64)> = values.filter_map(end).collect();
            ends.sort_by(|a, b| b.1.total_cmp(&a.1));
            panels.insert(panels.len().min(3), Panel::Ends(ends));
        }
        _ => {
            panels.insert(0, Panel::Runs);
            panels.push(Panel::Differences);
        }
    }
    panels
}

/// How much of the budget is used up, and what is left of it.
fn budget(known: &Known, now: f64) -> (f64, String) {
    let progress = known.newest().and_then(|row| row.values.get("run/progress")).copied().unwrap_or(0.0);
    let used = if known.state.finished { 1.0 } else { progress.clamp(0.0, 1.0) };
    let left = known.state.ends - now;
    let left = if known.state.finished {
        "complete".to_owned()
    } else if known.state.ends > 0.0 && left > 0.0 {
        format!("{} left", time(left))
    } else {
        String::new()
    };
    (used, left)
}

/// The generation under way and how long it has been.
fn under_way(known: &Known, now: f64) -> Option<String> {
    let newest = known.newest().map_or(0, |row| row.generation);
    let since = known.state.since;
    let what = if known.state.trains { "training" } else { "self-play" };
    let time = (since > 0.0 && now > since).then(|| format!(" for {}", time(now - since)));
    (!known.state.finished).then(|| format!("generation {}: {what}{}", newest + 1, time.unwrap_or_default()))
}

/// Of one run its generation, its budget, and what trains it; of several how many there are.
fn heading(frame: &mut Frame, area: Rect, view: &View<'_>) {
    let [(about, known)] = view.runs else {
        let words = format!(
            "{} runs, drawn by {}",
            view.runs.len(),
            text(&format!("axis.{}", charts().axes[view.look.axis].0))
        );
        frame.render_widget(Line::from(words).bold(), area);
        return;
    };
    let [first, second, third] = Layout::vertical([Constraint::Length(1); 3]).areas(area);
    let name = Span::from(printable(&about.name).into_owned()).bold();
    let Some(newest) = known.newest() else {
        frame.render_widget(Line::from(vec![name, " waits for its first generation".into()]), first);
        return;
    };
    let value = |name: &str| newest.values.get(name).copied().unwrap_or(f64::NAN);
    let words = format!(
        "  generation {}, {}, {} games, loss {}",
        newest.generation,
        time(60.0 * value("run/elapsed_minutes")),
        brief(value("run/games")),
        brief(value("loss/total"))
    );
    frame.render_widget(Line::from(vec![name, words.into()]), first);
    let (used, left) = budget(known, view.now);
    let style = if view.coloured { Style::new().fg(Color::Red) } else { Style::new() };
    let left = if left.is_empty() { left } else { format!(", {left}") };
    let label = format!("{} of the budget{left} ", percent(used));
    frame.render_widget(LineGauge::default().ratio(used).label(label).filled_style(style), second);
    let seed = about.seed.map(|seed| format!("seed {seed}"));
    let machine = Some(about.machine.clone()).filter(|machine| !machine.is_empty());
    let parts: Vec<String> = [under_way(known, view.now), seed, machine].into_iter().flatten().collect();
    frame.render_widget(Line::from(parts.join("; ")).dim(), third);
}

/// A line for each run, in the colour that it has in all charts.
fn runs(frame: &mut Frame, area: Rect, view: &View<'_>) {
    let line = |(place, (about, known)): (usize, &(About, Known))| {
        let (used, left) = budget(known, view.now);
        let newest = known.newest().map_or(0, |row| row.generation);
        let words = format!(" {}  gen {newest}, {} {left}", printable(&about.name), percent(used));
        Line::from(vec![tinted("━━".to_owned(), place, view), words.into()])
    };
    let lines: Vec<Line> = view.runs.iter().enumerate().map(line).collect();
    frame.render_widget(Paragraph::new(lines).block(framed("Runs")), area);
}

/// The keys of the configurations that are not the same.
fn differences(frame: &mut Frame, area: Rect, view: &View<'_>) {
    let mut lines = Vec::new();
    for Difference { key, values } in view.differences {
        let mut spans = vec![Span::from(format!("{key} "))];
        spans.extend(values.iter().enumerate().map(|(place, value)| tinted(format!(" {value}"), place, view)));
        lines.push(Line::from(spans));
    }
    if lines.is_empty() {
        lines.push(Line::from("none"));
    }
    frame.render_widget(Paragraph::new(lines).block(framed("Configurations differ in")), area);
}

fn framed(title: &str) -> Block<'static> {
    Block::bordered().border_style(Style::new().dim()).title(Line::from(format!(" {title} ")).bold())
}

/// Words in the colour of a line.
fn tinted(words: String, place: usize, view: &View<'_>) -> Span<'static> {
    let words = Span::from(words);
    if view.coloured { words.fg(COLOURS[place % COLOURS.len()]) } else { words }
}

fn chart(frame: &mut Frame, area: Rect, view: &View<'_>, Drawn { title, share, lines }: &Drawn) {
    let bands = || lines.iter().flat_map(|line| line.band.iter().flatten());
    let points = || lines.iter().map(|line| &line.points).chain(bands()).flatten();
    let values = || points().map(|&(_, value)| value);
    let high = if *share { 1.0 } else { values().fold(0.0, f64::max).max(1e-9) * 1.05 };
    let low = values().fold(0.0, f64::min) * 1.05;
    let first = points().map(|&(at, _)| at).fold(f64::INFINITY, f64::min);
    let last = points().map(|&(at, _)| at).fold(first + 1e-9, f64::max);
    let say = |value: f64| if *share { percent(value) } else { brief(value) };
    // What the upper edge of the frame has no room for stands on the lower one.
    let (mut above, mut below) = (vec![Span::from(format!(" {title} ")).bold()], Vec::new());
    let mut room = usize::from(area.width).saturating_sub(title.chars().count() + 4);
    for line in lines {
        let value = line.points.last().map_or("-".to_owned(), |&(_, value)| say(value));
        // Several runs are named in a place of their own.
        let words =
            if view.runs.len() == 1 { format!("{} {value} ", printable(&line.name)) } else { format!("{value} ") };
        let fits = below.is_empty() && words.chars().count() <= room;
        room = room.saturating_sub(words.chars().count());
        let edge = if fits { &mut above } else { &mut below };
        edge.push(tinted(words, line.colour, view));
    }
    let style = |colour: usize| match view.coloured {
        true => Style::new().fg(COLOURS[colour % COLOURS.len()]),
        false => Style::new(),
    };
    let mut datasets = Vec::new();
    for line in lines {
        for edge in line.band.iter().flatten() {
            datasets.push(Dataset::default().marker(Marker::Dot).style(style(line.colour).dim()).data(edge));
        }
        let marker = if line.colour < COLOURS.len() { Marker::Braille } else { Marker::Dot };
        let drawn = Dataset::default().marker(marker).graph_type(GraphType::Line);
        datasets.push(drawn.style(style(line.colour)).data(&line.points));
    }
    let block = Block::bordered().border_style(Style::new().dim()).title(Line::from(above));
    let block = block.title_bottom(Line::from(below).right_aligned());
    let chart = Chart::new(datasets)
        .block(block)
        .x_axis(Axis::default().bounds([first, last]).labels([brief(first), brief(last)]))
        .y_axis(Axis::default().bounds([low, high]).labels([say(low), say(high)]));
    frame.render_widget(chart, area);
    let zero = view.runs.iter().find_map(|(_, known)| known.zero.as_ref());
    if let (Some(zero), true) = (zero, title.starts_with(&text("plot.elo")) && area.width > 4 && area.height > 0) {
        // On the frame's lower edge: the upper one is full of names.
        let words = format!(" {} is 0 ", printable(zero));
        let width = u16::try_from(words.chars().count()).unwrap_or(u16::MAX).min(area.width - 4);
        let edge = Rect { x: area.x + 2, y: area.bottom() - 1, width, height: 1 };
        frame.render_widget(Line::from(words).dim(), edge);
    }
}

/// How the games of the latest generation ended, a bar each.
fn bars(frame: &mut Frame, area: Rect, ends: &[(String, f64)]) {
    let block = framed("Latest ends");
    let inside = block.inner(area);
    let widest = ends.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(40);
    let room = usize::from(inside.width).saturating_sub(widest + 8);
    let line = |(name, share): &(String, f64)| {
        let (name, bar): (String, _) =
            (name.chars().take(40).collect(), "█".repeat((share * room as f64).round() as usize));
        Line::from(format!("{name:<widest$} {:>5} {bar}", percent(*share)))
    };
    frame.render_widget(Paragraph::new(ends.iter().map(line).collect::<Vec<_>>()).block(block), area);
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use hnefi_play::watch::{News, Ratings, Row, State, differences};

    use super::*;

    fn row(generation: u32, values: &[(&str, f64)]) -> Row {
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        Row { generation, values, ..Row::default() }
    }

    /// A run of this number of generations, with a ladder.
    fn run(name: &str, seed: u64, generations: u32) -> (About, Known) {
        let settings = [("run.seed", seed.to_string()), ("train.rate", "0.1".to_owned())];
        let about = About {
            name: name.to_owned(),
            seed: Some(seed),
            machine: "a processor, 2 threads".to_owned(),
            settings: settings.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            ..About::default()
        };
        let one = |generation: u32| {
            let age = f64::from(generation);
            row(
                generation,
                &[
                    ("run/progress", 0.25),
                    ("run/elapsed_minutes", age),
                    ("run/wall_minutes", age),
                    ("run/games", 100.0 * age),
                    ("loss/total", (2.0 + seed as f64) / age),
                    ("loss/policy", 2.0),
                    ("loss/value", 0.7),
                    ("games/attackers", 0.4),
                    ("games/draws", 0.1),
                    ("games/defenders", 0.5),
                    ("games/mean_plies", 31.5),
                    ("games/distinct_openings", 0.9),
                    ("speed/playouts", 1_000.0),
                    ("search/surprise", 0.5),
                    ("train/window_plies", 9e4),
                    ("train/reuse", 1.5),
                    ("ends/attackers_king_captured", 0.4),
                    ("ends/defenders_king_escaped", 0.5),
                    ("ends/draw_ply_cap", 0.1),
                ],
            )
        };
        let rung = |generation: u32| row(generation, &[("elo/overall", 10.0), ("elo/attackers", -120.0)]);
        let mut known = Known::default();
        known.add(News {
            rows: (1..=generations).map(one).collect(),
            ratings: (generations > 0).then(|| Ratings {
                zero: Some("random".to_owned()),
                rows: (0..=generations).step_by(4).map(rung).collect(),
            }),
            state: Some(State { since: 1_000.0, each: 60.0, ends: 8_260.0, ..State::default() }),
        });
        (about, known)
    }

    /// The screen at a page, and the page that it is.
    fn screen((width, height): (u16, u16), runs: &[(About, Known)], look: Look, page: usize) -> (String, usize) {
        let abouts: Vec<About> = runs.iter().map(|(about, _)| about.clone()).collect();
        let found = differences(&abouts);
        let view = View { runs, differences: &found, look, page, coloured: true, now: 1_060.0 };
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        let mut at = 0;
        terminal.draw(|frame| at = draw(frame, &view)).expect("drawn");
        (terminal.backend().to_string(), at)
    }

    #[test]
    fn a_large_screen_shows_all_charts() {
        let (found, _) = screen((120, 50), &[run("quick", 1, 9)], Look::default(), 0);
        for words in [
            "quick",
            "generation 9, 0:09:00, 900 games",
            "25 % of the budget, 2:00:00 left",
            "generation 10: self-play for 0:01:00; seed 1; a processor, 2 threads",
            "Losses",
            "Share won",
            "Latest ends",
            "Per second",
            "Reuse",
            "Elo per side overall 10",
            "attackers -120 ",
            "random is 0",
            "page 1 of 1",
        ] {
            assert!(found.contains(words), "{words}\n{found}");
        }
        assert!(found.contains("defenders king escaped   50 %"), "{found}");
    }

    #[test]
    fn a_small_screen_shows_all_charts_page_by_page() {
        for runs in [vec![run("quick", 1, 9)], vec![run("one", 1, 9), run("two", 2, 7), run("three", 3, 0)]] {
            let (mut seen, mut page) = (String::new(), 0);
            loop {
                let (found, at) = screen((80, 24), &runs, Look::default(), page);
                assert!(found.lines().all(|line| line.chars().count() <= 82), "{found}");
                if at < page {
                    break;
                }
                assert!(found.contains(&format!("page {} of ", page + 1)) && found.contains("q: quit"), "{found}");
                seen += &found;
                page += 1;
            }
            assert!(page > 2, "{page} pages");
            for title in
                ["Elo per side", "Losses", "Share won", "Game length", "Per second", "Openings", "Replay", "Search"]
            {
                assert!(seen.contains(title), "{title}\n{seen}");
            }
        }
    }

    #[test]
    fn several_runs_are_told_apart_and_seeds_become_one() {
        let mut runs = [run("one", 1, 9), run("two", 2, 7)];
        runs[1].0.group = 0;
        let (found, _) = screen((120, 200), &runs, Look::default(), 0);
        for words in ["2 runs", "one  gen 9, 25 %", "two  gen 7", "Losses: total 0.33 0.57", "run.seed  1 2"] {
            assert!(found.contains(words), "{words}\n{found}");
        }
        assert!(!found.contains("train.rate") && found.contains("g: seeds apart"), "{found}");
        let (found, _) = screen((120, 200), &runs, Look { seeds: true, ..Look::default() }, 0);
        // The second run ends before the first: (3 + 4) / 2 / 7.
        assert!(found.contains("Losses: total 0.50 ") && found.contains("g: seeds as one"), "{found}");
    }

    #[test]
    fn any_screen_any_run_and_any_number_can_be_drawn() {
        let absurd = [0.0, -0.0, 1e15, -1e15, 5e-324, 0.5];
        for size in [(1, 1), (20, 5), (60, 15), (200, 70)] {
            for generations in [0, 1, 2, 50] {
                for look in [Look::default(), Look { axis: 3, smoothing: 0.9, seeds: true }] {
                    screen(size, &[run("quick", 1, generations)], look, 9);
                    screen(size, &[run("quick", 1, generations), run("two", 2, 3)], look, 1);
                }
            }
            for value in absurd {
                let (about, mut known) = run(&"\u{1b}[2J".repeat(30_000), 1, 3);
                known.zero = Some("\u{1b}[2J".repeat(30_000));
                for values in known.rows.values_mut().map(|row| &mut row.values) {
                    values.values_mut().for_each(|known| *known = value);
                    values.insert("ends/\u{1b}[2J".to_owned(), value);
                }
                let (found, _) = screen(size, &[(about, known)], Look::default(), 0);
                assert!(!found.contains('\u{1b}'));
            }
        }
        assert!(
            screen((60, 10), &[run("quick", 1, 0)], Look::default(), 0).0.contains("waits for its first generation")
        );
    }
}
