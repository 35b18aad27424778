//! The engine against the slow reference: random play over all presets and random mixtures of options, comparing
//! legal moves, captures, outcomes, clocks and occurrences after every ply.
//!
//! `HNEFI_ROUNDS=20` plays twenty times as many games.

mod boards;
mod reference;

use std::collections::BTreeMap;

use hnefi_engine::{
    Bitboard, BoardSize, Encirclement, Escape, KingArmed, KingCapture, KingOnEdge, Marks, Move, MoveList, NoLegalMove,
    Outcome, Piece, Pieces, Position, Preset, Repetition, RepetitionCompares, Rules, Side, Special, Speed, Square,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Rng;
use reference::{Place, Reference};

/// How often each outcome was seen, by status and reason.
type Seen = BTreeMap<(&'static str, &'static str), usize>;

#[test]
fn presets_agree_with_the_reference_from_the_start() {
    let mut rng = Rng::seed_from_u64(1);
    let mut seen = Seen::new();
    for preset in Preset::ALL {
        for _ in 0..2 * rounds() {
            let start = Position::start(&preset.rules());
            compare_game(start, 200, &mut rng, &mut seen);
        }
    }
}

#[test]
fn presets_agree_with_the_reference_from_random_boards() {
    let mut rng = Rng::seed_from_u64(2);
    let mut seen = Seen::new();
    for round in 0..500 * rounds() {
        let rules = Preset::ALL[round % Preset::ALL.len()].rules();
        compare_game(random_board(&rules, &mut rng), 60, &mut rng, &mut seen);
    }
    for reason in ["king_captured", "king_escaped", "exit_fort", "encirclement", "repetition", "no_moves"] {
        assert!(seen.keys().any(|&(_, found)| found == reason), "{reason} never happened: {seen:?}");
    }
}

#[test]
fn mixtures_of_options_agree_with_the_reference() {
    let mut rng = Rng::seed_from_u64(3);
    let mut seen = Seen::new();
    for _ in 0..1200 * rounds() {
        let rules = random_rules(&mut rng);
        compare_game(random_board(&rules, &mut rng), 60, &mut rng, &mut seen);
    }
    for reason in hnefi_engine::Reason::ALL {
        assert!(
            seen.keys().any(|&(_, found)| found == reason.as_str()),
            "{} never happened: {seen:?}",
            reason.as_str()
        );
    }
}

/// The legal moves by origin and destination, from their origins by direction and distance.
fn moves_by_direction(position: &Position) -> Vec<Move> {
    let n = position.size().side() as isize;
    let mut moves = Vec::new();
    for (origins, step) in position.legal_origins().into_iter().zip([n, 1, -n, -1]) {
        for (distance, origins) in (1..).zip(origins) {
            let to = |from: Square| Square::new(from.index().strict_add_signed(distance * step));
            moves.extend(origins.into_iter().map(|from| Move::new(from, to(from))));
        }
    }
    moves.sort_by_key(|mv| (mv.from(), mv.to()));
    moves
}

fn rounds() -> usize {
    std::env::var("HNEFI_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// Plays one game on both engines. The players shuffle back and forth often, so that positions repeat.
fn compare_game(mut position: Position, plies: u32, rng: &mut Rng, seen: &mut Seen) {
    let size = position.size();
    let mut reference = Reference::new(position.rules(), &position.fen());
    let start = position.fen();
    let mut played: Vec<Move> = Vec::new();
    let mut moves = MoveList::new();
    loop {
        let context = || {
            let line: Vec<String> = played.iter().map(|mv| mv.text(size)).collect();
            format!("{start}\n{}\n{}\n{:?}", line.join(" "), position.diagram(), position.rules())
        };
        assert_eq!(position.outcome(), reference.outcome, "outcome\n{}", context());
        assert_eq!(position.occurrences() as usize, reference.occurrences(), "occurrences\n{}", context());
        assert_eq!(position.ply(), reference.ply);
        assert_eq!(position.plies_since_capture(), reference.since_capture(), "clock\n{}", context());
        position.legal_moves(&mut moves);
        let expected: Vec<Move> = reference.legal_moves().into_iter().map(|mv| engine_move(mv, size)).collect();
        assert_eq!(moves.as_slice(), expected, "legal moves\n{}", context());
        assert_eq!(position.count_legal_moves(), moves.len(), "number of moves\n{}", context());
        assert_eq!(moves_by_direction(&position), expected, "moves by direction\n{}", context());
        if rng.random_bool(0.1) {
            let mut drawn: Vec<Move> = (0..moves.len()).filter_map(|index| position.random_move(|_| index)).collect();
            drawn.sort_by_key(|mv| (mv.from(), mv.to()));
            assert_eq!(drawn, expected, "moves drawn one by one\n{}", context());
        }
        if position.outcome().is_some() || position.ply() == plies {
            break;
        }
        let back = played.len().checked_sub(2).map(|index| Move::new(played[index].to(), played[index].from()));
        let mv = match back {
            Some(back) if rng.random_bool(0.35) && moves.contains(&back) => back,
            _ => moves[rng.random_range(0..moves.len())],
        };
        let captured = position.play(mv).unwrap();
        let expected: Bitboard =
            reference.play(reference_move(mv, size)).into_iter().map(|place| engine_square(place, size)).collect();
        played.push(mv);
        assert_eq!(captured, expected, "captures\n{start}\n{}\n{:?}", position.diagram(), position.rules());
    }
    let ended =
        position.outcome().map_or(("ongoing", ""), |outcome: Outcome| (outcome.status(), outcome.reason().as_str()));
    *seen.entry(ended).or_default() += 1;
}

fn engine_square((file, rank): Place, size: BoardSize) -> Square {
    Square::at(file as usize, rank as usize, size)
}

fn engine_move((from, to): (Place, Place), size: BoardSize) -> Move {
    Move::new(engine_square(from, size), engine_square(to, size))
}

fn reference_move(mv: Move, size: BoardSize) -> (Place, Place) {
    let place = |square: Square| {
        let (file, rank) = square.file_and_rank(size);
        (file as i32, rank as i32)
    };
    (place(mv.from()), place(mv.to()))
}

/// A random board on which the game is not over.
fn random_board(rules: &Rules, rng: &mut Rng) -> Position {
    let n = rules.size().side();
    loop {
        let mut cells = vec!['.'; n * n];
        let king = if rng.random_bool(0.3) { ring(n, &mut cells, rng) } else { scatter(n, &mut cells, rng) };
        for (special, squares) in rules.special_squares() {
            for square in squares {
                let cell = &mut cells[square.index()];
                let piece = if *cell == 'a' { Piece::Attacker } else { Piece::Defender };
                if !special.stop.contains(piece) {
                    *cell = '.';
                }
            }
        }
        cells[king] = 'k';
        let rows: Vec<String> = cells.chunks(n).rev().map(|row| row.iter().collect()).collect();
        let fen = format!("{} {}", boards::spell(&rows.join("/")), if rng.random_bool(0.5) { 'a' } else { 'd' });
        let position = Position::from_fen(rules, &fen).unwrap();
        if position.outcome().is_none() {
            return position;
        }
    }
}

/// A ring of attackers with a gap or two around the king and some men; returns the king's square.
fn ring(n: usize, cells: &mut [char], rng: &mut Rng) -> usize {
    let (left, right) = (rng.random_range(1..n / 2), rng.random_range(n / 2 + 1..n - 1));
    let (low, high) = (rng.random_range(1..n / 2), rng.random_range(n / 2 + 1..n - 1));
    for y in low..=high {
        for x in left..=right {
            let (side, end) = (x == left || x == right, y == low || y == high);
            let letter = match (side, end) {
                (true, true) => '.',
                (false, false) if rng.random_bool(0.2) => 'd',
                (false, false) => '.',
                _ if rng.random_bool(0.9) => 'a',
                _ => '.',
            };
            cells[y * n + x] = letter;
        }
    }
    for _ in 0..3 {
        let (x, y) = (rng.random_range(0..n), one_of(rng, &[0, n - 1]));
        cells[y * n + x] = 'a';
    }
    rng.random_range(low + 1..high) * n + rng.random_range(left + 1..right)
}

/// Men anywhere, the king often near an edge and in company, where forts and shieldwalls are; returns his square.
fn scatter(n: usize, cells: &mut [char], rng: &mut Rng) -> usize {
    let density = rng.random_range(0.03..0.25);
    let attackers = rng.random_range(0.3..0.8);
    for cell in cells.iter_mut() {
        if rng.random_bool(density) {
            *cell = if rng.random_bool(attackers) { 'a' } else { 'd' };
        }
    }
    let file = rng.random_range(0..n);
    let rank = if rng.random_bool(0.6) { one_of(rng, &[0, 1, n - 2]) } else { rng.random_range(0..n) };
    if rng.random_bool(0.5) {
        for (dx, dy) in [(-2, 0), (-1, 1), (0, 2), (1, 1), (2, 0), (-1, 2), (1, 2), (0, 1)] {
            let (x, y) = (file as i32 + dx, rank as i32 + dy);
            if (0..n as i32).contains(&x) && (0..n as i32).contains(&y) && rng.random_bool(0.7) {
                cells[y as usize * n + x as usize] = 'd';
            }
        }
    }
    rank * n + file
}

fn one_of<T: Copy>(rng: &mut Rng, values: &[T]) -> T {
    values[rng.random_range(0..values.len())]
}

fn random_pieces(rng: &mut Rng) -> Pieces {
    Piece::ALL.into_iter().filter(|_| rng.random_bool(0.5)).collect()
}

/// Mostly as the presets have it, so that sets slide at once.
fn random_special(rng: &mut Rng) -> Special {
    let presets = Preset::ALL.map(Preset::rules);
    let rules = one_of(rng, &presets);
    let mut special = one_of(rng, &[rules.throne, rules.corners, Special::ORDINARY]);
    if rng.random_bool(0.4) {
        (special.hostile_empty, special.hostile_occupied) = (random_pieces(rng), random_pieces(rng));
    }
    if rng.random_bool(0.3) {
        special.stop = random_pieces(rng);
        let any = random_pieces(rng);
        special.pass = one_of(rng, &[special.stop, Pieces::ALL, any]);
        special.pass = if rng.random_bool(0.5) { special.pass.or(special.stop) } else { special.pass };
    }
    if rng.random_bool(0.1) {
        special.enter = random_pieces(rng);
    }
    special
}

/// The usual marks, with squares more or less and forts.
fn random_marks(size: BoardSize, rng: &mut Rng) -> Marks {
    let usual = Marks::usual(size);
    if rng.random_bool(0.4) {
        return usual;
    }
    let mut sets = [usual.throne(), usual.corners(), Bitboard::EMPTY, Bitboard::EMPTY];
    for square in Bitboard::board(size) {
        if rng.random_bool(0.06) {
            for set in &mut sets {
                *set = set.without(Bitboard::of(square));
            }
            sets[rng.random_range(0..4)] |= Bitboard::of(square);
        }
    }
    let [throne, corners, attacker_forts, defender_forts] = sets;
    Marks::new(size, throne, corners, attacker_forts, defender_forts).unwrap()
}

fn random_rules(rng: &mut Rng) -> Rules {
    use KingArmed::{AnvilOnly, Armed, HammerOnly, Unarmed};
    let size = one_of(rng, &BoardSize::ALL);
    let speeds = [0, 0, 0, 1, 3];
    Rules {
        start: boards::cross(size),
        first: one_of(rng, &Side::BOTH),
        king_capture: one_of(rng, &[KingCapture::Strong, KingCapture::StrongNearThrone, KingCapture::Weak]),
        king_on_edge: one_of(rng, &[KingOnEdge::Safe, KingOnEdge::CapturedByThree]),
        king_armed: one_of(rng, &[Armed, HammerOnly, AnvilOnly, Unarmed]),
        speed: if rng.random_bool(0.7) {
            Speed::UNLIMITED
        } else {
            let [attackers, defenders, king] = [(); 3].map(|()| one_of(rng, &speeds));
            Speed { attackers, defenders, king }
        },
        marks: random_marks(size, rng),
        throne: random_special(rng),
        corners: random_special(rng),
        attacker_forts: random_special(rng),
        defender_forts: random_special(rng),
        linnaean_capture: rng.random_bool(0.5),
        escape: one_of(rng, &[Escape::Corner, Escape::Corner, Escape::Edge]),
        shieldwall: rng.random_bool(0.5),
        shieldwall_corners: rng.random_bool(0.5),
        shieldwall_flank: rng.random_bool(0.7),
        exit_fort: rng.random_bool(0.5),
        encirclement: one_of(rng, &[Encirclement::Off, Encirclement::AnyPocket, Encirclement::SingleRegion]),
        no_legal_move: one_of(rng, &[NoLegalMove::Loss, NoLegalMove::Draw]),
        repetition: one_of(rng, &Repetition::ALL),
        repetition_occurrence: rng.random_range(2..5),
        repetition_compares: one_of(rng, &[RepetitionCompares::BoardAndSide, RepetitionCompares::BoardAlone]),
        no_capture_draw_plies: one_of(rng, &[0, 0, 10, 30]),
        draw_fort_occurrence: one_of(rng, &[0, 0, 2, 3, 4]),
        ply_cap: one_of(rng, &[0, 0, 25, 50]),
    }
}
