//! The engine from outside: a scripted client over real pipes, and matches against programs that play by the protocol,
//! well or badly.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use hnefi_engine::{Move, Position, Preset};
use serde_json::Value;

const HNEFI: &str = env!("CARGO_BIN_EXE_hnefi");

/// Far more than anything here takes, on any machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A client of an engine in another process.
struct Client {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

impl Client {
    fn start(args: &[&str]) -> Client {
        let mut command = Command::new(HNEFI);
        command.arg("uci").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Client { child, input, lines }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("the engine reads");
    }

    /// The lines up to one that begins so, that one last.
    fn until(&mut self, begin: &str) -> Vec<String> {
        let deadline = Instant::now() + TIMEOUT;
        let mut lines: Vec<String> = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => lines.push(line),
                Err(error) => panic!("no {begin} ({error}) after {lines:?}"),
            }
            if lines.last().is_some_and(|line| line.starts_with(begin)) {
                return lines;
            }
        }
    }

    /// What is said before the answer to `isready`.
    fn settle(&mut self) -> Vec<String> {
        self.send("isready");
        let mut lines = self.until("readyok");
        lines.pop();
        lines
    }

    /// Sends a `go` line and returns what is said of the search, and the move.
    fn go(&mut self, line: &str) -> (Vec<String>, String) {
        self.send(line);
        self.the_move()
    }

    fn the_move(&mut self) -> (Vec<String>, String) {
        let mut lines = self.until("bestmove ");
        let last = lines.pop().expect("a last line");
        (lines, last["bestmove ".len()..].to_owned())
    }

    /// Sends `quit` and expects a clean end without a word on standard error.
    fn quit(mut self) {
        self.send("quit");
        let deadline = Instant::now() + TIMEOUT;
        while self.child.try_wait().expect("a child").is_none() {
            assert!(Instant::now() < deadline, "the engine does not quit");
            std::thread::sleep(Duration::from_millis(5));
        }
        let status = self.child.wait().expect("ended");
        let mut errors = String::new();
        std::io::Read::read_to_string(&mut self.child.stderr.take().expect("piped"), &mut errors).expect("text");
        assert!(status.success() && errors.is_empty(), "{status}: {errors}");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The word after another one.
fn after<'a>(line: &'a str, key: &str) -> &'a str {
    line.split(' ').skip_while(|&word| word != key).nth(1).unwrap_or_else(|| panic!("no {key} in {line}"))
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
        let (_, mv) = client.go(go);
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
fn a_client_plays_whole_games() {
    let mut client = Client::start(&[]);
    client.send("uci");
    let lines = client.until("uciok");
    assert!(lines[0].starts_with("id name Hnefi") && lines[1].starts_with("id author "), "{lines:?}");
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
fn two_processes_play_each_other_on_two_threads_and_by_the_clock() {
    let (mut first, mut second) = (Client::start(&["--threads", "2"]), Client::start(&["--rules", "brandubh"]));
    let go = "go wtime 3000 btime 3000 winc 10 binc 10";
    let end = whole_game(&mut [&mut first, &mut second], Preset::Brandubh, go, 60);
    assert!(end.ply() > 4);
    first.quit();
    second.quit();
}

#[test]
fn a_network_of_other_rules_is_tried_with_a_warning() {
    let mut client = Client::start(&["--rules", "tablut"]);
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
    for file in std::fs::read_dir("models/inference/pretrained/brandubh").expect("the shipped network") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), copy.join(file.file_name())).expect("copied");
    }
    let mut client = Client::start(&[]);
    client.send(&format!("setoption  name nnfile  value  {} ", copy.display()));
    let said = client.settle();
    assert!(said[0].contains("My Network is loaded"), "{said:?}");
    client.quit();
}

#[test]
fn an_infinite_search_ends_when_it_is_stopped_and_only_then() {
    let mut client = Client::start(&[]);
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
    let mut client = Client::start(&[]);
    client.settle();
    let (lines, mv) = client.go("go nodes 100");
    let last = lines.last().expect("an info line");
    assert_eq!(number(last, "nodes"), 100.0);
    assert_eq!(after(last, "pv"), mv);
    for key in ["depth", "seldepth", "winrate", "nps", "multipv"] {
        assert!(number(last, key) > 0.0, "{last}");
    }
    let (lines, _) = client.go("go movetime 300");
    let time = number(lines.last().expect("an info line"), "time");
    assert!((300.0..10_000.0).contains(&time), "{time} ms");
    // Attackers first: the defenders' clock is the second one.
    client.send("position startpos moves d6f6");
    let (lines, _) = client.go("go wtime 1000000 btime 1000 winc 0 binc 0");
    let time = number(lines.last().expect("an info line"), "time");
    assert!(time < 10_000.0, "{time} ms");
    // What is no limit is named, and answered all the same.
    for (line, message) in [
        ("go quickly", "go \"quickly\": expected nodes N"),
        ("go nodes", "go nodes without a number"),
        ("go nodes -1", "expected a whole number above 0"),
    ] {
        let (lines, mv) = client.go(line);
        assert!(lines[0].contains(message) && lines[0].ends_with("; 800 nodes instead"), "{lines:?}");
        assert_ne!(mv, "(none)");
    }
    client.quit();
}

