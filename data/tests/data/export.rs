//! Exported files: every array against the games it came from, shards, and what happens when something is in the way.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::games;
use super::npz::{Array, array, lists};
use hnefi_data::{DataError, ExportParams, Format, GameId, PolicyColumns, SourceGame, export, export_unless};
use hnefi_engine::{BoardSize, MoveList, NamedRules, Position, Preset, Reason, Side, Symmetry};
use hnefi_inference::{Features, GLOBALS, Handicap, PolicyIndex, Wdl};
use hnefi_run::GameRecord;
use serde_json::{Value, json};

/// What lies in a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// What `value` is once it has been written and read: a number that was an f32 keeps its short text.
fn as_read(value: impl serde::Serialize) -> Value {
    serde_json::from_str(&serde_json::to_string(&value).expect("JSON")).expect("JSON")
}

fn triple(wdl: Wdl) -> [f32; 3] {
    [wdl.win, wdl.draw, wdl.loss]
}

/// Checks the rows of one game from row `first` on.
fn check_rows(file: &Path, game: &GameRecord, first: usize) {
    let size = game.rules.size();
    let n = size.side();
    let planes: Array<u8> = array(file, "planes");
    let globals: Array<f32> = array(file, "globals");
    let [wdl, raw, searched] = ["wdl", "raw", "searched"].map(|name| array::<f32>(file, name));
    let moves_left: Array<f32> = array(file, "moves_left");
    let indices = lists::<i32>(file, "policy_offset", "policy_index");
    let weights = lists::<f32>(file, "policy_offset", "policy_weight");
    let (played, playouts): (Array<i32>, Array<u32>) = (array(file, "played"), array(file, "playouts"));
    let (trains, number): (Array<bool>, Array<u64>) = (array(file, "trains"), array(file, "game"));
    let (ply, reason): (Array<u32>, Array<u8>) = (array(file, "ply"), array(file, "reason"));
    let (id, generation): (Array<u64>, Array<i32>) = (array(file, "game_id"), array(file, "generation"));
    let legal = lists::<i32>(file, "legal_offset", "legal_index");
    let (occupancy, hash): (Array<u8>, Array<u64>) = (array(file, "occupancy"), array(file, "position_hash"));
    let last = game.final_position().expect("a sound game");
    let mut moves = MoveList::new();
    let mut position = match &game.start {
        None => Position::start(&game.rules),
        Some(fen) => Position::from_fen(&game.rules, fen).expect("a sound start"),
    };
    for (at, record) in game.plies.iter().enumerate() {
        let row = first + at;
        position.legal_moves(&mut moves);
        let expected: Vec<i32> = moves.iter().map(|&mv| PolicyIndex::of(mv, size).flat(size) as i32).collect();
        assert_eq!(legal[row], expected, "row {row}");
        assert!(expected.contains(&played[row]));
        assert_eq!((format!("{:016x}", id[row]), generation[row]), (GameId::of(game).to_string(), -1));
        let features = Features::of(&position, Handicap::NONE);
        for (plane, bits) in features.planes.iter().enumerate() {
            for square in 0..size.squares() {
                let expected = u8::from(bits.contains(hnefi_engine::Square::new(square)));
                assert_eq!(planes.row(row)[plane * n * n + square], expected, "plane {plane} square {square}");
            }
        }
        for square in 0..size.squares() {
            let expected = last.board().piece_at(hnefi_engine::Square::new(square)).map_or(0, |piece| piece as u8 + 1);
            assert_eq!(occupancy.row(row)[square], expected);
        }
        assert_eq!(hash[row], position.transformed(Symmetry::ALL[at % 8]).hash_up_to_symmetry());
        assert_eq!(*globals.row(row), features.globals);
        assert_eq!(globals.shape[1], GLOBALS);
        let expected = match game.winner() {
            None => [0.0, 1.0, 0.0],
            Some(winner) if winner == position.side_to_move() => [1.0, 0.0, 0.0],
            Some(_) => [0.0, 0.0, 1.0],
        };
        assert_eq!(*wdl.row(row), expected);
        assert_eq!(*raw.row(row), triple(record.raw));
        assert_eq!(*searched.row(row), triple(record.searched));
        assert_eq!(moves_left[row], (game.plies.len() - at) as f32);
        let expected: (Vec<_>, Vec<_>) =
            record.policy.iter().map(|&(mv, weight)| (PolicyIndex::of(mv, size).flat(size) as i32, weight)).unzip();
        assert_eq!((&indices[row], &weights[row]), (&expected.0, &expected.1));
        assert_eq!(played[row] as usize, PolicyIndex::of(record.mv, size).flat(size));
        assert_eq!((playouts[row], trains[row]), (record.playouts, record.trains));
        assert_eq!((number[row], ply[row]), (game.game, at as u32));
        let ended =
            game.outcome.map_or(9, |end| Reason::ALL.iter().position(|&known| known == end.reason()).expect("known"));
        assert_eq!(usize::from(reason[row]), ended);
        position.play_unchecked(record.mv);
    }
}

