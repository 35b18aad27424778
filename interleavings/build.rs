//! Takes the files that synchronise threads as they are and gives them shuttle's threads, locks and channels in place
//! of the standard library's. So the product knows nothing of shuttle, and what is tried is what runs.

use std::path::Path;
use std::{env, fs};

/// A file, the name of its module here, and what else it names that stands in for something here.
const FILES: [(&str, &str, &[(&str, &str)]); 5] = [
    (
        "../search/src/threads.rs",
        "threads",
        &[(
            "use super::Search;\nuse super::leaf::LeafPosition;\nuse super::playout::Selection;",
            "use crate::tree::{LeafPosition, Search, Selection};",
        )],
    ),
    (
        "../play/src/uci/queue.rs",
        "commands",
        &[
            ("use hnefi_search::Signal;", "use crate::threads::Signal;"),
            ("use super::command::Command;", "use crate::Command;"),
        ],
    ),
    ("../app/web/src/bell.rs", "jobs", &[]),
    ("../models/cuda/src/requests.rs", "requests", &[("use crate::layers::Boards;", "use crate::card::Boards;")]),
    (
        "../models/cuda/src/queue.rs",
        "device",
        &[("use crate::CardNetwork;\nuse crate::network::Lane;", "use crate::card::{CardNetwork, Lane};")],
    ),
];

fn main() {
    let out = env::var("OUT_DIR").expect("cargo says where");
    for (file, name, stands_in) in FILES {
        println!("cargo::rerun-if-changed={file}");
        let mut text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"));
        // Without the file's own tests, and its first comment, which an included file cannot have.
        text.truncate(text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len()));
        text = text.lines().filter(|line| !line.starts_with("//!")).collect::<Vec<_>>().join("\n");
        for (there, here) in stands_in {
            assert!(text.contains(there), "{file} no longer says {there}: build.rs must follow");
            text = text.replace(there, here);
        }
        // What is seen inside a crate is seen by the tests here.
        text = text.replace("pub(super)", "pub(crate)");
        for part in ["std::sync", "std::thread"] {
            text = text.replace(part, &part.replace("std", "shuttle"));
        }
        fs::write(Path::new(&out).join(format!("{name}.rs")), &text).expect("written");
        if name == "commands" {
            // The end is said without the lock, between the other thread's look and its wait: the tests must notice.
            let careful = "let waiting = self.waiting();\n        self.hung_up.store(true, Ordering::SeqCst);\n        \
                           drop(waiting);";
            assert!(text.contains(careful), "{file} no longer says {careful}: build.rs must follow");
            let careless = text.replace(careful, "self.hung_up.store(true, Ordering::SeqCst);");
            fs::write(Path::new(&out).join("careless.rs"), careless).expect("written");
        }
    }
}
