//! The server as a program meets it: a real one on a free port, by plain requests.

mod bounds;
mod http;
mod opponents;

use std::io::Write;
use std::net::TcpStream;

use hnefi_engine::BoardSize;
use hnefi_web::{WebConfig, WebServer};
use serde_json::{Value, json};

use http::{
    add_generation, add_ladder_match, configure, get, made_up_run, of, played, post, raw, request, serve, stream,
    two_people,
};

fn ply(state: &Value) -> u64 {
    state["ply"].as_u64().expect("a ply")
}

/// Plays the move that `pick` chooses among the legal ones.
fn play(address: std::net::SocketAddr, state: &Value, pick: usize) -> Value {
    let targets = |(from, targets): (&String, &Value)| -> Vec<String> {
        let targets = targets.as_array().expect("targets").iter();
        targets.map(|to| format!("{from}{}", to.as_str().expect("a square"))).collect()
    };
    let moves: Vec<String> = state["moves"].as_object().expect("moves by origin").iter().flat_map(targets).collect();
    let mv = &moves[pick % moves.len()];
    post(address, &of(state, "move"), &json!({ "move": mv, "stamp": state["stamp"] })).ok()
}

#[test]
fn requests_reach_the_board_with_their_bodies_and_methods() {
    let address = serve(WebConfig::default());
    let state = two_people(address, "brandubh");
    let moves = of(&state, "move");
    let state = post(address, &moves, &json!({ "move": "d6c6", "stamp": state["stamp"] })).ok();
    assert_eq!(state["ply"], 1);
    let pgn = get(address, &of(&state, "export?format=pgn"));
    assert!(pgn.body.contains("d6-c6") && pgn.head.contains("attachment"), "{pgn:?}");
    request(address, "HEAD", &of(&state, "address"), &[], None).body.is_empty().then_some(()).expect("no body");
    request(address, "POST", &moves, &["Content-Type: text/plain"], Some("{}")).refused(415, "application/json");
    request(address, "POST", &moves, &[], Some("{")).refused(400, "the request");
    get(address, &moves).refused(405, "method");
    get(address, "/nowhere").refused(404, "no such page");
    get(address, "/assets/../Cargo.toml").refused(404, "");
}

#[test]
fn the_page_asks_for_all_that_a_board_answers() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../page")).expect("a folder");
    let scripts =
        folder.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "js"));
    let page: String = scripts.map(|path| std::fs::read_to_string(path).expect("a text")).collect();
    for route in hnefi_board::ROUTES {
        let what = route.path.trim_end_matches("/{id}").rsplit('/').next().expect("a part");
        let endings = ["\"", "`", "?", "/"].map(|end| format!("/{what}{end}"));
        let ways = [format!("act(\"{what}\""), format!("consult(\"{what}\"")];
        assert!(ways.iter().chain(&endings).any(|way| page.contains(way)), "nothing asks for {}", route.path);
    }
}

#[test]
fn recorded_games_open_with_the_network_of_their_board() {
    let folder = tempfile::tempdir().expect("a folder");
    let round = "d2-c2 d3-c3 c2-d2 c3-d3";
    let csv = format!(
        "game,moves,captures_by_attackers,captures_by_defenders,result\n\
         1,d1-d3 e5-e2 g1-g3 f4-c4 g3-e3xe2,1,0,Ongoing\n2,d6-c6 d5-e5,0,0,White\n3,{round} {round} {round},0,0,Draw\n"
    );
    std::fs::write(folder.path().join("games.csv"), csv).expect("a file");
    let address = serve(WebConfig { folders: vec![folder.path().to_owned()], ..WebConfig::default() });
    let played_on = "dim:7 tfr:i ks:c start:/3t3/3t3/3T3/ttTKTtt/3T3/3t3/3t3/";
    for (index, adviser, fit, rules) in [
        (0, "model:shipped/copenhagen", "rules", json!(["copenhagen", null])),
        (1, "model:shipped/brandubh", "rules", json!(["brandubh", null])),
        (2, "model:shipped/brandubh", "board", json!([played_on, "brandubh"])),
    ] {
        let file = json!({ "file": { "folder": 0, "path": "games.csv", "index": index } });
        let state = post(address, "/api/games/open", &file).ok();
        assert_eq!((&state["adviser"], &state["adviser_fit"]), (&json!(adviser), &json!(fit)));
        assert_eq!(
            (&json!([state["rules"]["name"], state["rules"]["played_on"]]), &state["seats"][0]["name"]),
            (&rules, &json!("human"))
        );
        let state = post(address, &of(&state, "analysis"), &json!({ "on": true })).ok();
        stream(address, &of(&state, "events"), &["event: search", "\"kind\":\"analysis\""]);
    }
}

