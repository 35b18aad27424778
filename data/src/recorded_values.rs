//! What recorded games say as a whole: which side wins, and whether the search's values agree with the results.
//!
//! A network that does not know of handicaps learned the values of games in which one side now and then plays at random
//! on purpose, so in games of equals its values may contradict the results (`docs/HOW_IT_WORKS.md`).

use std::collections::BTreeMap;

use hnefi_engine::Side;
use hnefi_record::RulesText;
use hnefi_run::GameRecord;

/// The plies of an opening, whose values hang least on what is on the board.
const OPENING: usize = 10;

/// Games of a ruleset from which on it is judged.
const FEWEST_GAMES: u64 = 20;

/// The score of a side from which on games are one-sided.
const ONE_SIDED: f64 = 0.8;

/// How many times as large as a constant's the Brier score of values has to be for them to contradict the results.
const CONTRADICTION: f64 = 1.1;

/// The results of finished games, and the values that their searches recorded, by ruleset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordedValues(BTreeMap<String, Counts>);

/// The games under one ruleset; scores are the attackers'.
#[derive(Clone, Debug, Default, PartialEq)]
struct Counts {
    games: u64,
    score: f64,
    opening: Sums,
    all: Sums,
}

/// Sums over positions with a searched value.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sums {
    positions: f64,
    predicted: f64,
    /// Results and their squares.
    observed: [f64; 2],
    /// Squared differences of the two.
    squares: f64,
}

impl RecordedValues {
    /// What a value says, and what it does not.
    pub const MEANING: &str =
        "A value says what the network expects of the game, under the game's handicap if it has one.";

    /// Adds a game. Unfinished games, and games whose first position cannot be read, do not count.
    pub fn count(&mut self, game: &GameRecord) {
        let Ok(start) = game.start_position() else { return };
        if !game.is_finished() {
            return;
        }
        let result = match game.winner() {
            Some(Side::Attackers) => 1.0,
            Some(Side::Defenders) => 0.0,
            None => 0.5,
        };
        let counts = self.0.entry(RulesText::of(&game.rules).name().to_owned()).or_default();
        counts.games += 1;
        counts.score += result;
        let mut side = start.side_to_move();
        for (ply, record) in game.plies.iter().enumerate() {
            if record.has_searched_value() {
                let score = f64::from(record.searched.score());
                let score = if side == Side::Attackers { score } else { 1.0 - score };
                counts.all.add(score, result);
                if ply < OPENING {
                    counts.opening.add(score, result);
                }
            }
            side = side.opponent();
        }
    }

    /// Whether any position has a searched value.
    pub fn has_searches(&self) -> bool {
        self.0.values().any(|counts| counts.all.positions > 0.0)
    }

    /// A sentence on each ruleset: what the attackers score, and what the search said of it.
    pub fn described(&self) -> Vec<String> {
        let text = |(rules, counts): (&String, &Counts)| {
            let mut text =
                format!("{rules}: {} finished games, in which the attackers score {:.2}", counts.games, counts.mean());
            if counts.all.positions > 0.0 {
                text += &format!(
                    "; the search gives them {} in the first {OPENING} plies, {} in all",
                    counts.opening.described(),
                    counts.all.described()
                );
            }
            text
        };
        self.0.iter().map(text).collect()
    }

    /// A warning for each ruleset whose games are one-sided or whose values contradict the results.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for (rules, counts) in self.0.iter().filter(|(_, counts)| counts.games >= FEWEST_GAMES) {
            let (attackers, defenders) = (counts.mean(), 1.0 - counts.mean());
            for (side, score) in [("attackers", attackers), ("defenders", defenders)] {
                if score >= ONE_SIDED {
                    warnings.push(format!(
                        "one-sided: under {rules} the {side} score {:.0} % in {} games",
                        100.0 * score,
                        counts.games
                    ));
                }
            }
            let opening = format!("in the first {OPENING} plies");
            let parts = [(opening.as_str(), &counts.opening), ("in all plies", &counts.all)];
            if let Some((when, sums)) = parts.into_iter().find(|(_, sums)| sums.contradict(counts.games)) {
                warnings.push(format!(
                    "searched values contradict the results: under {rules} they give the attackers {:.2} {when}, who \
                     score {:.2} (Brier score {:.3}, a constant has {:.3}); a network that was not told of handicaps \
                     values handicapped play",
                    sums.predicted / sums.positions,
                    sums.observed[0] / sums.positions,
                    sums.brier(),
                    sums.brier_of_mean()
                ));
            }
        }
        warnings
    }
}

/// Whether values with this Brier score contradict the results of `games` games, whose mean and whose Brier score of
/// always saying it are the others.
///
/// A constant that did not know the results would have been worse than their mean: it has here the variance of the
/// results with a win and a loss more. So values of 0.97 do not contradict twenty wins out of twenty.
pub fn contradicts(games: u64, brier: f64, mean: f64, brier_of_mean: f64) -> bool {
    let (games, squares) = (games as f64, brier_of_mean + mean * mean);
    let of_more = |mean: f64| (games * mean + 1.0) / (games + 2.0);
    games >= FEWEST_GAMES as f64 && brier > CONTRADICTION * (of_more(squares) - of_more(mean).powi(2))
}

impl Counts {
    fn mean(&self) -> f64 {
        self.score / self.games as f64
    }
}

impl Sums {
    fn add(&mut self, score: f64, result: f64) {
        self.positions += 1.0;
        self.predicted += score;
        self.observed[0] += result;
        self.observed[1] += result * result;
        self.squares += (score - result).powi(2);
    }

    /// Mean squared difference between value and result.
    fn brier(&self) -> f64 {
        self.squares / self.positions
    }

    /// The same of always saying the mean result.
    fn brier_of_mean(&self) -> f64 {
        self.observed[1] / self.positions - (self.observed[0] / self.positions).powi(2)
    }

    fn contradict(&self, games: u64) -> bool {
        let mean = self.observed[0] / self.positions;
        self.positions > 0.0 && contradicts(games, self.brier(), mean, self.brier_of_mean())
    }

    fn described(&self) -> String {
        let predicted = self.predicted / self.positions;
        format!("{predicted:.2} (Brier score {:.3}, a constant has {:.3})", self.brier(), self.brier_of_mean())
    }
}
