//! How the program behaves among others: its streams, its exit status, its help, and what shells know of it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Ended, Workspace, wait_until};

/// Waits until the process catches interrupts, by its status in Linux.
fn await_handler(child: &Child) {
    wait_until("it never caught interrupts", || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 2 != 0)
    });
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as i32), signal).expect("sent");
}

#[test]
fn whatever_is_interrupted_says_so_by_its_exit_status() {
    let workspace = Workspace::new();
    std::fs::create_dir_all(workspace.at("run")).expect("a folder");
    workspace.write("run/run.json", "{}");
    for line in [
        "match random random --games 100000000 --threads 1",
        "selfplay --config tiny.toml --games 100000 --threads 1 --out games",
        "train --config tiny.toml --set budget.generations=9999 --set run.threads=1 --run trained",
        "worker no/such --wait",
        "fetch run --run copy --follow",
    ] {
        for signal in [Signal::SIGINT, Signal::SIGTERM] {
            let child = workspace.command(line).spawn().expect("starts");
            await_handler(&child);
            send(&child, signal);
            let Ended { out, error, code } = child.wait_with_output().expect("ended").into();
            assert_eq!(code, Some(130), "{line}, {signal}: {out}{error}");
            assert!(error.contains("stopping at the next safe point"), "{line}: {error}");
            assert!(!line.starts_with("selfplay") || !error.contains("error: "), "{line}: {error}");
        }
    }
    assert!(!workspace.at("no").exists(), "who waits for a run makes none");
    assert_eq!(workspace.run("match random nobody").code, Some(2));
    assert_eq!(workspace.run("watch no/such").code, Some(1));
    assert_eq!(workspace.run("match random random --games 2").code, Some(0));
}

/// It writes nothing, so there is no safe point to wait for.
#[test]
fn a_check_ends_at_the_signal() {
    let workspace = Workspace::new();
    workspace.succeeds("match random random --games 200 --threads 1 --save games.hgames");
    std::fs::create_dir_all(workspace.at("run/games")).expect("a folder");
    workspace.write("run/run.json", "{\"format\": 1, \"kind\": \"selfplay\"}\n");
    for number in 1..=5_000 {
        let link = workspace.at(&format!("run/games/{number:06}.hgames"));
        std::fs::hard_link(workspace.at("games.hgames"), link).expect("a link");
    }
    let child = workspace.command("check run").spawn().expect("starts");
    // It takes far longer than this.
    std::thread::sleep(std::time::Duration::from_secs(1));
    send(&child, Signal::SIGTERM);
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.signal(), Some(Signal::SIGTERM as i32), "{:?}", output.status);
}

/// Standard error is a pipe that is full, as one whose reader has stopped.
#[test]
fn who_does_not_read_standard_error_holds_up_no_work_and_no_signal() {
    let workspace = Workspace::new();
    let train = "train --config tiny.toml --set budget.generations=9999 --set run.threads=1 --run trained";
    for (line, works) in [
        ("selfplay --config tiny.toml --games 100000 --threads 1 --out games", "games"),
        // Long after its first notes.
        (train, "trained/state/000003"),
    ] {
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
            let (reader, mut writer) = std::io::pipe().expect("a pipe");
            // As much as a pipe of Linux holds, and no byte more.
            writer.write_all(&[b'x'; 1 << 16]).expect("room");
            let mut child = workspace.command(line).stderr(writer).spawn().expect("starts");
            await_handler(&child);
            wait_until(&format!("{line}: no work is done"), || workspace.at(works).exists());
            send(&child, signal);
            let is_over = || child.try_wait().expect("a child").is_some();
            wait_until(&format!("{line}, {signal}: it has not ended"), is_over);
            assert_eq!(child.wait().expect("ended").code(), Some(130), "{line}, {signal}");
            drop(reader);
            let _ = std::fs::remove_dir_all(workspace.at("trained"));
        }
    }
}

/// Far more lines at once than wait to be written.
#[test]
fn who_reads_standard_error_to_its_end_misses_nothing() {
    let workspace = Workspace::new();
    workspace.write("bad.jsonl", "no game\n".repeat(2_000));
    let error = workspace.refused("import bad.jsonl --out bad.hgames");
    assert_eq!(error.lines().filter(|line| line.starts_with("warning: left out: ")).count(), 2_000);
    assert!(error.lines().last().is_some_and(|line| line.starts_with("error: no game could be read")), "{error}");
}

