//! Players by name: what a person writes on the command line and a config holds.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use hnefi_models::{EvalError, Precision, PrecisionChoice};
use serde::{Deserialize, Serialize};

use super::{
    AlphaBeta, HtpPlayer, HtpSpec, ModelCache, ModelPlayer, Player, PlayerError, RandomPlayer, Rollout, UciPlayer,
    UciSpec,
};

/// What error messages say is accepted.
pub(super) const ACCEPTED: &str = "random, alphabeta:DEPTH, rollout:N, model:PATH[,playouts=N|,time=S][,precision=P], \
                                   uci:COMMAND[,nodes=N|,movetime=MS][,timeout=S], htp:COMMAND[,timeout=S]";

/// Playouts of a model whose spec sets no limit.
pub const DEFAULT_PLAYOUTS: u32 = 64;

const DEPTHS: (u32, u32) = (1, 20);
const COUNTS: (u32, u32) = (1, 1_000_000);
const SECONDS: (f64, f64) = (0.001, 3600.0);

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
    Model {
        /// A checkpoint folder, a run folder (its newest checkpoint plays), or the name of a shipped checkpoint.
        path: PathBuf,
        /// How long it thinks.
        limit: Limit,
        /// What its network computes in, on a CPU.
        precision: PrecisionChoice,
    },
    /// An external program that speaks the protocol of `hnefi uci`.
    Uci(UciSpec),
    /// An external program that speaks the Hnefatafl Text Protocol.
    Htp(HtpSpec),
}

/// How long a model thinks about a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// This many playouts with a Gumbel root, a fresh tree each move.
    Playouts(u32),
    /// This much wall-clock time with a PUCT root, the tree kept from move to move.
    Time(Duration),
}

impl Limit {
    /// What a network computes in where nobody says it. With a number of playouts the games can be repeated, on any machine; where
    /// time is the limit they cannot, and speed is strength.
    pub fn usual_precision(&self) -> PrecisionChoice {
        match self {
            Limit::Playouts(_) => Precision::F32.into(),
            Limit::Time(_) => PrecisionChoice::Auto,
        }
    }
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
            PlayerSpec::Model { path, limit, precision } => {
                let evaluator = models.evaluator(path, *precision)?;
                Box::new(ModelPlayer::new(self.to_string(), evaluator, models.search(), *limit))
            }
            PlayerSpec::Uci(spec) => Box::new(UciPlayer::start(self.to_string(), spec)?),
            PlayerSpec::Htp(spec) => Box::new(HtpPlayer::new(self.to_string(), spec)?),
        })
    }

    /// What to tell somebody about a precision that this CPU has no instructions for.
    pub fn warning(&self) -> Option<String> {
        match self {
            PlayerSpec::Model { precision, .. } => Some(format!("player {self}: {}", precision.warning()?)),
            _ => None,
        }
    }

    /// Whether the player's moves depend on the clock, so that its games cannot be repeated exactly.
    pub fn uses_clock(&self) -> bool {
        matches!(self, PlayerSpec::Model { limit: Limit::Time(_), .. } | PlayerSpec::Uci(_) | PlayerSpec::Htp(_))
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
                let depth = whole(rest, "depth", "alphabeta:3", DEPTHS).map_err(fault)?;
                Ok(PlayerSpec::AlphaBeta { depth })
            }
            ("rollout", rest) => {
                let count = whole(rest, "number of playouts", "rollout:200", COUNTS).map_err(fault)?;
                Ok(PlayerSpec::Rollout { count })
            }
            ("model", rest) => model(rest.unwrap_or_default()).map_err(fault),
            ("uci", rest) => UciSpec::parse(rest.unwrap_or_default()).map(PlayerSpec::Uci).map_err(fault),
            ("htp", rest) => HtpSpec::parse(rest.unwrap_or_default()).map(PlayerSpec::Htp).map_err(fault),
            _ => Err(PlayerError::Unknown { found: text.to_owned() }),
        }
    }
}

/// A whole number within `(low, high)`, or what is wrong with it.
fn whole(text: Option<&str>, what: &str, example: &str, (low, high): (u32, u32)) -> Result<u32, String> {
    match text {
        None | Some("") => Err(format!("the {what} is missing; expected {low} to {high}, as in {example}")),
        Some(text) => text
            .parse()
            .ok()
            .filter(|value| (low..=high).contains(value))
            .ok_or_else(|| format!("{what} {text:?}: expected a whole number from {low} to {high}")),
    }
}

