//! Tuning of a player's search by games, without gradients: simultaneous perturbation stochastic approximation (SPSA).
//!
//! Every iteration moves all keys at once by random signs, once up and once down, and lets the two players that this
//! makes play pairs of games. The keys then go the way of the winner (Spall, "Implementation of the simultaneous
//! perturbation algorithm for stochastic optimization", 1998). In iteration k of n a key is moved by `c / k^0.101`, and
//! a point of difference moves its value by `a / (A + k)^0.602` over that, with `A` a tenth of n. As in Fishtest, a key
//! is moved by a twentieth of its range in the last iteration, which gives `c`; `a` follows from the number of games.
//! Afterwards the tuned player meets the original one in as many games, or until a sequential test has its answer.

use std::fmt;
use std::str::FromStr;

use hnefi_engine::NamedRules;
use hnefi_inference::json;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::players::{ModelSpec, PlayerSpec};
use crate::{MatchParams, PairScores, SprtReport, Verdict};
use hnefi_search::{SearchConfig, rng_for};

/// Keeps the random numbers of a tuning apart from those of games; spells "TUNING".
const TUNING: u64 = 0x54_55_4E_49_4E_47;

const ALPHA: f64 = 0.602;
const GAMMA: f64 = 0.101;

/// By which share of its range a key is moved in the last iteration.
const MOVED: f64 = 0.05;

/// A point of difference in the last iteration changes a value by this over the root of the number of pairs, as a share
/// of what the key is moved by. Games by chance alone then change a value by some 8 % of its range in all. The best of
/// four such factors in simulated tunings of three keys with 1,000 to 30,000 pairs and 17 to 270 Elo to be found.
const STEP: f64 = 1.4;

/// Pairs of games of an iteration for each thread: more than one, so that fewer threads wait at its end.
const PAIRS: u32 = 2;

/// A key of the search and the range in which its best value is sought. Reads from and displays as
/// `search.c_puct=0.5..4`.
#[derive(Clone, Debug, PartialEq)]
pub struct TunedKey {
    key: String,
    low: f64,
    high: f64,
    /// Whether its values are whole numbers.
    whole: bool,
}

impl TunedKey {
    /// Its name, such as `search.c_puct`.
    pub fn name(&self) -> String {
        format!("search.{}", self.key)
    }

    /// A value as a player is given it: within the range, to a thousandth of the range or finer.
    fn rounded(&self, value: f64) -> f64 {
        let digits = if self.whole { 0.0 } else { (3.0 - (self.high - self.low).log10()).ceil().max(0.0) };
        let scale = 10_f64.powf(digits);
        ((value * scale).round() / scale).clamp(self.low, self.high)
    }

    /// Where the player `spec` has it, or why it cannot be tuned there.
    fn start(&self, spec: &ModelSpec, usual: &SearchConfig) -> Result<f64, String> {
        let search = spec.search(usual);
        let Value::Object(keys) = numbers(&search) else { return Err("no key".to_owned()) };
        let is_read = |key: &str| !["root", "max_nodes"].contains(&key) && spec.reads(key, search.root);
        if !is_read(&self.key) {
            let read: Vec<_> = keys.keys().filter(|key| is_read(key)).map(|key| format!("search.{key}")).collect();
            return Err(format!("it does not change how this player plays; expected {}", read.join(", ")));
        }
        let start = keys[&self.key].as_f64().unwrap_or_default();
        if !(self.low..=self.high).contains(&start) {
            let name = self.name();
            return Err(format!(
                "tuning starts from the player's {start}; expected a range around it, or {name}=VALUE in the player"
            ));
        }
        Ok(start)
    }
}

impl FromStr for TunedKey {
    type Err = String;

    fn from_str(text: &str) -> Result<TunedKey, String> {
        let parts = text.split_once('=').and_then(|(name, range)| {
            let (low, high) = range.split_once("..")?;
            Some((name.strip_prefix("search.")?, low, high))
        });
        let expected = || "expected search.KEY=LOW..HIGH such as search.c_puct=0.5..4".to_owned();
        let (key, low, high) = parts.ok_or_else(expected)?;
        let usual = SearchConfig::default();
        let bound = |text: &str| {
            usual.clone().with(key, text).map_err(|fault| format!("search.{fault}"))?;
            text.parse::<f64>().map_err(|_| expected())
        };
        let (low, high) = (bound(low)?, bound(high)?);
        if low >= high {
            return Err(format!("a range from {low} to {high}; expected the lower end first"));
        }
        Ok(TunedKey { key: key.to_owned(), low, high, whole: numbers(&usual)[key].is_u64() })
    }
}

