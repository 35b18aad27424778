//! How an external program is named: `uci:COMMAND[,nodes=N|,movetime=MS][,timeout=S][,option.NAME=VALUE]...`.
//!
//! A command may hold anything, spaces, commas and `=` included. Settings are read from the right: the last parts
//! after a comma that are `nodes=`, `movetime=`, `timeout=` or `option.NAME=`, each at most once and only one of the
//! first two. Everything before them is the command.

use std::fmt;
use std::time::Duration;

use crate::players::Limit;
use crate::players::spec::{seconds, whole};

/// A program and how it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct UciSpec {
    /// Program and arguments, separated by spaces; quotes and backslashes as in a shell.
    pub command: String,
    /// How long it thinks, in whole milliseconds where time is the limit.
    pub limit: Limit,
    /// How long an answer may take beyond the time that the limit allows.
    pub timeout: Duration,
    /// Names and values that `setoption` tells the program before its first game, in this order.
    pub options: Vec<(String, String)>,
}

const DEFAULT_LIMIT: Limit = Limit::Time(Duration::from_secs(1));
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
const TIMEOUT: (f64, f64) = (0.01, 3600.0);
const NODES: (u32, u32) = (1, 1_000_000_000);
const MILLISECONDS: (u32, u32) = (1, 3_600_000);

impl UciSpec {
    /// Reads what follows `uci:`.
    ///
    /// # Errors
    /// What is wrong with it and what was expected.
    pub(in crate::players) fn parse(text: &str) -> Result<UciSpec, String> {
        let (mut command, mut limit, mut timeout, mut options) = (text, None, None, Vec::new());
        while let Some((before, setting)) = command.rsplit_once(',') {
            // What ends within quotes is an argument.
            let setting = setting.trim().split_once('=').filter(|(_, value)| !value.contains(['\'', '"']));
            match setting {
                Some(("nodes", value)) if limit.is_none() => {
                    limit = Some(Limit::Playouts(whole("nodes", value, NODES)?));
                }
                Some(("movetime", value)) if limit.is_none() => {
                    let milliseconds = whole("movetime", value, MILLISECONDS)?;
                    limit = Some(Limit::Time(Duration::from_millis(milliseconds.into())));
                }
                Some(("nodes" | "movetime", _)) => {
                    return Err("more than one limit; expected nodes=N or movetime=MS, not both".to_owned());
                }
                Some(("timeout", value)) if timeout.is_none() => timeout = Some(seconds("timeout", value, TIMEOUT)?),
                Some(("timeout", value)) if seconds("timeout", value, TIMEOUT).is_ok() => {
                    return Err("more than one timeout; expected one".to_owned());
                }
                Some((key, value)) => match key.strip_prefix("option.") {
                    Some(name) => options.push(option(name, value, &options)?),
                    None => break,
                },
                None => break,
            }
            command = before;
        }
        options.reverse();
        let command = command.trim().to_owned();
        let (limit, timeout) = (limit.unwrap_or(DEFAULT_LIMIT), timeout.unwrap_or(DEFAULT_TIMEOUT));
        let spec = UciSpec { command, limit, timeout, options };
        spec.words()?;
        Ok(spec)
    }

    /// What `go` says: a limit's name and value in the protocol.
    pub(super) fn go(&self) -> (&'static str, u128) {
        match self.limit {
            Limit::Playouts(count) => ("nodes", count.into()),
            Limit::Time(time) => ("movetime", time.as_millis()),
        }
    }

    /// The program and its arguments, at least one word.
    pub(super) fn words(&self) -> Result<Vec<String>, String> {
        let open = || format!("the command {:?} ends within a quotation", self.command);
        let words = shlex::split(&self.command).ok_or_else(open)?;
        if words.is_empty() {
            return Err("the command is missing; expected a program and its arguments, as in \
                        uci:./engine --threads 2,nodes=800"
                .to_owned());
        }
        Ok(words)
    }
}

/// An option's name and value; `others` are those after it.
fn option(name: &str, value: &str, others: &[(String, String)]) -> Result<(String, String), String> {
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || value.is_empty() {
        return Err(format!(
            "option.{name}={value}: expected a name and a value, as in option.Variant=historical11x11"
        ));
    }
    if others.iter().any(|(other, _)| other == name) {
        return Err(format!("option.{name} more than once; expected one value"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

impl fmt::Display for UciSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, value) = self.go();
        write!(f, "{},{name}={value}", self.command)?;
        if self.timeout != DEFAULT_TIMEOUT {
            write!(f, ",timeout={}", self.timeout.as_secs_f64())?;
        }
        self.options.iter().try_for_each(|(name, value)| write!(f, ",option.{name}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> UciSpec {
        UciSpec::parse(text).unwrap_or_else(|problem| panic!("{text}: {problem}"))
    }

    #[test]
    fn settings_are_read_from_the_right_and_the_rest_is_the_command() {
        let one = |command: &str, limit| UciSpec {
            command: command.to_owned(),
            limit,
            timeout: DEFAULT_TIMEOUT,
            options: Vec::new(),
        };
        assert_eq!(spec("./engine"), one("./engine", Limit::Time(Duration::from_secs(1))));
        assert_eq!(spec("./engine -a 1,b=2,nodes=800"), one("./engine -a 1,b=2", Limit::Playouts(800)));
        let timed =
            UciSpec { timeout: Duration::from_millis(500), ..one("x,y", Limit::Time(Duration::from_millis(50))) };
        assert_eq!(spec("x,y,timeout=0.5,movetime=50"), timed);
        assert_eq!(spec("x,y,movetime=50, timeout=0.5"), timed);
        // Behind an argument that looks like a setting, the settings are written out.
        assert_eq!(spec("x,timeout=1,b=2,nodes=5").command, "x,timeout=1,b=2");
        assert_eq!(spec("sh -c 'x,nodes=5'").command, "sh -c 'x,nodes=5'");
        let told = spec("x,option.Variant=historical11x11,nodes=5,option.Multi PV = 2,timeout=1");
        let options = [("Variant", "historical11x11"), ("Multi PV", "2")];
        assert_eq!(told.options, options.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!((&*told.command, told.limit), ("x", Limit::Playouts(5)));
    }

    #[test]
    fn specs_round_trip() {
        for text in
            ["./engine --a 1,movetime=1000", "sh -c 'x, y',nodes=5,timeout=0.25", "x,nodes=5,option.A=b,option.C=d e"]
        {
            assert_eq!(spec(text).to_string(), text);
            assert_eq!(spec(&spec(text).to_string()), spec(text));
        }
    }

    #[test]
    fn refusals_say_what_is_expected() {
        for (text, message) in [
            ("", "the command is missing"),
            (",nodes=5", "the command is missing"),
            ("x,nodes=0", "nodes \"0\": expected a whole number from 1 to 1000000000"),
            ("x,movetime=1s", "movetime \"1s\": expected a whole number"),
            ("x,timeout=never", "timeout \"never\": expected seconds from 0.01 to 3600"),
            ("x,nodes=1,movetime=1", "more than one limit; expected nodes=N or movetime=MS, not both"),
            ("sh -c 'x,nodes=1", "ends within a quotation"),
            ("x,option.=1", "option.=1: expected a name and a value"),
            ("x,option.A=", "option.A=: expected a name and a value, as in option.Variant=historical11x11"),
            ("x,option.A=1,option.A=2", "option.A more than once; expected one value"),
        ] {
            let problem = UciSpec::parse(text).expect_err(text);
            assert!(problem.contains(message), "{text:?}: {problem}");
        }
    }
}
