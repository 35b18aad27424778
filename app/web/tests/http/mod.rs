//! A server of our own on a free port, and a client that sends exactly the given bytes.

#![allow(dead_code, reason = "each test binary uses its own part")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hnefi_arena::ladder::{Contestant, LadderMatch};
use hnefi_arena::players::{ModelCache, PlayerSpec};
use hnefi_arena::{MatchParams, MatchResult, Tally, play_match};
use hnefi_engine::{MoveList, Preset};
use hnefi_inference::Devices;
use hnefi_record::{Seat, Session};
use hnefi_run::encode_games;
use hnefi_search::SearchConfig;
use hnefi_web::{WebConfig, WebServer};
use serde_json::{Value, json};

/// What a server answered.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.body))
    }

    /// The answer of a request that should succeed.
    pub fn ok(self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        self.json()
    }

    /// Checks that the request was refused so, with words in the error.
    pub fn refused(self, status: u16, words: &str) {
        assert_eq!(self.status, status, "{}", self.body);
        let error = self.json()["error"].as_str().expect("an error in words").to_owned();
        assert!(error.contains(words), "{error:?} should contain {words:?}");
    }
}

/// Starts a server that runs as long as the test's process.
pub fn serve(config: WebConfig) -> SocketAddr {
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = WebServer::bind(WebConfig { listen, seed: 1, ..config }).expect("a free port");
    let address = server.address();
    std::thread::spawn(move || server.run());
    address
}

/// Sends bytes and reads until the server closes.
pub fn raw(address: SocketAddr, bytes: &[u8]) -> Reply {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    // A server that refuses a request may close before all of it was sent.
    let _ = stream.write_all(bytes);
    let (mut answer, mut bytes) = (Vec::new(), [0; 65536]);
    // Not every server closes when it is asked to.
    while !is_whole(&answer) {
        match stream.read(&mut bytes) {
            Ok(count) if count > 0 => answer.extend_from_slice(&bytes[..count]),
            _ => break,
        }
    }
    let text = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split_whitespace().nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { dechunked(body) } else { body.to_owned() };
    Reply { status, head: head.to_owned(), body }
}

/// Whether an answer has come whole, as far as its head says.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer).to_ascii_lowercase();
    let Some((head, _)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    length.is_some_and(|length| answer.len() >= head.len() + 4 + length)
}

fn dechunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || rest.len() < size {
            break;
        }
        whole.push_str(&rest[..size]);
        body = rest[size..].trim_start_matches("\r\n");
    }
    whole
}

/// A request with these headers beside the usual ones.
pub fn request(address: SocketAddr, method: &str, path: &str, headers: &[&str], body: Option<&str>) -> Reply {
    let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|header| header.to_ascii_lowercase().starts_with("host:")) {
        text.push_str(&format!("Host: {address}\r\n"));
    }
    for header in headers {
        text.push_str(header);
        text.push_str("\r\n");
    }
    if let Some(body) = body {
        if !headers.iter().any(|header| header.to_ascii_lowercase().starts_with("content-type:")) {
            text.push_str("Content-Type: application/json\r\n");
        }
        text.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    text.push_str("\r\n");
    text.push_str(body.unwrap_or_default());
    raw(address, text.as_bytes())
}

pub fn get(address: SocketAddr, path: &str) -> Reply {
    request(address, "GET", path, &[], None)
}

pub fn post(address: SocketAddr, path: &str, body: &Value) -> Reply {
    request(address, "POST", path, &[], Some(&body.to_string()))
}

/// The path of something that is done with a game.
pub fn of(state: &Value, what: &str) -> String {
    format!("/api/games/{}/{what}", state["id"].as_str().expect("an id"))
}

/// A game between two people.
pub fn two_people(address: SocketAddr, rules: &str) -> Value {
    post(address, "/api/games", &json!({ "rules": rules, "attackers": {}, "defenders": {} })).ok()
}

/// Asks until the answer is as wished.
pub fn wait(address: SocketAddr, path: &str, wished: impl Fn(&Value) -> bool) -> Value {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let found = get(address, path).ok();
        if wished(&found) {
            return found;
        }
        assert!(Instant::now() < until, "waited in vain: {found}");
        std::thread::sleep(Duration::from_millis(30));
    }
}

