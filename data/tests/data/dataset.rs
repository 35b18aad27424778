//! Datasets: Parquet against the games and against numpy, splits, filters, and what the card says.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use super::npz::{array, lists};
use super::{games, npz};
use hnefi_data::{
    BoardColumns, Bounds, ExportParams, Filter, Format, GameId, GameResult, PolicyColumns, SourceGame, Splits,
    TableKind, export, import,
};
use hnefi_engine::{BoardSize, NamedRules, Position, Preset, Side, Square, Symmetry};
use hnefi_inference::{Handicap, Wdl};
use hnefi_run::GameRecord;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use rand::RngExt;
use sha2::{Digest, Sha256};

type Row = HashMap<String, Field>;

/// All rows of the Parquet files below a folder whose name begins so, in the order of their names.
fn rows(folder: &Path, prefix: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for file in files(folder, prefix) {
        let reader = SerializedFileReader::new(File::open(file).expect("the file")).expect("a Parquet file");
        for row in reader.get_row_iter(None).expect("rows") {
            rows.push(row.expect("a row").into_columns().into_iter().collect());
        }
    }
    rows
}

fn files(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry").path());
    let named = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix));
    let mut files: Vec<_> = entries.filter(named).collect();
    files.sort();
    files
}

fn numbers(field: &Field) -> Vec<f64> {
    match field {
        Field::ListInternal(list) => list.elements().iter().flat_map(numbers).collect(),
        Field::UByte(value) => vec![f64::from(*value)],
        Field::UInt(value) => vec![f64::from(*value)],
        Field::ULong(value) => vec![*value as f64],
        Field::Int(value) => vec![f64::from(*value)],
        Field::Float(value) => vec![f64::from(*value)],
        Field::Bool(value) => vec![f64::from(u8::from(*value))],
        other => panic!("no number: {other:?}"),
    }
}

fn text(field: &Field) -> &str {
    match field {
        Field::Str(text) => text,
        other => panic!("no text: {other:?}"),
    }
}

fn params(format: Format, board: BoardColumns, policy: PolicyColumns) -> ExportParams {
    ExportParams { board, policy, ..ExportParams::new(format) }
}

/// The arrays are checked against the games in `export.rs`, so agreeing with them is agreeing with the games.
#[test]
fn parquet_positions_say_what_the_arrays_say() {
    let folder = tempfile::tempdir().expect("a folder");
    // Every preset, and a game that began elsewhere.
    let games = games::mixed_games().into_iter().step_by(2).enumerate();
    let games: Vec<_> = games
        .map(|(index, record)| SourceGame { record, generation: (index % 2 > 0).then_some(index as u32) })
        .collect();
    for (board, squares) in [(BoardColumns::Planes, "planes"), (BoardColumns::Compact, "board")] {
        for policy in [PolicyColumns::Sparse, PolicyColumns::Dense] {
            let out = |format: Format| folder.path().join(format!("{format}-{squares}-{policy:?}"));
            let whole = |format: Format| out(format).join("train");
            for format in [Format::Npz, Format::Parquet] {
                export(games.clone(), &params(format, board, policy), &out(format)).expect("an export");
            }
            for size in [BoardSize::SEVEN, BoardSize::NINE, BoardSize::ELEVEN] {
                let prefix = format!("positions-{0}x{0}-", size.side());
                let rows = rows(&whole(Format::Parquet), &prefix);
                let file = &files(&whole(Format::Npz), &prefix)[0];
                let real = |name| (name, npz::numbers::<f32>(file, name));
                let mut arrays = ["globals", "wdl", "raw", "searched", "moves_left"].map(real).to_vec();
                arrays.extend([squares, "occupancy"].map(|name| (name, npz::numbers::<u8>(file, name))));
                arrays.extend(["playouts", "ply"].map(|name| (name, npz::numbers::<u32>(file, name))));
                arrays.extend(["position_hash", "game"].map(|name| (name, npz::numbers::<u64>(file, name))));
                arrays.push(("played", npz::numbers::<i32>(file, "played")));
                arrays.push(("trains", npz::numbers::<bool>(file, "trains")));
                let ids = array::<u64>(file, "game_id").values;
                assert!(ids.iter().zip(&rows).all(|(id, row)| format!("{id:016x}") == text(&row["game_id"])));
                let generations = array::<i32>(file, "generation").values;
                for (row, &generation) in rows.iter().zip(&generations) {
                    let expected = u32::try_from(generation).map_or(Field::Null, Field::UInt);
                    assert_eq!(row["generation"], expected);
                }
                assert!(generations.contains(&-1) && generations.iter().any(|&number| number > 0));
                if policy == PolicyColumns::Dense {
                    arrays.push(real("policy"));
                    arrays.push(("legal_mask", npz::numbers::<u8>(file, "legal_mask")));
                } else {
                    let wide = |list: Vec<i32>| list.into_iter().map(f64::from).collect();
                    let indices = |offsets, name| lists::<i32>(file, offsets, name).into_iter().map(wide).collect();
                    arrays.push(("legal", indices("legal_offset", "legal_index")));
                    arrays.push(("policy_index", indices("policy_offset", "policy_index")));
                    let weights = lists::<f32>(file, "policy_offset", "policy_weight").into_iter();
                    let weights = weights.map(|list| list.into_iter().map(f64::from).collect());
                    arrays.push(("policy_weight", weights.collect()));
                }
                for (name, values) in &arrays {
                    assert_eq!(values.len(), rows.len(), "{prefix}{name}");
                    for (index, (row, expected)) in rows.iter().zip(values).enumerate() {
                        let found = numbers(row.get(*name).unwrap_or_else(|| panic!("{name} is missing")));
                        assert_eq!(&found, expected, "{prefix}{name}, row {index}");
                    }
                }
                for row in &rows {
                    assert_eq!(text(&row["fen"]).chars().last(), text(&row["side"]).chars().next());
                    assert_eq!(text(&row["side"]) == "attackers", numbers(&row["globals"])[0] == 1.0);
                }
            }
        }
    }
}

