//! The fleet: the same games on any number of threads and through any interruption, by the rules it states.

mod support;

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hnefi_engine::{MoveList, Outcome, Preset, Reason, Side};
use hnefi_inference::{EvalError, EvalRequest, Evaluations, Evaluator, Handicap, HashEvaluator, Wdl};
use hnefi_run::store::StoreError;
use hnefi_run::{GameRecord, PlyCaps, encode_games};
use hnefi_search::SearchConfig;
use hnefi_selfplay::{
    Fleet, FleetControl, FleetError, FleetProgress, FleetSnapshot, Generation, GenerationStats, Quota, ResignConfig,
    RulesetShare, SelfPlayConfig, Uncontrolled,
};
use support::{failing_after, opinions};

const SEED: u64 = 11;
const PLAYOUTS: u32 = 6;

/// Two game batches of short games.
fn config() -> SelfPlayConfig {
    support::config(40)
}

/// The same with both handicaps, which move from generation to generation.
fn handicapped() -> SelfPlayConfig {
    SelfPlayConfig { balance_doublings: 2.0, blunder_share: 0.5, ..config() }
}

fn fleet(config: &SelfPlayConfig) -> Fleet {
    Fleet::new(config, &SearchConfig::default(), SEED)
}

fn play(fleet: &mut Fleet, quota: Quota) -> Generation {
    fleet.run(quota, PLAYOUTS, "first", &opinions(3), &mut Uncontrolled).unwrap()
}

/// Notes the handicaps of the requests.
struct Noting {
    inner: HashEvaluator,
    told: Arc<Mutex<Vec<Handicap>>>,
}

impl Evaluator for Noting {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        let mut told = self.told.lock().unwrap();
        for request in requests {
            if !told.contains(&request.handicap) {
                told.push(request.handicap);
            }
        }
        self.inner.evaluate(requests, out)
    }
}

#[test]
fn the_network_is_told_of_the_handicap_that_a_game_keeps() {
    let config = SelfPlayConfig { equal_share: 0.5, ..handicapped() };
    let mut fleet = fleet(&config);
    let (mut used, told) = (vec![Handicap::NONE], Arc::new(Mutex::new(Vec::new())));
    for round in 1..=4 {
        let noting =
            || -> Box<dyn Evaluator> { Box::new(Noting { inner: HashEvaluator { seed: 3 }, told: Arc::clone(&told) }) };
        let generation = fleet.run(Quota::Games(64 * round), PLAYOUTS, "first", &noting, &mut Uncontrolled).unwrap();
        used.extend(generation.stats.handicaps.iter().map(|&(_, handicap)| handicap));
        let equals = generation.games.iter().filter(|game| game.handicap == Handicap::NONE).count();
        assert!(generation.games.iter().all(|game| used.contains(&game.handicap)), "{used:?}");
        let share = equals as f32 / generation.games.len() as f32;
        let expected = if round == 1 { 1.0..=1.0 } else { 0.3..=0.7 };
        assert!(expected.contains(&share), "round {round}: {share} among equals");
    }
    let told = told.lock().unwrap();
    assert!(told.len() >= 3 && told.iter().all(|handicap| used.contains(handicap)), "{told:?}, {used:?}");
}

#[test]
fn every_number_of_threads_plays_the_same_games() {
    let play = |threads| {
        let mut fleet = fleet(&handicapped()).with_threads(threads);
        let first = play(&mut fleet, Quota::Plies(2000));
        let second = fleet.run(Quota::Plies(2000), 4, "second", &opinions(3), &mut Uncontrolled).unwrap();
        (first, second)
    };
    let alone = play(1);
    assert_eq!(alone, play(2));
    assert_eq!(alone, play(5));
    let [(_, handicap)] = alone.1.stats.handicaps[..] else { panic!("one ruleset") };
    assert!(handicap.doublings != 0.0 && handicap.blunders != 0.0, "{handicap:?}");
    for game in alone.0.games.iter().chain(&alone.1.games) {
        game.check().unwrap();
        assert!(game.is_finished());
    }
}

