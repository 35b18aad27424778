//! Compares players by their moves in the same positions, each move judged by a longer search.
//!
//! Far fewer positions than games of a match tell two settings of a search apart. The first player plays games against
//! itself from random openings. In every eighth position or so all players choose a move, and the judge searches the
//! position after each of these moves. A move is worth the expected score that its player then has.
//!
//!     cargo run --release -p hnefi-arena --example compare_moves -- copenhagen 500 \
//!         model:copenhagen,playouts=3000,search.root=puct \
//!         model:copenhagen,playouts=400,search.root=puct model:copenhagen,playouts=800,search.root=puct
//!
//! The arguments are a ruleset, the number of positions, the judge, and the players, the first of them the one to
//! compare with. Decided positions are left out: where the first player expects less than 3 % or more than 97 %.

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

use hnefi_arena::players::{ModelCache, Player, PlayerSpec};
use hnefi_arena::random_opening;
use hnefi_engine::{Game, GameResult, Move, Preset, Rules};
use hnefi_inference::{Devices, Wdl};
use hnefi_search::{Rng, SearchConfig, rng_for};
use rand::RngExt;

const EXPECTED: &str = "expected RULES POSITIONS JUDGE PLAYER PLAYER...";
const OPENING_PLIES: u32 = 4;
const PLY_CAP: usize = 160;
const UNDECIDED: std::ops::Range<f32> = 0.03..0.97;

/// Every player's move in one position, with its worth.
type Position = Vec<(Move, f64)>;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rules, positions, judge, players @ ..] = arguments.as_slice() else { return Err(EXPECTED.into()) };
    if players.is_empty() {
        return Err(EXPECTED.into());
    }
    let rules = rules.parse::<Preset>()?.rules();
    let count: usize = positions.parse()?;
    let specs =
        std::iter::once(judge).chain(players).map(|spec| spec.parse()).collect::<Result<Vec<PlayerSpec>, _>>()?;
    let mut models = ModelCache::new(Devices::cpu(), SearchConfig::default());
    let threads = std::thread::available_parallelism()?.get();
    let mut seats = Vec::new();
    for _ in 0..threads {
        seats.push(specs.iter().map(|spec| spec.build(&mut models)).collect::<Result<Vec<_>, _>>()?);
    }
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mut games = std::thread::scope(|scope| {
        let workers: Vec<_> = seats
            .into_iter()
            .map(|mut players| {
                let (rules, next, done) = (&rules, &next, &done);
                scope.spawn(move || {
                    let mut found = Vec::new();
                    while done.load(Ordering::Relaxed) < count {
                        let game = next.fetch_add(1, Ordering::Relaxed) as u64;
                        let positions = one_game(rules, game, &mut players).map_err(|error| error.to_string())?;
                        done.fetch_add(positions.len(), Ordering::Relaxed);
                        found.push((game, positions));
                    }
                    Ok::<_, String>(found)
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker does not panic")).collect::<Result<Vec<_>, _>>()
    })?
    .concat();
    // Every game before the last one is there, so the positions do not depend on the threads.
    games.sort_by_key(|game| game.0);
    let found: Vec<Position> = games.into_iter().flat_map(|game| game.1).take(count).collect();
    println!("{} positions; the gain is in expected score a move, with its 95 % interval", found.len());
    for (index, player) in players.iter().enumerate() {
        let gains: Vec<f64> = found.iter().map(|moves| moves[index].1 - moves[0].1).collect();
        let others = found.iter().filter(|moves| moves[index].0 != moves[0].0).count();
        let count = gains.len() as f64;
        let mean = gains.iter().sum::<f64>() / count;
        let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let error = 1.96 * (variance / count).sqrt();
        println!("{mean:+.4} ± {error:.4}, {:3.0} % other moves: {player}", 100.0 * others as f64 / count);
    }
    Ok(())
}

/// The positions of one game. The judge is the first of `players`, the one who plays the game is the second.
fn one_game(rules: &Rules, number: u64, players: &mut [Box<dyn Player>]) -> Result<Vec<Position>, Box<dyn Error>> {
    let (judge, players) = players.split_first_mut().ok_or("a judge")?;
    let mut rng = rng_for(&[number]);
    let mut game = Game::new(rules);
    for mv in random_opening(rules, OPENING_PLIES, 1, number) {
        game.play(mv)?;
    }
    let (mut found, mut wait) = (Vec::new(), rng.random_range(0..8));
    while game.outcome().is_none() && game.len() < PLY_CAP {
        let choice = afresh(&mut *players[0], &game, &mut rng)?;
        if wait == 0 && choice.1.is_none_or(|wdl| UNDECIDED.contains(&wdl.score())) {
            let mut moves = vec![(choice.0, 0.0)];
            for player in &mut players[1..] {
                moves.push((afresh(&mut **player, &game, &mut rng)?.0, 0.0));
            }
            for index in 0..moves.len() {
                let mv = moves[index].0;
                let known = moves[..index].iter().find(|known| known.0 == mv).map(|known| known.1);
                moves[index].1 = known.map_or_else(|| worth(&game, mv, &mut **judge, &mut rng), Ok)?;
            }
            found.push(moves);
        }
        wait = (wait + 7) % 8;
        game.play(choice.0)?;
    }
    Ok(found)
}

/// The move of a player who has not seen the game before, and its opinion of the position.
fn afresh(player: &mut dyn Player, game: &Game, rng: &mut Rng) -> Result<(Move, Option<Wdl>), Box<dyn Error>> {
    player.new_game();
    let choice = player.choose(game, rng)?;
    Ok((choice.mv, choice.wdl))
}

/// The expected score of who plays `mv`, by a search of the position after it.
fn worth(game: &Game, mv: Move, judge: &mut dyn Player, rng: &mut Rng) -> Result<f64, Box<dyn Error>> {
    let mut after = game.clone();
    after.play(mv)?;
    match after.result_for(game.position().side_to_move()) {
        Some(GameResult::Win) => Ok(1.0),
        Some(GameResult::Draw) => Ok(0.5),
        Some(GameResult::Loss) => Ok(0.0),
        None => {
            let wdl = afresh(judge, &after, rng)?.1.ok_or("the judge has no opinion of positions")?;
            Ok(1.0 - f64::from(wdl.score()))
        }
    }
}