#[test]
fn compact_boards_are_the_pieces_of_the_planes() {
    let folder = tempfile::tempdir().expect("a folder");
    let game = games::random_game(Preset::Brandubh.rules(), 4, 30);
    let (compact, planes) = (folder.path().join("compact"), folder.path().join("planes"));
    let export = |board, out: &Path| {
        export([game.clone()], &params(Format::Npz, board, PolicyColumns::Sparse), out).expect("an export");
        files(&out.join("train"), "positions")[0].clone()
    };
    let board = array::<u8>(&export(BoardColumns::Compact, &compact), "board");
    let planes = array::<u8>(&export(BoardColumns::Planes, &planes), "planes");
    let squares = 7 * 7;
    for row in 0..board.shape[0] {
        for (square, &found) in board.row(row).iter().enumerate() {
            let piece = |plane: usize| planes.row(row)[plane * squares + square];
            assert_eq!(found, piece(0) + 2 * piece(1) + 3 * piece(2));
        }
    }
}

#[test]
fn a_row_per_game_holds_the_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("games");
    let mut games: Vec<SourceGame> = games::mixed_games().into_iter().map(SourceGame::from).collect();
    games[2].generation = Some(17);
    let params = ExportParams { rows: Some(TableKind::Games), ..ExportParams::new(Format::Parquet) };
    let summary = export(games.clone(), &params, &out).expect("an export");
    assert_eq!((summary.games, summary.files), (games.len() as u64, 1));
    let rows = rows(&out.join("train"), "games-");
    assert_eq!(rows.len(), games.len());
    for (row, game) in rows.iter().zip(&games) {
        let record = &game.record;
        let size = record.rules.size();
        let Field::ListInternal(moves) = &row["moves"] else { panic!("{:?}", row["moves"]) };
        let found: Vec<_> = moves.elements().iter().map(text).collect();
        assert_eq!(found, record.plies.iter().map(|ply| ply.mv.text(size)).collect::<Vec<_>>());
        assert_eq!(text(&row["game_id"]), GameId::of(record).to_string());
        assert_eq!(numbers(&row["plies"]), [record.plies.len() as f64]);
        assert_eq!(row["generation"] == Field::Null, game.generation.is_none());
        assert_eq!(row["fen"] == Field::Null, record.start.is_none());
        assert_eq!(row["options"] == Field::Null, NamedRules::from(record.rules).is_published());
        assert_eq!(text(&row["status"]), GameResult::of(record).as_str());
    }
    assert_eq!(numbers(&rows[2]["generation"]), [17.0]);
}

