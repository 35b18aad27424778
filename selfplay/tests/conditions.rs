//! What a generation is played under: games against a past checkpoint, beginnings from earlier games, and the
//! curriculum; each the same on any number of threads and through any interruption.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use hnefi_engine::{MoveList, Preset, Side};
use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator, HashEvaluator, Wdl};
use hnefi_selfplay::fleet::{
    Conditions, Fleet, FleetError, FleetSnapshot, Generation, GenerationStats, Handicap, PastCheckpoint, PlyCaps,
    Quota, RulesetShare, SelfPlayConfig, Unobserved,
};
use hnefi_selfplay::search::SearchConfig;
use hnefi_selfplay::{GameRecord, PlyRecord, encode_games};

const SEED: u64 = 11;
const PLAYOUTS: u32 = 6;
const NEWEST: u64 = 3;
const PAST: u64 = 4;
const SIDES: [Side; 2] = [Side::Attackers, Side::Defenders];

/// Two lanes of short games.
fn config() -> SelfPlayConfig {
    SelfPlayConfig {
        games_in_flight: 64,
        ply_caps: PlyCaps { seven: 40, nine: 40, eleven: 40 },
        ..SelfPlayConfig::default()
    }
}

fn opinions(seed: u64) -> impl Fn() -> Result<Box<dyn Evaluator>, EvalError> + Sync {
    move || Ok(Box::new(HashEvaluator { seed }))
}

fn fleet(config: &SelfPlayConfig) -> Fleet {
    Fleet::new(config, &SearchConfig::default(), SEED)
}

fn play(fleet: &mut Fleet, conditions: &Conditions<'_>, quota: Quota) -> Generation {
    fleet.run_under(conditions, quota, PLAYOUTS, "newest", &opinions(NEWEST), &Unobserved).unwrap()
}

/// Plays under the default conditions with that past checkpoint.
fn play_past(fleet: &mut Fleet, quota: Quota) -> Generation {
    let make_evaluator = &opinions(PAST);
    let past = Some(PastCheckpoint { id: "past", make_evaluator });
    play(fleet, &Conditions { past, ..Conditions::default() }, quota)
}

/// What the network with that seed says of a position.
fn value(seed: u64, request: EvalRequest<'_>) -> Wdl {
    let mut out = Evaluations::new();
    HashEvaluator { seed }.evaluate(&[request], &mut out).unwrap();
    out.get(0).wdl
}

#[test]
fn a_past_checkpoint_takes_one_side_in_a_share_of_the_games() {
    let config = SelfPlayConfig { past_share: 0.25, ..config() };
    let Generation { games, stats } = play_past(&mut fleet(&config), Quota::Games(400));
    let (mut sides, mut points) = ([0; 2], 0.0);
    for game in &games {
        game.check().unwrap();
        let past = SIDES.into_iter().find(|side| game.players[side.index()] == "past");
        let Some(past) = past else {
            assert_eq!(game.players, ["newest", "newest"]);
            continue;
        };
        assert_eq!(game.players[past.opponent().index()], "newest");
        assert_eq!((game.resigned, game.would_have_resigned), (None, None));
        sides[past.index()] += 1;
        points += game.winner().map_or(0.5, |winner| f64::from(winner != past));
    }
    assert!(sides.iter().all(|count| (35..65).contains(count)), "{sides:?} of 400 games");
    assert_eq!((stats.past_games, stats.past_points), (sides.iter().sum(), points));
    assert_eq!(stats.training_plies, games.iter().map(|game| game.training_plies() as u64).sum::<u64>());
}

#[test]
fn each_side_is_played_by_the_network_that_the_record_names() {
    let config = SelfPlayConfig { past_share: 0.5, ..config() };
    let mut moves = MoveList::new();
    let mut compared = [0; 2];
    for game in play_past(&mut fleet(&config), Quota::Games(64)).games {
        let opening = game.plies.iter().take_while(|ply| ply.playouts == 0).count();
        let mut replay = game.replay().unwrap();
        for (number, ply) in game.plies.iter().enumerate() {
            let position = replay.position();
            let past = game.players[position.side_to_move().index()] == "past";
            position.legal_moves(&mut moves);
            // Where the result was certain at once, no network was asked.
            if ply.playouts > 0 || number < opening {
                let request = EvalRequest { position, moves: &moves, auxiliary: false };
                assert_eq!(
                    ply.raw,
                    value(if past { PAST } else { NEWEST }, request),
                    "game {} ply {number}",
                    game.game
                );
                compared[usize::from(past)] += 1;
            }
            assert_eq!(ply.trains, !past && number >= opening, "game {} ply {number}", game.game);
            assert_eq!(ply.policy.is_empty(), !ply.trains);
            replay.step().unwrap();
        }
    }
    assert!(compared.iter().all(|&count| count > 200), "{compared:?}");
}

