//! Lines of the protocol as commands. Knows words, not boards: moves and FENs are read where a game is at hand.

use std::time::Duration;

/// A line, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Uci,
    IsReady,
    NewGame,
    /// Name and value of an option; a button has no value.
    SetOption {
        name: String,
        value: Option<String>,
    },
    Position {
        fen: Option<String>,
        moves: Vec<String>,
    },
    Go(Go),
    Stop,
    Quit,
}

/// How long to search. Several limits hold together; with none at all the search goes on until it is stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Go {
    pub(super) nodes: Option<u32>,
    pub(super) move_time: Option<Duration>,
    /// The attackers' and the defenders' clock.
    pub(super) clocks: [Option<Clock>; 2],
    /// Moves until the next time control.
    pub(super) moves_to_go: Option<u32>,
    pub(super) infinite: bool,
    /// Limits that other engines know and this one does not.
    pub(super) unknown: Vec<String>,
}

/// One side's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    pub(super) left: Duration,
    pub(super) increment: Duration,
}

impl Go {
    /// Whether nothing but `stop` ends the search.
    pub(super) fn is_endless(&self) -> bool {
        let bounded = self.nodes.is_some() || self.move_time.is_some() || self.clocks.iter().any(Option::is_some);
        self.infinite || !bounded
    }
}

/// Nodes searched by a `go` whose limits are all unknown here.
pub(super) const NODES_INSTEAD: u32 = 800;

/// The longest time that is understood, a year.
const LONGEST: u64 = 366 * 24 * 3600 * 1000;

/// Reads a line; `None` for an empty one.
///
/// # Errors
/// What is wrong with it and what was expected.
pub(super) fn parse(line: &str) -> Result<Option<Command>, String> {
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return Ok(None) };
    let rest: Vec<&str> = words.collect();
    let command = match first {
        "uci" => Command::Uci,
        "isready" => Command::IsReady,
        "ucinewgame" => Command::NewGame,
        "setoption" => set_option(&rest)?,
        "position" => position(&rest)?,
        "go" => Command::Go(go(&rest)?),
        "stop" => Command::Stop,
        "quit" => Command::Quit,
        _ => {
            return Err(format!(
                "unknown command {}; expected uci, isready, ucinewgame, setoption, position, go, stop or quit",
                shown(first)
            ));
        }
    };
    match command {
        Command::Uci | Command::IsReady | Command::NewGame | Command::Stop | Command::Quit if !rest.is_empty() => {
            Err(format!("{} follows {first}; expected nothing more", shown(&rest.join(" "))))
        }
        command => Ok(Some(command)),
    }
}

/// A word as messages quote it: cut where it is long, on one line.
pub(super) fn shown(text: &str) -> String {
    const LONG: usize = 60;
    let mut cut: String = text.chars().take(LONG).collect();
    if text.chars().nth(LONG).is_some() {
        cut.push_str("...");
    }
    format!("{cut:?}")
}

/// `name X [value Y]`, where both may hold spaces.
fn set_option(words: &[&str]) -> Result<Command, String> {
    let expected = "expected setoption name X value Y";
    let ["name", words @ ..] = words else {
        return Err(format!("setoption without name; {expected}"));
    };
    let value_at = words.iter().position(|&word| word == "value");
    let name = words[..value_at.unwrap_or(words.len())].join(" ");
    if name.is_empty() {
        return Err(format!("setoption with an empty name; {expected}"));
    }
    Ok(Command::SetOption { name, value: value_at.map(|at| words[at + 1..].join(" ")) })
}

/// `startpos|fen F [moves ...]`.
fn position(words: &[&str]) -> Result<Command, String> {
    let expected = "expected position startpos or position fen F, then moves and the moves";
    let (fen, rest) = match words {
        ["startpos", rest @ ..] => (None, rest),
        ["fen", rest @ ..] => {
            let end = rest.iter().position(|&word| word == "moves").unwrap_or(rest.len());
            if end == 0 {
                return Err(format!("position fen without a FEN; {expected}"));
            }
            (Some(rest[..end].join(" ")), &rest[end..])
        }
        _ => return Err(format!("position {}; {expected}", shown(&words.join(" ")))),
    };
    let moves = match rest {
        [] => Vec::new(),
        ["moves", moves @ ..] => moves.iter().map(|&mv| mv.to_owned()).collect(),
        _ => return Err(format!("{} after the position; {expected}", shown(&rest.join(" ")))),
    };
    Ok(Command::Position { fen, moves })
}