#[test]
fn arrays_hold_the_positions_of_the_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("dataset");
    let games = games::mixed_games();
    let summary = export(games.clone(), &ExportParams::new(Format::Npz), &out).expect("an export");
    assert_eq!(summary.games, games.len() as u64);
    assert_eq!(summary.files, 3, "a file per board size");
    for size in [BoardSize::SEVEN, BoardSize::NINE, BoardSize::ELEVEN] {
        let n = size.side();
        let file = out.join(format!("train/positions-{n}x{n}-0001.npz"));
        let mut row = 0;
        for game in games.iter().filter(|game| game.rules.size() == size) {
            check_rows(&file, game, row);
            row += game.plies.len();
        }
        assert_eq!(array::<u8>(&file, "planes").shape, [row, 32, n, n]);
        assert_eq!(array::<u32>(&file, "encoding").values, [hnefi_inference::ENCODING_VERSION]);
        let rules: Array<u8> = array(&file, "rules");
        let published: Vec<NamedRules> = NamedRules::published().collect();
        let names = rules.values.iter().map(|&number| published.get(usize::from(number)).map(NamedRules::name));
        let mut names: Vec<Option<String>> = names.collect();
        names.dedup();
        let expected = games.iter().filter(|game| game.rules.size() == size).map(|game| game.rules);
        let mut expected: Vec<Option<String>> = expected
            .map(|rules| match rules.shieldwall && size == BoardSize::SEVEN {
                true => None,
                false => Some(rules.preset().map_or("magpie", Preset::name).to_owned()),
            })
            .collect();
        expected.dedup();
        assert_eq!(names, expected);
    }
}

#[test]
fn shards_hold_whole_games_and_dense_policies_say_what_sparse_ones_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let games: Vec<_> = (0..12).map(|number| games::random_game(Preset::Brandubh.rules(), number, 50)).collect();
    let (sparse, dense) = (folder.path().join("sparse"), folder.path().join("dense"));
    export(games.clone(), &ExportParams::new(Format::Npz), &sparse).expect("an export");
    let params = ExportParams { policy: PolicyColumns::Dense, shard_rows: Some(100), ..ExportParams::new(Format::Npz) };
    let summary = export(games.clone(), &params, &dense).expect("an export");
    let shards = files(&dense.join("train"));
    assert_eq!(summary.files, shards.len() as u64);
    assert!(shards.len() > 2);
    let whole = files(&sparse.join("train")).remove(0);
    let indices = lists::<i32>(&whole, "policy_offset", "policy_index");
    let weights = lists::<f32>(&whole, "policy_offset", "policy_weight");
    let legal_indices = lists::<i32>(&whole, "legal_offset", "legal_index");
    let mut row = 0;
    for shard in &shards {
        let policy: Array<f32> = array(shard, "policy");
        let legal: Array<u8> = array(shard, "legal_mask");
        assert_eq!(policy.shape, legal.shape);
        assert_eq!(policy.shape[1..], [24, 7, 7]);
        assert!(policy.shape[0] < 100 + 50, "a shard is full once it has its rows");
        for (flat, mask) in policy.rows().zip(legal.rows()) {
            assert_eq!(mask.iter().map(|&legal| usize::from(legal)).sum::<usize>(), legal_indices[row].len());
            assert!(legal_indices[row].iter().all(|&index| mask[index as usize] == 1));
            let (sum, expected): (f32, f32) = (flat.iter().sum(), if weights[row].is_empty() { 0.0 } else { 1.0 });
            assert!((sum - expected).abs() < 1e-6);
            for (&index, &weight) in indices[row].iter().zip(&weights[row]) {
                assert_eq!(flat[index as usize], weight);
            }
            row += 1;
        }
    }
    assert_eq!(row, games.iter().map(|game| game.plies.len()).sum::<usize>());
}

#[test]
fn a_line_of_json_holds_the_whole_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("new/games.jsonl");
    let mut game = games::random_game(Preset::Fetlar.rules(), 3, 12);
    export([game.clone()], &ExportParams::new(Format::Jsonl), &out).expect("an export");
    let text = std::fs::read_to_string(&out).expect("the file");
    let line: Value = serde_json::from_str(text.trim_end()).expect("JSON");
    assert_eq!(text.lines().count(), 1);
    let ply = &game.plies[0];
    assert_eq!(line["rules"], json!("fetlar"));
    assert_eq!((&line["ply_cap"], &line["fen"]), (&json!(12), &json!(null)));
    assert_eq!((&line["game"], &line["seed"], &line["generation"]), (&json!(3), &json!(77), &json!(null)));
    assert_eq!(line["game_id"], json!(GameId::of(&game).to_string()));
    let mut moves = MoveList::new();
    Position::start(&game.rules).legal_moves(&mut moves);
    let names: Vec<_> = moves.iter().map(|mv| mv.text(BoardSize::ELEVEN)).collect();
    assert_eq!((&line["legal"][0], line["legal"].as_array().map(Vec::len)), (&json!(names), Some(12)));
    assert_eq!(line["attackers"], json!(game.players[0]));
    assert_eq!(line["moves"][0], json!(ply.mv.text(BoardSize::ELEVEN)));
    assert_eq!(line["raw"][0], as_read(triple(ply.raw)));
    assert_eq!(line["searched"][0], as_read(triple(ply.searched)));
    assert_eq!((&line["status"], &line["reason"]), (&json!("draw"), &json!("ply_cap")));
    assert_eq!(line["would_have_resigned"], json!("defenders"));
    for (index, ply) in game.plies.iter().enumerate() {
        let policy: Vec<_> =
            ply.policy.iter().map(|(mv, weight)| json!([mv.text(BoardSize::ELEVEN), weight])).collect();
        assert_eq!(line["policy"][index], json!(policy));
        assert_eq!((&line["playouts"][index], &line["trains"][index]), (&json!(ply.playouts), &json!(ply.trains)));
    }
    game.plies.pop();
    game.outcome = None;
    game.resigned = Some(Side::Attackers);
    let out = folder.path().join("resigned.jsonl");
    let game = SourceGame { record: game, generation: Some(4) };
    export([game], &ExportParams::new(Format::Jsonl), &out).expect("an export");
    let line: Value = serde_json::from_str(&std::fs::read_to_string(&out).expect("the file")).expect("JSON");
    assert_eq!(line["generation"], json!(4));
    assert_eq!((&line["status"], &line["reason"]), (&json!("defenders"), &json!("resignation")));
}

