//! The player against small shell scripts that call as the protocol's programs do.

use hnefi_engine::Preset;

use super::*;
use hnefi_search::rng_for;

/// A program that calls and then, for each line it hears, does what the `case` branches say.
fn started(branches: &str, settings: &str) -> Result<HtpPlayer, PlayerError> {
    let script = format!(
        "exec 3<>/dev/tcp/127.0.0.1/{PORT}; while read -r line <&3; do echo \"$line\"; \
         case \"$line\" in {branches} esac; done"
    );
    let spec = HtpSpec::parse(&format!("bash -c '{script}'{settings}")).expect("a spec");
    HtpPlayer::start(format!("htp:{spec}"), &spec)
}

fn player(branches: &str, settings: &str) -> HtpPlayer {
    started(branches, settings).unwrap_or_else(|error| panic!("{error}"))
}

/// What a program is refused for that does not come so far as to play.
fn refusal(command: &str) -> String {
    let spec = HtpSpec::parse(command).expect("a spec");
    HtpPlayer::start(format!("htp:{spec}"), &spec).err().expect("refused").to_string()
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
    let error = started(plays, ",timeout=1").err().expect("the port is held").to_string();
    assert!(error.contains("cannot be opened"), "{error}");
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

    for (command, message) in [
        ("/no/such/program --x", "the program \"/no/such/program\" cannot be started"),
        ("sh -c 'echo it broke >&2; exit 3'", "exit status: 3) before its call at port 49152: it broke"),
        ("sleep 100,timeout=0.5", "no sign of its call at port 49152"),
    ] {
        let error = refusal(command);
        assert!(error.contains(message), "{command}: {error}");
    }

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

    // It ends as soon as its game is over: when it has heard the move, or when it has made its own.
    let told = ["a4b4", "f4d4", "a5b5", "g5g4"].map(|text| Move::parse(text, BoardSize::Eleven).expect("a move"));
    let first = "generate_move) [ $((n += 1)) = 1 ] && echo play attacker a4 b4 >&3 || echo play attacker a5 b5 >&3";
    for (branches, moves) in [
        (format!("play?defender*) exit;; {first};;"), 2),
        (format!("{first}; [ $n = 2 ] && exit;;"), 4),
        // With a fault it is a crash.
        (format!("play?defender*) exit 1;; {first};;"), 0),
    ] {
        let (mut player, mut game) = (player(&branches, ",timeout=20"), start());
        player.new_game();
        let error = loop {
            match player.choose(&game, &mut rng_for(&[1])) {
                Ok(choice) => game.play(choice.mv).expect("legal"),
                Err(PlayerError::Program { error, .. }) => break error,
                Err(error) => panic!("{error}"),
            };
            game.play(told[game.len()]).expect("legal");
        };
        let kind = if moves > 0 { ProgramErrorKind::Ended } else { ProgramErrorKind::Crash };
        assert_eq!((error.kind, game.len()), (kind, moves.max(2)), "{branches}: {}", error.problem);
    }

    let small = Game::new(&Preset::Brandubh.rules());
    let error = good.choose(&small, &mut rng_for(&[1])).expect_err("too small").to_string();
    assert!(error.contains("11x11 only"), "{error}");
}
