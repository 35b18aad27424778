//! The player against small shell scripts.

use std::time::Duration;

use hnefi_engine::{Preset, Repetition};

use super::*;
use hnefi_search::rng_for;

/// A program that does what the script says, by `sh`.
fn player(script: &str, settings: &str) -> UciPlayer {
    let text = format!("sh -c '{script}'{settings}");
    let spec = UciSpec::parse(&text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
    UciPlayer::start(format!("uci:{spec}"), &spec).expect("there is a shell")
}

/// A program that answers the handshake and then, for each line it is sent, what the `case` branches say.
fn talker(branches: &str) -> String {
    format!("while read -r line; do case \"$line\" in uci) echo uciok;; isready) echo readyok;; {branches} esac; done")
}

fn start() -> Game {
    Game::new(&Preset::Brandubh.rules())
}

fn mv(text: &str) -> Move {
    Move::parse(text, start().rules().size()).expect("a move")
}

fn failure(player: &mut UciPlayer) -> ProgramError {
    match player.choose(&start(), &mut rng_for(&[1])) {
        Err(PlayerError::Program { player, error }) => {
            assert!(player.starts_with("uci:sh -c"), "{player}");
            error
        }
        other => panic!("no error: {other:?}"),
    }
}

#[test]
fn a_good_program_is_heard() {
    let script = talker(
        "go*) echo noise; echo info depth 1 wdl 700 100 200 nodes 12 multipv 1 pv d6f6; \
         echo bestmove d6f6;; quit) exit;;",
    );
    let mut player = player(&script, "");
    player.new_game();
    let choice = player.choose(&start(), &mut rng_for(&[1])).expect("a move");
    assert_eq!(choice.mv.text(start().rules().size()), "d6f6");
    assert_eq!((choice.playouts, choice.wdl.map(|wdl| wdl.win)), (12, Some(0.7)));
    // The same move again is illegal now: the program does not look at the board.
    let mut game = start();
    game.play(choice.mv).expect("legal");
    game.play(mv("d5f5")).expect("legal");
    let error = player.choose(&game, &mut rng_for(&[1])).expect_err("illegal").to_string();
    assert!(error.contains("d6f6"), "{error}");
}

#[test]
fn options_are_told_once_and_before_the_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lines");
    let script = talker(&format!(
        "setoption*|ucinewgame) echo \"$line\" >> {};; go*) echo bestmove d6f6;; quit) exit;;",
        file.display()
    ));
    let mut player = player(&script, ",nodes=1,option.Variant=historical11x11,option.Multi PV=2");
    for _ in 0..2 {
        player.new_game();
        player.choose(&start(), &mut rng_for(&[1])).expect("a move");
    }
    let told = std::fs::read_to_string(&file).expect("lines");
    let expected =
        "setoption name Variant value historical11x11\nsetoption name Multi PV value 2\nucinewgame\nucinewgame\n";
    assert_eq!(told, expected);
}

#[test]
fn every_ruleset_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("lines");
    // It gives no move: what it was told before is looked at.
    let script = format!(
        "while read -r line; do case \"$line\" in uci) echo option name Rules type string; echo uciok;; \
         isready) echo readyok;; setoption*) echo \"$line\" >> {};; go*) echo bestmove;; quit) exit;; esac; done",
        file.display()
    );
    let mut player = player(&script, ",nodes=1");
    let own = Rules { shieldwall: true, ..Preset::Tablut.rules() };
    let listed: Rules = "ard-ri".parse::<NamedRules>().expect("published").rules();
    for rules in [Preset::Brandubh.rules(), listed, own] {
        player.choose(&Game::new(&rules), &mut rng_for(&[1])).expect_err("no move");
        let told = std::fs::read_to_string(&file).expect("lines");
        let last = told.lines().last().and_then(|line| line.strip_prefix("setoption name Rules value "));
        let told: NamedRules = last.expect("rules").parse().expect("rules that are known");
        assert_eq!(told.rules(), rules);
    }
}

