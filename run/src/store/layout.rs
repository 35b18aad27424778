//! The keys of a run's objects.
//!
//! ```text
//! run.json                       resolved configuration, seed and version, written before work begins
//! games/000001.hgames            finished games of generation 1; 000000 has games taken over from another run
//! inflight/000001-0003.hfleet    third snapshot of the fleet taken in generation 1
//! checkpoints/000001/            the checkpoint of generation 1; 000000 is the run's first
//! state/000001/                  optimiser, raw weights and counters after generation 1
//! metrics/000001.json            metrics of generation 1
//! ladder/000010-000000-....json  a match of generation 10 on the ladder
//! tensorboard/                   event files
//! trainer/000001.json            the trainers' log: claims and announced generations
//! jobs/000001.json               the job of the workers, with the number of the log entry before it
//! uploads/WORKER-000001.hupload  a worker's upload, until a generation takes its games in
//! ```

use hnefi_inference::{CARD_FILE, LARGEST_CARD, LARGEST_WEIGHTS, WEIGHTS_FILE};

/// `games/000001.hgames`: the finished games of a generation, counted from 1; 0 for games taken over.
pub fn games_key(generation: u32) -> String {
    format!("games/{generation:06}.hgames")
}

/// The generation in a key made by [`games_key`]; `None` for other keys.
pub fn games_number(key: &str) -> Option<u32> {
    numbered(key, "games/", ".hgames")
}

/// A snapshot of the fleet, in the order of taking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FleetSave {
    /// The generation that was being played, counted from 1.
    pub generation: u32,
    /// Number of the snapshot in it; 0 for what the generation began with.
    pub save: u32,
}

impl FleetSave {
    /// `inflight/000001-0003.hfleet`.
    pub fn key(self) -> String {
        format!("inflight/{:06}-{:04}.hfleet", self.generation, self.save)
    }

    /// Reads what [`key`](Self::key) made; `None` for other keys.
    pub fn from_key(key: &str) -> Option<FleetSave> {
        let (generation, save) = key.strip_prefix("inflight/")?.strip_suffix(".hfleet")?.split_once('-')?;
        Some(FleetSave { generation: number(generation, 6)?, save: number(save, 4)? })
    }
}

/// `checkpoints/000001`: the folder of a checkpoint; generation 0 is the checkpoint that the run began with.
pub fn checkpoint_key(generation: u32) -> String {
    format!("checkpoints/{generation:06}")
}

/// The generation in a key under [`checkpoint_key`]; `None` for other keys.
pub fn checkpoint_number(key: &str) -> Option<u32> {
    number(key.strip_prefix("checkpoints/")?.split('/').next()?, 6)
}

/// `state/000001`: the folder of a training state.
pub fn state_key(generation: u32) -> String {
    format!("state/{generation:06}")
}

/// `metrics/000001.json`: the metrics of a generation.
pub fn metrics_key(generation: u32) -> String {
    format!("metrics/{generation:06}.json")
}

/// The generation in a key made by [`metrics_key`]; `None` for other keys.
pub fn metrics_number(key: &str) -> Option<u32> {
    numbered(key, "metrics/", ".json")
}

/// `ladder/NAME.json`: a match of a checkpoint.
pub fn ladder_key(name: &str) -> String {
    format!("ladder/{name}.json")
}

/// `tensorboard/events.out.tfevents.000001.hnefi`: a generation's events for TensorBoard.
pub fn tensorboard_key(generation: u32) -> String {
    format!("tensorboard/events.out.tfevents.{generation:06}.hnefi")
}

/// `tensorboard/events.out.tfevents.000001.ladder.hnefi`: a generation's ratings for TensorBoard.
pub fn ladder_events_key(generation: u32) -> String {
    format!("tensorboard/events.out.tfevents.{generation:06}.ladder.hnefi")
}

/// `trainer/000001.json`: an entry of the trainers' log, counted from 1.
pub fn trainer_key(entry: u32) -> String {
    format!("trainer/{entry:06}.json")
}

/// The number in a key made by [`trainer_key`]; `None` for other keys.
pub fn trainer_number(key: &str) -> Option<u32> {
    numbered(key, "trainer/", ".json")
}

/// `jobs/000001.json`: the job of the workers, with the number of the entry of the trainers' log before it.
pub fn job_key(entry: u32) -> String {
    format!("jobs/{entry:06}.json")
}

/// The number in a key made by [`job_key`]; `None` for other keys.
pub fn job_number(key: &str) -> Option<u32> {
    numbered(key, "jobs/", ".json")
}

/// `uploads/00000000000000ff-000001.hupload`: upload number `number` of a worker, counted from 1.
pub fn upload_key(worker: u64, number: u32) -> String {
    format!("uploads/{worker:016x}-{number:06}.hupload")
}

/// The most bytes of a file of games, about 30 million plies.
pub(super) const LARGEST_GAMES: u64 = 1 << 30;

/// The most bytes of the state of a trainer of one's own.
pub const LARGEST_TRAINER_STATE: u64 = 4 * LARGEST_WEIGHTS;

