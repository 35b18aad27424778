//! Games that others recorded: what is written in their formats is read back, and what is wrong is named by its line.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::games;
use hnefi_data::{DataError, Imported, import, recorded_games, replay_line, write_jsonl};
use hnefi_engine::{BoardSize, Encirclement, Move, NamedRules, Ply, Position, Preset, Rules, Side};
use hnefi_record::{Step, walk, words};
use hnefi_run::{GameRecord, decode_games, encode_games};

const HEADING: &str = "game,moves,captures_by_attackers,captures_by_defenders,result";

fn attempt(name: &str, text: &str, rules: Option<Preset>) -> Result<Imported, DataError> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(name);
    std::fs::write(&file, text).expect("written");
    import(&file, rules.map(NamedRules::from))
}

fn read(name: &str, text: &str, rules: Option<Preset>) -> Imported {
    attempt(name, text, rules).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(name: &str, text: &str, rules: Option<Preset>) -> String {
    attempt(name, text, rules).expect_err("not accepted").to_string()
}

/// A game without a ply cap, as people play; where the cap ended it, nobody has won.
fn human_game(preset: Preset, number: u64) -> GameRecord {
    let mut game = games::random_game(preset.rules(), number, 60);
    game.rules = preset.rules();
    game.outcome = game.final_position().expect("legal moves").outcome();
    if game.outcome.is_none() {
        game.resigned = Some(if number.is_multiple_of(2) { Side::Attackers } else { Side::Defenders });
    }
    game
}

/// A game as archives write it: a king's capture is not named.
fn archive_line(game: &GameRecord) -> String {
    let (mut texts, mut counts) = (Vec::new(), [0, 0]);
    let word = |step: Step<'_>| {
        let king = step.before.board().king();
        let captured = step.captured.filter(|&square| Some(square) != king).collect();
        let side = step.before.side_to_move();
        texts.push(words::ply(&Ply { side, mv: step.ply.mv, captured }, &game.rules));
        counts[side.index()] += captured.count();
    };
    walk(game, word).expect("a sound game");
    let [attackers, defenders] = counts;
    let result = match game.winner() {
        Some(Side::Defenders) => "White",
        Some(Side::Attackers) => "Black",
        None => "Draw",
    };
    let resigned = if game.resigned.is_some() { " timeout" } else { "" };
    format!("{},{}{resigned},{attackers},{defenders},{result}", game.game, texts.join(" "))
}

#[test]
fn archives_are_read_back_and_moves_become_policy_targets() {
    for preset in [Preset::Brandubh, Preset::Tablut, Preset::Copenhagen, Preset::Historical] {
        let games: Vec<_> = (0..30).map(|number| human_game(preset, number)).collect();
        let mut text = format!("{HEADING}\n");
        games.iter().for_each(|game| writeln!(text, "{}", archive_line(game)).expect("a string"));
        let imported = read("games.csv", &text, Some(preset));
        assert_eq!(imported.left_out, []);
        assert_eq!(imported.games.len(), games.len());
        for (game, found) in games.iter().zip(&imported.games) {
            found.check().unwrap_or_else(|error| panic!("{error}"));
            let moves = |game: &GameRecord| game.plies.iter().map(|ply| ply.mv).collect::<Vec<_>>();
            assert_eq!(moves(found), moves(game));
            assert_eq!((found.game, found.rules, found.outcome), (game.game, game.rules, game.outcome));
            assert_eq!(found.resigned, game.resigned);
            assert!(found.plies.iter().all(|ply| ply.policy == [(ply.mv, 1.0)] && ply.trains && ply.playouts == 0));
        }
        let again = decode_games("games.hgames", &encode_games(&imported.games)).expect("our own bytes");
        assert_eq!(again, imported.games);
    }
}