#[test]
fn a_fleet_interrupted_anywhere_plays_the_same_games() {
    let config = handicapped();
    let mut straight = fleet(&config);
    let expected: Vec<Generation> = (0..3).map(|_| play(&mut straight, Quota::Plies(1000))).collect();
    for stride in [20, 61, 163] {
        let mut generations = Vec::new();
        let mut fleet = fleet(&config).with_threads(2);
        while generations.len() < expected.len() {
            match fleet.run(Quota::Plies(1000), PLAYOUTS, "first", &failing_after(stride, 3), &mut Uncontrolled) {
                Ok(generation) => generations.push(generation),
                Err(FleetError::Evaluation { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            let bytes = fleet.snapshot().encode();
            let snapshot = FleetSnapshot::decode("a snapshot", &bytes).unwrap();
            fleet = Fleet::resume(&config, &SearchConfig::default(), SEED, snapshot).unwrap().with_threads(2);
        }
        for (generation, expected) in generations.iter().zip(&expected) {
            assert!(encode_games(&generation.games) == encode_games(&expected.games), "stride {stride}");
            assert_eq!(without_cache(&generation.stats), without_cache(&expected.stats), "stride {stride}");
        }
    }
}

/// The statistics with the sum of evaluations and cache hits, because the cache is not saved.
fn without_cache(stats: &GenerationStats) -> GenerationStats {
    GenerationStats { evaluations: stats.evaluations + stats.cache_hits, cache_hits: 0, ..stats.clone() }
}

#[test]
fn a_failing_evaluator_is_named_and_loses_nothing() {
    let (failing, mut fleet) = (failing_after(100, 3), fleet(&config()));
    let error = fleet.run(Quota::Plies(2000), PLAYOUTS, "first", &failing, &mut Uncontrolled).unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with("self-play: evaluating") && message.ends_with("on test: unplugged"), "{message}");
    assert!(fleet.snapshot().games_in_flight() > 0);
    assert!(!play(&mut fleet, Quota::Plies(2000)).games.is_empty());
}

/// Takes its time, so that there is time to stop and to save.
struct Slow(HashEvaluator);

impl Evaluator for Slow {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        std::thread::sleep(Duration::from_micros(1500));
        self.0.evaluate(requests, out)
    }
}

fn slow() -> Box<dyn Evaluator> {
    Box::new(Slow(HashEvaluator { seed: 3 }))
}

/// Saves as often as it can and stops after a number of saves.
struct Watcher {
    saves: Vec<FleetSnapshot>,
    stop_after: usize,
    last: FleetProgress,
}

impl FleetControl for Watcher {
    fn go_on(&mut self, progress: &FleetProgress) -> Result<bool, StoreError> {
        let last = std::mem::replace(&mut self.last, *progress);
        assert!(progress.done >= last.done && progress.plies >= last.plies && progress.done <= 1.0);
        Ok(self.saves.len() < self.stop_after)
    }
    fn save_due(&mut self) -> bool {
        true
    }
    fn save(&mut self, snapshot: FleetSnapshot) -> Result<(), StoreError> {
        self.saves.push(snapshot);
        Ok(())
    }
}

#[test]
fn snapshots_taken_on_the_way_lead_to_the_same_games() {
    let config = config();
    let played = |fleet: &mut Fleet| {
        let Generation { games, stats } = play(fleet, Quota::Plies(600));
        (encode_games(&games), without_cache(&stats))
    };
    let expected = played(&mut fleet(&config));
    let mut watcher = Watcher { saves: Vec::new(), stop_after: 3, last: FleetProgress::default() };
    let mut stopped = fleet(&config).with_threads(2);
    let error = stopped.run(Quota::Plies(600), PLAYOUTS, "first", &slow, &mut watcher).unwrap_err();
    assert!(matches!(error, FleetError::Stopped), "{error}");
    assert!(played(&mut stopped) == expected, "going on after a stop");
    let saves = watcher.saves;
    assert!(saves.windows(2).all(|pair| pair[0] != pair[1]), "the games go on while they are saved");
    for snapshot in saves {
        let mut fleet = Fleet::resume(&config, &SearchConfig::default(), SEED, snapshot).unwrap();
        assert!(played(&mut fleet) == expected, "going on from a snapshot");
    }
}

#[test]
fn a_snapshot_of_another_fleet_is_refused() {
    let snapshot = fleet(&config()).snapshot();
    let search = SearchConfig::default();
    let other_seed = Fleet::resume(&config(), &search, 12, snapshot.clone()).err().unwrap().to_string();
    assert_eq!(other_seed, "fleet snapshot with seed 11; expected 12");
    let larger = SelfPlayConfig { games_in_flight: 96, ..config() };
    let other_size = Fleet::resume(&larger, &search, SEED, snapshot).err().unwrap().to_string();
    assert_eq!(other_size, "fleet snapshot with number of game batches 2; expected 3");
    let message = FleetSnapshot::decode("a.hfleet", &encode_games(&[])).unwrap_err().to_string();
    assert_eq!(message, "a.hfleet: a game record file; expected a fleet snapshot");
}

#[test]
fn a_number_of_games_is_played_to_the_last() {
    for count in [1, 50, 130] {
        let mut fleet = fleet(&config());
        let generation = play(&mut fleet, Quota::Games(count));
        let numbers: Vec<u64> = generation.games.iter().map(|game| game.game).collect();
        assert_eq!(numbers, (0..count).collect::<Vec<_>>());
        assert_eq!((fleet.snapshot().games_in_flight(), fleet.games_begun()), (0, count));
        let more = play(&mut fleet, Quota::Games(count + 3));
        assert_eq!(more.games.iter().map(|game| game.game).collect::<Vec<_>>(), [count, count + 1, count + 2]);
    }
}

#[test]
fn games_do_not_depend_on_the_others() {
    let ten = play(&mut fleet(&config()), Quota::Games(10)).games;
    let many = play(&mut fleet(&SelfPlayConfig { games_in_flight: 96, ..config() }), Quota::Games(100)).games;
    assert_eq!(ten, many[..10]);
    let later = Fleet::starting_at(90, &config(), &SearchConfig::default(), SEED)
        .run(Quota::Games(100), PLAYOUTS, "first", &opinions(3), &mut Uncontrolled)
        .unwrap();
    assert_eq!(later.games, many[90..]);
}

#[test]
fn games_in_flight_go_on_with_the_next_network() {
    let mut fleet = fleet(&config());
    let first = play(&mut fleet, Quota::Plies(500));
    let in_flight = fleet.snapshot();
    let second = fleet.run(Quota::Plies(1500), PLAYOUTS, "second", &opinions(4), &mut Uncontrolled).unwrap();
    assert!(first.stats.training_plies >= 500 && in_flight.games_in_flight() > 32);
    let numbers: HashSet<u64> = first.games.iter().chain(&second.games).map(|game| game.game).collect();
    assert_eq!(numbers.len(), first.games.len() + second.games.len());
    assert!((0..64).all(|number| numbers.contains(&number)), "long games are not dropped");
    assert!(first.games.iter().all(|game| game.players == ["first", "first"]));
    assert!(second.games.iter().all(|game| game.players == ["second", "second"]));
}

#[test]
fn openings_come_from_the_raw_policy_and_the_rest_from_the_search() {
    let games = play(&mut fleet(&config()), Quota::Games(128)).games;
    let mut lengths = Vec::new();
    for game in &games {
        let opening = game.plies.iter().take_while(|ply| !ply.trains).count();
        let (raw, searched) = game.plies.split_at(opening);
        assert!(raw.iter().all(|ply| ply.playouts == 0 && ply.policy.is_empty() && ply.raw == ply.searched));
        assert!(searched.iter().all(|ply| ply.trains && ply.playouts <= PLAYOUTS));
        lengths.push(opening);
    }
    let mean = lengths.iter().sum::<usize>() as f64 / lengths.len() as f64;
    assert!((3.0..5.0).contains(&mean), "{mean}");
    let without = SelfPlayConfig { opening_mean_plies: 0.0, ..config() };
    let games = play(&mut fleet(&without), Quota::Games(32)).games;
    assert!(games.iter().all(|game| game.plies[0].trains));
}

#[test]
fn immediate_wins_are_taken_everywhere() {
    for game in play(&mut fleet(&config()), Quota::Games(64)).games {
        let mut replay = game.replay().unwrap();
        let mut moves = MoveList::new();
        while let Some(ply) = replay.ply() {
            let position = replay.position();
            position.legal_moves(&mut moves);
            let mover = position.side_to_move();
            let wins = |mv| position.outcome_after(mv).and_then(Outcome::winner) == Some(mover);
            let winning: Vec<_> = moves.iter().copied().filter(|&mv| wins(mv)).collect();
            assert!(winning.is_empty() || winning.contains(&ply.mv), "game {} ply {}", game.game, position.ply());
            replay.step().unwrap();
        }
    }
}

#[test]
fn rulesets_share_the_games() {
    let share = |rules, share| RulesetShare { rules, share };
    let mixed = SelfPlayConfig {
        rulesets: vec![share(Preset::Brandubh.into(), 3.0), share(Preset::Tablut.into(), 1.0)],
        ply_caps: PlyCaps { seven: 12, nine: 14, eleven: 400 },
        ..config()
    };
    let generation = play(&mut fleet(&mixed), Quota::Games(400));
    let brandubh = generation.games.iter().filter(|game| game.rules.preset() == Some(Preset::Brandubh)).count();
    assert!((270..330).contains(&brandubh), "{brandubh}");
    let capped = |game: &&GameRecord| game.outcome.is_some_and(|outcome| outcome.reason() == Reason::PlyCap);
    let lengths: HashSet<_> = generation.games.iter().filter(capped).map(|game| game.plies.len()).collect();
    assert_eq!(lengths, HashSet::from([12, 14]));
    let by_cap = generation.stats.ends.iter().find(|end| end.reason == "ply_cap").unwrap();
    assert_eq!((by_cap.winner, by_cap.games), (None, generation.games.iter().filter(capped).count() as u64));
}

/// Thinks that the attackers are lost in every position.
struct Gloomy;

impl Evaluator for Gloomy {
    fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
        out.clear();
        for request in requests {
            let attackers = Wdl { win: 0.01, draw: 0.0, loss: 0.99 };
            let wdl = match request.position.side_to_move() {
                Side::Attackers => attackers,
                Side::Defenders => attackers.flipped(),
            };
            out.push(wdl, 10.0, None, |logits| logits.extend(request.moves.iter().map(|_| 0.0)));
        }
        Ok(())
    }
}