#[test]
fn every_column_is_documented_and_on_the_card() {
    let folder = tempfile::tempdir().expect("a folder");
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/DATASETS.md");
    let document = std::fs::read_to_string(document).expect("the document");
    let (_, tables) = document.split_once("## parquet: tables").expect("the section");
    let (tables, _) = tables.split_once("\n## ").expect("another section");
    let game = games::random_game(Preset::Brandubh.rules(), 1, 10);
    for (number, (rows, board, policy)) in [
        (TableKind::Games, BoardColumns::Planes, PolicyColumns::Sparse),
        (TableKind::Positions, BoardColumns::Planes, PolicyColumns::Sparse),
        (TableKind::Positions, BoardColumns::Compact, PolicyColumns::Dense),
    ]
    .into_iter()
    .enumerate()
    {
        let out = folder.path().join(number.to_string());
        let params = ExportParams { rows: Some(rows), ..params(Format::Parquet, board, policy) };
        export([game.clone()], &params, &out).expect("an export");
        let file = File::open(&files(&out.join("train"), "")[0]).expect("a table");
        let reader = SerializedFileReader::new(file).expect("a Parquet file");
        let metadata = reader.metadata().file_metadata();
        let card = std::fs::read_to_string(out.join("README.md")).expect("a card");
        for column in metadata.schema().get_fields() {
            let name = column.name();
            assert!(tables.contains(&format!("`{name}`")), "{name} is not in docs/DATASETS.md");
            assert!(card.contains(&format!("\n| `{name}` | ")), "{name} is not in the card");
        }
        let notes = metadata.key_value_metadata().expect("notes");
        let encoding = notes.iter().find(|note| note.key == "hnefi.encoding").and_then(|note| note.value.clone());
        assert_eq!(encoding, Some(hnefi_inference::ENCODING_VERSION.to_string()));
    }
}

#[test]
fn identities_are_hashes_that_anybody_can_compute() {
    let mut game = games::random_game(Preset::Brandubh.rules(), 0, 9);
    let size = game.rules.size();
    // The game turned and mirrored in all eight ways: the first of the texts is hashed.
    let images = [false, true].into_iter().flat_map(|swap| (0..4).map(move |mirrors| (swap, mirrors)));
    let image = |(swap, mirrors): (bool, u8)| {
        let square = |square: Square| {
            let (file, rank) = square.file_and_rank(size);
            let (file, rank) = if swap { (rank, file) } else { (file, rank) };
            let (file, rank) =
                (if mirrors & 1 > 0 { 6 - file } else { file }, if mirrors & 2 > 0 { 6 - rank } else { rank });
            format!("{}{}", char::from(b'a' + file as u8), rank + 1)
        };
        let moves: Vec<_> = game.plies.iter().map(|ply| square(ply.mv.from()) + &square(ply.mv.to())).collect();
        moves.join(" ")
    };
    let texts: HashSet<String> = images.map(image).collect();
    assert_eq!(texts.len(), 8);
    let hash = Sha256::digest(format!("7\n\n{}", texts.iter().min().expect("eight texts")));
    let expected: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let id = GameId::of(&game);
    assert_eq!(id.to_string(), expected);
    let first = hash[..8].iter().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
    assert!((id.share() - first as f64 / 2f64.powi(64)).abs() < 1e-15);
    game.game += 1;
    game.seed += 1;
    assert_eq!(GameId::of(&game), id, "where a game comes from does not count");
    let splits: Splits = "a=0.5,b=0.5".parse().expect("a split");
    for symmetry in Symmetry::ALL {
        let mut image = game.clone();
        image.plies.iter_mut().for_each(|ply| ply.mv = symmetry.mv(ply.mv, size));
        assert_eq!(GameId::of(&image), id, "images stay together");
        let begun = GameRecord { start: Some("7/3a3/3a3/aa3aa/3d2k/3a3/3a3 d".to_owned()), plies: Vec::new(), ..image };
        let start = begun.start_position().expect("a start").transformed(symmetry).fen();
        let elsewhere = GameRecord { start: Some(start), ..begun.clone() };
        assert_eq!(GameId::of(&elsewhere), GameId::of(&begun));
        assert_eq!(splits.part_of(GameId::of(&elsewhere)), splits.part_of(GameId::of(&begun)));
    }
    game.plies.pop();
    assert_ne!(GameId::of(&game), id);
    // The start of no other ruleset is left out. It is its own image, and so is the empty list of moves.
    let historical = GameRecord { plies: Vec::new(), ..games::random_game(Preset::Historical.rules(), 0, 9) };
    let hash = Sha256::digest(format!("11\n{}\n", Position::start(&historical.rules).fen()));
    let expected: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(GameId::of(&historical).to_string(), expected);
}

