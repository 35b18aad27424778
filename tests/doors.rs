//! One game through every door to a network: self-play, matches, the boards, the protocol and `judge` must show it the
//! same.
//!
//! The network of this test reads nothing but the global vector, and what it says of a position depends on every entry
//! but the clocks of the rules. Self-play's games have a cap of 150 plies here, matches and records one of 400, boards and
//! the protocol none. (`train/tests/samples.rs` does the same where features themselves come out.)

#[path = "../app/web/tests/http/mod.rs"]
mod http;

use std::io::{BufReader, PipeReader, Read, pipe};
use std::path::Path;

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Device, Tensor, TensorData};
use hnefi_arena::players::{ModelCache, PlayerSpec};
use hnefi_arena::{MatchObserver, MatchParams, MatchResult, play_match};
use hnefi_data::{JudgeParams, judge};
use hnefi_engine::{Position, Preset, Rules};
use hnefi_inference::encoding::global;
use hnefi_inference::{Card, Devices, Features, GLOBALS, Handicap, NetworkConfig, Precision, Wdl};
use hnefi_models::Network;
use hnefi_play::uci::{self, UciParams};
use hnefi_play::{PlaySetup, plain};
use hnefi_record::Seat;
use hnefi_run::GameRecord;
use hnefi_search::SearchConfig;
use hnefi_selfplay::{Fleet, Quota, SelfPlayConfig, Uncontrolled};
use hnefi_web::WebConfig;
use serde_json::{Value, json};

const SHAPE: NetworkConfig =
    NetworkConfig { blocks: 1, channels: 16, pool_every: 0, head_channels: 8, value_hidden: 8 };

/// Playouts of every search here: its leaf lies a ply ahead.
const PLAYOUTS: u32 = 1;

/// Plies at which doors are looked at that answer one position at a time.
const LOOKED_AT: [usize; 7] = [0, 9, 18, 27, 36, 45, 54];

/// What the probe's sum adds to.
#[derive(Clone, Copy)]
enum Says {
    Win = 0,
    Draw = 1,
}

/// Makes a network of zeros but for a sum over the global vector that becomes one logit of the value.
struct Probe {
    path: Vec<String>,
    says: Says,
}

impl Probe {
    fn network(says: Says) -> Network {
        Network::fresh(&SHAPE, 0, &Device::flex()).map(&mut Probe { path: Vec::new(), says })
    }

    /// How much an entry of the global vector counts. Not the clocks of the rules and the side to move, in which the
    /// positions of a search differ.
    fn weight(entry: usize) -> f32 {
        match entry {
            global::ATTACKERS_TO_MOVE | global::NO_CAPTURE_CLOCK | global::REPETITION_CLOCK => 0.0,
            other => 0.02 * (1 + other % 7) as f32,
        }
    }
}

impl ModuleMapper for Probe {
    fn enter_module(&mut self, name: &str, _container: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.path.pop();
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        // Both roles say the same.
        let (path, says) = (self.path.join(".").replace("roles.1.", "roles.0."), self.says as usize);
        param.map(|tensor| {
            let shape = tensor.shape();
            let mut values = vec![0.0; shape.num_elements()];
            match path.as_str() {
                "globals.weight" => {
                    (0..GLOBALS).for_each(|entry| values[entry * SHAPE.channels] = Probe::weight(entry))
                }
                "roles.0.value_conv.weight" | "roles.0.value_hidden.weight" => values[0] = 1.0,
                "roles.0.value_out.weight" => values[says] = 1.0,
                "roles.0.value_out.bias" => values[says] = -2.0,
                path if path.ends_with("running_var") => values.fill(1.0),
                _ => {}
            }
            Tensor::from_data(TensorData::new(values, shape), &tensor.device())
        })
    }
}

/// What the network says of a position.
fn expected(network: &Network, position: &Position) -> Wdl {
    let features = Features::of(position, Handicap::NONE);
    let wdl = network.raw_outputs(&[features], position.size()).wdl;
    Wdl::from_logits([wdl[0], wdl[1], wdl[2]])
}

/// What it says of the positions of a game without a ply cap, a few plies more than there are.
fn draws(network: &Network, game: &GameRecord) -> Vec<f32> {
    let mut position = Position::start(&Rules { ply_cap: 0, ..game.rules });
    let mut draws = vec![expected(network, &position).draw];
    for ply in &game.plies {
        position.play(ply.mv).expect("legal");
        draws.push(expected(network, &position).draw);
    }
    draws
}

