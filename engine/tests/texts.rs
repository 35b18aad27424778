//! FENs, moves and the words of their errors.

use hnefi_engine::{
    BoardSize, Escape, Marks, Move, NamedRules, NotationProblem, Outcome, Pieces, Position, Preset, Reason, Rules,
    Side, Special, Speed, Square, Start,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The texts are examples of the programs' own documents, changed only to tell top from bottom.
#[test]
fn the_notations_of_other_programs_are_read() {
    use Preset::{Brandubh, Copenhagen, Historical, Tablut};
    for (preset, text, expected) in [
        // TaflZero: the last move's destination, two counters.
        (Tablut, "3aaa3/4a4/4d4/a3d3a/aaddkddaa/a3d3a/4d4/4a4/3aaa3 - a 0 0", None),
        (Historical, "4aaa4/4aaa4/5d5/5d5/aa3d3aa/aadddkdddaa/aa3d3aa/5d5/5d5/4aaa4/4aaa4 - d 0 0", None),
        (Brandubh, "3a3/7/7/3k3/7/7/1a5 b1 d 3 17", Some("3a3/7/7/3k3/7/7/1a5 d")),
        (Brandubh, "3a3/7/7/3k3/7/7/1a5 d 3", Some("3a3/7/7/3k3/7/7/1a5 d")),
        // OpenTafl: the first rank comes first, and nobody is to move.
        (Brandubh, "/3t3/3t3/3T3/ttTKTtt/3T3/3t3/3t3/", None),
        (Copenhagen, "/3ttttt3/5t5/11/t4T4t/t3TTT3t/tt1TTKTT1tt/t3TTT3t/t4T4t/11/5t5/3ttttt3/", None),
        (Brandubh, "/3t3/7/7/3K3/7/7/1t5/ d", Some("1a5/7/7/3k3/7/7/3a3 d")),
        (Brandubh, "3t3/7/7/3K3/7/7/1T5 defenders", Some("1d5/7/7/3k3/7/7/3a3 d")),
        // hnefatafl.org: capitals, the last rank first.
        (Brandubh, "/3A3/7/7/3K3/7/7/1D5/", Some("3a3/7/7/3k3/7/7/1d5 a")),
        (Brandubh, "/3A3/7/7/3K3/7/7/1D5/ d", Some("3a3/7/7/3k3/7/7/1d5 d")),
        // Without royal corners men may stand there.
        (Tablut, "a7a/9/4k4/9/9/9/9/9/d7d a", Some("a7a/9/4k4/9/9/9/9/9/d7d a")),
    ] {
        let rules = preset.rules();
        let position = Position::from_fen(&rules, text).unwrap_or_else(|error| panic!("{error}"));
        let expected = expected.map_or_else(|| Position::start(&rules).fen(), str::to_owned);
        assert_eq!(position.fen(), expected, "{text}");
    }
}

#[test]
fn a_wrong_fen_is_told_apart() {
    use Preset::{Brandubh, Tablut};
    let unknown = |letter: &str, rank: usize| {
        let expected = "expected a, d, k, or t, T, K as OpenTafl has them";
        format!("unknown letter {letter:?} in the row of rank {rank}; {expected}")
    };
    for (preset, fen, expected) in [
        (Brandubh, "", "it is empty; expected rows and the side to move"),
        (Brandubh, "3k3/7/7/7/7/7/7", "the side to move is missing; expected a or d after the rows"),
        (Brandubh, "3k3/7/7/7/7/7/7 w", "side to move \"w\"; expected a or d"),
        (Brandubh, "3k3/7/7/7/7/7/7 a x", "\"x\" follows the side to move; expected nothing more, or two numbers"),
        (Brandubh, "3k3/7/7/7/7/7/7 a 0 1 2", "\"2\" follows the side to move; expected nothing more, or two numbers"),
        (Brandubh, "3k3/7/7/7/7/7/7 - w 0 0", "side to move \"w\"; expected a or d"),
        (Brandubh, "3k3/7/7/7/7/7/7 -", "side to move \"-\"; expected a or d"),
        (Brandubh, "3k3/7/7/7/7/7/7 h9 a", "side to move \"h9\"; expected a or d"),
        (
            Brandubh,
            "/3K3/7/7/3t3/7/7/3a3/",
            "letters of two notations; expected a, d and k, or t, T and K as OpenTafl has them",
        ),
        (Brandubh, "3k3/7/7/7/7/7 a", "6 rows; expected 7"),
        (Brandubh, "3k3/7/7/7/7/7/7/7 a", "8 rows; expected 7"),
        (Brandubh, "3k3/8/7/7/7/7/7 a", "the row of rank 6 is 8 squares wide; expected 7"),
        (Brandubh, "3k3/7/7/7/7/7/6 a", "the row of rank 1 is 6 squares wide; expected 7"),
        (Brandubh, "3k3/7/7//7/7/7 a", "the row of rank 4 is 0 squares wide; expected 7"),
        (Brandubh, "3k3/7/99999999999999999999999/7/7/7/7 a", "the row of rank 5 is 8 squares wide; expected 7"),
        (Brandubh, "3k3/3x3/7/7/7/7/7 a", &unknown("x", 6)),
        (Brandubh, "3k3/3ü3/7/7/7/7/7 a", &unknown("ü", 6)),
        (Brandubh, "/3K3/7/7/7/7/7/n6/", &unknown("n", 1)),
        (Brandubh, "/3K3/7/7/7/7/7/t5N/", &unknown("N", 7)),
        (Brandubh, "3a3/7/7/7/7/7/7 a", "no king; expected one"),
        (Brandubh, "2k1k2/7/7/7/7/7/7 a", "2 kings; expected one"),
        (Brandubh, "a2k3/7/7/7/7/7/7 a", "a man on the corner a7, where he may not stop"),
        (Brandubh, "3k3/7/7/3d3/7/7/7 a", "a man on the throne d4, where he may not stop"),
        (Tablut, "3k5/9/9/9/4a4/9/9/9/9 a", "a man on the throne e5, where he may not stop"),
    ] {
        let error = Position::from_fen(&preset.rules(), fen).expect_err(fen).to_string();
        assert_eq!(error, format!("FEN {fen:?}: {expected}"));
    }
}

/// Start positions and moves with a few letters changed, taken out or put in: most are refused, none panics, and what
/// is read is written as it was meant.
#[test]
fn damaged_texts_are_refused_or_read_as_they_stand() {
    const LETTERS: [char; 14] = ['a', 'd', 'k', '/', ' ', '1', '3', '9', '-', 'x', '0', 'ü', '\0', 'T'];
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut damage = |text: &str| -> String {
        let mut letters: Vec<char> = text.chars().collect();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..=letters.len());
            match rng.random_range(0..3) {
                0 => letters.insert(at, LETTERS[rng.random_range(0..LETTERS.len())]),
                1 if at < letters.len() => drop(letters.remove(at)),
                _ if at < letters.len() => letters[at] = LETTERS[rng.random_range(0..LETTERS.len())],
                _ => {}
            }
        }
        letters.into_iter().collect()
    };
    // Ranks may have zeros in front; a T names a piece.
    let without_zeros = |text: &str| {
        text.chars().fold(String::new(), |mut kept, letter| {
            if letter != '0' || !kept.ends_with(char::is_alphabetic) {
                kept.push(letter);
            }
            kept
        })
    };
    let mut read = [0; 3];
    for round in 0..4000 {
        let rules = Preset::ALL[round % Preset::ALL.len()].rules();
        let fen = damage(&Position::start(&rules).fen());
        if let Ok(position) = Position::from_fen(&rules, &fen) {
            let again = Position::from_fen(&rules, &position.fen()).unwrap();
            assert_eq!((again.board(), again.side_to_move()), (position.board(), position.side_to_move()), "{fen:?}");
            read[0] += 1;
        }
        let text = damage("a10-c10xd10/e9");
        if let Ok((mv, captures)) = Move::parse_with_captures(&text, rules.size()) {
            let names = captures.iter().map(|square| format!("x{}", square.name(rules.size())));
            let plain = format!("{}{}", mv.text(rules.size()), names.collect::<String>());
            let meant = without_zeros(&text.trim().replace(['-', 'T'], "").replace('/', "x"));
            assert_eq!(plain, meant, "{text:?}");
            read[1] += 1;
        }
        let text = damage("d10");
        if let Ok(square) = Square::parse(&text, rules.size()) {
            assert_eq!(square.name(rules.size()), without_zeros(&text));
            read[2] += 1;
        }
    }
    assert!(read.iter().all(|&count| (50..2000).contains(&count)), "{read:?}");
}

