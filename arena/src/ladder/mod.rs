//! A ladder: checkpoints of one run that meet their predecessors and fixed opponents, and the ratings that follow.
//!
//! Every match is an object of its own under `ladder/` in the run directory, named after everything that decides it. So
//! a match that was played is never played again, an interrupted ladder goes on with the next match, and ratings are
//! always fitted to all matches there are: training adds some as it goes on, `hnefi ladder` adds more.

mod standings;

use std::collections::HashSet;
use std::fmt;

use hnefi_engine::NamedRules;
use hnefi_inference::json::{self, OutOfRange};
use serde::{Deserialize, Serialize};

pub use standings::{Balance, Standing, Standings};

use crate::players::{Limit, ModelCache, ModelSpec, PlayerError, PlayerSpec};
use crate::{MatchError, MatchObserver, MatchParams, MatchResult, play_match_as};
use hnefi_run::store::{Store, StoreError, check_checkpoint, checkpoint_key, ladder_key};
use hnefi_search::rng_for;
use rand::Rng;

/// The opponents of a new checkpoint, and the settings of its matches.
#[derive(Clone, Debug, PartialEq)]
pub struct LadderParams {
    /// Fixed opponents.
    pub opponents: Vec<Opponent>,
    /// How many of the nearest earlier checkpoints on the ladder it meets.
    pub previous: usize,
    /// Rulesets played; each match is played under each of them.
    pub rulesets: Vec<NamedRules>,
    /// Games of a match; an even number.
    pub games: u32,
    /// Playouts a move of the checkpoints.
    pub playouts: u32,
    /// Seed of the matches: pairs of the same number begin alike in all matches of as many games.
    pub seed: u64,
    /// Games at once.
    pub threads: usize,
}

/// A fixed opponent.
#[derive(Clone, Debug, PartialEq)]
pub struct Opponent {
    /// The player.
    pub spec: PlayerSpec,
    /// Id of its network: the same path may have another one later.
    network: Option<String>,
}

impl Opponent {
    /// The opponents that these specs name now.
    ///
    /// # Errors
    /// As [`ModelCache::checkpoint`].
    pub fn all(specs: &[PlayerSpec], models: &mut ModelCache) -> Result<Vec<Opponent>, PlayerError> {
        let known = |spec: &PlayerSpec| {
            let network = match spec {
                PlayerSpec::Model(model) => Some(models.checkpoint(&model.path)?.card.id.clone()),
                _ => None,
            };
            Ok(Opponent { spec: spec.clone(), network })
        };
        specs.iter().map(known).collect()
    }
}

/// A player of a ladder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Contestant {
    /// A checkpoint of the run.
    Checkpoint {
        /// Its generation.
        generation: u32,
        /// Playouts a move.
        playouts: u32,
    },
    /// A fixed opponent.
    Player {
        /// Its spec.
        player: String,
        /// Id of its network, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        network: Option<String>,
    },
}

impl fmt::Display for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Contestant::Checkpoint { generation, playouts } => {
                write!(f, "generation {generation}, {playouts} playouts")
            }
            Contestant::Player { player, network: None } => f.write_str(player),
            // The beginning tells networks apart for people.
            Contestant::Player { player, network: Some(id) } => write!(f, "{player} ({id:.8})"),
        }
    }
}

/// A match that was played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LadderMatch {
    /// The new checkpoint.
    pub a: Contestant,
    /// Its opponent.
    pub b: Contestant,
    /// The result from the view of `a`.
    pub result: MatchResult,
}

/// More games than any match has; what claims more is damaged.
const MOST_GAMES: u64 = 1_000_000;

impl LadderMatch {
    /// Whether a match can have these numbers.
    ///
    /// # Errors
    /// When one is out of its range.
    pub fn check(&self) -> Result<(), OutOfRange> {
        let result = &self.result;
        let [a, b] = [result.as_attackers, result.as_defenders];
        let tallies = [a.wins, a.draws, a.losses, b.wins, b.draws, b.losses];
        let counted = [result.games, result.wins, result.draws, result.losses].into_iter().chain(result.pairs.0);
        let counted = counted.chain(result.ends.values().copied()).map(u64::from);
        let sum = tallies.map(u64::from).iter().sum();
        counted.chain([sum]).try_for_each(|games| json::check(0..=MOST_GAMES, &[("games", games)]))?;
        json::check(json::SHARE, &[("score", result.score), ("attackers_score", result.attackers_score)])?;
        json::check(json::AMOUNT, &[("mean_plies", result.mean_plies)])
    }
}