/// Checks draw shares of searches at plies of any game: the probe's is higher the more plies have been played. Certain
/// results say nothing about the network.
fn check(door: &str, draws: &[f32], found: &[(usize, f32)]) {
    let uncertain = || found.iter().filter(|(_, draw)| (0.001..0.999).contains(draw));
    for &(ply, found) in uncertain() {
        let (low, high) = (draws[ply], draws[(ply + PLAYOUTS as usize).min(draws.len() - 1)]);
        assert!(low - 0.015 < found && found < high + 0.015, "{door}, ply {ply}: {found} is not in {low}..{high}");
    }
    assert!(uncertain().count() >= 3, "{door}: {found:?}");
}

/// A game of self-play by this network, with at least sixty plies.
fn played(network: &Network) -> GameRecord {
    let config = SelfPlayConfig {
        games_in_flight: 32,
        opening_mean_plies: 0.0,
        ..SelfPlayConfig::default().without_handicaps()
    };
    let make = Devices::cpu().evaluators(&network.weights().unwrap(), Precision::F32.into()).expect("the CPU");
    let mut fleet = Fleet::new(&config, &SearchConfig::default(), 1).with_threads(1);
    let generation = fleet.run(Quota::Games(24), 2, "probe", &*make, &mut Uncontrolled).expect("games");
    let long = |game: &GameRecord| game.plies.len() >= 60;
    let game = generation.games.into_iter().find(long).expect("one game of 24 lasts");
    assert_eq!(game.rules.ply_cap, 150);
    game
}

/// The moves before `ply`, as texts.
fn moves(game: &GameRecord, ply: usize) -> Vec<String> {
    game.plies[..ply].iter().map(|ply| ply.mv.text(game.rules.size())).collect()
}

/// Collects the games of a match.
#[derive(Default)]
struct Games(Vec<GameRecord>);

impl MatchObserver for Games {
    fn game_finished(&mut self, game: &GameRecord, _so_far: &MatchResult) {
        self.0.push(game.clone());
    }
}

fn matches(folder: &Path, draws: &[f32]) {
    let player: PlayerSpec =
        format!("model:{},playouts={PLAYOUTS},precision=f32", folder.display()).parse().expect("a player");
    let mut models = ModelCache::new(Devices::cpu(), SearchConfig::default());
    let params = MatchParams { ply_cap: 400, ..MatchParams::new(Preset::Brandubh.rules(), 2, 1) };
    let mut games = Games::default();
    play_match(&player, &player, &params, &mut models, &mut games).expect("a match");
    for game in &games.0 {
        let plies = game.plies.iter().enumerate().take(draws.len()).filter(|(_, ply)| ply.playouts > 0);
        check("match", draws, &plies.map(|(index, ply)| (index, ply.searched.draw)).collect::<Vec<_>>());
    }
}

fn protocol(folder: &Path, game: &GameRecord, draws: &[f32]) {
    let answer = |ply| {
        let text = format!("position startpos moves {}\ngo nodes {PLAYOUTS}\n", moves(game, ply).join(" "));
        let model = Some(folder.display().to_string());
        let params = UciParams { rules: Some(Preset::Brandubh.into()), model, ..UciParams::default() };
        let (mut reader, writer): (PipeReader, _) = pipe().expect("a pipe");
        uci::run(&params, BufReader::new(std::io::Cursor::new(text)), writer).expect("it ends with its input");
        let mut said = String::new();
        reader.read_to_string(&mut said).expect("text");
        let wdl = said.lines().rev().find_map(|line| Some(line.split_once(" wdl ")?.1)).expect("chances");
        let draw: f32 = wdl.split_whitespace().nth(1).expect("three numbers").parse().expect("a number");
        (ply, draw / 1000.0)
    };
    check("protocol", draws, &LOOKED_AT.map(answer));
}

