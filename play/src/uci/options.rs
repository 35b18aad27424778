//! The options: what is declared, what may be set, and to what.

use hnefi_engine::{NamedRules, RulesRecord};
use hnefi_inference::{EvalError, PrecisionChoice, names};

use super::command::shown;

/// Everything that `setoption` sets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Options {
    /// Checkpoint, run or name of a shipped checkpoint; `None` for the shipped one of the ruleset.
    pub(super) network: Option<String>,
    pub(super) threads: usize,
    pub(super) lines: usize,
    pub(super) rules: NamedRules,
    /// 0 plays the best move; above it moves are drawn by visits^(1/temperature).
    pub(super) temperature: f32,
    pub(super) seed: u64,
    /// Memory for the tree in MiB.
    pub(super) hash: u32,
    /// What the network computes in.
    pub(super) precision: PrecisionChoice,
    /// Whether the client lets us think while the other side does; then a move comes with the answer expected to it.
    pub(super) ponder: bool,
}

/// What a change means for the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    /// Another network or other rules, which may bring another network.
    Network,
    Rules,
    /// More or fewer evaluators.
    Threads,
    /// A new tree of another size.
    Hash,
    /// Nothing that is not looked up when it is needed.
    Nothing,
}

/// What clients show for "no value" in a text field.
const EMPTY: &str = "<empty>";

/// What `setoption` knows.
const NAMES: [&str; 9] =
    ["NNFile", "Threads", "MultiPV", "Rules", "Temperature", "Seed", "Hash", "Precision", "Ponder"];

const THREADS: (usize, usize) = (1, 256);
const LINES: (usize, usize) = (1, 500);
const HASH: (u32, u32) = (1, 65_536);
const TEMPERATURE: (f32, f32) = (0.0, 10.0);

impl Options {
    /// The options a client finds, with the number of threads nearest to that asked for ([`Options::remark`] tells).
    pub(super) fn new(rules: NamedRules, network: Option<String>, threads: usize) -> Options {
        Options {
            network,
            threads: threads.clamp(THREADS.0, THREADS.1),
            lines: 1,
            rules,
            temperature: 0.0,
            seed: 0,
            hash: 1024,
            precision: PrecisionChoice::Auto,
            ponder: false,
        }
    }

    /// The answer to a request for `threads` threads.
    pub(super) fn remark(&self, threads: usize) -> Option<String> {
        let (low, high) = THREADS;
        (threads != self.threads)
            .then(|| format!("--threads {threads}: expected {low} to {high}; {} search", self.threads))
    }

    /// The `option` lines, with the present values as defaults.
    pub(super) fn declarations(&self) -> Vec<String> {
        let spin = |name: &str, value: u64, (low, high): (u64, u64)| {
            format!("option name {name} type spin default {value} min {low} max {high}")
        };
        let rules: String = NamedRules::published().map(|rules| format!(" var {rules}")).collect();
        let range = |(low, high): (usize, usize)| (low as u64, high as u64);
        vec![
            format!("option name NNFile type string default {}", self.network.as_deref().unwrap_or(EMPTY)),
            spin("Threads", self.threads as u64, range(THREADS)),
            spin("MultiPV", self.lines as u64, range(LINES)),
            format!("option name Rules type combo default {}{rules}", self.rules),
            format!("option name Temperature type string default {}", self.temperature),
            spin("Seed", self.seed, (0, u64::from(u32::MAX))),
            spin("Hash", u64::from(self.hash), (u64::from(HASH.0), u64::from(HASH.1))),
            format!(
                "option name Precision type combo default {} var {}",
                self.precision,
                PrecisionChoice::NAMES.join(" var ")
            ),
            format!("option name Ponder type check default {}", self.ponder),
        ]
    }

    /// Sets an option; names and all values but paths are read without regard to case.
    ///
    /// # Errors
    /// What is wrong with the name or the value and what was expected; nothing is changed then.
    pub(super) fn set(&mut self, name: &str, value: Option<&str>) -> Result<Changed, String> {
        let value = value.unwrap_or_default();
        let lower = value.to_ascii_lowercase();
        let lower_name = name.to_ascii_lowercase();
        match lower_name.as_str() {
            "nnfile" => self.network = (!value.is_empty() && lower != EMPTY).then(|| value.to_owned()),
            "threads" => self.threads = whole("Threads", value, THREADS)?,
            "multipv" => self.lines = whole("MultiPV", value, LINES)?,
            "rules" => {
                // A rules record has capitals.
                let text = if RulesRecord::is_meant(value) { value } else { &lower };
                let problem =
                    |error: names::BadRules| format!("Rules {}", error.0.trim_start_matches("unknown ruleset "));
                self.rules = names::ruleset(text).map_err(problem)?;
            }
            "temperature" => {
                let (low, high) = TEMPERATURE;
                let number = value.parse::<f32>().ok().filter(|number| (low..=high).contains(number));
                self.temperature = number.ok_or_else(|| refusal("Temperature", value, "a number", low, high))?;
            }
            "seed" => self.seed = whole("Seed", value, (0, u64::from(u32::MAX)))?,
            "hash" => self.hash = whole("Hash", value, HASH)?,
            "precision" => self.precision = lower.parse().map_err(|error: EvalError| error.to_string())?,
            "ponder" => {
                let expected = |_| format!("Ponder {}: expected true or false", shown(value));
                self.ponder = lower.parse().map_err(expected)?;
            }
            _ => {
                let (known, meant) = (NAMES.join(", "), names::did_you_mean(name, NAMES));
                return Err(format!("no option is named {}; expected one of {known}{meant}", shown(name)));
            }
        }
        Ok(match lower_name.as_str() {
            "nnfile" | "precision" => Changed::Network,
            "rules" => Changed::Rules,
            "threads" => Changed::Threads,
            "hash" => Changed::Hash,
            _ => Changed::Nothing,
        })
    }
}