#[test]
fn several_lines_are_ranked_and_legal() {
    let mut client = Client::start(&[]);
    client.send("setoption name MultiPV value 3");
    client.send("setoption name Threads value 2");
    let (lines, mv) = client.go("go nodes 400");
    let shown = &lines[lines.len() - 3..];
    for (index, line) in shown.iter().enumerate() {
        assert_eq!(number(line, "multipv") as usize, index + 1);
        let wdl: Vec<u32> = line
            .split(' ')
            .skip_while(|&word| word != "wdl")
            .skip(1)
            .take(3)
            .map(|part| part.parse().expect("a number"))
            .collect();
        assert_eq!(wdl.iter().sum::<u32>(), 1000, "{line}");
        let mut position = Position::start(&Preset::Brandubh.rules());
        for text in line.split_once(" pv ").expect("a line").1.split(' ') {
            play(&mut position, text);
        }
    }
    assert_eq!(after(&shown[0], "pv"), mv);
    let firsts: std::collections::HashSet<&str> = shown.iter().map(|line| after(line, "pv")).collect();
    assert_eq!(firsts.len(), 3);
    client.quit();
}

#[test]
fn a_finished_game_has_no_move() {
    let mut client = Client::start(&[]);
    client.settle();
    for line in ["position fen 7/3a3/3a3/aa3aa/3d2k/3a3/3a3 d moves g3g1", "position fen 7/7/3a3/7/3a3/3a3/k6 d"] {
        client.send(line);
        for go in ["go nodes 10", "go infinite"] {
            let (lines, mv) = client.go(go);
            assert_eq!(mv, "(none)");
            assert!(lines[0].starts_with("info string the game is over: The king reaches a corner"), "{lines:?}");
        }
    }
    client.quit();
}

#[test]
fn malformed_lines_are_answered_and_change_nothing() {
    let mut client = Client::start(&[]);
    client.settle();
    client.send("position startpos moves d6f6");
    for (line, message) in [
        ("hello", "unknown command \"hello\""),
        ("position startpos moves d6f6 d6f6", "move 2 of the position, \"d6f6\""),
        ("position fen 3a3 a", "1 rows; expected 7"),
        ("position fen 3a3/3a3/3k3/aadkdaa/3d3/3a3/3a3 a", "2 kings; expected one"),
        ("position nowhere", "expected position startpos or position fen F"),
        ("setoption", "expected setoption name X value Y"),
        ("setoption name Threads value none", "Threads \"none\": expected a whole number from 1 to 256"),
        ("setoption name MultiPV", "MultiPV \"\": expected"),
        ("setoption name Rules value chess", "expected one of copenhagen"),
        ("setoption name Temperature value hot", "Temperature \"hot\": expected a number from 0 to 10"),
        ("setoption name OwnBook value true", "no option is named \"OwnBook\"; expected one of NNFile"),
        ("setoption name NNFile value no/such/folder", "there is no such folder"),
        ("setoption name NNFile value configs", "the network stays the shipped one"),
        ("\u{0}\u{1b}[2J", "unknown command"),
    ] {
        client.send(line);
        let said = client.settle();
        assert_eq!(said.len(), 1, "{line:?}: {said:?}");
        assert!(said[0].starts_with("info string ") && said[0].contains(message), "{line:?}: {said:?}");
    }
    client.input.write_all(b"\xff\xfe\n\n   \n").expect("the engine reads");
    assert_eq!(client.settle().len(), 1);
    // The position is still the last good one: the defenders are to move.
    let mut position = Position::start(&Preset::Brandubh.rules());
    play(&mut position, "d6f6");
    let (_, mv) = client.go("go nodes 20");
    play(&mut position, &mv);
    client.quit();
}

#[test]
fn a_bad_model_on_the_command_line_is_refused() {
    let output = Command::new(HNEFI).args(["uci", "--model", "no/such/folder"]).output().expect("starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains("no/such/folder"), "{message}");
    assert!(!message.contains("panicked"), "{message}");
}

fn run_match(args: &[&str]) -> Output {
    Command::new(HNEFI).arg("match").args(args).arg("--json").output().expect("the binary starts")
}

/// The report for people and the line of JSON.
fn result(output: &Output) -> (String, Value) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let json = serde_json::from_str(text.lines().last().expect("a last line")).expect("JSON");
    (text, json)
}

#[test]
fn a_match_against_a_second_process_of_ours() {
    let folder = tempfile::tempdir().expect("a folder");
    let saved = folder.path().join("games.hgames");
    let other = format!("uci:'{HNEFI}' uci --threads 1,nodes=40");
    let args = ["model:brandubh,playouts=16", &other, "--games", "4", "--threads", "2", "--save"];
    let output = run_match(&[&args[..], &[saved.to_str().expect("utf-8")]].concat());
    let (text, json) = result(&output);
    assert_eq!(json["games"], 4, "{text}");
    assert_eq!(json["forfeits"], serde_json::json!([]), "{text}");
    assert_eq!(json["b"], other);
    let games = hnefi_run::decode_games("saved", &std::fs::read(&saved).expect("saved")).expect("a record file");
    for game in games {
        game.check().expect("sound games");
        // What the program says of its search is kept with its moves.
        let seat = usize::from(game.players[1].starts_with("uci:"));
        assert!(game.plies.iter().skip(4 + seat).step_by(2).any(|ply| ply.playouts > 0), "{:?}", game.players);
    }
}

