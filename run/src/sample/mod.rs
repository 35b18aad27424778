//! From game records to batches: plies, symmetries and targets.
//!
//! A step draws a board size in proportion to its training plies in the window, then for each sample a uniform ply of
//! that size and one of the eight symmetries. The draws are derived from the run's seed and the number of the step, so
//! a resumed run continues with the same batches.
//!
//! | target | from |
//! |---|---|
//! | policy | the search's weights over the legal moves |
//! | value | the searched values from the ply on and the game's result, for the side to move, as configured |
//! | moves left | `ln(1 + plies left)`; none in resigned games, whose full length is unknown |
//! | occupancy | the last position's pieces; none in resigned games |
//!
//! Only training plies are drawn. Opening plies, drawn from the raw policy, are not training plies: they have no policy
//! target, and their positions were not chosen by a search. Unfinished games have no result and are not drawn from.

mod batch;
mod random;

use std::borrow::Borrow;

use hnefi_engine::{BoardSize, Move, MoveList, Piece, Position, Square, Symmetry};
use hnefi_inference::{Features, PLANES, PolicyIndex, Wdl};
use hnefi_record::{GameRecord, PlyRecord, RecordError};
use hnefi_search::{Rng, rng_for};
use rand_xoshiro::rand_core::Rng as _;

use crate::config::TrainSection;

pub use batch::{Batch, CONTENTS, Row};
pub use random::random_game;

/// Separates the draws of samples from other values derived from the seed.
const PURPOSE: u64 = 0x7361_6D70_6C65;

/// The training plies of a replay window.
pub struct Sampler<G> {
    games: Vec<G>,
    pools: Vec<Pool>,
    seed: u64,
    target: ValueTarget,
}

/// The training plies of one board size.
struct Pool {
    size: BoardSize,
    /// Number of the game and of the ply.
    plies: Vec<(u32, u32)>,
}

impl Pool {
    /// All training plies of the games on boards of this size.
    fn new<G: Borrow<GameRecord>>(size: BoardSize, games: &[G]) -> Pool {
        let games = games.iter().map(Borrow::borrow).enumerate().filter(|(_, game)| game.rules.size() == size);
        let plies = games.flat_map(|(number, game)| {
            let trains = game.plies.iter().enumerate().filter(|(_, ply)| ply.trains);
            trains.map(move |(ply, _)| (number as u32, ply as u32))
        });
        Pool { size, plies: plies.collect() }
    }

    fn len(&self) -> usize {
        self.plies.len()
    }

    /// Draws a uniform ply: number of the game and of the ply.
    ///
    /// # Panics
    /// When the pool is empty.
    fn draw(&self, rng: &mut Rng) -> (u32, u32) {
        self.plies[below(rng, self.plies.len())]
    }
}

/// The composition of the value target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueTarget {
    /// TD(lambda): the target is `1 - lambda` of the ply's searched value and `lambda` of the next ply's target, in the
    /// end of the result. A result is the same for all plies of a game and full of chance; a searched value is less so,
    /// but has the network's errors.
    pub lambda: f32,
    /// Fading per ply: what is `n` plies ahead has weight `exp(-fade * n)`, and a draw the rest.
    ///
    /// While one side wins nearly every game, as the defenders do on the small boards at first, the plain result is the
    /// same for all positions and the network learns nothing from it. A fading result distinguishes a long defence from
    /// a short one.
    pub fade: f32,
}

impl ValueTarget {
    /// The value target at this progress of the run or stage, 0 to 1.
    pub fn at(section: &TrainSection, progress: f64) -> ValueTarget {
        let horizon = section.value_horizon;
        let fade = if horizon > 0.0 { (1.0 - progress) as f32 / horizon } else { 0.0 };
        ValueTarget { lambda: section.value_lambda, fade }
    }
}

impl<G: Borrow<GameRecord>> Sampler<G> {
    /// A sampler of all training plies of the finished games, uniform within each board size.
    pub fn new(games: impl IntoIterator<Item = G>, seed: u64, target: ValueTarget) -> Sampler<G> {
        let games: Vec<G> = games.into_iter().filter(|game| game.borrow().is_finished()).collect();
        let mut pools: Vec<Pool> = BoardSize::ALL.map(|size| Pool::new(size, &games)).into();
        pools.retain(|pool| pool.len() > 0);
        Sampler { games, pools, seed, target }
    }

    /// Number of training plies.
    pub fn plies(&self) -> usize {
        self.pools.iter().map(Pool::len).sum()
    }

    /// The batch of step `step`, split into `shards` parts of `rows / shards` samples; all parts have the same board
    /// size.
    ///
    /// # Errors
    /// When a record's start position or a move is impossible.
    ///
    /// # Panics
    /// When there is no training ply.
    pub fn batch(&self, step: u64, rows: usize, shards: usize) -> Result<Vec<Batch>, RecordError> {
        let mut rng = rng_for(&[self.seed, PURPOSE, step]);
        let pool = self.pool_at(below(&mut rng, self.plies()));
        (0..shards)
            .map(|_| {
                let rows: Result<Vec<Row>, RecordError> = (0..rows / shards)
                    .map(|_| {
                        let (game, ply) = pool.draw(&mut rng);
                        let symmetry = Symmetry::ALL[below(&mut rng, Symmetry::ALL.len())];
                        row(self.games[game as usize].borrow(), ply as usize, symmetry, self.target)
                    })
                    .collect();
                Ok(Batch::new(pool.size, &rows?))
            })
            .collect()
    }

