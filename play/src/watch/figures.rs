//! The numbers of a generation that are shown, and how numbers are written.

use hnefi_inference::printable;
use hnefi_run::GenerationMetrics;

/// A number beyond this, above or below zero, was not measured by anybody.
const LARGEST: f64 = 1e15;

/// Letters of a name, beyond which it is cut.
const LONGEST: usize = 40;

/// What is shown of a generation. Numbers that are beyond all measure are no numbers (NaN).
#[derive(Clone, Debug)]
pub(super) struct Figures {
    pub(super) generation: u32,
    pub(super) progress: f64,
    pub(super) elapsed_seconds: f64,
    pub(super) games: f64,
    pub(super) attackers: f64,
    pub(super) defenders: f64,
    pub(super) draws: f64,
    pub(super) plies: f64,
    pub(super) playouts_per_second: f64,
    pub(super) evaluations_per_second: f64,
    pub(super) samples_per_second: f64,
    pub(super) loss: f64,
    pub(super) policy: f64,
    pub(super) value: f64,
    pub(super) window: f64,
    pub(super) reuse: f64,
    /// Share of the games by how they ended, the frequent ones first.
    pub(super) ends: Vec<(String, f64)>,
}

impl Figures {
    /// What is shown of these metrics.
    pub(super) fn of(metrics: &GenerationMetrics) -> Figures {
        let number = |number: f64| if number.abs() <= LARGEST { number } else { f64::NAN };
        let (selfplay, training) = (&metrics.selfplay, &metrics.training);
        let games = selfplay.games as f64;
        let end = |(name, &count): (&String, &u64)| {
            let name: String = name.replace('_', " ").chars().take(LONGEST).collect();
            (printable(&name).into_owned(), (count as f64 / games.max(1.0)).clamp(0.0, 1.0))
        };
        let mut ends: Vec<(String, f64)> = selfplay.ends.iter().map(end).collect();
        ends.sort_by(|a, b| b.1.total_cmp(&a.1));
        Figures {
            generation: metrics.generation,
            progress: number(metrics.progress),
            elapsed_seconds: number(metrics.elapsed_seconds),
            games: number(games),
            attackers: number(selfplay.attackers),
            defenders: number(selfplay.defenders),
            draws: number(selfplay.draws),
            plies: number(selfplay.mean_plies),
            playouts_per_second: number(selfplay.playouts_per_second),
            evaluations_per_second: number(selfplay.evaluations_per_second),
            samples_per_second: number(training.samples_per_second),
            loss: number(training.losses.total.into()),
            policy: number(training.losses.policy.into()),
            value: number(training.losses.value.into()),
            window: number(training.window_plies as f64),
            reuse: number(training.reuse),
            ends,
        }
    }

    /// The generation in one line.
    pub(super) fn line(&self) -> String {
        let [loss, policy, value] = [self.loss, self.policy, self.value].map(|loss| fixed(loss, 3));
        format!(
            "generation {:>4}  {:>9}  loss {loss} (policy {policy}, value {value})  attackers {} defenders {} \
             draws {}  {} plies  {} playouts/s  {} evaluations/s  window {}  reuse {}",
            self.generation,
            time(self.elapsed_seconds),
            percent(self.attackers),
            percent(self.defenders),
            percent(self.draws),
            fixed(self.plies, 0),
            brief(self.playouts_per_second),
            brief(self.evaluations_per_second),
            brief(self.window),
            fixed(self.reuse, 1),
        )
    }
}

/// A number with `digits` digits behind the point.
fn fixed(number: f64, digits: usize) -> String {
    if number.is_finite() { format!("{number:.digits$}") } else { "-".to_owned() }
}

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.0} %", 100.0 * share) } else { "-".to_owned() }
}

/// A number in few letters.
pub(super) fn brief(number: f64) -> String {
    match number.abs() {
        size if !size.is_finite() => "-".to_owned(),
        size if size >= 1e6 => format!("{:.1}M", number / 1e6),
        size if size >= 1e4 => format!("{:.0}k", number / 1e3),
        size if size >= 1e3 => format!("{:.1}k", number / 1e3),
        size if size >= 100.0 || number.fract() == 0.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// Seconds as hours, minutes and seconds.
pub(super) fn time(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "-".to_owned();
    }
    let whole = seconds.max(0.0) as u64;
    format!("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_can_have_measured_is_not_shown() {
        let metrics: GenerationMetrics = serde_json::from_value(serde_json::json!({
            "generation": 3, "elapsed_seconds": -1e300,
            "selfplay": {
                "games": 2, "mean_plies": 1e18, "ends": { "\u{1b}[2J": 1_000_000, "draw ply_cap": 1, "x": 0 }
            },
        }))
        .expect("metrics");
        let figures = Figures::of(&metrics);
        assert!(figures.plies.is_nan() && figures.elapsed_seconds.is_nan());
        assert!(figures.line().starts_with("generation    3") && !figures.line().contains("NaN"), "{}", figures.line());
        let ends =
            [("\\u{1b}[2J", 1.0), ("draw ply cap", 0.5), ("x", 0.0)].map(|(name, share)| (name.to_owned(), share));
        assert_eq!(figures.ends, ends);
    }

    #[test]
    fn numbers_are_brief() {
        let written = [0.5, 7.0, 12.34, 512.3, 1_234.0, 25_937.0, 3_400_000.0, f64::NAN].map(brief);
        assert_eq!(written, ["0.50", "7", "12.3", "512", "1.2k", "26k", "3.4M", "-"]);
        assert_eq!((time(3_725.9), percent(0.125)), ("1:02:05".to_owned(), "12 %".to_owned()));
    }
}
