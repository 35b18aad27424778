//! Handicaps: random moves and fewer playouts for the side that mostly wins.
//!
//! While one side wins nearly every game, as the defenders do on the small boards at first, all results are the same
//! and the network learns nothing from them. Two handicaps balance the games. Each is adapted after every generation
//! and separately for each ruleset:
//!
//! - **blunders**: the side that scores more plays a share of its moves at random. It still searches every move, so its
//!   policy targets come from full searches.
//! - **playouts**: the side that scores less gets more playouts and the other side fewer. Their geometric mean is the
//!   configured number.
//!
//! Both shrink when the weaker side catches up. If the rules favour one side, the handicaps stay. A game keeps the
//! handicap that it begins with, which is an input of the network; a share of the games is between equals, so that it
//! knows such games, too. The handicaps change only at the end of a generation, so the number of threads does not
//! affect them.

use hnefi_engine::{NamedRules, Rules, Side};
use serde::{Deserialize, Serialize};

use hnefi_inference::Handicap;
use hnefi_run::GameRecord;

/// Largest change per generation, in doublings, at a mean score of 0 or 1.
const STEP_DOUBLINGS: f32 = 0.5;

/// Largest change per generation in the share of random moves.
const STEP_BLUNDERS: f32 = 0.1;

/// Fewest playouts of a search that gives a policy target.
const FEWEST: u32 = 2;

/// The handicap of each ruleset that has finished games.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Balance(Vec<(NamedRules, Handicap)>);

impl Balance {
    pub(super) fn of(&self, rules: &Rules) -> Handicap {
        self.0.iter().find(|(known, _)| known.covers(rules)).map(|&(_, handicap)| handicap).unwrap_or_default()
    }

    pub(super) fn all(&self) -> Vec<(NamedRules, Handicap)> {
        self.0.clone()
    }

    pub(super) fn restrict(&mut self, limits: Handicap) {
        for (_, handicap) in &mut self.0 {
            restrict(handicap, limits);
        }
    }

    /// Adapts the handicaps to the finished games of a generation.
    pub(super) fn observe(&mut self, games: &[GameRecord], limits: Handicap) {
        let mut played: Vec<NamedRules> = Vec::new();
        for game in games {
            if !played.iter().any(|rules| rules.covers(&game.rules)) {
                played.push(Rules { ply_cap: 0, ..game.rules }.into());
            }
        }
        for rules in played {
            let handicap = self.of(&rules.rules());
            // Games between equals say nothing of how much a handicap helps.
            let counts = |game: &&GameRecord| game.handicap != Handicap::NONE || handicap == Handicap::NONE;
            let games = games.iter().filter(|game| rules.covers(&game.rules)).filter(counts);
            let (count, points) = games.fold((0_u32, 0.0), |(count, points), game| {
                let score = match game.winner() {
                    Some(Side::Attackers) => 1.0,
                    Some(Side::Defenders) => 0.0,
                    None => 0.5,
                };
                (count + 1, points + score)
            });
            if count == 0 {
                continue;
            }
            let place = self.0.iter().position(|&(known, _)| known == rules).unwrap_or_else(|| {
                self.0.push((rules, Handicap::default()));
                self.0.len() - 1
            });
            adapt(&mut self.0[place].1, points / count as f32, limits);
        }
    }
}

/// Moves the handicap in favour of the side that scored less; `score` is the attackers' mean score, 0 to 1.
///
/// Playouts and blunders have one strength in steps. If each moved by itself, the one that its limit held would turn
/// first, go beyond 0 and work against the other.
fn adapt(handicap: &mut Handicap, score: f32, limits: Handicap) {
    let strengths = [handicap.doublings / STEP_DOUBLINGS, handicap.blunders / STEP_BLUNDERS];
    let strength = if strengths[0].abs() > strengths[1].abs() { strengths[0] } else { strengths[1] };
    let strength = strength + 2.0 * (0.5 - score);
    *handicap = Handicap { doublings: STEP_DOUBLINGS * strength, blunders: STEP_BLUNDERS * strength };
    restrict(handicap, limits);
}

fn restrict(handicap: &mut Handicap, limits: Handicap) {
    handicap.doublings = handicap.doublings.clamp(-limits.doublings, limits.doublings);
    handicap.blunders = handicap.blunders.clamp(-limits.blunders, limits.blunders);
}

/// Playouts of a search, for attackers and for defenders.
pub(super) fn playouts(handicap: Handicap, base: u32) -> [u32; 2] {
    let playouts = |doublings: f32| ((base as f32 * doublings.exp2()).round() as u32).max(FEWEST.min(base));
    [playouts(handicap.doublings / 2.0), playouts(-handicap.doublings / 2.0)]
}