#[test]
fn without_a_past_checkpoint_the_newest_plays_all_games() {
    let config = config();
    let with = SelfPlayConfig { past_share: 0.5, ..config.clone() };
    let expected = play(&mut fleet(&config), &Conditions::default(), Quota::Games(64));
    assert_eq!(play(&mut fleet(&with), &Conditions::default(), Quota::Games(64)), expected);
    // And a checkpoint that no game is against is not even loaded.
    let refuses = || -> Result<Box<dyn Evaluator>, EvalError> { unreachable!("nobody plays it") };
    let past = Some(PastCheckpoint { id: "past", make_evaluator: &refuses });
    let conditions = Conditions { past, ..Conditions::default() };
    assert_eq!(play(&mut fleet(&config), &conditions, Quota::Games(64)), expected);
}

#[test]
fn games_in_flight_meet_the_past_checkpoint_of_the_generation_they_end_in() {
    let config = SelfPlayConfig { past_share: 0.9, ..config() };
    let mut fleet = fleet(&config);
    play(&mut fleet, &Conditions::default(), Quota::Plies(500));
    let begun = fleet.games_begun();
    let games = play_past(&mut fleet, Quota::Plies(1000)).games;
    let handed_over: Vec<_> = games.iter().filter(|game| game.game < begun && game.is_against_another()).collect();
    assert!(handed_over.len() > 20, "{}", handed_over.len());
    // What its own side had played before, without anybody on the other one, still trains.
    let trains = |game: &GameRecord, past: usize| {
        let first = game.start_position().unwrap().side_to_move().index();
        game.plies.iter().enumerate().any(|(ply, record)| (first + ply) % 2 == past && record.trains)
    };
    let past_of = |game: &GameRecord| game.players.iter().position(|player| player == "past").unwrap();
    assert!(handed_over.iter().any(|game| trains(game, past_of(game))));
}

/// The finished games of a first generation.
fn first_games(config: &SelfPlayConfig) -> (Fleet, Vec<GameRecord>) {
    let mut fleet = fleet(config);
    let games = play(&mut fleet, &Conditions::default(), Quota::Plies(2000)).games;
    assert!(games.iter().all(|game| game.start.is_none()), "there is nothing earlier");
    (fleet, games)
}

/// The games of this and the number of the ply at which they had this position.
fn sources<'a>(games: &'a [GameRecord], fen: &str) -> Vec<(&'a GameRecord, usize)> {
    let mut found = Vec::new();
    for game in games {
        let mut replay = game.replay().unwrap();
        for ply in 0..game.plies.len() {
            if replay.position().fen() == fen {
                found.push((game, ply));
            }
            replay.step().unwrap();
        }
    }
    found
}