#[test]
fn moves_are_read_in_all_their_forms() {
    let size = Preset::Copenhagen.rules().size();
    let square = |name: &str| Move::parse(&format!("{name}a1"), size).unwrap().from();
    let expected = Move::new(square("a4"), square("b4"));
    for text in ["a4b4", "a4-b4", "a4-b4xc4", "a4b4xc4", "a4-b4xc4xd5", "a4-b4xc4/d5", " a4b4 ", "A4B4", "A4-b4xC4"] {
        assert_eq!(Move::parse(text, size).unwrap(), expected, "{text}");
    }
    // OpenTafl names the king and marks threats and ends.
    for text in ["Ka4-b4", "Ka4-b4xc4/Td5-", "a4-b4+", "a4-b4xKc4++", "Ka4-b4--", "KA4-B4"] {
        assert_eq!(Move::parse(text, size).unwrap(), expected, "{text}");
    }
    let (mv, captures) = Move::parse_with_captures("Kk4-k1xTj1/d1--", size).unwrap();
    assert_eq!((mv.text(size), captures), ("k4k1".to_owned(), ["j1", "d1"].map(square).to_vec()));
    let (mv, captures) = Move::parse_with_captures("d10-d11xe11xf11/g11", size).unwrap();
    assert_eq!(mv.text(size), "d10d11");
    assert_eq!(captures, ["e11", "f11", "g11"].map(square));
    assert_eq!(square("k11"), Square::new(120));
}

