//! Recorded games of a run: read, and checked against its rulesets.

use std::collections::BTreeMap;
use std::fmt::Display;

use hnefi_engine::NamedRules;
use hnefi_run::store::{Store, StoreError, games_key, games_number};
use hnefi_run::{GameRecord, decode_games};

use super::observer::TrainObserver;
use crate::TrainError;

pub(super) type Games = BTreeMap<u32, Vec<GameRecord>>;

/// The newest generation with recorded games; 0 for none.
pub(super) fn newest_games(store: &Store) -> Result<u32, TrainError> {
    Ok(store.numbers("games/", games_number)?.pop().unwrap_or(0))
}

/// Adds the games of these generations that `games` lacks, as far as they can be read.
pub(super) fn load_missing(
    games: &mut Games,
    generations: std::ops::Range<u32>,
    rulesets: &[NamedRules],
    store: &Store,
    observer: &dyn TrainObserver,
) -> Result<(), TrainError> {
    for generation in generations {
        if !games.contains_key(&generation)
            && let Some(found) = load_games(rulesets, store, generation, observer)?
        {
            games.insert(generation, found);
        }
    }
    Ok(())
}

pub(super) fn training_plies(games: &[GameRecord]) -> u64 {
    games.iter().map(|game| game.training_plies() as u64).sum()
}

/// The games of one generation; `None`, with a warning, if the file is missing or damaged. Games that break the rules
/// or have rulesets of another run are left out, with a warning.
pub(super) fn load_games(
    rulesets: &[NamedRules],
    store: &Store,
    generation: u32,
    observer: &dyn TrainObserver,
) -> Result<Option<Vec<GameRecord>>, TrainError> {
    let key = games_key(generation);
    let skip = |problem: &dyn Display| {
        observer.warning(&format!("skipped {problem}"));
        Ok(None)
    };
    let bytes = match store.get(&key) {
        Err(StoreError::Missing { .. }) => return skip(&format_args!("{key}: not found")),
        Err(error @ StoreError::Unfit { .. }) => return skip(&error),
        other => other?,
    };
    let mut games = match decode_games(&store.name(&key), &bytes) {
        Ok(games) => games,
        Err(error) => return skip(&error),
    };
    games.retain(|game| {
        let checked = check_game(rulesets, game);
        checked.map_err(|problem| observer.warning(&format!("{key}: skipped {problem}"))).is_ok()
    });
    Ok(Some(games))
}

pub(super) fn check_game(rulesets: &[NamedRules], game: &GameRecord) -> Result<(), String> {
    check_rules(rulesets, game)?;
    game.check().map_err(|error| error.to_string())
}

/// Checks that a game has one of these rulesets, with any ply cap.
pub(super) fn check_rules(rulesets: &[NamedRules], game: &GameRecord) -> Result<(), String> {
    if rulesets.iter().any(|rules| rules.covers(&game.rules)) {
        return Ok(());
    }
    let found = NamedRules::from(game.rules);
    let own: Vec<String> = rulesets.iter().map(NamedRules::name).collect();
    Err(format!("game {}: its rules are {found}; expected {}", game.game, own.join(", ")))
}
