//! Players by name: what a person writes on the command line and a config holds.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use hnefi_inference::{names, pretrained_names};
use serde::{Deserialize, Serialize};

use super::{
    AlphaBeta, ModelCache, ModelPlayer, ModelSpec, Player, PlayerError, RandomPlayer, Rollout, UciPlayer, UciSpec,
};

/// What error messages say is accepted.
pub(super) const ACCEPTED: &str = "random, alphabeta:DEPTH, rollout:N, \
                                   model:PATH[,playouts=N|,time=S][,precision=P][,threads=N][,search.KEY=VALUE]..., \
                                   uci:COMMAND[,nodes=N|,movetime=MS][,timeout=S][,option.NAME=VALUE]...";

/// What a spec begins with.
const KINDS: [&str; 5] = ["random", "alphabeta", "rollout", "model", "uci"];

const DEPTHS: (u32, u32) = (1, 20);
/// Playouts that a player can make a move.
pub(super) const COUNTS: (u32, u32) = (1, 1_000_000);

/// A player's kind and settings. Reads from and displays as text such as `alphabeta:3` or `model:runs/a,time=0.5`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PlayerSpec {
    /// Uniformly random legal moves.
    Random,
    /// Alpha-beta search with a hand-made evaluation.
    AlphaBeta {
        /// Plies searched, 1 to 20.
        depth: u32,
    },
    /// Monte Carlo tree search with random playouts.
    Rollout {
        /// Playouts a move.
        count: u32,
    },
    /// A network under a tree search.
    Model(ModelSpec),
    /// An external program that speaks the protocol of `hnefi uci`.
    Uci(UciSpec),
}

impl PlayerSpec {
    /// Makes the player, with an evaluator of its own if it needs one.
    ///
    /// # Errors
    /// When a model's checkpoint is missing, damaged or of another encoding, or its device is not there, or an external
    /// program cannot be started.
    pub fn build(&self, models: &mut ModelCache) -> Result<Box<dyn Player>, PlayerError> {
        Ok(match self {
            PlayerSpec::Random => Box::new(RandomPlayer),
            PlayerSpec::AlphaBeta { depth } => Box::new(AlphaBeta::new(*depth)),
            PlayerSpec::Rollout { count } => Box::new(Rollout::new(*count)),
            PlayerSpec::Model(spec) => {
                let evaluators = models.evaluators(&spec.path, spec.precision, spec.threads)?;
                Box::new(ModelPlayer::new(self.to_string(), evaluators, spec.search(models.search()), spec.limit))
            }
            PlayerSpec::Uci(spec) => Box::new(UciPlayer::start(self.to_string(), spec)?),
        })
    }

    /// What to tell somebody of what was left to the machine: device and precision.
    ///
    /// # Errors
    /// As [`PlayerSpec::build`].
    pub fn taken(&self, models: &mut ModelCache) -> Result<Option<String>, PlayerError> {
        let PlayerSpec::Model(spec) = self else { return Ok(None) };
        let (_, told) = models.settled(&spec.path, spec.precision)?;
        Ok(told.as_ref().map(|told| format!("player {self}: {told}")))
    }

    /// What to tell somebody about a precision that this CPU has no instructions for, and about settings of the search
    /// that change nothing.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            PlayerSpec::Model(spec) => spec.warnings().map(|text| format!("player {self}: {text}")).collect(),
            _ => Vec::new(),
        }
    }
}

impl FromStr for PlayerSpec {
    type Err = PlayerError;

    fn from_str(text: &str) -> Result<PlayerSpec, PlayerError> {
        let (kind, rest) = match text.split_once(':') {
            Some((kind, rest)) => (kind, Some(rest)),
            None => (text, None),
        };
        let fault = |problem: String| PlayerError::Spec { spec: text.to_owned(), problem };
        match (kind, rest) {
            ("random", None) => Ok(PlayerSpec::Random),
            ("random", Some(_)) => Err(fault("random takes no setting".to_owned())),
            ("alphabeta", rest) => {
                let depth = given(rest, "depth", DEPTHS, "alphabeta:3").map_err(fault)?;
                Ok(PlayerSpec::AlphaBeta { depth })
            }
            ("rollout", rest) => {
                let count = given(rest, "number of playouts", COUNTS, "rollout:200").map_err(fault)?;
                Ok(PlayerSpec::Rollout { count })
            }
            ("model", rest) => ModelSpec::parse(rest.unwrap_or_default()).map(PlayerSpec::Model).map_err(fault),
            ("uci", rest) => UciSpec::parse(rest.unwrap_or_default()).map(PlayerSpec::Uci).map_err(fault),
            _ => Err(PlayerError::Unknown { found: text.to_owned() }),
        }
    }
}

/// The end of an error about a player that is none: which one was probably meant.
pub(super) fn suggestion(found: &str) -> String {
    let (kind, rest) = found.split_at(found.find(':').unwrap_or(found.len()));
    if let Some(kind) = names::nearest(kind, KINDS) {
        return names::suggestion(format!("{kind}{rest}"));
    }
    // A network by its name alone.
    let shipped = names::nearest(found, pretrained_names());
    shipped.map(|name| names::suggestion(format!("model:{name}"))).unwrap_or_default()
}

