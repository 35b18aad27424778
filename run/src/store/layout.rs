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
//! terms/000001.json              the job of the workers, with the number of the log entry before it
//! arrivals/WORKER-000001.harrival  a worker's upload, until a generation takes its games in
//! ```

/// `games/000001.hgames`: the finished games of a generation, counted from 1; 0 for games taken over.
pub fn games_key(generation: u32) -> String {
    format!("games/{generation:06}.hgames")
}

/// The generation in a key made by [`games_key`]; `None` for other keys.
pub fn games_number(key: &str) -> Option<u32> {
    number(key.strip_prefix("games/")?.strip_suffix(".hgames")?, 6)
}

/// `inflight/000001-0003.hfleet`: snapshot number `save` of the fleet in a generation, both counted from 1.
pub fn inflight_key(generation: u32, save: u32) -> String {
    format!("inflight/{generation:06}-{save:04}.hfleet")
}

/// Generation and save in a key made by [`inflight_key`]; `None` for other keys.
pub fn inflight_number(key: &str) -> Option<(u32, u32)> {
    let (generation, save) = key.strip_prefix("inflight/")?.strip_suffix(".hfleet")?.split_once('-')?;
    Some((number(generation, 6)?, number(save, 4)?))
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
    number(key.strip_prefix("metrics/")?.strip_suffix(".json")?, 6)
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
    number(key.strip_prefix("trainer/")?.strip_suffix(".json")?, 6)
}

/// `terms/000001.json`: the job of the workers. (The prefix is older than the word.)
pub fn job_key(entry: u32) -> String {
    format!("terms/{entry:06}.json")
}

/// The number in a key made by [`job_key`]; `None` for other keys.
pub fn job_number(key: &str) -> Option<u32> {
    number(key.strip_prefix("terms/")?.strip_suffix(".json")?, 6)
}

/// `arrivals/00000000000000ff-000001.harrival`: upload number `number` of a worker, counted from 1. (The prefix is
/// older than the word.)
pub fn upload_key(worker: u64, number: u32) -> String {
    format!("arrivals/{worker:016x}-{number:06}.harrival")
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
            assert_eq!(inflight_number(&inflight_key(generation, 12_345)), Some((generation, 12_345)));
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
        assert_eq!(upload_key(255, 7), "arrivals/00000000000000ff-000007.harrival");
        assert_eq!(inflight_number("inflight/000001-1.hfleet"), None);
        assert_eq!(checkpoint_number(&format!("{}/card.json", checkpoint_key(12))), Some(12));
        assert_eq!(checkpoint_number("checkpoints/12/card.json"), None);
    }

    #[test]
    fn names_sort_by_number() {
        assert_eq!(games_key(7), "games/000007.hgames");
        assert_eq!(inflight_key(1, 3), "inflight/000001-0003.hfleet");
        assert!(games_key(9) < games_key(10) && inflight_key(1, 9) < inflight_key(1, 10));
    }
}
