//! `hnefi online` against a scripted server: what has been played is on disk, whatever comes later.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The server's side of a connection.
struct Server(BufReader<TcpStream>);

impl Server {
    fn accept(listener: &TcpListener) -> Server {
        Server(BufReader::new(listener.accept().expect("a client").0))
    }

    fn say(&mut self, line: &str) {
        writeln!(self.0.get_mut(), "{line}").expect("a client that listens");
    }

    fn expect(&mut self, beginning: &str) {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("a line");
        assert!(line.starts_with(beginning), "{line}");
    }

    fn log_in(&mut self) {
        self.expect("32d9a140 login me secret\n");
        self.say("= login");
    }

    /// Takes an offer and lets the other side resign.
    fn lose(&mut self, game: u32) {
        self.expect("new_game ");
        self.say(&format!("= new_game {game}"));
        self.say("= join_game you me unrated fischer 900000 10 11");
        self.say(&format!("game {game} play attacker a4 b4"));
        self.say(&format!("game {game} play attacker resigns "));
        self.say(&format!("= game_over {game} defender_wins"));
    }
}

/// Starts the program, which offers `games` games and saves them as `games.pgn` or what `more` says.
fn play(folder: &Path, listener: &TcpListener, output: impl Into<Stdio>, games: u32, save: &str) -> Child {
    let server = listener.local_addr().expect("an address").to_string();
    Command::new(env!("CARGO_BIN_EXE_hnefi"))
        .args(["online", "random", "--user", "me", "--server", &server, "--games", &games.to_string(), "--save", save])
        .env("HNEFI_PASSWORD", "secret")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts")
}

fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").expect("a port")
}

fn ended(child: Child) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = child.wait_with_output().expect("ended");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn every_game_is_saved_when_it_has_ended_and_ctrl_c_ends_the_waiting() {
    for (save, begins) in [("games.pgn", "[Game "), ("games.jsonl", "{\"game_id\"")] {
        let (folder, listener) = (tempfile::tempdir().expect("a folder"), listen());
        let child = play(folder.path(), &listener, Stdio::piped(), 9, save);
        let mut server = Server::accept(&listener);
        server.log_in();
        let saved = || {
            let text = std::fs::read_to_string(folder.path().join(save)).expect("saved");
            text.lines().filter(|line| line.starts_with(begins)).count()
        };
        for game in 1..=2 {
            server.lose(game);
            // The next offer comes when the game is on disk.
            if game == 1 {
                continue;
            }
            server.expect("new_game ");
            assert_eq!(saved(), 2);
        }
        server.say("= new_game 3");
        kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).expect("sent");
        let (code, out, error) = ended(child);
        assert_eq!(code, Some(130), "{out}{error}");
        assert!(error.contains("stopping at the next safe point") && !error.contains("error: "), "{error}");
        assert_eq!(out, "won: you against me, 1 plies\n".repeat(2));
        assert_eq!(saved(), 2);
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }
}

#[test]
fn a_game_under_way_is_played_to_its_end_and_saved_after_the_first_ctrl_c() {
    let (folder, listener) = (tempfile::tempdir().expect("a folder"), listen());
    let child = play(folder.path(), &listener, Stdio::piped(), 9, "games.pgn");
    let mut server = Server::accept(&listener);
    server.log_in();
    server.expect("new_game ");
    server.say("= new_game 7");
    server.say("= join_game you me unrated fischer 900000 10 11");
    server.say("game 7 play attacker a4 b4");
    server.say("game 7 generate_move defender");
    server.expect("game 7 play defender ");
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).expect("sent");
    server.say("game 7 play attacker resigns ");
    server.say("= game_over 7 defender_wins");
    let (code, out, error) = ended(child);
    assert_eq!((code, out.as_str()), (Some(130), "won: you against me, 2 plies\n"), "{error}");
    assert!(folder.path().join("games.pgn").is_file());
}

#[test]
fn games_before_an_error_are_saved_and_the_error_is_told() {
    let (folder, listener) = (tempfile::tempdir().expect("a folder"), listen());
    let child = play(folder.path(), &listener, Stdio::piped(), 9, "games.pgn");
    let mut server = Server::accept(&listener);
    server.log_in();
    server.lose(1);
    server.expect("new_game ");
    drop(server);
    let (code, out, error) = ended(child);
    assert_eq!((code, out.as_str()), (Some(1), "won: you against me, 1 plies\n"), "{error}");
    assert!(error.lines().last().is_some_and(|line| line.starts_with("error: server ")), "{error}");
    assert!(folder.path().join("games.pgn").is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn who_cannot_be_told_of_a_game_offers_no_other_but_has_it() {
    let (folder, listener) = (tempfile::tempdir().expect("a folder"), listen());
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device of Linux");
    let child = play(folder.path(), &listener, full, 9, "games.pgn");
    let mut server = Server::accept(&listener);
    server.log_in();
    server.lose(1);
    let (code, _, error) = ended(child);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("error: writing to standard output: No space left on device"), "{error}");
    assert!(folder.path().join("games.pgn").is_file());
}