#[test]
fn resignation_begins_once_it_is_verified() {
    let gloomy = || -> Box<dyn Evaluator> { Box::new(Gloomy) };
    let resign = ResignConfig {
        enabled: true,
        min_verified: 30,
        plies: 2,
        verify_share: 0.25,
        max_wrong: 1.0,
        ..Default::default()
    };
    let config = SelfPlayConfig { resign, ..config() };
    let mut fleet = fleet(&config);
    let mut run = |games| fleet.run(Quota::Games(games), PLAYOUTS, "gloomy", &gloomy, &mut Uncontrolled).unwrap();
    let first = run(100);
    assert!(first.games.iter().all(|game| game.resigned.is_none()), "nothing is verified yet");
    let noted = first.games.iter().filter(|game| game.would_have_resigned == Some(Side::Attackers)).count();
    assert!(noted > 60, "{noted} of 100 games noted");
    let summary = first.stats.resign;
    assert_eq!((summary.verified, summary.active), ([30, 0], [true, false]));
    let not_lost = |game: &&GameRecord| {
        game.would_have_resigned == Some(Side::Attackers) && game.winner() != Some(Side::Defenders)
    };
    assert!(summary.wrong[0] as usize <= first.games.iter().filter(not_lost).count());
    let second = run(300);
    let resigned: Vec<_> = second.games.iter().filter(|game| game.resigned.is_some()).collect();
    assert!(resigned.iter().all(|game| game.winner() == Some(Side::Defenders) && game.outcome.is_none()));
    let played_on = second.games.iter().filter(|game| game.would_have_resigned.is_some()).count();
    let share = played_on as f64 / (played_on + resigned.len()) as f64;
    assert!((0.15..0.35).contains(&share), "{share} played on");
    let end = second.stats.ends.iter().find(|end| end.reason == "resignation").unwrap();
    assert_eq!((end.winner, end.games), (Some(Side::Defenders), resigned.len() as u64));
    for game in &second.games {
        game.check().unwrap();
    }
}

