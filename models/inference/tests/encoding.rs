//! The encoding: one position drawn in full, and properties over random play.

mod random_play;

use std::collections::HashMap;

use hnefi_engine::{
    Bitboard, Encirclement, Escape, KingArmed, KingCapture, KingOnEdge, Marks, Move, NamedRules, NoLegalMove, Pieces,
    Position, Preset, Repetition, RepetitionCompares, Rules, Side, Special, Speed, Square, Symmetry,
};
use hnefi_inference::encoding::{global, plane};
use hnefi_inference::{Features, Handicap, PLANES};
use random_play::{legal, positions};

const NAMES: [&str; PLANES] = [
    "attackers",
    "defenders",
    "king",
    "throne",
    "goals",
    "board",
    "king, one move",
    "king, two moves",
    "open lines",
    "attackers land",
    "defenders land",
    "edge flood",
    "last move from",
    "last move to",
    "attackers at risk",
    "defenders at risk",
    "hostile to attackers",
    "hostile to men",
    "hostile to king",
    "even occupied",
    "even occupied, men",
    "even occupied, king",
    "no stop, attackers",
    "no stop, men",
    "no stop, king",
    "no pass, attackers",
    "no pass, men",
    "no pass, king",
    "no entry, attackers",
    "no entry, men",
    "no entry, king",
    "strong king",
];

fn played(preset: Preset, moves: &str) -> Position {
    let mut position = Position::start(&preset.rules());
    for text in moves.split_whitespace() {
        position.play(Move::parse(text, position.size()).unwrap()).unwrap();
    }
    position
}

fn encode(position: &Position) -> Features {
    Features::of(position, Handicap::NONE)
}

/// The planes four abreast, rank 1 at the bottom, then the globals that are not 0.
fn drawn(position: &Position) -> String {
    let features = encode(position);
    let n = position.size().side();
    let mut text = format!("{}\n", position.fen());
    for group in (0..PLANES).collect::<Vec<_>>().chunks(4) {
        text.push('\n');
        let line = |cells: Vec<String>| format!("{}\n", cells.join("  ").trim_end());
        text += &line(group.iter().map(|&plane| format!("{:<20}", NAMES[plane])).collect());
        for rank in (0..n).rev() {
            let row = |plane: usize| {
                let square =
                    |file| if features.planes[plane].contains(Square::new(rank * n + file)) { 'x' } else { '.' };
                format!("{:<20}", (0..n).map(square).collect::<String>())
            };
            text += &line(group.iter().map(|&plane| row(plane)).collect());
        }
    }
    text.push('\n');
    for (index, value) in features.globals.iter().enumerate().filter(|(_, value)| **value != 0.0) {
        text += &format!("global {index}: {value}\n");
    }
    text
}

#[test]
fn one_position_is_encoded_as_drawn() {
    let mut position = played(Preset::Brandubh, "d6a6 d5f5 d2a2 d4d6 d7b7");
    assert_eq!(drawn(&position), include_str!("data/encoding_brandubh.txt"));
    // The same board under rules with clocks, a draw by repetition, and nobody on the throne.
    let rules = Rules { ply_cap: 100, ..Preset::TablutLinnaeus.rules() };
    position = Position::start(&rules);
    for text in ["d9d8", "e7f7", "d8d9", "f7e7"] {
        position.play(Move::parse(text, position.size()).unwrap()).unwrap();
    }
    assert_eq!(drawn(&position), include_str!("data/encoding_linnaeus.txt"));
}

/// A game as self-play, a match and a board have it: with three technical ply caps or none.
#[test]
fn a_technical_ply_cap_reaches_no_network() {
    let caps = |rules: Rules| [150, 200, 400, 0].map(|ply_cap| Position::start(&Rules { ply_cap, ..rules }));
    for preset in Preset::ALL {
        let mut doors = caps(preset.rules());
        for ply in 0..140u64 {
            let [first, others @ ..] = doors.each_ref().map(encode);
            assert!(others.iter().all(|other| *other == first), "{preset}, ply {ply}");
            let moves = legal(&doors[0]);
            let Some(&mv) = moves.get((doors[0].hash() ^ ply) as usize % moves.len().max(1)) else { break };
            doors.iter_mut().for_each(|position| _ = position.play_unchecked(mv));
        }
    }
}

