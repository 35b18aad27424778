//! The engine as a process, and matches against programs that play by the protocol, well or badly.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const HNEFI: &str = env!("CARGO_BIN_EXE_hnefi");

/// Far more than anything here takes, on any machine.
const TIMEOUT: Duration = Duration::from_secs(120);

#[test]
fn an_engine_that_is_told_to_quit_ends_without_a_word_on_standard_error() {
    let mut command = Command::new(HNEFI);
    command.arg("uci").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut input = child.stdin.take().expect("piped");
    writeln!(input, "uci\nposition startpos\ngo nodes 20").expect("the engine reads");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
    assert!(lines.any(|line| line.starts_with("bestmove ")));
    writeln!(input, "quit").expect("the engine reads");
    let output = child.wait_with_output().expect("ended");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
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
        (format!("{answers} go*) sleep 1000;; esac; done"), "timeout", "no bestmove within"),
        ("echo sorry >&2; exit 7".to_owned(), "crash", "exit status: 7) before uciok: sorry"),
        (format!("{answers} go*) echo bestmove a1a2;; esac; done"), "illegal_move", "a1a2"),
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
