//! A game slot: one game in flight with its search.
//!
//! A turn begins with a position and ends with a new ply in the record. In between, the slot asks for one evaluation at
//! a time: a single one for an opening ply, one per leaf for a search. The record changes only at the end of the turn,
//! so a turn can be abandoned at any time.

use hnefi_engine::{Move, MoveList};
use hnefi_inference::{EvalRequest, Evaluation};

use super::balance;
use super::chance::{Purpose, generator, unit};
use super::game::Game;
use super::opening::{choose_opening_move, wins_at_once};
use super::settings::GenerationSettings;
use super::statistics::Counters;
use hnefi_run::{GameRecord, PlyRecord, RecordError, recorded_policy};
use hnefi_search::{LeafId, ProvenResult, Search, SearchConfig, SearchReport, Selection};

/// The state of a slot within a round.
enum Turn {
    Empty,
    /// The move will be drawn from the raw policy.
    Opening,
    Searching,
    /// The ply is chosen and waits for the end of the round.
    Chosen(PlyRecord),
}

/// What a slot wants evaluated.
pub(super) enum Query {
    Root,
    Leaf(LeafId),
}

pub(super) struct GameSlot {
    game: Option<Game>,
    search: Search,
    turn: Turn,
    /// Legal moves of the present position, for opening plies.
    moves: MoveList,
    replies: MoveList,
}

impl GameSlot {
    pub(super) fn new(search: &SearchConfig) -> GameSlot {
        GameSlot {
            game: None,
            search: Search::new(search.clone()),
            turn: Turn::Empty,
            moves: MoveList::new(),
            replies: MoveList::new(),
        }
    }

    pub(super) fn record(&self) -> Option<&GameRecord> {
        self.game.as_ref().map(|game| &game.record)
    }

    pub(super) fn begin_game(&mut self, number: u64, settings: &GenerationSettings<'_>) {
        self.game = Some(Game::begin(number, settings));
    }

    pub(super) fn resume_game(
        &mut self,
        record: GameRecord,
        settings: &GenerationSettings<'_>,
    ) -> Result<(), RecordError> {
        self.game = Some(Game::resume(record, settings)?);
        Ok(())
    }

    pub(super) fn begin_turn(&mut self, settings: &GenerationSettings<'_>) {
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
        self.begin_search(settings);
    }

    fn begin_search(&mut self, settings: &GenerationSettings<'_>) {
        let Some(game) = &self.game else { return };
        let side = game.position.side_to_move();
        let playouts = balance::playouts(game.record.handicap, settings.playouts)[side.index()];
        let mut noise = generator(settings.seed, game.record.game, game.record.plies.len(), Purpose::SearchNoise);
        self.search.set_handicap(game.record.handicap);
        self.search.begin(&game.position, playouts, Some(&mut noise));
        self.turn = Turn::Searching;
    }

    /// Advances the turn to the next evaluation that it needs; `None` when the ply is chosen.
    pub(super) fn next_query(&mut self) -> Option<Query> {
        match self.turn {
            Turn::Empty | Turn::Chosen(_) => None,
            Turn::Opening => Some(Query::Root),
            Turn::Searching => loop {
                match self.search.select_leaf() {
                    Selection::Leaf(leaf) => return Some(Query::Leaf(leaf)),
                    Selection::Settled => {}
                    // `Blocked` cannot occur without an outstanding leaf.
                    Selection::Finished | Selection::Blocked => return None,
                }
            },
        }
    }

    /// The evaluation request of a query of [`GameSlot::next_query`].
    pub(super) fn request(&self, query: &Query) -> EvalRequest<'_> {
        match (query, &self.game) {
            (Query::Leaf(leaf), _) => self.search.request(*leaf),
            (Query::Root, Some(game)) => EvalRequest {
                position: &game.position,
                moves: &self.moves,
                handicap: game.record.handicap,
                auxiliary: false,
            },
            (Query::Root, None) => unreachable!("only a slot with a game has queries"),
        }
    }

    pub(super) fn answer(
        &mut self,
        query: &Query,
        evaluation: &Evaluation,
        priors: &[f32],
        settings: &GenerationSettings<'_>,
    ) {
        if let Query::Leaf(leaf) = query {
            return self.search.expand(*leaf, evaluation, priors);
        }
        let Some(game) = &mut self.game else { return };
        let mut rng = generator(settings.seed, game.record.game, game.record.plies.len(), Purpose::OpeningMove);
        let temperature = settings.config.opening_temperature;
        let chosen =
            choose_opening_move(&mut game.position, &self.moves, priors, temperature, &mut rng, &mut self.replies);
        match chosen {
            Some(mv) => {
                let wdl = evaluation.wdl;
                self.turn = Turn::Chosen(PlyRecord { raw: wdl, searched: wdl, ..PlyRecord::unsearched(mv) });
            }
            // Every move loses at once: let the search find the most stubborn one.
            None => self.begin_search(settings),
        }
    }

    /// Ends the turn: records the ply. Returns a finished game and leaves the slot empty.
    pub(super) fn end_turn(
        &mut self,
        settings: &GenerationSettings<'_>,
        counters: &mut Counters,
    ) -> Option<GameRecord> {
        let ply = match std::mem::replace(&mut self.turn, Turn::Empty) {
            Turn::Empty | Turn::Opening => return None,
            Turn::Chosen(ply) => ply,
            Turn::Searching => self.ply_of_search(settings, counters),
        };
        let game = self.game.as_mut()?;
        counters.plies += 1;
        if !game.play(ply, settings) {
            return None;
        }
        self.game.take().map(|game| game.record)
    }

    fn ply_of_search(&self, settings: &GenerationSettings<'_>, counters: &mut Counters) -> PlyRecord {
        let report = self.search.report();
        counters.playouts += u64::from(report.playouts);
        // A root without an evaluation has no priors to compare with.
        if report.evaluations > 0 {
            counters.compare(&report.policy_target, report.moves.iter().map(|root| root.prior));
        }
        PlyRecord {
            mv: self.blunder(&report, settings).unwrap_or(report.best),
            policy: recorded_policy(&report.policy_target),
            playouts: report.playouts,
            raw: report.raw,
            searched: report.wdl,
            trains: true,
        }
    }

    /// A random move instead of the best one, with the probability of this side's handicap. A proven win is never given
    /// away, so the results of decided positions do not change.
    fn blunder(&self, report: &SearchReport, settings: &GenerationSettings<'_>) -> Option<Move> {
        let record = self.record()?;
        let side = self.game.as_ref()?.position.side_to_move();
        let share = f64::from(record.handicap.random_moves(side));
        let mut rng = generator(settings.seed, record.game, record.plies.len(), Purpose::Blunder);
        if unit(&mut rng) >= share || report.proven.is_some_and(|proven| proven.result == ProvenResult::Win) {
            return None;
        }
        let index = (unit(&mut rng) * report.moves.len() as f64) as usize;
        report.moves.get(index).map(|root| root.mv)
    }
}
