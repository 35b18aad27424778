//! One place of a lane: a game in flight and the search that thinks for it.
//!
//! A turn begins with a position and ends with a ply added to the record. In between the seat asks for evaluations one
//! at a time: one for a ply from the raw policy, one per leaf for a search. Until the turn ends the record
//! does not change, so a turn can be abandoned at any moment.

use hnefi_engine::{Move, MoveList};
use hnefi_inference::{EvalRequest, Evaluation};

use super::balance;
use super::chance::{Purpose, generator, unit};
use super::game::Game;
use super::lane::Table;
use super::opening::{choose_opening_move, wins_at_once};
use super::statistics::Counters;
use hnefi_run::{GameRecord, PlyRecord, RecordError};
use hnefi_search::{LeafId, Search, SearchConfig, SearchReport, Selection, Verdict};

/// Policy weights below this are left out of the record.
const SMALLEST_WEIGHT: f32 = 1e-3;

/// What the seat is doing.
enum Turn {
    /// Nothing: there is no game.
    Empty,
    /// Drawing a move of the opening from the raw policy.
    Opening,
    /// Searching.
    Searching,
    /// Waiting for the other seats with this ply.
    Chosen(PlyRecord),
}

/// What the seat wants evaluated.
pub(super) enum Ask {
    /// The position it stands at.
    Root,
    /// A leaf of its search.
    Leaf(LeafId),
}

/// One place of a lane.
pub(super) struct Seat {
    game: Option<Game>,
    search: Search,
    turn: Turn,
    /// Legal moves of the position, for opening plies.
    moves: MoveList,
    replies: MoveList,
}

impl Seat {
    pub(super) fn new(search: &SearchConfig) -> Seat {
        Seat {
            game: None,
            search: Search::new(search.clone()),
            turn: Turn::Empty,
            moves: MoveList::new(),
            replies: MoveList::new(),
        }
    }

    /// The game in flight.
    pub(super) fn record(&self) -> Option<&GameRecord> {
        self.game.as_ref().map(|game| &game.record)
    }

    /// Begins game number `number`.
    pub(super) fn begin_game(&mut self, number: u64, table: &Table<'_>) {
        self.game = Some(Game::begin(number, table));
    }

    /// Takes up a game from a snapshot.
    pub(super) fn resume_game(&mut self, record: GameRecord, table: &Table<'_>) -> Result<(), RecordError> {
        self.game = Some(Game::resume(record, table)?);
        Ok(())
    }

    /// Begins the turn of the side to move.
    pub(super) fn begin_turn(&mut self, table: &Table<'_>) {
        let Some(game) = &mut self.game else {
            self.turn = Turn::Empty;
            return;
        };
        if game.record.plies.len() < game.opening {
            game.position.legal_moves(&mut self.moves);
            if !wins_at_once(&game.position, &self.moves) {
                self.turn = Turn::Opening;
                return;
            }
        }
        self.begin_search(table);
    }

    fn begin_search(&mut self, table: &Table<'_>) {
        let Some(game) = &self.game else { return };
        let side = game.position.side_to_move();
        let playouts = balance::playouts(table.balance.of(&game.record.rules), table.playouts)[side.index()];
        let mut noise = generator(table.seed, game.record.game, game.record.plies.len(), Purpose::SearchNoise);
        self.search.begin(&game.position, playouts, Some(&mut noise));
        self.turn = Turn::Searching;
    }

    /// Thinks until an evaluation is needed; `None` when the turn needs no more.
    pub(super) fn think(&mut self) -> Option<Ask> {
        match self.turn {
            Turn::Empty | Turn::Chosen(_) => None,
            Turn::Opening => Some(Ask::Root),
            Turn::Searching => loop {
                match self.search.select_leaf() {
                    Selection::Leaf(leaf) => return Some(Ask::Leaf(leaf)),
                    Selection::Settled => {}
                    // With no leaf outstanding nothing can block.
                    Selection::Finished | Selection::Blocked => return None,
                }
            },
        }
    }

