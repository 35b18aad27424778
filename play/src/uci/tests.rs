//! The engine over pipes: what a client sees.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hnefi_engine::{Move, Position, Preset};

use super::{UciParams, run};
use crate::PlayError;

/// A client of an engine that runs in this process.
struct Client {
    input: Option<PipeWriter>,
    output: BufReader<PipeReader>,
    engine: JoinHandle<Result<(), PlayError>>,
}

impl Client {
    fn start() -> Client {
        Client::with(UciParams { rules: Some(Preset::Tablut.into()), ..UciParams::default() })
    }

    fn with(params: UciParams) -> Client {
        let ((input, writer), (reader, output)) = (pipe().expect("a pipe"), pipe().expect("a pipe"));
        let (input, output) = (BufReader::new(input), output);
        let engine = std::thread::spawn(move || run(&params, input, output));
        Client { input: Some(writer), output: BufReader::new(reader), engine }
    }

    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("open");
        writeln!(input, "{line}").expect("the engine reads");
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        let bytes = self.output.read_line(&mut line).expect("text");
        assert!(bytes > 0, "the engine has gone");
        line.trim_end().to_owned()
    }

    /// The lines up to one that begins so, that one last.
    fn until(&mut self, begin: &str) -> Vec<String> {
        let mut lines = vec![self.line()];
        while !lines.last().is_some_and(|line| line.starts_with(begin)) {
            lines.push(self.line());
        }
        lines
    }

    /// Sends a `go` line and returns the last `info` line on the best move, and the move played.
    fn go(&mut self, line: &str) -> (String, String) {
        self.send(line);
        let lines = self.until("bestmove");
        let info = lines.iter().rfind(|line| line.contains(" multipv 1 ")).cloned().unwrap_or_default();
        let mv = lines.last().and_then(|line| line.strip_prefix("bestmove ")).expect("a move").to_owned();
        (info, mv)
    }

    /// Closes the input and returns what the engine still says.
    fn close(mut self) -> Vec<String> {
        self.input = None;
        let rest = self.output.lines().map(|line| line.expect("text")).collect();
        self.engine.join().expect("no panic").expect("no failure");
        rest
    }
}

/// The word after another one.
fn after<'a>(line: &'a str, key: &str) -> &'a str {
    let mut words = line.split(' ').skip_while(|&word| word != key);
    words.nth(1).unwrap_or_else(|| panic!("no {key} in {line}"))
}

#[test]
fn the_greeting_names_engine_and_options() {
    let mut client = Client::start();
    client.send("uci");
    let lines = client.until("uciok");
    assert!(lines[0].starts_with("id name Hnefi ") && lines[1].starts_with("id author "), "{lines:?}");
    for name in ["NNFile", "Threads", "MultiPV", "Rules", "Temperature", "Seed", "Hash", "Precision", "Ponder"] {
        assert!(lines.iter().any(|line| line.starts_with(&format!("option name {name} type "))), "{name}");
    }
    client.send("isready");
    let lines = client.until("readyok");
    assert!(lines[0].starts_with("info string network copenhagen is loaded: "), "{lines:?}");
    client.send("quit");
    assert_eq!(client.close(), Vec::<String>::new());
}

#[test]
fn threads_that_cannot_be_are_told_of() {
    for (threads, told) in [
        (999, "info string --threads 999: expected 1 to 256; 256 search"),
        (0, "info string --threads 0: expected 1 to 256; 1 search"),
    ] {
        let mut client =
            Client::with(UciParams { rules: Some(Preset::Tablut.into()), threads, ..UciParams::default() });
        client.send("uci");
        assert_eq!(client.until("uciok")[0], told);
        client.close();
    }
}

#[test]
fn a_search_of_so_many_nodes_makes_as_many() {
    for threads in [1, 2] {
        let mut client = Client::start();
        client.send(&format!("setoption name Threads value {threads}"));
        client.send("position startpos");
        let (info, mv) = client.go("go nodes 300");
        assert_eq!(after(&info, "nodes"), "300");
        assert_eq!(after(&info, "pv"), mv);
        let start = Position::start(&Preset::Tablut.rules());
        assert!(start.is_legal(Move::parse(&mv, start.size()).expect("a move")));
        client.close();
    }
}

