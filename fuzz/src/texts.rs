//! Games as other programs write them, and lines of moves to be replayed.

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use hnefi_data::{BoundedLines, ReplayAnswer, import, recorded_games, replay_line};
use hnefi_engine::{NamedRules, Preset};
use hnefi_record::{PgnReader, json_line, pgn};
use tempfile::TempDir;

use crate::games::texts;
use crate::{sample, within};

/// The memory that a text of this many bytes may take: a word of two letters becomes a ply with its policy.
fn allowed(text: usize) -> usize {
    (4 << 20) + 400 * text
}

/// Where inputs become files; in memory where the system has a place for that.
static FOLDER: LazyLock<TempDir> = LazyLock::new(folder);

fn folder() -> TempDir {
    let memory = PathBuf::from("/dev/shm");
    let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    folder.expect("a folder for files")
}

/// Imports the input as a file of this kind: whatever is taken in keeps the rules and can be written.
fn imported(ending: &str, preset: Option<Preset>, text: &[u8]) {
    let rules = preset.map(NamedRules::from);
    let path = FOLDER.path().join(format!("games.{ending}"));
    fs::write(&path, text).expect("room for a file");
    let Ok(imported) = within(allowed(text.len()), || import(&path, rules)) else { return };
    for game in &imported.games {
        game.check().unwrap_or_else(|error| panic!("{error}"));
        texts(game);
    }
    for left_out in &imported.left_out {
        assert!(left_out.line > 0 && !left_out.problem.is_empty(), "{left_out}");
    }
    // Read one by one it is the same.
    let games = recorded_games(&path, rules.as_slice()).unwrap_or_else(|error| panic!("{error}"));
    let good: Vec<_> = games.filter_map(Result::ok).collect();
    assert_eq!(good.len(), imported.games.len());
}

/// PGN-like text: what is read is written and read as the same.
pub fn pgn(input: &[u8]) {
    let games = within(allowed(input.len()), || PgnReader::new(input).filter_map(Result::ok).collect::<Vec<_>>());
    for game in &games {
        game.check().unwrap_or_else(|error| panic!("{error}"));
        texts(game);
    }
    imported("pgn", None, input);
    imported("pgn", Some(Preset::Brandubh), input);
    if let Ok(text) = std::str::from_utf8(input) {
        tree(text);
    }
}

/// A game with variations and comments: what is read is written and read as the same, with or without a ruleset that is
/// given.
fn tree(text: &str) {
    for rules in [&[][..], &[Preset::Brandubh.rules()]] {
        let Ok(tree) = within(allowed(text.len()), || pgn::read_tree(text, rules)) else { continue };
        let written = pgn::tree_text(&tree).unwrap_or_else(|error| panic!("{error}"));
        let read = pgn::read_tree(&written, &[]).unwrap_or_else(|error| panic!("{error}: {written}"));
        assert_eq!((&read.moves, &read.comment), (&tree.moves, &tree.comment), "{written}");
        assert_eq!(read.record.ending(), tree.record.ending(), "{written}");
    }
}

/// The public archives' tables, the first byte being the ruleset.
pub fn csv(input: &[u8]) {
    let Some((&first, text)) = input.split_first() else { return };
    imported("csv", Some(Preset::ALL[usize::from(first) % Preset::ALL.len()]), text);
}

/// OpenTafl's records and games in JSON, the first byte being the ruleset.
pub fn opentafl(input: &[u8]) {
    let Some((&first, text)) = input.split_first() else { return };
    let preset = Some(Preset::ALL[usize::from(first) % Preset::ALL.len()]);
    ["otg", "json", "jsonl"].into_iter().for_each(|ending| imported(ending, preset, text));
}

/// Lines to be replayed: every line gets an answer of one line, and the moves of an answer are legal.
pub fn replay(input: &[u8]) {
    let mut answers = Vec::new();
    let summary = within(allowed(input.len()), || hnefi_data::replay(input, &mut answers));
    let summary = summary.unwrap_or_else(|error| panic!("{error}"));
    let lines: Vec<String> = BoundedLines::new(answers.as_slice(), usize::MAX - 1).filter_map(Result::ok).collect();
    assert_eq!(lines.len() as u64, summary.games);
    for line in &lines {
        let _: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    }
    for line in String::from_utf8_lossy(input).lines().take(20) {
        again(line);
    }
}

/// A line whose illegal moves are left out is answered the same, and without an error.
fn again(line: &str) {
    let ReplayAnswer { plies, error } = replay_line(line);
    let Ok(mut request) = serde_json::from_str::<serde_json::Value>(line) else {
        assert!(error.is_some());
        return;
    };
    if !plies.is_empty() {
        request["moves"] = plies.iter().map(|ply| ply.mv.as_str()).collect();
        let answer = replay_line(&request.to_string());
        assert_eq!((answer.plies, answer.error), (plies, None), "{request}");
    }
}

