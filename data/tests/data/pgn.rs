//! Game texts: what is written is read back, what people write is read, and what is wrong is named by its line.

use super::games;
use hnefi_data::{PgnReader, TextError, write_pgn};
use hnefi_engine::{Outcome, Preset, Reason, Side};
use hnefi_run::GameRecord;

fn read(text: &str) -> Vec<Result<GameRecord, TextError>> {
    PgnReader::new(text.as_bytes()).collect()
}

fn read_one(text: &str) -> GameRecord {
    let mut found = read(text);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0).unwrap_or_else(|error| panic!("{error}"))
}

fn error_of(text: &str) -> String {
    let error = read(text).into_iter().find_map(Result::err);
    error.unwrap_or_else(|| panic!("accepted: {text}")).to_string()
}

#[test]
fn written_games_are_read_back() {
    let games = games::mixed_games();
    let mut text = Vec::new();
    let summary = write_pgn(games.clone(), &mut text).expect("the games are sound");
    assert_eq!(summary.games, games.len() as u64);
    let text = String::from_utf8(text).expect("text");
    assert!(text.lines().filter(|line| !line.starts_with('[')).all(|line| line.len() <= 100), "lines stay short");
    let found = read(&text);
    assert_eq!(found.len(), games.len());
    for (game, found) in games.into_iter().zip(found) {
        let found = found.unwrap_or_else(|error| panic!("game {}: {error}", game.game));
        let moves = |game: &GameRecord| game.plies.iter().map(|ply| ply.mv).collect::<Vec<_>>();
        assert_eq!(moves(&found), moves(&game));
        // Policies, values and the handicap, which these games do not have, are not in the text; all else is.
        assert_eq!(GameRecord { plies: Vec::new(), ..found }, GameRecord { plies: Vec::new(), ..game });
    }
}

#[test]
fn a_game_looks_as_documented() {
    let game = read_one("[Rules \"brandubh\"]\n\nd2c2 d5e5 d6c6 e5e6 1-0");
    assert_eq!((game.resigned, game.winner()), (Some(Side::Defenders), Some(Side::Attackers)));
    let mut text = Vec::new();
    write_pgn([game], &mut text).expect("the game is sound");
    let expected = r#"[Game "0"]
[GameId "8f485372188a0767"]
[Seed "0"]
[Rules "brandubh"]
[Attackers "?"]
[Defenders "?"]
[Result "1-0"]
[Termination "resignation"]

1. d2-c2 d5-e5 2. d6-c6 e5-e6 1-0

"#;
    assert_eq!(String::from_utf8(text).expect("text"), expected);
}

#[test]
fn comments_numbers_and_annotations_are_passed_over() {
    let text = "[Rules \"brandubh\"]\n[Attackers \"Ivar\"]\n\n1.d2-c2 {a comment\n[over] lines} d5e5 $1\n2... d6-c6 ; 9. a1a2\n*\n";
    let game = read_one(text);
    assert_eq!(game.plies.len(), 3);
    assert_eq!(game.players, ["Ivar", "?"]);
    assert!(!game.is_finished());
}

#[test]
fn named_captures_must_be_the_captures_made_but_the_king_may_be_left_out() {
    let from = |fen: &str, word: &str| format!("[Rules \"brandubh\"]\n[FEN \"{fen}\"]\n\n1. {word} *");
    let man = "7/3k3/a6/1da4/7/7/7 a";
    for word in ["a5a4", "a5-a4", "a5-a4xb4"] {
        assert_eq!(read_one(&from(man, word)).plies.len(), 1);
    }
    let error = error_of(&from(man, "a5-a4xc4"));
    assert!(error.contains("line 4: ply 1") && error.contains("it captures b4"), "{error}");
    let error = error_of(&from(man, "a5-a6xb4"));
    assert!(error.contains("captures nothing"), "{error}");
    let king_and_man = "3a3/4ka1/3d3/7/7/3a3/1a5 a";
    for word in ["d7-d6xd5", "d7-d6xd5xe6", "d7-d6xe6/d5"] {
        assert_eq!(read_one(&from(king_and_man, word)).winner(), Some(Side::Attackers));
    }
    assert!(error_of(&from(king_and_man, "d7-d6xe6")).contains("it captures d5 e6"));
}

