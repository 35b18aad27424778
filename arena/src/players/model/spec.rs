//! A network player by text: `PATH[,playouts=N|,time=S][,precision=P][,threads=N][,search.KEY=VALUE]...`.

use std::fmt;
use std::path::PathBuf;

use hnefi_inference::{EvalError, PrecisionChoice, names};

use crate::players::Limit;
use crate::players::spec::{COUNTS, seconds, whole};
use hnefi_search::{RootKind, SearchConfig, SettingError};

/// Playouts of a model whose spec sets no limit.
pub const DEFAULT_PLAYOUTS: u32 = 64;

const SECONDS: (f64, f64) = (0.001, 3600.0);
const THREADS: (u32, u32) = (1, 256);
/// The keys that a search with a Gumbel root reads; one with a PUCT root reads the others.
const GUMBEL: [&str; 3] = ["max_num_considered_actions", "c_visit", "c_scale"];
const SETTINGS: &str = "playouts=N, time=S, precision=P, threads=N or search.KEY=VALUE";

/// A network under a tree search. Displays as the part after `model:`.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSpec {
    /// A checkpoint folder, a run folder (its newest checkpoint plays), or the name of a shipped checkpoint.
    pub path: PathBuf,
    /// How long it thinks.
    pub limit: Limit,
    /// What its network computes in, on a CPU.
    pub precision: PrecisionChoice,
    /// Threads that search one tree together.
    pub threads: u32,
    /// Keys of the search that are not as usual, and their values, in the order given. It holds
    /// only what [`SearchConfig`] accepts.
    search: Vec<(String, String)>,
}

impl ModelSpec {
    /// A network that computes and searches as is usual with that limit, on one thread.
    pub fn new(path: impl Into<PathBuf>, limit: Limit) -> ModelSpec {
        ModelSpec { path: path.into(), limit, precision: limit.usual_precision(), threads: 1, search: Vec::new() }
    }

    /// The same in another precision.
    #[must_use]
    pub fn in_precision(self, precision: PrecisionChoice) -> ModelSpec {
        ModelSpec { precision, ..self }
    }

    /// How it searches: by `usual`, with the root that its limit wants, and what the spec itself says on top.
    pub fn search(&self, usual: &SearchConfig) -> SearchConfig {
        let usual = usual.clone().limited_by(self.limit);
        let changed = |config: SearchConfig, (key, value): &(String, String)| config.with(key, value);
        self.search.iter().try_fold(usual, changed).expect("what was parsed is accepted")
    }

    /// Whether a search from such a root reads a key.
    pub(crate) fn reads(&self, key: &str, root: RootKind) -> bool {
        match key {
            "root" | "max_nodes" => true,
            "virtual_loss" => root == RootKind::Puct && self.threads > 1,
            key => GUMBEL.contains(&key) == (root == RootKind::Gumbel),
        }
    }

    /// What to tell somebody about a precision that this CPU has no instructions for, and about settings that change
    /// nothing.
    pub(in crate::players) fn warnings(&self) -> impl Iterator<Item = String> {
        let root = self.search(&SearchConfig::default()).root;
        let unread = self.search.iter().filter(move |(key, _)| !self.reads(key, root));
        let unread =
            unread.map(|(key, value)| format!("search.{key}={value}: it does not change how this player plays"));
        self.precision.warning().into_iter().chain(unread)
    }

    /// The same with another value of one key of the search.
    ///
    /// # Errors
    /// When the key does not exist or does not allow the value.
    pub fn with(mut self, key: &str, value: &str) -> Result<ModelSpec, SettingError> {
        SearchConfig::default().with(key, value)?;
        match self.search.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => value.clone_into(old),
            None => self.search.push((key.to_owned(), value.to_owned())),
        }
        Ok(self)
    }

    /// Reads the text after `model:`. A path may hold commas, but no `=` after its last one.
    ///
    /// # Errors
    /// What was found and what was expected.
    pub(crate) fn parse(text: &str) -> Result<ModelSpec, String> {
        let (mut path, mut limit, mut precision, mut threads, mut search) = (text, None, None, None, Vec::new());
        while let Some((before, (key, value))) =
            path.rsplit_once(',').and_then(|(before, setting)| Some((before, setting.split_once('=')?)))
        {
            path = before;
            let is_again = match key {
                "playouts" => limit.replace(Limit::Playouts(whole(key, value, COUNTS)?)).is_some(),
                "time" => limit.replace(Limit::Time(seconds(key, value, SECONDS)?)).is_some(),
                "precision" => {
                    precision.replace(value.parse().map_err(|error: EvalError| error.to_string())?).is_some()
                }
                "threads" => threads.replace(whole(key, value, THREADS)?).is_some(),
                _ => {
                    let key = key
                        .strip_prefix("search.")
                        .ok_or_else(|| format!("unknown setting {key:?}; expected {SETTINGS}{}", suggestion(key)))?;
                    SearchConfig::default().with(key, value).map_err(|fault| format!("search.{fault}"))?;
                    let is_again = search.iter().any(|(known, _)| known == key);
                    search.insert(0, (key.to_owned(), value.to_owned()));
                    is_again
                }
            };
            match key {
                _ if !is_again => {}
                "playouts" | "time" => {
                    return Err("more than one limit; expected playouts=N or time=S, not both".to_owned());
                }
                _ => return Err(format!("more than one {key}; expected one")),
            }
        }
        if path.is_empty() {
            return Err("the path is missing; expected a checkpoint, a run or the name of a shipped one, \
                        as in model:runs/first"
                .to_owned());
        }
        let limit = limit.unwrap_or(Limit::Playouts(DEFAULT_PLAYOUTS));
        let precision = precision.unwrap_or_else(|| limit.usual_precision());
        let spec = ModelSpec { path: PathBuf::from(path), limit, precision, threads: threads.unwrap_or(1), search };
        if matches!(limit, Limit::Time(_)) && spec.search(&SearchConfig::default()).root == RootKind::Gumbel {
            return Err(
                "a Gumbel root needs its playouts in advance; expected playouts=N, or search.root=puct".to_owned()
            );
        }
        Ok(spec)
    }
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.path.display(), self.limit)?;
        if self.precision != self.limit.usual_precision() {
            write!(f, ",precision={}", self.precision)?;
        }
        if self.threads != 1 {
            write!(f, ",threads={}", self.threads)?;
        }
        self.search.iter().try_for_each(|(key, value)| write!(f, ",search.{key}={value}"))
    }
}