    /// The pool of ply number `at`, counted through all pools.
    fn pool_at(&self, mut at: usize) -> &Pool {
        for pool in &self.pools {
            if at < pool.len() {
                return pool;
            }
            at -= pool.len();
        }
        unreachable!("a number below the count of all plies lies in a pool")
    }
}

/// The training sample of ply `index` of a finished game, transformed by `symmetry`.
///
/// # Errors
/// When the start position or a move is impossible.
pub fn row(game: &GameRecord, index: usize, symmetry: Symmetry, target: ValueTarget) -> Result<Row, RecordError> {
    let size = game.rules.size();
    let mut replay = game.replay()?;
    for _ in 0..index {
        replay.step()?;
    }
    let ply = &game.plies[index];
    let position = replay.position().clone();
    while replay.step()?.is_some() {}

    let features = Features::of(&position, game.handicap).transformed(symmetry, size);
    let mut planes = vec![0.0; PLANES * size.squares()];
    features.write_planes(size.squares(), &mut planes);
    let resigned = game.resigned.is_some();
    Ok(Row {
        planes,
        globals: features.globals,
        policy_weight: if ply.policy.is_empty() { 0.0 } else { 1.0 },
        policy: policy(&position, ply, symmetry),
        value: value(game, &position, index, target),
        moves_left: ((game.plies.len() - index) as f32).ln_1p(),
        occupancy: occupancy(replay.position(), symmetry),
        end_weight: if resigned { 0.0 } else { 1.0 },
    })
}

/// For each legal move its flat index in the policy output and its target weight.
fn policy(position: &Position, ply: &PlyRecord, symmetry: Symmetry) -> Vec<(usize, f32)> {
    let size = position.size();
    let mut legal = MoveList::new();
    position.legal_moves(&mut legal);
    legal.iter().map(|&mv| (PolicyIndex::of(symmetry.mv(mv, size), size).flat(size), weight(ply, mv))).collect()
}

/// The weight of a move in the policy target.
fn weight(ply: &PlyRecord, mv: Move) -> f32 {
    ply.policy.iter().find(|(known, _)| *known == mv).map_or(0.0, |&(_, weight)| weight)
}

/// A move with less than this share of the likeliest move's weight is not the search's.
const OFF_ADVICE: f32 = 0.1;

/// Whether the search of a ply expected the move that was played.
///
/// A search expects the best move. The mean over a side that plays a share of its moves at random is right if the value
/// counts where it played the search's move; what follows a random one shows in the values after it.
fn expected(ply: &PlyRecord) -> bool {
    let likeliest = ply.policy.iter().map(|&(_, weight)| weight).fold(0.0, f32::max);
    weight(ply, ply.mv) >= OFF_ADVICE * likeliest
}

/// The value target from the view of the side to move. Plies without a searched value and random moves of a handicapped
/// side are passed over.
fn value(game: &GameRecord, position: &Position, index: usize, target: ValueTarget) -> [f32; 3] {
    let plies = &game.plies[index..];
    let (mut sum, mut rest) = ([0.0; 3], 1.0);
    let mut add = |weight: f32, ahead: usize, seen: Wdl| {
        let certainty = (-target.fade * ahead as f32).exp();
        sum[0] += weight * certainty * seen.win;
        sum[1] += weight * (certainty * seen.draw + 1.0 - certainty);
        sum[2] += weight * certainty * seen.loss;
    };
    let mover = position.side_to_move();
    let blunders = [mover, mover.opponent()].map(|side| game.handicap.random_moves(side) > 0.0);
    for (ahead, ply) in plies.iter().enumerate() {
        if !ply.has_searched_value() || (blunders[ahead % 2] && !expected(ply)) {
            continue;
        }
        let seen = if ahead % 2 == 0 { ply.searched } else { ply.searched.flipped() };
        // A network's value has faded as it was learned. A proven result has not: it comes at the game's end.
        let proven = [seen.win, seen.loss].contains(&1.0);
        add(rest * (1.0 - target.lambda), if proven { plies.len() } else { ahead }, seen);
        rest *= target.lambda;
    }
    add(rest, plies.len(), Wdl::of_winner(game.winner(), mover));
    sum
}

/// Content of each square in the last position: 0 empty, 1 attacker, 2 defender, 3 king.
fn occupancy(position: &Position, symmetry: Symmetry) -> Vec<u8> {
    let size = position.size();
    let mut contents = vec![0; size.squares()];
    for index in 0..size.squares() {
        let square = Square::new(index);
        contents[symmetry.square(square, size).index()] = match position.board().piece_at(square) {
            None => 0,
            Some(Piece::Attacker) => 1,
            Some(Piece::Defender) => 2,
            Some(Piece::King) => 3,
        };
    }
    contents
}

/// A number in `0..bound`; the bias is below `bound / 2^64`.
fn below(rng: &mut Rng, bound: usize) -> usize {
    assert!(bound > 0, "nothing to draw from");
    ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize
}