/// Why a ladder could not go on. The matches already played stay.
#[derive(Debug, thiserror::Error)]
pub enum LadderError {
    /// A match could not be played.
    #[error(transparent)]
    Match(#[from] MatchError),
    /// The run directory refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A match that is to be played.
#[derive(Clone, Debug)]
struct Pairing {
    a: Contestant,
    b: Contestant,
    rules: NamedRules,
    key: String,
}

/// Plays what is missing of the matches of checkpoint `generation` against the nearest of `rungs` before it and the
/// fixed opponents. False when the observer stopped it; the match under way is given up then.
///
/// # Errors
/// When a checkpoint cannot be read, a match fails, or the result cannot be written.
pub fn play_missing_matches(
    store: &Store,
    generation: u32,
    rungs: &[u32],
    params: &LadderParams,
    models: &mut ModelCache,
    observer: &mut dyn MatchObserver,
) -> Result<bool, LadderError> {
    for pairing in pairings(generation, rungs, params) {
        if store.exists(&pairing.key)? {
            continue;
        }
        if observer.should_stop() {
            return Ok(false);
        }
        let match_params = MatchParams {
            threads: params.threads,
            ..MatchParams::new(pairing.rules.rules(), params.games, match_seed(params))
        };
        let names = [pairing.a.to_string(), pairing.b.to_string()];
        let specs = [spec(store, &pairing.a, params)?, spec(store, &pairing.b, params)?];
        let [a, b] = [0, 1].map(|who| names[who].as_str());
        let result = play_match_as([a, b], [&specs[0], &specs[1]], &match_params, models, observer)?;
        if result.interrupted {
            return Ok(false);
        }
        // A match calls all rules of one's own `custom`; the fit must tell them apart.
        let result = MatchResult { rules: pairing.rules.name(), ..result };
        let played = LadderMatch { a: pairing.a, b: pairing.b, result };
        let text = serde_json::to_string(&played).expect("a match holds only numbers and texts");
        // Another one who plays for the same ladder may have been faster.
        store.create_once(&pairing.key, json::with_checksum(&format!("{text}\n")).as_bytes())?;
    }
    Ok(true)
}

/// A match of more games must not repeat the games of one of fewer: both count in the ratings.
fn match_seed(params: &LadderParams) -> u64 {
    rng_for(&[params.seed, params.games.into()]).next_u64()
}

/// How many matches [`play_missing_matches`] would have to play now.
///
/// # Errors
/// When the store cannot be read.
pub fn matches_left(store: &Store, generation: u32, rungs: &[u32], params: &LadderParams) -> Result<usize, StoreError> {
    let played: HashSet<String> = store.list("ladder/")?.into_iter().collect();
    Ok(pairings(generation, rungs, params).iter().filter(|pairing| !played.contains(&pairing.key)).count())
}

/// All matches of a run that can be read, and what is wrong with the others, by name.
///
/// # Errors
/// When the run directory cannot be read.
pub fn read_matches(store: &Store) -> Result<(Vec<LadderMatch>, Vec<String>), StoreError> {
    let keys = store.list("ladder/")?;
    let (mut read, mut damaged) = (Vec::new(), Vec::new());
    for (key, bytes) in keys.iter().zip(store.get_all(&keys)?) {
        let problem = match bytes {
            Err(StoreError::Missing { .. }) => continue,
            Err(StoreError::Unfit { problem, .. }) => problem,
            Err(error) => return Err(error),
            Ok(bytes) => {
                let found = json::from_slice::<LadderMatch>(&bytes).map_err(|error| error.to_string());
                let checked = |found: LadderMatch| found.check().map(|()| found).map_err(|error| error.to_string());
                match found.and_then(checked) {
                    Ok(found) => {
                        read.push(found);
                        continue;
                    }
                    Err(problem) => problem,
                }
            }
        };
        damaged.push(format!("{}: {problem}; once it is removed the match is played again", store.name(key)));
    }
    Ok((read, damaged))
}

/// Checkpoint `generation` and, of `rungs` before it, the nearest `previous` that are whole: it can play against them.
/// `None` when it cannot be read itself. What is wrong with a checkpoint that is left out goes to `warn`.
///
/// # Errors
/// When the store cannot be read.
pub fn readable_rungs(
    store: &Store,
    generation: u32,
    rungs: &[u32],
    previous: usize,
    warn: &mut dyn FnMut(&str),
) -> Result<Option<Vec<u32>>, StoreError> {
    let mut is_readable = |rung| -> Result<bool, StoreError> {
        let checked = check_checkpoint(store, rung)?;
        if let Err(problem) = &checked {
            warn(&format!("skipped on the ladder: {problem}"));
        }
        Ok(checked.is_ok())
    };
    if !is_readable(generation)? {
        return Ok(None);
    }
    let mut readable = vec![generation];
    for rung in before(generation, rungs) {
        if readable.len() > previous {
            break;
        }
        if is_readable(rung)? {
            readable.push(rung);
        }
    }
    Ok(Some(readable))
}

/// The checkpoints before one, the nearest first.
fn before(generation: u32, rungs: &[u32]) -> Vec<u32> {
    let mut before: Vec<u32> = rungs.iter().copied().filter(|&rung| rung < generation).collect();
    before.sort_unstable_by_key(|&rung| std::cmp::Reverse(rung));
    before
}

fn pairings(generation: u32, rungs: &[u32], params: &LadderParams) -> Vec<Pairing> {
    let playouts = params.playouts;
    let met = before(generation, rungs).into_iter().take(params.previous);
    let checkpoints = met.map(|generation| Contestant::Checkpoint { generation, playouts });
    let fixed = params.opponents.iter().map(contestant);
    let a = Contestant::Checkpoint { generation, playouts };
    checkpoints
        .chain(fixed)
        .flat_map(|b| params.rulesets.iter().map(move |&rules| (b.clone(), rules)))
        .map(|(b, rules)| Pairing { key: key(generation, &b, rules, params), a: a.clone(), b, rules })
        .collect()
}

fn contestant(Opponent { spec, network }: &Opponent) -> Contestant {
    Contestant::Player { player: spec.to_string(), network: network.clone() }
}

/// The object that holds a match: named after everything that decides its result.
fn key(generation: u32, b: &Contestant, rules: NamedRules, params: &LadderParams) -> String {
    let opponent = match b {
        Contestant::Checkpoint { generation, .. } => format!("{generation:06}"),
        Contestant::Player { player, network } => {
            // Specs hold letters that object names cannot; the checksum tells apart opponents that look alike without
            // them.
            let plain: String =
                player.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
            let whole = network.as_ref().map_or_else(|| player.clone(), |id| format!("{player} {id}"));
            format!("{plain}-{:08x}", crc32c::crc32c(whole.as_bytes()))
        }
    };
    let LadderParams { playouts, games, seed, .. } = params;
    let name = rules.name();
    // A rules record is no name of an object.
    let name = if name.contains(' ') { format!("own-{:08x}", crc32c::crc32c(name.as_bytes())) } else { name };
    ladder_key(&format!("{generation:06}-{opponent}-{name}-p{playouts}-g{games}-s{seed}"))
}

fn spec(store: &Store, who: &Contestant, params: &LadderParams) -> Result<PlayerSpec, StoreError> {
    Ok(match who {
        Contestant::Checkpoint { generation, playouts } => {
            PlayerSpec::Model(ModelSpec::new(store.folder(&checkpoint_key(*generation))?, Limit::Playouts(*playouts)))
        }
        Contestant::Player { .. } => {
            let found = params.opponents.iter().find(|opponent| contestant(opponent) == *who);
            found.expect("pairings are made of these opponents").spec.clone()
        }
    })
}

/// About `count` of the `generations` that are there, evenly spread, the first and the last among them.
pub fn evenly_spaced(generations: &[u32], count: usize) -> Vec<u32> {
    let Some(last) = generations.len().checked_sub(1) else { return Vec::new() };
    match count.min(generations.len()) {
        0 => Vec::new(),
        1 => vec![generations[last]],
        count => (0..count).map(|step| generations[step * last / (count - 1)]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;

    use super::*;

    fn opponent(spec: &str) -> Opponent {
        Opponent { spec: spec.parse().unwrap(), network: None }
    }

    fn params() -> LadderParams {
        LadderParams {
            opponents: ["random", "alphabeta:1"].map(opponent).into(),
            previous: 2,
            rulesets: vec![Preset::Brandubh.into()],
            games: 4,
            playouts: 8,
            seed: 1,
            threads: 1,
        }
    }

    #[test]
    fn a_newcomer_meets_its_nearest_predecessors_and_the_fixed_opponents() {
        let keys = |generation| -> Vec<String> {
            pairings(generation, &[0, 10, 20, 30], &params()).into_iter().map(|pairing| pairing.key).collect()
        };
        assert_eq!(keys(30).len(), 4);
        assert_eq!(keys(30)[0], "ladder/000030-000020-brandubh-p8-g4-s1.json");
        assert_eq!(keys(30)[1], "ladder/000030-000010-brandubh-p8-g4-s1.json");
        assert!(keys(30)[2].starts_with("ladder/000030-random-"), "{:?}", keys(30));
        assert_eq!(keys(0).len(), 2, "the first has nobody before it");
    }

    #[test]
    fn opponents_that_look_alike_have_matches_of_their_own() {
        let of = |opponent: &Opponent| key(1, &contestant(opponent), Preset::Brandubh.into(), &params());
        assert_ne!(of(&opponent("uci:a/b")), of(&opponent("uci:a-b")));
        let of_network = |id: &str| of(&Opponent { network: Some(id.into()), ..opponent("model:a") });
        assert_ne!(of_network("76439ef44ba2"), of_network("a2b44fe93467"));
    }

    #[test]
    fn generations_are_spread_evenly() {
        let all: Vec<u32> = (0..=91).collect();
        assert_eq!(evenly_spaced(&all, 4), [0, 30, 60, 91]);
        assert_eq!(evenly_spaced(&all, 1), [91]);
        assert_eq!(evenly_spaced(&[0, 3], 8), [0, 3]);
        let falling: Vec<u32> = (0..73).rev().collect();
        assert_eq!(evenly_spaced(&falling, 9), [72, 63, 54, 45, 36, 27, 18, 9, 0]);
        assert_eq!((evenly_spaced(&[5], 3), evenly_spaced(&[], 3), evenly_spaced(&all, 0)), (vec![5], vec![], vec![]));
    }
}
