//! How the binary behaves as a program among programs: its streams, its exit status, its help, and what shells know of
//! it.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Far more than anything here takes, on any machine.
const TIMEOUT: Duration = Duration::from_secs(120);

fn hnefi(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hnefi"));
    command.args(shlex::split(line).expect("words")).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(folder: &Path, line: &str) -> Output {
    hnefi(folder, line).output().expect("the binary starts")
}

/// Standard output and standard error.
fn texts(output: &Output) -> [String; 2] {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("tiny.toml"), include_str!("data/tiny.toml")).expect("written");
    folder
}

/// Waits until the process catches interrupts, by its status in Linux.
fn await_handler(child: &Child) {
    let until = Instant::now() + TIMEOUT;
    let catches = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 2 != 0)
    };
    while !catches() {
        assert!(Instant::now() < until, "it never caught interrupts");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn whatever_is_interrupted_says_so_by_its_exit_status() {
    let folder = folder();
    std::fs::create_dir_all(folder.path().join("run")).expect("a folder");
    std::fs::write(folder.path().join("run/run.json"), "{}").expect("written");
    for line in [
        "match random random --games 100000000 --threads 1",
        "selfplay --config tiny.toml --games 100000 --threads 1 --out games",
        "train --config tiny.toml --set budget.generations=9999 --set run.threads=1 --run trained",
        "worker no/such --wait",
        "fetch run --run copy --follow",
    ] {
        for signal in [Signal::SIGINT, Signal::SIGTERM] {
            let child = hnefi(folder.path(), line).spawn().expect("starts");
            await_handler(&child);
            kill(Pid::from_raw(child.id() as i32), signal).expect("sent");
            let output = child.wait_with_output().expect("ended");
            let [out, error] = texts(&output);
            assert_eq!(output.status.code(), Some(130), "{line}, {signal}: {out}{error}");
            assert!(error.contains("stopping at the next safe point"), "{line}: {error}");
        }
    }
    assert!(!folder.path().join("no").exists(), "who waits for a run makes none");
    assert_eq!(run(folder.path(), "match random nobody").status.code(), Some(2));
    assert_eq!(run(folder.path(), "watch no/such").status.code(), Some(1));
    assert_eq!(run(folder.path(), "match random random --games 2").status.code(), Some(0));
}

/// Standard error is a pipe that is full, as one whose reader has stopped.
#[test]
fn who_does_not_read_standard_error_holds_up_no_work_and_no_signal() {
    let folder = folder();
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
            let mut child = hnefi(folder.path(), line).stderr(writer).spawn().expect("starts");
            await_handler(&child);
            let until = Instant::now() + TIMEOUT;
            while !folder.path().join(works).exists() {
                assert!(Instant::now() < until, "{line}: no work is done");
                std::thread::sleep(Duration::from_millis(10));
            }
            kill(Pid::from_raw(child.id() as i32), signal).expect("sent");
            while child.try_wait().expect("a child").is_none() {
                assert!(Instant::now() < until, "{line}, {signal}: it has not ended");
                std::thread::sleep(Duration::from_millis(10));
            }
            assert_eq!(child.wait().expect("ended").code(), Some(130), "{line}, {signal}");
            drop(reader);
            let _ = std::fs::remove_dir_all(folder.path().join("trained"));
        }
    }
}

#[test]
fn results_alone_go_to_standard_output() {
    let folder = folder();
    let settings = "--set budget.generations=1 --set evaluate.games=0 --set run.precision=int8";
    let mut train = hnefi(folder.path(), &format!("train --config tiny.toml --run one {settings}"));
    // As without Cargo, which these tests are run by.
    let [out, error] = texts(&train.env_remove("CARGO_MANIFEST_DIR").output().expect("starts"));
    assert!(out.starts_with("trained 1 generations, ") && out.contains("\ncheckpoint  one/"), "{out}");
    assert!(out.ends_with(&format!("\nplay it     {} play model:one\n", env!("CARGO_BIN_EXE_hnefi"))), "{out}");
    assert!(!out.contains("warning") && !out.contains("parameters, from"), "{out}");
    assert!(error.contains("parameters, from random weights") && error.contains(" gen   time"), "{error}");
    let [out, error] = texts(&run(folder.path(), &format!("--quiet train --config tiny.toml --run two {settings}")));
    assert!(out.starts_with("trained 1 generations, "), "{out}");
    assert!(out.ends_with("\nplay it     cargo run --release -- play model:two\n"), "{out}");
    // On a CPU without the instructions for that precision there is a warning, which is no note.
    assert!(error.lines().all(|line| line.starts_with("warning: ")), "{error}");
    let [out, error] = texts(&run(folder.path(), "match random random --games 20 -q"));
    assert!(out.starts_with("random against random") && error.is_empty(), "{out}{error}");
    let [_, error] = texts(&run(folder.path(), "match random random --games 20"));
    assert!(error.contains("/20 games +"), "{error}");
}

