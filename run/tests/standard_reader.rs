//! Our own reader of the records' data against bincode's, on the golden file, on games, and on damaged bytes.

mod played;
mod standard;

use hnefi_run::GameRecord;
use hnefi_search::rng_for;
use played::{below, random_game};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn encoded<T: Serialize>(value: &T) -> Vec<u8> {
    bincode::serde::encode_to_vec(value, bincode::config::standard()).unwrap()
}

/// Whether both readers take the bytes; then they read the same from as many of them.
fn both_read<T: DeserializeOwned + Serialize>(bytes: &[u8]) -> bool {
    let theirs = bincode::serde::decode_from_slice::<T, _>(bytes, bincode::config::standard());
    match (standard::read::<T>(bytes), theirs) {
        // As bytes, because a number that is none equals nothing.
        (Ok((ours, taken)), Ok((theirs, of_them))) => {
            assert_eq!((encoded(&ours), taken), (encoded(&theirs), of_them));
            true
        }
        (Err(_), Err(_)) => false,
        (ours, theirs) => panic!("{:?} and {:?} for {bytes:?}", ours.map(|read| read.1), theirs.map(|read| read.1)),
    }
}

#[test]
fn the_golden_file_reads_the_same() {
    let plain = zstd::decode_all(&include_bytes!("data/version_1.hgames")[24..]).unwrap();
    let (games, taken) = standard::read::<Vec<GameRecord>>(&plain).unwrap();
    assert_eq!(taken, plain.len());
    let expected: Vec<GameRecord> = serde_json::from_str(include_str!("data/version_1.json")).unwrap();
    assert_eq!(games, expected);
}

#[test]
fn numbers_of_all_sizes_read_the_same() {
    for number in [0, 1, 250, 251, 0xffff, 0x1_0000, 0xffff_ffff, 0x1_0000_0000, u64::MAX] {
        assert!(both_read::<u64>(&encoded(&number)));
        both_read::<u32>(&encoded(&number));
        both_read::<u16>(&encoded(&number));
        assert!(both_read::<i64>(&encoded(&(number as i64))) && both_read::<i64>(&encoded(&(number as i64 >> 33))));
    }
    // Wider than need be, and the marks of numbers that are wider still.
    for bytes in [&[251, 7, 0][..], &[252, 7, 0, 0, 0], &[253, 7, 0, 0, 0, 0, 0, 0, 0], &[254; 17], &[255; 17]] {
        both_read::<u16>(bytes);
        both_read::<u32>(bytes);
        both_read::<u64>(bytes);
    }
    type Others = (bool, u8, i8, f32, f64, Option<String>, std::collections::BTreeMap<u16, String>, ());
    let others: Others =
        (true, 255, -1, 0.1, -0.1, Some("king's".into()), [(1, "a".into()), (9, "ß".into())].into(), ());
    let bytes = encoded(&others);
    assert_eq!(standard::read::<Others>(&bytes).unwrap(), (others, bytes.len()));
}

#[test]
fn games_and_damaged_games_read_the_same() {
    let mut rng = rng_for(&[4]);
    let games: Vec<GameRecord> = (0..4).map(|number| random_game(9, number)).collect();
    let whole = encoded(&games);
    assert!(both_read::<Vec<GameRecord>>(&whole));
    let (mut read, mut refused) = (0, 0);
    for _ in 0..3000 {
        let mut bytes = whole.clone();
        for _ in 0..=below(&mut rng, 3) {
            let place = below(&mut rng, bytes.len());
            match below(&mut rng, 4) {
                0 => bytes[place] ^= 1 << below(&mut rng, 8),
                1 => bytes[place] = 250 + below(&mut rng, 6) as u8,
                2 => drop(bytes.remove(place)),
                _ => bytes.truncate(place.max(1)),
            }
        }
        *if both_read::<Vec<GameRecord>>(&bytes) { &mut read } else { &mut refused } += 1;
    }
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}