#[cfg(test)]
mod tests {
    use hnefi_engine::{Outcome, Preset, Reason};

    use super::*;

    const LIMITS: Handicap = Handicap { doublings: 4.0, blunders: 0.75 };

    fn games(preset: Preset, attackers: usize, defenders: usize) -> Vec<GameRecord> {
        let game = |winner| GameRecord {
            handicap: Handicap { doublings: 1.0, blunders: 0.1 },
            outcome: Some(Outcome::Win { side: winner, reason: Reason::KingCaptured }),
            ..GameRecord::new(0, 0, Rules { ply_cap: 150, ..preset.rules() })
        };
        let wins = |side, count| std::iter::repeat_n(game(side), count);
        wins(Side::Attackers, attackers).chain(wins(Side::Defenders, defenders)).collect()
    }

    fn brandubh(balance: &Balance) -> Handicap {
        balance.of(&Preset::Brandubh.rules())
    }

    #[test]
    fn the_loser_thinks_longer_up_to_the_limit() {
        let mut balance = Balance::default();
        assert_eq!(playouts(brandubh(&balance), 16), [16, 16]);
        for _ in 0..4 {
            balance.observe(&games(Preset::Brandubh, 0, 4), LIMITS);
        }
        assert_eq!(playouts(brandubh(&balance), 16), [32, 8]);
        for _ in 0..20 {
            balance.observe(&games(Preset::Brandubh, 0, 4), LIMITS);
        }
        assert_eq!(playouts(brandubh(&balance), 16), [64, 4]);
        assert_eq!(playouts(brandubh(&balance), 4), [16, 2]);
        balance.observe(&games(Preset::Brandubh, 2, 2), LIMITS);
        assert_eq!(playouts(brandubh(&balance), 16), [64, 4]);
        for _ in 0..12 {
            balance.observe(&games(Preset::Brandubh, 4, 0), LIMITS);
        }
        assert_eq!(playouts(brandubh(&balance), 16), [8, 32]);
    }

    /// The playouts reach their limit after four generations and the blunders theirs after eight.
    #[test]
    fn both_favour_the_same_side() {
        let mut balance = Balance::default();
        let limits = Handicap { doublings: 2.0, blunders: 0.8 };
        for (wins, losses) in [(0, 4), (4, 0), (0, 4)] {
            for _ in 0..11 {
                balance.observe(&games(Preset::Brandubh, wins, losses), limits);
                let Handicap { doublings, blunders } = brandubh(&balance);
                let expected = (STEP_DOUBLINGS * blunders / STEP_BLUNDERS).clamp(-2.0, 2.0);
                assert!((doublings - expected).abs() < 1e-4, "{doublings} doublings beside {blunders} blunders");
            }
        }
        assert_eq!(brandubh(&balance), limits);
    }

    #[test]
    fn new_limits_count_at_once() {
        let mut balance = Balance::default();
        for _ in 0..4 {
            balance.observe(&games(Preset::Brandubh, 0, 4), LIMITS);
        }
        assert_eq!(brandubh(&balance), Handicap { doublings: 2.0, blunders: 0.4 });
        balance.restrict(Handicap { doublings: 3.0, blunders: 0.25 });
        assert_eq!(brandubh(&balance), Handicap { doublings: 2.0, blunders: 0.25 });
        balance.restrict(Handicap::NONE);
        assert_eq!(brandubh(&balance), Handicap::default());
    }

    #[test]
    fn every_ruleset_has_its_own() {
        let mut balance = Balance::default();
        let mut both = games(Preset::Brandubh, 0, 4);
        both.extend(games(Preset::Copenhagen, 4, 0));
        balance.observe(&both, LIMITS);
        let copenhagen = balance.of(&Preset::Copenhagen.rules());
        assert_eq!([Side::Attackers, Side::Defenders].map(|side| brandubh(&balance).random_moves(side)), [0.0, 0.1]);
        assert_eq!([Side::Attackers, Side::Defenders].map(|side| copenhagen.random_moves(side)), [0.1, 0.0]);
        assert_eq!(balance.of(&Preset::Tablut.rules()), Handicap::default());
    }

    #[test]
    fn a_limit_of_nothing_changes_nothing() {
        let mut balance = Balance::default();
        balance.observe(&games(Preset::Brandubh, 0, 4), Handicap { doublings: 0.0, blunders: 0.0 });
        assert_eq!(brandubh(&balance), Handicap::default());
        balance.observe(&[], LIMITS);
        assert_eq!(brandubh(&balance), Handicap::default());
    }
}
