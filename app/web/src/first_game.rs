//! The game that a page begins with, and the opponent that the command line names for it.

use std::path::{Path, PathBuf};

use hnefi_arena::players::{ModelCache, ModelSpec, PlayerSpec};
use hnefi_board::{DEEPEST, PlayerId, Strength};
use hnefi_engine::{NamedRules, Position};
use hnefi_inference::Devices;
use hnefi_run::store::Location;
use hnefi_search::SearchConfig;

use crate::error::WebError;
use crate::models;
use crate::opponent::CommandLineOpponent;

/// The first game as it was asked for.
#[derive(Clone, Debug)]
pub(crate) struct FirstGame {
    pub(crate) rules: NamedRules,
    pub(crate) fen: Option<String>,
    pub(crate) opponent: Option<PlayerSpec>,
}

/// An opponent that can be seated: one of those every page offers, or one of its own kind.
pub(crate) enum Opponent {
    Offered(PlayerId, Option<Strength>),
    External(CommandLineOpponent),
}

impl FirstGame {
    /// Looks whether the game can be played, and finds its opponent. A folder it names goes in front of `runs` or
    /// `checkpoints`, so that it is offered like them.
    ///
    /// # Errors
    /// When the position does not stand, or the opponent cannot be had or cannot play this.
    pub(crate) fn prepare(
        &self,
        devices: &Devices,
        runs: &mut Vec<PathBuf>,
        checkpoints: &mut Vec<PathBuf>,
    ) -> Result<Option<Opponent>, WebError> {
        let rules = self.rules.rules();
        if let Some(fen) = &self.fen {
            Position::from_fen(&rules, fen)?;
        }
        let Some(spec) = &self.opponent else { return Ok(None) };
        let mut cache = ModelCache::new(devices.clone(), SearchConfig::default());
        Ok(Some(match spec {
            PlayerSpec::Random => Opponent::Offered(PlayerId::Random, None),
            PlayerSpec::AlphaBeta { depth } if *depth <= DEEPEST => {
                Opponent::Offered(PlayerId::AlphaBeta(*depth), None)
            }
            PlayerSpec::Model(model) => {
                // A checkpoint that is missing or damaged is found now, and not when somebody plays.
                cache.checkpoint(&model.path)?;
                let key = offer(&model.path, runs, checkpoints);
                match strength(model) {
                    Some(strength) => Opponent::Offered(PlayerId::Model(key), Some(strength)),
                    None => Opponent::External(CommandLineOpponent::new(spec, spec.build(&mut cache)?)),
                }
            }
            other => Opponent::External(CommandLineOpponent::new(other, other.build(&mut cache)?)),
        }))
    }
}

/// The key of the model that a path means, which is put on the lists if it is a folder.
fn offer(path: &Path, runs: &mut Vec<PathBuf>, checkpoints: &mut Vec<PathBuf>) -> String {
    let (list, kind) = if models::is_checkpoint(path) {
        (checkpoints, "given")
    } else if path.is_dir() || matches!(Location::from(path), Location::Bucket(_)) {
        (runs, "run")
    } else {
        return format!("shipped/{}", path.display());
    };
    let place = list.iter().position(|known| known == path).unwrap_or_else(|| {
        list.insert(0, path.to_owned());
        0
    });
    format!("{kind}/{place}")
}

/// How strong a page would call this model; `None` where it has settings that no page knows.
fn strength(model: &ModelSpec) -> Option<Strength> {
    let plain = *model == ModelSpec::new(&model.path, model.limit);
    plain.then(|| Strength::from(model.limit).checked().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;

    use super::*;

    fn asked(opponent: &str, rules: Preset) -> FirstGame {
        let opponent = Some(opponent.parse().unwrap_or_else(|error| panic!("{error}")));
        FirstGame { rules: rules.into(), fen: None, opponent }
    }

    fn prepared(asked: &FirstGame) -> Result<Option<Opponent>, WebError> {
        asked.prepare(&Devices::cpu(), &mut Vec::new(), &mut Vec::new())
    }

    #[test]
    fn every_kind_of_opponent_is_seated() {
        for (spec, id, strength) in [
            ("random", "random", None),
            ("alphabeta:4", "alphabeta:4", None),
            ("model:brandubh,playouts=9", "model:shipped/brandubh", Some(Strength::Playouts(9))),
            ("model:brandubh,time=0.5", "model:shipped/brandubh", Some(Strength::Seconds(0.5))),
        ] {
            let Ok(Some(Opponent::Offered(found, limit))) = prepared(&asked(spec, Preset::Brandubh)) else {
                panic!("{spec} is offered")
            };
            assert_eq!((String::from(found).as_str(), limit), (id, strength));
        }
        for spec in [
            "alphabeta:5",
            "rollout:20",
            "uci:cat",
            "model:brandubh,playouts=30000",
            "model:brandubh,playouts=9,search.c_puct=1",
            "model:brandubh,precision=int8",
        ] {
            assert!(matches!(prepared(&asked(spec, Preset::Brandubh)), Ok(Some(Opponent::External(_)))), "{spec}");
        }
    }

    #[test]
    fn what_cannot_be_played_is_refused_before_a_page_is_served() {
        let refusal = |asked: &FirstGame| prepared(asked).err().expect("refused").to_string();
        let refused = |spec: &str, rules: Preset| refusal(&asked(spec, rules));
        assert!(refused("model:no/such/run", Preset::Brandubh).contains("there is no such folder"));
        assert!(refused("uci:no-such-program-here", Preset::Brandubh).contains("cannot be started"));
        let fen = FirstGame { fen: Some("7/7 a".to_owned()), ..asked("random", Preset::Brandubh) };
        assert!(refusal(&fen).starts_with("the start position: "), "{}", refusal(&fen));
        let fen = FirstGame { fen: Some("9/9".to_owned()), ..asked("random", Preset::Copenhagen) };
        assert!(prepared(&fen).is_err());
    }

    #[test]
    fn folders_are_offered_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_owned();
        let (mut runs, mut checkpoints) = (vec![PathBuf::from("other"), path.clone()], Vec::new());
        assert_eq!(offer(&path, &mut runs, &mut checkpoints), "run/1");
        runs.pop();
        assert_eq!(offer(&path, &mut runs, &mut checkpoints), "run/0");
        assert_eq!(runs, [path, PathBuf::from("other")]);
    }
}
