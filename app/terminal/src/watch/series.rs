//! From what is known of runs to the lines of charts: along an axis, smoothed, and with the seeds of a group as one.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};

use hnefi_play::watch::{About, Known, Row};

/// Points of a mean over seeds whose generations do not lie at the same places of the axis.
const GRID: usize = 200;

/// The charts, which the page draws too.
#[derive(Deserialize)]
pub(super) struct Charts {
    /// What the charts are drawn along: a name, and the number that says it, if it is not the generation.
    pub(super) axes: Vec<(String, Option<String>)>,
    plots: Vec<Plot>,
}

/// A chart.
#[derive(Deserialize)]
struct Plot {
    name: String,
    /// Whether its numbers are shares.
    #[serde(default)]
    share: bool,
    /// Its lines, each with the name of its number.
    lines: Vec<(String, String)>,
    /// What the names of its other lines begin with.
    #[serde(default)]
    all: Option<String>,
}

/// The charts and the English texts of the page.
static CHARTS: LazyLock<Charts> = LazyLock::new(|| serde_json::from_str(hnefi_page::PLOTS).expect("a test reads it"));
static TEXTS: LazyLock<Map<String, Value>> =
    LazyLock::new(|| serde_json::from_str(hnefi_page::ENGLISH).expect("a test reads it"));

pub(super) fn charts() -> &'static Charts {
    &CHARTS
}

/// A text of the page.
pub(super) fn text(key: &str) -> String {
    TEXTS.get(key).and_then(Value::as_str).unwrap_or(key).to_owned()
}

/// How charts are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Look {
    /// The axis, by its place.
    pub(super) axis: usize,
    /// Weight of what was before in the moving mean, 0 to below 1.
    pub(super) smoothing: f64,
    /// Whether runs that differ in the seed alone are one line.
    pub(super) seeds: bool,
}

/// A line of a chart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    pub(super) name: String,
    /// The place of its run, or of its number in a chart of one run.
    pub(super) colour: usize,
    pub(super) points: Vec<(f64, f64)>,
    /// The least and the largest of the seeds, where there are several.
    pub(super) band: Option<[Vec<(f64, f64)>; 2]>,
}

/// A chart with its lines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Drawn {
    pub(super) title: String,
    pub(super) share: bool,
    pub(super) lines: Vec<Curve>,
}

/// The charts of these runs: of one run a chart for each plot, of several a chart for each number.
pub(super) fn drawn(runs: &[(About, Known)], look: Look) -> Vec<Drawn> {
    let mut found = Vec::new();
    for plot in &charts().plots {
        let numbers = plot.numbers(runs);
        let title = text(&format!("plot.{}", plot.name));
        let drawn = |title: String, lines: Vec<Curve>| Drawn { title, share: plot.share, lines };
        if let [(_, known)] = runs {
            let line = |(colour, (name, key)): (usize, &(String, String))| {
                let points = smoothed(points(known, key, look.axis), look.smoothing);
                Curve { name: name.clone(), colour, points, band: None }
            };
            let lines: Vec<Curve> = numbers.iter().enumerate().map(line).collect();
            found.push(drawn(title, lines));
        } else {
            for (name, key) in &numbers {
                let title = if numbers.len() > 1 { format!("{title}: {name}") } else { title.clone() };
                found.push(drawn(title, of_runs(runs, key, look)));
            }
        }
    }
    found.retain_mut(|drawn| {
        drawn.lines.retain(|line| !line.points.is_empty());
        !drawn.lines.is_empty()
    });
    found
}

impl Plot {
    /// Its lines with the names of their numbers.
    fn numbers(&self, runs: &[(About, Known)]) -> Vec<(String, String)> {
        let named = |(name, key): &(String, String)| (text(&format!("line.{name}")), key.clone());
        let fixed = self.lines.iter().map(named);
        let Some(prefix) = &self.all else { return fixed.collect() };
        let rows = || runs.iter().flat_map(|(_, known)| known.rows.values());
        let keys: BTreeSet<&String> =
            rows().flat_map(|row| row.values.keys()).filter(|key| key.starts_with(prefix)).collect();
        fixed.chain(keys.into_iter().map(|key| (key[prefix.len()..].replace('_', " "), key.clone()))).collect()
    }
}

/// A number of every run, or of every group of seeds.
fn of_runs(runs: &[(About, Known)], key: &str, look: Look) -> Vec<Curve> {
    let line = |place: usize| smoothed(points(&runs[place].1, key, look.axis), look.smoothing);
    let alone =
        |place: usize| Curve { name: runs[place].0.name.clone(), colour: place, points: line(place), band: None };
    if !look.seeds {
        return (0..runs.len()).map(alone).collect();
    }
    let firsts = (0..runs.len()).filter(|&place| runs[place].0.group == place);
    let grouped = |first: usize| {
        let members: Vec<usize> = (first..runs.len()).filter(|&place| runs[place].0.group == first).collect();
        let lines: Vec<Vec<(f64, f64)>> =
            members.iter().map(|&place| line(place)).filter(|line| !line.is_empty()).collect();
        if lines.len() < 2 {
            return Curve { points: lines.into_iter().next().unwrap_or_default(), ..alone(first) };
        }
        let [low, mean, high] = over(&lines);
        let name = format!("{} ({} seeds)", runs[first].0.name, lines.len());
        Curve { name, colour: first, points: mean, band: Some([low, high]) }
    };
    firsts.map(grouped).collect()
}

