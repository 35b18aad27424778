//! Embeds the checkpoints under `pretrained/`: a folder each, with `card.json` and `model.safetensors`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let root = manifest.join("pretrained");
    println!("cargo::rerun-if-changed={}", root.display());

    let (mut cards, mut contents) = (String::new(), String::new());
    for folder in checkpoint_folders(&root)? {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (card, weights) = (folder.join("card.json"), folder.join("model.safetensors"));
        for file in [&card, &weights] {
            if !file.is_file() {
                println!("cargo::error={} is missing; a pretrained checkpoint has both files", file.display());
            }
        }
        writeln!(cards, "    Embedded {{ name: {name:?}, card: include_str!({card:?}) }},")
            .and_then(|()| writeln!(contents, "    include_bytes!({weights:?}),"))
            .expect("writing to a String does not fail");
    }
    let tables =
        format!("static EMBEDDED: &[Embedded] = &[\n{cards}];\n\nstatic WEIGHTS: &[&[u8]] = &[\n{contents}];\n");
    fs::write(out.join("pretrained.rs"), tables)
}

/// The folders under `root`, sorted; none when there is no such folder.
fn checkpoint_folders(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    if root.is_dir() {
        for entry in fs::read_dir(root)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    folders.sort();
    Ok(folders)
}
