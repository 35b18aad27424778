//! Rules records of OpenTafl's notation: public records, the words of errors, and any record written and read again.

mod boards;

use hnefi_engine::{
    Encirclement, Escape, KingArmed, KingCapture, KingOnEdge, NamedRules, NoLegalMove, Piece, Pieces, Position, Preset,
    Repetition, RepetitionCompares, Rules, RulesRecord, Side, Special, Speed, Symmetry,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A record that somebody else wrote.
#[derive(serde::Deserialize)]
struct Public {
    record: String,
    source: String,
    /// The same record as OpenTafl's own program reads and writes it.
    opentafl_writes: Option<String>,
    /// The option that we refuse.
    refused: Option<String>,
}

fn public_records() -> Vec<Public> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/rules_records.json"));
    serde_json::from_str(&text.expect("the file of records")).expect("a list of records")
}

/// What is read is what OpenTafl reads: its program's own writing of a record says the same.
#[test]
fn public_records_are_read_as_opentafl_reads_them() {
    let records = public_records();
    assert!(records.iter().filter(|public| public.refused.is_none()).count() >= 30);
    for Public { record: text, source, opentafl_writes, refused } in records {
        let read = text.parse::<RulesRecord>();
        match (read, refused) {
            (Ok(record), None) => {
                assert_eq!(record.to_string().parse(), Ok(record.clone()), "{source}");
                if let Some(theirs) = opentafl_writes {
                    let theirs: RulesRecord = theirs.parse().unwrap_or_else(|error| panic!("{theirs}: {error}"));
                    assert_eq!(record.differing(&theirs), [], "{text}");
                    assert_eq!((record.side(), record.start()), (theirs.side(), theirs.start()), "{text}");
                }
            }
            (Err(error), Some(option)) => assert_eq!(error.option, option, "{text}: {error}"),
            (Ok(_), Some(option)) => panic!("{text}: read, where {option} should be refused"),
            (Err(error), None) => panic!("{text}: {error}"),
        }
    }
}

#[test]
fn what_is_left_out_is_as_the_notation_says() {
    let record: RulesRecord = "dim:7 start:/7/7/7/3K3/7/7/7/".parse().expect("a record");
    let values = "esc:c surf:y atkf:y tfr:d ka:y ks:s spd:-1 cor:default cen:default afor: corh:tTK cenh:t cenhe:tTK \
                  aforh:TK dforh:t corp:K cenp:tTK aforp:tTK dforp:TK cors:K cens:K afors:tTK dfors:TK corre:tTK sw:n \
                  swf:y efe:n linc:n";
    for (key, value) in values.split_whitespace().filter_map(|word| word.split_once(':')) {
        assert_eq!(record.value(key), value, "{key}");
    }
    assert_eq!(record.to_string(), "dim:7 start:/7/7/7/3K3/7/7/7/");
}

#[test]
fn values_have_one_form() {
    let start = "start:/7/7/7/3K3/7/7/7/";
    let read = |options: &str| format!("dim:7 {options} {start}").parse::<RulesRecord>().expect(options);
    for (one, other) in [
        ("ks:y", "ks:s"),
        ("ks:n", "ks:w"),
        ("cor:g7,a1,g1,a7", "cor:default"),
        ("cen:d4,", ""),
        ("cor:b1,a2,a2", "cor:a2,b1,"),
        ("corh:KTt", "corh:tcnkmTCNKM"),
        ("spd:3,3", "spd:3"),
        ("spd:-1,-1,-1,-1,-1,-1,-1,1", "spd:-1,-1,-1,-1,-1,-1,-1,-1,-1,1,-1,-1,"),
        ("spd:2,2,2,2,2,-1,-1,-1,-1,-1", "spd:2,-1"),
        ("nj:n cj:c mj:r", ""),
        ("starti:/t6/7/7/3K3/7/7/7/", "start:/7/7/7/3K3/7/7/t6/"),
        ("start:/7/7/7/03K3/7/7/t6/", "start:/7/7/7/3K3/7/7/t6/"),
        ("name:Sea_Battle", "name:Sea_Battle afor:"),
    ] {
        let read = |options: &str| {
            if options.contains("start") { format!("dim:7 {options}").parse().expect(options) } else { read(options) }
        };
        assert_eq!(read(one), read(other), "{one}, {other}");
    }
    assert_eq!(read("name:Sea_Battle").name(), Some("Sea Battle"));
    assert_eq!(
        read("ka:n").differing(&read("ka:h esc:e")),
        [("esc", "esc:c, not esc:e".to_owned()), ("ka", "ka:n, not ka:h".to_owned())]
    );
}

