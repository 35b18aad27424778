//! Whole conversations in plain lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use hnefi_arena::players::{Choice, Player, PlayerError};
use hnefi_engine::{Game, Preset};
use hnefi_search::Rng;

use crate::PlayError;
use crate::PlaySetup;
use crate::scripted::Scripted;
use hnefi_record::Seat;

fn table(script: &[&'static str]) -> PlaySetup {
    PlaySetup {
        rules: Preset::Brandubh.rules(),
        start: None,
        seats: [Seat::Person, Seat::Player(Scripted::boxed("model:brandubh", script))],
        adviser: Some(Scripted::boxed("adviser", &[])),
        seed: 1,
        folder: std::env::temp_dir(),
        pace: Duration::ZERO,
    }
}

fn talk(table: PlaySetup, input: &str) -> String {
    let mut output = Vec::new();
    super::run(table, input.as_bytes(), &mut output).unwrap_or_else(|error| panic!("{error}"));
    String::from_utf8(output).expect("text")
}

/// Checks that the texts occur in this order.
fn in_order(found: &str, texts: &[&str]) {
    let mut rest = found;
    for text in texts {
        let Some(at) = rest.find(text) else { panic!("{text:?} is not where it should be in\n{found}") };
        rest = &rest[at + text.len()..];
    }
}

#[test]
fn a_conversation_reads_like_this() {
    let found = talk(table(&["d5e5"]), "d2c2\nfen\nquit\n");
    let expected = "\
Brandubh, 7x7
Attackers: you
Defenders: model:brandubh
A move is two squares, such as a4b4; `help` lists the commands.

 7 + . . A . . +
 6 . . . A . . .
 5 . . . D . . .
 4 A A D K D A A
 3 . . . D . . .
 2 . . . A . . .
 1 + . . A . . +
   a b c d e f g

attackers>\u{20}
 7 + . . A . . +
 6 . . . A . . .
 5 . . . D . . .
 4 A A D K D A A
 3 . . . D . . .
 2 . . A . . . .
 1 + . . A . . +
   a b c d e f g

Defenders play d5-e5 (attackers 35 %, defenders 62 %, draw 3 %).

 7 + . . A . . +
 6 . . . A . . .
 5 . . . . D . .
 4 A A D K D A A
 3 . . . D . . .
 2 . . A . . . .
 1 + . . A . . +
   a b c d e f g

attackers> 3a3/3a3/4d2/aadkdaa/3d3/2a4/3a3 a
attackers>\u{20}";
    assert_eq!(found, expected);
}

#[test]
fn mistakes_are_explained_and_the_game_goes_on() {
    let found = talk(table(&[]), "e4e5\nd2b3\nd2d3\na9a1\nhello\nundo\nredo\nmoves now\n\n  D2:C2\nd2 c2\n");
    in_order(
        &found,
        &[
            "illegal move e4e5",
            "illegal move d2b3",
            "illegal move d2d3",
            "a9",
            "Unknown command \"hello\"; `help` lists them.",
            "There is nothing to take back.",
            "There is nothing to play again.",
            "moves takes nothing after it; found \"now\".",
            "D2:C2",
            "Defenders play ",
        ],
    );
}

#[test]
fn undo_redo_moves_hint_and_help() {
    let found = talk(table(&["d5e5"]), "d2c2\nundo\nredo\nmoves\nhint\nhelp\n");
    in_order(
        &found,
        &["Defenders play d5-e5", "attackers> \n 7", " 2 . . . A", "attackers> \n 7", " 2 . . A", "legal moves\n"],
    );
    in_order(&found, &["d1: ", "(attackers 62 %, defenders 35 %, draw 3 %)", "save [FILE]"]);
}

#[test]
fn games_end_in_words_and_another_begins() {
    let found = talk(table(&[]), "d2c2\nresign\nresign\nd6c6\nswap\nquit\n");
    in_order(
        &found,
        &[
            "attackers> The attackers resign. The defenders win.\ngame over> nobody here can resign: the game is over.",
            "game over> illegal move d6c6: the game is over, the attackers have resigned.",
            "Attackers: model:brandubh\nDefenders: you",
            "Attackers play ",
            "defenders> ",
        ],
    );
}

/// Counts the games that it is told of, and gives no hints.
struct Counting(Arc<AtomicU32>);

impl Player for Counting {
    fn name(&self) -> &str {
        "counting"
    }

    fn new_game(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn choose(&mut self, _: &Game, _: &mut Rng) -> Result<Choice, PlayerError> {
        Err(PlayerError::Stopped { player: self.name().to_owned() })
    }
}

#[test]
fn the_adviser_is_told_of_another_game() {
    let games = Arc::new(AtomicU32::new(0));
    talk(PlaySetup { adviser: Some(Box::new(Counting(games.clone()))), ..table(&[]) }, "new\nswap\n");
    assert_eq!(games.load(Ordering::Relaxed), 2);
}

#[test]
fn the_end_on_the_board_is_told() {
    let start = Some("7/7/5a1/7/7/7/1k5 d".to_owned());
    let seats = [Seat::Person, Seat::Person];
    let found = talk(PlaySetup { start, seats, ..table(&[]) }, "b1a1\nundo\nb1c1\n");
    in_order(
        &found,
        &[
            "defenders> ",
            "The king reaches a corner and is free. The defenders win.\ngame over> ",
            "defenders> ",
            "attackers> ",
        ],
    );
}

#[test]
fn two_players_play_to_the_end_and_the_input_may_be_closed() {
    let seat = || Seat::Player(Scripted::boxed("first", &[]));
    let rules = hnefi_engine::Rules { ply_cap: 30, ..Preset::Brandubh.rules() };
    let found = talk(PlaySetup { rules, seats: [seat(), seat()], ..table(&[]) }, "");
    in_order(&found, &["Attackers play ", "Defenders play "]);
    assert!(found.contains("game over> "), "{found}");
}

#[test]
fn saving_names_the_file_or_says_what_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("my game.pgn").display().to_string();
    let input = format!("save {path}\nsave {path}\nsave game.txt\nsave ~/x.pgn\nsave ~root/x.pgn\nsave\n");
    let found = talk(PlaySetup { folder: folder.path().to_owned(), ..table(&[]) }, &input);
    in_order(
        &found,
        &[
            &format!("Saved as {path}."),
            "the game was not saved: writing",
            "expected a name ending in .pgn or .jsonl",
            "cannot save as ~/x.pgn: ",
            "cannot save as ~root/x.pgn: ",
            "game-0001.pgn and",
        ],
    );
}

#[test]
fn a_cheating_player_is_named_and_the_game_can_be_saved() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut output = Vec::new();
    let table = PlaySetup { folder: folder.path().to_owned(), ..table(&["a1a1", "d5e5"]) };
    let error = super::run(table, &b"d2c2\nsave\n"[..], &mut output).expect_err("the game broke off");
    assert!(matches!(error, PlayError::PlayerCheats { .. }));
    let found = String::from_utf8(output).expect("text");
    in_order(&found, &["model:brandubh chose an illegal move a1a1", "undo, save or quit", "game-0001.pgn"]);
}

#[test]
fn after_a_failure_the_person_does_not_move_for_the_player() {
    let mut output = Vec::new();
    super::run(table(&["a1a1"]), &b"d2c2\nd5e5\nfen\n"[..], &mut output).expect_err("the game broke off");
    let found = String::from_utf8(output).expect("text");
    in_order(&found, &["chose an illegal move a1a1", "The defenders are to move", "3a3/3a3/3d3/aadkdaa/3d3/2a4/3a3 d"]);
}

#[test]
fn after_a_failure_the_person_may_go_on() {
    let found = talk(table(&["a1a1", "d5e5"]), "d2c2\nundo\nd2c2\nquit\n");
    in_order(&found, &["chose an illegal move", "Defenders play d5-e5"]);
}

#[test]
fn a_start_that_is_none_is_refused() {
    let start = Some("7/7/7/7/7/7/7 a".to_owned());
    let error = super::run(PlaySetup { start, ..table(&[]) }, &b""[..], Vec::new()).expect_err("no king");
    assert!(error.to_string().contains("king"), "{error}");
}