/// The beginning of a stream of events, until it contains all the words.
pub fn stream(address: SocketAddr, path: &str, words: &[&str]) -> String {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("sent");
    let (mut found, mut bytes) = (String::new(), [0; 65536]);
    while !words.iter().all(|word| found.contains(word)) {
        let count = stream.read(&mut bytes).expect("events come in time");
        assert!(count > 0, "the stream ended: {found}");
        found.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    found
}

/// A run directory as training leaves it: metrics of `generations` generations and a file of games.
pub fn made_up_run(folder: &Path, generations: u32) -> PathBuf {
    let run = folder.join("quick");
    for part in ["metrics", "games"] {
        std::fs::create_dir_all(run.join(part)).expect("a folder");
    }
    configure(&run, 1, 0.1);
    for generation in 1..=generations {
        add_generation(&run, generation);
    }
    for generation in (0..=generations).step_by(10) {
        add_ladder_match(&run, generation, generation / 2);
    }
    let games: Vec<_> = (0..20).map(|number| played(number).record(number)).collect();
    let bytes = encode_games(&games);
    std::fs::write(run.join(format!("games/{generations:06}.hgames")), bytes).expect("a file");
    run
}

/// The configuration of a run, as far as it matters here.
pub fn configure(run: &Path, seed: u64, rate: f64) {
    let config = json!({ "program": "hnefi", "config": { "run": { "seed": seed }, "train": { "rate": rate } } });
    std::fs::write(run.join("run.json"), config.to_string()).expect("a file");
    std::fs::create_dir_all(run.join("trainer")).expect("a folder");
    std::fs::write(run.join("trainer/000001.json"), r#"{"machine":"a processor, 2 threads"}"#).expect("a file");
}

/// A match of a generation on the run's ladder, of 64 games: it won this many of the 32 with the attackers, and 20 with
/// the defenders.
pub fn add_ladder_match(run: &Path, generation: u32, won: u32) {
    let tally = |wins| Tally { wins, draws: 0, losses: 32 - wins };
    let [a, b] = ["random", "random"].map(|player| player.parse::<PlayerSpec>().expect("a player"));
    let mut models = ModelCache::new(Devices::cpu(), SearchConfig::default());
    let played = play_match(&a, &b, &MatchParams::new(Preset::Brandubh.rules(), 2, 1), &mut models, &mut ());
    let result = MatchResult { as_attackers: tally(won), as_defenders: tally(20), ..played.expect("a match") };
    let a = Contestant::Checkpoint { generation, playouts: 32 };
    let b = Contestant::Player { player: b.to_string(), network: None };
    std::fs::create_dir_all(run.join("ladder")).expect("a folder");
    let text = serde_json::to_string(&LadderMatch { a, b, result }).expect("JSON");
    std::fs::write(run.join(format!("ladder/{generation:06}-random.json")), text).expect("a file");
}

/// The metrics of one more generation.
pub fn add_generation(run: &Path, generation: u32) {
    let age = f64::from(generation);
    let attackers = 0.45 + 0.1 * (age / 5.0).sin();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let metrics = json!({
        "generation": generation, "checkpoint": "76439ef44ba2", "progress": (age / 80.0).min(1.0), "elapsed_seconds": 7.0 * age,
        "wall_seconds": 7.0 * age, "processor_seconds": 13.0 * age, "unix_seconds": now.as_secs_f64(),
        "selfplay": {
            "games": 150, "attackers": attackers, "defenders": 0.98 - attackers, "draws": 0.02, "mean_plies": 24.0 + 30.0 / age,
            "ends": { "attackers king_captured": 70, "defenders king_escaped": 77, "draw ply_cap": 3 }, "playouts": 24,
            "playouts_per_second": 20_000.0 + 90.0 * age, "evaluations_per_second": 17_000.0 + 80.0 * age,
            "search_surprise": 1.9, "changed_minds": 0.7,
        },
        "training": {
            "steps": 42 * generation, "samples_per_second": 3_000.0, "reuse": 2.5, "window_plies": 20_000 + 1_000 * generation,
            "losses": { "total": 2.5 + 2.0 / age, "policy": 2.0 + 1.5 / age, "value": 0.6 + 0.2 / age, "moves_left": 0.17, "occupancy": 0.47 },
            "policy_entropy": 0.4,
        },
    });
    let path = run.join(format!("metrics/{generation:06}.json"));
    std::fs::write(path.with_extension("part"), metrics.to_string()).expect("a file");
    std::fs::rename(path.with_extension("part"), path).expect("renamed");
}

/// A game of thirty plies, or as long as it lasts.
pub fn played(seed: u64) -> Session {
    let seats = [Seat::Person, Seat::Person];
    let mut game = Session::new(Preset::Brandubh.rules(), None, seats).expect("the start");
    for ply in 0..30 {
        let mut moves = MoveList::new();
        game.position().legal_moves(&mut moves);
        if game.ending().is_some() || moves.is_empty() {
            break;
        }
        let pick = (seed * 7919 + ply * 104_729) as usize % moves.len();
        game.play(moves[pick]).expect("a legal move");
    }
    game
}

/// A program of others in `folder`, as a player: a shell script that answers every line it reads by `cases`.
#[cfg(unix)]
pub fn program(folder: &Path, cases: &str) -> PlayerSpec {
    use std::os::unix::fs::PermissionsExt;
    let engine = folder.join("engine.sh");
    let text = format!(
        "#!/bin/sh\nwhile read -r line; do case \"$line\" in\nuci) echo uciok;;\nisready) echo readyok;;\n{cases}\n\
         quit) exit;;\nesac; done\n"
    );
    std::fs::write(&engine, text).expect("a file");
    std::fs::set_permissions(&engine, std::fs::Permissions::from_mode(0o755)).expect("allowed");
    format!("uci:{},nodes=5", engine.display()).parse().expect("a player")
}
