//! Playouts a second of the page's program, compiled for this machine: an analysis of the start position on one thread,
//! in single precision. `wasm/measure.mjs` measures the same in WebAssembly.
//!
//! ```text
//! cargo run --release --example measure -- FOLDER [RULES] [SECONDS]
//! ```

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use hnefi_wasm::Page;
use serde_json::{Value, json};

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

fn ask(page: &Page, path: &str, body: &Value) -> Value {
    let text = json!({ "method": "POST", "path": path, "body": body.to_string() }).to_string();
    let reply = page.ask(text.as_bytes());
    assert_eq!(reply.status, 200, "{path}: {}", String::from_utf8_lossy(&reply.body));
    serde_json::from_slice(&reply.body).expect("JSON")
}

fn main() {
    let mut words = std::env::args().skip(1);
    let folder = words.next().expect("the folder of the page");
    let rules = words.next().unwrap_or_else(|| "copenhagen".to_owned());
    let seconds: f32 = words.next().map_or(10.0, |word| word.parse().expect("seconds"));
    let mut page = Page::new(|| BEGAN.elapsed(), || 1);
    let game = ask(&page, "/api/games", &json!({ "rules": rules, "attackers": {}, "defenders": {} }));
    let id = game["id"].as_str().expect("an id");
    page.listen(id).expect("the game is there");
    ask(&page, &format!("/api/games/{id}/analysis"), &json!({ "on": true }));
    let end = BEGAN.elapsed() + Duration::from_secs_f32(seconds);
    let mut report = Value::Null;
    while BEGAN.elapsed() < end {
        page.step();
        while let Some(name) = page.wanted() {
            let bytes = std::fs::read(format!("{folder}/networks/{name}.safetensors")).expect("the network's file");
            page.network(name, Ok(&bytes));
        }
        while let Some(told) = page.news() {
            if told.event.name == "search" {
                report = serde_json::from_str(&told.event.data).expect("JSON");
            }
        }
    }
    let (playouts, seconds) =
        (report["playouts"].as_f64().expect("a number"), report["seconds"].as_f64().expect("a number"));
    println!("{rules}: {:.0} playouts/s ({playouts} in {seconds:.1} s)", playouts / seconds);
}
