//! From game records to batches: which plies, seen through which symmetry, with which targets.
//!
//! A step draws a board size by its share of the window's training plies, then each sample among the plies of that size
//! uniformly and one of the eight symmetries. All draws of a step come from the run's seed and the number of the step,
//! so a resumed run continues with the same batches.
//!
//! | target | from |
//! |---|---|
//! | policy | the search's weights over the legal moves |
//! | value | the game's result for the side to move, faded by its distance and mixed with the searched value when the config says so; a resignation counts as a win |
//! | moves left | `ln(1 + plies left)`; not in resigned games, whose true length nobody knows |
//! | occupancy | the last position's pieces; not in resigned games, which ended before their end |
//!
//! Only plies marked as training samples are drawn. Opening plies were played by the raw policy to make games differ:
//! they have no policy target, and their value would mostly repeat the same result for positions nobody chose. So they
//! train nothing, the value included. Unfinished games have no result and do not train.

mod pool;

use hnefi_engine::{BoardSize, MoveList, Piece, Position, Square, Symmetry};
use hnefi_inference::{Encoding, PLANES, PolicyIndex, Wdl};
use hnefi_run::{GameRecord, PlyRecord, RecordError};
use hnefi_search::rng_for;

use self::pool::{Pool, below};
use crate::batch::{Batch, Row};
use crate::config::TrainSection;

/// Tells the draws of samples from everything else that comes from the seed.
const PURPOSE: u64 = 0x7361_6D70_6C65;

/// The training plies of a replay window.
pub struct Sampler<'a> {
    games: Vec<&'a GameRecord>,
    /// One per board size that occurs.
    pools: Vec<Pool>,
    seed: u64,
    target: ValueTarget,
}

/// What the value target is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueTarget {
    /// Share of the searched value; the rest is the game's result.
    pub search_mix: f32,
    /// How much nearer to a draw the result is taken per ply that it lies ahead: a result `n` plies away counts
    /// `exp(-fade * n)`.
    ///
    /// Where one side wins nearly every game, as the defenders do on the small boards at first, the plain result says
    /// the same of every position and nothing is learned. A fading one tells a long defence from a short one.
    pub fade: f32,
}

impl ValueTarget {
    /// What the value target is made of when this part of the run or stage, 0 to 1, is over.
    pub fn at(section: &TrainSection, progress: f64) -> ValueTarget {
        let horizon = section.value_horizon;
        let fade = if horizon > 0.0 { (1.0 - progress) as f32 / horizon } else { 0.0 };
        ValueTarget { search_mix: section.value_search_mix, fade }
    }
}

impl<'a> Sampler<'a> {
    /// All training plies of the finished games, each as likely as any other of its board size.
    pub fn new(games: impl IntoIterator<Item = &'a GameRecord>, seed: u64, target: ValueTarget) -> Sampler<'a> {
        let games: Vec<&GameRecord> = games.into_iter().filter(|game| game.is_finished()).collect();
        let mut pools: Vec<Pool> = BoardSize::ALL.map(|size| Pool::new(size, &games)).into();
        pools.retain(|pool| pool.len() > 0);
        Sampler { games, pools, seed, target }
    }

    /// Number of training plies.
    pub fn plies(&self) -> usize {
        self.pools.iter().map(Pool::len).sum()
    }

    /// The batch of step `step`, cut into `shards` equal parts of `rows / shards` samples; all parts have the same
    /// board.
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
                        row(self.games[game as usize], ply as usize, symmetry, self.target)
                    })
                    .collect();
                Ok(Batch::new(pool.size, &rows?))
            })
            .collect()
    }

    /// The pool that holds number `at` of all plies laid end to end.
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

/// The example that ply `index` of a finished game gives, seen through `symmetry`.
///
/// # Errors
/// When the start position or a move is impossible.
pub fn row(game: &GameRecord, index: usize, symmetry: Symmetry, target: ValueTarget) -> Result<Row, RecordError> {
    let size = game.rules.size;
    let mut replay = game.replay()?;
    for _ in 0..index {
        replay.step()?;
    }
    let ply = &game.plies[index];
    let position = replay.position().clone();
    while replay.step()?.is_some() {}

    let features = Encoding::NEWEST.features(&position).transformed(symmetry, size);
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

/// Every legal move's place in the policy output and its weight.
fn policy(position: &Position, ply: &PlyRecord, symmetry: Symmetry) -> Vec<(usize, f32)> {
    let size = position.size();
    let mut legal = MoveList::new();
    position.legal_moves(&mut legal);
    let weight = |mv| ply.policy.iter().find(|(known, _)| *known == mv).map_or(0.0, |&(_, weight)| weight);
    legal.iter().map(|&mv| (PolicyIndex::of(symmetry.mv(mv, size), size).flat(size), weight(mv))).collect()
}

/// Win, draw and loss as the side to move has them in the end, faded by distance and mixed with what the search
/// thought, where there was one.
fn value(game: &GameRecord, position: &Position, index: usize, target: ValueTarget) -> [f32; 3] {
    let result = Wdl::of_winner(game.winner(), position.side_to_move());
    let certainty = (-target.fade * (game.plies.len() - index) as f32).exp();
    let faded = |result: f32, drawn: f32| certainty * result + (1.0 - certainty) * drawn;
    let ply = &game.plies[index];
    let mix = if ply.has_searched_value() { target.search_mix } else { 0.0 };
    let blend = |result: f32, searched: f32| (1.0 - mix) * result + mix * searched;
    [
        blend(faded(result.win, 0.0), ply.searched.win),
        blend(faded(result.draw, 1.0), ply.searched.draw),
        blend(faded(result.loss, 0.0), ply.searched.loss),
    ]
}

/// What stands on each square in the end: 0 nothing, 1 an attacker, 2 a defender, 3 the king.
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
