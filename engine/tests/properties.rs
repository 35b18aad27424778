//! Properties that hold in every position, checked along seeded random games of all presets.

mod boards;

use hnefi_engine::{Bitboard, Move, MoveList, Outcome, Position, Preset, Side, Square, Symmetry};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Rng;

/// Everything a position shows of itself.
#[derive(Debug, PartialEq)]
struct View {
    fen: String,
    hash: u64,
    state_key: u64,
    ply: u32,
    since_capture: u32,
    occurrences: u32,
    last_move: Option<Move>,
    outcome: Option<Outcome>,
    /// Counted without listing.
    count: usize,
    moves: Vec<Move>,
}

fn view(position: &Position) -> View {
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    View {
        fen: position.fen(),
        hash: position.hash(),
        state_key: position.state_key(),
        ply: position.ply(),
        since_capture: position.plies_since_capture(),
        occurrences: position.occurrences(),
        last_move: position.last_move(),
        outcome: position.outcome(),
        count: position.count_legal_moves(),
        moves: moves.to_vec(),
    }
}

/// Calls `check` on the positions of random games of every preset, the RNG free for its use.
fn along_random_games(seed: u64, games: usize, mut check: impl FnMut(&Position, &mut Rng)) {
    let mut rng = Rng::seed_from_u64(seed);
    for rules in boards::rulesets() {
        for _ in 0..games {
            let mut position = Position::start(&rules);
            let mut moves = Vec::<Move>::new();
            check(&position, &mut rng);
            while position.outcome().is_none() && position.ply() < 150 {
                let back = moves.iter().rev().nth(1).map(|mv| Move::new(mv.to(), mv.from()));
                let mv = match back {
                    Some(back) if position.is_legal(back) && rng.random_bool(0.3) => back,
                    _ => position.random_move(|count| rng.random_range(0..count)).unwrap(),
                };
                position.play(mv).unwrap();
                moves.push(mv);
                check(&position, &mut rng);
            }
        }
    }
}

#[test]
fn undo_restores_everything_along_whole_games() {
    let mut rng = Rng::seed_from_u64(10);
    for rules in boards::rulesets() {
        let mut position = Position::start(&rules);
        let mut taken = Vec::new();
        while let Some(mv) = position.random_move(|count| rng.random_range(0..count)) {
            let before = view(&position);
            taken.push((before, position.play_unchecked(mv)));
            if position.ply() == 400 {
                break;
            }
        }
        while let Some((before, undo)) = taken.pop() {
            position.undo(undo);
            assert_eq!(view(&position), before, "{rules:?}");
        }
    }
}

#[test]
fn a_reset_scratch_position_is_the_root() {
    let mut scratch = Position::start(&Preset::Copenhagen.rules());
    along_random_games(11, 1, |position, rng| {
        scratch.clone_from(position);
        let root = view(position);
        assert_eq!(view(&scratch), root);
        let mut taken = Vec::new();
        for _ in 0..5 {
            let Some(mv) = scratch.random_move(|count| rng.random_range(0..count)) else { break };
            taken.push(scratch.play_unchecked(mv));
        }
        while let Some(undo) = taken.pop() {
            scratch.undo(undo);
        }
        assert_eq!(view(&scratch), root);
    });
}

#[test]
fn fen_round_trips_and_the_incremental_hash_is_the_fresh_one() {
    along_random_games(12, 2, |position, _| {
        if position.board().king().is_none() {
            return;
        }
        let fresh = Position::from_fen(position.rules(), &position.fen()).unwrap();
        assert_eq!(fresh.fen(), position.fen());
        assert_eq!(fresh.board(), position.board());
        assert_eq!(fresh.hash(), position.hash(), "{}", position.diagram());
    });
}

#[test]
fn is_legal_means_being_listed() {
    along_random_games(14, 1, |position, rng| {
        if !rng.random_bool(0.05) {
            return;
        }
        let (mut moves, size) = (MoveList::new(), position.size());
        position.legal_moves(&mut moves);
        assert!(moves.iter().all(|mv| Move::parse(&mv.text(size), size).as_ref() == Ok(mv)));
        for from in 0..128 {
            for to in 0..128 {
                let mv = Move::new(Square::new(from), Square::new(to));
                assert_eq!(position.is_legal(mv), moves.contains(&mv), "{from} to {to}\n{}", position.diagram());
            }
        }
    });
}

#[test]
fn the_end_of_a_move_is_known_before_playing_it() {
    along_random_games(15, 1, |position, _| {
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let mut copy = position.clone();
        for &mv in moves.iter() {
            let undo = copy.play_unchecked(mv);
            assert_eq!(position.outcome_after(mv), copy.outcome());
            copy.undo(undo);
        }
    });
}

