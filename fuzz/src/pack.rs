//! Packed runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hnefi_run::store::{Access, Location, PackParams, RetryPolicy, Store, pack as pack_run, unpack};

use crate::texts::folder;
use crate::within;

/// The file that an input stands for. The first byte says what follows: 0 the file itself; 1 an archive to be
/// compressed; 2 its entries, each with a kind (a byte), the lengths of its name (a byte) and of its content (a byte,
/// in units of 50), its name and its content.
fn file(input: &[u8]) -> Option<Vec<u8>> {
    let compressed = |archive: &[u8]| zstd::encode_all(archive, 1).expect("it compresses");
    match input {
        [0, file @ ..] => Some(file.to_vec()),
        [1, archive @ ..] => Some(compressed(archive)),
        [2, entries @ ..] => Some(compressed(&archive(entries))),
        _ => None,
    }
}

fn archive(mut rest: &[u8]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    while let Some((&[kind, name, content], after)) = rest.split_first_chunk::<3>() {
        let (name, after) = after.split_at(usize::from(name % 100).min(after.len()));
        let (content, after) = after.split_at((50 * usize::from(content)).min(after.len()));
        rest = after;
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        let kinds = [b'0', b'0', b'0', b'0', b'1', b'2', b'5', b'L', b'K', b'x', b'g', b'S', b'7', 0];
        header.set_entry_type(tar::EntryType::new(kinds[usize::from(kind) % kinds.len()]));
        header.set_cksum();
        archive.append(&header, content).expect("memory");
    }
    archive.into_inner().expect("memory")
}

/// A pack: it is unpacked whole or not at all, nothing lies outside, and twice is as once. What was unpacked can be
/// packed.
pub fn pack(input: &[u8]) {
    let Some(file) = file(input) else { return };
    let folder = folder();
    let part = folder.path().join("run.01");
    fs::write(&part, &file).expect("room for a file");
    let unpacked = |name: &str| {
        let dir = folder.path().join(name);
        // An object at a time is in memory, and the names of the folders that were made.
        within((16 << 20) + 40 * file.len().max(input.len()), || {
            unpack(std::slice::from_ref(&part), &dir, Some(1 << 20))
        })
        .map(|objects| (objects, files(&dir)))
        .map_err(|error| error.to_string())
    };
    let (first, second) = (unpacked("first"), unpacked("second"));
    let around: Vec<String> = fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name != "run.01" && (first.is_err() || !["first", "second"].contains(&name.as_str())))
        .collect();
    assert!(around.is_empty(), "{around:?} beside the run");
    let Ok((objects, found)) = first else {
        assert!(second.is_err());
        return;
    };
    assert_eq!(found.len(), objects, "{:?}", found.keys());
    assert_eq!(second.map(|(_, found)| found).as_ref(), Ok(&found));
    let location = Location::Directory(folder.path().join("first"));
    let store = Store::open(&location, Access::Read, RetryPolicy::default()).expect("a run");
    let packed = pack_run(&store, &folder.path().join("again"), PackParams::default());
    if let Ok(packed) = packed {
        // A run without anything that a pack takes makes an empty one, which is refused.
        let again = folder.path().join("third");
        match unpack(&packed.parts, &again, None) {
            Ok(_) => files(&again).iter().for_each(|(name, bytes)| assert_eq!(found.get(name), Some(bytes))),
            Err(error) => assert_eq!((packed.objects, packed.games.0), (0, 0), "{error}"),
        }
    }
}

/// All files below a folder with their contents, the lock apart.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            let kind = fs::symlink_metadata(&path).expect("it is there").file_type();
            if kind.is_dir() {
                folders.push(path);
            } else {
                assert!(kind.is_file(), "{}", path.display());
                let name = path.strip_prefix(folder).expect("below").to_string_lossy().into_owned();
                if name != ".lock" {
                    found.insert(name, fs::read(&path).expect("it can be read"));
                }
            }
        }
    }
    found
}

/// Packs to begin with.
pub fn seeds() -> Vec<Vec<u8>> {
    let entry = |kind: u8, name: &str, units: u8| {
        [&[kind, name.len() as u8, units], name.as_bytes(), &vec![b'x'; 50 * usize::from(units)]].concat()
    };
    let run = [
        entry(0, "run.json", 1),
        entry(0, "games/000001.hgames", 2),
        entry(0, "state/000001/counters.json", 1),
        entry(0, "metrics/000001.json", 0),
    ]
    .concat();
    let mut seeds = vec![[&[2], run.as_slice()].concat()];
    seeds.push([&[1], archive(&run).as_slice()].concat());
    seeds.push([&[0], file(&seeds[0]).expect("a file").as_slice()].concat());
    for (kind, name) in [
        (0, "../beside"),
        (0, "/absolute"),
        (0, "a/./b"),
        (0, "a//b"),
        (0, ".lock"),
        (0, "run.json/"),
        (4, "run.json"),
        (5, "run.json"),
        (6, "games"),
        (7, "run.json"),
        (9, "run.json"),
    ] {
        seeds.push([&[2], entry(kind, name, 1).as_slice(), entry(0, "run.json", 1).as_slice()].concat());
    }
    seeds
}
