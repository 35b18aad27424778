//! Ratings fitted to all matches of a ladder.

use serde::Serialize;

use super::{Contestant, LadderMatch};
use crate::{Encounter, Rating, RatingParams, Ratings, Tally};

/// One contestant's strength.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standing {
    /// The player.
    #[serde(flatten)]
    pub contestant: Contestant,
    /// Strength with the attackers, Elo.
    pub attackers: Rating,
    /// Strength with the defenders, Elo.
    pub defenders: Rating,
    /// Strength over both sides, Elo.
    pub overall: Rating,
    /// Games played.
    pub games: u32,
    /// Points per game, 0..1.
    pub score: f64,
}

impl Standing {
    /// The ratings with the ends of their 95 % intervals, under the names of all metrics (`docs/RUNS.md`).
    pub fn scalars(&self) -> Vec<(String, f64)> {
        [("attackers", self.attackers), ("defenders", self.defenders), ("overall", self.overall)]
            .into_iter()
            .flat_map(|(side, Rating { elo, error })| {
                [("", elo), ("_low", elo - error), ("_high", elo + error)]
                    .map(|(end, elo)| (format!("elo/{side}{end}"), elo))
            })
            .collect()
    }
}

/// The attackers' advantage between equals under one ruleset.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Balance {
    /// Name of the ruleset.
    pub rules: String,
    /// What it is worth, Elo.
    pub attackers: Rating,
}

/// The strength of all players.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Standings {
    /// The player whose strength is zero by definition: the fixed opponent with the most games. Without one, the mean
    /// is zero.
    pub zero: Option<Contestant>,
    /// The contestants: checkpoints in order of their generations, then the fixed opponents by name.
    pub contestants: Vec<Standing>,
    /// The rulesets played.
    pub balances: Vec<Balance>,
}

impl Standings {
    /// Fits the ratings of all players. Each strength is for one side (`docs/TRAINING.md`, Strength).
    pub fn fit(matches: &[LadderMatch]) -> Standings {
        let mut who: Vec<&Contestant> = matches.iter().flat_map(|played| [&played.a, &played.b]).collect();
        who.sort_unstable();
        who.dedup();
        let mut rulesets: Vec<&str> = matches.iter().map(|played| played.result.rules.as_str()).collect();
        rulesets.sort_unstable();
        rulesets.dedup();
        let index = |contestant: &Contestant| who.iter().position(|&known| known == contestant).unwrap_or_default();
        let encounters: Vec<Encounter> = matches
            .iter()
            .flat_map(|LadderMatch { a, b, result }| {
                let ruleset = rulesets.iter().position(|&name| name == result.rules).unwrap_or_default();
                let (a, b) = (index(a), index(b));
                [
                    Encounter { attackers: a, defenders: b, ruleset, tally: result.as_attackers },
                    Encounter { attackers: b, defenders: a, ruleset, tally: result.as_defenders.flipped() },
                ]
            })
            .collect();
        let tallies: Vec<Tally> = (0..who.len()).map(|player| tally(player, &encounters)).collect();
        let fixed = (0..who.len()).filter(|&player| matches!(who[player], Contestant::Player { .. }));
        // Of several with as many games the first by name.
        let zero = fixed.max_by_key(|&player| (tallies[player].games(), std::cmp::Reverse(player)));
        let params = RatingParams { anchor: zero, ..RatingParams::default() };
        let ratings = Ratings::fit(who.len(), rulesets.len(), &encounters, params);
        let standing = |player: usize| Standing {
            contestant: who[player].clone(),
            attackers: ratings.attackers(player),
            defenders: ratings.defenders(player),
            overall: ratings.overall(player),
            games: tallies[player].games(),
            score: tallies[player].score(),
        };
        let balance =
            |(index, &rules): (usize, &&str)| Balance { rules: rules.to_owned(), attackers: ratings.balance(index) };
        Standings {
            zero: zero.map(|player| who[player].clone()),
            contestants: (0..who.len()).map(standing).collect(),
            balances: rulesets.iter().enumerate().map(balance).collect(),
        }
    }

