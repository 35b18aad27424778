//! What a match found.

use std::collections::BTreeMap;

use hnefi_engine::{GameResult, Outcome, Side};
use serde::{Deserialize, Serialize};

use super::game::{Forfeit, PlayedGame};
use super::score::{EloInterval, PairScores, Tally};
use super::sprt::SprtReport;

/// The result of a match from player A's point of view. Serialised it is the one line that `match --json` ends with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MatchResult {
    /// Spec of player A.
    pub a: String,
    /// Spec of player B.
    pub b: String,
    /// Name of the ruleset, `custom` for rules of one's own.
    pub rules: String,
    /// Seed of openings and players.
    pub seed: u64,
    /// Games counted.
    pub games: u32,
    /// A's wins.
    pub wins: u32,
    /// Draws, including draws by the ply cap.
    pub draws: u32,
    /// A's losses.
    pub losses: u32,
    /// A's points per game, 0..1.
    pub score: f64,
    /// A's results with the attackers.
    pub as_attackers: Tally,
    /// A's results with the defenders.
    pub as_defenders: Tally,
    /// By how much A is stronger, over both sides; the interval comes from the pairs.
    pub elo: EloInterval,
    /// A's attackers against B's defenders, the rules' balance included.
    pub elo_as_attackers: EloInterval,
    /// A's defenders against B's attackers, the rules' balance included.
    pub elo_as_defenders: EloInterval,
    /// Score of the attackers over all games, whichever player led them, 0..1.
    pub attackers_score: f64,
    /// Pairs that brought A 0, ½, 1, 1½ and 2 points.
    pub pairs: PairScores,
    /// Games by the way they ended, such as `attackers king_captured`, `draw ply_cap`, `defenders forfeit_timeout`
    /// for a game that the defenders won because the attackers' program did not answer.
    pub ends: BTreeMap<String, u32>,
    /// The games lost by external programs that broke off, with the culprits.
    #[serde(default)]
    pub forfeits: Vec<Forfeit>,
    /// Mean length of a game in plies, the opening included.
    pub mean_plies: f64,
    /// The sequential test, if there was one.
    pub sprt: Option<SprtReport>,
    /// Whether the match was stopped from outside before its end.
    pub interrupted: bool,
}

/// `attackers king_captured`, `draw no_capture`, ...
fn end_name(outcome: Outcome) -> String {
    format!("{} {}", outcome.status(), outcome.reason().as_str())
}

/// Games counted so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Score {
    as_attackers: Tally,
    as_defenders: Tally,
    pairs: PairScores,
    /// The first game of a pair whose second is still to come, as A sees it.
    half_pair: Option<GameResult>,
    ends: BTreeMap<String, u32>,
    forfeits: Vec<Forfeit>,
    plies: u64,
}

impl Score {
    /// Counts a finished game in which A had `side`. Games must come in order: the two of a pair one after the other.
    pub fn add(&mut self, game: &PlayedGame, side: Side) {
        let record = &game.record;
        let result = GameResult::of_winner(record.winner(), side);
        match side {
            Side::Attackers => self.as_attackers.add(result),
            Side::Defenders => self.as_defenders.add(result),
        }
        match self.half_pair.take() {
            None => self.half_pair = Some(result),
            Some(first) => self.pairs.add([first, result]),
        }
        let forfeited = |forfeit: &Forfeit| format!("{} forfeit_{}", forfeit.side.opponent(), forfeit.reason.as_str());
        let end = record.outcome.map(end_name).or_else(|| game.forfeit.as_ref().map(forfeited));
        if let Some(end) = end {
            *self.ends.entry(end).or_insert(0) += 1;
        }
        self.forfeits.extend(game.forfeit.clone());
        self.plies += record.plies.len() as u64;
    }

    /// The pairs, if the latest game completed one.
    pub fn complete_pairs(&self) -> Option<PairScores> {
        self.half_pair.is_none().then_some(self.pairs)
    }

    /// The result so far. `names` are A's and B's.
    pub fn result(&self, names: [&str; 2], rules: &str, seed: u64, sprt: Option<SprtReport>) -> MatchResult {
        let all = self.as_attackers + self.as_defenders;
        let attackers = self.as_attackers + self.as_defenders.flipped();
        MatchResult {
            a: names[0].to_owned(),
            b: names[1].to_owned(),
            rules: rules.to_owned(),
            seed,
            games: all.games(),
            wins: all.wins,
            draws: all.draws,
            losses: all.losses,
            score: all.score(),
            as_attackers: self.as_attackers,
            as_defenders: self.as_defenders,
            elo: self.pairs.elo(),
            elo_as_attackers: self.as_attackers.elo(),
            elo_as_defenders: self.as_defenders.elo(),
            attackers_score: attackers.score(),
            pairs: self.pairs,
            ends: self.ends.clone(),
            forfeits: self.forfeits.clone(),
            mean_plies: if all.games() == 0 { 0.0 } else { self.plies as f64 / f64::from(all.games()) },
            sprt,
            interrupted: false,
        }
    }
}