#[test]
fn planes_are_written_row_by_row() {
    let position = played(Preset::Brandubh, "d6a6");
    let features = encode(&position);
    let squares = position.size().squares();
    let mut out = vec![0.5; PLANES * squares];
    features.write_planes(squares, &mut out);
    for (plane, set) in features.planes.iter().enumerate() {
        for square in 0..squares {
            let expected = if set.contains(Square::new(square)) { 1.0 } else { 0.0 };
            assert_eq!(out[plane * squares + square], expected, "plane {plane}, square {square}");
        }
    }
}

#[test]
fn symmetry_commutes_with_encoding() {
    for (seed, preset) in Preset::ALL.into_iter().enumerate() {
        for position in positions(&preset.rules(), 20, seed as u64) {
            let features = encode(&position);
            for symmetry in Symmetry::ALL {
                let before = features.transformed(symmetry, position.size());
                let after = encode(&position.transformed(symmetry));
                assert_eq!(before, after, "{} under symmetry {}", position.fen(), symmetry.index());
            }
        }
    }
}

#[test]
fn equal_state_keys_mean_equal_features() {
    let mut met = 0;
    for preset in Preset::ALL {
        // Without repetition the way to a position leaves no trace but the last move.
        let rules = Rules { repetition: Repetition::Ignore, draw_fort_occurrence: 0, ..preset.rules() };
        for first in positions(&rules, 200, 17) {
            let mut line = Vec::new();
            let mut position = first.clone();
            for salt in 0..5 {
                let moves = legal(&position);
                if moves.is_empty() {
                    break;
                }
                let mv = moves[(position.hash() ^ salt) as usize % moves.len()];
                line.push(mv);
                position.play_unchecked(mv);
            }
            // The same moves in other orders, the last one staying last.
            let mut seen = HashMap::new();
            for order in [[0, 1, 2, 3, 4], [2, 1, 0, 3, 4], [0, 3, 2, 1, 4], [2, 3, 0, 1, 4]] {
                let mut position = first.clone();
                let all_legal = line.len() == 5 && order.iter().all(|&index| position.play(line[index]).is_ok());
                if all_legal && position.outcome().is_none() {
                    let features = encode(&position);
                    if let Some(earlier) = seen.insert(position.state_key(), features.clone()) {
                        met += 1;
                        assert_eq!(earlier, features, "{}", position.fen());
                    }
                }
            }
        }
    }
    assert!(met > 100, "only {met} pairs of equal keys were met");
}

/// A network is told of every option that changes the game; a ply cap alone is not one of the rules.
#[test]
fn every_option_is_told() {
    let base = Rules {
        king_capture: KingCapture::Strong,
        shieldwall: true,
        repetition_occurrence: 3,
        ..Preset::Copenhagen.rules()
    };
    let size = base.size();
    let [throne, corners] = [base.marks.throne(), base.marks.corners()];
    let fort = Bitboard::of(Square::new(1));
    let marks = |attackers, defenders| Marks::new(size, throne, corners, attackers, defenders).unwrap();
    let forts = Rules { marks: marks(fort, Bitboard::EMPTY), ..base };
    let few = |special: Special| Rules { attacker_forts: special, ..forts };
    let ordinary = Special::ORDINARY;
    let mut all = vec![
        base,
        Rules { first: Side::Defenders, ..base },
        Rules { king_capture: KingCapture::StrongNearThrone, ..base },
        Rules { king_capture: KingCapture::Weak, ..base },
        Rules { king_on_edge: KingOnEdge::CapturedByThree, ..base },
        Rules { king_armed: KingArmed::HammerOnly, ..base },
        Rules { king_armed: KingArmed::AnvilOnly, ..base },
        Rules { king_armed: KingArmed::Unarmed, ..base },
        Rules { linnaean_capture: true, ..base },
        Rules { escape: Escape::Edge, ..base },
        Rules { shieldwall: false, ..base },
        Rules { shieldwall_corners: false, ..base },
        Rules { shieldwall_flank: false, ..base },
        Rules { exit_fort: false, ..base },
        Rules { encirclement: Encirclement::Off, ..base },
        Rules { encirclement: Encirclement::SingleRegion, ..base },
        Rules { no_legal_move: NoLegalMove::Draw, ..base },
        Rules { repetition_occurrence: 2, ..base },
        Rules { repetition_compares: RepetitionCompares::BoardAlone, ..base },
        Rules { no_capture_draw_plies: 50, ..base },
        Rules { draw_fort_occurrence: 3, ..base },
        few(Special { pass: Pieces::NONE, ..ordinary }),
    ];
    for repetition in Repetition::ALL {
        all.push(Rules { repetition, ..base });
    }
    for limit in [1, 2] {
        for (attackers, defenders, king) in [(limit, 0, 0), (0, limit, 0), (0, 0, limit)] {
            all.push(Rules { speed: Speed { attackers, defenders, king }, ..base });
        }
    }
    for pieces in [Pieces::ATTACKERS, Pieces::DEFENDERS, Pieces::KING] {
        all.push(few(Special { pass: pieces, ..ordinary }));
        all.push(few(Special { stop: pieces, ..ordinary }));
        all.push(few(Special { enter: pieces, ..ordinary }));
        all.push(few(Special { hostile_empty: pieces, ..ordinary }));
        all.push(few(Special { hostile_occupied: pieces, ..ordinary }));
    }
    let told: Vec<Features> = all.iter().map(|rules| encode(&Position::start(rules))).collect();
    for (at, rules) in all.iter().enumerate() {
        for (other, features) in all.iter().zip(&told) {
            assert_eq!(rules == other, told[at] == *features, "{rules:?}\n{other:?}");
        }
    }
}

