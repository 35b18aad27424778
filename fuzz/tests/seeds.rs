//! The seeds and small changes of them, for where no fuzzer runs. The memory of a process is one, so this is one test.

use hnefi_fuzz::{TARGETS, notation};

#[test]
fn seeds_and_small_changes_of_them_do_no_harm() {
    // A FEN that is refused tests nothing.
    for seed in notation::fen_seeds() {
        assert!(notation::position(&seed).is_some(), "{}", String::from_utf8_lossy(&seed));
    }
    for (name, target, seeds) in TARGETS {
        let seeds = seeds();
        for seed in &seeds {
            target(seed);
        }
        let mut state = 1_u64;
        for round in 0..300 {
            let mut input = seeds[round % seeds.len()].clone();
            for _ in 0..=round % 4 {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
                let place = (state >> 33) as usize % input.len().max(1);
                match state >> 30 & 3 {
                    _ if input.is_empty() => {}
                    0 => input[place] ^= 1 << (state >> 60 & 7),
                    1 => input[place] = (state >> 50) as u8,
                    2 => input.truncate(place),
                    _ => {
                        let piece = input[place..input.len().min(place + 20)].to_vec();
                        input.splice(place..place, piece);
                    }
                }
            }
            eprintln!("{name}, round {round}");
            target(&input);
        }
    }
}
