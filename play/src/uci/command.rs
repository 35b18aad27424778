//! Lines of the protocol as commands. Knows words, not boards: moves and FENs are read where a game is at hand.

use std::iter::Peekable;
use std::time::Duration;

/// A line, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Uci,
    /// Whether to tell of every line that comes in.
    Debug(bool),
    IsReady,
    NewGame,
    /// Name and value of an option; a button has no value.
    SetOption {
        name: String,
        value: Option<String>,
    },
    /// What only engines that are sold need.
    Register,
    Position {
        fen: Option<String>,
        moves: Vec<String>,
    },
    Go(Go),
    Stop,
    /// The move that was pondered on has been played.
    PonderHit,
    Quit,
}

/// The first words of the commands.
const COMMANDS: [&str; 11] =
    ["uci", "debug", "isready", "setoption", "register", "ucinewgame", "position", "go", "stop", "ponderhit", "quit"];

/// How long to search. Several limits hold together; with none at all the search goes on until it is stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Go {
    pub(super) nodes: Option<u32>,
    /// Plies of the line shown.
    pub(super) depth: Option<u32>,
    /// Moves, not plies, within which a win is looked for.
    pub(super) mate: Option<u32>,
    pub(super) move_time: Option<Duration>,
    /// What is left on the attackers' and the defenders' clock.
    pub(super) clocks: [Option<Duration>; 2],
    /// What the clocks gain by a move.
    pub(super) increments: [Duration; 2],
    /// Moves until the next time control.
    pub(super) moves_to_go: Option<u32>,
    pub(super) infinite: bool,
    /// Whether the limits hold from `ponderhit` on.
    pub(super) ponder: bool,
    /// The moves to choose from; none stand for all.
    pub(super) search_moves: Vec<String>,
    /// What is wrong with the words that were skipped.
    pub(super) skipped: Vec<String>,
    /// Whether the limits were among the skipped words, so that [`NODES_INSTEAD`] are searched.
    pub(super) nodes_instead: bool,
}

impl Go {
    /// Whether nothing but `stop` ends the search.
    pub(super) fn is_endless(&self) -> bool {
        let counted = [self.nodes, self.depth, self.mate].iter().any(Option::is_some);
        self.infinite || !(counted || self.move_time.is_some() || self.clocks.iter().any(Option::is_some))
    }
}

/// Nodes searched by a `go` of whose words none is a limit.
pub(super) const NODES_INSTEAD: u32 = 800;

/// The longest time that is understood, a year.
const LONGEST: u64 = 366 * 24 * 3600 * 1000;

/// Reads a line; `None` for an empty one. What stands before the first word of a command is skipped.
///
/// # Errors
/// What is wrong with it and what was expected.
pub(super) fn parse(line: &str) -> Result<Option<Command>, String> {
    let Some(unknown) = line.split_whitespace().next() else { return Ok(None) };
    let Some(first) = line.split_whitespace().find(|word| COMMANDS.contains(word)) else {
        return Err(format!("unknown command {}; expected one of {}", shown(unknown), COMMANDS.join(", ")));
    };
    let rest = around(line, first).map_or("", |(_, rest)| rest);
    let words: Vec<&str> = rest.split_whitespace().collect();
    // Further words mean nothing to the commands of one word.
    Ok(Some(match first {
        "debug" => debug(&words)?,
        "isready" => Command::IsReady,
        "setoption" => set_option(rest)?,
        "register" => Command::Register,
        "ucinewgame" => Command::NewGame,
        "position" => position(&words)?,
        "go" => Command::Go(go(&words)),
        "stop" => Command::Stop,
        "ponderhit" => Command::PonderHit,
        "quit" => Command::Quit,
        _ => Command::Uci,
    }))
}

/// The texts before and behind the first place where `word` stands between blanks.
fn around<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let mut parts = text.match_indices(word).map(|(at, _)| (&text[..at], &text[at + word.len()..]));
    parts.find(|(before, behind)| {
        (before.is_empty() || before.ends_with(char::is_whitespace))
            && (behind.is_empty() || behind.starts_with(char::is_whitespace))
    })
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