#[test]
fn an_error_names_the_option_and_what_is_expected() {
    let start = "start:/7/7/7/3K3/7/7/7/";
    for (text, expected) in [
        (start.to_owned(), "dim: found nothing; expected the squares along one edge, 5 to 19"),
        (format!("dim:4 {start}"), "dim: found 4; expected the squares along one edge, 5 to 19"),
        (format!("dim: {start}"), "dim: found nothing; expected the squares along one edge, 5 to 19"),
        (format!("dim:7 esc: {start}"), "esc: found nothing; expected c, e"),
        (format!("dim:x {start}"), "dim: found x; expected the squares along one edge, 5 to 19"),
        ("dim:7".to_owned(), "start: found nothing; expected the pieces that the game begins with"),
        (format!("dim:7 {start} {start}"), "start: found a second value; expected one"),
        (format!("dim:7 {start} starti:/7/"), "starti: found a second start; expected one"),
        (format!("dim:7 esc {start}"), "esc: found no colon; expected words such as esc:e"),
        (format!("dim:7 :e {start}"), ":e: found no option before the colon; expected words such as esc:e"),
        (format!("dim:7 esc:x {start}"), "esc: found x; expected c, e"),
        (format!("dim:7 kj:j {start}"), "kj: found j; expected n, because jumps are not played here"),
        (format!("dim:7 ber:c {start}"), "ber: found c; expected n, because berserk moves are not played here"),
        (format!("dim:7 corh:tx {start}"), "corh: found x; expected letters of pieces, tTK and cnkmgCNMG"),
        (format!("dim:7 cor:a1,h8 {start}"), "cor: found h8; expected squares from a1 to g7, parted by commas"),
        (format!("dim:7 cor:a01,é1 {start}"), "cor: found é1; expected squares from a1 to g7, parted by commas"),
        (format!("dim:7 spd:0 {start}"), "spd: found 0; expected squares a move, from 1 to 255, or -1 for no limit"),
        (format!("dim:7 spd:1,2,3 {start}"), "spd: found 3 numbers; expected 1, 2, 8, 10 or 12 numbers"),
        ("dim:7 start:/7/7/".to_owned(), "start: found 2 rows; expected 7, as dim says"),
        (
            "dim:7 start:/7/7/7/3K4/7/7/7/".to_owned(),
            "start: found 8 squares in the row of rank 4; expected 7, as dim says",
        ),
        (
            "dim:7 starti:/7/3N3/7/3K3/7/7/7/".to_owned(),
            "starti: found N in the row of rank 6; expected t, T and K, because knights are not played here",
        ),
        (
            "dim:7 start:/c6/7/7/3K3/7/7/7/".to_owned(),
            "start: found c in the row of rank 1; expected t, T and K, because commanders are not played here",
        ),
        ("dim:7 start:/7/7/7/7/7/7/7/".to_owned(), "start: found 0 kings (K); expected one"),
    ] {
        let error = text.parse::<RulesRecord>().expect_err(&text).to_string();
        assert_eq!(error, format!("rules record, {expected}"), "{text}");
    }
    let unknown = format!("dim:7 efen:n {start}").parse::<RulesRecord>().expect_err("no such option");
    assert_eq!((unknown.option.as_str(), unknown.found.as_str()), ("efen", "an option that there is not"));
    assert!(unknown.expected.starts_with("one of dim, name, start, starti, esc, surf,"), "{unknown}");
}

/// Any values, in any order: what is written is read as the same.
#[test]
fn a_record_is_read_as_it_was_written() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(46);
    for _ in 0..2000 {
        let side = random.random_range(5..=19_usize);
        let mut rows: Vec<Vec<char>> = vec![vec!['.'; side]; side];
        for _ in 0..side {
            let letter = ['t', 'T'][random.random_range(0..2)];
            rows[random.random_range(0..side)][random.random_range(0..side)] = letter;
        }
        rows[side / 2][side / 2] = 'K';
        let rows: Vec<String> = rows.into_iter().map(String::from_iter).collect();
        let mut words = vec![format!("start:/{}/", boards::spell(&rows.join("/")))];
        let mut pick = |values: &[&str]| values[random.random_range(0..values.len())].to_owned();
        for key in ["surf", "atkf", "swf", "efe", "linc"] {
            words.push(format!("{key}:{}", pick(&["y", "n"])));
        }
        words.push(format!("tfr:{}", pick(&["i", "d", "w", "l"])));
        words.push(format!("ka:{}", pick(&["y", "a", "h", "n"])));
        words.push(format!("ks:{}", pick(&["s", "c", "m", "w", "y", "n"])));
        words.push(format!("sw:{}", pick(&["n", "w", "s"])));
        words.push(format!("spd:{}", pick(&["-1", "3", "3,4", "1,2,3,4,5,6,7,8", "1,1,1,1,1,1,1,1,1,1,1,2"])));
        for kind in ["cor", "cen", "afor", "dfor"] {
            words.push(format!("{kind}:{}", pick(&["", "default", "a1", "b3,e5,", "c1,c2,c3"])));
            for list in ["h", "p", "s", "re"] {
                words.push(format!("{kind}{list}:{}", pick(&["", "t", "tcnk", "TK", "tTK", "tcnkmgTCNKMG"])));
            }
        }
        for place in (1..words.len()).rev() {
            words.swap(place, random.random_range(0..=place));
        }
        let text = format!("dim:{side} name:Any_game {}", words.join(" "));
        let record: RulesRecord = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        let written = record.to_string();
        assert_eq!(written.parse(), Ok(record.clone()), "{text}");
        assert!(written.starts_with(&format!("dim:{side} name:Any_game ")) && written.ends_with(&record.start()));
    }
}