#[test]
fn nothing_is_overwritten_and_a_bad_game_leaves_nothing_behind() {
    let good = games::random_game(Preset::Brandubh.rules(), 0, 30);
    let mut bad = games::random_game(Preset::Brandubh.rules(), 1, 30);
    bad.plies[4].mv = bad.plies[3].mv;
    for format in Format::ALL {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        let params = ExportParams::new(format);
        let error = export([good.clone(), bad.clone()], &params, &out).expect_err("game 1 is broken").to_string();
        assert!(error.contains("game 1, ply 4"), "{error}");
        assert!(files(folder.path()).is_empty(), "{format} left something behind");
        export([good.clone()], &params, &out).expect("an export");
        let before = std::fs::metadata(&out).expect("it is there").modified().expect("a time");
        let error = export([good.clone()], &params, &out).expect_err("it exists");
        assert!(matches!(&error, DataError::Write { path, .. } if *path == out), "{error}");
        assert_eq!(std::fs::metadata(&out).expect("still there").modified().expect("a time"), before);
        assert_eq!(files(folder.path()), [out]);
    }
}

#[test]
fn a_record_that_claims_another_end_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut game = games::random_game(Preset::Brandubh.rules(), 5, 10);
    game.plies.pop();
    let out = folder.path().join("games.pgn");
    let error = export([game], &ExportParams::new(Format::Pgn), &out).expect_err("one ply is missing").to_string();
    assert!(error.contains("game 5, end: recorded is draw by ply_cap, on the board it is no end"), "{error}");
}

#[test]
fn squares_off_the_board_are_an_error_and_no_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let nowhere: hnefi_engine::Move = serde_json::from_value(json!(16_383)).expect("fourteen bits");
    let sound = games::random_game(Preset::Brandubh.rules(), 5, 10);
    let mut games = [sound.clone(), sound];
    games[0].plies[2].mv = nowhere;
    games[1].plies[2].policy = vec![(nowhere, 1.0)];
    for game in games {
        for format in Format::ALL {
            let out = folder.path().join(format.as_str());
            let error = export([game.clone()], &ExportParams::new(format), &out).expect_err("no such squares");
            assert!(error.to_string().starts_with("game 5, ply 2: "), "{error}");
        }
    }
}

#[test]
fn unfinished_games_have_no_targets_and_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut game = games::random_game(Preset::Brandubh.rules(), 5, 10);
    game.plies.pop();
    game.outcome = None;
    let out = folder.path().join("dataset");
    let summary = export([game], &ExportParams::new(Format::Npz), &out).expect("an export");
    assert_eq!((summary.games, summary.unfinished, summary.files), (0, 1, 0));
}

#[test]
fn unknown_formats_are_refused_by_name() {
    let error = "csv".parse::<Format>().expect_err("not ours").to_string();
    assert_eq!(error, "export format \"csv\": expected jsonl, npz, parquet or pgn");
    for format in Format::ALL {
        assert_eq!(format.to_string().parse::<Format>().expect("ours"), format);
    }
}

#[test]
fn an_export_that_is_stopped_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    for (format, name) in [(Format::Npz, "arrays"), (Format::Parquet, "table"), (Format::Jsonl, "games.jsonl")] {
        let (stop, out) = (AtomicBool::new(false), folder.path().join(name));
        let mut read = 0;
        let games = games::mixed_games().into_iter().inspect(|_| {
            read += 1;
            stop.store(read == 2, Ordering::Relaxed);
        });
        let error = export_unless(games, &ExportParams::new(format), &out, &stop).expect_err("stopped");
        assert!(matches!(error, DataError::Stopped { path } if path == out));
        assert_eq!(read, 2, "{format}");
        assert_eq!(folder.path().read_dir().expect("a folder").count(), 0, "{format}");
    }
}
