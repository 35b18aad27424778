//! Positions and moves as text.

use hnefi_engine::{
    BoardSize, Encirclement, Escape, Game, KingArmed, KingCapture, KingOnEdge, Move, MoveList, NoLegalMove, Piece,
    Pieces, Position, Preset, Repetition, RepetitionCompares, Rules, RulesRecord, Side, Special, Speed, Square,
    Symmetry,
};
use hnefi_record::pgn::play_word;

/// Bytes that say which rules.
const RULES: usize = 15;

/// Plies that are played from a position.
const PLIES: usize = 40;

/// What squares of one kind do: as in a preset, but for one thing.
fn special(pick: &mut impl FnMut(u64) -> usize) -> Special {
    let rules = Preset::ALL[pick(Preset::ALL.len() as u64)].rules();
    let special = [rules.throne, rules.corners][pick(2)];
    let pieces: Pieces = Piece::ALL.into_iter().filter(|_| pick(2) == 0).collect();
    match pick(6) {
        0 => Special { pass: pieces, ..special },
        1 => Special { stop: pieces, ..special },
        2 => Special { enter: pieces, ..special },
        3 => Special { hostile_empty: pieces, ..special },
        4 => Special { hostile_occupied: pieces, ..special },
        _ => special,
    }
}

/// The rules that the first bytes stand for: a preset, or any mixture.
fn rules(bytes: [u8; RULES]) -> Rules {
    if let Some(preset) = Preset::ALL.get(usize::from(bytes[0])) {
        return preset.rules();
    }
    let mut left = bytes.iter().fold(0_u128, |number, &byte| number << 8 | u128::from(byte));
    let mut pick = |count: u64| {
        let picked = left % u128::from(count);
        left /= u128::from(count);
        picked as usize
    };
    let start = Preset::ALL[pick(Preset::ALL.len() as u64)];
    Rules {
        start: start.rules().start,
        first: Side::BOTH[pick(2)],
        king_capture: [KingCapture::Strong, KingCapture::StrongNearThrone, KingCapture::Weak][pick(3)],
        king_on_edge: [KingOnEdge::Safe, KingOnEdge::CapturedByThree][pick(2)],
        king_armed: [KingArmed::Armed, KingArmed::HammerOnly, KingArmed::AnvilOnly, KingArmed::Unarmed][pick(4)],
        speed: Speed { attackers: [0, 2][pick(2)], defenders: [0, 3][pick(2)], king: [0, 1][pick(2)] },
        marks: start.rules().marks,
        throne: special(&mut pick),
        corners: special(&mut pick),
        attacker_forts: Special::ORDINARY,
        defender_forts: Special::ORDINARY,
        linnaean_capture: pick(2) == 0,
        escape: [Escape::Corner, Escape::Edge][pick(2)],
        shieldwall: pick(2) == 0,
        shieldwall_corners: pick(2) == 0,
        shieldwall_flank: pick(2) == 0,
        exit_fort: pick(2) == 0,
        encirclement: [Encirclement::Off, Encirclement::AnyPocket, Encirclement::SingleRegion][pick(3)],
        no_legal_move: [NoLegalMove::Loss, NoLegalMove::Draw][pick(2)],
        repetition: Repetition::ALL[pick(6)],
        repetition_occurrence: 2 + pick(3) as u8,
        repetition_compares: [RepetitionCompares::BoardAndSide, RepetitionCompares::BoardAlone][pick(2)],
        no_capture_draw_plies: [0, 1, 30][pick(3)],
        draw_fort_occurrence: [0, 2, 3][pick(3)],
        ply_cap: [0, 1, 25][pick(3)],
    }
}

/// The position of an input, a FEN behind the bytes of the rules.
pub fn position(input: &[u8]) -> Option<Position> {
    let (&first, text) = input.split_first_chunk::<RULES>()?;
    Position::from_fen(&rules(first), &String::from_utf8_lossy(text)).ok()
}

/// A FEN, the first bytes being the rules: what is read is written and read as the same, and moves from there keep
/// their promises.
pub fn fen(input: &[u8]) {
    let Some(position) = position(input) else { return };
    let written = position.fen();
    let read = Position::from_fen(position.rules(), &written).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((read.fen(), read.board(), read.hash()), (written.clone(), position.board(), position.hash()));
    assert!(!position.diagram().is_empty());
    play(position, input);
}

