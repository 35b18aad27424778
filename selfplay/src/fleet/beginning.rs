//! Where new games begin: from the start of their ruleset, or from a position of an earlier game.
//!
//! What a game begins from is drawn by its number alone: a **restart** goes back to a position that the search
//! misjudged (`restart.rs`), a **fork** leaves an earlier game after a few plies by another move (`fork.rs`). Either
//! takes an earlier game under the very rules that the new game has, so the shares of the rulesets stay what they are;
//! while there is none, the game begins from the start. The earlier games are those of the newest generations, read
//! anew for each generation, so nothing of this has to be saved with the games in flight.
//!
//! The record of such a game has the position as its start. The position has no history there: clocks are at zero, no
//! repetition is remembered, and the record replays just as it was played.

use hnefi_engine::{Move, Position, Rules};

use super::chance::{Purpose, generator, unit};
use super::config::SelfPlayConfig;
use super::restart::Misjudged;
use crate::record::GameRecord;

/// Mean number of plies before a fork per square of the board, exponentially distributed (KataGo, arXiv 1902.10565,
/// appendix D).
const FORK_PLIES_PER_SQUARE: f64 = 0.025;

/// What a game begins from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// The start of its ruleset.
    Start,
    /// A position that the search misjudged.
    Restart,
    /// An early position, left by another move.
    Fork,
}

impl Beginning {
    /// What the game with this number begins from if there are earlier games for it.
    pub(super) fn of_game(config: &SelfPlayConfig, seed: u64, number: u64) -> Beginning {
        let restarts = f64::from(config.restart_share);
        let point = unit(&mut generator(seed, number, 0, Purpose::Beginning));
        if point < restarts {
            Beginning::Restart
        } else if point < restarts + f64::from(config.fork_share) {
            Beginning::Fork
        } else {
            Beginning::Start
        }
    }
}

/// Earlier games that new ones may begin from, by their rules.
#[derive(Default)]
pub(super) struct Stock<'a> {
    shelves: Vec<Shelf<'a>>,
}

struct Shelf<'a> {
    rules: Rules,
    /// Games from the standard start, which a fork may leave.
    whole: Vec<&'a GameRecord>,
    /// Positions for restarts.
    misjudged: Vec<Misjudged<'a>>,
}

impl<'a> Stock<'a> {
    /// What these games, oldest first, have for new ones.
    pub(super) fn new(earlier: &[&'a GameRecord], config: &SelfPlayConfig) -> Stock<'a> {
        let mut stock = Stock::default();
        if config.restart_share <= 0.0 && config.fork_share <= 0.0 {
            return stock;
        }
        let finished = || earlier.iter().copied().filter(|game| game.is_finished() && !game.plies.is_empty());
        for game in finished() {
            if stock.shelf(&game.rules).is_none() {
                let of_rules = || finished().filter(|other| other.rules == game.rules);
                stock.shelves.push(Shelf {
                    rules: game.rules,
                    whole: of_rules().filter(|game| game.start.is_none()).collect(),
                    misjudged: Misjudged::worst_of(of_rules()),
                });
            }
        }
        stock
    }

    fn shelf(&self, rules: &Rules) -> Option<&Shelf<'a>> {
        self.shelves.iter().find(|shelf| shelf.rules == *rules)
    }

    /// The position that a game with this number and these rules begins from; `None` for the standard start.
    pub(super) fn position(&self, config: &SelfPlayConfig, seed: u64, number: u64, rules: &Rules) -> Option<Position> {
        let shelf = self.shelf(rules)?;
        let (game, ply) = match Beginning::of_game(config, seed, number) {
            Beginning::Start => return None,
            Beginning::Restart => {
                let point = unit(&mut generator(seed, number, 0, Purpose::RestartPosition));
                let chosen = Misjudged::at(&shelf.misjudged, point)?;
                (chosen.game, chosen.ply)
            }
            Beginning::Fork => shelf.fork(seed, number)?,
        };
        position_at(game, ply)
    }

    /// The move that the earlier game made where the game with this number, begun from `start`, forks off.
    pub(super) fn move_left(&self, seed: u64, number: u64, rules: &Rules, start: &str) -> Option<Move> {
        let (game, ply) = self.shelf(rules)?.fork(seed, number)?;
        let position = position_at(game, ply)?;
        // Games from another generation's stock have no say.
        (position.fen() == start).then(|| game.plies[ply].mv)
    }
}

impl<'a> Shelf<'a> {
    /// The game that this new one forks off from, and after how many plies.
    fn fork(&self, seed: u64, number: u64) -> Option<(&'a GameRecord, usize)> {
        let mut rng = generator(seed, number, 0, Purpose::ForkPosition);
        let game = *self.whole.get((unit(&mut rng) * self.whole.len() as f64) as usize)?;
        let mean = FORK_PLIES_PER_SQUARE * self.rules.size.squares() as f64;
        // 1 - u lies in 0..=1 without 0, so the logarithm is finite.
        let plies = (-mean * (1.0 - unit(&mut rng)).ln()).round() as usize;
        Some((game, plies.min(game.plies.len() - 1)))
    }
}

/// The position of a game after so many plies, as a new game begins from it; `None` if the record does not hold
/// together or the position, without its history, would be the end of a game.
fn position_at(game: &GameRecord, ply: usize) -> Option<Position> {
    let mut replay = game.replay().ok()?;
    for _ in 0..ply {
        replay.step().ok()?;
    }
    let fresh = Position::from_fen(&game.rules, &replay.position().fen()).ok()?;
    fresh.outcome().is_none().then_some(fresh)
}

#[cfg(test)]
mod tests {
    use hnefi_engine::{MoveList, Outcome, Preset, Reason};
    use hnefi_inference::Wdl;