/// Exports games, imports what was written, and compares everything that the format keeps.
#[test]
fn datasets_of_games_are_read_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut games = games::mixed_games();
    games[0].handicap = Handicap { doublings: 0.75, blunders: -0.1 };
    assert!(games.iter().any(|game| game.plies.iter().any(|ply| ply.policy.len() > 1 && ply.trains)));
    for format in [Format::Jsonl, Format::Parquet] {
        let out = folder.path().join(format!("games.{format}"));
        let params = ExportParams { rows: Some(TableKind::Games), ..ExportParams::new(format) };
        export(games.clone(), &params, &out).expect("an export");
        let file = if format == Format::Jsonl { out } else { files(&out.join("train"), "games-")[0].clone() };
        let imported = import(&file, None).expect("an import");
        assert_eq!((&imported.games, imported.left_out.as_slice()), (&games, [].as_slice()), "{format}");
    }
    let positions = folder.path().join("positions");
    export(games, &ExportParams::new(Format::Parquet), &positions).expect("an export");
    let file = &files(&positions.join("train"), "positions-")[0];
    let problem = import(file, None).expect_err("no games").to_string();
    assert!(problem.ends_with("a table without a column `moves`; expected a table of games"), "{problem}");
    let damaged = folder.path().join("damaged.parquet");
    let bytes = std::fs::read(file).expect("the file");
    std::fs::write(&damaged, &bytes[..bytes.len() / 2]).expect("half of it");
    let problem = import(&damaged, None).expect_err("half a file").to_string();
    assert!(problem.contains("damaged.parquet: no Parquet file: "), "{problem}");
}

#[test]
fn damaged_tables_are_refused_or_read_and_nothing_panics() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("games");
    let params = ExportParams { rows: Some(TableKind::Games), ..ExportParams::new(Format::Parquet) };
    export(games::mixed_games(), &params, &out).expect("an export");
    let whole = std::fs::read(&files(&out.join("train"), "games-")[0]).expect("the file");
    let damaged = folder.path().join("damaged.parquet");
    let mut rng = hnefi_search::rng_for(&[7]);
    for _ in 0..300 {
        let mut bytes = whole.clone();
        for _ in 0..rng.random_range(1..4) {
            // Half of them near the end, where the numbers are that the rest is read by.
            let reach = if rng.random() { bytes.len() } else { bytes.len().min(6_000) };
            let place = bytes.len() - 1 - rng.random_range(0..reach);
            bytes[place] ^= 1 << rng.random_range(0..8);
        }
        std::fs::write(&damaged, &bytes).expect("the file");
        // Any answer will do.
        drop(import(&damaged, None));
    }
}

#[test]
fn row_groups_hold_whole_games_and_are_read_in_any_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("groups");
    let games: Vec<_> = (0..200).map(|number| games::random_game(Preset::Brandubh.rules(), number, 60)).collect();
    export(games.clone(), &ExportParams::new(Format::Parquet), &out).expect("an export");
    let file = File::open(&files(&out.join("train"), "positions-")[0]).expect("the file");
    let reader = SerializedFileReader::new(file).expect("a Parquet file");
    assert!(reader.num_row_groups() > 2, "{} groups", reader.num_row_groups());
    let mut rows = HashMap::new();
    for group in (0..reader.num_row_groups()).rev() {
        let group = reader.get_row_group(group).expect("a row group");
        let mut here: HashMap<String, usize> = HashMap::new();
        for row in group.get_row_iter(None).expect("rows") {
            let row: Row = row.expect("a row").into_columns().into_iter().collect();
            *here.entry(text(&row["game_id"]).to_owned()).or_default() += 1;
        }
        here.into_iter().for_each(|(id, count)| assert_eq!(rows.insert(id, count), None, "a game in two groups"));
    }
    assert!(games.iter().all(|game| rows[&GameId::of(game).to_string()] == game.plies.len()));
}