impl fmt::Display for TunedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}..{}", self.name(), self.low, self.high)
    }
}

/// The keys of a search with their values as they are written: 0.9, and not the double next to it in single precision.
fn numbers(search: &SearchConfig) -> Value {
    let text = serde_json::to_string(search).expect("a search holds only numbers and a name");
    serde_json::from_str(&text).expect("JSON")
}

/// Why there is no such tuning.
#[derive(Debug, thiserror::Error)]
pub enum TuningError {
    /// A key that cannot be tuned so.
    #[error("{key}: {problem}")]
    Key {
        /// The key and its range.
        key: TunedKey,
        /// What was found and what was expected.
        problem: String,
    },
    /// A state that this tuning cannot go on from.
    #[error("{0}")]
    State(String),
}

/// What a tuning has found so far. The next players and their games follow from it alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    settings: Value,
    /// Pairs of games of an iteration.
    pairs: u32,
    /// Iterations made.
    iterations: u32,
    values: Vec<f64>,
    /// The pairs of the tuned player against the original one.
    test: PairScores,
}

/// A tuning: [`ask`](Tuning::ask) for two players and a match, and [`tell`](Tuning::tell) how they did.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    player: ModelSpec,
    keys: Vec<TunedKey>,
    params: MatchParams,
    start: Vec<f64>,
    state: State,
}

impl Tuning {
    /// A tuning at its beginning. What `player` says of its search, and else `usual`, is where the keys begin;
    /// `network` is the id of its checkpoint. `params` has the games of the whole tuning, and the test after it.
    ///
    /// # Errors
    /// When a key is there twice, changes nothing for this player, or begins outside its range.
    pub fn new(
        player: &ModelSpec,
        network: &str,
        keys: Vec<TunedKey>,
        params: MatchParams,
        usual: &SearchConfig,
    ) -> Result<Tuning, TuningError> {
        let start = keys.iter().enumerate().map(|(index, key)| {
            let is_again = keys[..index].iter().any(|earlier| earlier.key == key.key);
            let again = || "it is there twice; expected one range".to_owned();
            let start = if is_again { Err(again()) } else { key.start(player, usual) };
            start.map_err(|problem| TuningError::Key { key: key.clone(), problem })
        });
        let start: Vec<f64> = start.collect::<Result<_, _>>()?;
        let settings = serde_json::json!({
            "player": PlayerSpec::Model(player.clone()), "network": network,
            "keys": keys.iter().map(ToString::to_string).collect::<Vec<_>>(), "rules": NamedRules::from(params.rules),
            "games": params.games, "seed": params.seed, "opening_plies": params.opening_plies,
            "ply_cap": params.ply_cap,
        });
        let pairs = (PAIRS * params.threads as u32).clamp(1, (params.games / 2).max(1));
        let state = State { settings, pairs, iterations: 0, values: start.clone(), test: PairScores::default() };
        Ok(Tuning { player: player.clone(), keys, params, start, state })
    }

    /// The same tuning where [`Tuning::saved`] left it.
    ///
    /// # Errors
    /// When the text is damaged or of another tuning.
    pub fn resume(self, text: &[u8]) -> Result<Tuning, TuningError> {
        let refused = |problem: String| Err(TuningError::State(problem));
        let state: State = match json::from_slice(text) {
            Ok(state) => state,
            Err(error) => return refused(format!("no state of a tuning: {error}")),
        };
        for (name, here) in self.state.settings.as_object().into_iter().flatten() {
            let there = &state.settings[name];
            if there != here {
                return refused(format!("the state of another tuning: its {name} is {there}, here {here}"));
            }
        }
        let most = self.params.games / 2;
        let within = |(value, key): (&f64, &TunedKey)| (key.low..=key.high).contains(value);
        let is_whole = (1..=most).contains(&state.pairs)
            && state.iterations <= most.div_ceil(state.pairs)
            && state.test.0.iter().all(|&pairs| pairs <= 2 * most)
            && state.values.len() == self.keys.len()
            && state.values.iter().zip(&self.keys).all(within);
        if !is_whole {
            return refused("a damaged state of a tuning: a number is out of its range".to_owned());
        }
        Ok(Tuning { state, ..self })
    }

