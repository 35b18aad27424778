//! Checkpoints: what is saved comes back, and every kind of damage is told apart by its message.

use std::fs;
use std::path::{Path, PathBuf};

use hnefi_engine::Preset;
use hnefi_inference::{Card, Checkpoint, NetworkConfig, Weights};
use tempfile::TempDir;

const TINY: NetworkConfig = NetworkConfig { blocks: 1, channels: 8, pool_every: 1, head_channels: 8, value_hidden: 8 };

fn checkpoint(seed: u64) -> Checkpoint {
    let card = Card {
        rulesets: vec!["brandubh".to_owned()],
        generation: 3,
        steps: 1200,
        samples: 153_600,
        parent: Some("0123".to_owned()),
        seed,
        ..Card::new(TINY)
    };
    Checkpoint::new(card, Weights::fresh(&TINY, seed)).unwrap()
}

/// A saved checkpoint in a temporary folder.
fn saved() -> (TempDir, PathBuf) {
    let home = TempDir::new().unwrap();
    let folder = home.path().join("checkpoints/000003");
    checkpoint(1).save(&folder).unwrap();
    (home, folder)
}

/// The message of a failed load, which must name `path`.
fn failure(folder: &Path, path: &Path) -> String {
    let message = Checkpoint::load(folder).expect_err("the checkpoint is damaged").to_string();
    assert!(message.contains(&path.display().to_string()), "{message:?} does not name {}", path.display());
    message
}

fn edit_card(folder: &Path, edit: impl FnOnce(&mut serde_json::Map<String, serde_json::Value>)) {
    let path = folder.join("card.json");
    let mut card: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let card = card.as_object_mut().unwrap();
    // An edited card is one without a checksum.
    card.remove("crc32c");
    edit(card);
    fs::write(&path, serde_json::to_string(card).unwrap()).unwrap();
}

#[test]
fn a_saved_checkpoint_comes_back_the_same() {
    let (_home, folder) = saved();
    let (written, read) = (checkpoint(1), Checkpoint::load(&folder).unwrap());
    assert_eq!(read.card, written.card);
    assert_eq!(Checkpoint::load_card(&folder).unwrap(), written.card);
    assert_eq!(read.weights, written.weights);
    assert_eq!(fs::read_dir(folder.parent().unwrap()).unwrap().count(), 1, "no temporary folder is left");
}

#[test]
fn the_id_is_the_sha_256_of_the_weights_file() {
    let (_home, folder) = saved();
    let sum = std::process::Command::new("sha256sum").arg(folder.join("model.safetensors")).output();
    let text = String::from_utf8(sum.expect("the command sha256sum").stdout).unwrap();
    assert_eq!(text.split_whitespace().next(), Some(checkpoint(1).card.id.as_str()));
}

#[test]
fn an_existing_checkpoint_is_never_overwritten() {
    let (_home, folder) = saved();
    let message = checkpoint(2).save(&folder).unwrap_err().to_string();
    assert!(message.contains("exists already"), "{message}");
    assert_eq!(Checkpoint::load(&folder).unwrap().card, checkpoint(1).card);
}

#[test]
fn a_save_that_fails_leaves_nothing_behind() {
    let home = TempDir::new().unwrap();
    fs::write(home.path().join("file"), "in the way").unwrap();
    let message = checkpoint(1).save(&home.path().join("file/000001")).unwrap_err().to_string();
    assert!(message.contains("file/000001"), "{message}");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
}

#[test]
fn a_missing_folder_or_file_is_named() {
    let (home, folder) = saved();
    let absent = home.path().join("absent");
    assert!(failure(&absent, &absent).contains("not found"));
    for name in ["model.safetensors", "card.json"] {
        fs::remove_file(folder.join(name)).unwrap();
        assert!(failure(&folder, &folder.join(name)).contains("not found"));
    }
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(failure(&file, &file).contains("is a file; expected a folder"));
}

#[test]
fn a_card_that_is_no_card_is_refused() {
    let (_home, folder) = saved();
    let path = folder.join("card.json");
    edit_card(&folder, |card| drop(card.remove("encoding")));
    assert!(failure(&folder, &path).contains("missing field `encoding`"));
    fs::write(&path, "{\"format\": 1,").unwrap();
    let message = failure(&folder, &path);
    assert!(message.contains("checkpoint card") && message.contains("line 1"), "{message}");
}

#[test]
fn another_encoding_or_a_newer_card_is_refused() {
    let (_home, folder) = saved();
    let path = folder.join("card.json");
    edit_card(&folder, |card| card["encoding"] = 99.into());
    let message = failure(&folder, &path);
    assert!(message.contains("encoding 99") && message.contains("knows encoding 3"), "{message}");
    edit_card(&folder, |card| {
        card["format"] = 2.into();
        card.remove("network");
    });
    let message = failure(&folder, &path);
    assert!(message.contains("format 2") && message.contains("up to 1"), "{message}");
}

#[test]
fn weights_that_are_damaged_or_others_are_refused() {
    let (_home, folder) = saved();
    let path = folder.join("model.safetensors");
    let refused = |bytes: &[u8], expected: [&str; 2]| {
        fs::write(&path, bytes).unwrap();
        let message = failure(&folder, &path);
        assert!(expected.iter().all(|part| message.contains(part)), "{message}");
    };
    let whole = fs::read(&path).unwrap();
    for length in [0, 5, 200, whole.len() / 2, whole.len() - 1] {
        refused(&whole[..length], ["damaged or cut short at ", &format!(" at {length} bytes")]);
    }
    for (config, expected) in [
        (NetworkConfig { channels: 16, ..TINY }, "expected F32"),
        (NetworkConfig { blocks: 2, ..TINY }, "tensors are unknown (blocks.1."),
        (NetworkConfig { blocks: 0, ..TINY }, "tensors are missing (blocks.0."),
    ] {
        let others = Weights::fresh(&config, 0).to_safetensors().unwrap();
        refused(&others, ["do not fit the network of the card", expected]);
    }
    let [own, other] = [1, 2].map(checkpoint);
    refused(&other.weights.to_safetensors().unwrap(), [&own.card.id, &other.card.id]);
}