#[test]
fn opentafl_games_are_read_with_comments_variations_and_marks() {
    for (preset, number) in [(Preset::Brandubh, 1), (Preset::Fetlar, 2), (Preset::Copenhagen, 3)] {
        let game = human_game(preset, number);
        let mut text = format!(
            "[date:2015.05.04]\n[attackers:Ivar the [Red]]\n[defenders:Astrid]\n[result:{}]\n",
            match game.winner() {
                Some(Side::Attackers) => "1",
                Some(Side::Defenders) => "-1",
                None => "0",
            }
        );
        let rows = Position::start(&game.rules).fen();
        let rows: Vec<_> = rows.split(' ').next().expect("rows").split('/').rev().collect();
        let start = rows.join("/").replace('d', "T").replace('k', "K").replace('a', "t");
        writeln!(text, "[rules:dim:{} name:Test ks:c start:/{start}/]\n", game.rules.size().side()).expect("a string");
        let mut position = Position::start(&game.rules);
        for (index, ply) in game.plies.iter().enumerate() {
            if index % 2 == 0 {
                write!(text, "{}. ", index / 2 + 1).expect("a string");
            }
            let king = position.board().king() == Some(ply.mv.from());
            let (word, mark) = (words::mv(ply.mv, &game.rules), ["", "+", "-", "--"][index % 4]);
            write!(text, "{}{word}{mark} ", if king { "K" } else { "" }).expect("a string");
            if index % 2 == 1 {
                text += "\n[first half, 1. a1-a2|second half\n\nover lines]\n8a.1.1a. ..... a1-a9\n[and a comment]\n\n";
            }
            position.play_unchecked(ply.mv);
        }
        let imported = read("game.otg", &text, Some(preset));
        assert_eq!(imported.left_out, [], "{text}");
        let found = &imported.games[0];
        assert_eq!(found.plies.len(), game.plies.len());
        assert_eq!((found.winner(), found.start.as_deref()), (game.winner(), None));
        assert_eq!(found.players, ["Ivar the [Red]", "Astrid"]);
    }
}

#[test]
fn a_mark_of_the_byte_order_is_passed_over() {
    let pgn = "[Rules \"brandubh\"]\n\n1. d6-c6 d5-e5 *\n";
    let csv = format!("{HEADING}\n7,d6-c6 d5-e5,0,0,Ongoing\n");
    let json = r#"{"attackers": "Ivar", "moves": "d6-c6 d5-e5"}"#;
    for (name, text) in [
        ("a.pgn", pgn),
        ("a.csv", &csv),
        ("a.otg", "[attackers:Ivar]\n1. d6-c6 d5-e5\n"),
        ("a.json", json),
        ("a.jsonl", json),
    ] {
        let imported = read(name, &format!("\u{feff}{text}"), Some(Preset::Brandubh));
        assert_eq!((imported.games.len(), imported.left_out.len()), (1, 0), "{name}: {:?}", imported.left_out);
        assert_eq!(imported.games[0].plies.len(), 2, "{name}");
        if !text.contains("Rules") && !name.ends_with("csv") {
            assert_eq!(imported.games[0].players[0], "Ivar", "{name}");
        }
    }
}

#[test]
fn opentafl_starts_and_resignations_are_understood() {
    let text = "[rules:dim:7 atkf:n start:/3t3/3t3/3T3/ttTKTtt/3T3/3t3/3t3/]\n1. d3-c3xTd4/e4 d2-e2\n2. ---\n";
    // The word names captures that are not made, which shows that letters before squares are read as pieces.
    let imported = read("game.otg", text, Some(Preset::Brandubh));
    assert!(imported.left_out[0].problem.contains("names other captures"), "{:?}", imported.left_out);
    let imported = read("game.otg", &text.replace("xTd4/e4", ""), Some(Preset::Brandubh));
    let game = &imported.games[0];
    assert_eq!(game.start.as_deref(), Some("3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 d"));
    assert_eq!(game.resigned, Some(Side::Defenders), "the defenders are to move after two moves, and give up");
    // The same start upside down, as a position beside other rules, with a move behind its number.
    let rows = "/3t3/3t3/3T3/ttTKTtt/3T3/3t3/7/";
    let inverted = "/7/3t3/3T3/ttTKTtt/3T3/3t3/3t3/";
    for setup in [
        format!("[rules:dim:7 start:{rows}]"),
        format!("[rules:dim:7 starti:{inverted}]"),
        format!("[rules:dim:7 start:/3t3/3t3/3T3/ttTKTtt/3T3/3t3/3t3/]\n[position:{rows}]"),
    ] {
        // In the specification's example the address of a variation has no period at its end.
        let text = format!("{setup}\r\n1.d6-c6 d5-e5\r\n1b.3.1a ..... d5-f5\r\n2. c6-c5 ---\r\n");
        let imported = read("game.otg", &text, Some(Preset::Brandubh));
        assert_eq!(imported.left_out, [], "{setup}");
        let game = &imported.games[0];
        assert_eq!(game.start.as_deref(), Some("7/3a3/3d3/aadkdaa/3d3/3a3/3a3 a"), "{setup}");
        assert_eq!((game.plies.len(), game.resigned), (3, Some(Side::Defenders)), "{setup}");
    }
}

