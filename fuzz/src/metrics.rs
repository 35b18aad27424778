//! The metrics of a generation.

use hnefi_inference::json;
use hnefi_run::GenerationMetrics;

use crate::within;

/// A line of metrics, with its checksum (first byte 1) or without: what is read is written and read as the same.
pub fn metrics(input: &[u8]) {
    let Some((&first, text)) = input.split_first() else { return };
    let text = match std::str::from_utf8(text) {
        Ok(object) if first == 1 => json::with_checksum(object).into_bytes(),
        _ => text.to_vec(),
    };
    let read = || json::from_slice::<GenerationMetrics>(&text);
    let Ok(metrics) = within((1 << 20) + 200 * text.len(), read) else { return };
    assert!(!metrics.scalars().is_empty());
    let line = metrics.to_line();
    assert_eq!(line.matches('\n').count(), 1);
    let written = json::with_checksum(&line);
    let read = json::from_slice::<GenerationMetrics>(written.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.to_line(), line);
}

pub fn seeds() -> Vec<Vec<u8>> {
    let mut full = GenerationMetrics { generation: 3, progress: 0.5, ..GenerationMetrics::default() };
    full.checkpoint = "0123456789abcdef".to_owned();
    full.stage = "second".to_owned();
    full.selfplay.ends.insert("defenders king_escaped".to_owned(), 5);
    full.selfplay.handicaps.insert("brandubh".to_owned(), hnefi_inference::Handicap { doublings: 0.5, blunders: -0.1 });
    let lines = [full.to_line(), GenerationMetrics::default().to_line(), "{\"generation\":1}".to_owned()];
    let mut seeds: Vec<Vec<u8>> = lines.iter().map(|line| [&[1], line.as_bytes()].concat()).collect();
    seeds.push([&[0], json::with_checksum("{\"generation\":1}").as_bytes()].concat());
    seeds
}
