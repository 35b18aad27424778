//! The engine as a process, and matches against programs that play by the protocol, well or badly.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::Value;

use super::{Ended, Workspace, wait_until};

const HNEFI: &str = env!("CARGO_BIN_EXE_hnefi");

#[test]
fn an_engine_that_is_told_to_quit_ends_without_a_word_on_standard_error() {
    let workspace = Workspace::new();
    let mut child = workspace.command("uci").stdin(Stdio::piped()).spawn().expect("starts");
    let mut input = child.stdin.take().expect("piped");
    writeln!(input, "uci\nposition startpos\ngo nodes 20").expect("the engine reads");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map(|line| line.expect("text"));
    assert!(lines.any(|line| line.starts_with("bestmove ")));
    writeln!(input, "quit").expect("the engine reads");
    let output = child.wait_with_output().expect("ended");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

/// The report of a match for people and the line of JSON.
fn run_match(workspace: &Workspace, args: &[&str]) -> (String, Value) {
    let ended = Ended::from(workspace.command("match --json").args(args).output().expect("starts"));
    assert_eq!(ended.code, Some(0), "{}", ended.error);
    let json = serde_json::from_str(ended.out.lines().last().expect("a last line")).expect("JSON");
    (ended.out, json)
}

#[test]
fn a_match_against_a_second_process_of_ours() {
    let workspace = Workspace::new();
    let other = format!("uci:'{HNEFI}' uci --threads 1,nodes=40");
    let args = ["model:brandubh,playouts=16", &other, "--games", "4", "--threads", "2", "--save", "games.hgames"];
    let (text, json) = run_match(&workspace, &args);
    assert_eq!(json["games"], 4, "{text}");
    assert_eq!(json["forfeits"], serde_json::json!([]), "{text}");
    assert_eq!(json["b"], other);
    let games = hnefi_run::decode_games("saved", &workspace.read("games.hgames")).expect("a record file");
    for game in games {
        game.check().expect("sound games");
        // What the program says of its search is kept with its moves.
        let seat = usize::from(game.players[1].starts_with("uci:"));
        assert!(game.plies.iter().skip(4 + seat).step_by(2).any(|ply| ply.playouts > 0), "{:?}", game.players);
    }
}

#[test]
fn programs_that_break_off_lose_and_are_named() {
    let workspace = Workspace::new();
    let answers = "while read -r line; do case \"$line\" in uci) echo uciok;; isready) echo readyok;;";
    for (script, reason, problem) in [
        (format!("{answers} go*) sleep 1000;; esac; done"), "timeout", "no bestmove within"),
        ("echo sorry >&2; exit 7".to_owned(), "crash", "exit status: 7) before uciok: sorry"),
        (format!("{answers} go*) echo bestmove a1a2;; esac; done"), "illegal_move", "a1a2"),
    ] {
        let player = format!("uci:sh -c '{script}',movetime=1,timeout=0.5");
        let (text, json) = run_match(&workspace, &[&player, "random", "--games", "4", "--threads", "2"]);
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
    let workspace = Workspace::new();
    let pids = workspace.at("pids");
    // It neither notices the end of its input nor ends when it is asked to, and has a child that does not either.
    let script = format!("trap \"\" TERM HUP INT; sleep 1000 & echo $$ $! > {}; wait", pids.display());
    let player = format!("uci:sh -c '{script}'");
    let mut command = workspace.command("match --games 2 --threads 1");
    let mut child = command.args([&player, "random"]).spawn().expect("starts");
    let written = || std::fs::read_to_string(&pids).unwrap_or_default();
    wait_until("the program does not start", || written().ends_with('\n'));
    child.kill().expect("killed");
    child.wait().expect("dead");
    for pid in written().split_whitespace() {
        // Its parent may take a moment to reap it.
        let gone = || {
            let process = nix::unistd::Pid::from_raw(pid.parse().expect("a number"));
            let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            nix::sys::signal::kill(process, None).is_err() || status.contains(") Z ")
        };
        wait_until("a program is still running", gone);
    }
}