#[test]
fn a_changed_digit_of_a_card_is_found() {
    let (_home, folder) = saved();
    let path = folder.join("card.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("1200", "1201")).unwrap();
    let message = failure(&folder, &path);
    assert!(message.contains("its checksum is ") && message.contains("damaged or was edited"), "{message}");
}

/// Whatever a card claims, no more memory is taken than its files have bytes.
#[test]
fn a_card_that_claims_too_much_is_refused_before_anything_is_allocated() {
    let (_home, folder) = saved();
    let whole = fs::read(folder.join("card.json")).unwrap();
    let network = |name: &str, value: u64| {
        fs::write(folder.join("card.json"), &whole).unwrap();
        edit_card(&folder, |card| card["network"][name] = value.into());
        Checkpoint::load(&folder).expect_err("too much").to_string()
    };
    for name in ["blocks", "channels", "pool_every", "head_channels", "value_hidden"] {
        for value in [1 << 32, u64::MAX >> 1, u64::MAX] {
            let message = network(name, value);
            assert!(message.contains(&format!("network.{name} is {value}; expected ")), "{message}");
        }
    }
    assert!(network("channels", 0).contains("network.channels is 0; expected 1 to "));
    // Within the bounds, and terabytes all the same.
    for (name, value) in [("channels", 16_384), ("blocks", 1_000), ("value_hidden", 16_384)] {
        let message = network(name, value);
        assert!(message.contains("do not fit the network of the card"), "{message}");
    }
    for (name, value) in [
        ("program", serde_json::json!("\u{1b}[2J")),
        ("id", "f".repeat(5_000).into()),
        ("rulesets", vec!["\u{1b}".repeat(300)].into()),
        ("rulesets", vec![""; 10_000].into()),
        ("program", "x".repeat(100_000).into()),
    ] {
        fs::write(folder.join("card.json"), &whole).unwrap();
        edit_card(&folder, |card| card[name] = value);
        let message = Checkpoint::load(&folder).expect_err("too much").to_string();
        assert!(message.contains("card.json: ") && message.len() < 500, "{message}");
    }
}

/// A ruleset without a name stands there as its record.
#[test]
fn long_records_and_many_rulesets_come_back() {
    let home = TempDir::new().unwrap();
    let card = Card { rulesets: vec!["x".repeat(210); 250], ..Card::new(TINY) };
    let written = Checkpoint::new(card, Weights::fresh(&TINY, 1)).unwrap();
    let folder = home.path().join("long");
    written.save(&folder).unwrap();
    assert_eq!(Checkpoint::load(&folder).unwrap().card, written.card);
}

#[test]
fn a_card_that_could_not_be_read_is_not_written() {
    let usual = Card::new(TINY);
    for (card, expected) in [
        (Card { steps: 1 << 50, ..usual.clone() }, "steps is 1125899906842624; expected 0 to"),
        (Card { parent: Some("f".repeat(201)), ..usual.clone() }, "parent is \"fff"),
        (Card { rulesets: vec!["two\nlines".to_owned()], ..usual.clone() }, "rulesets is \"two"),
        (Card { rulesets: vec!["x".repeat(300); 300], ..usual }, "more than 65536 bytes"),
    ] {
        let message = Checkpoint::new(card, Weights::fresh(&TINY, 1)).unwrap_err().to_string();
        assert!(message.starts_with("checkpoint card: ") && message.contains(expected), "{message}");
    }
}

#[test]
fn a_card_tells_of_foreign_rules_where_it_names_its_own() {
    let foreign = checkpoint(1).card.foreign_to(Preset::Tablut);
    assert_eq!(foreign.as_deref(), Some("the network was trained on brandubh, not on tablut"));
    assert_eq!(checkpoint(1).card.foreign_to(Preset::Brandubh), None);
    assert_eq!(Card::new(TINY).foreign_to(Preset::Brandubh), None);
}

#[test]
fn numbers_that_no_network_has_are_refused() {
    let (_home, folder) = saved();
    let path = folder.join("model.safetensors");
    for (name, value, problem) in [
        ("stem.norm.running_var", -1.0_f32, "stem.norm.running_var has a variance below 0"),
        ("occupancy.bias", f32::NAN, "occupancy.bias has numbers that are not finite"),
    ] {
        let mut bytes = fs::read(&path).unwrap();
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let at = 8 + length + header[name]["data_offsets"][0].as_u64().unwrap() as usize;
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        let error = Weights::from_safetensors(&TINY, &bytes, &path).unwrap_err().to_string();
        assert!(error.ends_with(problem), "{error}");
    }
}

#[test]
fn what_a_file_names_makes_no_long_message() {
    let name = "x".repeat(100_000);
    let header = format!(r#"{{"{name}": {{"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}}}"#);
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 4]].concat();
    let error = Weights::from_safetensors(&TINY, &bytes, Path::new("a file")).unwrap_err().to_string();
    assert!(error.len() < 1000 && error.contains("tensors are missing"), "{} bytes: {:.300}", error.len(), error);
}

#[test]
fn an_empty_folder_gives_way() {
    let home = TempDir::new().unwrap();
    let folder = home.path().join("empty");
    fs::create_dir(&folder).unwrap();
    checkpoint(1).save(&folder).unwrap();
    assert_eq!(Checkpoint::load(&folder).unwrap().card, checkpoint(1).card);
}