fn play(mut position: Position, input: &[u8]) {
    let mut moves = MoveList::new();
    for (index, &byte) in input.iter().cycle().take(PLIES.min(input.len())).enumerate() {
        position.legal_moves(&mut moves);
        assert_eq!(position.count_legal_moves(), moves.len(), "{}", position.fen());
        if position.outcome().is_some() || moves.is_empty() {
            assert!(position.outcome().is_some(), "no move and no end: {}", position.fen());
            return;
        }
        let mv = moves[(usize::from(byte) + index) % moves.len()];
        assert_eq!(position.check(mv), Ok(()));
        assert_eq!(position.random_move(|count| (usize::from(byte) + index) % count).is_some(), !moves.is_empty());
        let size = position.size();
        assert_eq!(Move::parse(&mv.text(size), size).ok(), Some(mv));
        let foreseen = position.outcome_after(mv);
        let (before, hash) = (position.fen(), position.hash());
        let undo = position.play_unchecked(mv);
        let (after, captured) = (position.fen(), undo.captured());
        assert_eq!(position.outcome(), foreseen, "{before} {}", mv.text(size));
        position.undo(undo);
        assert_eq!((position.fen(), position.hash()), (before, hash));
        // The same move as a text with its captures.
        let mut word = mv.text(size);
        captured.for_each(|square| word.push_str(&format!("x{}", square.name(size))));
        let mut played = Game::from_position(position.clone());
        assert_eq!(play_word(&mut played, &word).map(|ply| ply.mv), Ok(mv));
        assert_eq!(played.position().fen(), after);
        let mirrored = position.transformed(Symmetry::ALL[usize::from(byte) % Symmetry::ALL.len()]);
        assert_eq!(mirrored.count_legal_moves(), moves.len());
        position.advance(mv);
        assert_eq!(position.fen(), after);
    }
}

/// A square, a move and a move with captures, the first byte being the rules.
pub fn moves(input: &[u8]) {
    let Some((&first, text)) = input.split_first() else { return };
    let preset = first % Preset::ALL.len() as u8;
    let rules = rules(std::array::from_fn(|place| if place == 0 { preset } else { 0 }));
    let (size, text) = (rules.size(), String::from_utf8_lossy(text));
    if let Ok(square) = Square::parse(&text, size) {
        assert!(square.index() < size.squares());
        assert_eq!(Square::parse(&square.name(size), size), Ok(square));
    }
    if let Ok((mv, captures)) = Move::parse_with_captures(&text, size) {
        let squares = [mv.from(), mv.to()].into_iter().chain(captures);
        squares.for_each(|square| assert!(square.index() < size.squares()));
        assert_eq!(Move::parse(&mv.text(size), size), Ok(mv));
    }
    let mut game = Game::new(&rules);
    for word in text.split_whitespace().take(50) {
        if let Err((problem, _)) = play_word(&mut game, word) {
            assert!(!problem.is_empty());
        }
        if game.outcome().is_some() {
            break;
        }
    }
}

/// A rules record: what is read is written and read as the same.
pub fn rules_record(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match text.parse::<RulesRecord>() {
        Ok(record) => {
            let written = record.to_string();
            assert_eq!(written.parse().as_ref(), Ok(&record), "{written}");
        }
        Err(error) => {
            let said = [&error.option, &error.found, &error.expected];
            assert!(!said.iter().any(|text| text.is_empty()), "{error:?}");
        }
    }
}

/// Rules records to begin with: the public ones that the engine's tests read.
pub fn rules_record_seeds() -> Vec<Vec<u8>> {
    let records: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../../engine/tests/data/rules_records.json")).expect("the list of records");
    records.iter().filter_map(|public| Some(public["record"].as_str()?.as_bytes().to_vec())).collect()
}

/// Bytes of mixed rules on the board of Brandubh.
fn mixture(salt: usize) -> [u8; RULES] {
    // No preset has the number of the first byte.
    let bytes = |salt: usize| {
        std::array::from_fn::<u8, RULES, _>(|place| if place == 0 { 200 } else { (salt * (2 * place + 1)) as u8 })
    };
    (salt..).map(bytes).find(|&bytes| rules(bytes).size() == BoardSize::SEVEN).expect("one preset in nine has it")
}

/// FENs to begin with, in every notation.
pub fn fen_seeds() -> Vec<Vec<u8>> {
    let starts = Preset::ALL.into_iter().zip(0..).map(|(preset, number): (Preset, u8)| {
        [&[number; RULES], Position::start(&preset.rules()).fen().as_bytes()].concat()
    });
    let others = [
        "3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 - a 0 0",
        "/3t3/3t3/3T3/ttTKTtt/3T3/3t3/3t3/",
        "/3A3/3A3/3D3/AADKDAA/3D3/3A3/3A3/",
        "3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 g4 d 12 3",
        "k6/7/3a3/7/2a4/7/7 d",
        "7/7/7/1ak4/7/7/7 attackers",
    ];
    let others = others
        .iter()
        .enumerate()
        .flat_map(|(number, text)| [[5; RULES], mixture(50 * number)].map(|first| [&first, text.as_bytes()].concat()));
    starts.chain(others).collect()
}

pub fn move_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "a4b4",
        "a4-b4",
        "a4-b4xc4",
        "A4-B4",
        "Kd4-d1--",
        "a4-b4xc4/d5",
        "k11k10",
        "d6f6 d5f5 f6f4",
        "a4^b4",
        "d6-c6+",
        "j1",
        "d6-c6 d5-b5 c6-c5xb5",
    ];
    texts.iter().flat_map(|text| [5, 0, 6].map(|first| [&[first], text.as_bytes()].concat())).collect()
}