#[test]
fn failures_are_told_apart_and_name_what_was_seen() {
    for (script, kind, message) in [
        ("exec sleep 100", ProgramErrorKind::Timeout, "no uciok within"),
        ("sleep 100", ProgramErrorKind::Timeout, "no uciok within"),
        ("while :; do echo chatter; done", ProgramErrorKind::Timeout, "no uciok within"),
        (
            "head -c 99999 /dev/zero; sleep 100",
            ProgramErrorKind::Crash,
            "wrote a line of more than 65536 bytes before uciok",
        ),
        (&talker("go*) head -c 99999 /dev/zero; sleep 100;;"), ProgramErrorKind::Crash, "65536 bytes before bestmove"),
        ("echo it is broken >&2; exit 3", ProgramErrorKind::Crash, "exit status: 3) before uciok: it is broken"),
        ("read line; echo uciok; exec >&-; sleep 100", ProgramErrorKind::Crash, "closed its output before readyok"),
        (&talker("go*) sleep 100;;"), ProgramErrorKind::Timeout, "no bestmove within"),
        (&talker("go*) kill -9 $$;;"), ProgramErrorKind::Crash, "before bestmove"),
        (&talker("go*) echo bestmove a1a9;;"), ProgramErrorKind::IllegalMove, "a9 lies off the 7x7 board"),
        (&talker("go*) echo bestmove d1d2;;"), ProgramErrorKind::IllegalMove, "d1d2"),
        (&talker("go*) echo bestmove;;"), ProgramErrorKind::IllegalMove, "the game goes on"),
    ] {
        let mut player = player(script, ",movetime=1,timeout=0.5");
        let found = failure(&mut player);
        assert_eq!(found.kind, kind, "{script}: {}", found.problem);
        assert!(found.problem.contains(message), "{script}: {}", found.problem);
        // The next game begins with a new process, and comes to the same end.
        player.new_game();
        assert_eq!(failure(&mut player).kind, kind);
    }
}

#[test]
fn a_program_that_reads_nothing_does_not_block_its_player() {
    // More than any pipe holds is sent to it before its answers are looked at.
    let mut player = player("while :; do echo uciok; echo readyok; echo bestmove d6f6; done", ",nodes=1");
    let mut game = Game::new(&Rules { repetition: Repetition::Ignore, ..Preset::Brandubh.rules() });
    for text in ["d6f6", "d5f5", "f6d6", "f5d5"].repeat(500) {
        game.play(mv(text)).expect("legal");
    }
    for _ in 0..40 {
        let process = player.process.as_mut().expect("running");
        process.send("x".repeat(10_000));
        let choice = player.choose(&game, &mut rng_for(&[1])).expect("a legal move, if by chance");
        assert_eq!(choice.mv.text(start().rules().size()), "d6f6");
    }
}

#[test]
fn nothing_is_left_running() {
    for script in [
        // Neither of the two ends when told to, nor when its input is closed.
        "trap \"\" TERM HUP INT; sleep 1000 & echo $$ $! > FILE; wait",
        // The program does, and leaves the other behind.
        "sleep 1000 & echo $$ $! > FILE; while read -r line; do case \"$line\" in quit) exit;; esac; done",
        // The same without a word.
        "sleep 1000 & echo $$ $! > FILE",
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("pids");
        let player = player(&script.replace("FILE", &file.display().to_string()), "");
        let end = Instant::now() + Duration::from_secs(20);
        let pids = loop {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if text.ends_with('\n') {
                break text;
            }
            assert!(Instant::now() < end, "the script does not start");
            std::thread::sleep(Duration::from_millis(10));
        };
        drop(player);
        for pid in pids.split_whitespace() {
            let pid = nix::unistd::Pid::from_raw(pid.parse().expect("a number"));
            // A killed grandchild is init's to reap, which may take a moment.
            let gone = || {
                let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
                nix::sys::signal::kill(pid, None).is_err() || status.contains(") Z ")
            };
            while !gone() {
                assert!(Instant::now() < end, "{script}: {pid} is still running");
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

#[test]
fn what_a_program_says_cannot_steer_a_terminal() {
    let mut player = player("printf \"\\033[2Jgone\\n\" >&2; exit 3", "");
    let found = failure(&mut player).problem;
    assert!(found.ends_with("before uciok: \\u{1b}[2Jgone"), "{found:?}");
}

#[test]
fn the_game_is_told_from_its_start() {
    let mut game = start();
    assert_eq!(command(&game), "position startpos");
    for text in ["d6f6", "d5f5"] {
        game.play(mv(text)).expect("legal");
    }
    assert_eq!(command(&game), "position startpos moves d6f6 d5f5");
    game.undo();
    assert_eq!(command(&game), "position startpos moves d6f6");

    let fen = "3a3/3a3/3d3/aadkdaa/3d3/3a3/2a4 d";
    let mut game = Game::from_fen(&Preset::Brandubh.rules(), fen).expect("a legal position");
    let start = game.start().fen();
    assert!(start.starts_with(fen.split_once(' ').expect("two words").0), "{start}");
    assert_eq!(command(&game), format!("position fen {start}"));
    game.play(mv("d5f5")).expect("legal");
    assert_eq!(command(&game), format!("position fen {start} moves d5f5"));
}

#[test]
fn a_program_that_does_not_exist_is_refused_at_once() {
    let spec = UciSpec::parse("/no/such/program --x").expect("a command");
    let error = UciPlayer::start("uci:x".to_owned(), &spec).err().expect("refused").to_string();
    assert!(error.contains("\"/no/such/program\" cannot be started"), "{error}");
}
