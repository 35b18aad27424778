//! Who plays, and what they leave to chance.

use hnefi_web::WebConfig;
use serde_json::{Value, json};

use super::http::{get, post, request, serve, wait};
use super::{of, play, ply};

/// The first moves of several games against a player with chance in it, then the first moves of a second game each.
fn openings(address: std::net::SocketAddr, player: &Value, games: usize) -> [Vec<String>; 2] {
    let body = json!({ "rules": "brandubh", "attackers": player, "defenders": {} });
    let path = |state: &Value| of(state, "").trim_end_matches('/').to_owned();
    let played = |state: &Value| {
        let state = wait(address, &path(state), |state| ply(state) == 1);
        state["last"]["text"].as_str().expect("a move").to_owned()
    };
    // As pages do, which close the game before.
    let again = |state: &Value| {
        let next = post(address, &of(state, "again"), &json!({ "swap": false })).ok();
        request(address, "DELETE", &path(state), &[], None).ok();
        next
    };
    let first: Vec<Value> = (0..games).map(|_| post(address, "/api/games", &body).ok()).collect();
    let moves = first.iter().map(played).collect();
    let second: Vec<Value> = first.iter().map(again).collect();
    [moves, second.iter().map(played).collect()]
}

#[test]
fn games_on_one_server_differ_and_are_the_same_on_another_with_its_seed() {
    let random = json!({ "player": "random" });
    let thrall = json!({ "player": "model:shipped/brandubh", "strength": { "level": 1 } });
    for (player, games, least) in [(random, 40, 12), (thrall, 12, 4)] {
        let [first, second] = openings(serve(WebConfig::default()), &player, games);
        let differing = |moves: &[String]| moves.iter().collect::<std::collections::BTreeSet<_>>().len();
        assert!(differing(&first) >= least && differing(&second) >= least, "{first:?} {second:?}");
        assert_ne!(first, second, "the second game of a table is another one");
        assert_eq!([first, second], openings(serve(WebConfig::default()), &player, games));
    }
}

#[test]
fn the_first_game_is_the_one_that_was_asked_for() {
    let fen = "3a3/3a3/3d3/aadkdaa/3d3/3a3/3a3 d";
    for opponent in ["rollout:5", "alphabeta:5", "model:brandubh,playouts=4,search.c_puct=1"] {
        let config = WebConfig {
            opponent: Some(opponent.parse().expect("a player")),
            people: [true, false],
            fen: Some(fen.to_owned()),
            ..WebConfig::default()
        };
        let address = serve(config);
        let setup = get(address, "/api/setup").ok();
        assert_eq!(setup["first"]["fen"], fen);
        let named = setup["players"].as_array().expect("players").iter().find(|player| player["id"] == "opponent");
        assert_eq!(named.expect("the opponent is offered")["name"], opponent);
        let state = post(address, "/api/games", &setup["first"]).ok();
        let here = of(&state, "");
        let state = wait(address, here.trim_end_matches('/'), |state| ply(state) == 1);
        assert_eq!((&state["seats"][0]["person"], &state["seats"][1]["name"]), (&json!(true), &json!(opponent)));
        assert_eq!(state["last"]["side"], "defenders");
        play(address, &state, 5);
        wait(address, here.trim_end_matches('/'), |state| ply(state) == 3);
    }
    let first = |config: WebConfig| get(serve(config), "/api/setup").ok()["first"].clone();
    let watch = first(WebConfig { people: [false, false], ..WebConfig::default() });
    assert_eq!((&watch["rules"], &watch["attackers"]), (&json!("brandubh"), &watch["defenders"]));
    assert_eq!(watch["attackers"]["player"], "model:shipped/brandubh");
    let opponent = Some("model:copenhagen,playouts=7".parse().expect("a player"));
    let limited = first(WebConfig { opponent, rules: hnefi_engine::Preset::Copenhagen.into(), ..WebConfig::default() });
    assert_eq!(limited["attackers"], json!({ "player": "model:shipped/copenhagen", "strength": { "playouts": 7 } }));
}

#[cfg(unix)]
#[test]
fn a_program_of_others_is_an_opponent_too() {
    let folder = tempfile::tempdir().expect("a folder");
    // It knows one move, and the game that it belongs to.
    let cases = "*'startpos moves d2c2') known=1;;\ngo*) [ \"$known\" ] && echo bestmove d3c3;;";
    let opponent = Some(super::http::program(folder.path(), cases));
    let address = serve(WebConfig { opponent, people: [true, false], ..WebConfig::default() });
    let setup = get(address, "/api/setup");
    assert!(!setup.body.contains(&folder.path().display().to_string()), "{}", setup.body);
    for _ in 0..2 {
        let state = post(address, "/api/games", &get(address, "/api/setup").ok()["first"]).ok();
        assert_eq!(state["seats"][1]["name"], "engine.sh (UCI)");
        let state = post(address, &of(&state, "move"), &json!({ "move": "d2c2", "stamp": state["stamp"] })).ok();
        let here = of(&state, "");
        let state = wait(address, here.trim_end_matches('/'), |state| ply(state) == 2);
        assert_eq!(state["last"]["text"], "d3-c3");
    }
}
