//! Record files: what is written comes back, damage of any kind is named, and games are checked against the rules.

mod played;

use std::panic::catch_unwind;

use hnefi_engine::{Move, Outcome, Position, Preset, Reason, Side, Square};
use hnefi_inference::Wdl;
use hnefi_run::store::read_games;
use hnefi_run::{GameRecord, PlyRecord, RecordError, decode_games, encode_games};
use hnefi_search::rng_for;
use played::{below, random_game};

fn games(seed: u64, count: u64) -> Vec<GameRecord> {
    (0..count).map(|number| random_game(seed, number)).collect()
}

#[test]
fn games_come_back() {
    for count in [0, 1, 40] {
        let games = games(1, count);
        assert_eq!(decode_games("a file", &encode_games(&games)).unwrap(), games);
    }
}

/// Both files were written by the first program with format version 1 and are never written again.
#[test]
fn version_1_stays_readable() {
    let decoded = decode_games("version_1.hgames", include_bytes!("data/version_1.hgames")).unwrap();
    let expected: Vec<GameRecord> = serde_json::from_str(include_str!("data/version_1.json")).unwrap();
    assert_eq!(decoded, expected);
    for game in &decoded {
        game.check().unwrap();
    }
}

/// Games of several rulesets and endings, one that began from a FEN and was resigned among them.
fn golden_games() -> Vec<GameRecord> {
    let mut games = games(1, 6);
    let rules = Preset::Brandubh.rules();
    let start = "3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 d";
    let mut position = Position::from_fen(&rules, start).unwrap();
    let mut resigned = random_game(1, 6);
    resigned.plies.truncate(4);
    for ply in &mut resigned.plies {
        ply.mv = position.random_move(|count| count / 3).unwrap();
        ply.policy = if ply.trains { vec![(ply.mv, 1.0)] } else { Vec::new() };
        position.play(ply.mv).unwrap();
    }
    games.push(GameRecord {
        rules,
        start: Some(start.to_string()),
        outcome: None,
        resigned: Some(Side::Attackers),
        would_have_resigned: None,
        ..resigned
    });
    games
}

/// For the next format version: raise the number, run this once, commit the files, and test them like the files before.
#[test]
#[ignore = "writes the golden file of a format version, once"]
fn write_the_golden_file() {
    let games = golden_games();
    for (ending, bytes) in [("hgames", encode_games(&games)), ("json", serde_json::to_vec(&games).unwrap())] {
        let path = format!("{}/tests/data/version_1.{ending}", env!("CARGO_MANIFEST_DIR"));
        if !std::path::Path::new(&path).exists() {
            std::fs::write(path, bytes).unwrap();
        }
    }
}

#[test]
fn any_changed_byte_is_noticed() {
    let bytes = encode_games(&games(2, 3));
    let mut rng = rng_for(&[2]);
    // Every byte of the header, and many of the rest.
    let places = (0..24).chain((0..400).map(|_| below(&mut rng, bytes.len()))).collect::<Vec<_>>();
    for place in places {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[place] ^= 1 << bit;
            let error = decode_games("damaged.hgames", &changed).expect_err("a changed bit");
            assert!(error.to_string().starts_with("damaged.hgames: "), "{error}");
        }
    }
}

#[test]
fn any_cut_is_noticed() {
    let bytes = encode_games(&games(3, 3));
    for end in (0..60).chain((60..bytes.len()).step_by(37)) {
        let error = decode_games("cut.hgames", &bytes[..end]).expect_err("a cut file");
        assert!(matches!(error, RecordError::Truncated { .. }), "{end}: {error}");
    }
}

/// With length and checksum made right, damaged contents reach zstd and bincode: an error or other games, never a
/// panic.
#[test]
fn hostile_contents_never_panic() {
    let bytes = encode_games(&games(4, 3));
    let plain = zstd::decode_all(&bytes[24..]).unwrap();
    let mut rng = rng_for(&[4]);
    let mut refused = 0;
    for round in 0..1500 {
        let packed = if round % 2 == 0 {
            let mut changed = plain.clone();
            for _ in 0..1 + below(&mut rng, 3) {
                let place = below(&mut rng, changed.len());
                changed[place] = [0xff, 0xfd, 0xfc, 0, below(&mut rng, 256) as u8][below(&mut rng, 5)];
            }
            changed.truncate(changed.len() - below(&mut rng, 3) * below(&mut rng, changed.len()) / 3);
            zstd::encode_all(&changed[..], 1).unwrap()
        } else {
            let mut changed = bytes[24..].to_vec();
            let place = below(&mut rng, changed.len());
            changed[place] ^= 1 << below(&mut rng, 8);
            changed
        };
        let mut file = bytes[..12].to_vec();
        file.extend((packed.len() as u64).to_le_bytes());
        file.extend(crc32c::crc32c(&packed).to_le_bytes());
        file.extend(&packed);
        let survived = catch_unwind(|| match decode_games("hostile.hgames", &file) {
            Ok(games) => games.iter().all(|game| game.check().is_ok()),
            Err(_) => false,
        });
        refused += usize::from(!survived.expect("no panic"));
    }
    assert!(refused > 1000, "{refused} refused");
}

#[test]
fn a_missing_file_is_named() {
    let message = read_games(std::path::Path::new("nowhere/000001.hgames")).err().unwrap().to_string();
    assert!(message.starts_with("nowhere/000001.hgames: reading failed"), "{message}");
}