#[test]
fn statistics_agree_with_the_records() {
    struct Counting(Arc<AtomicU64>);
    impl Evaluator for Counting {
        fn evaluate(&mut self, requests: &[EvalRequest<'_>], out: &mut Evaluations) -> Result<(), EvalError> {
            self.0.fetch_add(requests.len() as u64, Ordering::Relaxed);
            HashEvaluator { seed: 3 }.evaluate(requests, out)
        }
    }
    let evaluated = Arc::new(AtomicU64::new(0));
    let counting = || -> Box<dyn Evaluator> { Box::new(Counting(evaluated.clone())) };
    let Generation { games, stats } =
        fleet(&config()).run(Quota::Games(100), PLAYOUTS, "first", &counting, &mut Uncontrolled).unwrap();
    let plies: Vec<_> = games.iter().flat_map(|game| &game.plies).collect();
    assert_eq!((stats.games, stats.plies), (100, plies.len() as u64));
    assert_eq!(stats.playouts, plies.iter().map(|ply| u64::from(ply.playouts)).sum::<u64>());
    assert_eq!(stats.training_plies, plies.iter().filter(|ply| ply.trains).count() as u64);
    assert_eq!(stats.evaluations, evaluated.load(Ordering::Relaxed));
    assert!(stats.cache_hits > 0, "a search finds again what the one before it found");
    assert!((stats.mean_plies - plies.len() as f64 / 100.0).abs() < 1e-9);
    let wins = |side| games.iter().filter(|game| game.winner() == Some(side)).count() as u64;
    assert_eq!(
        (stats.wins(Side::Attackers), stats.wins(Side::Defenders)),
        (wins(Side::Attackers), wins(Side::Defenders))
    );
    assert_eq!(stats.wins(Side::Attackers) + stats.wins(Side::Defenders) + stats.draws(), 100);
    let openings: HashSet<Vec<_>> = games
        .iter()
        .filter(|game| game.plies.len() > 8)
        .map(|game| game.plies[..8].iter().map(|ply| ply.mv).collect())
        .collect();
    assert!(stats.distinct_at_ply_8 <= openings.len() as u64 && stats.distinct_at_ply_8 > 50, "{stats:?}");
    assert!(stats.search_surprise > 0.0 && (0.0..=1.0).contains(&stats.changed_minds), "{stats:?}");
}

fn under(rules: Preset) -> SelfPlayConfig {
    SelfPlayConfig { rulesets: vec![RulesetShare { rules: rules.into(), share: 1.0 }], ..config() }
}

/// The fleet in a new stage of the run.
fn entered(fleet: &Fleet, config: &SelfPlayConfig) -> Fleet {
    Fleet::resume(config, &SearchConfig::default(), SEED, fleet.snapshot()).unwrap()
}

#[test]
fn handicaps_end_when_a_stage_says_so() {
    let was_handicapped = |fleet: &mut Fleet| {
        let stats = play(fleet, Quota::Games(fleet.games_begun() + 64)).stats;
        stats.handicaps.iter().any(|(_, handicap)| *handicap != Handicap::default())
    };
    let mut fleet = fleet(&handicapped());
    let first: Vec<bool> = (0..3).map(|_| was_handicapped(&mut fleet)).collect();
    assert_eq!(first, [false, true, true], "none is known in the first generation");
    let mut fleet = entered(&fleet, &config());
    assert_eq!([was_handicapped(&mut fleet), was_handicapped(&mut fleet)], [false, false]);
}

#[test]
fn games_in_flight_keep_their_ruleset_to_the_end() {
    let mut fleet = fleet(&under(Preset::Brandubh));
    play(&mut fleet, Quota::Plies(1000));
    let begun = fleet.games_begun();
    let mut fleet = entered(&fleet, &under(Preset::Tablut));
    let games = play(&mut fleet, Quota::Plies(4000)).games;
    let count = |preset, new: bool| {
        games.iter().filter(|game| game.rules.preset() == Some(preset) && (game.game >= begun) == new).count()
    };
    assert!(count(Preset::Brandubh, false) > 5 && count(Preset::Tablut, true) > 10, "{} games", games.len());
    assert_eq!(count(Preset::Brandubh, true), 0, "new games follow the new stage");
}

struct Resting;

impl FleetControl for Resting {
    fn rests(&mut self, _: &FleetProgress) -> bool {
        true
    }
}

#[test]
fn a_fleet_that_rests_ends_the_rounds_under_way() {
    let mut fleet = fleet(&config()).with_threads(2);
    for _ in 0..3 {
        let rested = fleet.play(Quota::Plies(u64::MAX), PLAYOUTS, "first", &slow, &mut Resting);
        assert!(matches!(rested, Err(FleetError::Stopped)));
        assert!(fleet.end_generation().stats.plies >= 64, "a ply in every game");
    }
}

#[test]
fn a_stage_with_longer_openings_opens_no_game_again() {
    let mut fleet = fleet(&config());
    play(&mut fleet, Quota::Plies(500));
    let mut fleet = entered(&fleet, &SelfPlayConfig { opening_mean_plies: 40.0, ..config() });
    let begun = fleet.games_begun();
    for game in play(&mut fleet, Quota::Games(begun)).games {
        assert!(game.plies.iter().skip_while(|ply| !ply.trains).all(|ply| ply.trains), "game {}", game.game);
    }
}

#[test]
fn after_a_rest_it_is_the_turn_of_others() {
    let mut fleet = fleet(&config()).with_threads(1);
    for _ in 0..2 {
        let rested = fleet.play(Quota::Plies(u64::MAX), PLAYOUTS, "first", &slow, &mut Resting);
        assert!(matches!(rested, Err(FleetError::Stopped)));
    }
    assert_eq!(fleet.games_begun(), 64, "both batches have played");
}