#[test]
fn every_preset_is_told_apart_by_its_options() {
    let options = |preset: Preset| {
        let globals = encode(&Position::start(&preset.rules())).globals;
        globals[..global::NO_CAPTURE_CLOCK].to_vec()
    };
    for a in Preset::ALL {
        for b in Preset::ALL {
            assert_eq!(a == b, options(a) == options(b), "{} and {}", a.name(), b.name());
        }
    }
}

#[test]
fn all_values_are_between_0_and_1_and_planes_stay_on_the_board() {
    for (seed, preset) in Preset::ALL.into_iter().enumerate() {
        for position in positions(&preset.rules(), 50, seed as u64) {
            let features = encode(&position);
            assert!(features.globals.iter().all(|value| (0.0..=1.0).contains(value)), "{:?}", features.globals);
            let board = features.planes[plane::BOARD];
            assert_eq!(board.len(), position.size().squares());
            assert!(features.planes.iter().all(|plane| plane.without(board).is_empty()));
        }
    }
}

#[test]
fn the_kings_planes_agree_with_the_moves_he_has() {
    let mut compared = 0;
    for (seed, preset) in Preset::ALL.into_iter().enumerate() {
        for position in positions(&preset.rules(), 50, 100 + seed as u64) {
            if position.side_to_move() != Side::Defenders {
                continue;
            }
            let king = position.board().king().expect("the game goes on");
            let destinations: Bitboard =
                legal(&position).iter().filter(|mv| mv.from() == king).map(|mv| mv.to()).collect();
            let features = encode(&position);
            // Where a repetition is forbidden he may have fewer moves than ways.
            assert!(destinations.without(features.planes[plane::KING_ONE_MOVE]).is_empty(), "{}", position.fen());
            let wins = !(features.planes[plane::KING_ONE_MOVE] & features.planes[plane::GOALS]).is_empty();
            assert_eq!(wins, features.planes[plane::OPEN_LINES].contains(king), "{}", position.fen());
            compared += 1;
        }
    }
    assert!(compared > 100);
}

#[test]
fn a_goal_that_is_closed_to_the_king_opens_no_line() {
    let rules: NamedRules = "foteviken-tablut".parse().unwrap();
    let fen = "aa2aa3/2ak5/5d1d1/1d6a/aa1d1d1aa/a1d5a/2d1d4/2a5a/3aa4 d";
    let position = Position::from_fen(&rules.rules(), fen).unwrap();
    let features = encode(&position);
    assert!(!features.planes[plane::OPEN_LINES].contains(position.board().king().unwrap()));
    assert_eq!(features.planes[plane::GOALS].len(), 20);
}
