//! Results, on standard output. Where `println!` would panic, what cannot be written is an error as any other, and a
//! reader that went away ends the command in peace (`main`).

use std::fmt::Display;
use std::io::{BufWriter, StdoutLock, Write};

use anyhow::Context;

/// Writes a line.
pub fn line(text: impl Display) -> anyhow::Result<()> {
    write(|out| writeln!(out, "{text}"))
}

/// Writes a text with the line breaks that it has.
#[cfg(feature = "train")]
pub fn text(text: impl Display) -> anyhow::Result<()> {
    write(|out| write!(out, "{text}"))
}

/// Lets `write` write, and hands all of it on.
pub fn write(write: impl FnOnce(&mut BufWriter<StdoutLock<'static>>) -> std::io::Result<()>) -> anyhow::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    write(&mut out).and_then(|()| out.flush()).context("writing to standard output")
}

/// Writes help or the version, in colours on a terminal.
pub fn clap(text: &clap::Error) -> anyhow::Result<()> {
    text.print().and_then(|()| std::io::stdout().flush()).context("writing to standard output")
}

/// One outcome of two things that are both tried; two errors are reported together.
pub fn both(first: anyhow::Result<()>, second: anyhow::Result<()>) -> anyhow::Result<()> {
    match (first, second) {
        (Err(first), Err(second)) => {
            Err(anyhow::anyhow!("{}; {}", crate::error_text(&first), crate::error_text(&second)))
        }
        (first, second) => first.and(second),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_errors_both_are_told() {
        let failed = |text: &'static str| -> anyhow::Result<()> { Err(std::io::Error::other(text)).context("writing") };
        let told = |outcome: anyhow::Result<()>| outcome.err().map(|error| crate::error_text(&error));
        assert_eq!(told(both(Ok(()), Ok(()))), None);
        assert_eq!(told(both(failed("a"), Ok(()))).as_deref(), Some("writing: a"));
        assert_eq!(told(both(Ok(()), failed("b"))).as_deref(), Some("writing: b"));
        assert_eq!(told(both(failed("a"), failed("b"))).as_deref(), Some("writing: a; writing: b"));
    }
}