#[test]
fn lines_that_contradict_themselves_are_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = |more: &str| format!(r#"{{"rules": "brandubh", "moves": ["d6f6", "d5g5"], {more}}}"#);
    for (more, expected) in [
        (r#""policy": [[["d6f6", 1.0]]]"#, "policy: 1 entries; expected one for each of 2 moves"),
        (r#""policy": [[["d6f6", 0.5]], []]"#, "policy weights sum to 0.5; expected 1"),
        (r#""policy": [[["d6d1", 1.0]], []]"#, "the policy target holds an illegal move"),
        (
            r#""searched": [[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]]"#,
            "searched value is 1, 1, 0; expected chances that sum to 1",
        ),
        (r#""trains": [true, false]"#, "trains without policy; expected both, or neither"),
        (r#""handicap": [99.0, 0.0]"#, "99 doublings"),
        (r#""policy": [1, 2]"#, "no game in JSON"),
    ] {
        let file = folder.path().join("games.jsonl");
        std::fs::write(&file, line(more)).expect("a file");
        let imported = import(&file, None).expect("an import");
        let problems: Vec<String> = imported.left_out.iter().map(ToString::to_string).collect();
        assert!(imported.games.is_empty() && problems[0].contains(expected), "{more}: {problems:?}");
    }
}

/// The games of each part by identity.
fn split(games: &[GameRecord], splits: &str, out: &Path) -> BTreeMap<String, HashSet<String>> {
    let params = ExportParams {
        splits: Some(splits.parse().expect("a split")),
        rows: Some(TableKind::Games),
        ..ExportParams::new(Format::Parquet)
    };
    let summary = export(games.to_vec(), &params, out).expect("an export");
    summary
        .splits
        .iter()
        .map(|(name, count)| {
            let ids: HashSet<_> =
                rows(&out.join(name), "games").iter().map(|row| text(&row["game_id"]).to_owned()).collect();
            assert!(ids.len() as u64 <= *count);
            (name.clone(), ids)
        })
        .collect()
}

#[test]
fn added_games_move_no_other_game_and_copies_stay_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let games: Vec<_> = (0..300).map(|number| games::random_game(Preset::Brandubh.rules(), number, 12)).collect();
    let shares = "train=0.6,validation=0.2,test=0.2";
    let few = split(&games[..100], shares, &folder.path().join("few"));
    let mut more = games.clone();
    more.extend(games[..50].iter().map(|game| GameRecord { game: 1000 + game.game, seed: 5, ..game.clone() }));
    more.reverse();
    let more = split(&more, shares, &folder.path().join("more"));
    for (name, ids) in &few {
        assert!(ids.is_subset(&more[name]), "{name}");
    }
    let parts: Vec<_> = more.values().collect();
    assert_eq!(parts.len(), 3);
    assert!(parts[0].is_disjoint(parts[1]) && parts[0].is_disjoint(parts[2]) && parts[1].is_disjoint(parts[2]));
    let all: usize = parts.iter().map(|ids| ids.len()).sum();
    // Five standard deviations of a binomial count.
    let within = |name: &str, share: f64| {
        let count = more[name].len() as f64;
        let mean = share * all as f64;
        assert!((count - mean).abs() < 5.0 * (mean * (1.0 - share)).sqrt(), "{name}: {count} of {all}");
    };
    within("train", 0.6);
    within("test", 0.2);
}

#[test]
fn disjoint_parts_share_no_position_and_lose_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let games: Vec<_> = (0..60).map(|number| games::random_game(Preset::Brandubh.rules(), number, 30)).collect();
    let plies: usize = games.iter().map(|game| game.plies.len()).sum();
    let names = ["train", "validation", "test"];
    // The boards with their sides to move, part by part, each as often as it stands there.
    let parts = |format: Format, disjoint: bool| {
        let out = folder.path().join(format!("{format}-{disjoint}"));
        let params = ExportParams {
            splits: Some("train=0.5,validation=0.3,test=0.2".parse().expect("a split")),
            disjoint,
            ..params(format, BoardColumns::Compact, PolicyColumns::Sparse)
        };
        let summary = export(games.clone(), &params, &out).expect("an export");
        assert_eq!(summary.games, 60);
        let card = std::fs::read_to_string(out.join("README.md")).expect("a card");
        assert_eq!(card.contains("No position (board and side to move) stands in two splits"), disjoint);
        let overlap: Vec<_> =
            summary.overlap.iter().map(|(name, share)| format!("{:.0} % of {name}", 100.0 * share)).collect();
        assert_eq!(card.contains(&format!("mirror image for {}.", overlap.join(", "))), !disjoint);
        // Row by row: the squares and who is to move.
        let parts = names.map(|name| -> Vec<(Vec<f64>, bool)> {
            match format {
                Format::Npz => {
                    let file = &files(&out.join(name), "positions-7x7")[0];
                    let sides = npz::numbers::<f32>(file, "globals").into_iter().map(|globals| globals[0] == 1.0);
                    npz::numbers::<u8>(file, "board").into_iter().zip(sides).collect()
                }
                _ => rows(&out.join(name), "positions-7x7")
                    .iter()
                    .map(|row| (numbers(&row["board"]), numbers(&row["globals"])[0] == 1.0))
                    .collect(),
            }
        });
        assert_eq!(parts.iter().map(Vec::len).sum::<usize>() + summary.shared as usize, plies);
        (parts.map(|part| part.iter().map(smallest_image).collect::<Vec<_>>()), summary.overlap)
    };
    for format in [Format::Npz, Format::Parquet] {
        let ((whole, overlap), (disjoint, none)) = (parts(format, false), parts(format, true));
        let sets = |parts: &[Vec<String>; 3]| parts.each_ref().map(|part| part.iter().cloned().collect::<HashSet<_>>());
        let ([first, second, third], [a, b, c]) = (sets(&whole), sets(&disjoint));
        assert!(!first.is_disjoint(&second) && !first.is_disjoint(&third), "the start stands everywhere");
        assert!(a.is_disjoint(&b) && a.is_disjoint(&c) && b.is_disjoint(&c));
        assert_eq!(whole[0], disjoint[0], "nothing leaves the first part");
        assert_eq!(b, &second - &first);
        assert_eq!(c, &(&third - &second) - &first);
        let shared = |part: &[String], earlier: &[&HashSet<String>]| {
            let found = part.iter().filter(|position| earlier.iter().any(|set| set.contains(*position))).count();
            found as f64 / part.len() as f64
        };
        let expected = [shared(&whole[1], &[&first]), shared(&whole[2], &[&first, &second])];
        assert_eq!(overlap, [("validation".to_owned(), expected[0]), ("test".to_owned(), expected[1])]);
        assert_eq!(none, []);
    }
}

/// The text of a 7x7 board and its side to move that comes first among its eight turned and mirrored ones.
fn smallest_image((squares, attacking): &(Vec<f64>, bool)) -> String {
    let turned = |squares: &[f64]| (0..49).map(|to| squares[(6 - to % 7) * 7 + to / 7]).collect::<Vec<_>>();
    let mirrored = |squares: &[f64]| (0..49).map(|to| squares[to / 7 * 7 + 6 - to % 7]).collect::<Vec<_>>();
    let mut board = squares.clone();
    let images = (0..4).flat_map(|_| {
        board = turned(&board);
        [format!("{board:?}"), format!("{:?}", mirrored(&board))]
    });
    format!("{} {attacking}", images.min().expect("eight images"))
}

/// Games that the defenders nearly always win, under the search's value of the attackers given.
fn one_sided(value: f32, defenders_win: impl Fn(u64) -> bool) -> Vec<GameRecord> {
    let game = |number| {
        let mut game = games::random_game(Preset::Brandubh.rules(), number, 200);
        game.plies.truncate(7);
        game.outcome = None;
        game.resigned = Some(if defenders_win(number) { Side::Attackers } else { Side::Defenders });
        for (index, ply) in game.plies.iter_mut().enumerate() {
            let score = if index % 2 == 0 { value } else { 1.0 - value };
            ply.searched = Wdl { win: score, draw: 0.0, loss: 1.0 - score };
            ply.playouts = 64;
        }
        game
    };
    (0..40).map(game).collect()
}

#[test]
fn a_card_warns_of_one_sided_games_and_of_values_that_contradict_the_results() {
    let folder = tempfile::tempdir().expect("a folder");
    let warnings = |name: &str, games: Vec<GameRecord>| {
        let out = folder.path().join(name);
        let summary = export(games, &ExportParams::new(Format::Npz), &out).expect("an export");
        let card = std::fs::read_to_string(out.join("README.md")).expect("a card");
        let warned = summary.warnings.iter().all(|warning| card.contains(&format!("- **Warning**, {warning}\n")));
        assert!(warned && card.matches("**Warning**").count() == summary.warnings.len(), "{card}");
        (summary.warnings, card)
    };
    // 36 of 40: a constant's Brier score is 0.1 * 0.9, and of 0.43 it is 0.9 * 0.43^2 + 0.1 * 0.57^2 = 0.1989.
    let (found, card) = warnings("contradicting", one_sided(0.43, |number| number % 10 > 0));
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0], "one-sided: under brandubh the defenders score 90 % in 40 games");
    let said =
        "they give the attackers 0.43 in the first 10 plies, who score 0.10 (Brier score 0.199, a constant has 0.090)";
    assert!(found[1].contains(said), "{found:?}");
    assert!(
        card.contains("- brandubh: 40 finished games, in which the attackers score 0.10; the search gives"),
        "{card}"
    );
    assert!(card.contains("under the game's handicap"), "{card}");
    let (found, _) = warnings("agreeing", one_sided(0.1, |number| number % 10 > 0));
    assert_eq!(found, ["one-sided: under brandubh the defenders score 90 % in 40 games"]);
    // Of results that are all alike a constant knows everything, which is no contradiction.
    let (found, _) = warnings("always", one_sided(0.05, |_| true));
    assert_eq!(found, ["one-sided: under brandubh the defenders score 100 % in 40 games"]);
    let (found, _) = warnings("never", one_sided(0.5, |_| true));
    assert_eq!(found.len(), 2, "{found:?}");
    let (found, _) = warnings("balanced", one_sided(0.5, |number| number % 2 > 0));
    assert_eq!(found, Vec::<String>::new());
    let (found, _) = warnings("few", one_sided(0.43, |number| number % 10 > 0).split_off(21));
    assert_eq!(found, Vec::<String>::new(), "19 games are few");
}

#[test]
fn filters_keep_what_they_say() {
    let games: Vec<SourceGame> = games::mixed_games()
        .into_iter()
        .enumerate()
        .map(|(index, record)| SourceGame { record, generation: (index % 3 > 0).then_some(index as u32) })
        .collect();
    let all = Filter::default();
    type Passes = fn(&SourceGame) -> bool;
    let cases: [(Filter, Passes); 5] = [
        (Filter { rules: vec![Some(Preset::Brandubh.into())], ..all.clone() }, |game| {
            game.record.rules.preset() == Some(Preset::Brandubh)
        }),
        (Filter { rules: vec![None], ..all.clone() }, |game| !NamedRules::from(game.record.rules).is_published()),
        (Filter { generations: "5-9".parse().expect("a range"), ..all.clone() }, |game| {
            game.generation.is_some_and(|number| (5..=9).contains(&number))
        }),
        (Filter { plies: "20-".parse().expect("a range"), ..all.clone() }, |game| game.record.plies.len() >= 20),
        (Filter { results: vec![GameResult::Draw], ..all.clone() }, |game| game.record.winner().is_none()),
    ];
    assert!(games.iter().all(|game| all.accepts(game)));
    for (filter, passes) in cases {
        let kept: Vec<_> = games.iter().filter(|game| filter.accepts(game)).collect();
        assert!(!kept.is_empty() && kept.into_iter().all(passes), "{filter:?}");
    }
}

#[test]
fn samples_are_shares_that_depend_on_their_seed_alone() {
    let games: Vec<SourceGame> =
        (0..400).map(|number| games::random_game(Preset::Brandubh.rules(), number, 8).into()).collect();
    let sample = |share: f64, seed: u64| {
        let filter = Filter { sample: share, sample_seed: seed, ..Filter::default() };
        games.iter().filter(|game| filter.accepts(game)).map(|game| game.record.game).collect::<HashSet<_>>()
    };
    let half = sample(0.5, 1);
    assert_eq!(half, sample(0.5, 1));
    assert!((140..260).contains(&half.len()), "{}", half.len());
    assert!(sample(0.2, 1).is_subset(&half), "a smaller share is part of a larger one");
    let both = half.intersection(&sample(0.5, 2)).count();
    assert!((50..150).contains(&both), "{both} games are in two independent halves");
}

#[test]
fn files_end_after_whole_games_and_the_card_lists_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("dataset");
    let games: Vec<_> = (0..20).map(|number| games::random_game(Preset::Brandubh.rules(), number, 40)).collect();
    let params = ExportParams { shard_rows: Some(100), ..ExportParams::new(Format::Parquet) };
    let summary = export(games.clone(), &params, &out).expect("an export");
    let shards = files(&out.join("train"), "positions-7x7-");
    assert_eq!(summary.files, shards.len() as u64);
    assert!(shards.len() > 3);
    let card = std::fs::read_to_string(out.join("README.md")).expect("a card");
    let mut seen = HashSet::new();
    for shard in &shards {
        let name = shard.file_name().expect("a name").to_string_lossy().into_owned();
        let rows = rows(&out.join("train"), &name);
        assert!(rows.len() < 100 + 40, "{name} has {} rows", rows.len());
        let ids: HashSet<_> = rows.iter().map(|row| numbers(&row["game"])[0] as u64).collect();
        assert!(ids.is_disjoint(&seen), "a game lies in two files");
        seen.extend(ids);
        let bytes = std::fs::read(shard).expect("the file");
        let checksum: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let line = format!("| `train/{name}` | {} | {} | `{checksum}` |", rows.len(), bytes.len());
        assert!(card.contains(&line), "{line} is not in the card");
    }
    assert_eq!(seen.len(), games.len());
    assert!(card.starts_with("---\npretty_name: \"Hnefatafl games\"\nlicense: \"unknown\"\n"), "{card}");
    assert!(card.contains(&format!("num_examples: {}", summary.plies)), "{card}");
    assert!(card.contains("- games by ruleset: brandubh 20"), "{card}");
}

/// Without quotation marks YAML reads such names as a number, as nothing or as true.
#[test]
fn names_of_splits_are_texts_on_the_card() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("dataset");
    let games: Vec<_> = (0..40).map(|number| games::random_game(Preset::Brandubh.rules(), number, 9)).collect();
    let splits = Some("1=0.3,null=0.3,yes=0.4".parse().expect("a split"));
    export(games, &ExportParams { splits, ..ExportParams::new(Format::Parquet) }, &out).expect("an export");
    let card = std::fs::read_to_string(out.join("README.md")).expect("a card");
    for name in ["1", "null", "yes"] {
        assert!(card.contains(&format!("  - split: \"{name}\"\n    path: {name}/")), "{card}");
        assert!(card.contains(&format!("  - name: \"{name}\"\n    num_bytes: ")), "{card}");
    }
}

