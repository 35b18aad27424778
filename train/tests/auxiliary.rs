//! Runs with every auxiliary head and with samples by surprise: interrupted, published and begun from one another.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use burn::tensor::Device;
use hnefi_inference::Checkpoint;
use hnefi_models::{Auxiliaries, Network};
use hnefi_train::run::{RunParams, Silent};
use hnefi_train::{GenerationMetrics, TrainConfig, TrainObserver, run, run_at};

/// Two generations of a few short games, without auxiliary heads.
fn plain() -> TrainConfig {
    let text = r#"
        [run]
        device = "flex"
        threads = 2
        [network]
        blocks = 1
        channels = 16
        pool_every = 1
        head_channels = 4
        value_hidden = 8
        [selfplay]
        games_in_flight = 32
        ply_caps = { seven = 12 }
        [train]
        plies_per_generation = 150
        batch = 32
        warmup_steps = 4
        average_steps = 5
        [ladder]
        every = 0
        [budget]
        minutes = 0
        generations = 2
        playouts = [2, 4]
    "#;
    TrainConfig::parse(text, "tiny").unwrap()
}

/// The same with everything on.
fn everything() -> TrainConfig {
    let mut config = plain();
    config.train.reply_weight = 0.15;
    config.train.soft_policy_weight = 1.0;
    config.train.short_value_weight = 0.3;
    config.train.captured_weight = 0.15;
    config.train.ending_weight = 0.1;
    config.train.surprise_weight = 0.5;
    config
}

/// Stops at a given question and keeps the metrics.
#[derive(Default)]
struct Watch {
    asked: AtomicU32,
    stop_at: u32,
    generations: Mutex<Vec<GenerationMetrics>>,
}

impl TrainObserver for Watch {
    fn generation(&self, metrics: &GenerationMetrics) {
        self.generations.lock().unwrap().push(metrics.clone());
    }

    fn should_stop(&self) -> bool {
        self.stop_at > 0 && self.asked.fetch_add(1, Ordering::Relaxed) + 1 >= self.stop_at
    }
}

/// The games byte by byte and the identities of the checkpoints.
fn essence(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut essence = BTreeMap::new();
    for entry in std::fs::read_dir(dir.join("games")).unwrap() {
        let path = entry.unwrap().path();
        essence.insert(path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap());
    }
    for entry in std::fs::read_dir(dir.join("checkpoints")).unwrap() {
        let card = Checkpoint::load_card(&entry.unwrap().path()).unwrap();
        essence.insert(format!("checkpoint {}", card.generation), card.id.into_bytes());
    }
    essence
}

#[test]
fn an_interrupted_run_is_the_uninterrupted_one() {
    let (whole, cut) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let watch = Watch::default();
    run(&everything(), whole.path(), &watch).unwrap();
    for stop_at in [20, 45, 70, 0] {
        run(&everything(), cut.path(), &Watch { stop_at, ..Watch::default() }).unwrap();
    }
    assert_eq!(essence(whole.path()), essence(cut.path()));

    let metrics = watch.generations.lock().unwrap();
    assert_eq!(metrics.len(), 2);
    for generation in metrics.iter() {
        let losses = generation.training.losses.auxiliary.into_array();
        assert!(losses.iter().all(|loss| loss.is_some_and(f32::is_finite)), "{losses:?}");
    }
    let other = tempfile::tempdir().unwrap();
    run(&plain(), other.path(), &watch_nothing(&other)).unwrap();
    assert_ne!(essence(whole.path()), essence(other.path()), "the heads teach the network something");
}

/// An observer that sees no auxiliary loss.
fn watch_nothing(_run: &tempfile::TempDir) -> impl TrainObserver {
    struct Nothing;
    impl TrainObserver for Nothing {
        fn generation(&self, metrics: &GenerationMetrics) {
            assert!(metrics.training.losses.auxiliary.is_empty());
        }
    }
    Nothing
}

#[test]
fn runs_begin_from_one_another_whatever_their_heads() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let begun = |config: &TrainConfig, name: &str, from: &Path| {
        let mut config = config.clone();
        config.run.seed = 2;
        config.budget.generations = 1;
        run_at(&config, &RunParams { origin: Some(from), ..RunParams::new(&at(name)) }, &Silent).unwrap();
        Checkpoint::load_card(&at(name).join("checkpoints/000000")).unwrap().id
    };
    let first = run(&plain(), &at("plain"), &Silent).unwrap();
    assert_eq!(begun(&everything(), "more", &at("plain")), first.checkpoint_id, "what plays first is the same");
    assert_eq!(begun(&everything(), "bare", Path::new(&first.checkpoint)), first.checkpoint_id);

    let second = run(&everything(), &at("all"), &Silent).unwrap();
    assert_eq!(begun(&plain(), "less", &at("all")), second.checkpoint_id);
    assert_eq!(begun(&everything(), "same", &at("all")), second.checkpoint_id);
    let published = Checkpoint::load(Path::new(&second.checkpoint)).unwrap();
    let network = Network::load(&published.weights, &Device::flex()).unwrap();
    assert_eq!(network.auxiliaries(), Auxiliaries::NONE);
}