#[test]
fn a_wrong_move_text_says_what_is_wrong() {
    let size = Preset::Brandubh.rules().size();
    for (text, expected) in [
        ("", "a square is missing at the end"),
        ("a4", "a square is missing at the end"),
        ("a4-", "a square is missing at the end"),
        ("a4b4x", "a square is missing at the end"),
        ("a4h4", "h4 lies off the 7x7 board"),
        ("a8a4", "a8 lies off the 7x7 board"),
        ("a0a4", "a0 lies off the 7x7 board"),
        ("aa4", "\"a\" is not a square"),
        ("a99999999999999999999b4", "\"a99999999999999999999\" is not a square"),
        ("---", "\"---\" does not begin with a square"),
        ("d4^d6", "it is a jump or a berserk move, which these games do not have"),
        ("d4=d6", "it is a jump or a berserk move, which these games do not have"),
        ("a4b4+++", "\"+++\" follows the move"),
        ("L4B4", "L4 lies off the 7x7 board"),
        ("ä4b4", "\"ä4b4\" does not begin with a square"),
        ("a4b4#", "\"#\" follows the move"),
    ] {
        let error = Move::parse(text, size).expect_err(text).to_string();
        assert_eq!(error, format!("move {text:?}: {expected}; expected two squares such as a4b4"));
    }
}

