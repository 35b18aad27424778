//! Packs made, moved, damaged and made up.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::unpack::extract;
use super::{PackError, PackParams, pack, unpack};
use crate::store::Store;

/// A run with three files of games of 3,000 bytes that do not compress.
fn run() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(&folder.path().join("run")).unwrap();
    let mut seed = 1_u32;
    let mut noise = |length: usize| -> Vec<u8> {
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        };
        (0..length).map(|_| next()).collect()
    };
    for key in ["games/000001.hgames", "games/000002.hgames", "games/000003.hgames"] {
        store.create(key, &noise(3_000_000)).unwrap();
    }
    for key in [
        "run.json",
        "checkpoints/000002/card.json",
        "checkpoints/000003/card.json",
        "state/000002/counters.json",
        "state/000003/counters.json",
        "inflight/000004-0001.json",
        "inflight/000004-0001.hfleet",
        "metrics/000001.json",
        "ladder/000000-random.json",
        "tensorboard/events",
    ] {
        store.create(key, &noise(1_000)).unwrap();
    }
    (folder, store)
}

/// A state that was being written when the trainer died is of no use, and the save of the generation before may be what
/// the run goes on from.
#[test]
fn a_run_that_died_between_two_generations_is_packed_whole() {
    let (folder, store) = run();
    for key in ["state/000004/weights.bpk", "checkpoints/000004/card.json", "inflight/000005-0000.hfleet"] {
        store.create(key, b"new").unwrap();
    }
    let packed = pack(&store, &folder.path().join("p"), PackParams::default()).unwrap();
    let dir = folder.path().join("again");
    unpack(&packed.parts, &dir, None).unwrap();
    let again = Store::open_to_read(&dir).unwrap();
    let keys = again.list("").unwrap();
    let kept: Vec<&str> = keys.iter().map(String::as_str).filter(|key| !key.starts_with("games/")).collect();
    assert_eq!(
        kept,
        [
            "checkpoints/000004/card.json",
            "inflight/000004-0001.hfleet",
            "inflight/000004-0001.json",
            "inflight/000005-0000.hfleet",
            "ladder/000000-random.json",
            "metrics/000001.json",
            "run.json",
            "state/000003/counters.json",
        ]
    );
}

#[test]
fn a_packed_run_comes_back_with_its_newest_games() {
    let (folder, store) = run();
    let params = PackParams { part_bytes: 2 << 20, parts: 4 };
    let packed = pack(&store, &folder.path().join("p"), params).unwrap();
    assert_eq!((packed.objects, packed.games), (7, (2, 3)));
    assert!(packed.parts.len() <= 4 && packed.parts[0].ends_with("p.01"), "{packed:?}");
    let sizes: Vec<u64> = packed.parts.iter().map(|path| std::fs::metadata(path).unwrap().len()).collect();
    assert!(sizes.iter().all(|&size| size <= params.part_bytes) && sizes.iter().sum::<u64>() == packed.bytes);

    let mut parts = packed.parts.clone();
    parts.reverse();
    let dir = folder.path().join("again");
    assert_eq!(unpack(&parts, &dir, None).unwrap(), 9);
    let again = Store::open_to_read(&dir).unwrap();
    let keys = again.list("").unwrap();
    assert_eq!(keys.len(), 9);
    for key in &keys {
        assert_eq!(again.get(key).unwrap(), store.get(key).unwrap(), "{key}");
    }
    let exists = |key| again.exists(key).unwrap();
    assert!(exists("games/000003.hgames") && !exists("games/000001.hgames"));
    assert!(exists("state/000003/counters.json") && !exists("state/000002/counters.json"));

    let message = unpack(&parts, &dir, None).unwrap_err().to_string();
    assert!(message.ends_with("not empty; expected a new directory to unpack into"), "{message}");
    let message = pack(&store, &folder.path().join("p"), params).unwrap_err().to_string();
    assert!(message.contains("p.01"), "{message}");
}