#[test]
fn rules_are_written_as_records_and_read_as_the_same() {
    for preset in Preset::ALL {
        let rules = preset.rules();
        let record = RulesRecord::of(&rules);
        assert_eq!(record.rules(), Ok(rules), "{record}");
        let read: RulesRecord = record.to_string().parse().expect("what was written is read");
        assert_eq!((read.rules(), read), (Ok(rules), record));
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    for _ in 0..3000 {
        let mut pick = |count: usize| random.random_range(0..count);
        let king_capture = [KingCapture::Strong, KingCapture::StrongNearThrone, KingCapture::Weak][pick(3)];
        let strong = king_capture == KingCapture::Strong;
        let preset = Preset::ALL[pick(Preset::ALL.len())].rules();
        let king_on_edge = if strong && pick(2) == 0 { KingOnEdge::CapturedByThree } else { KingOnEdge::Safe };
        let mut pieces = |king: bool| -> Pieces {
            Piece::ALL.into_iter().filter(|&piece| pick(2) == 0 && (king || piece != Piece::King)).collect()
        };
        let mut special = |king: bool| Special {
            pass: pieces(true),
            stop: pieces(true).or(Pieces::KING),
            enter: pieces(true).or(Pieces::KING),
            hostile_empty: pieces(king),
            hostile_occupied: pieces(king),
        };
        let throne = special(true);
        let mut corners = special(!strong || king_on_edge == KingOnEdge::CapturedByThree);
        corners.hostile_occupied = corners.hostile_empty;
        let shieldwall = pick(2) == 0;
        let rules = Rules {
            start: preset.start,
            marks: preset.marks,
            speed: Speed { attackers: [0, 3][pick(2)], defenders: [0, 4][pick(2)], king: [0, 2][pick(2)] },
            throne,
            corners,
            attacker_forts: Special::ORDINARY,
            defender_forts: Special::ORDINARY,
            shieldwall,
            shieldwall_corners: !shieldwall || pick(2) == 0,
            shieldwall_flank: !shieldwall || pick(2) == 0,
            first: Side::BOTH[pick(2)],
            king_capture,
            // Options that say nothing beside the others are as in the presets.
            king_on_edge,
            king_armed: [KingArmed::Armed, KingArmed::HammerOnly, KingArmed::AnvilOnly, KingArmed::Unarmed][pick(4)],
            linnaean_capture: pick(2) == 0,
            escape: [Escape::Corner, Escape::Edge][pick(2)],
            exit_fort: pick(2) == 0,
            encirclement: [Encirclement::Off, Encirclement::AnyPocket, Encirclement::SingleRegion][pick(3)],
            no_legal_move: [NoLegalMove::Loss, NoLegalMove::Draw][pick(2)],
            repetition: Repetition::ALL[pick(6)],
            repetition_occurrence: [2, 3, 255][pick(3)],
            repetition_compares: [RepetitionCompares::BoardAndSide, RepetitionCompares::BoardAlone][pick(2)],
            no_capture_draw_plies: [0, 100, u16::MAX][pick(3)],
            draw_fort_occurrence: [0, 4, 255][pick(3)],
            ply_cap: [0, 1, 900][pick(3)],
        };
        let written = RulesRecord::of(&rules).to_string();
        let read: RulesRecord = written.parse().unwrap_or_else(|error| panic!("{written}: {error}"));
        assert_eq!(read.rules(), Ok(rules), "{written}");
        assert_eq!(
            NamedRules::from(rules).to_string().parse::<NamedRules>().map(|named| named.rules().start),
            Ok(rules.start)
        );
    }
}

/// The specification's own words for Copenhagen and Fetlar are those presets, but for what it has no word for.
#[test]
fn the_specifications_examples_are_the_presets() {
    let diamond = "start:/3ttttt3/5t5/11/t4T4t/t3TTT3t/tt1TTKTT1tt/t3TTT3t/t4T4t/11/5t5/3ttttt3/";
    for (options, preset) in [("sw:s efe:y", Preset::Copenhagen), ("", Preset::Fetlar)] {
        let record: RulesRecord = format!("dim:11 {options} {diamond}").parse().expect("a record");
        let rules = preset.rules();
        let without_own = Rules {
            repetition: Repetition::Draw,
            repetition_occurrence: 3,
            no_capture_draw_plies: 0,
            draw_fort_occurrence: 0,
            ..rules
        };
        assert_eq!(record.rules(), Ok(without_own));
    }
}

/// Attackers and defenders of the listed rulesets, the king apart, as their sources count them.
const MEN: [(&str, usize, usize); 19] = [
    ("ard-ri", 16, 8),
    ("ard-ri-one-step", 16, 8),
    ("magpie", 8, 4),
    ("brandub-opentafl", 8, 4),
    ("sea-battle", 16, 8),
    ("foteviken-tablut", 16, 8),
    ("tawlbwrdd-bell", 24, 12),
    ("tawlbwrdd-lewis", 24, 12),
    ("tawlbwrdd-lewis-diamond", 24, 12),
    ("tawlbwrdd-t-diamond", 24, 12),
    ("tawlbwrdd-t-cross", 24, 12),
    ("old-hnefatafl", 24, 12),
    ("copenhagen-relaxed-shieldwall", 24, 12),
    ("copenhagen-line", 24, 12),
    ("copenhagen-hnefatafl-org-13x13", 32, 16),
    ("parlett-13x13", 32, 16),
    ("sea-battle-13x13", 32, 16),
    ("tablut-15x15", 40, 20),
    ("alea-evangelii", 48, 24),
];

#[test]
fn published_rulesets_have_names_men_and_symmetrical_boards_and_are_written_as_records() {
    let mut men: Vec<(String, usize, usize)> = Vec::new();
    for named in NamedRules::published() {
        let (name, rules) = (named.name(), named.rules());
        assert_eq!(name.parse(), Ok(named));
        assert_eq!(rules.faults(), Vec::<String>::new(), "{name}");
        let start = Position::start(&rules);
        for symmetry in Symmetry::ALL {
            assert_eq!(start.transformed(symmetry).board(), start.board(), "{name}");
            for squares in [rules.marks.throne(), rules.marks.corners(), rules.marks.attacker_forts()] {
                assert_eq!(symmetry.bitboard(squares, rules.size()), squares, "{name}");
            }
        }
        let read: RulesRecord = RulesRecord::of(&rules).to_string().parse().expect("what was written is read");
        assert_eq!(read.rules(), Ok(rules), "{name}");
        let board = start.board();
        men.push((name, board.attackers().len(), board.defenders().len()));
    }
    let names: std::collections::BTreeSet<&str> = men.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names.len(), men.len(), "names are unique");
    let listed: Vec<_> = men[Preset::ALL.len()..].iter().map(|(name, a, d)| (name.as_str(), *a, *d)).collect();
    assert_eq!(listed, MEN);
    let error = "brandub".parse::<NamedRules>().expect_err("no such name").to_string();
    assert!(error.starts_with("unknown ruleset \"brandub\": expected one of copenhagen, "), "{error}");
}