#[test]
fn a_refused_move_says_which_rule_forbids_it() {
    let brandubh = Preset::Brandubh.rules();
    let (start, open) = ("3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 a", "7/5k1/7/a5d/7/7/7 a");
    let blocked = Rules { throne: Special { pass: Pieces::KING, ..brandubh.throne }, ..brandubh };
    let slow = Rules { speed: Speed { attackers: 2, ..Speed::UNLIMITED }, ..brandubh };
    let linnaeus = Preset::TablutLinnaeus.rules();
    let attackers = |kind: Special| Special { pass: Pieces::ATTACKERS, stop: Pieces::ATTACKERS, ..kind };
    let throne = Rules { throne: attackers(brandubh.throne), ..brandubh };
    let corner = Rules {
        escape: Escape::Edge,
        marks: Marks::parse("3c3/7/7/3t3/7/7/7").unwrap(),
        corners: attackers(brandubh.corners),
        ..brandubh
    };
    for (rules, fen, mv, expected) in [
        (brandubh, start, "a1a2", "no piece stands on a1"),
        (brandubh, start, "d3c3", "the piece on d3 is the enemy's; the attackers are to move"),
        (brandubh, start, "d1e2", "e2 is not in line with d1; pieces move along ranks and files"),
        (brandubh, start, "d1d1", "d1 is not in line with d1; pieces move along ranks and files"),
        (brandubh, start, "d1d7", "the way is blocked at d2"),
        (brandubh, start, "d7d1", "the way is blocked at d6"),
        (brandubh, start, "g4a4", "the way is blocked at f4"),
        (brandubh, start, "d1a1", "the corner a1 is the king's alone"),
        (brandubh, open, "a4d4", "the throne d4 is the king's alone"),
        (blocked, open, "a4f4", "the piece on a4 may not pass a special square before f4"),
        (slow, open, "a4a7", "the piece on a4 goes 2 squares at most"),
        (linnaeus, "9/9/9/9/9/4k4/9/9/a8 d", "e4e5", "nobody may stop on the empty throne e5"),
        (linnaeus, "9/9/2k6/9/9/9/4a4/9/9 a", "e3e5", "nobody may stop on the empty throne e5"),
        (throne, "7/7/7/k6/7/d2a3/7 d", "a4d4", "the piece on a4 may not stop on the special square d4"),
        (throne, "7/3d3/7/k6/7/3a3/7 d", "d6d4", "the piece on d6 may not stop on the special square d4"),
        (corner, "7/7/3k3/7/7/3a3/7 d", "d5d7", "the piece on d5 may not stop on the special square d7"),
        (brandubh, "k6/7/3a3/7/7/7/7 a", "d5d6", "the game is over (defenders, king_escaped)"),
    ] {
        let mut position = Position::from_fen(&rules, fen).unwrap();
        let error = position.play(Move::parse(mv, rules.size()).unwrap()).expect_err(mv);
        assert_eq!(error.to_string(), format!("illegal move {mv}: {expected}"));
        assert_eq!(position.fen(), fen, "a refused move changed the position");
    }
    let off_board = Position::start(&brandubh).check(Move::new(Square::new(3), Square::new(100))).unwrap_err();
    assert!(off_board.to_string().ends_with("it leaves the 7x7 board"), "{off_board}");

    let rules = Preset::CopenhagenHnefataflOrg.rules();
    let mut position = Position::start(&rules);
    let mut play = |text: &str| position.play(Move::parse(text, rules.size()).unwrap());
    for text in ["f2f3", "f4g4", "f3f2"] {
        play(text).unwrap();
    }
    let error = play("g4f4").unwrap_err().to_string();
    assert_eq!(error, "illegal move g4f4: the defenders may not make a position occur 2 times");
}