#[test]
fn missing_and_damaged_parts_are_told() {
    let (folder, store) = run();
    let params = PackParams { part_bytes: 1 << 20, parts: 16 };
    let packed = pack(&store, &folder.path().join("p"), params).unwrap();
    let message =
        |parts: &[PathBuf], name: &str| unpack(parts, &folder.path().join(name), None).unwrap_err().to_string();
    let without = |index: usize| {
        let mut parts = packed.parts.clone();
        parts.remove(index);
        parts
    };
    assert!(message(&without(1), "a").contains("expected part 02 here"), "{}", message(&without(1), "a"));
    let last = packed.parts.len() - 1;
    assert!(message(&without(last), "b").contains("expected all parts of a pack"), "{}", message(&without(last), "b2"));
    for at in [10, 500_000] {
        let mut bytes = std::fs::read(&packed.parts[0]).unwrap();
        bytes[at] ^= 1;
        std::fs::write(&packed.parts[0], bytes).unwrap();
        let found = message(&packed.parts, &format!("c{at}"));
        assert!(found.contains("p.01: "), "{found}");
    }
    assert!(message(&[], "d").contains("no parts"));
}

#[test]
fn a_run_that_does_not_fit_leaves_nothing_behind() {
    let (folder, store) = run();
    let params = PackParams { part_bytes: 1_000, parts: 2 };
    let message = pack(&store, &folder.path().join("p"), params).unwrap_err().to_string();
    assert!(message.contains("2 parts of 1000 bytes"), "{message}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "the run alone");
}

/// Reads a pack to its end and writes nothing.
fn check_pack(parts: &[PathBuf], limit: Option<u64>) -> Result<usize, PackError> {
    extract(parts, &mut |_, _| Ok(()), limit)
}

/// A pack of one part made by hand.
fn archive(folder: &Path, fill: impl FnOnce(&mut tar::Builder<zstd::Encoder<'static, File>>)) -> Vec<PathBuf> {
    let path = folder.join("hand.01");
    let mut encoder = zstd::Encoder::new(File::create(&path).unwrap(), 19).unwrap();
    encoder.include_checksum(true).unwrap();
    let mut archive = tar::Builder::new(encoder);
    fill(&mut archive);
    archive.into_inner().unwrap().finish().unwrap();
    vec![path]
}

fn append(archive: &mut tar::Builder<zstd::Encoder<'static, File>>, key: &str, bytes: &[u8]) {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes.len() as u64);
    archive.append_data(&mut header, key, bytes).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

#[test]
fn damage_anywhere_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let games: Vec<u8> = (0..=255).collect();
    let parts = archive(folder.path(), |archive| {
        append(archive, "run.json", b"{\"format\":1}\n");
        append(archive, "games/000001.hgames", &games);
    });
    let whole = fs::read(&parts[0]).unwrap();
    let dir = folder.path().join("run");
    // True if it was seen. Few bits of a frame of zstd, such as the size of a window, change nothing of what comes out.
    let is_refused = |bytes: &[u8], what: &str| {
        fs::write(&parts[0], bytes).unwrap();
        match unpack(&parts, &dir, None) {
            Ok(objects) => {
                assert_eq!(objects, 2, "{what}");
                assert_eq!(fs::read(dir.join("run.json")).unwrap(), b"{\"format\":1}\n", "{what}");
                assert_eq!(fs::read(dir.join("games/000001.hgames")).unwrap(), games, "{what}");
                fs::remove_dir_all(&dir).unwrap();
                false
            }
            Err(error) => {
                assert!(error.to_string().contains("hand.01: "), "{what}: {error}");
                assert_eq!(names(folder.path()), ["hand.01"], "{what}");
                true
            }
        }
    };
    let mut unseen = 0;
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        unseen += usize::from(!is_refused(&bytes, &format!("flipped at {at}")));
        assert!(is_refused(&whole[..at], &format!("cut at {at}")), "cut at {at}");
    }
    assert!(unseen < 5, "{unseen} of {} flipped bits were not seen", whole.len());
    assert!(!is_refused(&whole, "whole"));
}

#[test]
fn what_a_killed_call_left_is_no_hindrance() {
    let (folder, store) = run();
    let packed = pack(&store, &folder.path().join("p"), PackParams::default()).unwrap();
    let (dir, half) = (folder.path().join("again"), folder.path().join(".unpacking-again"));
    // As if it had been killed in the middle of an object.
    fs::create_dir_all(half.join("games")).unwrap();
    fs::write(half.join("games/.unfinished-x"), b"ha").unwrap();
    fs::write(half.join("run.json"), b"from another pack").unwrap();
    fs::write(half.join("more.json"), b"from another pack").unwrap();
    // A directory that is there and empty will do, also with a lock that is left over.
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join(".lock"), b"1").unwrap();
    assert_eq!(unpack(&packed.parts, &dir, None).unwrap(), 10);
    assert!(!half.exists() && !dir.join("more.json").exists());
    assert_eq!(fs::read(dir.join("run.json")).unwrap(), store.get("run.json").unwrap());
    // Somebody has just opened the directory to begin a run.
    let begun = folder.path().join("begun");
    let _begins = Store::open_or_create(&begun).unwrap();
    let message = unpack(&packed.parts, &begun, None).unwrap_err().to_string();
    assert!(message.contains("in use by process"), "{message}");
    // Two calls at once do not meet.
    let other = folder.path().join("other");
    let _busy = Store::open_or_create(&folder.path().join(".unpacking-other")).unwrap();
    let message = unpack(&packed.parts, &other, None).unwrap_err().to_string();
    assert!(message.contains("in use by process"), "{message}");
}