/// As the names of configurations do; a match would else silently be another one where such a folder lies.
#[test]
fn a_shipped_name_means_the_shipped_network() {
    let workspace = Workspace::new();
    std::fs::create_dir(workspace.at("brandubh")).expect("a new folder");
    std::fs::write(workspace.at("brandubh/card.json"), "no card").expect("written");
    workspace.succeeds("export-net brandubh --onnx shipped.onnx");
    let refused = workspace.refused("export-net ./brandubh --onnx other.onnx");
    assert!(refused.contains("brandubh/card.json"), "{refused}");
    let settings = "--set budget.generations=1 --set evaluate.games=0";
    let Ended { out, .. } = workspace.run(&format!("train --config tiny.toml --run tafl {settings}"));
    assert!(out.ends_with(" play model:./tafl\n"), "{out}");
}

#[test]
fn results_alone_go_to_standard_output() {
    let workspace = Workspace::new();
    let settings = "--set budget.generations=1 --set evaluate.games=0 --set run.precision=int8";
    let mut train = workspace.command(&format!("train --config tiny.toml --run one {settings}"));
    // As without Cargo, which these tests are run by.
    let Ended { out, error, .. } = train.env_remove("CARGO_MANIFEST_DIR").output().expect("starts").into();
    assert!(out.starts_with("trained 1 generations, ") && out.contains("\ncheckpoint  one/"), "{out}");
    assert!(out.ends_with(&format!("\nplay it     {} play model:one\n", env!("CARGO_BIN_EXE_hnefi"))), "{out}");
    assert!(!out.contains("warning") && !out.contains("parameters, from"), "{out}");
    assert!(error.contains("parameters, from random weights") && error.contains(" gen   time"), "{error}");
    let Ended { out, error, .. } = workspace.run(&format!("--quiet train --config tiny.toml --run two {settings}"));
    assert!(out.starts_with("trained 1 generations, "), "{out}");
    assert!(out.ends_with("\nplay it     cargo run --release -- play model:two\n"), "{out}");
    // On a CPU without the instructions for that precision there is a warning, which is no note.
    assert!(error.lines().all(|line| line.starts_with("warning: ")), "{error}");
    let Ended { out, error, .. } = workspace.run("match random random --games 20 -q");
    assert!(out.starts_with("random against random") && error.is_empty(), "{out}{error}");
    let error = workspace.run("match random random --games 20").error;
    assert!(error.contains("/20 games +"), "{error}");
}