/// The most bytes that an object may have: far more than any run needs, and little enough to read it whole. `None` for
/// names that no object of a run has.
pub fn largest(key: &str) -> Option<u64> {
    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    let (folder, name) = key.split_once('/').unwrap_or(("", key));
    let numbered = |name: &str| number(name, 6).is_some();
    let is = |ours: bool, most: u64| ours.then_some(most);
    match folder {
        "" => is(name == "run.json", MIB),
        "games" => is(games_number(key).is_some(), LARGEST_GAMES),
        "checkpoints" | "state" => {
            let (generation, part) = name.split_once('/')?;
            let most = match (folder, part) {
                ("checkpoints", CARD_FILE) => LARGEST_CARD,
                ("checkpoints", WEIGHTS_FILE) => LARGEST_WEIGHTS,
                // A number for every generation.
                ("state", "counters.json") => 16 * MIB,
                // An optimiser may keep two moments of every weight.
                ("state", "weights.bpk" | "average.bpk" | "optimiser.bpk") => 2 * LARGEST_WEIGHTS + MIB,
                ("state", "trainer.state") => LARGEST_TRAINER_STATE,
                _ => return None,
            };
            is(numbered(generation), most)
        }
        "inflight" => {
            let fleet = name.strip_suffix(".json").map_or(key.to_owned(), |clock| format!("{folder}/{clock}.hfleet"));
            let most = if fleet == key { LARGEST_GAMES } else { 64 * KIB };
            is(FleetSave::from_key(&fleet).is_some(), most)
        }
        "metrics" => is(metrics_number(key).is_some(), 64 * KIB),
        "ladder" => is(!name.contains('/') && name.ends_with(".json"), MIB),
        "trainer" => is(trainer_number(key).is_some(), 64 * KIB),
        "jobs" => is(job_number(key).is_some(), MIB),
        "uploads" => {
            let (worker, number) = name.strip_suffix(".hupload")?.split_once('-')?;
            let is_worker = worker.len() == 16 && worker.bytes().all(|byte| byte.is_ascii_hexdigit());
            is(is_worker && numbered(number), 256 * MIB)
        }
        "tensorboard" => {
            let generation = name.strip_prefix("events.out.tfevents.")?.strip_suffix(".hnefi")?;
            is(numbered(generation.strip_suffix(".ladder").unwrap_or(generation)), 16 * MIB)
        }
        _ => None,
    }
}

fn numbered(key: &str, folder: &str, ending: &str) -> Option<u32> {
    number(key.strip_prefix(folder)?.strip_suffix(ending)?, 6)
}

/// Parses a number padded with zeros to `width` digits, in the only way of writing it, with at most nine digits.
fn number(text: &str, width: usize) -> Option<u32> {
    let number: u32 = text.parse().ok()?;
    (text.len() < 10 && format!("{number:0width$}") == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_numbers_agree() {
        for generation in [0, 1, 999_999, 1_000_000] {
            assert_eq!(games_number(&games_key(generation)), Some(generation));
            let save = FleetSave { generation, save: 12_345 };
            assert_eq!(FleetSave::from_key(&save.key()), Some(save));
        }
        for key in [
            "games/1.hgames",
            "games/+00001.hgames",
            "games/000001.hgames.bak",
            "inflight/000001-0001.hfleet",
            "games/4294967295.hgames",
        ] {
            assert_eq!(games_number(key), None, "{key}");
        }
        for number in [1, 999_999, 1_000_000] {
            assert_eq!(trainer_number(&trainer_key(number)), Some(number));
            assert_eq!(job_number(&job_key(number)), Some(number));
        }
        assert_eq!(upload_key(255, 7), "uploads/00000000000000ff-000007.hupload");
        assert_eq!(games_key(7), "games/000007.hgames");
        assert_eq!(FleetSave { generation: 1, save: 3 }.key(), "inflight/000001-0003.hfleet");
        assert_eq!(FleetSave::from_key("inflight/000001-1.hfleet"), None);
        assert_eq!(checkpoint_number(&format!("{}/card.json", checkpoint_key(12))), Some(12));
        assert_eq!(checkpoint_number("checkpoints/12/card.json"), None);
    }

    #[test]
    fn objects_have_a_largest_size_and_other_names_none() {
        for key in [
            "run.json".to_owned(),
            games_key(1),
            FleetSave { generation: 2, save: 0 }.key(),
            "inflight/000002-0000.json".to_owned(),
            checkpoint_key(1) + "/card.json",
            checkpoint_key(1) + "/model.safetensors",
            state_key(1) + "/optimiser.bpk",
            state_key(1) + "/trainer.state",
            state_key(1) + "/counters.json",
            metrics_key(1),
            ladder_key("000010-000000-brandubh-p2-g2-s1"),
            tensorboard_key(1),
            ladder_events_key(1),
            trainer_key(1),
            job_key(1_000_000),
            upload_key(u64::MAX, 1),
        ] {
            assert!(largest(&key).is_some(), "{key}");
        }
        for key in [
            "notes.txt",
            "games/1.hgames",
            "games/000001.hgames/x",
            "checkpoints/000001",
            "checkpoints/000001/x/card.json",
            "checkpoints/000001/notes",
            "state/1/counters.json",
            "inflight/000002-0000",
            "ladder/a/b.json",
            "uploads/x-000001.hupload",
            "tensorboard/events.out.tfevents.1.hnefi",
            ".ssh/id",
        ] {
            assert_eq!(largest(key), None, "{key}");
        }
    }
}