#[test]
fn a_search_ponders_until_its_move_is_played() {
    let mut client = Client::start();
    client.send("setoption name Ponder value true");
    let (info, answer) = client.go("go nodes 300");
    let line: Vec<&str> = info.split_once(" pv ").expect("a line").1.split(' ').take(2).collect();
    assert_eq!(answer, format!("{} ponder {}", line[0], line[1]));
    client.send(&format!("position startpos moves {}", line.join(" ")));
    // Nodes and time are used up long before, and the client asks as often as it likes.
    client.send("go ponder nodes 10 movetime 1");
    std::thread::sleep(Duration::from_millis(100));
    client.send("isready");
    assert!(client.until("readyok").iter().all(|line| !line.starts_with("bestmove")));
    client.send("ponderhit");
    client.until("bestmove");
    // The clock runs from the hit on.
    client.send("go ponder movetime 300");
    std::thread::sleep(Duration::from_millis(400));
    let hit = Instant::now();
    client.send("ponderhit");
    client.until("bestmove");
    assert!(hit.elapsed() >= Duration::from_millis(300), "{:?}", hit.elapsed());
    // Another move was played than expected; and a hit that nobody waits for is passed over.
    client.send("go ponder wtime 1 btime 1");
    client.send("stop");
    client.until("bestmove");
    client.send("ponderhit");
    client.send("go ponder");
    assert!(client.close().last().is_some_and(|line| line.starts_with("bestmove ")), "nobody can call any more");
}

#[test]
fn a_search_ends_with_what_it_was_to_find() {
    let mut client = Client::with(UciParams { rules: Some(Preset::Brandubh.into()), ..UciParams::default() });
    let (info, _) = client.go("go depth 3");
    assert!(after(&info, "depth").parse::<u32>().expect("a number") >= 3, "{info}");
    client.send("position fen 7/1ak4/7/2d4/7/7/3a3 a");
    let (info, mv) = client.go("go mate 1");
    assert_eq!((info.contains(" score mate 1 "), &*mv), (true, "d1d6"), "{info}");
    let (_, mv) = client.go("go searchmoves d1c1 d1e1 nodes 100");
    assert!(["d1c1", "d1e1"].contains(&&*mv), "{mv}");
    assert_eq!(client.go("go nodes 100").1, "d1d6", "of all moves again");
    client.send("go searchmoves a1a2 nodes 10");
    let lines = client.until("bestmove");
    assert!(lines[0].starts_with("info string go searchmoves: "), "{lines:?}");
    assert_eq!(lines.last().map(String::as_str), Some("bestmove d1d6"));
    client.close();
}

#[test]
fn words_that_mean_nothing_are_passed_over_and_told_of_on_request() {
    let mut client = Client::start();
    client.send("joho isready");
    client.until("readyok");
    client.send("register later\njoho debug on\nisready");
    assert_eq!([client.line(), client.line()], ["info string received \"isready\"", "readyok"]);
    client.send("debug off\nisready");
    assert_eq!([client.line(), client.line()], ["info string received \"debug off\"", "readyok"]);
    client.close();
}

#[test]
fn the_tree_is_kept_from_move_to_move_and_not_from_game_to_game() {
    // A network, so that the tree has more than breadth.
    let mut client = Client::with(UciParams { rules: Some(Preset::Brandubh.into()), ..UciParams::default() });
    client.send("position startpos");
    let (info, first) = client.go("go nodes 2000");
    let line = info.split_once(" pv ").expect("a line").1;
    let reply = line.split(' ').nth(1).expect("a line of two moves");
    let depth = |info: &str| after(info, "depth").parse::<u32>().expect("a number");
    client.send(&format!("position startpos moves {first} {reply}"));
    assert!(depth(&client.go("go nodes 1").0) > 1, "the subtree is known");
    assert!(depth(&client.go("go nodes 1").0) > 1, "and stays so at the same position");
    client.send("ucinewgame");
    client.send(&format!("position startpos moves {first} {reply}"));
    assert_eq!(depth(&client.go("go nodes 1").0), 1, "a new game begins from nothing");
    client.close();
}

