//! What a worker plays with until there are newer terms: the network, its opponent from the past, and games to begin
//! from.

use std::collections::BTreeMap;

use hnefi_inference::{Evaluator, evaluators};
use hnefi_selfplay::store::{Store, games_key, games_number};
use hnefi_selfplay::{GameRecord, decode_games};

use crate::run::{EARLIER_GENERATIONS, Past, Terms, read_checkpoint};
use crate::{TrainConfig, TrainError};

/// Makes the evaluator of one thread.
type MakeEvaluator = Box<dyn Fn() -> Box<dyn Evaluator> + Send + Sync>;

/// Terms with everything they name.
pub(super) struct Table {
    pub(super) terms: Terms,
    /// Of the newest network.
    pub(super) make_evaluator: MakeEvaluator,
    /// Who takes one side in some of the games.
    pub(super) past: Option<Past>,
    /// Games of the newest generations, where new ones may begin from their positions.
    pub(super) earlier: BTreeMap<u32, Vec<GameRecord>>,
}

impl Table {
    /// Fetches what the terms name and `before` does not have yet.
    pub(super) fn set(
        store: &Store,
        config: &TrainConfig,
        terms: Terms,
        before: Option<Table>,
    ) -> Result<Table, TrainError> {
        let past = match terms.past {
            // One that cannot be read is done without; the trainer says what is wrong with it.
            Some(generation) if config.selfplay.past_share > 0.0 => Past::load(store, generation, config).ok(),
            _ => None,
        };
        let (same, mut earlier) = match before {
            Some(before) if before.terms.checkpoint == terms.checkpoint => {
                (Some(before.make_evaluator), before.earlier)
            }
            Some(before) => (None, before.earlier),
            None => (None, BTreeMap::new()),
        };
        let make_evaluator = match same {
            Some(make_evaluator) => make_evaluator,
            None => {
                let checkpoint = read_checkpoint(store, terms.generation)?;
                if checkpoint.card.id != terms.checkpoint {
                    let (found, expected) = (checkpoint.card.id, &terms.checkpoint);
                    let problem = format!("its id is {found}; the trainer announced {expected}");
                    let object = format!("checkpoint {} of {}", terms.generation, store.place());
                    return Err(TrainError::State { object, problem });
                }
                hnefi_models::device::install();
                evaluators(&checkpoint.weights, &config.run.device, config.run.precision)?
            }
        };
        if config.selfplay.restart_share > 0.0 || config.selfplay.fork_share > 0.0 {
            take_newest(store, &mut earlier)?;
        }
        Ok(Table { terms, make_evaluator, past, earlier })
    }
}

/// Adds the generations of games that are there by now and drops what is too old.
fn take_newest(store: &Store, games: &mut BTreeMap<u32, Vec<GameRecord>>) -> Result<(), TrainError> {
    let known = games.keys().last().copied().unwrap_or(0);
    let keys = store.list_after("games/", &games_key(known))?;
    let newest = keys.iter().filter(|key| games_number(key).is_some()).rev().take(EARLIER_GENERATIONS);
    for key in newest {
        // A file that is damaged is the trainer's to complain of.
        if let (Some(generation), Ok(found)) = (games_number(key), decode_games(key, &store.get(key)?)) {
            games.insert(generation, found);
        }
    }
    while games.len() > EARLIER_GENERATIONS {
        games.pop_first();
    }
    Ok(())
}