fn go(words: &[&str]) -> Result<Go, String> {
    let mut go = Go::default();
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("go {word} without a number"));
        match word {
            "infinite" => go.infinite = true,
            "nodes" => go.nodes = Some(count(word, value()?)?),
            "movetime" => go.move_time = Some(milliseconds(word, value()?)?),
            "wtime" => go.clocks[0].get_or_insert_default().left = milliseconds(word, value()?)?,
            "btime" => go.clocks[1].get_or_insert_default().left = milliseconds(word, value()?)?,
            "winc" => go.clocks[0].get_or_insert_default().increment = milliseconds(word, value()?)?,
            "binc" => go.clocks[1].get_or_insert_default().increment = milliseconds(word, value()?)?,
            "movestogo" => go.moves_to_go = Some(count(word, value()?)?),
            "depth" | "mate" => go.unknown.push(format!("{word} {}", value()?)),
            "ponder" => go.unknown.push(word.to_owned()),
            "searchmoves" => {
                go.unknown.push(word.to_owned());
                while words.next_if(|word| is_move(word)).is_some() {}
            }
            _ => {
                return Err(format!(
                    "go {}: expected nodes N, movetime MS, infinite, or wtime MS btime MS winc MS binc MS",
                    shown(word)
                ));
            }
        }
    }
    if !go.unknown.is_empty() && go.is_endless() && !go.infinite {
        go.nodes = Some(NODES_INSTEAD);
    }
    Ok(go)
}

/// Whether a word looks like a move rather than like the next limit.
fn is_move(word: &str) -> bool {
    word.bytes().any(|letter| letter.is_ascii_digit())
}

fn count(key: &str, text: &str) -> Result<u32, String> {
    let number = text.parse::<u64>().ok().filter(|&number| number > 0);
    // More than fits is as good as endless.
    number
        .map(|number| u32::try_from(number).unwrap_or(u32::MAX))
        .ok_or_else(|| format!("go {key} {}: expected a whole number above 0", shown(text)))
}

