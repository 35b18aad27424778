//! A ladder adds matches of other games, and knows a network from the next one of its name.

use std::path::Path;

use hnefi_arena::ladder::{LadderParams, Opponent, Standings, matches_left, play_missing_matches, read_matches};
use hnefi_arena::players::ModelCache;
use hnefi_arena::{MatchObserver, MatchResult};
use hnefi_engine::Preset;
use hnefi_inference::{Card, Checkpoint, Devices, NetworkConfig, Weights};
use hnefi_run::GameRecord;
use hnefi_run::store::{Store, checkpoint_key};
use hnefi_search::SearchConfig;

fn checkpoint(seed: u64) -> Checkpoint {
    let network = NetworkConfig { blocks: 1, channels: 8, pool_every: 1, head_channels: 4, value_hidden: 8 };
    Checkpoint::new(Card::new(network), Weights::fresh(&network, seed)).expect("bytes")
}

fn run(dir: &Path) -> Store {
    let store = Store::open_or_create(dir).expect("a store");
    let parts = checkpoint(1).parts().expect("bytes");
    let parts = parts.each_ref().map(|(name, bytes)| (*name, bytes.as_slice()));
    store.create_folder(&checkpoint_key(0), &parts).expect("a checkpoint");
    store
}

fn params(games: u32, opponent: &str) -> LadderParams {
    let mut models = ModelCache::new(Devices::cpu(), SearchConfig::default());
    let opponents = Opponent::all(&[opponent.parse().expect("a player")], &mut models).expect("it is there");
    let rulesets = vec![Preset::Brandubh.into()];
    LadderParams { opponents, previous: 0, rulesets, games, playouts: 2, seed: 1, threads: 1 }
}

/// The moves of the games that were played.
#[derive(Default)]
struct Moves(Vec<String>);

impl MatchObserver for Moves {
    fn game_finished(&mut self, game: &GameRecord, _: &MatchResult) {
        self.0.push(format!("{:?}", game.plies.iter().map(|ply| ply.mv).collect::<Vec<_>>()));
    }
}

fn play(store: &Store, params: &LadderParams) -> Vec<String> {
    let mut models = ModelCache::new(Devices::cpu(), SearchConfig::default());
    let mut moves = Moves::default();
    assert!(play_missing_matches(store, 0, &[0], params, &mut models, &mut moves).expect("played"));
    moves.0
}

#[test]
fn a_longer_match_repeats_no_game_of_a_shorter_one() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = run(dir.path());
    let mut games: Vec<String> =
        [2, 4, 6].into_iter().flat_map(|games| play(&store, &params(games, "random"))).collect();
    assert!(play(&store, &params(4, "random")).is_empty(), "no match is played twice");
    games.sort_unstable();
    games.dedup();
    assert_eq!(games.len(), 12);
}

#[test]
fn the_next_network_of_a_name_is_another_opponent() {
    let dir = tempfile::tempdir().expect("a folder");
    let (store, opponent) = (run(&dir.path().join("run")), dir.path().join("opponent"));
    let spec = format!("model:{},playouts=2", opponent.display());
    for (seed, players) in [(2, 2), (3, 3)] {
        let _ = std::fs::remove_dir_all(&opponent);
        checkpoint(seed).save(&opponent).expect("written");
        let params = params(2, &spec);
        assert_eq!(matches_left(&store, 0, &[0], &params).expect("readable"), 1);
        assert_eq!(play(&store, &params).len(), 2);
        let (matches, damaged) = read_matches(&store).expect("readable");
        let standings = Standings::fit(&matches);
        assert_eq!((standings.contestants.len(), damaged.len()), (players, 0));
        let names: Vec<String> = standings.contestants.iter().map(|one| one.contestant.to_string()).collect();
        assert!(names.iter().any(|name| name.contains(&checkpoint(seed).card.id[..8])), "{names:?}");
    }
}