fn run_to(output: impl Into<Stdio>, folder: &Path, line: &str) -> Output {
    hnefi(folder, line).stdout(output).output().expect("the binary starts")
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written_are_one_error_and_files_are_written_all_the_same() {
    let folder = folder();
    let games = "game,moves,a,d,result\n3,d2-c2 d5-e5 d6-c6 e5-e6 timeout,0,0,White\n";
    std::fs::write(folder.path().join("games.csv"), games).expect("written");
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
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device of Linux");
        let output = run_to(full, folder.path(), line);
        let [_, error] = texts(&output);
        assert_eq!(output.status.code(), Some(1), "{line}: {error}");
        let errors: Vec<&str> = error.lines().filter(|line| line.starts_with("error: ")).collect();
        assert!(errors.len() == 1 && errors[0].contains("No space left on device"), "{line}: {error}");
        assert!(!error.contains("panicked"), "{line}: {error}");
        assert!(file.is_none_or(|file| folder.path().join(file).is_file()), "{line} has not written {file:?}");
    }
    // Both errors are reported.
    std::fs::create_dir(folder.path().join("late")).expect("a folder");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device of Linux");
    let slow = "match random random --games 100000000 --threads 1 --save late/games.hgames";
    let child = hnefi(folder.path(), slow).stdout(full).spawn().expect("starts");
    await_handler(&child);
    std::fs::remove_dir(folder.path().join("late")).expect("still empty");
    std::fs::write(folder.path().join("late"), "no folder").expect("written");
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).expect("sent");
    let [_, error] = texts(&child.wait_with_output().expect("ended"));
    let last = error.lines().last().unwrap_or_default();
    assert!(last.starts_with("error: writing late/games.hgames: "), "{error}");
    assert!(last.contains("; writing to standard output: "), "{error}");
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let folder = folder();
    for line in
        ["train --print-config", "completions bash", "help", "doctor", "match random random --games 2 --save x.hgames"]
    {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = run_to(writer, folder.path(), line);
        let [_, error] = texts(&output);
        assert_eq!(output.status.code(), Some(0), "{line}: {error}");
        assert!(!error.contains("error: ") && !error.contains("panicked"), "{line}: {error}");
    }
    assert!(folder.path().join("x.hgames").is_file());
}

/// What plays is chosen alike and said, in the terminal and behind the protocol.
#[test]
fn the_network_for_a_ruleset_is_chosen_and_told_alike() {
    let folder = folder();
    for (rules, network) in [
        ("brandubh", "brandubh"),
        ("copenhagen", "copenhagen"),
        ("fetlar", "copenhagen"),
        ("historical", "copenhagen"),
        ("tablut", "copenhagen"),
    ] {
        let player = format!("model:{network},playouts=200 plays {rules}");
        let play = run(folder.path(), &format!("play --plain --rules {rules}"));
        let [out, error] = texts(&play);
        assert!(play.status.success(), "{error}");
        assert!(error.contains(&player) && !out.contains(&player), "{rules}: {error}");
        assert!(!error.contains("warning: "), "{rules}: {error}");
        let mut uci =
            hnefi(folder.path(), &format!("uci --rules {rules}")).stdin(Stdio::piped()).spawn().expect("starts");
        std::io::Write::write_all(&mut uci.stdin.take().expect("piped"), b"isready\n").expect("written");
        let [said, _] = texts(&uci.wait_with_output().expect("ended"));
        assert!(said.contains(&format!("network {network} is loaded")), "{rules}: {said}");
    }
    let [_, error] = texts(&run(folder.path(), "play --plain model:brandubh --rules tablut"));
    assert!(error.contains("warning: the network was trained on brandubh, not on tablut"), "{error}");
}

fn subcommands(folder: &Path) -> Vec<String> {
    let [help, _] = texts(&run(folder, "--help"));
    let listed = help.lines().skip_while(|line| *line != "Play:").take_while(|line| *line != "Options:");
    // Names stand at two spaces, their stories further in.
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

#[test]
fn help_fits_a_narrow_terminal_and_ends_with_examples() {
    let folder = folder();
    let names = subcommands(folder.path());
    assert!(names.len() > 20, "{names:?}");
    for name in names.iter().filter(|name| *name != "help") {
        for form in ["--help", "-h"] {
            let output = hnefi(folder.path(), &format!("{name} {form}")).env("COLUMNS", "80").output().expect("starts");
            let [help, error] = texts(&output);
            assert!(output.status.success(), "{name}: {error}");
            let long = help.lines().find(|line| line.chars().count() > 80);
            assert_eq!(long, None, "{name} {form}");
            assert!(help.contains(&format!("Examples:\n  hnefi {name}")), "{name}: {help}");
        }
    }
}

#[test]
fn shells_and_man_know_every_command() {
    let folder = folder();
    let names = subcommands(folder.path());
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let [script, _] = texts(&run(folder.path(), &format!("completions {shell}")));
        for name in &names {
            assert!(script.contains(name.as_str()), "{shell} does not know {name}");
        }
        assert!(script.contains("opening-plies"), "{shell} does not know the options");
    }
    let made = run(folder.path(), "man --out pages/man1");
    assert!(made.status.success(), "{}", texts(&made)[1]);
    for name in names.iter().filter(|name| *name != "help") {
        let page = folder.path().join(format!("pages/man1/hnefi-{name}.1"));
        let page = std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(page.contains(".TH hnefi") && page.contains(".SH EXAMPLES\n.nf\n  hnefi"), "{name}: {page}");
    }
    assert!(folder.path().join("pages/man1/hnefi.1").is_file());
}

#[test]
fn who_waits_for_a_run_says_so() {
    let folder = folder();
    let mut child = hnefi(folder.path(), "worker no/such --wait").spawn().expect("starts");
    let mut line = String::new();
    BufReader::new(child.stderr.take().expect("piped")).read_line(&mut line).expect("a line");
    assert_eq!(line, "no/such: no run has begun there yet; waiting\n");
    child.kill().expect("killed");
    child.wait().expect("ended");
}