fn whole<T>(name: &str, value: &str, (low, high): (T, T)) -> Result<T, String>
where
    T: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    let number = value.parse::<T>().ok().filter(|number| (&low..=&high).contains(&number));
    number.ok_or_else(|| refusal(name, value, "a whole number", low, high))
}

fn refusal(name: &str, value: &str, kind: &str, low: impl std::fmt::Display, high: impl std::fmt::Display) -> String {
    format!("{name} {}: expected {kind} from {low} to {high}", shown(value))
}

#[cfg(test)]
mod tests {
    use hnefi_inference::Precision;

    use hnefi_engine::Preset;

    use super::*;

    fn options() -> Options {
        Options::new(Preset::Brandubh.into(), None, 1)
    }

    #[test]
    fn what_is_declared_can_be_set_back() {
        for declaration in options().declarations() {
            let words: Vec<&str> = declaration.split(' ').collect();
            let ["option", "name", name, "type", kind, "default", value, rest @ ..] = &words[..] else {
                panic!("{declaration}");
            };
            assert!(["string", "spin", "combo", "check"].contains(kind), "{declaration}");
            let mut set = options();
            set.set(name, Some(*value)).unwrap_or_else(|problem| panic!("{declaration}: {problem}"));
            assert_eq!(set, options(), "{declaration}");
            // What follows the default of another kind would belong to it.
            assert!(*kind != "string" || rest.is_empty(), "{declaration}");
            if *kind == "spin" {
                let ["min", low, "max", high] = rest else { panic!("{declaration}") };
                for bound in [low, high] {
                    set.set(name, Some(*bound)).unwrap_or_else(|problem| panic!("{declaration}: {problem}"));
                }
            }
        }
    }

    #[test]
    fn values_are_set_whatever_the_case_of_name_and_value() {
        let mut set = options();
        assert_eq!(set.set("threads", Some("2")), Ok(Changed::Threads));
        assert_eq!(set.set("MULTIPV", Some("3")), Ok(Changed::Nothing));
        assert_eq!(set.set("NNFile", Some("runs/My  run")), Ok(Changed::Network));
        assert_eq!(set.set("Rules", Some("Fetlar")), Ok(Changed::Rules));
        assert_eq!(set.set("Temperature", Some("0.7")), Ok(Changed::Nothing));
        assert_eq!(set.set("Seed", Some("7")), Ok(Changed::Nothing));
        assert_eq!(set.set("Hash", Some("64")), Ok(Changed::Hash));
        assert_eq!(set.set("precision", Some("INT8")), Ok(Changed::Network));
        assert_eq!(set.set("Ponder", Some("True")), Ok(Changed::Nothing));
        let expected = Options {
            network: Some("runs/My  run".to_owned()),
            threads: 2,
            lines: 3,
            rules: Preset::Fetlar.into(),
            temperature: 0.7,
            seed: 7,
            hash: 64,
            precision: Precision::Int8.into(),
            ponder: true,
        };
        assert_eq!(set, expected);
        assert_eq!(set.set("NNFile", None), Ok(Changed::Network));
        assert_eq!(set.network, None);
    }

    #[test]
    fn refusals_change_nothing_and_say_what_is_expected() {
        let mut set = options();
        for (name, value, message) in [
            ("Threads", "0", "Threads \"0\": expected a whole number from 1 to 256"),
            ("Threads", "two", "Threads \"two\""),
            ("Threads", "", "Threads \"\""),
            ("MultiPV", "501", "from 1 to 500"),
            ("Rules", "chess", "Rules \"chess\": expected one of copenhagen, "),
            ("Temperature", "-1", "Temperature \"-1\": expected a number from 0 to 10"),
            ("Temperature", "NaN", "Temperature \"NaN\""),
            ("Seed", "-1", "Seed \"-1\""),
            ("Hash", "0", "Hash \"0\": expected a whole number from 1 to 65536"),
            ("Precision", "int4", "precision \"int4\": expected auto, f32 or int8"),
            ("Contempt", "5", "no option is named \"Contempt\"; expected one of NNFile"),
            ("Ponder", "maybe", "Ponder \"maybe\": expected true or false"),
        ] {
            let problem = set.set(name, Some(value)).expect_err(name);
            assert!(problem.contains(message), "{name}: {problem}");
        }
        assert_eq!(set, options());
    }
}
