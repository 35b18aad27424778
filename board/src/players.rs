//! The players a page may choose: networks, baselines, and an outsider that the host has named.
//!
//! A page names a player by an id from the list it was given, such as `model:shipped/brandubh`; never by a path.

use std::collections::HashMap;

use hnefi_engine::{Preset, Rules};
use serde::{Deserialize, Serialize};

use crate::Players;
use crate::choice::{WITHOUT_NETWORK, shipped_network};

/// The deepest alpha-beta search offered: it cannot be interrupted, and on 11x11 a deeper one takes minutes.
pub const DEEPEST: u32 = 4;

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
    /// The outsider that the host has named.
    Named,
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
    type Error = String;

    fn try_from(text: String) -> Result<PlayerId, String> {
        match text.split_once(':') {
            None if text == "random" => Ok(PlayerId::Random),
            None if text == "opponent" => Ok(PlayerId::Named),
            Some(("model", key)) if key.len() <= 80 => Ok(PlayerId::Model(key.to_owned())),
            Some(("alphabeta", depth)) => match depth.parse() {
                Ok(depth) if (1..=DEEPEST).contains(&depth) => Ok(PlayerId::AlphaBeta(depth)),
                _ => Err(format!("alphabeta depth {depth:?}: expected 1 to {DEEPEST}")),
            },
            _ => Err(format!("unknown player {text:?}: expected random, alphabeta:DEPTH, model:KEY or opponent")),
        }
    }
}

impl From<PlayerId> for String {
    fn from(id: PlayerId) -> String {
        match id {
            PlayerId::Random => "random".to_owned(),
            PlayerId::AlphaBeta(depth) => format!("alphabeta:{depth}"),
            PlayerId::Model(key) => format!("model:{key}"),
            PlayerId::Named => "opponent".to_owned(),
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
        let known: Vec<Preset> = self.rulesets.iter().filter_map(|name| Preset::from_name(name)).collect();
        match rules.preset() {
            Some(preset) if known.contains(&preset) => Fit::Rules,
            _ if known.iter().any(|preset| preset.rules().resembles(rules)) => Fit::Board,
            _ => Fit::Other,
        }
    }
}

/// Everybody who can be asked to play, networks first.
pub(super) fn offers(players: &dyn Players) -> Vec<Offer> {
    let mut offers = players.networks();
    let mut add = |id: PlayerId, name: String| {
        offers.push(Offer { id, name, rulesets: Vec::new(), is_model: false });
    };
    if let Some(outsider) = players.outsider() {
        add(PlayerId::Named, outsider.name().to_owned());
    }
    for depth in 1..=DEEPEST {
        add(PlayerId::AlphaBeta(depth), format!("alpha-beta, {depth} {}", if depth == 1 { "ply" } else { "plies" }));
    }
    add(PlayerId::Random, "random moves".to_owned());
    offers
}

/// The network that knows these rules best, to give views and hints, and how well; `None` when none knows the board.
pub fn adviser(players: &dyn Players, rules: &Rules) -> Option<(PlayerId, Fit)> {
    let offers = players.networks().into_iter().map(|offer| (offer.fit(rules), offer.id));
    // Of those that fit alike the first of the list.
    let best = offers.rev().max_by_key(|(fit, _)| *fit)?;
    (best.0 != Fit::Other).then_some((best.1, best.0))
}

/// How well a player knows these rules.
pub(super) fn fit(players: &dyn Players, id: &PlayerId, rules: &Rules) -> Fit {
    players.networks().iter().find(|offer| offer.id == *id).map_or(Fit::Other, |offer| offer.fit(rules))
}

/// Who plays by these rules where nobody is chosen: the network of a run or a folder that knows them best, else the
/// shipped one that is chosen everywhere, else none.
pub(super) fn opponent(players: &dyn Players, preset: Preset) -> PlayerId {
    if let Some((PlayerId::Model(key), _)) = adviser(players, &preset.rules())
        && !key.starts_with("shipped/")
    {
        return PlayerId::Model(key);
    }
    let shipped = shipped_network(preset).ok().map(|name| PlayerId::Model(format!("shipped/{name}")));
    let without = || PlayerId::try_from(WITHOUT_NETWORK.to_owned()).unwrap_or(PlayerId::Random);
    shipped.unwrap_or_else(without)
}

/// What a page calls a player.
///
/// # Errors
/// When there is no such network.
pub(super) fn name(players: &dyn Players, id: &PlayerId) -> Result<String, String> {
    match id {
        PlayerId::Random => Ok("random moves".to_owned()),
        PlayerId::AlphaBeta(depth) => Ok(format!("alpha-beta {depth}")),
        PlayerId::Model(key) => players.name(key),
        PlayerId::Named => {
            let nobody = || "nobody was named on the command line".to_owned();
            players.outsider().map(|outsider| outsider.name().to_owned()).ok_or_else(nobody)
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
