//! The second table of `docs/RUNS.md`: a run in a bucket of which an object is damaged.

use crate::s3::{BUCKET, S3};
use crate::scene::{Place, Scene, finish, succeed};

const DOCUMENT: &str = include_str!("../../docs/RUNS.md");

/// The objects of the table with what training and checking make of one that is empty.
fn rows() -> Vec<(&'static str, &'static str)> {
    let (_, table) = DOCUMENT.split_once("| object in a bucket | empty |\n").expect("the table");
    let row = |line: &'static str| {
        let (object, cell) = line.trim_matches('|').split_once('|').expect("two cells");
        (object.trim().trim_matches('`'), cell.trim())
    };
    table.lines().skip(1).take_while(|line| line.starts_with('|')).map(row).collect()
}

#[test]
fn damage_in_a_bucket_does_what_the_document_says() {
    let s3 = S3::start();
    let scene = Scene::new(Place::Bucket(s3), 1);
    let train = || finish(scene.trainer(&["--no-ladder"]));
    let check = || finish(scene.process(&["check", &scene.location()]));
    succeed(train());
    succeed(check());
    let s3 = scene.s3().expect("a bucket");
    for (key, expected) in rows() {
        let path = format!("/{BUCKET}/runs/first/{key}");
        let whole = s3.replace(&path, b"").unwrap_or_else(|| panic!("{key} is not there"));
        let found = check();
        let said = String::from_utf8_lossy(&found.stdout).into_owned();
        let found = match found.status.code() {
            Some(0) => "not found",
            Some(1) if said.contains(key) => "found",
            other => panic!("{key}: {other:?} {said}"),
        };
        let ended = train();
        let said = [ended.stdout, ended.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        let word = match ended.status.code() {
            Some(0) if !said.contains("warning: ") => "goes on",
            Some(0) if said.contains("going back one generation") => "goes back",
            Some(0) => "warns",
            _ => "refuses",
        };
        assert!(word == "goes on" || said.contains(key), "{key}: {said}");
        assert_eq!(format!("{word}, {found}"), expected, "{key}: {said}");
        s3.replace(&path, &whole);
    }
    // What is too large is not fetched.
    s3.replace(&format!("/{BUCKET}/runs/first/metrics/000001.json"), &[b' '; 1 << 17]).expect("it is there");
    let found = String::from_utf8_lossy(&check().stdout).into_owned();
    assert!(
        found.contains("metrics/000001.json in ") && found.contains("131072 bytes; expected at most 65536"),
        "{found}"
    );
}
