//! Progress bars; hidden by themselves when standard error is no terminal.

use hnefi_selfplay::printable_lines;
use indicatif::{ProgressBar, ProgressStyle};

/// A bar over a number of games.
pub fn games(count: u64) -> ProgressBar {
    bar(count, "{bar:30} {pos}/{len} games {msg} {eta}")
}

/// A bar over parts of a whole, for work measured in other units; `message` says which.
pub fn share() -> ProgressBar {
    bar(1000, "{prefix:<10} {bar:30} {percent:>3}% {msg}")
}

/// A line that says what goes on, for work without an end.
pub fn spinner() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg}").expect("the template is a constant and valid");
    ProgressBar::new_spinner().with_style(style)
}

/// Prints a line above a bar, or plainly when none is drawn.
pub fn line(bar: &ProgressBar, text: &str) {
    let text = &printable_lines(text);
    if bar.is_hidden() {
        println!("{text}");
    } else {
        bar.println(text);
    }
}

fn bar(length: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is a constant and valid");
    ProgressBar::new(length).with_style(style.progress_chars("━╸─"))
}
