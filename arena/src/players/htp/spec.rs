//! How such a program is named: `htp:COMMAND[,timeout=S]`.

use std::fmt;
use std::time::Duration;

use crate::players::program::{seconds, split};

/// A program and how long it may take.
#[derive(Clone, Debug, PartialEq)]
pub struct HtpSpec {
    /// Program and arguments, separated by spaces; quotes and backslashes as in a shell.
    pub command: String,
    /// How long a move may take.
    pub timeout: Duration,
}

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

impl HtpSpec {
    /// Reads what follows `htp:`.
    ///
    /// # Errors
    /// What is wrong with it and what was expected.
    pub(in crate::players) fn parse(text: &str) -> Result<HtpSpec, String> {
        let setting =
            text.rsplit_once(',').and_then(|(before, last)| Some((before, last.trim().strip_prefix("timeout=")?)));
        let (command, timeout) = match setting {
            Some((before, value)) if !value.contains(['\'', '"']) => (before, seconds(value)?),
            _ => (text, DEFAULT_TIMEOUT),
        };
        let spec = HtpSpec { command: command.trim().to_owned(), timeout };
        spec.words()?;
        Ok(spec)
    }

    /// The program and its arguments, at least one word.
    pub(super) fn words(&self) -> Result<Vec<String>, String> {
        let words = split(&self.command)?;
        if words.is_empty() {
            return Err("the command is missing; expected a program and its arguments, as in \
                        htp:hnefatafl-text-protocol --ai basic --depth 3 --host localhost"
                .to_owned());
        }
        Ok(words)
    }
}

impl fmt::Display for HtpSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.command)?;
        match self.timeout {
            DEFAULT_TIMEOUT => Ok(()),
            timeout => write!(f, ",timeout={}", timeout.as_secs_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_round_trip_and_refusals_say_what_is_expected() {
        for text in ["ai --host localhost", "ai 'a,timeout=3'", "ai --x 1,2,timeout=0.5"] {
            assert_eq!(HtpSpec::parse(text).expect(text).to_string(), text);
        }
        for (text, message) in
            [(",timeout=5", "the command is missing"), ("ai,timeout=soon", "timeout \"soon\": expected seconds from")]
        {
            let problem = HtpSpec::parse(text).expect_err(text);
            assert!(problem.contains(message), "{text:?}: {problem}");
        }
    }
}
