//! A run's place, its processes, and what must hold of it in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hnefi_inference::Checkpoint;
use hnefi_run::store::Store;
use hnefi_run::{GameKey, Run};
use hnefi_selfplay::Upload;

use crate::s3::{BUCKET, S3};

/// Six generations of a few short games by a tiny network.
const CONFIG: &str = include_str!("../data/tiny.toml");

/// The longest that any process here may take.
const TIMEOUT: Duration = Duration::from_secs(240);

/// Where a run lies.
pub enum Place {
    /// In a directory. What arrives is copied aside as long as the scene lasts.
    Directory,
    /// In a bucket.
    Bucket(S3),
}

/// A run and its processes.
pub struct Scene {
    place: Place,
    folder: tempfile::TempDir,
    copier: Option<(Arc<AtomicBool>, std::thread::JoinHandle<()>)>,
}

impl Scene {
    /// Whether the run lies in a directory.
    pub fn is_directory(&self) -> bool {
        matches!(self.place, Place::Directory)
    }

    /// A scene without a run yet, of `generations` generations.
    pub fn new(place: Place, generations: u32) -> Scene {
        let folder = tempfile::tempdir().expect("a folder");
        let config = CONFIG.replace("generations = 3", &format!("generations = {generations}"));
        assert!(config.contains(&format!("generations = {generations}")), "the configuration says generations = 3");
        std::fs::write(folder.path().join("tiny.toml"), config).expect("written");
        let copier = matches!(place, Place::Directory).then(|| {
            let (uploads, aside) = (folder.path().join("run/uploads"), folder.path().join("aside"));
            std::fs::create_dir_all(&aside).expect("a folder");
            let stop = Arc::new(AtomicBool::new(false));
            let stopped = Arc::clone(&stop);
            let copy = move || {
                while !stopped.load(Ordering::SeqCst) {
                    for entry in std::fs::read_dir(&uploads).into_iter().flatten().flatten() {
                        let to = aside.join(entry.file_name());
                        if !entry.file_name().to_string_lossy().starts_with('.') && !to.exists() {
                            // A link keeps the bytes when the trainer removes the name.
                            let _ = std::fs::hard_link(entry.path(), to);
                        }
                    }
                    std::thread::sleep(Duration::from_millis(5));
                }
            };
            (stop, std::thread::spawn(copy))
        });
        Scene { place, folder, copier }
    }

    /// The run as the command line names it.
    pub fn location(&self) -> String {
        match self.place {
            Place::Directory => format!("file:{}", self.folder.path().join("run").display()),
            Place::Bucket(_) => format!("s3://{BUCKET}/runs/first"),
        }
    }

    /// The server, where there is one.
    pub fn s3(&self) -> Option<&S3> {
        match &self.place {
            Place::Directory => None,
            Place::Bucket(s3) => Some(s3),
        }
    }

    /// A process of the program, with its standard error kept.
    pub fn process(&self, args: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hnefi"));
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(s3) = self.s3() {
            command.envs(s3.environment());
        }
        command.spawn().expect("the binary starts")
    }

    /// A trainer, with or without self-play.
    pub fn trainer(&self, more: &[&str]) -> Child {
        let (config, location) = (self.folder.path().join("tiny.toml"), self.location());
        let config = config.display().to_string();
        let common = ["train", "--no-table", "--config", &config, "--store", &location, "--store-timeout", "1"];
        self.process(&[&common[..], more].concat())
    }

    /// A worker that uploads games every second.
    pub fn worker(&self, more: &[&str]) -> Child {
        let location = self.location();
        let common = ["worker", &location, "--wait", "--upload-seconds", "1", "--threads", "1", "--store-timeout", "1"];
        self.process(&[&common[..], more].concat())
    }

    /// A copy of the run, or the run itself.
    pub fn run(&self) -> PathBuf {
        match self.place {
            Place::Directory => self.folder.path().join("run"),
            Place::Bucket(_) => {
                let copy = self.folder.path().join("copy");
                let text = copy.display().to_string();
                let fetched = self.process(&["fetch", &self.location(), "--run", &text, "--all"]);
                succeed(finish(fetched));
                copy
            }
        }
    }

    /// The bytes of everything that ever arrived.
    pub fn arrived(&self) -> Vec<Vec<u8>> {
        match &self.place {
            Place::Directory => {
                let aside = std::fs::read_dir(self.folder.path().join("aside")).expect("a folder");
                aside.map(|entry| std::fs::read(entry.expect("an entry").path()).expect("readable")).collect()
            }
            Place::Bucket(s3) => s3.created("runs/first/uploads/"),
        }
    }

