//! The engine over pipes: what a client sees.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hnefi_engine::{Move, NamedRules, Position, Preset};

use super::engine::most_nodes;
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
        Client::of(Preset::Tablut)
    }

    fn of(rules: Preset) -> Client {
        Client::with(UciParams { rules: Some(rules.into()), ..UciParams::default() })
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

    /// What is said before the answer to `isready`.
    fn settle(&mut self) -> Vec<String> {
        self.send("isready");
        let mut lines = self.until("readyok");
        lines.pop();
        lines
    }

    /// Sends a `go` line and returns what is said of the search, and the move played.
    fn search(&mut self, line: &str) -> (Vec<String>, String) {
        self.send(line);
        self.the_move()
    }

    fn the_move(&mut self) -> (Vec<String>, String) {
        let mut lines = self.until("bestmove ");
        let last = lines.pop().expect("a last line");
        (lines, last["bestmove ".len()..].to_owned())
    }

    /// As [`Client::search`], with the last `info` line on the best move alone.
    fn go(&mut self, line: &str) -> (String, String) {
        let (lines, mv) = self.search(line);
        (lines.into_iter().rfind(|line| line.contains(" multipv 1 ")).unwrap_or_default(), mv)
    }

    /// Sends `quit`, after which nothing is said any more.
    fn quit(mut self) {
        self.send("quit");
        assert_eq!(self.close(), Vec::<String>::new());
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

fn number(line: &str, key: &str) -> f64 {
    after(line, key).parse().unwrap_or_else(|_| panic!("{key} is no number in {line}"))
}

fn play(position: &mut Position, text: &str) {
    let mv = Move::parse(text, position.size()).unwrap_or_else(|error| panic!("{error}"));
    position.play(mv).unwrap_or_else(|error| panic!("{error}"));
}

/// Lets clients play a whole game in turns, the first one beginning, and returns its end.
fn whole_game(clients: &mut [&mut Client], rules: Preset, go: &str, cap: usize) -> Position {
    let mut position = Position::start(&rules.rules());
    let mut moves = String::new();
    for turn in 0..=cap {
        let client = &mut clients[turn % clients.len()];
        match moves.as_str() {
            "" => client.send("position startpos"),
            moves => client.send(&format!("position startpos moves{moves}")),
        }
        let (_, mv) = client.search(go);
        if mv == "(none)" {
            assert!(position.outcome().is_some(), "no move in {}", position.fen());
            return position;
        }
        play(&mut position, &mv);
        moves.push(' ');
        moves.push_str(&mv);
    }
    position
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
    client.quit();
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
fn a_tree_and_its_successor_keep_to_the_memory_that_was_set() {
    for rules in NamedRules::published().map(|named| named.rules()) {
        let (nodes, moves) = (u64::from(most_nodes(&rules, 1024)), Position::start(&rules).count_legal_moves() as u64);
        assert!(nodes * (80 + 16 * moves) * 2 <= 1024 << 20, "{nodes} nodes of {moves} moves");
    }
    // What the nodes of long searches measured on boards of 7, 9 and 11 squares a side.
    for (preset, bytes) in [(Preset::Brandubh, 700), (Preset::Tablut, 1300), (Preset::Copenhagen, 2000)] {
        let room: u32 = (1024 << 20) / (2 * bytes);
        assert!((2 * room / 3..=room).contains(&most_nodes(&preset.rules(), 1024)), "{preset:?}");
    }
    assert_eq!(most_nodes(&Preset::Brandubh.rules(), 65_536), hnefi_search::SearchConfig::MOST_NODES);
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
    let mut client = Client::of(Preset::Brandubh);
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
    let mut client = Client::of(Preset::Brandubh);
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
fn quit_ends_everything_at_once_but_what_was_sent_before_is_answered() {
    let mut client = Client::start();
    for line in ["uci", "position startpos moves z1z2", "go infinite", "position startpos", "go infinite", "quit"] {
        client.send(line);
    }
    let lines = client.close();
    assert!(lines.iter().any(|line| line == "uciok") && lines.iter().any(|line| line.contains("z1z2")), "{lines:?}");
    assert!(lines.iter().filter(|line| line.starts_with("bestmove ")).count() <= 1, "{lines:?}");
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

#[test]
fn a_client_plays_whole_games() {
    let mut client = Client::of(Preset::Brandubh);
    let loaded = client.settle();
    assert!(loaded[0].starts_with("info string network brandubh is loaded"), "{loaded:?}");
    for _ in 0..2 {
        client.send("ucinewgame");
        let end = whole_game(&mut [&mut client], Preset::Brandubh, "go nodes 60", 400);
        assert!(end.outcome().is_some(), "the game is not over after {} plies", end.ply());
    }
    client.quit();
}

#[test]
fn two_engines_play_each_other_on_two_threads_and_by_the_clock() {
    let (mut first, mut second) =
        (Client::with(UciParams { threads: 2, ..UciParams::default() }), Client::of(Preset::Brandubh));
    let go = "go wtime 3000 btime 3000 winc 10 binc 10";
    let end = whole_game(&mut [&mut first, &mut second], Preset::Brandubh, go, 60);
    assert!(end.ply() > 4);
    first.quit();
    second.quit();
}

#[test]
fn a_network_of_other_rules_is_tried_with_a_warning() {
    let mut client = Client::start();
    let said = client.settle();
    assert!(said[0].contains("network copenhagen is loaded") && said[0].contains("tablut"), "{said:?}");
    client.send("setoption name NNFile value brandubh");
    let said = client.settle();
    assert!(said.iter().any(|line| line.contains("trained on brandubh, not on tablut")), "{said:?}");
    let end = whole_game(&mut [&mut client], Preset::Tablut, "go nodes 20", 12);
    assert_eq!(end.ply(), 13);
    client.send("setoption name Rules value brandubh");
    client.send("position startpos moves d6f6");
    assert_eq!(client.settle(), Vec::<String>::new());
    client.quit();
}

#[test]
fn a_path_is_taken_as_it_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("My  Network");
    std::fs::create_dir(&copy).expect("a folder");
    for file in std::fs::read_dir("../models/inference/pretrained/brandubh").expect("the shipped network") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), copy.join(file.file_name())).expect("copied");
    }
    let mut client = Client::of(Preset::Brandubh);
    client.send(&format!("setoption  name nnfile  value  {} ", copy.display()));
    let said = client.settle();
    assert!(said[0].contains("My Network is loaded"), "{said:?}");
    client.quit();
}

#[test]
fn an_infinite_search_ends_when_it_is_stopped_and_only_then() {
    let mut client = Client::of(Preset::Brandubh);
    client.settle();
    client.send("go infinite");
    client.until("info depth");
    // It answers meanwhile, and refuses nothing for later.
    client.send("isready");
    client.until("readyok");
    client.send("stop");
    let (_, mv) = client.the_move();
    play(&mut Position::start(&Preset::Brandubh.rules()), &mv);
    // A result that is known for certain changes nothing in this.
    client.send("position fen 7/1ak4/7/2d4/7/7/3a3 a");
    client.send("go infinite");
    client.until("info depth 1 seldepth 1 score mate 1 wdl 1000 0 0");
    std::thread::sleep(Duration::from_millis(200));
    client.send("isready");
    assert_eq!(client.until("readyok").len(), 1, "no move yet");
    client.send("stop");
    assert_eq!(client.the_move().1, "d1d6");
    // Stopping twice, or when nothing runs, is no fault.
    client.send("stop");
    client.send("stop");
    assert_eq!(client.settle(), Vec::<String>::new());
    // A stop right behind the search still leaves time for a move.
    client.send("position startpos");
    client.send("go infinite");
    client.send("stop");
    play(&mut Position::start(&Preset::Brandubh.rules()), &client.the_move().1);
    client.quit();
}

#[test]
fn limits_are_kept() {
    let mut client = Client::of(Preset::Brandubh);
    client.settle();
    let (lines, mv) = client.search("go nodes 100");
    let last = lines.last().expect("an info line");
    assert_eq!(number(last, "nodes"), 100.0);
    assert_eq!(after(last, "pv"), mv);
    for key in ["depth", "seldepth", "winrate", "nps", "multipv"] {
        assert!(number(last, key) > 0.0, "{last}");
    }
    let (lines, _) = client.search("go movetime 300");
    let time = number(lines.last().expect("an info line"), "time");
    assert!((300.0..10_000.0).contains(&time), "{time} ms");
    // Attackers first: the defenders' clock is the second one.
    client.send("position startpos moves d6f6");
    let (lines, _) = client.search("go wtime 1000000 btime 1000 winc 0 binc 0");
    let time = number(lines.last().expect("an info line"), "time");
    assert!(time < 10_000.0, "{time} ms");
    // What is no limit is named, and answered all the same.
    let (lines, mv) = client.search("go quickly");
    assert!(lines[0].contains("go \"quickly\": expected nodes N") && lines[0].ends_with("; 800 nodes instead"));
    assert_ne!(mv, "(none)");
    client.quit();
}

#[test]
fn as_many_lines_as_asked_for_are_shown() {
    let mut client = Client::of(Preset::Brandubh);
    client.send("setoption name MultiPV value 3");
    client.send("setoption name Threads value 2");
    let (lines, mv) = client.search("go nodes 400");
    let shown = &lines[lines.len() - 3..];
    assert!(shown.iter().zip(1..).all(|(line, place)| number(line, "multipv") == f64::from(place)), "{shown:?}");
    assert_eq!(after(&shown[0], "pv"), mv);
    let firsts: std::collections::HashSet<&str> = shown.iter().map(|line| after(line, "pv")).collect();
    assert_eq!(firsts.len(), 3);
    client.quit();
}

#[test]
fn a_finished_game_has_no_move() {
    let mut client = Client::of(Preset::Brandubh);
    client.settle();
    for line in ["position fen 7/3a3/3a3/aa3aa/3d2k/3a3/3a3 d moves g3g1", "position fen 7/7/3a3/7/3a3/3a3/k6 d"] {
        client.send(line);
        for go in ["go nodes 10", "go infinite"] {
            let (lines, mv) = client.search(go);
            assert_eq!(mv, "(none)");
            assert!(lines[0].starts_with("info string the game is over: The king reaches a corner"), "{lines:?}");
        }
    }
    client.quit();
}

#[test]
fn malformed_lines_are_answered_and_change_nothing() {
    let mut client = Client::of(Preset::Brandubh);
    client.settle();
    client.send("position startpos moves d6f6");
    for (line, message) in [
        ("hello", "unknown command \"hello\""),
        ("position startpos moves d6f6 d6f6", "move 2 of the position, \"d6f6\""),
        ("position fen 3a3 a", "1 rows; expected 7"),
        ("position fen 3a3/3a3/3k3/aadkdaa/3d3/3a3/3a3 a", "2 kings; expected one"),
        ("setoption name Threads value none", "Threads \"none\": expected a whole number from 1 to 256"),
        ("setoption name NNFile value no/such/folder", "there is no such folder"),
        ("setoption name NNFile value src", "the network stays the shipped one"),
        ("\u{0}\u{1b}[2J", "unknown command"),
    ] {
        client.send(line);
        let said = client.settle();
        assert_eq!(said.len(), 1, "{line:?}: {said:?}");
        assert!(said[0].starts_with("info string ") && said[0].contains(message), "{line:?}: {said:?}");
    }
    client.input.as_mut().expect("open").write_all(b"\xff\xfe\n\n   \n").expect("the engine reads");
    assert_eq!(client.settle().len(), 1);
    // The position is still the last good one: the defenders are to move.
    let mut position = Position::start(&Preset::Brandubh.rules());
    play(&mut position, "d6f6");
    let (_, mv) = client.search("go nodes 20");
    play(&mut position, &mv);
    client.quit();
}