#[test]
fn restarts_begin_where_the_search_was_wrong() {
    let config = SelfPlayConfig { restart_share: 0.4, ..config() };
    let (mut fleet, earlier) = first_games(&config);
    let begun = fleet.games_begun();
    let conditions = Conditions { earlier: earlier.iter().collect(), ..Conditions::default() };
    let Generation { games, stats } = play(&mut fleet, &conditions, Quota::Plies(6000));
    let new: Vec<&GameRecord> = games.iter().filter(|game| game.game >= begun).collect();
    let restarted: Vec<_> = new.iter().filter(|game| game.start.is_some()).collect();
    let share = restarted.len() as f64 / new.len() as f64;
    assert!((0.3..0.5).contains(&share), "{share} of {} games", new.len());
    let elsewhere = games.iter().filter(|game| game.start.is_some()).count();
    assert_eq!(stats.games_from_elsewhere, elsewhere as u64);
    for game in &restarted {
        game.check().unwrap();
        assert!(game.plies[0].trains, "no opening plies");
        let fen = game.start.as_deref().unwrap();
        let wrong = sources(&earlier, fen).into_iter().any(|(source, ply)| {
            assert_eq!(source.rules, game.rules);
            // The result, and the searched scores on the way to it, as the side to move at this ply sees them.
            let mover = source.start_position().unwrap().side_to_move().index();
            let side = SIDES[(mover + ply) % 2];
            let result = source.winner().map_or(0.5, |winner| if winner == side { 1.0 } else { 0.0 });
            let score = |(number, record): (usize, &PlyRecord)| {
                let score = record.searched.score();
                if number % 2 == 0 { score } else { 1.0 - score }
            };
            let mut course = source.plies[ply..].iter().enumerate().map(score);
            let judged = course.next().unwrap();
            source.plies[ply].trains && course.chain([result]).any(|later| (later - judged).abs() >= 0.25)
        });
        assert!(wrong, "{fen}");
    }
    let starts: std::collections::HashSet<_> = restarted.iter().map(|game| &game.start).collect();
    assert!(starts.len() > 20, "{} positions", starts.len());
}

#[test]
fn forks_leave_an_earlier_game_by_another_move() {
    let config = SelfPlayConfig { fork_share: 0.4, ..config() };
    let (mut fleet, earlier) = first_games(&config);
    let begun = fleet.games_begun();
    let conditions = Conditions { earlier: earlier.iter().collect(), ..Conditions::default() };
    let Generation { games, .. } = play(&mut fleet, &conditions, Quota::Plies(6000));
    let new = || games.iter().filter(|game| game.game >= begun);
    let forks: Vec<_> = new().filter(|game| game.start.is_some()).collect();
    let share = forks.len() as f64 / new().count() as f64;
    assert!((0.3..0.5).contains(&share), "{share}");
    let mut moves = MoveList::new();
    for game in &forks {
        game.check().unwrap();
        let fen = game.start.as_deref().unwrap();
        assert!(sources(&earlier, fen).iter().any(|(source, ply)| source.plies[*ply].mv != game.plies[0].mv), "{fen}");
        let position = game.start_position().unwrap();
        position.legal_moves(&mut moves);
        let first = &game.plies[0];
        assert_eq!((first.trains, first.playouts, first.raw), (false, 0, first.searched));
        assert_eq!(first.raw, value(NEWEST, EvalRequest { position: &position, moves: &moves, auxiliary: false }));
        assert!(game.plies.get(1).is_none_or(|ply| ply.trains), "no opening plies after the fork");
    }
}

/// Answers like another evaluator until it has been asked often enough, then fails.
struct Failing {
    inner: HashEvaluator,
    batches_left: Arc<AtomicI64>,
}

impl Evaluator for Failing {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        if self.batches_left.fetch_sub(1, Ordering::Relaxed) <= 0 {
            let problem = "unplugged".to_string();
            return Err(EvalError::Device { count: requests.len(), device: "test".to_string(), problem });
        }
        self.inner.evaluate(requests, out)
    }
}

/// Everything at once: both handicaps, all ingredients, and a curriculum.
fn everything() -> SelfPlayConfig {
    let throughout = RulesetShare::throughout;
    SelfPlayConfig {
        rulesets: vec![
            RulesetShare { until: 0.75, ..throughout(Preset::Brandubh, 1.0) },
            RulesetShare { from: 0.5, ..throughout(Preset::Tablut, 1.0) },
        ],
        balance_doublings: 2.0,
        blunder_share: 0.5,
        balance_until: 0.75,
        past_share: 0.3,
        restart_share: 0.3,
        fork_share: 0.3,
        fast_share: 0.25,
        ..config()
    }
}