/// `on` or `off`.
fn debug(words: &[&str]) -> Result<Command, String> {
    match words {
        ["on", ..] => Ok(Command::Debug(true)),
        ["off", ..] => Ok(Command::Debug(false)),
        _ => Err(format!("debug {}; expected debug on or debug off", shown(&words.join(" ")))),
    }
}

/// `name X [value Y]`, where both may hold spaces. In a name several count as one; a value stands as it is written.
fn set_option(text: &str) -> Result<Command, String> {
    let expected = "expected setoption name X value Y";
    let (_, text) = around(text, "name").ok_or_else(|| format!("setoption without name; {expected}"))?;
    let (name, value) = match around(text, "value") {
        Some((name, value)) => (name, Some(value.trim().to_owned())),
        None => (text, None),
    };
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() {
        return Err(format!("setoption with an empty name; {expected}"));
    }
    Ok(Command::SetOption { name, value })
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

/// Never fails: a client waits for the move.
fn go(words: &[&str]) -> Go {
    let mut go = Go::default();
    let mut words = words.iter().copied().peekable();
    while let Some(word) = words.next() {
        if let Err(problem) = limit(&mut go, word, &mut words) {
            go.skipped.push(problem);
        }
    }
    if !go.skipped.is_empty() && go.is_endless() && !go.infinite {
        (go.nodes, go.nodes_instead) = (Some(NODES_INSTEAD), true);
    }
    go
}

/// Reads one limit, and its number from `words`.
fn limit<'a>(go: &mut Go, word: &str, words: &mut Peekable<impl Iterator<Item = &'a str>>) -> Result<(), String> {
    match word {
        "wtime" => go.clocks[0] = Some(milliseconds(word, words)?),
        "btime" => go.clocks[1] = Some(milliseconds(word, words)?),
        "winc" => go.increments[0] = milliseconds(word, words)?,
        "binc" => go.increments[1] = milliseconds(word, words)?,
        "movetime" => go.move_time = Some(milliseconds(word, words)?),
        "nodes" => go.nodes = Some(count(word, words)?),
        "depth" => go.depth = Some(count(word, words)?),
        "mate" => go.mate = Some(count(word, words)?),
        "movestogo" => go.moves_to_go = Some(count(word, words)?),
        "infinite" => go.infinite = true,
        "ponder" => go.ponder = true,
        "searchmoves" => {
            while let Some(mv) = words.next_if(|word| is_move(word)) {
                go.search_moves.push(mv.to_owned());
            }
        }
        _ => {
            return Err(format!(
                "go {}: expected nodes N, depth N, mate N, movetime MS, wtime MS btime MS winc MS binc MS movestogo N, \
                 infinite, ponder or searchmoves MOVES",
                shown(word)
            ));
        }
    }
    Ok(())
}

/// Whether a word looks like a move rather than like the next limit.
fn is_move(word: &str) -> bool {
    word.bytes().any(|letter| letter.is_ascii_digit())
}

/// The number behind `key`: the next word, unless this is another limit.
fn number<'a>(key: &str, words: &mut Peekable<impl Iterator<Item = &'a str>>) -> Result<&'a str, String> {
    let is_number = |word: &&str| !word.starts_with(|letter: char| letter.is_alphabetic());
    words.next_if(is_number).ok_or_else(|| format!("go {key} without a number"))
}

fn count<'a>(key: &str, words: &mut Peekable<impl Iterator<Item = &'a str>>) -> Result<u32, String> {
    let text = number(key, words)?;
    // More than fits is as good as endless.
    let found = text.parse::<u64>().ok().filter(|&number| number > 0);
    found
        .map(|number| u32::try_from(number).unwrap_or(u32::MAX))
        .ok_or_else(|| format!("go {key} {}: expected a whole number above 0", shown(text)))
}