#[test]
fn diagrams_show_the_board_with_coordinates() {
    let position = Position::from_fen(&Preset::Brandubh.rules(), "3a3/7/7/7/k6/7/4d2 d").unwrap();
    let expected = [
        " 7 + . . A . . +",
        " 6 . . . . . . .",
        " 5 . . . . . . .",
        " 4 . . . + . . .",
        " 3 K . . . . . .",
        " 2 . . . . . . .",
        " 1 + . . . D . +",
        "   a b c d e f g",
        "defenders to move",
        "",
    ];
    assert_eq!(position.diagram(), expected.join("\n"));
    // The king stands on the throne of Tablut, whose corners are squares as others.
    for (name, marked) in [("ard-ri", 0), ("alea-evangelii", 16), ("tablut", 0), ("copenhagen", 4)] {
        let rules = name.parse::<NamedRules>().expect("published").rules();
        assert_eq!(Position::start(&rules).diagram().matches('+').count(), marked, "{name}");
    }
}

#[test]
fn presets_are_known_by_their_rules() {
    for preset in Preset::ALL {
        assert_eq!(preset.rules().preset(), Some(preset));
        let capped = Rules { ply_cap: 512, ..preset.rules() };
        assert_eq!(capped.preset(), Some(preset), "a ply cap makes no other ruleset");
    }
}

#[test]
fn what_is_displayed_can_be_read() {
    fn both_ways<T>(all: &[T])
    where
        T: std::str::FromStr<Err: std::fmt::Debug> + std::fmt::Display + std::fmt::Debug + PartialEq,
    {
        for one in all {
            assert_eq!(one.to_string().parse::<T>().unwrap(), *one);
        }
    }
    both_ways(&Preset::ALL);
    both_ways(&Side::BOTH);
    both_ways(&Reason::ALL);
    both_ways(&Reason::ALL.map(|reason| Outcome::Draw { reason }));
    both_ways(&Side::BOTH.map(|side| Outcome::Win { side, reason: Reason::ExitFort }));
    assert_eq!(Preset::from_name("tablut-linnaeus"), Some(Preset::TablutLinnaeus));
    assert_eq!(Preset::from_name("chess"), None);
}

