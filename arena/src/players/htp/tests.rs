//! The player against small shell scripts that call as the protocol's programs do.

use hnefi_engine::Preset;

use super::*;
use hnefi_search::rng_for;

/// A program that calls and then, for each line it hears, does what the `case` branches say.
fn player(branches: &str, settings: &str) -> HtpPlayer {
    let script = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{PORT}; while read -r line <&3; do echo \"$line\"; \
         case \"$line\" in {branches} esac; done"
    );
    let spec = HtpSpec::parse(&format!("bash -c '{script}'{settings}")).expect("a spec");
    HtpPlayer::new(format!("htp:{spec}"), &spec).expect("a player")
}

fn start() -> Game {
    Game::new(&Preset::CopenhagenHnefataflOrg.rules())
}

/// All in one test: the port is one.
#[test]
fn a_program_is_called_told_heard_and_judged() {
    let plays = "generate_move) echo play attacker A4 B4 >&3;;";
    // While the port is somebody else's the game waits, as long as a move may take.
    let held = open_port(Instant::now() + Duration::from_secs(60)).expect("the port");
    match player(plays, ",timeout=1").choose(&start(), &mut rng_for(&[1])) {
        Err(PlayerError::Program { error, .. }) => {
            assert!(error.problem.contains("cannot be opened"), "{}", error.problem)
        }
        other => panic!("no error: {other:?}"),
    }
    let release = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(held);
    });
    let mut good = player(plays, "");
    let choice = good.choose(&start(), &mut rng_for(&[1])).expect("a move");
    assert_eq!(choice.mv.text(BoardSize::Eleven), "a4b4");
    release.join().expect("the port's holder");

    // What was played before it came in it is told; here it must hear all of it to answer.
    let mut game = start();
    for text in ["a4b4", "f4d4"] {
        game.play(Move::parse(text, BoardSize::Eleven).expect("a move")).expect("legal");
    }
    let branches = "play?attacker?a4?b4) a=1;; play?defender?f4?d4) b=1;; \
                    generate_move) [ \"$a$b\" = 11 ] && echo play attacker a5 b5 >&3;;";
    let mut listening = player(branches, "");
    listening.new_game();
    let choice = listening.choose(&game, &mut rng_for(&[1])).expect("a move");
    assert_eq!(choice.mv.text(BoardSize::Eleven), "a5b5");

    for (branches, kind, message) in [
        ("generate_move) echo play attacker a4 a4 >&3;;", ProgramErrorKind::IllegalMove, "a4"),
        (
            "generate_move) echo play defender f4 d4 >&3;;",
            ProgramErrorKind::IllegalMove,
            "expected \"play attacker FROM TO\"",
        ),
        ("generate_move) echo play attacker resigns _ >&3;;", ProgramErrorKind::Resigned, "it resigned"),
        ("generate_move) sleep 100;;", ProgramErrorKind::Timeout, "no move within"),
        (
            "generate_move) head -c 9999 /dev/zero >&3; sleep 100;;",
            ProgramErrorKind::Crash,
            "it sent a line of more than 4096 bytes before its move",
        ),
        (
            "generate_move) echo it broke >&2; exit 3;;",
            ProgramErrorKind::Crash,
            "exit status: 3) before its move: it broke",
        ),
    ] {
        let mut player = player(branches, ",timeout=3");
        match player.choose(&start(), &mut rng_for(&[1])) {
            Err(PlayerError::Program { error, .. }) => {
                assert_eq!(error.kind, kind, "{branches}: {}", error.problem);
                assert!(error.problem.contains(message), "{branches}: {}", error.problem);
            }
            other => panic!("{branches}: no error: {other:?}"),
        }
    }

    let small = Game::new(&Preset::Brandubh.rules());
    let error = good.choose(&small, &mut rng_for(&[1])).expect_err("too small").to_string();
    assert!(error.contains("11x11 only"), "{error}");
}