/// A time; clocks that have run out may be below zero.
fn milliseconds<'a>(key: &str, words: &mut Peekable<impl Iterator<Item = &'a str>>) -> Result<Duration, String> {
    let text = number(key, words)?;
    let found = text.parse::<i64>().ok();
    found
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
        for (line, command) in [
            ("uci", Command::Uci),
            ("uci now", Command::Uci),
            ("  isready \t", Command::IsReady),
            ("joho isready", Command::IsReady),
            ("ucinewgame\r", Command::NewGame),
            ("stop", Command::Stop),
            ("uciok stop it at once", Command::Stop),
            ("quit", Command::Quit),
            ("ponderhit", Command::PonderHit),
            ("register later", Command::Register),
            ("register name Stefan MK code 4359874324", Command::Register),
            // As the protocol's text has it.
            ("joho debug on", Command::Debug(true)),
            ("\t  debug \t  \t\ton\t  ", Command::Debug(true)),
            ("debug off", Command::Debug(false)),
        ] {
            assert_eq!(parsed(line), command, "{line}");
        }
        assert_eq!((parse("   "), parse("")), (Ok(None), Ok(None)));
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
        assert_eq!(parsed("setoption  name  NN  File  value  A  B \r"), option("NN File", Some("A  B")));
        assert_eq!(parsed("setoption name Filename value values/name"), option("Filename", Some("values/name")));
        assert_eq!(parsed("setoption joho name Hash value 9"), option("Hash", Some("9")));
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
        assert_eq!(clocks.clocks, [Some(ms(60_000)), Some(ms(30_000))]);
        assert_eq!(clocks.increments, [ms(1000), ms(500)]);
        assert_eq!(clocks.moves_to_go, Some(40));
        assert!(!clocks.is_endless());
        assert_eq!(parsed_go("go wtime -20").clocks[0], Some(Duration::ZERO), "a clock may have run out");
        assert_eq!(parsed_go("go movetime 900 winc 0 binc 0").clocks, [None, None], "an increment is no clock");
        assert!(parsed_go("go winc 1000").is_endless());
        assert_eq!(parsed_go("go nodes 99999999999").nodes, Some(u32::MAX));
        assert_eq!(parsed_go("go movetime 9223372036854775807").move_time, Some(ms(LONGEST)));
    }

    #[test]
    fn every_limit_of_the_protocol_is_read() {
        let go = parsed_go("go searchmoves d6f6 d6e6 ponder depth 5 mate 3 movetime 50");
        let moves = ["d6f6", "d6e6"].map(str::to_owned).to_vec();
        let expected = Go { depth: Some(5), mate: Some(3), ponder: true, search_moves: moves, ..Go::default() };
        assert_eq!(go, Go { move_time: Some(ms(50)), ..expected });
        assert!(!parsed_go("go depth 5").is_endless() && !parsed_go("go mate 2").is_endless());
        assert!(parsed_go("go ponder infinite").is_endless());
    }

    #[test]
    fn what_is_no_limit_is_skipped_and_leaves_no_client_waiting() {
        for (line, message) in [
            ("go nodes", "go nodes without a number"),
            ("go nodes infinitely", "go nodes without a number"),
            ("go nodes 1k", "go nodes \"1k\": expected a whole number above 0"),
            ("go nodes 0", "go nodes \"0\""),
            ("go nodes -5", "go nodes \"-5\""),
            ("go movetime 1.5", "go movetime \"1.5\": expected milliseconds"),
            ("go wtime", "go wtime without a number"),
            ("go fast", "go \"fast\": expected nodes N, depth N"),
            ("go depth", "go depth without a number"),
        ] {
            let go = parsed_go(line);
            assert_eq!(go.nodes, Some(NODES_INSTEAD), "{line}");
            assert!(go.skipped[0].contains(message) && !go.skipped[0].contains('\n'), "{line}: {:?}", go.skipped);
        }
        let go = parsed_go("go fast nodes movetime 50");
        assert_eq!((go.nodes, go.move_time, go.skipped.len()), (None, Some(ms(50)), 2));
    }

    #[test]
    fn malformed_lines_say_what_was_expected() {
        for (line, message) in [
            ("hello", "unknown command \"hello\"; expected one of uci, debug, isready"),
            ("UCI", "unknown command \"UCI\""),
            ("debug joho on", "debug \"joho on\"; expected debug on or debug off"),
            ("setoption", "setoption without name; expected setoption name X value Y"),
            ("setoption Threads 2", "setoption without name"),
            ("setoption name", "empty name"),
            ("setoption name value 2", "empty name"),
            ("position", "expected position startpos or position fen F"),
            ("position start", "position \"start\"; expected position startpos"),
            ("position fen", "position fen without a FEN"),
            ("position fen moves a1a2", "position fen without a FEN"),
            ("position startpos d6f6", "\"d6f6\" after the position; expected"),
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