#[test]
fn an_unknown_name_is_answered_with_the_names_there_are() {
    let presets = Preset::ALL.map(Preset::name).join(", ");
    for (error, expected) in [
        ("chess".parse::<Preset>().unwrap_err(), format!(r#"unknown ruleset "chess": expected one of {presets}"#)),
        (
            "".parse::<Side>().unwrap_err(),
            r#"unknown side "": expected one of attackers, defenders"#.to_owned(),
        ),
        (
            "draw by luck".parse::<Outcome>().unwrap_err(),
            format!(r#"unknown reason "luck": expected one of {}"#, Reason::ALL.map(Reason::as_str).join(", ")),
        ),
        (
            "white by exit_fort".parse::<Outcome>().unwrap_err(),
            "unknown outcome \"white by exit_fort\": expected one of attackers by REASON, defenders by REASON, draw by \
             REASON"
                .to_owned(),
        ),
    ] {
        assert_eq!(error.to_string(), expected);
    }
    assert!("attackers".parse::<Outcome>().is_err());
    assert_eq!(BoardSize::try_from(4).unwrap_err().to_string(), "board size 4: expected 5 to 19");
}

#[test]
fn squares_are_read_by_name() {
    let size = BoardSize::NINE;
    for square in (0..size.squares()).map(Square::new) {
        assert_eq!(Square::parse(&square.name(size), size), Ok(square));
        let (file, rank) = square.file_and_rank(size);
        assert_eq!(Square::at(file, rank, size), square);
    }
    for (text, problem, words) in [
        ("", NotationProblem::MissingSquare, "a square is missing at the end"),
        ("4", NotationProblem::NoSquare("4".into()), r#""4" does not begin with a square"#),
        ("a4b", NotationProblem::NotASquare("a4b".into()), r#""a4b" is not a square"#),
        ("j1", NotationProblem::OffBoard { name: "j1".into(), size }, "j1 lies off the 9x9 board"),
    ] {
        let error = Square::parse(text, size).unwrap_err();
        assert_eq!(error.to_string(), format!("square {text:?}: {words}; expected a file and a rank such as a4"));
        assert_eq!(error.problem, problem);
    }
}

#[cfg(feature = "serde")]
#[test]
fn rules_and_names_are_serialised_as_in_files() {
    for preset in Preset::ALL {
        assert_eq!(serde_json::to_string(&preset).unwrap(), format!("{:?}", preset.name()));
        let text = serde_json::to_string(&preset.rules()).unwrap();
        assert_eq!(serde_json::from_str::<Rules>(&text).unwrap(), preset.rules());
    }
    let text = serde_json::to_string(&Preset::Brandubh.rules()).unwrap();
    let cross = serde_json::to_string(&Preset::Historical.rules()).unwrap();
    assert!(cross.starts_with(r#"{"start":"4aaa4/4aaa4/5d5"#), "{cross}");
    for (start, problem) in [("3a3/3a3/k", "3 rows; expected 5 to 19"), ("5/5/5/5/5", "no king; expected one")] {
        let error = serde_json::from_str::<Rules>(&text.replace("3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3", start));
        let error = error.unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    assert!(
        text.starts_with(r#"{"start":"3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3","first":"attackers""#)
            && text.contains(r#""king_capture":"strong_near_throne""#),
        "{text}"
    );
    let outcome = Outcome::Win { side: Side::Defenders, reason: Reason::KingEscaped };
    let text = r#"{"Win":{"side":"defenders","reason":"king_escaped"}}"#;
    assert_eq!(serde_json::to_string(&outcome).unwrap(), text);
    assert_eq!(serde_json::to_string(&Move::new(Square::new(3), Square::new(2))).unwrap(), "1027");
    let unknown = serde_json::from_str::<BoardSize>("20").unwrap_err().to_string();
    assert!(unknown.starts_with("board size 20: expected 5 to 19"), "{unknown}");
}

/// Brandubh with a wall of forts that the king may not pass around the middle.
fn strip() -> Rules {
    let rules = Preset::Brandubh.rules();
    let marks = Marks::parse("c5c/1aaaaa1/1a3a1/1a1t1a1/1a3a1/1aaaaa1/c5c").unwrap();
    Rules { marks, attacker_forts: Special { stop: Pieces::MEN, pass: Pieces::MEN, ..Special::ORDINARY }, ..rules }
}

#[test]
fn impossible_rules_are_named_with_key_value_and_range() {
    assert!(Preset::ALL.iter().all(|preset| preset.rules().faults().is_empty()));
    let rules = Rules { repetition_occurrence: 1, draw_fort_occurrence: 1, ..Preset::Copenhagen.rules() };
    let faults = rules.faults();
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(faults[0].starts_with("repetition_occurrence = 1: expected 2 to 255"), "{faults:?}");
    let copenhagen = Preset::Copenhagen.rules();
    let closed = Special { enter: Pieces::NONE, ..copenhagen.corners };
    let small = Marks::usual(BoardSize::SEVEN);
    for (rules, fault) in [
        (Rules { marks: small, ..copenhagen }, "marks: a board of 7x7; expected 11x11 as the start has"),
        (Rules { corners: closed, ..copenhagen }, "escape: the king may stop on none of his goals"),
        (
            Rules { start: Start::of("k6/7/7/7/7/7/3a3"), ..Preset::Brandubh.rules() },
            "start: the king stands on a goal",
        ),
        (Rules { start: Start::of("7/7/7/3k3/7/7/7"), ..Preset::Brandubh.rules() }, "start: no attackers"),
        (
            Rules { start: Start::of("3a3/7/7/3k3/7/7/7"), speed: Speed { king: 1, ..Speed::UNLIMITED }, ..strip() },
            "escape: the king comes to none of his goals",
        ),
    ] {
        let faults = rules.faults();
        assert!(faults.iter().any(|found| found.starts_with(fault)), "{fault}: {faults:?}");
    }
    assert!(faults[1].starts_with("draw_fort_occurrence = 1: expected 0 (off) or 2 to 255"), "{faults:?}");
}