    /// The request behind what [`Seat::think`] asked.
    pub(super) fn request(&self, ask: &Ask) -> EvalRequest<'_> {
        match (ask, &self.game) {
            (Ask::Leaf(leaf), _) => self.search.request(*leaf),
            (Ask::Root, Some(game)) => EvalRequest { position: &game.position, moves: &self.moves, auxiliary: false },
            (Ask::Root, None) => unreachable!("only a seat with a game asks"),
        }
    }

    /// Takes the answer to what [`Seat::think`] asked.
    pub(super) fn answer(&mut self, ask: &Ask, evaluation: &Evaluation, priors: &[f32], table: &Table<'_>) {
        if let Ask::Leaf(leaf) = ask {
            return self.search.expand(*leaf, evaluation, priors);
        }
        let Some(game) = &mut self.game else { return };
        let mut rng = generator(table.seed, game.record.game, game.record.plies.len(), Purpose::OpeningMove);
        let temperature = table.config.opening_temperature;
        let chosen =
            choose_opening_move(&mut game.position, &self.moves, priors, temperature, &mut rng, &mut self.replies);
        match chosen {
            Some(mv) => {
                let wdl = evaluation.wdl;
                self.turn = Turn::Chosen(PlyRecord {
                    mv,
                    policy: Vec::new(),
                    playouts: 0,
                    raw: wdl,
                    searched: wdl,
                    trains: false,
                });
            }
            // Every move loses at once: let the search find the one that holds out.
            None => self.begin_search(table),
        }
    }

    /// Ends the turn: the ply enters the record. Returns the game if it is over; the seat is empty then.
    pub(super) fn end_turn(&mut self, table: &Table<'_>, counters: &mut Counters) -> Option<GameRecord> {
        let ply = match std::mem::replace(&mut self.turn, Turn::Empty) {
            Turn::Empty | Turn::Opening => return None,
            Turn::Chosen(ply) => ply,
            Turn::Searching => self.ply_of_search(table, counters),
        };
        let game = self.game.as_mut()?;
        counters.plies += 1;
        if !game.play(ply, table) {
            return None;
        }
        self.game.take().map(|game| game.record)
    }

    /// The ply that a finished search chose.
    fn ply_of_search(&self, table: &Table<'_>, counters: &mut Counters) -> PlyRecord {
        let report = self.search.report();
        counters.playouts += u64::from(report.playouts);
        // Without an evaluation of the root there is no prior that the search could differ from.
        if report.evaluations > 0 {
            counters.compare(&report.policy_target, report.moves.iter().map(|root| root.prior));
        }
        let heavy = report.policy_target.iter().copied().filter(|&(_, weight)| weight >= SMALLEST_WEIGHT);
        let mut policy: Vec<_> = heavy.collect();
        let sum: f32 = policy.iter().map(|&(_, weight)| weight).sum();
        policy.iter_mut().for_each(|(_, weight)| *weight = short(*weight / sum));
        PlyRecord {
            mv: self.blunder(&report, table).unwrap_or(report.best),
            policy,
            playouts: report.playouts,
            raw: report.raw,
            searched: report.wdl,
            trains: true,
        }
    }

    /// A random move instead of the best one, now and then, where the balance asks it of this side. A certain win is
    /// never given away, so the results of decided positions stay what they are.
    fn blunder(&self, report: &SearchReport, table: &Table<'_>) -> Option<Move> {
        let record = self.record()?;
        let side = self.game.as_ref()?.position.side_to_move();
        let share = f64::from(balance::blunders(table.balance.of(&record.rules), side));
        let mut rng = generator(table.seed, record.game, record.plies.len(), Purpose::Blunder);
        if unit(&mut rng) >= share || report.proven.is_some_and(|proven| proven.verdict == Verdict::Win) {
            return None;
        }
        let index = (unit(&mut rng) * report.moves.len() as f64) as usize;
        report.moves.get(index).map(|root| root.mv)
    }
}

/// Rounds to 12 significant bits: far finer than a search is sure of, and a fifth off the size of record files.
fn short(weight: f32) -> f32 {
    const DROPPED: u32 = 12;
    f32::from_bits((weight.to_bits() + (1 << (DROPPED - 1))) & !((1 << DROPPED) - 1))
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn short_weights_are_near() {
        for weight in [1.0, 0.5, 0.75, 0.0, 1.0 / 3.0, 0.001, 0.999_99] {
            assert!((short(weight) - weight).abs() <= weight / 4096.0, "{weight}");
            assert_eq!(short(short(weight)), short(weight));
        }
        assert_eq!([short(1.0), short(0.5), short(0.0)], [1.0, 0.5, 0.0]);
    }
}
