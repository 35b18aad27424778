//! The program from outside: what its commands print and write, how they end, and what they refuse.

mod check;
mod cli;
#[cfg(unix)]
mod conduct;
mod data;
mod puzzles;
mod refusals;
mod resume;
#[cfg(unix)]
mod tune;
mod uci;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A run small enough for a test: three generations, a tiny network, no time budget.
const TINY: &str = include_str!("../data/tiny.toml");

/// One game, as public archives have it.
const ARCHIVE: &str = "game,moves,captures_by_attackers,captures_by_defenders,result
3,d2-c2 d5-e5 d6-c6 e5-e6 timeout,0,0,White
";

/// Far more than anything here takes, on any machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A folder to work in; names are relative to it, so that messages are as a person sees them.
struct Workspace {
    folder: tempfile::TempDir,
}

/// What a command printed, and its exit status.
struct Ended {
    out: String,
    error: String,
    code: Option<i32>,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Ended {
        let [out, error] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert!(!error.contains("panicked"), "{error}");
        Ended { out, error, code: output.status.code() }
    }
}

impl Ended {
    /// The JSON of every line that was printed.
    fn json(&self) -> Vec<serde_json::Value> {
        self.out.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }

    /// The message of a command that failed without a result.
    fn refusal(self, line: &str) -> String {
        assert!(matches!(self.code, Some(1 | 2)), "{line}: {:?}: {}{}", self.code, self.out, self.error);
        assert_eq!(self.out, "", "{line} gave a result");
        assert!(self.error.contains("error: "), "{line}: {}", self.error);
        self.error
    }
}

impl Workspace {
    /// With `tiny.toml` alone.
    fn new() -> Workspace {
        let workspace = Workspace { folder: tempfile::tempdir().expect("a folder") };
        workspace.write("tiny.toml", TINY);
        workspace
    }

    /// With a game in `games.csv` and `games.hgames`, too.
    fn with_a_game() -> Workspace {
        let workspace = Workspace::new();
        workspace.write("games.csv", ARCHIVE);
        workspace.succeeds("import games.csv --rules brandubh --out games.hgames");
        workspace
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, what: impl AsRef<[u8]>) {
        fs::write(self.at(name), what).expect("written");
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Makes a run directory with a checkpoint.
    fn run_directory(&self, name: &str) {
        let to = self.at(name).join("checkpoints/000007");
        fs::create_dir_all(&to).expect("a folder");
        fs::create_dir_all(self.at(name).join("metrics")).expect("a folder");
        for file in ["card.json", "model.safetensors"] {
            let from = concat!(env!("CARGO_MANIFEST_DIR"), "/models/inference/pretrained/brandubh/");
            fs::copy(format!("{from}{file}"), to.join(file)).expect("copied");
        }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hnefi"));
        command.args(shlex::split(line).expect("words")).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Nothing of the machine's own settings.
        for variable in std::env::vars().map(|(name, _)| name) {
            if ["AWS_", "GOOGLE_", "AZURE_", "GCE_"].iter().any(|prefix| variable.starts_with(prefix)) {
                command.env_remove(variable);
            }
        }
        // No cloud provider's service listens at this address, so the answer comes at once on every machine.
        command.env("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9");
        command.envs(["GCE_METADATA_HOST", "GCE_METADATA_ROOT", "GCE_METADATA_IP"].map(|name| (name, "127.0.0.1:9")));
        command
    }

    fn run(&self, line: &str) -> Ended {
        self.command(line).output().expect("the program starts").into()
    }

    /// Runs what must succeed.
    fn succeeds(&self, line: &str) -> Ended {
        let ended = self.run(line);
        assert_eq!(ended.code, Some(0), "{line}: {}{}", ended.out, ended.error);
        ended
    }

    /// Runs what must succeed with a file as its standard input.
    fn succeeds_with(&self, line: &str, input: &str) -> Ended {
        self.write(".input", input);
        let input = fs::File::open(self.at(".input")).expect("just written");
        let ended = Ended::from(self.command(line).stdin(input).output().expect("the program starts"));
        assert_eq!(ended.code, Some(0), "{line}: {}{}", ended.out, ended.error);
        ended
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Runs what must fail, with no result, and nothing new in the folder; returns the message.
    fn refused(&self, line: &str) -> String {
        let before = self.names();
        let message = self.run(line).refusal(line);
        assert_eq!(self.names(), before, "{line} left something behind: {message}");
        message
    }
}

/// Waits until something is so; `what` is said of it where it never is.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
