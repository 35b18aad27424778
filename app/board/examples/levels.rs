//! Measures the levels of the board on one scale: random moves are 0 Elo.
//!
//!     cargo run --release -p hnefi-board --example levels -- RULES GAMES [LEVELS]
//!
//! Neighbours on the list of players (random moves, alpha-beta searches, the levels of the shipped network) and
//! neighbours but one play GAMES games, every opening of two random plies once with either side. The ratings are fitted
//! to all of them. LEVELS bounds how many levels play. One line of JSON: the rules, and of every player the Elo with
//! its 95 % error.

use std::sync::Mutex;

use hnefi_arena::{Encounter, RatingParams, Ratings, Tally};
use hnefi_board::{LEVELS, Strength};
use hnefi_engine::{Game, MoveList, Preset, Side};
use hnefi_inference::{Devices, Evaluations, Evaluator, Precision, pretrained, pretrained_for};
use hnefi_search::{AlphaBeta, Rng, Search, SearchConfig, Selection, rng_for};
use rand::RngExt;
use serde_json::json;

/// Plies after which a game is drawn.
const LONGEST: usize = 300;

#[derive(Clone, Copy, Debug)]
enum Who {
    Random,
    AlphaBeta(u32),
    Level(u8),
}

impl Who {
    fn id(self) -> String {
        match self {
            Who::Random => "random".to_owned(),
            Who::AlphaBeta(depth) => format!("alphabeta:{depth}"),
            Who::Level(level) => format!("level:{level}"),
        }
    }
}

/// A move of this player.
fn choose(who: Who, game: &Game, network: Option<&mut (dyn Evaluator + 'static)>, rng: &mut Rng) -> hnefi_engine::Move {
    let position = game.position();
    match (who, network) {
        (Who::AlphaBeta(depth), _) => AlphaBeta::new(depth).search(position, rng).expect("a game that goes on").mv,
        (Who::Level(level), Some(network)) => {
            let strength = Strength::Level(level);
            let limit = strength.limit();
            let playouts = limit.playouts().expect("levels count playouts");
            let max_nodes = playouts + 2;
            let mut search =
                Search::new(SearchConfig { root: limit.usual_root(), max_nodes, ..SearchConfig::default() });
            search.begin(position, playouts, None);
            let mut found = Evaluations::default();
            loop {
                match search.select_leaf() {
                    Selection::Leaf(leaf) => {
                        network.evaluate(&[search.request(leaf)], &mut found).expect("an evaluation");
                        search.expand(leaf, found.get(0), found.priors(0));
                    }
                    Selection::Settled => {}
                    Selection::Blocked | Selection::Finished => break,
                }
            }
            strength.choose(&search.report(), rng)
        }
        _ => position.random_move(|count| rng.random_range(0..count)).expect("a game that goes on"),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (rules, games, most) = match &arguments[..] {
        [rules, games] => (rules, games, LEVELS.len()),
        [rules, games, most] => (rules, games, most.parse().expect("LEVELS: a number")),
        _ => panic!("expected RULES GAMES [LEVELS], found {arguments:?}"),
    };
    let preset = Preset::from_name(rules).unwrap_or_else(|| panic!("unknown rules {rules:?}"));
    let games: u32 = games.parse().expect("GAMES: a number");
    let mut players = vec![Who::Random, Who::AlphaBeta(1), Who::AlphaBeta(2), Who::AlphaBeta(3)];
    let network = pretrained_for(preset).ok().map(|name| pretrained(name).expect("shipped").expect("sound"));
    if network.is_some() {
        players.extend((1..=most).map(|level| Who::Level(level as u8)));
    } else {
        players.push(Who::AlphaBeta(4));
    }
    let make = network.map(|checkpoint| {
        Devices::cpu().evaluators(&checkpoint.weights, Precision::F32.into()).expect("the CPU evaluates")
    });
    let mut pairs: Vec<(usize, usize)> = (1..players.len()).map(|index| (index - 1, index)).collect();
    pairs.extend((2..players.len()).map(|index| (index - 2, index)));
    // The weakest levels are not far from the searches without a network.
    if make.is_some() {
        pairs.extend([(0, 4), (1, 4), (1, 5), (2, 6)].into_iter().filter(|pair| pair.1 < players.len()));
    }
    let jobs: Vec<(usize, usize, u32)> = pairs
        .iter()
        .flat_map(|&(a, b)| (0..games).map(move |game| if game % 2 == 0 { (a, b, game / 2) } else { (b, a, game / 2) }))
        .collect();
    let next = Mutex::new(jobs.iter());
    let encounters = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let mut network = make.as_ref().map(|make| make());
                loop {
                    let Some(&(attackers, defenders, opening)) = next.lock().expect("no panic").next() else { break };
                    let low = attackers.min(defenders) as u64;
                    let high = attackers.max(defenders) as u64;
                    let mut game = Game::new(&preset.rules());
                    let mut begin = rng_for(&[low, high, u64::from(opening)]);
                    let mut rng = rng_for(&[attackers as u64, defenders as u64, u64::from(opening), 1]);
                    while game.ending().is_none() && game.len() < LONGEST {
                        let mut moves = MoveList::new();
                        game.position().legal_moves(&mut moves);
                        let mv = if game.len() < 2 {
                            moves[begin.random_range(0..moves.len())]
                        } else {
                            let side = game.position().side_to_move();
                            let who = players[if side == Side::Attackers { attackers } else { defenders }];
                            choose(who, &game, network.as_deref_mut(), &mut rng)
                        };
                        game.play(mv).expect("a legal move");
                    }
                    let winner = game.ending().and_then(|ending| ending.winner());
                    let tally = Tally {
                        wins: u32::from(winner == Some(Side::Attackers)),
                        draws: u32::from(winner.is_none()),
                        losses: u32::from(winner == Some(Side::Defenders)),
                    };
                    encounters.lock().expect("no panic").push(Encounter { attackers, defenders, ruleset: 0, tally });
                }
            });
        }
    });
    let encounters = encounters.into_inner().expect("no panic");
    let params = RatingParams { anchor: Some(0), ..RatingParams::default() };
    let ratings = Ratings::fit(players.len(), 1, &encounters, params);
    let elo = players.iter().enumerate().map(|(index, who)| {
        let rating = ratings.overall(index);
        (who.id(), json!([rating.elo.round() + 0.0, rating.error.round()]))
    });
    println!(
        "{}",
        json!({ "rules": preset.name(), "games": encounters.len(), "elo": elo.collect::<serde_json::Map<_, _>>() })
    );
}