#[test]
fn a_replay_visits_every_position() {
    let game = random_game(7, 1);
    let mut position = Position::start(&game.rules);
    let mut replay = game.replay().unwrap();
    for ply in &game.plies {
        assert_eq!(replay.position().fen(), position.fen());
        assert_eq!(replay.ply(), Some(ply));
        assert_eq!(replay.step().unwrap(), Some(ply));
        position.play(ply.mv).unwrap();
    }
    assert_eq!(replay.step().unwrap(), None);
    assert_eq!(game.final_position().unwrap().outcome(), game.outcome);
}

#[test]
fn a_record_becomes_the_game_that_was_played() {
    let record = random_game(7, 1);
    let game = record.game().unwrap();
    assert_eq!((game.len(), game.outcome()), (record.plies.len(), record.outcome));
    let men: Vec<usize> = game.positions().map(|position| position.board().occupied().len()).collect();
    for (ply, (pair, recorded)) in game.plies().iter().zip(men.windows(2).zip(&record.plies)) {
        assert_eq!((ply.mv, ply.captured.len()), (recorded.mv, pair[0] - pair[1]));
    }

    let mut damaged = record.clone();
    damaged.plies[2].mv = damaged.plies[0].mv;
    let error = damaged.game().unwrap_err().to_string();
    assert!(error.starts_with("game 1, ply 2: "), "{error}");
}

#[test]
fn random_games_hold_together() {
    for game in games(8, 60) {
        game.check().unwrap();
    }
}

fn problem(change: impl FnOnce(&mut GameRecord)) -> String {
    let mut game = (0..).map(|number| random_game(9, number)).find(|game| game.plies.len() > 8).unwrap();
    change(&mut game);
    game.check().unwrap_err().to_string()
}

/// The move with a bit that no move has.
fn spoiled(mv: Move, bit: u32) -> Move {
    serde_json::from_value((mv.bits() | 1 << bit).into()).unwrap()
}

#[test]
fn every_inconsistency_is_found() {
    let first_training = |game: &GameRecord| game.plies.iter().position(|ply| ply.trains).unwrap();
    let cases: Vec<(&str, String)> = vec![
        ("ply 3: illegal move", problem(|game| game.plies[3].mv = game.plies[2].mv)),
        ("expected squares 0 to", problem(|game| game.plies[1].mv = Move::new(Square::new(127), Square::new(3)))),
        ("ply 1: a move of bits ", problem(|game| game.plies[1].mv = spoiled(game.plies[1].mv, 18))),
        ("expected two squares, 18 bits", problem(|game| game.plies[1].mv = spoiled(game.plies[1].mv, 19))),
        ("the policy target holds a move twice", {
            problem(|game| {
                let ply = first_training(game);
                let (mv, weight) = game.plies[ply].policy[0];
                game.plies[ply].policy[0].1 = weight / 2.0;
                game.plies[ply].policy.push((mv, weight / 2.0));
            })
        }),
        ("has no policy target", {
            problem(|game| {
                let ply = first_training(game);
                game.plies[ply].policy.clear();
            })
        }),
        ("policy weights sum to 2", {
            problem(|game| {
                let ply = first_training(game);
                game.plies[ply].policy.iter_mut().for_each(|(_, weight)| *weight *= 2.0);
            })
        }),
        ("below 0 or no number", {
            problem(|game| {
                let ply = first_training(game);
                game.plies[ply].policy[0].1 = f32::NAN;
            })
        }),
        ("holds an illegal move", {
            problem(|game| {
                let ply = first_training(game);
                game.plies[ply].policy[0].0 = Move::new(Square::new(0), Square::new(0));
            })
        }),
        ("raw value is 2, 0, 0; expected chances", {
            problem(|game| game.plies[0].raw = Wdl { win: 2.0, draw: 0.0, loss: 0.0 })
        }),
        ("end: recorded is no end, on the board it is", problem(|game| game.outcome = None)),
        ("end: recorded is attackers by exit_fort", {
            let outcome = Outcome::Win { side: Side::Attackers, reason: Reason::ExitFort };
            problem(|game| game.outcome = Some(outcome))
        }),
        ("end: defenders resigned a game that had ended", problem(|game| game.resigned = Some(Side::Defenders))),
        ("start: FEN", problem(|game| game.start = Some("7/7/7/7/7/7/7 a".to_string()))),
    ];
    for (expected, found) in cases {
        assert!(found.starts_with("game ") && found.contains(expected), "{found:?} lacks {expected:?}");
    }
}

#[test]
fn moves_after_the_end_are_illegal() {
    let mut game = random_game(10, 2);
    let last = game.plies.last().unwrap().clone();
    game.plies.push(PlyRecord { policy: vec![], trains: false, ..last });
    assert!(game.check().unwrap_err().to_string().contains("game is over"), "{}", game.check().unwrap_err());
}

#[test]
fn a_record_says_who_won() {
    let rules = Preset::Brandubh.rules();
    let game = |outcome, resigned| GameRecord { outcome, resigned, rules, ..random_game(11, 1) };
    let escape = Outcome::Win { side: Side::Defenders, reason: Reason::KingEscaped };
    assert_eq!(game(Some(escape), None).winner(), Some(Side::Defenders));
    assert_eq!(game(None, Some(Side::Defenders)).winner(), Some(Side::Attackers));
    assert_eq!(game(Some(Outcome::Draw { reason: Reason::PlyCap }), None).winner(), None);
    assert!(!game(None, None).is_finished() && game(None, Some(Side::Attackers)).is_finished());
}