#[test]
fn programs_that_break_off_lose_and_are_named() {
    let answers = "while read -r line; do case \"$line\" in uci) echo uciok;; isready) echo readyok;;";
    for (script, reason, problem) in [
        ("sleep 1000".to_owned(), "timeout", "no uciok within"),
        (format!("{answers} go*) sleep 1000;; esac; done"), "timeout", "no bestmove within"),
        ("echo sorry >&2; exit 7".to_owned(), "crash", "exit status: 7) before uciok: sorry"),
        (format!("{answers} go*) exit 1;; esac; done"), "crash", "before bestmove"),
        (format!("{answers} go*) echo bestmove a1a2;; esac; done"), "illegal_move", "a1a2"),
        (format!("{answers} go*) echo bestmove nonsense;; esac; done"), "illegal_move", "nonsense"),
    ] {
        let player = format!("uci:sh -c '{script}',movetime=1,timeout=0.5");
        let (text, json) = result(&run_match(&[&player, "random", "--games", "4", "--threads", "2"]));
        assert_eq!((&json["games"], &json["losses"]), (&4.into(), &4.into()), "{text}");
        let forfeits = json["forfeits"].as_array().expect("a list");
        assert_eq!(forfeits.len(), 4, "{text}");
        for (game, forfeit) in forfeits.iter().enumerate() {
            assert_eq!(forfeit["player"], player.as_str());
            assert_eq!(forfeit["reason"], reason, "{text}");
            assert_eq!(forfeit["game"], game);
            assert_eq!(forfeit["side"], if game % 2 == 0 { "attackers" } else { "defenders" });
            let said = forfeit["problem"].as_str().expect("a text");
            assert!(said.contains(problem), "{said}");
        }
        assert_eq!(json["ends"][format!("defenders forfeit_{reason}")], 2, "{text}");
        assert!(text.contains(&format!("by {player} (attackers): ")), "{text}");
    }
}

#[test]
fn a_program_that_cannot_be_started_stops_the_match_before_it_begins() {
    let output = run_match(&["uci:/no/such/engine", "random", "--games", "2"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{message}");
    assert!(message.contains("\"/no/such/engine\" cannot be started"), "{message}");
    assert!(!message.contains("panicked"), "{message}");
}

#[test]
fn a_match_that_is_killed_leaves_no_program_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let pids = folder.path().join("pids");
    // It neither notices the end of its input nor ends when it is asked to, and has a child that does not either.
    let script = format!("trap \"\" TERM HUP INT; sleep 1000 & echo $$ $! > {}; wait", pids.display());
    let player = format!("uci:sh -c '{script}'");
    let mut command = Command::new(HNEFI);
    command.args(["match", &player, "random", "--games", "2", "--threads", "1"]).stderr(Stdio::null());
    let mut child = command.spawn().expect("the binary starts");
    let end = Instant::now() + TIMEOUT;
    let wait = |done: &dyn Fn() -> bool, what: &str| {
        while !done() {
            assert!(Instant::now() < end, "{what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let written = || std::fs::read_to_string(&pids).unwrap_or_default();
    wait(&|| written().ends_with('\n'), "the program does not start");
    child.kill().expect("killed");
    child.wait().expect("dead");
    for pid in written().split_whitespace() {
        // Its parent may take a moment to reap it.
        let gone = || {
            let process = nix::unistd::Pid::from_raw(pid.parse().expect("a number"));
            let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            nix::sys::signal::kill(process, None).is_err() || status.contains(") Z ")
        };
        wait(&gone, "a program is still running");
    }
}

#[test]
fn bench_reports_how_fast_one_search_is_and_how_late_answers_are() {
    let args = ["bench", "protocol", "--seconds", "0.01", "--repeats", "1", "--json"];
    let output = Command::new(HNEFI).args(args).output().expect("the binary starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let figures: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    for (name, unit) in [
        ("playouts of one search", "playouts/s"),
        ("stop answered, 95 % within", "ms"),
        ("clock answered, 95 % within", "ms"),
    ] {
        for board in ["7x7", "11x11"] {
            let named = |figure: &&Value| figure["name"] == name && figure["board"] == board;
            let found: Vec<&Value> = figures.iter().filter(named).collect();
            assert!(!found.is_empty(), "{name} on {board}: {text}");
            for figure in found {
                assert_eq!((&figure["stage"], &figure["unit"]), (&"protocol".into(), &unit.into()));
                assert!(figure["value"].as_f64().is_some_and(|value| value >= 0.0), "{figure}");
                assert!(figure["threads"].as_u64().is_some_and(|threads| threads > 0), "{figure}");
            }
        }
    }
}