/// A time; clocks that have run out may be below zero.
fn milliseconds(key: &str, text: &str) -> Result<Duration, String> {
    let number = text.parse::<i64>().ok();
    number
        .map(|number| Duration::from_millis(u64::try_from(number).unwrap_or(0).min(LONGEST)))
        .ok_or_else(|| format!("go {key} {}: expected milliseconds", shown(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Command {
        parse(line).unwrap_or_else(|problem| panic!("{line}: {problem}")).expect("a command")
    }

    fn parsed_go(line: &str) -> Go {
        match parsed(line) {
            Command::Go(go) => go,
            other => panic!("{other:?}"),
        }
    }

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn every_command_is_read() {
        assert_eq!(parsed("uci"), Command::Uci);
        assert_eq!(parsed("  isready \t"), Command::IsReady);
        assert_eq!(parsed("ucinewgame\r"), Command::NewGame);
        assert_eq!(parsed("stop"), Command::Stop);
        assert_eq!(parsed("quit"), Command::Quit);
        assert_eq!(parse("   "), Ok(None));
        assert_eq!(parse(""), Ok(None));
    }

    #[test]
    fn options_may_hold_spaces() {
        let option = |name: &str, value: Option<&str>| Command::SetOption {
            name: name.to_owned(),
            value: value.map(str::to_owned),
        };
        assert_eq!(parsed("setoption name Threads value 2"), option("Threads", Some("2")));
        assert_eq!(parsed("setoption name NN File value runs/my run"), option("NN File", Some("runs/my run")));
        assert_eq!(parsed("setoption name Clear Hash"), option("Clear Hash", None));
        assert_eq!(parsed("setoption name NNFile value"), option("NNFile", Some("")));
    }

    #[test]
    fn positions_have_a_start_and_moves() {
        let position = |fen: Option<&str>, moves: &[&str]| Command::Position {
            fen: fen.map(str::to_owned),
            moves: moves.iter().map(|&mv| mv.to_owned()).collect(),
        };
        assert_eq!(parsed("position startpos"), position(None, &[]));
        assert_eq!(parsed("position startpos moves"), position(None, &[]));
        assert_eq!(parsed("position startpos moves d6f6 d5f5"), position(None, &["d6f6", "d5f5"]));
        let fen = "3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a";
        assert_eq!(parsed(&format!("position fen {fen}")), position(Some(fen), &[]));
        assert_eq!(parsed(&format!("position fen {fen} moves d6f6")), position(Some(fen), &["d6f6"]));
    }

    #[test]
    fn limits_are_read_and_hold_together() {
        assert_eq!(parsed_go("go nodes 800"), Go { nodes: Some(800), ..Go::default() });
        let both = Go { nodes: Some(9), move_time: Some(ms(50)), ..Go::default() };
        assert_eq!(parsed_go("go movetime 50 nodes 9"), both);
        assert!(!both.is_endless());
        assert!(parsed_go("go").is_endless() && parsed_go("go infinite").is_endless());
        assert!(parsed_go("go infinite nodes 5").is_endless());
        let clocks = parsed_go("go wtime 60000 btime 30000 winc 1000 binc 500 movestogo 40");
        assert_eq!(clocks.clocks[0], Some(Clock { left: ms(60_000), increment: ms(1000) }));
        assert_eq!(clocks.clocks[1], Some(Clock { left: ms(30_000), increment: ms(500) }));
        assert_eq!(clocks.moves_to_go, Some(40));
        assert!(!clocks.is_endless());
        assert_eq!(parsed_go("go wtime -20").clocks[0], Some(Clock::default()), "a clock may have run out");
        assert_eq!(parsed_go("go nodes 99999999999").nodes, Some(u32::MAX));
        assert_eq!(parsed_go("go movetime 9223372036854775807").move_time, Some(ms(LONGEST)));
    }

    #[test]
    fn limits_of_other_engines_do_not_leave_a_client_waiting() {
        let go = parsed_go("go depth 5");
        assert_eq!((go.nodes, go.unknown), (Some(NODES_INSTEAD), vec!["depth 5".to_owned()]));
        let go = parsed_go("go searchmoves d6f6 d6e6 movetime 50");
        assert_eq!((go.move_time, go.unknown), (Some(ms(50)), vec!["searchmoves".to_owned()]));
        assert!(parsed_go("go ponder infinite").is_endless());
    }

    #[test]
    fn malformed_lines_say_what_was_expected() {
        for (line, message) in [
            ("hello", "unknown command \"hello\"; expected uci, isready"),
            ("UCI", "unknown command \"UCI\""),
            ("uci now", "\"now\" follows uci; expected nothing more"),
            ("stop it at once", "\"it at once\" follows stop"),
            ("setoption", "setoption without name; expected setoption name X value Y"),
            ("setoption Threads 2", "setoption without name"),
            ("setoption name", "empty name"),
            ("setoption name value 2", "empty name"),
            ("position", "expected position startpos or position fen F"),
            ("position start", "position \"start\"; expected position startpos"),
            ("position fen", "position fen without a FEN"),
            ("position fen moves a1a2", "position fen without a FEN"),
            ("position startpos d6f6", "\"d6f6\" after the position; expected"),
            ("go nodes", "go nodes without a number"),
            ("go nodes many", "go nodes \"many\": expected a whole number above 0"),
            ("go nodes 0", "go nodes \"0\""),
            ("go nodes -5", "go nodes \"-5\""),
            ("go movetime 1.5", "go movetime \"1.5\": expected milliseconds"),
            ("go wtime", "go wtime without a number"),
            ("go fast", "go \"fast\": expected nodes N, movetime MS"),
            ("go depth", "go depth without a number"),
            ("\u{0}\u{7f}", "unknown command \"\\0\\u{7f}\""),
        ] {
            let problem = parse(line).expect_err(line);
            assert!(problem.contains(message), "{line:?}: {problem}");
            assert!(!problem.contains('\n'));
        }
        let long = parse(&"x".repeat(100_000)).expect_err("unknown");
        assert!(long.len() < 300, "{} bytes", long.len());
    }
}