    /// Checks what must hold of every run that has ended: every game that workers uploaded is recorded or still there,
    /// no game is recorded twice; all checkpoints can be loaded; generations were published in order, each by one
    /// trainer.
    pub fn check(&self, generations: u32) {
        let run = self.run();
        let store = Store::open_to_read(&run).expect("a run");
        let reader = Run::open_directory(&run).expect("a run");
        let mut recorded = BTreeMap::new();
        for generation in reader.generations().expect("readable") {
            for game in reader.games(generation).expect("readable") {
                game.check().expect("a game that follows the rules");
                let before = recorded.insert(game.key(), generation);
                assert_eq!(before, None, "game {} of seed {} is recorded twice", game.game, game.seed);
            }
        }
        let waiting = store.list("uploads/").expect("readable");
        let waiting: Vec<Vec<u8>> = waiting.iter().map(|key| store.get(key).expect("readable")).collect();
        let identities = |files: &[Vec<u8>]| -> BTreeSet<GameKey> {
            let decoded = files.iter().map(|bytes| Upload::decode("an upload", bytes).expect("whole"));
            decoded.flat_map(|upload| upload.games).map(|game| game.key()).collect()
        };
        let (arrived, waiting) = (identities(&self.arrived()), identities(&waiting));
        for game in &arrived {
            assert!(recorded.contains_key(game) || waiting.contains(game), "game {game:?} arrived and is lost");
        }
        let trained_on = arrived.iter().any(|game| recorded.contains_key(game));
        assert!(trained_on || arrived.is_empty(), "games of workers were trained on");

        let checkpoints = store.checkpoints().expect("readable");
        assert_eq!(checkpoints.last(), Some(&generations), "{checkpoints:?}");
        for generation in checkpoints {
            let folder = run.join(format!("checkpoints/{generation:06}"));
            let checkpoint = Checkpoint::load(&folder).expect("a whole checkpoint");
            assert_eq!(checkpoint.card.generation, generation);
        }
        self.check_log(&store);
    }

    /// The trainers' log: epochs that rise by one with every claim, and generations that rise.
    fn check_log(&self, store: &Store) {
        let (mut epoch, mut published) = (0, 0);
        for key in store.list("trainer/").expect("readable") {
            let entry: serde_json::Value =
                serde_json::from_slice(&store.get(&key).expect("readable")).expect("an entry");
            let (of, publishes) = (entry["epoch"].as_u64().expect("a number"), entry["publishes"].as_u64());
            match publishes {
                None => {
                    assert_eq!(of, epoch + 1, "{key}: a claim opens an epoch");
                    epoch = of;
                }
                Some(generation) => {
                    assert_eq!(of, epoch, "{key}: only the newest trainer publishes");
                    // In a locked directory a generation that was cut off is done again.
                    let again = matches!(self.place, Place::Directory) && generation == published;
                    assert!(generation > published || again, "{key}: generation {generation} after {published}");
                    published = generation;
                }
            }
        }
        assert!(epoch > 0, "there was a trainer");
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.copier.take() {
            stop.store(true, Ordering::SeqCst);
            let _ = thread.join();
        }
    }
}

/// Waits for a process to end by itself.
pub fn finish(mut child: Child) -> Output {
    let until = Instant::now() + TIMEOUT;
    // Its pipes are read meanwhile, so that it never waits for us.
    let pipes = [child.stdout.take().map(read_all), child.stderr.take().map(read_all)];
    let status = loop {
        match child.try_wait().expect("its state") {
            Some(status) => break status,
            None if Instant::now() > until => {
                let _ = child.kill();
                break child.wait().expect("ends");
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let [stdout, stderr] = pipes.map(|pipe| pipe.map(|pipe| pipe.join().expect("read")).unwrap_or_default());
    Output { status, stdout, stderr }
}

fn read_all(mut pipe: impl std::io::Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

/// Kills a process as `kill -9` does.
pub fn kill(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// What a process said that must have succeeded.
pub fn succeed(output: Output) -> String {
    let [out, error] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert!(output.status.success(), "{error}{out}");
    out
}

/// What a process complained of that must have failed.
pub fn fail(output: Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    error
}

/// Waits until an object is there.
pub fn wait_for(dir: &Path, key: &str) {
    let until = Instant::now() + TIMEOUT;
    while !dir.join(key).exists() {
        assert!(Instant::now() < until, "{key} did not appear");
        std::thread::sleep(Duration::from_millis(20));
    }
}