/// The number after the colon, or that it is missing.
fn given(text: Option<&str>, what: &str, (low, high): (u32, u32), example: &str) -> Result<u32, String> {
    let text = text.filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| format!("the {what} is missing; expected {low} to {high}, as in {example}"))?;
    whole(what, text, (low, high))
}

/// A whole number within `(low, high)`, or what is wrong with it.
pub(super) fn whole(what: &str, text: &str, (low, high): (u32, u32)) -> Result<u32, String> {
    let value = text.parse().ok().filter(|value| (low..=high).contains(value));
    value.ok_or_else(|| format!("{what} {text:?}: expected a whole number from {low} to {high}"))
}

/// A number of seconds within `(low, high)`, or what is wrong with it.
pub(super) fn seconds(what: &str, text: &str, (low, high): (f64, f64)) -> Result<Duration, String> {
    let value = text.parse::<f64>().ok().filter(|value| (low..=high).contains(value));
    value.map(Duration::from_secs_f64).ok_or_else(|| format!("{what} {text:?}: expected seconds from {low} to {high}"))
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayerSpec::Random => f.write_str("random"),
            PlayerSpec::AlphaBeta { depth } => write!(f, "alphabeta:{depth}"),
            PlayerSpec::Rollout { count } => write!(f, "rollout:{count}"),
            PlayerSpec::Model(spec) => write!(f, "model:{spec}"),
            PlayerSpec::Uci(spec) => write!(f, "uci:{spec}"),
        }
    }
}

hnefi_inference::by_text!(PlayerSpec, PlayerError);

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> PlayerSpec {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn refusal(text: &str) -> String {
        text.parse::<PlayerSpec>().expect_err(text).to_string()
    }

    #[test]
    fn specs_round_trip() {
        for text in [
            "random",
            "alphabeta:3",
            "rollout:200",
            "model:runs/a b,playouts=16",
            "model:x,time=0.1",
            "model:x,playouts=9,precision=int8",
            "model:x,time=2,precision=int8",
            "model:x,time=2,threads=4",
            "model:x,playouts=9,precision=int8,search.root=puct,search.c_puct=0.7",
            "uci:./x,nodes=5",
        ] {
            assert_eq!(spec(text).to_string(), text);
        }
        let json = serde_json::to_string(&spec("alphabeta:3")).expect("a text");
        assert_eq!(json, "\"alphabeta:3\"");
        assert_eq!(serde_json::from_str::<PlayerSpec>(&json).expect("a spec"), spec("alphabeta:3"));
    }

    #[test]
    fn refusals_name_what_was_found_and_what_is_expected() {
        for (text, message) in [
            (
                "foo",
                "unknown player \"foo\": expected random, alphabeta:DEPTH, rollout:N, model:PATH[,playouts=N|,time=S]",
            ),
            ("", "unknown player \"\": expected random"),
            ("Random", "unknown player \"Random\""),
            ("random:3", "player \"random:3\": random takes no setting"),
            ("alphabeta", "player \"alphabeta\": the depth is missing; expected 1 to 20, as in alphabeta:3"),
            ("alphabeta:", "the depth is missing"),
            ("alphabeta:0", "player \"alphabeta:0\": depth \"0\": expected a whole number from 1 to 20"),
            ("alphabeta:two", "depth \"two\": expected a whole number from 1 to 20"),
            ("alphabeta:-1", "depth \"-1\""),
            ("rollout:1e3", "number of playouts \"1e3\": expected a whole number from 1 to 1000000"),
            ("rollout:99999999999", "number of playouts \"99999999999\""),
            ("model", "player \"model\": the path is missing; expected a checkpoint, a run"),
            ("model:", "the path is missing"),
            ("uci", "player \"uci\": the command is missing; expected a program"),
            ("uci:x,nodes=1,movetime=1", "more than one limit"),
            ("model:x,depth=3", "player \"model:x,depth=3\": unknown setting \"depth\"; expected playouts=N"),
        ] {
            let found = refusal(text);
            assert!(found.contains(message), "{text:?}: {found}");
        }
    }

    #[test]
    fn refusals_say_what_was_probably_meant() {
        for (text, meant) in [
            ("Random", "random"),
            ("alphabta:3", "alphabeta:3"),
            ("rolout:200", "rollout:200"),
            ("modle:runs/a,time=1", "model:runs/a,time=1"),
            ("brandub", "model:brandubh"),
            ("model:x,playout=3", "playouts"),
            ("model:x,serach.c_puct=3", "search.c_puct"),
            ("model:x,search.c_putc=3", "search.c_puct"),
            ("model:x,precision=int9", "int8"),
        ] {
            let found = refusal(text);
            assert!(found.ends_with(&format!("; did you mean {meant}?")), "{text}: {found}");
        }
        assert!(!refusal("deepblue").contains("did you mean"));
    }
}
