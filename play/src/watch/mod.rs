//! How training runs are doing, side by side: printed, as CSV, or followed while they go on.

mod compare;
mod follow;
mod numbers;

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use hnefi_inference::printable;
use hnefi_run::Run;

use crate::PlayError;

pub use compare::{About, Difference, about, differences, names};
pub use follow::{Followed, Known, News, Pace, Ratings, Row, State};
pub use numbers::{brief, percent, time};

/// Prints a line for every generation there is, and for every rating, run by run.
///
/// # Errors
/// When a run cannot be read or nothing can be written.
pub fn print(runs: &[Arc<Run>], mut out: impl Write) -> Result<(), PlayError> {
    let mut line = |text: String| writeln!(out, "{text}").map_err(PlayError::stream("writing"));
    let abouts = about(runs);
    for (run, about) in runs.iter().zip(&abouts) {
        if runs.len() > 1 {
            line(format!("{}:", printable(&about.name)))?;
        }
        let known = Known::of(run)?;
        if known.newest().is_none() {
            line("no generation is complete yet".to_owned())?;
        }
        known.rows.values().filter_map(measured).try_for_each(&mut line)?;
        let zero =
            known.zero.as_ref().map_or_else(|| "the mean is 0".to_owned(), |zero| format!("{} is 0", printable(zero)));
        known.rows.values().filter_map(|row| rated(row, &zero)).try_for_each(&mut line)?;
    }
    for Difference { key, values } in differences(&abouts) {
        line(format!("{key}: {}", values.join(", ")))?;
    }
    out.flush().map_err(PlayError::stream("writing"))
}

/// What a generation measured, in one line.
fn measured(row: &Row) -> Option<String> {
    row.values.get("run/progress")?;
    let value = |name: &str| row.values.get(name).copied().unwrap_or(f64::NAN);
    let fixed = |name: &str, digits: usize| {
        row.values.get(name).map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
    };
    let [loss, policy, rest] = ["loss/total", "loss/policy", "loss/value"].map(|name| fixed(name, 3));
    let [attackers, defenders, draws] =
        ["games/attackers", "games/defenders", "games/draws"].map(|name| percent(value(name)));
    Some(format!(
        "generation {:>4}  {:>9}  loss {loss} (policy {policy}, value {rest})  attackers {attackers} \
         defenders {defenders} draws {draws}  {} plies  {} playouts/s  {} evaluations/s  window {}  reuse {}",
        row.generation,
        time(60.0 * value("run/elapsed_minutes")),
        fixed("games/mean_plies", 0),
        brief(value("speed/playouts")),
        brief(value("speed/evaluations")),
        brief(value("train/window_plies")),
        fixed("train/reuse", 1),
    ))
}

/// How strong it is, in one line.
fn rated(row: &Row, zero: &str) -> Option<String> {
    let value = |name: &str| row.values.get(name).copied();
    let (overall, high) = (value("elo/overall")?, value("elo/overall_high")?);
    Some(format!(
        "generation {:>4}  Elo attackers {:+.0} defenders {:+.0} overall {overall:+.0} ± {:.0} ({zero})",
        row.generation,
        value("elo/attackers")?,
        value("elo/defenders")?,
        high - overall
    ))
}

/// Writes every number of every generation as CSV: a line for each, with the name of its run.
///
/// # Errors
/// When a run cannot be read or nothing can be written.
pub fn csv(runs: &[Arc<Run>], mut out: impl Write) -> Result<(), PlayError> {
    let all = runs.iter().map(Known::of).collect::<Result<Vec<Known>, _>>()?;
    let names = names(runs);
    let rows = || names.iter().zip(&all).flat_map(|(name, known)| known.rows.values().map(move |row| (name, row)));
    let columns: BTreeSet<&String> = rows().flat_map(|(_, row)| row.values.keys()).collect();
    let mut line = |cells: Vec<String>| writeln!(out, "{}", cells.join(",")).map_err(PlayError::stream("writing"));
    let heads = ["run", "generation", "unix_seconds", "stage", "checkpoint"].into_iter();
    line(heads.chain(columns.iter().map(|name| name.as_str())).map(cell).collect())?;
    for (name, row) in rows() {
        let time = if row.unix_seconds > 0.0 { row.unix_seconds.to_string() } else { String::new() };
        let mut cells = vec![cell(name), row.generation.to_string(), time, cell(&row.stage), cell(&row.checkpoint)];
        cells.extend(columns.iter().map(|&name| row.value(name).map_or_else(String::new, |value| value.to_string())));
        line(cells)?;
    }
    out.flush().map_err(PlayError::stream("writing"))
}

/// A cell of a CSV file (RFC 4180).
fn cell(text: &str) -> String {
    let text = printable(text);
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into_owned() }
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
        print(&[Arc::new(Run::open_directory(run.path()).expect("there"))], &mut text).expect("printed");
        let text = String::from_utf8(text).expect("text");
        assert!(text.contains("overall +0 ") && text.contains("(\\u{1b}[2J\\u{202e}opponent is 0)"), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains("absurd"), "{text}");
    }

    #[test]
    fn a_configuration_cannot_steer_the_terminal() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = |name: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).expect("a folder");
            let text =
                serde_json::json!({ "config": { "x\u{1b}[2J\u{202e}y": format!("{name}\u{1b}[2J") } }).to_string();
            std::fs::write(path.join("run.json"), text).expect("a file");
            Arc::new(Run::open_directory(&path).expect("there"))
        };
        let mut text = Vec::new();
        print(&["a", "b"].map(run), &mut text).expect("printed");
        let text = String::from_utf8(text).expect("text");
        assert!(text.contains("x\\u{1b}[2J\\u{202e}y: a\\u{1b}[2J, b\\u{1b}[2J"), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
    }

    #[test]
    fn what_nobody_can_have_measured_is_not_printed() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("metrics")).expect("a folder");
        let text = serde_json::json!({
            "generation": 1, "progress": 0.5, "stage": "a \"small\", first one",
            "selfplay": { "games": 4, "ends": { "\u{1b}[2J": 3, "draw ply_cap": 1 } },
        });
        std::fs::write(folder.path().join("metrics/000001.json"), text.to_string()).expect("a file");
        for (generation, seconds, plies) in [(2, -1e300, 30.0), (3, 60.0, 1e18)] {
            let selfplay = serde_json::json!({ "games": 4, "mean_plies": plies });
            let text =
                serde_json::json!({ "generation": generation, "elapsed_seconds": seconds, "selfplay": selfplay });
            std::fs::write(folder.path().join(format!("metrics/{generation:06}.json")), text.to_string())
                .expect("a file");
        }
        let runs = [Arc::new(Run::open_directory(folder.path()).expect("there"))];
        let written = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut text = Vec::new();
            write(&mut text);
            String::from_utf8(text).expect("text")
        };
        let lines = written(&|out| print(&runs, out).expect("printed"));
        assert!(lines.starts_with("generation    1") && !lines.contains("NaN") && !lines.contains('\u{1b}'), "{lines}");
        let table = written(&|out| csv(&runs, out).expect("written"));
        let [head, row] = table.lines().collect::<Vec<_>>()[..] else { panic!("{table}") };
        assert!(row.contains(",\"a \"\"small\"\", first one\","), "{row}");
        let cells: Vec<&str> = row.split(',').collect();
        // The stage has a comma.
        let at = |name: &str| cells[1 + head.split(',').position(|head| head == name).expect("a column")];
        assert_eq!((at("ends/draw_ply_cap"), at("games/finished")), ("0.25", "4"));
    }
}