#[test]
fn an_address_that_stands_for_all_is_given_as_one_that_can_be_opened() {
    for listen in ["0.0.0.0:0", "127.0.0.1:0"] {
        let listen = listen.parse().expect("an address");
        let server = WebServer::bind(WebConfig { listen, ..WebConfig::default() }).expect("a free port");
        let reached = server.reached_at();
        std::thread::spawn(move || server.run());
        get(reached, "/api/setup").ok();
    }
}

#[test]
fn foreign_pages_are_refused() {
    let address = serve(WebConfig { hosts: vec!["board.example".to_owned()], ..WebConfig::default() });
    let ask = |headers: &[&str]| request(address, "GET", "/api/setup", headers, None);
    ask(&[]).ok();
    ask(&["Host: localhost:1"]).ok();
    ask(&["Host: board.example"]).ok();
    ask(&[&format!("Origin: http://{address}")]).ok();
    ask(&["Host: evil.example"]).refused(403, "--host");
    ask(&["Host: 127.0.0.1.evil.example"]).refused(403, "--host");
    ask(&["Origin: http://evil.example"]).refused(403, "origin");
    ask(&["Origin: null"]).refused(403, "origin");
    ask(&["Sec-Fetch-Site: cross-site"]).refused(403, "cross-site");
    ask(&["Host: 127.0.0.1:8137@evil.example"]).refused(403, "--host");
    ask(&["Host: localhost@evil.example"]).refused(403, "--host");
    ask(&["Host: localhost", "Host: localhost"]).refused(400, "expected one");
    ask(&["Host: localhost", "Host: evil.example"]).refused(400, "expected one");
    ask(&[&format!("Origin: http://{address}"), "Origin: http://evil.example"]).refused(400, "expected one");
    let body = json!({ "rules": "brandubh", "attackers": {}, "defenders": {} }).to_string();
    request(address, "POST", "/api/games", &["Origin: http://evil.example"], Some(&body)).refused(403, "origin");
    let page = get(address, "/");
    assert_eq!(page.status, 200);
    let head = page.head.to_ascii_lowercase();
    for words in ["content-security-policy: default-src 'none'", "nosniff", "frame-ancestors 'none'", "no-referrer"] {
        assert!(head.contains(words), "{head}");
    }
    assert!(!head.contains("access-control-allow-origin"), "{head}");
}

#[test]
fn only_files_below_the_folders_are_read() {
    let above = tempfile::tempdir().expect("a folder");
    let games = above.path().join("games");
    std::fs::create_dir_all(games.join("deep")).expect("a folder");
    std::fs::write(above.path().join("secret.pgn"), "[Rules \"brandubh\"]\n\n*\n").expect("a file");
    std::fs::write(games.join("deep/mine.csv"), "game,moves,a,d,result\n4,d6-c6 d5-e5,0,0,White\n").expect("a file");
    #[cfg(unix)]
    std::os::unix::fs::symlink(above.path(), games.join("out")).expect("a link");
    let address = serve(WebConfig { folders: vec![games], ..WebConfig::default() });
    let entries = get(address, "/api/files?folder=0&path=deep").ok();
    assert_eq!(entries, json!({ "entries": [{ "is_file": true, "name": "mine.csv" }], "next": null }));
    let list = get(address, "/api/files/games?folder=0&path=deep%2Fmine.csv").ok();
    assert_eq!((&list["games"][0]["number"], &list["games"][0]["plies"]), (&json!(4), &json!(2)));
    let open = |path: &str, index: usize| {
        post(address, "/api/games/open", &json!({ "file": { "folder": 0, "path": path, "index": index } }))
    };
    let state = open("deep/mine.csv", 0).ok();
    assert_eq!(
        (state["plies"].as_u64(), &state["source"]),
        (
            Some(2),
            &json!({
                "kind": "game",
                "origin": { "place": "mine.csv", "generation": null, "game": 4 },
                "ending": { "winner": "defenders", "reason": "resigned", "plies": null },
            })
        )
    );
    open("deep/mine.csv", 7).refused(404, "no game 7");
    for path in ["../secret.pgn", "deep/../../secret.pgn", "/etc/passwd", "out/secret.pgn", "..", "deep/\u{0}"] {
        let reply = open(path, 0);
        assert!([400, 404].contains(&reply.status), "{path}: {}", reply.body);
        assert!(reply.json()["error"].is_string());
    }
    get(address, "/api/files?folder=0&path=..%2F..").refused(400, "below the folder");
    get(address, "/api/files?folder=7").refused(404, "no folder");
    get(address, "/api/files?folder=x").refused(400, "");
}