fn run_to(output: impl Into<Stdio>, workspace: &Workspace, line: &str) -> Ended {
    workspace.command(line).stdout(output).output().expect("starts").into()
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_are_one_error_and_files_are_written_all_the_same() {
    let workspace = Workspace::new();
    workspace.write("games.csv", super::ARCHIVE);
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device of Linux");
    let short = "train --config tiny.toml --set budget.generations=1 --set evaluate.games=0 --run run";
    for (line, file) in [
        ("match random random --games 4 --threads 1 --json --save match.hgames", Some("match.hgames")),
        ("import games.csv --rules brandubh --out import.hgames", Some("import.hgames")),
        ("judge brandubh import.hgames", None),
        ("judge brandubh import.hgames --json", None),
        ("export import.hgames --format jsonl", None),
        ("export-net brandubh --onnx net.onnx --reference net.npz", Some("net.npz")),
        ("imitate import.hgames --epochs 0.01 --config tiny.toml --out people", Some("people/card.json")),
        (short, Some("run/checkpoints/000001/card.json")),
        ("worker run", None),
        ("check run", None),
        ("ladder run --show", None),
        ("ladder run --show --json", None),
        ("watch run", None),
        ("metrics run --csv", None),
        ("fetch run --run copy", Some("copy/run.json")),
        ("selfplay --model brandubh --games 1 --playouts 2 --out games", Some("games/games/000001.hgames")),
        ("puzzles solve random --every 100", None),
        ("puzzles solve random --every 100 --json", None),
        ("puzzles find import.hgames --out puzzles.jsonl", Some("puzzles.jsonl")),
        ("perft --rules brandubh --depth 1", None),
        ("bench engine --seconds 0.01 --repeats 1 --threads 1", None),
        ("bench engine --seconds 0.01 --repeats 1 --threads 1 --json", None),
        ("doctor", None),
        ("completions bash", None),
        ("help", None),
        ("help train", None),
        ("--help", None),
        ("-h", None),
        ("--version", None),
        ("puzzles solve --help", None),
        ("man --out man1", Some("man1/hnefi.1")),
        ("train --print-config", None),
        ("train --help-config", None),
        ("play --web --listen 0", None),
    ] {
        let Ended { error, code, .. } = run_to(full(), &workspace, line);
        assert_eq!(code, Some(1), "{line}: {error}");
        let errors: Vec<&str> = error.lines().filter(|line| line.starts_with("error: ")).collect();
        assert!(errors.len() == 1 && errors[0].contains("No space left on device"), "{line}: {error}");
        assert!(file.is_none_or(|file| workspace.at(file).is_file()), "{line} has not written {file:?}");
    }
    // Both errors are reported.
    std::fs::create_dir(workspace.at("late")).expect("a folder");
    let slow = "match random random --games 100000000 --threads 1 --save late/games.hgames";
    let child = workspace.command(slow).stdout(full()).spawn().expect("starts");
    await_handler(&child);
    std::fs::remove_dir(workspace.at("late")).expect("still empty");
    workspace.write("late", "no folder");
    send(&child, Signal::SIGINT);
    let error = Ended::from(child.wait_with_output().expect("ended")).error;
    let last = error.lines().last().unwrap_or_default();
    assert!(last.starts_with("error: writing late/games.hgames: "), "{error}");
    assert!(last.contains("; writing to standard output: "), "{error}");
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let workspace = Workspace::new();
    for line in
        ["train --print-config", "completions bash", "help", "doctor", "match random random --games 2 --save x.hgames"]
    {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let Ended { error, code, .. } = run_to(writer, &workspace, line);
        assert_eq!(code, Some(0), "{line}: {error}");
        assert!(!error.contains("error: "), "{line}: {error}");
    }
    assert!(workspace.at("x.hgames").is_file());
}

/// What plays is chosen alike and said, in the terminal and behind the protocol.
#[test]
fn the_network_for_a_ruleset_is_chosen_and_told_alike() {
    let workspace = Workspace::new();
    for (rules, network) in [
        ("brandubh", "brandubh"),
        ("copenhagen", "copenhagen"),
        ("fetlar", "copenhagen"),
        ("historical", "copenhagen"),
        ("tablut", "copenhagen"),
    ] {
        let player = format!("model:{network},playouts=200 plays {rules}");
        let Ended { out, error, .. } = workspace.succeeds(&format!("play --plain --rules {rules}"));
        assert!(error.contains(&player) && !out.contains(&player), "{rules}: {error}");
        assert!(!error.contains("warning: "), "{rules}: {error}");
        let said = workspace.succeeds_with(&format!("uci --rules {rules}"), "isready\n").out;
        assert!(said.contains(&format!("network {network} is loaded")), "{rules}: {said}");
    }
    let error = workspace.run("play --plain model:brandubh --rules tablut").error;
    assert!(error.contains("warning: the network was trained on brandubh, not on tablut"), "{error}");
}

fn subcommands(workspace: &Workspace) -> Vec<String> {
    let help = workspace.run("--help").out;
    let listed = help.lines().skip_while(|line| *line != "Play:").take_while(|line| *line != "Options:");
    // Names stand at two spaces, their stories further in.
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn help_fits_a_narrow_terminal_and_ends_with_examples() {
    let workspace = Workspace::new();
    let names = subcommands(&workspace);
    assert!(names.len() > 20, "{names:?}");
    for name in names.iter().filter(|name| *name != "help") {
        for form in ["--help", "-h"] {
            let mut command = workspace.command(&format!("{name} {form}"));
            let help = Ended::from(command.env("COLUMNS", "80").output().expect("starts")).out;
            let long = help.lines().find(|line| line.chars().count() > 80);
            assert_eq!(long, None, "{name} {form}");
            assert!(help.contains(&format!("Examples:\n  hnefi {name}")), "{name}: {help}");
        }
    }
}

#[test]
fn shells_and_man_know_every_command() {
    let workspace = Workspace::new();
    let names = subcommands(&workspace);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = workspace.run(&format!("completions {shell}")).out;
        for name in &names {
            assert!(script.contains(name.as_str()), "{shell} does not know {name}");
        }
        assert!(script.contains("opening-plies"), "{shell} does not know the options");
    }
    workspace.succeeds("man --out pages/man1");
    for name in names.iter().filter(|name| *name != "help") {
        let page = String::from_utf8(workspace.read(&format!("pages/man1/hnefi-{name}.1"))).expect("text");
        assert!(page.contains(".TH hnefi") && page.contains(".SH EXAMPLES\n.nf\n  hnefi"), "{name}: {page}");
    }
    let page = String::from_utf8(workspace.read("pages/man1/hnefi.1")).expect("text");
    assert!(page.contains(".SH NOTES\n") && !page.contains(".SH EXTRA"), "{page}");
}

#[test]
fn who_waits_for_a_run_says_so() {
    let workspace = Workspace::new();
    let mut child = workspace.command("worker no/such --wait").spawn().expect("starts");
    let mut line = String::new();
    BufReader::new(child.stderr.take().expect("piped")).read_line(&mut line).expect("a line");
    assert_eq!(line, "no/such: no run has begun there yet; waiting\n");
    child.kill().expect("killed");
    child.wait().expect("ended");
}

#[test]
fn nohup_is_obeyed() {
    let hnefi = env!("CARGO_BIN_EXE_hnefi");
    let line = format!("trap '' HUP; exec {hnefi} match random random --games 100000000 --threads 1 -q");
    let mut child = std::process::Command::new("sh").args(["-c", &line]).stdout(Stdio::null()).spawn().expect("starts");
    await_handler(&child);
    send(&child, Signal::SIGHUP);
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(child.try_wait().expect("a child").is_none(), "it ended by the hangup");
    send(&child, Signal::SIGTERM);
    assert_eq!(child.wait().expect("ended").code(), Some(130));
}

#[test]
fn a_long_move_is_left_at_once() {
    let workspace = Workspace::new();
    for line in [
        "match model:brandubh,time=3000 random --threads 1",
        "match model:brandubh,threads=2,time=3000 random",
        "match uci:cat,timeout=600 random --games 2 --threads 1",
        "puzzles solve uci:cat,timeout=600 --threads 1",
    ] {
        let mut child = workspace.command(line).spawn().expect("starts");
        await_handler(&child);
        // The first move begins.
        std::thread::sleep(std::time::Duration::from_secs(2));
        send(&child, Signal::SIGINT);
        wait_until(&format!("{line}: the move goes on"), || child.try_wait().expect("a child").is_some());
        let Ended { error, code, .. } = child.wait_with_output().expect("ended").into();
        assert_eq!(code, Some(130), "{line}: {error}");
        assert_eq!(error.contains("auto takes "), line.contains("time=3000"), "{line}: {error}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_board_is_drawn_after_the_notes_and_given_back_at_a_signal() {
    let workspace = Workspace::new();
    let program = env!("CARGO_BIN_EXE_hnefi");
    let line = format!("echo $$ >pid; stty rows 24 cols 80; exec {program} play random --rules brandubh");
    let mut script = std::process::Command::new("script");
    script.args(["-qfec", &line, "log"]).current_dir(workspace.at("")).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = script.spawn().expect("util-linux is there");
    let log = || std::fs::read(workspace.at("log")).unwrap_or_default();
    let at = |words: &str| log().windows(words.len()).position(|here| here == words.as_bytes());
    // Differences are drawn: only what is drawn at first stands in one piece.
    wait_until("no board", || at("all keys").is_some());
    let pid = std::fs::read_to_string(workspace.at("pid")).expect("a number").trim().parse().expect("a number");
    kill(Pid::from_raw(pid), Signal::SIGTERM).expect("sent");
    child.wait().expect("ended");
    assert!(at("random plays brandubh") < at("\u{1b}[?1049h"), "a note within the drawing");
    assert!(at("\u{1b}[?1049l").is_some(), "the terminal is not given back");
}

#[test]
fn who_plays_and_who_gives_hints_is_told_apart() {
    let workspace = Workspace::new();
    for (side, does) in [("both", "random gives hints for brandubh"), ("attackers", "random plays brandubh")] {
        let error = workspace.succeeds_with(&format!("play --side {side} --plain random"), "quit\n").error;
        assert!(error.contains(does), "{error}");
    }
}