pub fn pgn_seeds() -> Vec<Vec<u8>> {
    let write = |game: &hnefi_record::GameRecord| pgn::text(game, Some(3)).expect("a game").into_bytes();
    let mut seeds: Vec<Vec<u8>> = sample::games().iter().map(write).collect();
    seeds.push(sample::games().iter().take(2).flat_map(write).collect());
    seeds.extend(
        [
            "[Rules \"brandubh\"]\n\n1. d6-c6 {a comment\nover lines} d5-b5 $2 2... ; the rest\nc6-c5xb5 1-0\n",
            "[Rules \"brandubh\"]\n[FEN \"3a3/3a3/3d3/aadkdaa/3d3/3a3/7 a\"]\n[PlyCap \"9\"]\n\nd6f6 *\n",
            "[Rules \"brandubh\"]\n\n{before} 1. d6-c6! (1. d6-f6 $3 {one} (1. d6-e6)) 1... d5-b5?? {two} *\n",
            "1. d6-c6 timeout 17 d5-b5",
            "[Event\n\"a\"][Site \"b\"]\r\r% c\r1.d6-c6$3(1. d6-e6!)d5-b5 \u{bd}\u{2013}\u{bd}\n1. d6-c6 {never\n\n[A \"b\"]\n",
            "[Rules \"tablut\"]\n[Attackers \"\\\"a\\\" \\\\\"]\n[WouldHaveResigned \"defenders\"]\n0-1",
        ]
        .map(|text| text.as_bytes().to_vec()),
    );
    seeds
}

/// The moves of a game of Brandubh as archives write them.
fn words(separator: &str) -> String {
    let game = sample::game(Preset::Brandubh.rules(), 3, 8);
    let text = pgn::text(&game, None).expect("a game");
    let words = text.split_whitespace().filter(|word| word.contains('-') && word.len() > 3);
    words.collect::<Vec<_>>().join(separator)
}

pub fn csv_seeds() -> Vec<Vec<u8>> {
    let head = "game,moves,captures_by_attackers,captures_by_defenders,result\n";
    let moves = words(" ");
    let mut lines = vec!["13,d6-c6 d5-b5 c6-c5xb5,1,0,Black\n14,d6-c6 timeout,0,0,White\n\n".to_owned()];
    lines.push(format!("1,{moves},0,0,Draw\n2,{moves},0,0,Ongoing\n"));
    lines.push("7,,0,0,\n".to_owned());
    lines.push("8,\"d6-c6\nd5-b5, 'resigned'\",NA,1e+00,Black\n9,\"d6-c6,0,0,\n".to_owned());
    let mut seeds: Vec<Vec<u8>> = lines.iter().map(|line| format!("\u{5}{head}{line}").into_bytes()).collect();
    seeds.push("\u{5}sep=;\r;Game;Moves;Result\r1;7;d6-c6;White\r".as_bytes().to_vec());
    seeds.push("\u{5}d6-c6\t0\t0\tBlack\n".as_bytes().to_vec());
    seeds.push("\u{5}\u{feff}moves,game,result\nd6-c6,1,White\n".as_bytes().to_vec());
    seeds
}

pub fn opentafl_seeds() -> Vec<Vec<u8>> {
    let moves: Vec<String> = words(" ").split(' ').map(str::to_owned).collect();
    let turns: String =
        moves.chunks(2).zip(1..).map(|(turn, number)| format!("{number}. {}\n[a|b]\n", turn.join(" "))).collect();
    let rules = "[rules:dim:7 atkf:y start:/3t3/3t3/3T3/ttTKTtt/3T3/3t3/3t3/]";
    [
        format!("\u{5}[attackers:one]\n[defenders:two]\n[result:-1]\n{rules}\n\n{turns}"),
        format!("\u{5}{rules}\n\n1. d6-c6 d5-b5\n[]\n2. ---\n"),
        "\u{5}[position:/7/3t3/3T3/ttTKTtt/3T3/3t3/3t3/]\n[rules:dim:7 ks:n starti:/7/3k3/7/7/7/7/7/]\n1.d6-c6\n1b.2.1a ..... d5-e5".to_owned(),
        format!("\u{5}dim:7 atkf:n\n1a.1. d6-c6\n1. d5-b5 ... d6-c6\n[x[y]z]\n{}", moves.join(" ")),
    ]
    .into_iter()
    .chain(JSON.map(|game| format!("\u{5}{game}")))
    .map(String::into_bytes)
    .collect()
}

/// Games in JSON, ours and others'.
const JSON: [&str; 3] = [
    r#"{"rules": "brandubh", "moves": ["d6c6"], "status": "attackers", "reason": "resignation"}"#,
    r#"{"id": 7, "dim": 7, "start": "/3A3/3A3/3D3/AADKDAA/3D3/3A3/3A3", "moves": "d6-c6 d5-e5 ---"}"#,
    r#"{"WhiteSidePlayerName": "a", "Moves": ["d6-c6", "resigned"], "WhoWon": "White"}"#,
];

pub fn replay_seeds() -> Vec<Vec<u8>> {
    let games = sample::games();
    let mut seeds: Vec<Vec<u8>> = games
        .iter()
        .map(|game| {
            // Without the fields that are passed over it is short.
            let line = json_line(game, None).expect("a game");
            let line: serde_json::Value = serde_json::from_str(&line).expect("JSON");
            let kept = ["rules", "fen", "ply_cap", "moves"].map(|key| (key.to_owned(), line[key].clone()));
            serde_json::Value::Object(kept.into_iter().collect()).to_string().into_bytes()
        })
        .collect();
    seeds.push(b"{\"rules\":\"brandubh\",\"moves\":[\"d6f6\",\"d6f6\"]}\n\n{}\nno JSON\n".to_vec());
    seeds.push(b"{\"rules\":\"brandubh\",\"fen\":\"3a3/3a3/3d3/aadkdaa/3d3/3a3/7 a\",\"moves\":[]}".to_vec());
    seeds
}
