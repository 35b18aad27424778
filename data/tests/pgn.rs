//! Game texts: what is written is read back, what people write is read, and what is wrong is named by its line.

mod games;

use hnefi_data::{PgnReader, TextError, write_pgn};
use hnefi_engine::{Outcome, Reason, Side};
use hnefi_run::GameRecord;

fn read(text: &str) -> Vec<Result<GameRecord, TextError>> {
    PgnReader::new(text.as_bytes()).collect()
}

fn read_one(text: &str) -> GameRecord {
    let mut found = read(text);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0).unwrap_or_else(|error| panic!("{error}"))
}

fn error_of(text: &str) -> String {
    let error = read(text).into_iter().find_map(Result::err);
    error.unwrap_or_else(|| panic!("accepted: {text}")).to_string()
}

#[test]
fn written_games_are_read_back() {
    let games = games::mixed_games();
    let mut text = Vec::new();
    let summary = write_pgn(games.clone(), &mut text).expect("the games are sound");
    assert_eq!(summary.games, games.len() as u64);
    let text = String::from_utf8(text).expect("text");
    assert!(text.lines().filter(|line| !line.starts_with('[')).all(|line| line.len() <= 100), "lines stay short");
    let found = read(&text);
    assert_eq!(found.len(), games.len());
    for (game, found) in games.into_iter().zip(found) {
        let found = found.unwrap_or_else(|error| panic!("game {}: {error}", game.game));
        let moves = |game: &GameRecord| game.plies.iter().map(|ply| ply.mv).collect::<Vec<_>>();
        assert_eq!(moves(&found), moves(&game));
        // Policies and values are not in the text; all else is.
        assert_eq!(GameRecord { plies: Vec::new(), ..found }, GameRecord { plies: Vec::new(), ..game });
    }
}

#[test]
fn a_game_looks_as_documented() {
    let game = read_one("[Rules \"brandubh\"]\n\nd2c2 d5e5 d6c6 e5e6 1-0");
    assert_eq!((game.resigned, game.winner()), (Some(Side::Defenders), Some(Side::Attackers)));
    let mut text = Vec::new();
    write_pgn([game], &mut text).expect("the game is sound");
    let expected = r#"[Game "0"]
[GameId "24f002cfdd457d48"]
[Seed "0"]
[Rules "brandubh"]
[Attackers "?"]
[Defenders "?"]
[Result "1-0"]
[Termination "resignation"]

1. d2-c2 d5-e5 2. d6-c6 e5-e6 1-0

"#;
    assert_eq!(String::from_utf8(text).expect("text"), expected);
}

#[test]
fn comments_numbers_and_annotations_are_passed_over() {
    let text = "[Rules \"brandubh\"]\n[Attackers \"Ivar\"]\n\n1.d2-c2 {a comment\n[over] lines} d5e5 $1\n2... d6-c6 ; 9. a1a2\n*\n";
    let game = read_one(text);
    assert_eq!(game.plies.len(), 3);
    assert_eq!(game.players, ["Ivar", "?"]);
    assert!(!game.is_finished());
}

#[test]
fn named_captures_must_be_the_captures_made_but_the_king_may_be_left_out() {
    let from = |fen: &str, word: &str| format!("[Rules \"brandubh\"]\n[FEN \"{fen}\"]\n\n1. {word} *");
    let man = "7/3k3/a6/1da4/7/7/7 a";
    for word in ["a5a4", "a5-a4", "a5-a4xb4"] {
        assert_eq!(read_one(&from(man, word)).plies.len(), 1);
    }
    let error = error_of(&from(man, "a5-a4xc4"));
    assert!(error.contains("line 4: ply 1") && error.contains("it captures b4"), "{error}");
    let error = error_of(&from(man, "a5-a6xb4"));
    assert!(error.contains("captures nothing"), "{error}");
    let king_and_man = "3a3/4ka1/3d3/7/7/3a3/1a5 a";
    for word in ["d7-d6xd5", "d7-d6xd5xe6", "d7-d6xe6/d5"] {
        assert_eq!(read_one(&from(king_and_man, word)).winner(), Some(Side::Attackers));
    }
    assert!(error_of(&from(king_and_man, "d7-d6xe6")).contains("it captures d5 e6"));
}

#[test]
fn the_board_has_the_last_word_on_the_end() {
    let escape = "[Rules \"brandubh\"]\n[FEN \"7/7/5a1/7/7/7/1k5 d\"]\n\n1... b1-a1";
    let won = Some(Outcome::Win { side: Side::Defenders, reason: Reason::KingEscaped });
    assert_eq!(read_one(escape).outcome, won);
    assert_eq!(read_one(&format!("{escape} 0-1")).outcome, won);
    let error = error_of(&format!("{escape} 1-0"));
    assert!(error.contains("the result is 1-0, the board says 0-1"), "{error}");
    let error = error_of(&format!("[Termination \"king_captured\"]\n{escape} 0-1"));
    assert!(error.contains("the board says king_escaped"), "{error}");
}

#[test]
fn an_error_names_its_line_and_the_next_game_is_read() {
    let good = "[Rules \"tablut\"]\n\n*\n";
    for (bad, words) in [
        ("1. a1a2 *\n", &["line 1", "Rules"][..]),
        ("[Rules \"chess\"]\n*\n", &["line 1", "unknown ruleset \"chess\"", "fetlar"]),
        ("[Rules \"brandubh\"]\n[FEN \"9/9 a\"]\n*\n", &["line 2", "FEN"]),
        ("[Rules \"brandubh\"]\n[PlyCap \"many\"]\n*\n", &["line 2", "PlyCap", "whole number"]),
        ("[Rules \"brandubh\"]\n[PlyCap \"70000\"]\n*\n", &["70000", "65535"]),
        ("[Rules \"brandubh\"]\n[WouldHaveResigned \"white\"]\n*\n", &["line 2", "attackers or defenders"]),
        ("[Rules brandubh]\n*\n", &["line 1", "is no tag"]),
        ("[Rules \"own\"]\n[Options \"{}\"]\n*\n", &["line 2", "Options"]),
        ("[Rules \"brandubh\"]\n\nd2c2\nd2c2 *\n", &["line 4", "ply 2", "d2c2"]),
        ("[Rules \"brandubh\"]\n\nd2c2 hello *\n", &["line 3", "ply 2", "hello"]),
        ("[Rules \"brandubh\"]\n\nd2c2 * d5e5\n", &["line 3", "follows the result"]),
    ] {
        let found = read(&format!("{bad}{good}"));
        assert_eq!(found.len(), 2, "{bad}: {found:?}");
        let error = found[0].as_ref().expect_err(bad).to_string();
        for word in words {
            assert!(error.contains(word), "{bad}: {error:?} does not say {word:?}");
        }
        assert!(found[1].is_ok(), "{bad}: {found:?}");
    }
    assert!(read("").is_empty());
    assert!(read("\n\n").is_empty());
}

#[test]
fn damaged_bytes_cost_their_game_and_the_next_one_is_read() {
    let text = [&b"[Rules \"brandubh\"]\n\xff\nd2c2 *\n"[..], b"[Rules \"brandubh\"]\n\nd2c2 *\n"].concat();
    let mut games = PgnReader::new(text.as_slice());
    let error = games.next().expect("a game").expect_err("no text").to_string();
    assert_eq!(error, "line 2: the line is no UTF-8 text");
    assert!(games.next().is_some_and(|game| game.is_ok()));
    assert!(games.next().is_none());
}