#[test]
fn a_run_is_watched_while_it_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = made_up_run(folder.path(), 3);
    let address = serve(WebConfig { runs: vec![run.clone()], ..WebConfig::default() });
    let about = get(address, "/api/runs/0").ok();
    assert_eq!((&about["name"], &about["generations"]), (&json!("quick"), &json!([3])));
    let add = std::thread::spawn({
        let run = run.clone();
        move || {
            std::thread::sleep(std::time::Duration::from_millis(500));
            add_generation(&run, 4);
            add_ladder_match(&run, 10, 31);
        }
    });
    let wanted = ["\"generation\":1", "\"generation\":3", "\"generation\":4", "\"generation\":10"];
    let events = stream(address, "/api/watch/events", &wanted);
    assert_eq!(events.matches("event: rows").count(), 2, "the first three at once, the fourth when it came");
    assert!(events.contains("\"loss/value\":0.8") && events.contains("\"run/games\":450.0"), "{events}");
    add.join().expect("added");
    let ladder = events.rsplit("event: ratings\ndata: ").next().and_then(|text| text.lines().next()).expect("ratings");
    let ladder: Value = serde_json::from_str(ladder).expect("JSON");
    assert_eq!((&ladder["run"], &ladder["zero"]), (&json!(0), &json!("random")));
    let rung = |index: usize, side: &str| ladder["rows"][index]["values"][format!("elo/{side}")].as_f64().expect("Elo");
    assert!(rung(1, "attackers") > rung(0, "attackers") + 200.0, "31 wins of 32 against none: {ladder}");
    let games = get(address, "/api/runs/0/games").ok();
    assert_eq!((games["generation"].as_u64(), games["list"]["games"].as_array().map(Vec::len)), (Some(3), Some(20)));
    let state = post(address, "/api/games/open", &json!({ "run": { "run": 0, "generation": 3, "index": 5 } })).ok();
    assert!(state["plies"].as_u64() > Some(0));
    get(address, "/api/runs/1").refused(404, "no run 1");
    get(address, "/api/runs/0/games?generation=9").refused(404, "");
    get(address, "/api/runs/0/games?order=dull").refused(400, "order");
    post(address, "/api/games/open", &json!({ "run": { "run": 0, "generation": 3, "index": 99 } }))
        .refused(404, "no game");
}