/// A number of a run along an axis. The network that the run began with has used up nothing.
fn points(known: &Known, key: &str, axis: usize) -> Vec<(f64, f64)> {
    let along = charts().axes.get(axis).and_then(|(_, key)| key.as_ref());
    let at = |row: &Row| match along {
        None => Some(f64::from(row.generation)),
        Some(_) if row.generation == 0 => Some(0.0),
        Some(along) => row.values.get(along).copied(),
    };
    known.rows.values().filter_map(|row| Some((at(row)?, row.value(key)?))).collect()
}

/// An exponential moving mean, which begins with the first value rather than with zero.
fn smoothed(mut points: Vec<(f64, f64)>, weight: f64) -> Vec<(f64, f64)> {
    let (mut sum, mut of) = (0.0, 0.0);
    for (_, value) in &mut points {
        sum = sum * weight + *value * (1.0 - weight);
        of = of * weight + (1.0 - weight);
        *value = sum / of;
    }
    points
}

/// The least, the mean and the largest of lines as far as all of them reach: where they have points, or on a grid
/// between. A mean of fewer would jump wherever one of them begins or ends.
fn over(lines: &[Vec<(f64, f64)>]) -> [Vec<(f64, f64)>; 3] {
    let mut places: Vec<f64> = lines.iter().flatten().map(|&(at, _)| at).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let longest = lines.iter().map(Vec::len).max().unwrap_or(0);
    if places.len() > longest
        && let [low, .., high] = places[..]
    {
        places = (0..=GRID).map(|step| low + (high - low) * step as f64 / GRID as f64).collect();
    }
    let mut found = [const { Vec::new() }; 3];
    for at in places {
        let Some(values) = lines.iter().map(|line| value_at(line, at)).collect::<Option<Vec<f64>>>() else { continue };
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (line, value) in found.iter_mut().zip([least, mean, largest]) {
            line.push((at, value));
        }
    }
    found
}

/// The value of a line at a place, between two of its points; none outside of the line.
fn value_at(line: &[(f64, f64)], at: f64) -> Option<f64> {
    let after = line.partition_point(|&(place, _)| place < at);
    let &(right, above) = line.get(after)?;
    if right == at {
        return Some(above);
    }
    let &(left, below) = line.get(after.checked_sub(1)?)?;
    Some(below + (above - below) * (at - left) / (right - left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_charts_and_their_texts_are_there() {
        for plot in &charts().plots {
            let lines = plot.lines.iter().map(|(name, _)| format!("line.{name}"));
            for key in lines.chain([format!("plot.{}", plot.name)]) {
                assert_ne!(text(&key), key);
            }
        }
    }

    #[test]
    fn a_moving_mean_begins_with_the_first_value() {
        let line = |values: [f64; 4]| -> Vec<(f64, f64)> { (0..4).map(f64::from).zip(values).collect() };
        assert_eq!(smoothed(line([4.0, 4.0, 4.0, 4.0]), 0.9).last().map(|&(_, y)| (y - 4.0).abs() < 1e-12), Some(true));
        assert_eq!(smoothed(line([1.0, 5.0, 2.0, 3.0]), 0.0), line([1.0, 5.0, 2.0, 3.0]));
        // By hand, with a half: 2, (2 + 2·5)/3, (2 + 2·5 + 4·3)/7.
        let found: Vec<f64> = smoothed(line([2.0, 5.0, 3.0, 3.0]), 0.5).into_iter().map(|(_, y)| y).collect();
        let expected = [2.0, 12.0 / 3.0, 24.0 / 7.0, 48.0 / 15.0];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }

    #[test]
    fn seeds_are_compared_at_the_same_place() {
        let lines = [vec![(1.0, 2.0), (2.0, 4.0), (3.0, 9.0)], vec![(1.0, 6.0), (2.0, 0.0)]];
        let [least, mean, largest] = over(&lines);
        assert_eq!(mean, [(1.0, 4.0), (2.0, 2.0)]);
        assert_eq!((least[1], largest[1]), ((2.0, 0.0), (2.0, 4.0)));
        // Places that differ are met between the points.
        let lines = [vec![(0.0, 0.0), (10.0, 10.0)], vec![(0.0, 2.0), (5.0, 7.0)]];
        let [_, mean, _] = over(&lines);
        let at = |place: f64| mean.iter().find(|&&(at, _)| (at - place).abs() < 1e-9).map(|&(_, value)| value);
        assert_eq!((at(0.0), at(2.5), at(10.0)), (Some(1.0), Some(3.5), None));
    }
}