#[test]
fn bombs_links_and_empty_packs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let message = |parts: &[PathBuf], limit| {
        let message = unpack(parts, &dir, limit).unwrap_err().to_string();
        assert_eq!(names(folder.path()), ["hand.01"], "{message}");
        message
    };
    let empty = archive(folder.path(), |_| {});
    assert!(message(&empty, None).contains("hand.01: no objects"), "{}", message(&empty, None));

    for (kind, what) in [(tar::EntryType::Symlink, "a link"), (tar::EntryType::Fifo, "no plain file")] {
        let parts = archive(folder.path(), |archive| {
            append(archive, "run.json", b"{}");
            let mut header = tar::Header::new_gnu();
            header.set_size(0);
            header.set_entry_type(kind);
            archive.append_link(&mut header, "games/000001.hgames", "/etc/passwd").unwrap();
        });
        let found = message(&parts, None);
        assert!(found.contains(&format!("\"games/000001.hgames\" is {what}")), "{found}");
    }
    for key in ["../outside", "/etc/passwd", ".lock"] {
        let mut header = tar::Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..key.len()].copy_from_slice(key.as_bytes());
        header.set_size(1);
        header.set_cksum();
        let parts = archive(folder.path(), |archive| archive.append(&header, &b"x"[..]).unwrap());
        let found = message(&parts, None);
        assert!(found.contains("object key"), "{found}");
    }

    let zeros = vec![0; 3 << 20];
    let large = archive(folder.path(), |archive| {
        for number in 0..100 {
            append(archive, &format!("games/{number:06}.hgames"), &zeros);
        }
    });
    let found = message(&large, None);
    assert!(found.contains("more than 268435456 bytes"), "{found}");
    assert!(check_pack(&large, Some(1 << 29)).is_ok(), "as far as is allowed");
    let many = archive(folder.path(), |archive| {
        for number in 0..30_000 {
            append(archive, &format!("metrics/{number:06}.json"), b"");
        }
    });
    let size = fs::metadata(&many[0]).unwrap().len();
    let found = check_pack(&many, None).unwrap_err().to_string();
    assert!(found.contains(&format!("more than {} objects", 10_000 + size / 16)), "{found}");
    // Zeros without end behind the archive.
    let mut bytes = fs::read(archive(folder.path(), |archive| append(archive, "run.json", b"{}")).remove(0)).unwrap();
    bytes.extend(zstd::bulk::compress(&vec![0; 4 << 20], 19).unwrap());
    fs::write(&many[0], bytes).unwrap();
    assert!(message(&many, Some(1 << 20)).contains("more than 1048576 bytes"));
}

#[test]
fn an_empty_run_and_one_without_end_are_not_packed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(&folder.path().join("run")).unwrap();
    let refused = || pack(&store, &folder.path().join("p"), PackParams::default()).unwrap_err().to_string();
    assert!(refused().ends_with("no objects; expected a run"), "{}", refused());
    #[cfg(unix)]
    {
        store.create("run.json", b"{}").unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("run/games")).unwrap();
        assert!(refused().contains("a link to"), "{}", refused());
    }
}