    use super::*;
    use crate::record::PlyRecord;
    use crate::rng_for;

    /// A game of random moves, ended as a draw after so many plies at most.
    fn random_game(number: u64, rules: Rules, plies: usize) -> GameRecord {
        let (mut position, mut moves) = (Position::start(&rules), MoveList::new());
        let mut rng = rng_for(&[number]);
        let mut record = GameRecord {
            game: number,
            seed: 0,
            rules,
            start: None,
            players: [String::new(), String::new()],
            plies: Vec::new(),
            outcome: Some(Outcome::Draw { reason: Reason::PlyCap }),
            resigned: None,
            would_have_resigned: None,
        };
        while record.plies.len() < plies && position.outcome().is_none() {
            position.legal_moves(&mut moves);
            let mv = moves[(unit(&mut rng) * moves.len() as f64) as usize];
            position.play(mv).unwrap();
            record.plies.push(PlyRecord {
                mv,
                policy: vec![(mv, 1.0)],
                playouts: 8,
                raw: Wdl::DRAW,
                searched: Wdl::DRAW,
                trains: true,
            });
        }
        record
    }

    fn config(restart_share: f32, fork_share: f32) -> SelfPlayConfig {
        SelfPlayConfig { restart_share, fork_share, ..SelfPlayConfig::default() }
    }

    #[test]
    fn beginnings_have_their_shares() {
        let config = config(0.2, 0.3);
        let count = |wanted| (0..4000).filter(|&number| Beginning::of_game(&config, 1, number) == wanted).count();
        let [restarts, forks] = [Beginning::Restart, Beginning::Fork].map(count);
        assert!((720..880).contains(&restarts) && (1100..1300).contains(&forks), "{restarts}, {forks}");
    }

    #[test]
    fn forks_leave_games_of_their_own_rules_early() {
        let [small, middle] = [Preset::Brandubh, Preset::Tablut].map(Preset::rules);
        let games: Vec<GameRecord> =
            (0..20).map(|number| random_game(number, if number % 2 == 0 { small } else { middle }, 30)).collect();
        let elsewhere = GameRecord { start: Some(Position::start(&small).fen()), ..random_game(50, small, 30) };
        let all: Vec<&GameRecord> = games.iter().chain([&elsewhere]).collect();
        let config = config(0.0, 0.5);
        let stock = Stock::new(&all, &config);
        assert_eq!(stock.shelf(&small).unwrap().whole.len(), 10, "not the one that began elsewhere");
        for (rules, squares) in [(small, 49.0), (middle, 81.0)] {
            let mut depths = Vec::new();
            for number in (0..2000).filter(|&number| Beginning::of_game(&config, 7, number) == Beginning::Fork) {
                let position = stock.position(&config, 7, number, &rules).unwrap();
                assert_eq!((position.rules(), position.ply(), position.outcome()), (&rules, 0, None));
                let (game, ply) = stock.shelf(&rules).unwrap().fork(7, number).unwrap();
                assert_eq!(game.rules, rules);
                let left = stock.move_left(7, number, &rules, &position.fen()).unwrap();
                assert_eq!(left, game.plies[ply].mv);
                assert!(position.is_legal(left));
                assert_eq!(stock.move_left(7, number, &rules, &Position::start(&rules).fen()).is_some(), ply == 0);
                depths.push(ply as f64);
            }
            let mean = depths.iter().sum::<f64>() / depths.len() as f64;
            let expected = FORK_PLIES_PER_SQUARE * squares;
            assert!((mean - expected).abs() < 0.15 * expected, "{mean} plies on {squares} squares");
        }
        assert!(stock.position(&config, 7, 0, &Preset::Copenhagen.rules()).is_none(), "nothing of these rules");
    }

    #[test]
    fn nothing_is_kept_where_nothing_is_asked_for() {
        let game = random_game(1, Preset::Brandubh.rules(), 30);
        assert!(Stock::new(&[&game], &config(0.0, 0.0)).shelves.is_empty());
        let stock = Stock::new(&[], &config(0.5, 0.5));
        assert!((0..100).all(|number| stock.position(&config(0.5, 0.5), 1, number, &game.rules).is_none()));
    }
}