    /// The checkpoints with their generations, rising: those that played with the number of playouts most of them had.
    pub fn checkpoints(&self) -> Vec<(u32, &Standing)> {
        let of = |standing: &Standing| match standing.contestant {
            Contestant::Checkpoint { generation, playouts } => Some((generation, playouts)),
            Contestant::Player { .. } => None,
        };
        let with = |wanted: u32| {
            self.contestants.iter().filter(|one| of(one).is_some_and(|(_, playouts)| playouts == wanted)).count()
        };
        let usual = self.contestants.iter().filter_map(of).map(|(_, playouts)| playouts).max_by_key(|&n| with(n));
        self.contestants
            .iter()
            .filter_map(|one| of(one).filter(|&(_, playouts)| Some(playouts) == usual).map(|(number, _)| (number, one)))
            .collect()
    }
}

/// All results of a player, as it counts them.
fn tally(player: usize, encounters: &[Encounter]) -> Tally {
    encounters.iter().fold(Tally::default(), |sum, encounter| {
        let as_attackers = if encounter.attackers == player { encounter.tally } else { Tally::default() };
        let as_defenders = if encounter.defenders == player { encounter.tally.flipped() } else { Tally::default() };
        sum + as_attackers + as_defenders
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MatchResult;

    /// A match in which A wins these shares of its games with the attackers and with the defenders.
    fn played(a: Contestant, b: Contestant, attackers: [u32; 2], defenders: [u32; 2]) -> LadderMatch {
        let tally = |[wins, losses]: [u32; 2]| Tally { wins, draws: 0, losses };
        let [as_attackers, as_defenders] = [tally(attackers), tally(defenders)];
        let games = (as_attackers + as_defenders).games();
        let rules = "brandubh".to_owned();
        let result = MatchResult { rules, games, as_attackers, as_defenders, ..MatchResult::default() };
        LadderMatch { a, b, result }
    }

    fn checkpoint(generation: u32) -> Contestant {
        Contestant::Checkpoint { generation, playouts: 32 }
    }

    fn player(name: &str) -> Contestant {
        Contestant::Player { player: name.into(), network: None }
    }

    #[test]
    fn three_to_one_on_both_sides_is_191_elo_on_both_sides() {
        // 400 log10(3) = 190.8; with 2,000 games a side the prior hardly shows.
        let matches = [
            played(checkpoint(0), player("random"), [1000, 1000], [1000, 1000]),
            played(checkpoint(10), player("random"), [1500, 500], [1500, 500]),
        ];
        let standings = Standings::fit(&matches);
        assert_eq!(standings.zero, Some(player("random")));
        let ten = standings.checkpoints()[1].1;
        for rating in [ten.attackers, ten.defenders, ten.overall] {
            assert!((rating.elo - 190.8).abs() < 3.0, "{rating:?}");
        }
        assert_eq!((ten.games, ten.score), (4000, 0.75));
        assert!(standings.balances[0].attackers.elo.abs() < 3.0);
    }

    #[test]
    fn sides_are_told_apart() {
        let standings = Standings::fit(&[played(checkpoint(5), player("random"), [900, 100], [500, 500])]);
        let five = &standings.contestants[0];
        assert!(five.attackers.elo > five.defenders.elo + 100.0, "{five:?}");
    }

    #[test]
    fn nobody_and_checkpoints_alone_can_be_rated() {
        assert_eq!(Standings::fit(&[]), Standings::default());
        let alone = Standings::fit(&[played(checkpoint(10), checkpoint(0), [30, 10], [30, 10])]);
        assert_eq!(alone.zero, None);
        assert!((alone.contestants[0].overall.elo + alone.contestants[1].overall.elo).abs() < 1e-6);
    }

    #[test]
    fn a_few_matches_at_other_playouts_do_not_enter_the_curve() {
        let other = Contestant::Checkpoint { generation: 10, playouts: 400 };
        let matches = [
            played(checkpoint(0), player("random"), [1, 1], [1, 1]),
            played(checkpoint(10), player("random"), [1, 1], [1, 1]),
            played(other, player("random"), [2, 0], [2, 0]),
        ];
        let generations: Vec<u32> =
            Standings::fit(&matches).checkpoints().into_iter().map(|(generation, _)| generation).collect();
        assert_eq!(generations, [0, 10]);
    }
}