#[test]
fn texts_are_split_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let games = games::mixed_games();
    for format in [Format::Jsonl, Format::Pgn] {
        let out = folder.path().join(format.as_str());
        let splits: Splits = "a=0.5,b=0.5".parse().expect("a split");
        let params = ExportParams { splits: Some(splits.clone()), shard_rows: Some(5), ..ExportParams::new(format) };
        let summary = export(games.clone(), &params, &out).expect("an export");
        assert_eq!(summary.splits.iter().map(|(_, games)| games).sum::<u64>(), games.len() as u64);
        let written = |name: &str| files(&out.join(name), "games-").len();
        assert_eq!((written("a") + written("b")) as u64, summary.files);
        assert!(summary.files > 4);
        for game in &games {
            let name = ["a", "b"][splits.part_of(GameId::of(game))];
            let found = files(&out.join(name), "games-").iter().any(|file| {
                let text = std::fs::read_to_string(file).expect("text");
                text.contains(&format!("\"game\":{},", game.game))
                    || text.contains(&format!("[Game \"{}\"]", game.game))
            });
            assert!(found, "game {} is not in {name}", game.game);
        }
    }
}

#[test]
fn impossible_wishes_are_refused_by_name() {
    let with = ExportParams::new;
    let splits = Some("train=1".parse().expect("a split"));
    let sample = Filter { sample: 0.0, ..Filter::default() };
    for (params, problem) in [
        (ExportParams { rows: Some(TableKind::Positions), ..with(Format::Jsonl) }, "jsonl holds games"),
        (ExportParams { rows: Some(TableKind::Games), ..with(Format::Npz) }, "npz holds positions"),
        (
            ExportParams { policy: PolicyColumns::Dense, ..with(Format::Pgn) },
            "policy \"dense\": a table of games has no policies; expected a table of positions",
        ),
        (ExportParams { filter: sample, ..with(Format::Npz) }, "sample \"0\""),
        (ExportParams { disjoint: true, ..with(Format::Parquet) }, "expected a split of positions"),
        (ExportParams { splits, disjoint: true, ..with(Format::Jsonl) }, "expected a split of positions"),
    ] {
        let error = params.check().expect_err("impossible").to_string();
        assert!(error.contains(problem), "{error}");
    }
    for (text, problem) in [
        ("train", "\"train\" has no share"),
        ("train=0.5,test=0.4", "the shares sum to 0.9"),
        ("train=0.5,train=0.5", "\"train\" is there twice"),
        ("a/b=1", "the name \"a/b\""),
        ("train=2", "is not from 0 to 1"),
        ("train=NaN", "is not from 0 to 1"),
    ] {
        let error = text.parse::<Splits>().expect_err(text).to_string();
        assert!(error.contains(problem) && error.contains("expected NAME=SHARE"), "{error}");
    }
    for text in ["", "x", "5-3", "1-2-3", "--4"] {
        assert!(text.parse::<Bounds>().is_err(), "{text}");
    }
    assert_eq!("41".parse::<Bounds>().expect("a number"), Bounds { low: Some(41), high: Some(41) });
}
