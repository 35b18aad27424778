//! The players a page may choose: networks, baselines, and an external that the host has named.
//!
//! A page names a player by an id from the list it was given, such as `model:shipped/brandubh`; never by a path.

use std::collections::HashMap;

use hnefi_engine::{BoardSize, NamedRules, Rules};
use serde::{Deserialize, Serialize};

use crate::Players;
use hnefi_inference::{WITHOUT_NETWORK, pretrained_for};

/// The deepest alpha-beta search offered: it cannot be interrupted, and on 11x11 a deeper one takes minutes.
pub const DEEPEST: u32 = 4;

/// The depth that is searched on a board of this size where `depth` was asked for: on larger boards a deep search takes
/// too long.
pub(super) fn depth_on(size: BoardSize, depth: u32) -> u32 {
    if size.side() > 13 { depth.min(3) } else { depth }
}

/// Who plays, as a page names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PlayerId {
    /// Uniformly random moves.
    Random,
    /// Alpha-beta search to this depth.
    AlphaBeta(u32),
    /// A network by its key in the list.
    Model(String),
    /// The external that the host has named.
    External,
}

/// A text that names no player.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown player {0:?}: expected random, alphabeta:1 to alphabeta:{DEEPEST}, model:KEY or opponent")]
pub struct UnknownPlayer(String);

/// Why a player cannot play.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayerError {
    /// No network has this key.
    #[error("there is no model {0:?}")]
    NoModel(String),
    /// The command line names no opponent.
    #[error("nobody was named on the command line")]
    NoExternal,
    /// It is there and cannot be used; why is said in words.
    #[error("{0}")]
    Unusable(String),
}

/// How well a player knows the rules of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fit {
    /// It learned other games, or nothing.
    Other,
    /// It learned a game like this one on this board.
    Board,
    /// It learned these rules.
    Rules,
}

impl TryFrom<String> for PlayerId {
    type Error = UnknownPlayer;

    fn try_from(text: String) -> Result<PlayerId, UnknownPlayer> {
        match text.split_once(':') {
            None if text == "random" => Ok(PlayerId::Random),
            None if text == "opponent" => Ok(PlayerId::External),
            Some(("model", key)) if key.len() <= 80 => Ok(PlayerId::Model(key.to_owned())),
            Some(("alphabeta", depth)) => match depth.parse() {
                Ok(depth) if (1..=DEEPEST).contains(&depth) => Ok(PlayerId::AlphaBeta(depth)),
                _ => Err(UnknownPlayer(text)),
            },
            _ => Err(UnknownPlayer(text)),
        }
    }
}

impl From<PlayerId> for String {
    fn from(id: PlayerId) -> String {
        match id {
            PlayerId::Random => "random".to_owned(),
            PlayerId::AlphaBeta(depth) => format!("alphabeta:{depth}"),
            PlayerId::Model(key) => format!("model:{key}"),
            PlayerId::External => "opponent".to_owned(),
        }
    }
}

/// One line of the list of players.
#[derive(Clone, Debug, Serialize)]
pub struct Offer {
    /// How requests name it.
    pub id: PlayerId,
    /// What a page calls it.
    pub name: String,
    /// Rulesets it was trained on; none for the baselines, which play them all.
    pub rulesets: Vec<String>,
    /// Whether it is a network, which can analyse.
    pub is_model: bool,
}

impl Offer {
    /// How well it knows these rules.
    pub fn fit(&self, rules: &Rules) -> Fit {
        let known = self.rulesets.iter().filter_map(|name| name.parse::<NamedRules>().ok());
        let fit = |known: NamedRules| match (known.covers(rules), known.rules().resembles(rules)) {
            (true, _) => Fit::Rules,
            (false, true) => Fit::Board,
            (false, false) => Fit::Other,
        };
        known.map(fit).max().unwrap_or(Fit::Other)
    }
}

/// Everybody who can be asked to play, networks first.
pub(super) fn offers(networks: Vec<Offer>, players: &dyn Players) -> Vec<Offer> {
    let mut offers = networks;
    let mut add = |id: PlayerId, name: String| {
        offers.push(Offer { id, name, rulesets: Vec::new(), is_model: false });
    };
    if let Some(external) = players.external() {
        add(PlayerId::External, external.name().to_owned());
    }
    for depth in 1..=DEEPEST {
        add(PlayerId::AlphaBeta(depth), format!("alpha-beta, {depth} {}", if depth == 1 { "ply" } else { "plies" }));
    }
    add(PlayerId::Random, "random moves".to_owned());
    offers
}

/// The network that knows these rules best, to give views and hints, and how well; `None` when none knows the board.
pub fn adviser(networks: &[Offer], rules: &Rules) -> Option<(PlayerId, Fit)> {
    let offers = networks.iter().map(|offer| (offer.fit(rules), &offer.id));
    // Of those that fit alike the first of the list.
    let (fit, id) = offers.rev().max_by_key(|(fit, _)| *fit)?;
    (fit != Fit::Other).then(|| (id.clone(), fit))
}

/// How well a player knows these rules.
pub(super) fn fit(networks: &[Offer], id: &PlayerId, rules: &Rules) -> Fit {
    networks.iter().find(|offer| offer.id == *id).map_or(Fit::Other, |offer| offer.fit(rules))
}

/// The default player of these rules: the network of a run or a folder that knows them best, else the
/// shipped one that is chosen everywhere, else none.
pub(super) fn opponent(networks: &[Offer], rules: NamedRules) -> PlayerId {
    if let Some((PlayerId::Model(key), _)) = adviser(networks, &rules.rules())
        && !key.starts_with("shipped/")
    {
        return PlayerId::Model(key);
    }
    let shipped = pretrained_for(rules).ok().map(|name| PlayerId::Model(format!("shipped/{name}")));
    let without = || PlayerId::try_from(WITHOUT_NETWORK.to_owned()).unwrap_or(PlayerId::Random);
    shipped.unwrap_or_else(without)
}

/// What a page calls a player.
///
/// # Errors
/// When there is no such network.
pub(super) fn name(players: &dyn Players, id: &PlayerId) -> Result<String, PlayerError> {
    match id {
        PlayerId::Random => Ok("random moves".to_owned()),
        PlayerId::AlphaBeta(depth) => Ok(format!("alpha-beta {depth}")),
        PlayerId::Model(key) => players.name(key),
        PlayerId::External => {
            players.external().map(|external| external.name().to_owned()).ok_or(PlayerError::NoExternal)
        }
    }
}

/// The name of somebody who played a recorded game: the name of a network where its identity is known here, and no more
/// of a long one than its beginning.
pub fn player_name(name: String, identities: &HashMap<String, String>) -> String {
    if let Some(known) = identities.get(&name) {
        return known.clone();
    }
    let is_identity = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_identity { format!("network {}", &name[..8]) } else { name.chars().take(60).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_go_to_text_and_back_and_no_others_are_read() {
        for text in ["random", "alphabeta:3", "model:shipped/brandubh", "model:run/0/12", "opponent"] {
            let id = PlayerId::try_from(text.to_owned()).expect(text);
            assert_eq!(String::from(id), text);
        }
        for text in ["", "alphabeta", "alphabeta:0", "alphabeta:99", "uci:rm", "random:1", "rollout:5"] {
            assert!(PlayerId::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
