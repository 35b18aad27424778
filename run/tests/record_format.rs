//! `docs/RECORDS.md` against the files themselves: a reader written from the document alone, without serde or bincode,
//! takes a record file apart, and the annotated example in the document is what it says.

mod played;

use hnefi_engine::{Move, Outcome, Pieces, Preset, Reason, Side, Square};
use hnefi_inference::{Handicap, Wdl};
use hnefi_run::{GameRecord, PlyRecord, encode_games};

/// Reads fields one after the other and notes where they lay and what they held.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    lines: Vec<String>,
}

impl Reader<'_> {
    fn take(&mut self, count: usize, what: &str, value: impl FnOnce(&[u8]) -> String) {
        let bytes = &self.bytes[self.at..self.at + count];
        let value = value(bytes);
        for (row, part) in bytes.chunks(8).enumerate() {
            let hex: Vec<String> = part.iter().map(|byte| format!("{byte:02x}")).collect();
            let (hex, at) = (hex.join(" "), self.at + 8 * row);
            self.lines.push(match row {
                0 => format!("{at:6}  {hex:23}  {what:28}  {value}").trim_end().to_string(),
                _ => format!("{at:6}  {hex}"),
            });
        }
        self.at += count;
    }

    fn byte(&mut self, what: &str) -> u64 {
        let value = self.bytes[self.at];
        self.take(1, what, |_| value.to_string());
        value.into()
    }

    /// One byte below 251; else 251, 252 or 253 and two, four or eight bytes.
    fn number_as(&mut self, what: &str, text: impl FnOnce(u64) -> String) -> u64 {
        let first = self.bytes[self.at];
        let wide = |count: usize| {
            let mut eight = [0; 8];
            eight[..count].copy_from_slice(&self.bytes[self.at + 1..][..count]);
            (1 + count, u64::from_le_bytes(eight))
        };
        let (count, value) = match first {
            251 => wide(2),
            252 => wide(4),
            253 => wide(8),
            254.. => panic!("{what} at {}: first byte {first}", self.at),
            _ => (1, first.into()),
        };
        self.take(count, what, |_| text(value));
        value
    }

    fn number(&mut self, what: &str) -> u64 {
        self.number_as(what, |value| value.to_string())
    }

    fn choice(&mut self, what: &str, names: &[&str]) -> usize {
        self.number_as(what, |value| names[value as usize].to_string()) as usize
    }

    fn flag(&mut self, what: &str) -> bool {
        self.choice(what, &["no", "yes"]) == 1
    }

    fn real(&mut self, what: &str) -> f32 {
        let value = f32::from_le_bytes(self.bytes[self.at..][..4].try_into().unwrap());
        self.take(4, what, |_| value.to_string());
        value
    }

    fn text(&mut self, what: &str) -> String {
        let length = self.number(&format!("length of {what}")) as usize;
        let text = String::from_utf8(self.bytes[self.at..][..length].to_vec()).unwrap();
        self.take(length, what, |_| format!("{text:?}"));
        text
    }

    fn wdl(&mut self, what: &str) -> Wdl {
        let [win, draw, loss] = ["win", "draw", "loss"].map(|part| self.real(&format!("{what} {part}")));
        Wdl { win, draw, loss }
    }

    fn mv(&mut self, what: &str) -> u64 {
        self.number_as(what, |bits| format!("{bits} = {} + 512 * {}", bits & 511, bits >> 9))
    }

    /// A byte with a bit for each kind of piece.
    fn pieces(&mut self, what: &str, expected: Pieces) {
        let names = ["attackers", "defenders", "king"];
        let bits = self.bytes[self.at];
        let listed: Vec<&str> = (0..3).filter(|bit| bits >> bit & 1 == 1).map(|bit| names[bit]).collect();
        self.take(1, what, |_| if listed.is_empty() { "none".to_owned() } else { listed.join(" ") });
        assert_eq!(listed, expected.iter().map(|piece| names[piece as usize]).collect::<Vec<_>>());
    }

    fn side(&mut self, what: &str) -> Option<usize> {
        self.flag(what).then(|| self.choice("side", &["attackers", "defenders"]))
    }

    /// A game in the order of the document; checked against the record it should be.
    fn game(&mut self, game: &GameRecord) {
        assert_eq!(self.number("game number"), game.game);
        assert_eq!(self.number("seed"), game.seed);
        assert_eq!(self.text("start of the rules"), game.rules.start.rows());
        self.choice("first", &["attackers", "defenders"]);
        self.choice("king_capture", &["strong", "strong_near_throne", "weak"]);
        self.choice("king_on_edge", &["safe", "captured_by_three"]);
        self.choice("king_armed", &["armed", "hammer_only", "anvil_only", "unarmed"]);
        let speed = game.rules.speed;
        let limits = ["attackers' speed", "defenders' speed", "king's speed"].map(|what| self.byte(what));
        assert_eq!(limits, [speed.attackers, speed.defenders, speed.king].map(u64::from));
        assert_eq!(self.text("marks"), game.rules.marks.rows());
        let kinds = ["throne", "corners", "attacker_forts", "defender_forts"];
        let rules = &game.rules;
        let specials = [rules.throne, rules.corners, rules.attacker_forts, rules.defender_forts];
        for (kind, special) in kinds.into_iter().zip(specials) {
            self.pieces(&format!("{kind}: pass"), special.pass);
            self.pieces(&format!("{kind}: stop"), special.stop);
            self.pieces(&format!("{kind}: enter"), special.enter);
            self.pieces(&format!("{kind}: hostile_empty"), special.hostile_empty);
            self.pieces(&format!("{kind}: hostile_occupied"), special.hostile_occupied);
        }
        assert_eq!(self.flag("linnaean_capture"), game.rules.linnaean_capture);
        self.choice("escape", &["corner", "edge"]);
        assert_eq!(self.flag("shieldwall"), game.rules.shieldwall);
        assert_eq!(self.flag("shieldwall_corners"), game.rules.shieldwall_corners);
        assert_eq!(self.flag("shieldwall_flank"), game.rules.shieldwall_flank);
        assert_eq!(self.flag("exit_fort"), game.rules.exit_fort);
        self.choice("encirclement", &["off", "any_pocket", "single_region"]);
        self.choice("no_legal_move", &["loss", "draw"]);
        self.choice(
            "repetition",
            &["ignore", "draw", "defenders_lose", "mover_loses", "mover_wins", "defenders_may_not"],
        );
        assert_eq!(self.byte("repetition_occurrence"), u64::from(game.rules.repetition_occurrence));
        self.choice("repetition_compares", &["board_and_side", "board_alone"]);
        assert_eq!(self.number("no_capture_draw_plies"), u64::from(game.rules.no_capture_draw_plies));
        assert_eq!(self.byte("draw_fort_occurrence"), u64::from(game.rules.draw_fort_occurrence));
        assert_eq!(self.number("ply_cap"), u64::from(game.rules.ply_cap));
        let start = self.flag("start given").then(|| self.text("start"));
        assert_eq!(start, game.start);
        assert_eq!([self.text("attackers' player"), self.text("defenders' player")], game.players);
        let [doublings, blunders] = ["doublings", "random moves"].map(|what| self.real(&format!("handicap: {what}")));
        assert_eq!(Handicap { doublings, blunders }, game.handicap);
        assert_eq!(self.number("number of plies"), game.plies.len() as u64);
        for ply in &game.plies {
            assert_eq!(self.mv("move"), u64::from(ply.mv.bits()));
            assert_eq!(self.number("policy entries"), ply.policy.len() as u64);
            for &(mv, weight) in &ply.policy {
                assert_eq!((self.mv("policy move"), self.real("policy weight")), (mv.bits().into(), weight));
            }
            assert_eq!(self.number("playouts"), u64::from(ply.playouts));
            assert_eq!((self.wdl("raw"), self.wdl("searched")), (ply.raw, ply.searched));
            assert_eq!(self.flag("trains"), ply.trains);
        }
        assert_eq!(self.flag("outcome given"), game.outcome.is_some());
        if let Some(outcome) = game.outcome {
            let draw = self.choice("outcome", &["win", "draw"]) == 1;
            let winner = (!draw).then(|| self.choice("winner", &["attackers", "defenders"]));
            assert_eq!(winner, outcome.winner().map(Side::index));
            let reasons = Reason::ALL.map(Reason::as_str);
            assert_eq!(Reason::ALL[self.choice("reason", &reasons)], outcome.reason());
        }
        assert_eq!(self.side("resigned"), game.resigned.map(Side::index));
        assert_eq!(self.side("would have resigned"), game.would_have_resigned.map(Side::index));
    }
}

