//! How numbers are written in a terminal.

/// A share in percent.
pub fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.0} %", 100.0 * share) } else { "-".to_owned() }
}

/// A number in few letters.
pub fn brief(number: f64) -> String {
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
pub fn time(seconds: f64) -> String {
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
    fn numbers_are_brief() {
        let written = [0.5, 7.0, 12.34, 512.3, 1_234.0, 25_937.0, 3_400_000.0, f64::NAN].map(brief);
        assert_eq!(written, ["0.50", "7", "12.3", "512", "1.2k", "26k", "3.4M", "-"]);
        assert_eq!((time(3_725.9), percent(0.125)), ("1:02:05".to_owned(), "12 %".to_owned()));
    }
}