#[test]
fn runs_are_compared_and_their_games_searched() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |name: &str, seed: u64, rate: f64| {
        let run = made_up_run(&folder.path().join(name), 2);
        configure(&run, seed, rate);
        run
    };
    let runs = vec![run("a", 1, 0.1), run("b", 1, 0.2), run("c", 2, 0.1)];
    let address = serve(WebConfig { runs, ..WebConfig::default() });
    let found = get(address, "/api/watch").ok();
    let of = |key: &str| -> Vec<Value> {
        found["runs"].as_array().expect("runs").iter().map(|run| run[key].clone()).collect()
    };
    assert_eq!(of("name"), ["a/quick", "b/quick", "c/quick"]);
    assert_eq!((of("group"), of("seed")), (vec![json!(0), json!(1), json!(0)], vec![json!(1), json!(1), json!(2)]));
    assert_eq!(of("machine")[1], "a processor, 2 threads");
    let differences = json!([
        { "key": "run.seed", "values": ["1", "1", "2"] }, { "key": "train.rate", "values": ["0.1", "0.2", "0.1"] },
    ]);
    assert_eq!(found["differences"], differences);
    let table = get(address, "/api/watch/metrics.csv");
    let lines: Vec<Vec<&str>> = table.body.lines().map(|line| line.split(',').collect()).collect();
    assert!(lines.len() == 10 && lines.iter().all(|line| line.len() == lines[0].len()), "{}", table.body);
    let loss = lines[0].iter().position(|name| *name == "loss/policy").expect("a column");
    assert_eq!((lines[1][..2].to_vec(), lines[1][loss], lines[2][loss]), (vec!["a/quick", "0"], "", "3.5"));

    let games = |query: &str| -> Vec<Value> {
        let found = get(address, &format!("/api/runs/0/games?{query}")).ok();
        found["list"]["games"].as_array().expect("games").clone()
    };
    let number = |game: &Value, key: &str| game[key].as_f64().unwrap_or(-1.0);
    let all = games("");
    for (order, key, sign) in [("longest", "plies", -1.0), ("shortest", "plies", 1.0), ("surprise", "surprise", -1.0)] {
        let found = games(&format!("order={order}"));
        assert_eq!(found.len(), all.len());
        assert!(found.is_sorted_by_key(|game| sign * number(game, key)), "{order}: {found:?}");
    }
    assert!(all.iter().any(|game| number(game, "plies") != number(&all[0], "plies")), "there is something to order");
    // Moves are found as people write them, also unfinished ones.
    let moves: Vec<String> =
        played(3).record(3).plies.iter().take(2).map(|ply| ply.mv.text(BoardSize::SEVEN)).collect();
    let (first, second) = (&moves[0], &moves[1]);
    let opening = format!("1.+{}-{}+{}-{}xa1", &first[..2], &first[2..], &second[..2], &second[2..]);
    let found = games(&format!("opening={opening}"));
    assert!(found.iter().any(|game| game["index"] == 3) && found.len() < all.len(), "{opening}: {found:?}");
    assert!(games(&format!("opening={}", &first[..3])).len() >= found.len());
    assert!(games("opening=z").is_empty());
    let results: usize =
        ["attackers", "defenders", "draw", "ongoing"].map(|who| games(&format!("result={who}")).len()).iter().sum();
    assert_eq!(results, all.len());
    let ended = all.iter().find(|game| game["ending"]["winner"] == "attackers");
    if let Some(game) = ended {
        let reason = game["ending"]["reason"].as_str().expect("a reason");
        assert!(games(&format!("result=attackers_{reason}")).iter().all(|game| game["ending"]["reason"] == reason));
    }
}

#[test]
fn everything_is_bounded() {
    let address = serve(WebConfig { rooms: 3, listeners: 2, ..WebConfig::default() });
    let large = json!({ "text": { "text": "x".repeat(1 << 20), "rules": "brandubh" } });
    post(address, "/api/games/open", &large).refused(413, "too large");
    let games: Vec<Value> = (0..3).map(|_| two_people(address, "copenhagen")).collect();
    let body = json!({ "rules": "brandubh", "attackers": {}, "defenders": {} });
    post(address, "/api/games", &body).refused(503, "3 games are open");
    let here = of(&games[0], "");
    request(address, "DELETE", here.trim_end_matches('/'), &[], None).ok();
    let listened = of(&games[1], "events");
    let held: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = TcpStream::connect(address).expect("the server listens");
            write!(stream, "GET {listened} HTTP/1.1\r\nHost: {address}\r\n\r\n").expect("sent");
            std::io::Read::read_exact(&mut stream, &mut [0; 15]).expect("an answer");
            stream
        })
        .collect();
    get(address, &listened).refused(503, "too many pages");
    drop(held);
    two_people(address, "brandubh");
}

#[test]
fn a_flood_of_nonsense_harms_nobody() {
    let address = serve(WebConfig { connections: 40, ..WebConfig::default() });
    let silent: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(address).expect("the server listens")).collect();
    for nonsense in
        [&b"\0\0\0\0\r\n\r\n"[..], b"GET / HTTP/9.9\r\n\r\n", b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n"]
    {
        for _ in 0..20 {
            let reply = raw(address, nonsense);
            assert!(reply.status == 0 || reply.status >= 400, "{reply:?}");
        }
    }
    let head = format!("GET / HTTP/1.1\r\nHost: {address}\r\nX: {}\r\n\r\n", "y".repeat(1 << 20));
    assert!(raw(address, head.as_bytes()).status != 200);
    let threads: Vec<_> = (0..8)
        .map(|_| std::thread::spawn(move || (0..50).for_each(|_| drop(get(address, "/api/setup").ok()))))
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("every request is answered"));
    drop(silent);
    two_people(address, "brandubh");
}