#[test]
fn the_board_has_the_last_word_on_the_end() {
    let escape = "[Rules \"brandubh\"]\n[FEN \"7/7/5a1/7/7/7/1k5 d\"]\n\n1... b1-a1";
    let won = Some(Outcome::Win { side: Side::Defenders, reason: Reason::KingEscaped });
    assert_eq!(read_one(escape).outcome, won);
    assert_eq!(read_one(&format!("{escape} 0-1")).outcome, won);
    let error = error_of(&format!("{escape} 1-0"));
    assert!(error.contains("the result is 1-0, the board says 0-1"), "{error}");
    let error = error_of(&format!("[Termination \"king_captured\"]\n{escape} 0-1"));
    assert!(error.contains("the board says king_escaped"), "{error}");
}

#[test]
fn an_error_names_its_line_and_the_next_game_is_read() {
    let good = "[Rules \"tablut\"]\n\n*\n";
    for (bad, words) in [
        ("1. a1a2 *\n", &["line 1", "Rules"][..]),
        ("[Rules \"chess\"]\n*\n", &["line 1", "unknown ruleset \"chess\"", "fetlar"]),
        ("[Rules \"brandubh\"]\n[FEN \"9/9 a\"]\n*\n", &["line 2", "FEN"]),
        ("[Rules \"brandubh\"]\n[PlyCap \"many\"]\n*\n", &["line 2", "PlyCap", "whole number"]),
        ("[Rules \"brandubh\"]\n[PlyCap \"70000\"]\n*\n", &["70000", "65535"]),
        ("[Rules \"brandubh\"]\n[WouldHaveResigned \"white\"]\n*\n", &["line 2", "attackers or defenders"]),
        ("[Rules brandubh]\n*\n", &["line 1", "is no tag"]),
        ("[Rules \"own\"]\n[Options \"{}\"]\n*\n", &["line 2", "Options"]),
        ("[Rules \"brandubh\"]\n\nd2c2\nd2c2 *\n", &["line 4", "ply 2", "d2c2"]),
        ("[Rules \"brandubh\"]\n\nd2c2 hello *\n", &["line 3", "ply 2", "hello"]),
        ("[Rules \"brandubh\"]\n\nd2c2 * d5e5\n", &["line 3", "follows the result"]),
    ] {
        let found = read(&format!("{bad}{good}"));
        assert_eq!(found.len(), 2, "{bad}: {found:?}");
        let error = found[0].as_ref().expect_err(bad).to_string();
        for word in words {
            assert!(error.contains(word), "{bad}: {error:?} does not say {word:?}");
        }
        assert!(found[1].is_ok(), "{bad}: {found:?}");
    }
    assert!(read("").is_empty());
    assert!(read("\n\n").is_empty());
}