    /// The state, as one line of JSON with a checksum.
    pub fn saved(&self) -> String {
        let text = serde_json::to_string(&self.state).expect("a state holds only numbers and texts");
        json::with_checksum(&format!("{text}\n"))
    }

    /// Iterations of the tuning, made and in all; once the test has begun, its own.
    pub fn rounds(&self) -> (u32, u32) {
        let tested = self.state.test.pairs() / self.state.pairs;
        (if tested > 0 { tested } else { self.state.iterations }, self.iterations())
    }

    /// The games of the test so far, as the tuned player sees them, and how it stands.
    pub fn test(&self) -> (PairScores, SprtReport) {
        (self.state.test, self.params.sprt.unwrap_or_default().judge(self.state.test))
    }

    /// Whether the test has an answer, or as many games as the tuning.
    pub fn is_over(&self) -> bool {
        let (pairs, report) = self.test();
        report.verdict != Verdict::Undecided || pairs.pairs() / self.state.pairs >= self.iterations()
    }

    /// Every key with its first and its present value.
    pub fn values(&self) -> impl Iterator<Item = (&TunedKey, f64, f64)> {
        let keys = self.keys.iter().zip(&self.start).zip(&self.state.values);
        keys.map(|((key, &start), &value)| (key, start, key.rounded(value)))
    }

    /// The player with the present values.
    pub fn tuned(&self) -> PlayerSpec {
        self.player(&self.state.values)
    }

    /// The two players that meet next, the one that is moved up first, and their match; after the last iteration the
    /// tuned player and the original one.
    pub fn ask(&self) -> ([PlayerSpec; 2], MatchParams) {
        let State { pairs, iterations, test, .. } = &self.state;
        let seed = rng_for(&[self.params.seed, TUNING, (*iterations).into(), test.pairs().into()]).random();
        let params = MatchParams { games: 2 * pairs, seed, sprt: None, ..self.params.clone() };
        if *iterations == self.iterations() {
            return ([self.tuned(), PlayerSpec::Model(self.player.clone())], params);
        }
        let players = [1.0, -1.0].map(|way| {
            let moved = self.state.values.iter().zip(self.moves()).map(|(value, by)| value + way * by);
            self.player(&moved.collect::<Vec<_>>())
        });
        (players, params)
    }

    /// Takes the pairs of the match that was asked for, as its first player sees them.
    pub fn tell(&mut self, pairs: PairScores) {
        if self.state.iterations == self.iterations() {
            self.state.test = PairScores(std::array::from_fn(|i| self.state.test.0[i] + pairs.0[i]));
            return;
        }
        // Wins less losses.
        let points = f64::from(pairs.pairs()) * 2.0 * (2.0 * pairs.mean() - 1.0);
        let (k, n) = (f64::from(self.state.iterations + 1), f64::from(self.iterations()));
        let cooled = (1.1 * n / (0.1 * n + k)).powf(ALPHA) * (k / n).powf(2.0 * GAMMA);
        let step = STEP / (n * f64::from(self.state.pairs)).sqrt() * cooled * points;
        let moves = self.moves();
        for ((value, by), key) in self.state.values.iter_mut().zip(moves).zip(&self.keys) {
            *value = (*value + step * by).clamp(key.low, key.high);
        }
        self.state.iterations += 1;
    }

    fn iterations(&self) -> u32 {
        (self.params.games / 2).div_ceil(self.state.pairs)
    }

    /// By how much the first player's values are above the present ones in this iteration.
    fn moves(&self) -> Vec<f64> {
        let mut rng = rng_for(&[self.params.seed, TUNING, self.state.iterations.into()]);
        let grown = (f64::from(self.iterations()) / f64::from(self.state.iterations + 1)).powf(GAMMA);
        let by = |key: &TunedKey| {
            // Whole numbers above and below stay apart when they are rounded.
            let by = (MOVED * grown * (key.high - key.low)).max(if key.whole { 0.5 } else { 0.0 });
            if rng.random_bool(0.5) { by } else { -by }
        };
        self.keys.iter().map(by).collect()
    }

    fn player(&self, values: &[f64]) -> PlayerSpec {
        let changed = |spec: ModelSpec, (key, &value): (&TunedKey, &f64)| {
            spec.with(&key.key, &key.rounded(value).to_string()).expect("all of its range is allowed")
        };
        PlayerSpec::Model(self.keys.iter().zip(values).fold(self.player.clone(), changed))
    }
}

#[cfg(test)]
mod tests;
