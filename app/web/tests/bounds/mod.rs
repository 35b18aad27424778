//! Nobody keeps others waiting: slow senders, busy analyses, strange files.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use hnefi_web::WebConfig;
use serde_json::json;

use super::http::{add_ladder_match, get, made_up_run, post, request, serve, two_people, wait};
use super::{of, ply};

fn connect(address: SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    stream.write_all(text.as_bytes()).expect("sent");
    stream
}

/// What a connection brings until it holds one of the words, or ends.
fn until(stream: &mut TcpStream, words: &[&str]) -> String {
    let (mut found, mut bytes) = (String::new(), [0; 65536]);
    while !words.iter().any(|word| found.contains(word)) {
        match stream.read(&mut bytes) {
            Ok(0) => break,
            Ok(count) => found.push_str(&String::from_utf8_lossy(&bytes[..count])),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => panic!("{error}: {found}"),
        }
    }
    found
}

#[test]
fn slow_heads_and_bodies_keep_nobody_waiting() {
    let patience = Duration::from_secs(2);
    let address = serve(WebConfig { connections: 20, patience, ..WebConfig::default() });
    // More of them than there are places, all of them in the middle of a head; they are gone when their time is over.
    let mut slow: Vec<TcpStream> = (0..40).map(|_| connect(address, "GET / HTTP/1.1\r\nHost: loc")).collect();
    for _ in 0..20 {
        get(address, "/api/setup").ok();
    }
    let mut last = slow.pop().expect("one of them");
    let answer = until(&mut last, &["\r\n\r\n"]);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "the server gave up: {answer}");

    let head =
        "POST /api/games HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{";
    let answer = until(&mut connect(address, head), &["}"]);
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("too long to come"), "{answer}");
    two_people(address, "brandubh");
}

#[test]
fn who_takes_no_answer_keeps_nobody_waiting() {
    let address = serve(WebConfig { connections: 20, patience: Duration::from_secs(1), ..WebConfig::default() });
    // Far more than the buffers between the two hold.
    let asked = format!("GET /assets/texts/de.json HTTP/1.1\r\nHost: {address}\r\n\r\n").repeat(400);
    let deaf: Vec<TcpStream> = (0..20).map(|_| connect(address, &asked)).collect();
    get(address, "/api/setup").ok();
    drop(deaf);
}

#[test]
fn who_takes_an_answer_slowly_gets_it() {
    let address = serve(WebConfig { patience: Duration::from_secs(1), ..WebConfig::default() });
    let asked = format!("GET /assets/texts/de.json HTTP/1.1\r\nHost: {address}\r\n\r\n").repeat(400);
    let (mut slow, mut bytes) = (connect(address, &asked), [0; 2000]);
    for _ in 0..40 {
        assert!(slow.read(&mut bytes).is_ok_and(|count| count > 0), "it was cut off");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn watched_analyses_keep_no_move_waiting() {
    let address = serve(WebConfig { threads: 1, ..WebConfig::default() });
    let watched: Vec<TcpStream> = (0..8)
        .map(|_| {
            let text = json!({ "text": { "text": "d6-c6 d5-e5", "rules": "brandubh" } });
            let state = post(address, "/api/games/open", &text).ok();
            post(address, &of(&state, "analysis"), &json!({ "on": true })).ok();
            let events = of(&state, "events");
            let mut stream = connect(address, &format!("GET {events} HTTP/1.1\r\nHost: {address}\r\n\r\n"));
            until(&mut stream, &["\"kind\":\"analysis\""]);
            stream
        })
        .collect();
    let seat = json!({ "player": "model:shipped/brandubh", "strength": { "playouts": 8 } });
    let state = post(address, "/api/games", &json!({ "rules": "brandubh", "attackers": seat, "defenders": {} })).ok();
    let here = of(&state, "");
    wait(address, here.trim_end_matches('/'), |state| ply(state) == 1);
    // One of the analyses had to end for it, and its onlooker is told why.
    let first = until(&mut watched.into_iter().next().expect("one of eight"), &["\"displaced\":true"]);
    assert!(first.contains("\"displaced\":true"), "the longest one ended");
}

#[test]
fn a_run_with_a_strange_file_is_told_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = made_up_run(folder.path(), 3);
    for (name, inner) in [("000004", 2), ("000005", 3), ("000009", 0)] {
        let text = json!({ "generation": inner, "progress": 0.5 }).to_string();
        std::fs::write(run.join(format!("metrics/{name}.json")), text).expect("a file");
    }
    std::fs::create_dir(run.join("jobs")).expect("a folder");
    std::fs::write(run.join("jobs/000004.json"), r#"{"finished": true}"#).expect("a file");
    add_ladder_match(&run, 10, 31);
    let address = serve(WebConfig { runs: vec![run], ..WebConfig::default() });
    let mut stream = connect(address, &format!("GET /api/watch/events HTTP/1.1\r\nHost: {address}\r\n\r\n"));
    let mut told = String::new();
    // Enough events for every file to be told twice, were it told twice.
    for _ in 0..8 {
        told.push_str(&until(&mut stream, &["\n\n"]));
        if told.contains("\"finished\":true") {
            break;
        }
    }
    assert_eq!(told.matches("event: rows").count(), 1, "{told}");
    assert!(told.contains("event: state\ndata: {\"run\":0,\"finished\":true"), "{told}");
}

#[test]
fn damaged_files_are_named_without_the_way_to_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let secret = folder.path().display().to_string();
    let run = made_up_run(folder.path(), 3);
    std::fs::write(run.join("games/000002.hgames"), "HNEFIGAM and no more").expect("a file");
    let checkpoint = folder.path().join("given");
    std::fs::create_dir(&checkpoint).expect("a folder");
    let card = hnefi_inference::pretrained("brandubh").expect("shipped").expect("loads").card;
    std::fs::write(checkpoint.join("card.json"), serde_json::to_string(&card).expect("JSON")).expect("a file");
    std::fs::write(checkpoint.join("model.safetensors"), "nothing of the kind").expect("a file");
    let games = folder.path().join("games");
    std::fs::create_dir(&games).expect("a folder");
    for name in ["a.hgames", "b.csv", "c.otg"] {
        std::fs::write(games.join(name), "neither this nor that").expect("a file");
    }
    let config = WebConfig { runs: vec![run], folders: vec![games, checkpoint], ..WebConfig::default() };
    let address = serve(config);
    let mut answers = vec![get(address, "/api/runs/0/games?generation=2").body, get(address, "/api/setup").body];
    for name in ["a.hgames", "b.csv", "c.otg", "d.pgn"] {
        let answer = get(address, &format!("/api/files/games?folder=0&path={name}")).body;
        assert!(answer.contains("error"), "{answer}");
        answers.push(answer);
    }
    let seat = json!({ "player": "model:given/0", "strength": { "playouts": 8 } });
    let state = post(address, "/api/games", &json!({ "rules": "brandubh", "attackers": seat, "defenders": {} })).ok();
    let here = of(&state, "");
    let state = wait(address, here.trim_end_matches('/'), |state| !state["problem"].is_null());
    assert!(state["problem"]["error"].as_str().expect("words").contains("given"), "{}", state["problem"]);
    answers.push(state.to_string());
    answers.push(request(address, "POST", &of(&state, "hint"), &[], Some("{}")).body);
    for answer in answers {
        assert!(!answer.contains(&secret), "{answer}");
    }
}