#[test]
fn people_who_play_on_keep_their_game() {
    // To and fro: the third occurrence of the start ends a game of Brandubh, and here people go on.
    let round = "d2-c2 d3-c3 c2-d2 c3-d3";
    let text = format!("{HEADING}\n7,{round} {round} {round},0,0,Draw\n8,{round},0,0,Ongoing\n");
    let imported = read("games.csv", &text, Some(Preset::Brandubh));
    assert_eq!((imported.games.len(), imported.played_on, imported.agreed_draws), (2, 1, 1));
    assert_eq!(imported.games[0].plies.len(), 12);
    assert_eq!(imported.games[0].rules.preset(), None);
    assert_eq!(imported.games[1].rules, Preset::Brandubh.rules());
    assert!(!imported.games[0].is_finished());
    // The last gap of the ring closes, and the king moves on within.
    let ring = "[FEN \"7/2aa3/4a2/1a1kda1/2a1a2/3a3/7 a\"]\n\n1. c6-c5 d4-d5";
    let imported = read("games.pgn", &format!("{ring} *\n{ring} 0-1\n"), Some(Preset::Brandubh));
    assert_eq!((imported.games.len(), imported.played_on, imported.left_out), (2, 2, Vec::new()));
    let without = Rules { encirclement: Encirclement::Off, ..Preset::Brandubh.rules() };
    assert_eq!(imported.games[0].rules, without, "only what ended the game is left out of its rules");
    assert_eq!(imported.games[1].winner(), Some(Side::Defenders));
    let closed = ring.trim_end_matches(" d4-d5");
    let imported = read("games.pgn", &format!("{closed}\n{closed} 0-1\n"), Some(Preset::Brandubh));
    assert_eq!((imported.games[0].winner(), imported.played_on), (Some(Side::Attackers), 1));
    // A king who is captured has been captured.
    let captured = "[FEN \"3a3/4ka1/3d3/7/7/3a3/1a5 a\"]\n\n1. d7-d6 d5-d4 *";
    let imported = read("games.pgn", captured, Some(Preset::Brandubh));
    assert!(imported.left_out[0].problem.contains("the game is over (attackers, king_captured)"), "{imported:?}");
}

/// Two games of two plies, the first one won by the defenders: as R 4.2, pandas 3.1 and Excel write them into tables.
#[test]
fn tables_of_other_tools_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tables");
    let files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("tables").map(|file| file.expect("one").path()).collect();
    assert_eq!(files.len(), 10);
    for file in files {
        let imported = import(&file, Some(Preset::Brandubh.into())).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(imported.left_out, []);
        let found: Vec<_> = imported.games.iter().map(|game| (game.game, game.plies.len(), game.winner())).collect();
        let second = if file.ends_with("no_heading.csv") { 2 } else { 100_000 };
        assert_eq!(found, [(1, 2, Some(Side::Defenders)), (second, 2, None)], "{}", file.display());
    }
    // Old games name no captures; then a count of those made is right, too.
    let unnamed = |count| format!("{HEADING}\n1,d1-d3 e5-e2 g1-g3 f4-c4 g3-e3,{count},0,Ongoing\n");
    let read_with = |count| read("games.csv", &unnamed(count), Some(Preset::Copenhagen)).games.len();
    assert_eq!([0, 1, 2].map(read_with), [1, 1, 0]);
    // A quotation mark that never ends costs its own game.
    let text = format!("{HEADING}\n1,\"d6-c6,0,0,White\n2,d6-c6,0,0,White\n3,d6-c6,0,0,White\n");
    let imported = read("games.csv", &text, Some(Preset::Brandubh));
    assert_eq!((imported.games.len(), imported.left_out.len(), imported.left_out[0].line), (2, 1, 2));
}