/// The import format of the PGN standard of 1994, rule by rule, and what people make of it.
#[test]
fn the_import_format_is_read() {
    let tags = "[Rules \"brandubh\"]\n[Attackers \"Ivar\"]\n\n";
    let two = ["d6-c6", "d5-e5"];
    for (text, result) in [
        // 3.1, 4: white space of any kind, and line breaks of every system.
        (format!("{tags}1.\td6-c6\x0b d5-e5 1-0"), "1-0"),
        (format!("{tags}1. d6-c6 d5-e5 1-0\n").replace('\n', "\r\n"), "1-0"),
        (format!("{tags}1. d6-c6 d5-e5 1-0\n").replace('\n', "\r"), "1-0"),
        (format!("\u{feff}{tags}1. d6-c6 d5-e5 1-0\n"), "1-0"),
        // 5: a comment to the end of a line, one in braces, and one of the other kind within.
        (format!("; first [Rules\n{tags}; then\n1. d6-c6 {{with ; and\n%\n[a \"b\"] }} d5-e5 ; {{ 1-0\n0-1"), "0-1"),
        ("[Rules \"brandubh\"] ; these\n[Attackers \"Ivar\"] {him}\n\n1. d6-c6 d5-e5 1-0".to_owned(), "1-0"),
        // 6: lines of others.
        (format!("% 1. a1-a2\n{tags}1. d6-c6\n%%%\n d5-e5 1-0"), "1-0"),
        // 7, 8.1: tags without white space, with a lot, two on a line, one on two lines, and what a string may hold.
        ("[Rules\"brandubh\"][Attackers\"Ivar\"]1.d6-c6 d5-e5*".to_owned(), "*"),
        ("[ Rules  \"brandubh\" ]  [\tAttackers \"Ivar\"\t] 1. d6-c6 d5-e5 *".to_owned(), "*"),
        (
            "[Rules\n\"brandubh\"\n]\n[Attackers\n\n\"Ivar\"]\n[Attackers \"Ivar\"]".replace("\n\n", "\n")
                + "d6-c6 d5-e5*",
            "*",
        ),
        (format!("[Event \"[a] ]; {{ \\\" \\\\\"]\n{tags}1. d6-c6 d5-e5 *"), "*"),
        // 8.2.2: move numbers with any number of periods, or none.
        (format!("{tags}1 d6-c6 1 d5-e5 1-0"), "1-0"),
        (format!("{tags}1 . d6-c6 1 ... d5-e5 1-0"), "1-0"),
        (format!("{tags}d6-c6 d5-e5 0-1"), "0-1"),
        // 8.2.4, 8.2.5: marks and variations, with or without white space.
        (format!("{tags}1. d6-c6$1$14 (1.d6-b6!(1. d6-e6 1/2-1/2)$3)d5-e5?! $255 1-0"), "1-0"),
        // 8.2.6: results, also as people write them.
        (format!("{tags}1. d6-c6 d5-e5 1\u{2013}0"), "1-0"),
        (format!("{tags}1. d6\u{2013}c6 d5\u{2212}e5 0\u{2014}1"), "0-1"),
        (format!("{tags}1. d6-c6 d5-e5 \u{bd}-\u{bd}"), "*"),
        (format!("{tags}1. d6-c6 d5-e5 1/2\u{2013}1/2"), "*"),
        (format!("[Result \"1-0\"]\n{tags}1. d6-c6 d5-e5"), "1-0"),
        (format!("[Result \"1-0\"]\n{tags}1. d6-c6 d5-e5 *"), "1-0"),
        (format!("[Result \"*\"]\n{tags}1. d6-c6 d5-e5 0-1"), "0-1"),
        (format!("{tags}1. d6-c6 d5-e5 resigned"), "0-1"),
        (format!("{tags}1. d6-c6 d5-e5 timeout 0-1"), "0-1"),
    ] {
        let game = read_one(&text);
        let moves: Vec<_> = game.plies.iter().map(|ply| ply.mv.text(game.rules.size())).collect();
        assert_eq!(moves, two.map(|mv| mv.replace('-', "")), "{text}");
        let found = match game.winner() {
            Some(Side::Attackers) => "1-0",
            Some(Side::Defenders) => "0-1",
            None => "*",
        };
        assert_eq!((found, game.players[0].as_str()), (result, "Ivar"), "{text}");
    }
}