#[test]
fn random_games_of_every_published_ruleset_end() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(13);
    for named in NamedRules::published() {
        for _ in 0..3 {
            let mut position = Position::start(&named.rules());
            while position.outcome().is_none() {
                let mv = position.random_move(|count| random.random_range(0..count)).expect("a game that goes on");
                position.play(mv).expect("a legal move");
                assert!(position.ply() < 20_000, "{named}");
            }
        }
    }
}

#[test]
fn a_board_without_a_middle_needs_no_word_about_it() {
    let read = |words: &str| {
        let text = format!("dim:6 {words}start:/2tt2/6/t1TT1t/t1TK1t/6/2tt2/");
        text.parse::<RulesRecord>().expect("a record").rules()
    };
    let said = read("cen: ").expect("rules that can be played");
    assert_eq!([read(""), read("cen:default ")], [Ok(said), Ok(said)]);
}

#[test]
fn a_square_of_two_kinds_is_named() {
    let text = "dim:9 esc:e cor: afor:b2 dfor:b2 start:/3ttt3/4t4/4T4/t3T3t/ttTTKTTtt/t3T3t/4T4/4t4/3ttt3/";
    let error = text.parse::<RulesRecord>().expect("a record").rules().expect_err("two kinds");
    assert_eq!((error.option.as_str(), error.found.as_str()), ("dfor", "b2, which is of another kind, too"));
}