/// Takes a file apart by the document and returns the notes.
fn walk(file: &[u8], games: &[GameRecord]) -> Vec<String> {
    let mut reader = Reader { bytes: file, at: 0, lines: vec!["file".to_string()] };
    reader.take(8, "magic", |magic| String::from_utf8(magic.to_vec()).unwrap());
    reader.take(4, "version", |bytes| u32::from_le_bytes(bytes.try_into().unwrap()).to_string());
    reader.take(8, "payload length", |bytes| u64::from_le_bytes(bytes.try_into().unwrap()).to_string());
    reader.take(4, "CRC-32C of the payload", |_| String::new());
    let lines = reader.lines;
    let plain = zstd::decode_all(&file[24..]).unwrap();
    let mut reader = Reader { bytes: &plain, at: 0, lines };
    reader.lines.push("payload, decompressed".to_string());
    assert_eq!(reader.number("number of games"), games.len() as u64);
    for game in games {
        reader.game(game);
    }
    assert_eq!(reader.at, plain.len());
    reader.lines
}

/// The last move of a game of Brandubh: the king runs to a corner.
fn tiny_game() -> GameRecord {
    let mv = |from, to| Move::new(Square::new(from), Square::new(to));
    GameRecord {
        start: Some("3a3/3a3/3d3/aad1daa/3d3/k2a3/7 d".to_string()),
        players: ["a1".to_string(), "d2".to_string()],
        handicap: Handicap { doublings: 0.5, blunders: -0.25 },
        plies: vec![PlyRecord {
            mv: mv(7, 0),
            policy: vec![(mv(7, 0), 0.75), (mv(7, 8), 0.25)],
            playouts: 300,
            raw: Wdl { win: 0.5, draw: 0.25, loss: 0.25 },
            searched: Wdl { win: 1.0, draw: 0.0, loss: 0.0 },
            trains: true,
        }],
        outcome: Some(Outcome::Win { side: Side::Defenders, reason: Reason::KingEscaped }),
        ..GameRecord::new(2026, 7, hnefi_engine::Rules { ply_cap: 150, ..Preset::Brandubh.rules() })
    }
}

#[test]
fn the_document_describes_the_files() {
    let games: Vec<GameRecord> = (0..30).map(|number| played::random_game(21, number)).collect();
    walk(&encode_games(&games), &games);
}

#[test]
fn the_example_in_the_document_is_true() {
    let game = tiny_game();
    game.check().unwrap();
    let lines = walk(&encode_games(std::slice::from_ref(&game)), &[game]);
    // Length and checksum of the payload may change with zstd, which promises the same data and not the same bytes.
    let (header, payload) = (lines[..3].join("\n"), lines[5..].join("\n"));
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/RECORDS.md")).unwrap();
    for part in [header, payload] {
        assert!(document.contains(&part), "docs/RECORDS.md should contain:\n{}", lines.join("\n"));
    }
}