#[test]
fn games_in_json_are_read() {
    // What hnefatafl.org's server sends, a file of aagenielsen.dk's archive, and our own.
    let site = r#"{"id": 340282366920938463463374607431768211455, "attackers": "Ivar", "defenders": "Astrid", "dim": 11,
        "start": "/3AAAAA3/5A5/11/A4D4A/A3DDD3A/AA1DDKDD1AA/A3DDD3A/A4D4A/11/5A5/3AAAAA3", "time_control": null,
        "moves": "h1-h3 g5-g4 ---", "rated": true, "messages": []}"#;
    let archive = r#"{"WhiteSidePlayerName": "Astrid", "BlackSidePlayerName": "Ivar", "AageGameTypeKey": 16,
        "Moves": ["h1-h3", "g5-g4", "resigned"], "WhoWon": "White"}"#;
    let own = r#"{"rules": "copenhagen", "moves": ["h1h3", "g5g4"], "attackers": "Ivar", "defenders": "Astrid",
        "status": "defenders", "reason": "resignation", "game": 7}"#;
    for text in [site, archive, own] {
        for (name, text) in [("a.json", text.to_owned()), ("a.jsonl", text.replace('\n', " ") + "\n\n")] {
            let imported = read(name, &text, Some(Preset::Copenhagen));
            assert_eq!(imported.left_out, [], "{text}");
            let game = &imported.games[0];
            assert_eq!((game.plies.len(), game.resigned, &game.start), (2, Some(Side::Attackers), &None), "{text}");
            assert_eq!((game.players[0].as_str(), game.players[1].as_str()), ("Ivar", "Astrid"));
        }
    }
    // A line for `hnefi analyse`, and another program's number beside ours.
    for (text, number) in [
        (r#"{"id": "7", "rules": "brandubh", "moves": ["d6f6"]}"#, 0),
        (r#"{"id": 7, "rules": "brandubh", "moves": ["d6f6"], "handicap": null}"#, 7),
        (r#"{"id": 7, "game": 3, "rules": "brandubh", "moves": ["d6f6"]}"#, 3),
    ] {
        let imported = read("a.json", text, None);
        assert_eq!(imported.left_out, [], "{text}");
        assert_eq!(imported.games[0].game, number, "{text}");
    }
    for (text, problem) in [
        ("{}", "missing field `moves`"),
        (r#"{"moves": ["d6c6"]}"#, "names no rules"),
        (r#"{"rules": "chess", "moves": []}"#, "unknown ruleset"),
        (r#"{"rules": "brandubh", "moves": [], "status": "green"}"#, "status \"green\""),
    ] {
        let imported = read("a.jsonl", &format!("\n{text}\n"), None);
        let found = imported.left_out[0].to_string();
        assert!(found.contains("a.jsonl, line 2: ") && found.contains(problem), "{found}");
    }
}

#[test]
fn a_ply_cap_counts_whoever_names_the_rules() {
    // The next game has none.
    let pgn =
        "[PlyCap \"2\"]\n[Result \"1/2-1/2\"]\n[Termination \"ply_cap\"]\n\n1. d6-c6 d5-e5 1/2-1/2\n\n1. d6-f6 *\n";
    let json = r#""moves": ["d6c6", "d5e5"], "ply_cap": 2, "status": "draw"}"#;
    for (name, named, unnamed, caps) in [
        ("a.pgn", format!("[Rules \"brandubh\"]\n{pgn}"), pgn.to_owned(), &[2, 0][..]),
        ("a.json", format!("{{\"rules\": \"brandubh\", {json}"), format!("{{{json}"), &[2]),
    ] {
        let [named, unnamed] = [named, unnamed].map(|text| read(name, &text, Some(Preset::Brandubh)));
        assert_eq!(unnamed, named);
        assert_eq!((unnamed.left_out.len(), unnamed.agreed_draws), (0, 0), "{name}");
        let found: Vec<u16> = unnamed.games.iter().map(|game| game.rules.ply_cap).collect();
        assert_eq!(found, caps, "{name}");
    }
}

#[test]
fn opentafl_rules_that_differ_are_told() {
    // Examples of the notation's specification.
    let diamond = "/3ttttt3/5t5/11/t4T4t/t3TTT3t/tt1TTKTT1tt/t3TTT3t/t4T4t/11/5t5/3ttttt3/";
    let fetlar = format!("dim:11 atkf:n start:{diamond}");
    let copenhagen = format!("dim:11 atkf:n sw:s efe:y start:{diamond}");
    let brandub = "dim:7 ks:n cenhe: cenh: start:/3t3/3t3/3T3/ttTKTtt/3T3/3t3/3t3/".to_owned();
    for (rules, preset, expected) in [
        (&fetlar, Preset::Fetlar, ""),
        (&copenhagen, Preset::Copenhagen, ""),
        (&fetlar, Preset::Copenhagen, "sw:n, not sw:s; efe:n, not efe:y"),
        (&format!("tfr:w {fetlar}"), Preset::Fetlar, "tfr:w, not tfr:d"),
        (
            &format!("esc:e cor: ber:c ka:n {fetlar}"),
            Preset::Fetlar,
            "rules record, ber: found c; expected n, because berserk moves are not played here",
        ),
        (
            &format!("esc:e cor: ka:n {fetlar}"),
            Preset::Fetlar,
            "esc:e, not esc:c; ka:n, not ka:y; cor:, not cor:default",
        ),
        (&brandub, Preset::Brandubh, "ks:w, not ks:c; cenh:, not cenh:t; cenhe:, not cenhe:tTK"),
        (&"".to_owned(), Preset::Brandubh, ""),
    ] {
        let moves = match (preset, rules.contains("atkf:n")) {
            (Preset::Brandubh, _) => "d6-c6 d5-e5",
            _ => "g5-g4 h1-h3",
        };
        let imported = read("a.otg", &format!("[attackers:Ivar]\n[rules:{rules}]\n\n1. {moves}\n"), Some(preset));
        assert_eq!((imported.games.len(), &imported.left_out), (1, &Vec::new()), "{rules}");
        let found: Vec<_> = imported.differing.iter().map(ToString::to_string).collect();
        let told = found.first().and_then(|found| found.rsplit_once("read by: ")).map_or("", |(_, told)| told);
        assert_eq!((told, found.len()), (expected, usize::from(!expected.is_empty())), "{rules}");
    }
}

/// Readers of a record find the documented notation in it, and none for the standard start.
#[test]
fn starts_are_kept_in_one_notation() {
    let standard = "3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a";
    let foreign = "/3t3/3t3/3T3/ttT1Ktt/3T3/3t3/7/";
    let own = "7/3a3/3d3/aad1kaa/3d3/3a3/3a3 a";
    for (fen, kept) in [(standard, None), (foreign, Some(own)), (own, Some(own))] {
        let json = format!(r#"{{"rules": "brandubh", "fen": "{fen}", "moves": ["b4b5"]}}"#);
        let pgn = format!("[Rules \"brandubh\"]\n[FEN \"{fen}\"]\n\n1. b4-b5 *\n");
        for (name, text) in [("a.json", json), ("a.pgn", pgn)] {
            let imported = read(name, &text, None);
            assert_eq!(imported.left_out, [], "{text}");
            assert_eq!(imported.games[0].start.as_deref(), kept, "{text}");
        }
    }
}

#[test]
fn faults_are_named_by_line_and_the_other_games_are_read() {
    let good = "1,d2-c2 d5-e5,0,0,White";
    for (bad, words) in [
        ("2,d2-c2 d2-c2,0,0,White", &["game 2: ply 2", "d2"][..]),
        ("2,d2-c2 hello,0,0,White", &["game 2: ply 2", "hello"]),
        ("2,d2-c2xd5,0,1,White", &["ply 1", "captures nothing"]),
        ("2,d2-c2,3,0,White", &["captures by the attackers are \"3\"; the moves name 0"]),
        ("2,d2-c2,0,0,Green", &["result \"Green\"", "expected White, Black"]),
        ("two,d2-c2,0,0,White", &["game \"two\"", "whole number"]),
        ("2,d2-c2,0,White", &["4 fields; expected 5"]),
    ] {
        // Nothing follows for the others from a first line that is wrong.
        for text in [format!("{HEADING}\n{bad}\n\n{good}\n{good}\n"), format!("{HEADING}\n{bad},\n{good}\n{good}\n")] {
            let imported = read("games.csv", &text, Some(Preset::Brandubh));
            assert_eq!((imported.games.len(), imported.left_out.len()), (2, 1), "{text}");
        }
        let imported = read("games.csv", &format!("{HEADING}\n{good}\n{bad}\n\n{good}\n"), Some(Preset::Brandubh));
        assert_eq!((imported.games.len(), imported.left_out.len()), (2, 1), "{bad}");
        let fault = imported.left_out[0].to_string();
        assert!(fault.contains("games.csv, line 3: "), "{fault}");
        for word in words {
            assert!(fault.contains(word), "{bad}: {fault} does not say {word}");
        }
    }
    let over = "[Rules \"brandubh\"]\n[FEN \"7/7/5a1/7/7/7/1k5 d\"]\n\n1... b1-a1 0-1\n";
    assert_eq!(read("games.pgn", over, None).games[0].winner(), Some(Side::Defenders));
    let imported = read("games.pgn", &over.replace("0-1", "1-0"), None);
    assert!(imported.left_out[0].problem.contains("the board says 0-1"), "{:?}", imported.left_out);
}

#[test]
fn files_of_another_kind_are_refused() {
    let brandubh = Some(Preset::Brandubh);
    assert!(
        refused("games.txt", "", brandubh)
            .contains("expected a file of games: .csv, .json, .jsonl, .otg, .parquet or .pgn")
    );
    assert!(refused("games.csv", "", brandubh).contains("the file is empty"));
    assert!(refused("games.csv", "a,b,c\n", brandubh).contains("line 1 is \"a,b,c\"; expected a heading"));
    assert!(refused("games.csv", HEADING, None).contains("--rules brandubh"));
    let missing =
        import(Path::new("no/such/games.csv"), brandubh.map(NamedRules::from)).expect_err("not there").to_string();
    assert!(missing.starts_with("no/such/games.csv: "), "{missing}");
    for (text, problem) in [
        ("", "no numbered moves"),
        ("[open\n1. d2-c2", "never closed"),
        ("[rules:dim:9]\n1. d2-c2", "a board of 9x9"),
        ("[rules:start:/3n3/]\n1. d2-c2", "1 rows; expected 7"),
        ("[result:2]\n1. d2-c2", "result \"2\""),
        ("1. d2=c2", "berserk"),
    ] {
        let imported = read("game.otg", text, brandubh);
        assert!(imported.left_out[0].problem.contains(problem), "{text}: {:?}", imported.left_out);
    }
}

/// The public archives, where they are at hand.
#[test]
#[ignore = "needs recorded games, which are other people's data (HNEFI_GAMES)"]
fn every_recorded_game_is_imported_and_replays() {
    let folder = PathBuf::from(std::env::var_os("HNEFI_GAMES").expect("HNEFI_GAMES, the folder of games.csv"));
    let (mut games, mut plies, mut played_on) = (0, 0, 0);
    for (file, preset) in [
        ("games.csv", Preset::Copenhagen),
        ("games_test.csv", Preset::Copenhagen),
        ("games_brandubh.csv", Preset::Brandubh),
        ("games_brandubh_test.csv", Preset::Brandubh),
    ] {
        let imported = import(&folder.join(file), Some(preset.into())).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(imported.left_out, []);
        played_on += imported.played_on;
        for game in imported.games {
            let relaxed = Rules { ply_cap: 0, ..game.rules };
            assert_eq!(relaxed, game.rules, "people know no ply cap");
            let mut line = Vec::new();
            write_jsonl([game.clone()], &mut line).unwrap_or_else(|error| panic!("{file}: {error}"));
            let answer = replay_line(std::str::from_utf8(&line).expect("text"));
            assert_eq!((answer.error, answer.plies.len()), (None, game.plies.len()), "{file}, game {}", game.game);
            games += 1;
            plies += game.plies.len();
        }
    }
    assert_eq!((games, plies), (1752 + 525, 87_274 + 11_226));
    assert!(played_on < 20, "{played_on} games were played on");
}

/// The web board opens archives without being told what they hold.
#[test]
fn a_game_is_read_by_the_ruleset_it_was_played_by() {
    let folder = tempfile::tempdir().expect("a folder");
    let mixed = "1,d1-d3 e5-e2 g1-g3 f4-c4 g3-e3xe2,1,0,Ongoing\n2,d6-c6 d5-e5,0,0,White\n3,d2-c2 hello,0,0,White\n";
    let path = folder.path().join("games.csv");
    std::fs::write(&path, format!("{HEADING}\n{mixed}")).expect("a file");
    let read = |presets: &[Preset]| {
        let rules: Vec<NamedRules> = presets.iter().copied().map(NamedRules::from).collect();
        let games = recorded_games(&path, &rules).unwrap_or_else(|error| panic!("{error}"));
        let preset =
            |game: Result<GameRecord, DataError>| game.map(|game| game.rules.preset()).map_err(|e| e.to_string());
        games.map(preset).collect::<Vec<_>>()
    };
    let found = read(&[Preset::Copenhagen, Preset::Tablut, Preset::Brandubh]);
    assert_eq!(found[..2], [Ok(Some(Preset::Copenhagen)), Ok(Some(Preset::Brandubh))]);
    let problem = found[2].as_ref().expect_err("no move");
    assert!(problem.starts_with("line 4: game 3: ply 2") && problem.contains("hello"), "{problem}");
    assert!(read(&[Preset::Brandubh])[0].is_err());
    let Err(other) = recorded_games(&folder.path().join("games.txt"), &[]) else { panic!("not a file of games") };
    assert!(other.to_string().contains("expected a file of games"), "{other}");
}

#[test]
fn lines_of_ones_own_keep_their_policies_and_values() {
    let fields = r#""moves": ["d6c6", "d5e5"], "policy": [[["d6b6", 1.0]], []],
        "searched": [[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]]"#
        .replace('\n', "");
    let named = format!(r#"{{"rules": "brandubh", {fields}}}"#);
    for (text, rules) in [(named, None), (format!("{{{fields}}}"), Some(Preset::Brandubh))] {
        let imported = read("a.jsonl", &text, rules);
        assert_eq!(imported.left_out, []);
        let plies = &imported.games[0].plies;
        let mv = Move::parse("d6b6", BoardSize::SEVEN).expect("a move");
        assert_eq!((&plies[0].policy[..], plies[0].trains, plies[1].trains), (&[(mv, 1.0)][..], true, false));
        assert_eq!(plies[0].searched.win, 0.5);
    }
    let seven = read("a.jsonl", r#"{"rules": "brandubh", "moves": 7}"#, None);
    assert!(seven.left_out[0].to_string().contains("moves are a list of texts, or one text"), "{:?}", seven.left_out);
}
