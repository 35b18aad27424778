//! Where things lie in a run directory.
//!
//! ```text
//! run.json                       resolved configuration, seed and version, written before work begins
//! games/000001.hgames            finished games of generation 1
//! inflight/000001-0003.hfleet    third snapshot of the fleet taken in generation 1
//! checkpoints/000001/            what generation 1 trained; 000000 is what the run began with
//! state/000001/                  optimiser, raw weights and counters after generation 1
//! metrics/000001.json            what generation 1 measured
//! ladder/000010-000000-....json  a match of generation 10 on the ladder
//! tensorboard/                   event files
//! ```

/// `games/000001.hgames`: the finished games of a generation, counted from 1.
pub fn games_key(generation: u32) -> String {
    format!("games/{generation:06}.hgames")
}

/// The generation in a key made by [`games_key`]; `None` for other keys.
pub fn games_number(key: &str) -> Option<u32> {
    number(key.strip_prefix("games/")?.strip_suffix(".hgames")?, 6)
}

/// `inflight/000001-0003.hfleet`: the `save`-th snapshot of the fleet in a generation, both counted from 1.
pub fn inflight_key(generation: u32, save: u32) -> String {
    format!("inflight/{generation:06}-{save:04}.hfleet")
}

/// Generation and save in a key made by [`inflight_key`]; `None` for other keys.
pub fn inflight_number(key: &str) -> Option<(u32, u32)> {
    let (generation, save) = key.strip_prefix("inflight/")?.strip_suffix(".hfleet")?.split_once('-')?;
    Some((number(generation, 6)?, number(save, 4)?))
}

/// `checkpoints/000001`: the folder of a checkpoint; 0 is what the run began with.
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

/// `metrics/000001.json`: what a generation measured.
pub fn metrics_key(generation: u32) -> String {
    format!("metrics/{generation:06}.json")
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

/// A number of at least `width` digits, so that no two texts give the same one.
fn number(text: &str, width: usize) -> Option<u32> {
    let number: u32 = text.parse().ok()?;
    (format!("{number:0width$}") == text).then_some(number)
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
        for key in ["games/1.hgames", "games/+00001.hgames", "games/000001.hgames.bak", "inflight/000001-0001.hfleet"] {
            assert_eq!(games_number(key), None, "{key}");
        }
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