#[test]
fn every_game_is_read_or_named() {
    let (rules, moves) = ("[Rules \"brandubh\"]", "1. d6-c6 d5-e5");
    let line = |number: usize, problem: &str| format!("line {number}: {problem}");
    let unended = line(3, "the comment that begins here has no end; expected }");
    for (text, expected) in [
        // A game of tags only is a game.
        (
            format!(
                "{rules}\n[Attackers \"a\"]\n[FEN \"7/7/5a1/7/7/7/1k5 d\"]\n\n{rules}\n[Attackers \"b\"]\n\n{moves} *"
            ),
            vec![Ok(("a", 0)), Ok(("b", 2))],
        ),
        (
            format!("{rules}\n[Attackers \"a\"]\n\n[Event \"e\"]\n{rules}\n[Attackers \"b\"]\n\n"),
            vec![Ok(("a", 0)), Ok(("b", 0))],
        ),
        // Tags behind a blank line may be the same game's.
        (format!("{rules}\n\n[Attackers \"a\"]\n\n{moves} *"), vec![Ok(("a", 2))]),
        // A brace that is never closed costs its own game.
        (
            format!("{rules}\n\n{moves} {{never\nclosed\n\n{rules}\n[Attackers \"b\"]\n\n{moves} {{closed}} *\n"),
            vec![Err(unended.clone()), Ok(("b", 2))],
        ),
        (
            format!("{rules}\n\n{{never\n\n{rules}\n[Attackers \"b\"]\n\n{moves} *\n"),
            vec![Err(unended.clone()), Ok(("b", 2))],
        ),
        (format!("{rules}\n\n{moves} {{never"), vec![Err(unended)]),
        // A game that is commented out is a comment.
        (format!("{{\n{rules}\n{moves} *\n}}\n{rules}\n[Attackers \"a\"]\n\n{moves} *"), vec![Ok(("a", 2))]),
        // Files one behind the other, without a line break at the end.
        (
            format!("{rules}\n[Attackers \"a\"]\n{moves}{rules}\n[Attackers \"b\"]\n{moves}"),
            vec![Ok(("a", 2)), Ok(("b", 2))],
        ),
        // A fault in a tag is its own game's.
        (
            format!(
                "{rules}\n[Attackers \"a\"]\n{moves} *\n\n[Event \"b]\n{rules}\n\n{moves} *\n\n{rules}\n\
                 [Attackers \"c\"]\n"
            ),
            vec![Ok(("a", 2)), Err(line(5, r#""[Event \"b]" is no tag; expected [Name "value"]"#)), Ok(("c", 0))],
        ),
        (
            format!("{rules}\n[Attackers \"a\"]\n[Attackers \"b\"]\n{moves} *"),
            vec![Err(line(3, "the tag Attackers stands twice; expected it once"))],
        ),
        // Two results.
        (
            format!("{rules}\n[Result \"1-0\"]\n\n{moves} 0-1"),
            vec![Err(line(4, "the result is 0-1, the Result tag in line 2 says 1-0"))],
        ),
        (
            format!("{rules}\n[Result \"White\u{2019}s\"]\n\n{moves}"),
            vec![Err(line(2, "result \"White\u{2019}s\"; expected 1-0 (the attackers won), 0-1, 1/2-1/2 or *"))],
        ),
        // Nothing is lost between games without tags.
        (format!("{moves} 1-0\n\n{moves} *"), vec![Err(line(1, NO_RULES)), Err(line(3, NO_RULES))]),
        (
            format!("{rules}\n{moves} }} *"),
            vec![Err(line(
                2,
                "ply 3: move \"}\": \"}\" does not begin with a square; expected two squares such as a4b4",
            ))],
        ),
    ] {
        let found: Vec<_> = read(&text)
            .into_iter()
            .map(|game| match game {
                Ok(game) => Ok((game.players[0].clone(), game.plies.len())),
                Err(error) => Err(error.to_string()),
            })
            .collect();
        let expected: Vec<_> =
            expected.into_iter().map(|game| game.map(|(name, plies)| (name.to_owned(), plies))).collect();
        assert_eq!(found, expected, "{text}");
    }
}

const NO_RULES: &str =
    "the game has no Rules tag; expected one such as [Rules \"brandubh\"], or --rules for such games";

#[test]
fn a_game_without_rules_is_read_under_those_that_are_given() {
    // As hnefatafl.org and playtafl.com write them.
    let text = "[Event \"Game 7\"]\n[Site \"hnefatafl.org\"]\n1. h1h3 g5g4\n[Event \"Zevratafl game\"]\n[Site \
                \"playtafl.com\"]\n[Date \"2026.04.25\"]\n\n1. d6c6 d5e5\n[Rules \"tablut\"]\n*\n1. d6-f6 *\n";
    let presets = [Preset::CopenhagenHnefataflOrg, Preset::Brandubh];
    let games = PgnReader::under(text.as_bytes(), &presets.map(Preset::rules));
    let found: Vec<_> = games.map(|game| game.map(|game| game.rules.preset()).map_err(|e| e.to_string())).collect();
    let [first, second] = presets.map(|preset| Ok(Some(preset)));
    // The last game is read like the one before it that named no rules.
    assert_eq!(found, [first, second.clone(), Ok(Some(Preset::Tablut)), second]);
}

#[test]
fn bytes_of_latin_1_are_read() {
    let text = [
        &b"[Rules \"brandubh\"]\n[Attackers \"J\xf8rn\"]\n\nd6c6 d5e5 \xbd\x96\xbd\n"[..],
        "[Rules \"brandubh\"]\n[Attackers \"J\u{f8}rn\"]\n\nd6c6 *\n".as_bytes(),
    ]
    .concat();
    let names: Vec<_> = PgnReader::new(text.as_slice()).map(|game| game.expect("a game").players[0].clone()).collect();
    assert_eq!(names, ["J\u{f8}rn", "J\u{f8}rn"]);
}