/// The end of an error about a setting that is none: which one was probably meant.
fn suggestion(key: &str) -> String {
    let (section, rest) = key.split_at(key.find('.').unwrap_or(key.len()));
    let meant = names::nearest(section, ["playouts", "time", "precision", "threads", "search"]);
    meant.map(|meant| names::suggestion(format!("{meant}{rest}"))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hnefi_inference::Precision;

    use super::*;

    fn spec(text: &str) -> ModelSpec {
        ModelSpec::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn a_model_without_a_limit_plays_by_64_playouts() {
        assert_eq!(spec("runs/first"), ModelSpec::new("runs/first", Limit::Playouts(64)));
        let int8 = ModelSpec::new("runs/first", Limit::Playouts(64)).in_precision(Precision::Int8.into());
        assert_eq!(spec("runs/first,precision=int8"), int8);
        assert_eq!(spec("x,precision=int8,playouts=8"), spec("x,playouts=8,precision=int8"));
    }

    #[test]
    fn a_path_may_hold_commas_and_colons() {
        let quarter = Limit::Time(Duration::from_millis(250));
        assert_eq!(spec("C:/a,b/c,time=0.25"), ModelSpec::new("C:/a,b/c", quarter));
    }

    #[test]
    fn the_search_is_the_usual_one_but_for_what_the_spec_says() {
        let usual = SearchConfig { c_puct: 2.0, c_scale: 0.5, ..SearchConfig::default() };
        let gumbel = SearchConfig { root: RootKind::Gumbel, ..usual.clone() };
        assert_eq!(spec("x,playouts=8").search(&usual), gumbel);
        assert_eq!(spec("x,time=1").search(&usual), SearchConfig { root: RootKind::Puct, ..usual.clone() });
        let changed = spec("x,playouts=8,search.root=puct,search.c_puct=1.5").search(&usual);
        assert_eq!(changed, SearchConfig { root: RootKind::Puct, c_puct: 1.5, ..usual.clone() });
        let again = spec("x,search.c_puct=1.5,search.c_visit=9").with("c_puct", "2").expect("allowed");
        assert_eq!(again.to_string(), "x,playouts=64,search.c_puct=2,search.c_visit=9");
        assert_eq!(spec("x,playouts=1000000").search(&usual).max_nodes, 1_000_002, "a tree with room for all of them");
        assert_eq!(spec("x,playouts=1000000,search.max_nodes=9").search(&usual).max_nodes, 9);
    }

    #[test]
    fn settings_that_change_nothing_are_named() {
        for (text, unread) in [
            ("x,playouts=8,search.c_puct=2,search.c_scale=2", &["search.c_puct=2"][..]),
            ("x,time=1,search.c_puct=2,search.c_scale=2,search.max_nodes=9", &["search.c_scale=2"]),
            ("x,playouts=8,search.root=puct,search.virtual_loss=2,search.c_puct=2", &["search.virtual_loss=2"]),
            ("x,time=1,threads=2,search.virtual_loss=2", &[]),
        ] {
            let expected = unread.iter().map(|set| format!("{set}: it does not change how this player plays"));
            let found = ModelSpec { precision: Precision::F32.into(), ..spec(text) };
            assert_eq!(found.warnings().collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{text}");
        }
    }

    #[test]
    fn refusals_name_what_was_found_and_what_is_expected() {
        for (text, message) in [
            ("", "the path is missing; expected a checkpoint, a run"),
            (",playouts=3", "the path is missing"),
            ("x,playouts=0", "playouts \"0\": expected a whole number from 1 to 1000000"),
            ("x,time=0", "time \"0\": expected seconds from 0.001 to 3600"),
            ("x,time=NaN", "time \"NaN\": expected seconds"),
            ("x,depth=3", "unknown setting \"depth\"; expected playouts=N, time=S, precision=P, threads=N or"),
            ("x,playouts=3,time=1", "more than one limit; expected playouts=N or time=S, not both"),
            ("x,precision=int4", "precision \"int4\": expected auto, f32 or int8"),
            ("x,precision=f32,precision=f32", "more than one precision"),
            ("x,threads=0", "threads \"0\": expected a whole number from 1 to 256"),
            ("x,threads=2,threads=2", "more than one threads"),
            ("x,search.c_puct=-1", "search.c_puct = -1: expected 0 to 100"),
            ("x,search.c_puct=high", "search.c_puct = high: "),
            ("x,search.root=alphabeta", "search.root = alphabeta: unknown variant"),
            ("x,search.depth=3", "search.depth = 3: unknown field `depth`"),
            ("x,search.c_puct=1,search.c_puct=2", "more than one search.c_puct"),
            ("x,time=1,search.root=gumbel", "a Gumbel root needs its playouts in advance"),
        ] {
            let found = ModelSpec::parse(text).expect_err(text);
            assert!(found.contains(message), "{text:?}: {found}");
        }
    }
}