#[test]
fn what_was_asked_for_is_answered_after_the_input_is_closed() {
    let mut client = Client::start();
    for line in ["position startpos", "go nodes 50", "position startpos moves", "go infinite", "isready"] {
        client.send(line);
    }
    let lines = client.close();
    assert_eq!(lines.iter().filter(|line| line.starts_with("bestmove ")).count(), 2, "{lines:?}");
    assert_eq!(lines.iter().filter(|line| *line == "readyok").count(), 1);
}

#[test]
fn quit_ends_everything_at_once() {
    let mut client = Client::start();
    for line in ["position startpos", "go infinite", "position startpos", "go infinite", "quit"] {
        client.send(line);
    }
    let lines = client.close();
    assert!(lines.iter().filter(|line| line.starts_with("bestmove ")).count() <= 1, "{lines:?}");
}

#[test]
fn what_was_sent_before_quit_is_answered() {
    let mut client = Client::start();
    client.send("uci\nposition startpos moves z1z2\nquit");
    let lines = client.close();
    assert!(lines.iter().any(|line| line == "uciok"), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("z1z2")), "{lines:?}");
}

#[test]
fn a_client_that_stops_listening_ends_the_engine() {
    let Client { input, output, engine } = Client::start();
    drop(output);
    let mut input = input.expect("open");
    // It notices with the first thing it says.
    writeln!(input, "uci\ngo infinite\nisready").expect("the engine reads");
    let error = engine.join().expect("no panic").expect_err("nobody listens");
    assert!(error.to_string().starts_with("answering the client: "), "{error}");
}

#[test]
fn with_a_temperature_moves_vary_by_the_seed() {
    let mut client = Client::start();
    client.send("setoption name Temperature value 1");
    let mut moves = |seed: u32| {
        client.send(&format!("setoption name Seed value {seed}"));
        client.send("ucinewgame");
        client.go("go nodes 200").1
    };
    let first = moves(1);
    let others: Vec<String> = (2..30).map(&mut moves).collect();
    assert!(others.iter().any(|mv| *mv != first), "{first} always");
    client.close();
    let repeat = || {
        let mut client = Client::start();
        client.send("setoption name Temperature value 1");
        client.send("setoption name Seed value 5");
        let mv = client.go("go nodes 200").1;
        client.close();
        mv
    };
    assert_eq!(repeat(), repeat());
}

#[test]
fn lines_beyond_all_measure_are_left_out() {
    let mut client = Client::start();
    client.send(&"x".repeat(3 << 20));
    client.send("\u{fffd}\u{0} \u{7}");
    client.send("isready");
    let lines = client.until("readyok");
    assert!(lines[0].starts_with("info string a line of more than 1048576 bytes"), "{}", lines[0]);
    assert!(lines[1].starts_with("info string unknown command"), "{}", lines[1]);
    assert!(lines.iter().all(|line| line.len() < 2000));
    client.close();
}

#[test]
fn long_lines_behind_a_search_are_left_out() {
    let mut client = Client::start();
    client.send("go infinite");
    let line = format!("position startpos moves {}", "d6f6 ".repeat(200_000));
    (0..8).for_each(|_| client.send(&line));
    client.send("stop");
    let lines = client.until("bestmove");
    let left_out = lines.iter().filter(|line| line.starts_with("info string too many commands wait")).count();
    assert_eq!(left_out, 4, "{left_out}");
    client.close();
}

#[test]
fn what_a_client_sent_comes_back_without_orders_for_its_terminal() {
    let mut client = Client::start();
    client.send("setoption name \u{1b}[2J value \u{1b}[2J");
    client.send("isready");
    let lines = client.until("readyok");
    assert!(lines[0].contains("\\u{1b}[2J") && !lines.concat().contains('\u{1b}'), "{lines:?}");
    client.close();
}

#[test]
fn a_network_that_cannot_be_used_is_refused_before_anything_is_said() {
    let params = UciParams { model: Some("no/such/folder".to_owned()), ..UciParams::default() };
    let error = run(&params, std::io::empty(), std::io::sink()).expect_err("refused");
    assert!(error.to_string().contains("no/such/folder"), "{error}");
}