/// Plays four generations, each a quarter of the run, with the games of those before; `interrupt` says after how many
/// batches the evaluators fail, and the fleet is saved and taken up again then.
fn generations(threads: usize, interrupt: Option<i64>) -> Vec<Generation> {
    let config = everything();
    let mut fleet = fleet(&config).with_threads(threads);
    let mut generations: Vec<Generation> = Vec::new();
    while generations.len() < 4 {
        let batches_left = Arc::new(AtomicI64::new(interrupt.unwrap_or(i64::MAX)));
        let failing = |seed| {
            let batches_left = &batches_left;
            move || -> Result<Box<dyn Evaluator>, EvalError> {
                Ok(Box::new(Failing { inner: HashEvaluator { seed }, batches_left: batches_left.clone() }))
            }
        };
        let (newest, past) = (failing(NEWEST), failing(PAST));
        let conditions = Conditions {
            progress: generations.len() as f64 / 4.0,
            past: (!generations.is_empty()).then_some(PastCheckpoint { id: "past", make_evaluator: &past }),
            earlier: generations.iter().flat_map(|generation| &generation.games).collect(),
        };
        match fleet.run_under(&conditions, Quota::Plies(1200), PLAYOUTS, "newest", &newest, &Unobserved) {
            Ok(generation) => generations.push(generation),
            Err(FleetError::Evaluation { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        if interrupt.is_some() {
            let bytes = fleet.snapshot().encode();
            let snapshot = FleetSnapshot::decode("a snapshot", &bytes).unwrap();
            fleet = Fleet::resume(&config, &SearchConfig::default(), SEED, snapshot).unwrap().with_threads(threads);
        }
    }
    generations
}

/// The statistics with evaluations and those known before taken together: what is known is not saved.
fn without_cache(stats: &GenerationStats) -> GenerationStats {
    GenerationStats { evaluations: stats.evaluations + stats.cache_hits, cache_hits: 0, ..stats.clone() }
}

#[test]
fn threads_and_interruptions_change_nothing() {
    let expected = generations(1, None);
    let last = &expected[3].stats;
    assert!(last.past_games > 5 && last.games_from_elsewhere > 5, "{last:?}");
    assert!(expected[3].games.iter().flat_map(|game| &game.plies).any(|ply| !ply.trains && ply.playouts > 0));
    assert_eq!(generations(5, None), expected);
    for (threads, stride) in [(2, 25), (1, 90)] {
        for (generation, expected) in generations(threads, Some(stride)).iter().zip(&expected) {
            assert!(encode_games(&generation.games) == encode_games(&expected.games), "stride {stride}");
            assert_eq!(without_cache(&generation.stats), without_cache(&expected.stats), "stride {stride}");
        }
    }
}

#[test]
fn handicaps_end_when_the_run_says_so() {
    let config = SelfPlayConfig { blunder_share: 0.5, balance_doublings: 2.0, balance_until: 0.5, ..config() };
    let mut fleet = fleet(&config);
    let handicapped: Vec<bool> = [0.0, 0.25, 0.4999, 0.5, 0.75]
        .into_iter()
        .map(|progress| {
            let conditions = Conditions { progress, ..Conditions::default() };
            let stats = play(&mut fleet, &conditions, Quota::Games(64)).stats;
            stats.handicaps.iter().any(|(_, handicap)| *handicap != Handicap::default())
        })
        .collect();
    assert_eq!(handicapped, [false, true, true, false, false], "none is known in the first generation");
}

#[test]
fn a_curriculum_moves_on_and_lets_games_end() {
    let config = everything();
    let mut fleet = fleet(&config);
    let mut earlier: Vec<GameRecord> = Vec::new();
    let mut begun = 0;
    for (progress, allowed) in [
        (0.25, &[Preset::Brandubh][..]),
        (0.5, &[Preset::Brandubh, Preset::Tablut]),
        (0.75, &[Preset::Tablut]),
        (1.0, &[Preset::Tablut]),
    ] {
        let conditions = Conditions { progress, earlier: earlier.iter().collect(), ..Conditions::default() };
        let games = play(&mut fleet, &conditions, Quota::Plies(4000)).games;
        for preset in allowed {
            let count = games.iter().filter(|game| game.game >= begun && game.rules.preset() == Some(*preset)).count();
            assert!(count > 10, "{count} games of {} begun and ended at {progress}", preset.name());
        }
        let new = games.iter().filter(|game| game.game >= begun);
        assert!(new.into_iter().all(|game| game.rules.preset().is_some_and(|preset| allowed.contains(&preset))));
        if progress == 0.75 {
            let left_over = |game: &&GameRecord| game.rules.preset() == Some(Preset::Brandubh);
            assert!(games.iter().filter(left_over).count() > 5, "games in flight keep their ruleset to the end");
        }
        begun = fleet.games_begun();
        earlier.extend(games);
    }
}