/// A model by `PATH[,playouts=N|,time=S][,precision=P]`. A path may hold commas, but no `=` after its last one.
fn model(text: &str) -> Result<PlayerSpec, String> {
    let (mut path, mut limit, mut precision) = (text, None, None);
    while let Some((before, (key, value))) =
        path.rsplit_once(',').and_then(|(before, setting)| Some((before, setting.split_once('=')?)))
    {
        path = before;
        let again = match key {
            "playouts" => limit.replace(Limit::Playouts(whole(Some(value), key, "playouts=64", COUNTS)?)).is_some(),
            "time" => limit.replace(Limit::Time(seconds(value)?)).is_some(),
            "precision" => {
                let given = value.parse().map_err(|error: EvalError| error.to_string())?;
                if precision.replace(given).is_some() {
                    return Err("more than one precision; expected one".to_owned());
                }
                false
            }
            _ => return Err(format!("unknown setting {key:?}; expected playouts=N, time=S or precision=P")),
        };
        if again {
            return Err("more than one limit; expected playouts=N or time=S, not both".to_owned());
        }
    }
    if path.is_empty() {
        return Err("the path is missing; expected a checkpoint, a run or the name of a shipped one, \
                    as in model:runs/first"
            .to_owned());
    }
    let limit = limit.unwrap_or(Limit::Playouts(DEFAULT_PLAYOUTS));
    let precision = precision.unwrap_or_else(|| limit.usual_precision());
    Ok(PlayerSpec::Model { path: PathBuf::from(path), limit, precision })
}

fn seconds(text: &str) -> Result<Duration, String> {
    let (low, high) = SECONDS;
    text.parse::<f64>()
        .ok()
        .filter(|value| (low..=high).contains(value))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("time {text:?}: expected seconds from {low} to {high}"))
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlayerSpec::Random => f.write_str("random"),
            PlayerSpec::AlphaBeta { depth } => write!(f, "alphabeta:{depth}"),
            PlayerSpec::Rollout { count } => write!(f, "rollout:{count}"),
            PlayerSpec::Model { path, limit, precision } => {
                write!(f, "model:{},{limit}", path.display())?;
                if *precision == limit.usual_precision() { Ok(()) } else { write!(f, ",precision={precision}") }
            }
            PlayerSpec::Uci(spec) => write!(f, "uci:{spec}"),
            PlayerSpec::Htp(spec) => write!(f, "htp:{spec}"),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Playouts(count) => write!(f, "playouts={count}"),
            Limit::Time(duration) => write!(f, "time={}", duration.as_secs_f64()),
        }
    }
}

impl TryFrom<String> for PlayerSpec {
    type Error = PlayerError;

    fn try_from(text: String) -> Result<PlayerSpec, PlayerError> {
        text.parse()
    }
}

impl From<PlayerSpec> for String {
    fn from(spec: PlayerSpec) -> String {
        spec.to_string()
    }
}

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
            "model:x,time=2,precision=bf16",
            "uci:./x,nodes=5",
        ] {
            assert_eq!(spec(text).to_string(), text);
        }
        let json = serde_json::to_string(&spec("alphabeta:3")).expect("a text");
        assert_eq!(json, "\"alphabeta:3\"");
        assert_eq!(serde_json::from_str::<PlayerSpec>(&json).expect("a spec"), spec("alphabeta:3"));
    }

    #[test]
    fn a_model_without_a_limit_plays_by_64_playouts() {
        let path = PathBuf::from("runs/first");
        let (limit, precision) = (Limit::Playouts(64), Precision::F32.into());
        assert_eq!(spec("model:runs/first"), PlayerSpec::Model { path: path.clone(), limit, precision });
        let precision = Precision::Int8.into();
        assert_eq!(spec("model:runs/first,precision=int8"), PlayerSpec::Model { path, limit, precision });
        assert_eq!(spec("model:x,precision=bf16,playouts=8"), spec("model:x,playouts=8,precision=bf16"));
    }

    #[test]
    fn a_path_may_hold_commas_and_colons() {
        let path = PathBuf::from("C:/a,b/c");
        let limit = Limit::Time(Duration::from_millis(250));
        let precision = PrecisionChoice::Auto;
        assert_eq!(spec("model:C:/a,b/c,time=0.25"), PlayerSpec::Model { path, limit, precision });
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
            ("model:,playouts=3", "the path is missing"),
            ("model:x,playouts=0", "playouts \"0\": expected a whole number from 1 to 1000000"),
            ("model:x,time=0", "time \"0\": expected seconds from 0.001 to 3600"),
            ("model:x,time=NaN", "time \"NaN\": expected seconds"),
            ("uci", "player \"uci\": the command is missing; expected a program"),
            ("uci:x,nodes=1,movetime=1", "more than one limit"),
            ("model:x,depth=3", "unknown setting \"depth\"; expected playouts=N, time=S or precision=P"),
            ("model:x,playouts=3,time=1", "more than one limit; expected playouts=N or time=S, not both"),
            ("model:x,precision=int4", "precision \"int4\": expected auto, f32, bf16 or int8"),
            ("model:x,precision=f32,precision=f32", "more than one precision"),
        ] {
            let found = refusal(text);
            assert!(found.contains(message), "{text:?}: {found}");
        }
    }

    #[test]
    fn only_time_limits_and_programs_of_others_need_the_clock() {
        assert!(spec("model:x,time=1").uses_clock() && spec("uci:x,nodes=1").uses_clock());
        assert!(!spec("model:x").uses_clock() && !spec("alphabeta:2").uses_clock());
    }
}