#[test]
fn symmetry_commutes_with_play() {
    along_random_games(16, 1, |position, rng| {
        let symmetry = Symmetry::ALL[rng.random_range(0..8)];
        let size = position.size();
        let mut turned = position.transformed(symmetry);
        let mut expected = position.clone();
        assert_eq!(turned.transformed(symmetry.inverse()).state_key(), expected.state_key());
        assert_eq!(turned.hash_up_to_symmetry(), expected.hash_up_to_symmetry());
        assert!(Symmetry::ALL.iter().any(|&one| turned.transformed(one).hash() == turned.hash_up_to_symmetry()));
        // A few plies on, so that the turned history is asked about repetition.
        for _ in 0..4 {
            let (mut a, mut b) = (view(&turned), view(&expected));
            b.moves = b.moves.iter().map(|&mv| symmetry.mv(mv, size)).collect();
            b.moves.sort_by_key(|mv| (mv.from(), mv.to()));
            assert_eq!(a.moves, b.moves, "{}", position.diagram());
            let again = expected.transformed(symmetry);
            assert_eq!((a.fen, a.hash, a.state_key), (again.fen(), again.hash(), again.state_key()));
            assert_eq!(
                (a.ply, a.since_capture, a.occurrences, a.outcome),
                (b.ply, b.since_capture, b.occurrences, b.outcome)
            );
            a.last_move = a.last_move.map(|mv| symmetry.inverse().mv(mv, size));
            assert_eq!(a.last_move, b.last_move);
            let Some(mv) = expected.random_move(|count| rng.random_range(0..count)) else { break };
            let captured = expected.play(mv).unwrap();
            assert_eq!(turned.play(symmetry.mv(mv, size)).unwrap(), symmetry.bitboard(captured, size));
        }
    });
}

#[test]
fn the_116_first_moves_form_15_orbits() {
    let position = Position::start(&Preset::Copenhagen.rules());
    let mut moves = MoveList::new();
    position.legal_moves(&mut moves);
    let smallest = |mv: &Move| Symmetry::ALL.iter().map(|symmetry| symmetry.mv(*mv, position.size())).min();
    let orbits: std::collections::HashSet<_> = moves.iter().map(smallest).collect();
    assert_eq!((moves.len(), orbits.len()), (116, 15));
}

#[test]
fn random_play_ends_as_measured_elsewhere() {
    for (preset, seed, games, shares, lengths) in [
        (Preset::Brandubh, 17, 4000, [0.0..0.31, 0.69..0.75], 94.0..106.0),
        (Preset::Copenhagen, 18, 1000, [0.0..0.04, 0.43..0.57], 360.0..400.0),
    ] {
        let mut rng = Rng::seed_from_u64(seed);
        let (mut won, mut plies) = ([0; 2], 0);
        for _ in 0..games {
            let mut position = Position::start(&preset.rules());
            while let Some(mv) = position.random_move(|count| rng.random_range(0..count)) {
                position.play_unchecked(mv);
            }
            plies += position.ply();
            if let Some(winner) = position.outcome().unwrap().winner() {
                won[winner.index()] += 1;
            }
        }
        let share = won.map(|won| f64::from(won) / f64::from(games));
        assert!(shares[0].contains(&share[0]) && shares[1].contains(&share[1]), "{preset}: {share:?} won");
        let length = f64::from(plies) / f64::from(games);
        assert!(lengths.contains(&length), "{preset}: {length} plies on average");
    }
}

#[test]
fn views_agree_with_playing_the_moves() {
    along_random_games(19, 1, |position, _| {
        if position.outcome().is_some() {
            return;
        }
        let side = position.side_to_move();
        let king = position.board().king().unwrap();
        let mut moves = MoveList::new();
        position.legal_moves(&mut moves);
        let shieldwall = position.rules().shieldwall;
        let threats = position.capture_threats(side);
        let (mut landings, mut victims) = (Bitboard::EMPTY, Bitboard::EMPTY);
        let mut copy = position.clone();
        for mv in moves.iter().filter(|mv| mv.from() != king) {
            let undo = copy.play_unchecked(*mv);
            let men =
                undo.captured().without(if side == Side::Attackers { Bitboard::of(king) } else { Bitboard::EMPTY });
            if !men.is_empty() {
                landings |= Bitboard::of(mv.to());
                victims |= men;
            }
            copy.undo(undo);
        }
        if shieldwall {
            assert_eq!(threats.landings.without(landings), Bitboard::EMPTY, "{}", position.diagram());
            assert_eq!(threats.victims.without(victims), Bitboard::EMPTY, "{}", position.diagram());
        } else {
            assert_eq!((threats.landings, threats.victims), (landings, victims), "{}", position.diagram());
        }
        if side == Side::Defenders {
            let listed: Bitboard = moves.iter().filter(|mv| mv.from() == king).map(|mv| mv.to()).collect();
            let reached = position.king_destinations(Bitboard::of(king));
            // Only the ban on repetition may make the difference.
            assert_eq!(listed.without(reached), Bitboard::EMPTY);
            if position.plies_since_capture() < 3 {
                assert_eq!(reached, listed, "{}", position.diagram());
            }
            let twice =
                reached.fold(Bitboard::EMPTY, |set, square| set | position.king_destinations(Bitboard::of(square)));
            assert_eq!(position.king_destinations(reached), twice, "{}", position.diagram());
        }
    });
}
