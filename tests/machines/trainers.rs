//! One trainer at a time, and only trainers that speak the same protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use hnefi_run::store::{Store, job_key};

use crate::s3::S3;
use crate::scene::{Place, Scene, fail, finish, kill, succeed, wait_for};

#[test]
fn of_two_trainers_of_a_directory_the_second_is_refused() {
    let scene = Scene::new(Place::Directory, 4);
    let worker = scene.worker(&[]);
    let first = scene.trainer(&["--no-selfplay", "--no-ladder"]);
    wait_for(&scene.run(), "trainer/000001.json");
    let message = fail(finish(scene.trainer(&[])));
    assert!(message.contains(&format!("in use by process {}", first.id())), "{message}");
    succeed(finish(first));
    succeed(finish(worker));
    assert!(!scene.arrived().is_empty(), "workers uploaded games");
    scene.check(4);
}

#[test]
fn of_two_trainers_of_a_bucket_the_first_stops() {
    let s3 = S3::start();
    let scene = Scene::new(Place::Bucket(s3), 6);
    let worker = scene.worker(&[]);
    let first = scene.trainer(&["--no-selfplay", "--no-ladder"]);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while scene.s3().is_some_and(|s3| s3.created("runs/first/metrics/").is_empty()) {
        assert!(std::time::Instant::now() < until, "the first trainer publishes");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let second = scene.trainer(&["--no-ladder"]);
    let message = fail(finish(first));
    assert!(message.contains("another trainer has taken over: epoch 2, process "), "{message}");
    succeed(finish(second));
    succeed(finish(worker));
    assert!(!scene.arrived().is_empty(), "workers uploaded games");
    scene.check(6);
}

#[test]
fn a_worker_of_another_version_is_refused() {
    let scene = Scene::new(Place::Directory, 1);
    succeed(finish(scene.trainer(&["--no-ladder"])));
    let terms = r#"{"protocol": 99, "program": "hnefi 9.0.0", "anything": "else"}"#;
    Store::open_or_create(&scene.run()).unwrap().create(&job_key(99), terms.as_bytes()).unwrap();
    let message = fail(finish(scene.worker(&[])));
    let expected =
        "its trainer is hnefi 9.0.0 with protocol 99, this is hnefi 0.1.0 and speaks 3; use the same version";
    assert!(message.contains(expected), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
}

/// Evaluation is a worker like any other: the run's ladder is played while others train and play.
#[test]
fn the_ladder_is_played_by_another_process() {
    let s3 = S3::start();
    let scene = Scene::new(Place::Bucket(s3), 2);
    succeed(finish(scene.trainer(&["--no-ladder", "--set", "ladder.every=1", "--set", "ladder.games=2"])));
    let follower = scene.process(&["ladder", &scene.location(), "--follow"]);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while scene.s3().is_some_and(|s3| s3.created("runs/first/ladder/").len() < 3) {
        assert!(std::time::Instant::now() < until, "matches are played");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    kill(follower);
    let shown = succeed(finish(scene.process(&["ladder", &scene.location(), "--show"])));
    assert!(shown.contains("generation 1") && shown.contains("random"), "{shown}");

    // Who only looks at the run finds it in the bucket too, in the terminal and on the page.
    let watched = succeed(finish(scene.process(&["watch", &scene.location()])));
    for line in ["generation    1 ", "generation    2 ", "generation    1  Elo attackers "] {
        assert!(watched.lines().any(|found| found.starts_with(line)), "{line}: {watched}");
    }
    let mut server = scene.process(&["watch", &scene.location(), "--web", "--listen", "127.0.0.1:0"]);
    let mut told = String::new();
    BufReader::new(server.stdout.take().expect("a pipe")).read_line(&mut told).expect("a line");
    let address = told.split_once("http://").and_then(|(_, rest)| rest.split('/').next()).expect("an address");
    let ask = |path: &str| {
        let mut stream = TcpStream::connect(address).expect("it listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("asked");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("answered");
        answer
    };
    let run = ask("/api/runs/0");
    assert!(run.contains("\"generations\":[1,2]") && run.contains("\"name\":\"first\""), "{run}");
    let games = ask("/api/runs/0/games?generation=2");
    assert!(games.contains("\"generation\":2") && games.contains("\"plies\""), "{games}");
    let players = ask("/api/setup");
    assert!(players.contains("first, generation 2, newest"), "{players}");
    kill(server);
}

#[test]
fn who_follows_a_run_rates_its_last_generation_and_ends_to_warn() {
    let scene = Scene::new(Place::Directory, 3);
    succeed(finish(scene.trainer(&["--no-ladder", "--set", "ladder.every=2", "--set", "ladder.games=2"])));
    let damaged = scene.run().join("checkpoints/000002/model.safetensors");
    let mut bytes = std::fs::read(&damaged).expect("weights");
    bytes.push(0);
    std::fs::write(&damaged, bytes).expect("written");
    let mut follower = scene.process(&["ladder", &scene.location(), "--follow", "--threads", "1"]);
    let mut errors = follower.stderr.take().expect("piped");
    let played = "ladder/000003-000000-brandubh-p4-g2-s7.json";
    wait_for(&scene.run(), played);
    std::fs::remove_file(scene.run().join(played)).expect("removed");
    wait_for(&scene.run(), played);
    // Three more looks, of which the first finds nothing to play.
    std::thread::sleep(std::time::Duration::from_secs(16));
    kill(follower);
    let mut told = String::new();
    errors.read_to_string(&mut told).expect("text");
    // Once for each of two generations, at most three times.
    assert!((1..=6).contains(&told.matches("skipped on the ladder").count()), "{told}");
}