/// The board as lines, which asks the same players as the one drawn in the terminal.
fn terminal(folder: &Path, game: &GameRecord, draws: &[f32]) {
    let mut models = ModelCache::new(Devices::cpu(), SearchConfig::default());
    let adviser: PlayerSpec =
        format!("model:{},playouts={PLAYOUTS},precision=f32", folder.display()).parse().expect("a player");
    let answer = |ply| {
        let seats = [Seat::Person, Seat::Person];
        let adviser = Some(adviser.build(&mut models).expect("a player"));
        let setup = PlaySetup { adviser, ..PlaySetup::new(Preset::Brandubh.rules(), seats) };
        let (input, mut output) = (format!("{}\nhint\n", moves(game, ply).join("\n")), Vec::new());
        plain::run(setup, input.as_bytes(), &mut output).expect("a conversation");
        let said = String::from_utf8(output).expect("text");
        // No word of draws where there is no chance of one.
        let share = said.split(", draw ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or("0");
        (ply, share.parse::<f32>().expect("a number") / 100.0)
    };
    check("terminal", draws, &LOOKED_AT.map(answer));
}

fn web(folder: &Path, game: &GameRecord, draws: &[f32]) {
    let address = http::serve(WebConfig { folders: vec![folder.to_owned()], ..WebConfig::default() });
    let text = json!({ "text": { "text": moves(game, 60).join(" "), "rules": "brandubh" } });
    let mut state = http::post(address, "/api/games/open", &text).ok();
    let of = |state: &Value, what: &str| format!("/api/games/{}/{what}", state["id"].as_str().expect("an id"));
    let answer = |ply| {
        if ply > 0 {
            state = http::post(address, &of(&state, "go"), &json!({ "ply": ply })).ok();
        }
        let wish = json!({ "on": true, "player": "model:given/0" });
        state = http::post(address, &of(&state, "analysis"), &wish).ok();
        // The beginning of a stream may be a report on the position before, or half of one.
        let marker = format!("\"stamp\":{},\"kind\":\"analysis\"", state["stamp"]);
        let report = (0..20).find_map(|_| {
            let events = http::stream(address, &of(&state, "events"), &[&marker]);
            let line = events.lines().find(|line| line.contains(&marker))?.strip_prefix("data: ")?.to_owned();
            serde_json::from_str::<Value>(&line).ok()
        });
        let report = report.expect("a report on this position");
        (ply, report["raw"]["draw"].as_f64().expect("a number") as f32)
    };
    check("web", draws, &LOOKED_AT.map(answer));
}

#[test]
fn every_door_shows_a_network_the_same() {
    let network = Probe::network(Says::Draw);
    let card = Card { rulesets: vec!["brandubh".to_owned()], ..Card::new(SHAPE) };
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("probe");
    network.checkpoint(card).and_then(|checkpoint| checkpoint.save(&folder)).expect("saved");

    let game = played(&network);
    let draws = draws(&network, &game);
    assert!(draws.iter().all(|draw| *draw == draws[0] && *draw < 0.2), "no clock");
    for (ply, played) in game.plies.iter().enumerate() {
        assert!((played.raw.draw - draws[ply]).abs() < 1e-4 || played.playouts == 0, "self-play, ply {ply}");
    }
    matches(&folder, &draws);
    protocol(&folder, &game, &draws);
    terminal(&folder, &game, &draws);
    web(&folder, &game, &draws);
    judged(&game);
}

/// `judge` tells expected scores, so here the probe speaks of wins.
fn judged(game: &GameRecord) {
    let network = Probe::network(Says::Win);
    let make = Devices::cpu().evaluators(&network.weights().unwrap(), Precision::F32.into()).expect("the CPU");
    let mut replay = game.replay().expect("a start");
    let mut scores = Vec::new();
    while replay.ply().is_some() {
        let mut uncapped = Position::start(&Rules { ply_cap: 0, ..game.rules });
        game.plies[..scores.len()].iter().for_each(|ply| _ = uncapped.advance(ply.mv));
        scores.push(f64::from(expected(&network, &uncapped).score()));
        replay.step().expect("legal");
    }
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    for ply_cap in [0, 150, 400] {
        let game = GameRecord { rules: Rules { ply_cap, ..game.rules }, ..game.clone() };
        let params = JudgeParams { playouts: None, search: SearchConfig::default(), rules: None, threads: 1 };
        let judgement = judge(std::slice::from_ref(&game), make.as_ref(), &params, &mut |_| true).expect("judged");
        let found = judgement.both.value.expect("a finished game").predicted;
        assert!((found - mean).abs() < 1e-4, "judge with a cap of {ply_cap}: {found}, expected {mean}");
    }
}
