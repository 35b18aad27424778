//! Permanent addresses: rules, start and moves in a few letters that a link can hold, such as
//! `brandubh/moves=d6c6_d5e5`.
//!
//! The parts are `RULES`, options of the rules that differ from that preset's (`ply_cap=150`), `fen=` with dots for the
//! lines between rows and an underscore for the space, `moves=`, and `ply=` where another position than the last is
//! looked at.

use hnefi_engine::{Preset, Rules};
use hnefi_inference::names;
use hnefi_record::GameRecord;
use serde_json::{Map, Value};

use crate::{Session, texts};

/// The longest address, in bytes: a game of a thousand plies has seven thousand.
const LONGEST: usize = 16 << 10;

/// The address of what a game shows: its line, and the ply on the board.
pub(crate) fn of(game: &Session) -> String {
    let size = game.rules().size();
    let moves: Vec<String> = game.all_plies().map(|ply| ply.mv.text(size)).collect();
    let mut parts = of_rules(game.rules());
    if let Some(fen) = game.game().start_fen() {
        parts.push(format!("fen={}", fen.replace('/', ".").replace(' ', "_")));
    }
    if !moves.is_empty() {
        parts.push(format!("moves={}", moves.join("_")));
    }
    if game.has_taken_back() {
        parts.push(format!("ply={}", game.game().len()));
    }
    parts.join("/")
}

/// A preset and the options that differ from it, of the preset with the fewest.
fn of_rules(rules: &Rules) -> Vec<String> {
    let options = options(rules);
    let differing = |preset: Preset| {
        let base = self::options(&preset.rules());
        let others = options.iter().filter(|&(key, value)| base.get(key) != Some(value));
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let others = others.map(|(key, value)| format!("{key}={}", text(value)));
        std::iter::once(preset.name().to_owned()).chain(others).collect::<Vec<_>>()
    };
    Preset::ALL.into_iter().map(differing).min_by_key(Vec::len).unwrap_or_default()
}

fn options(rules: &Rules) -> Map<String, Value> {
    match serde_json::to_value(rules) {
        Ok(Value::Object(options)) => options,
        _ => Map::new(),
    }
}

/// The game of an address, and the ply to look at.
///
/// # Errors
/// When it is no address, or its moves break the rules; the message names the part.
pub(crate) fn read(address: &str) -> Result<(GameRecord, usize), String> {
    if address.len() > LONGEST {
        return Err(format!("the address has {} bytes; expected at most {LONGEST}", address.len()));
    }
    let mut parts = address.split('/');
    let name = parts.next().unwrap_or_default();
    let mut rules = options(&names::ruleset(name).map_err(|error| format!("the address: {error}"))?.rules());
    let (mut fen, mut moves, mut ply) = (None, "", None);
    for part in parts.filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            Some(("fen", text)) => fen = Some(text.replace('.', "/").replace('_', " ")),
            Some(("moves", text)) => moves = text,
            Some(("ply", text)) => {
                let wrong = |_| format!("the address: ply={text}; expected a number");
                ply = Some(text.parse::<usize>().map_err(wrong)?);
            }
            Some((key, text)) if rules.contains_key(key) => {
                let value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
                rules.insert(key.to_owned(), value);
            }
            _ => {
                return Err(format!(
                    "the address: {part:?}; expected fen=, moves=, ply= or an option of the rules, such as ply_cap=150"
                ));
            }
        }
    }
    let rules: Rules =
        serde_json::from_value(Value::Object(rules)).map_err(|error| format!("the address: rules: {error}"))?;
    let words = moves.split('_').filter(|word| !word.is_empty());
    let record = texts::game(rules, fen, words).map_err(|problem| format!("the address: {problem}"))?;
    let plies = record.plies.len();
    match ply.unwrap_or(plies) {
        ply if ply > plies => Err(format!("the address: ply={ply}; the game has {plies}")),
        ply => Ok((record, ply)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address_of(address: &str) -> Result<String, String> {
        let (record, ply) = read(address)?;
        let mut game = Session::of_record(&record).map_err(|error| error.to_string())?;
        game.step_to(ply);
        Ok(of(&game))
    }

    #[test]
    fn addresses_lead_back_to_what_they_are_of() {
        for address in [
            "brandubh",
            "copenhagen/moves=d1d3_e5e2/ply=1",
            "brandubh/moves=d6c6_d5e5",
            "tablut/moves=e2f2/ply=0",
            "brandubh/fen=7.7.5a1.7.7.7.1k5_d/moves=b1a1",
            "brandubh/ply_cap=150/moves=d6c6",
        ] {
            assert_eq!(address_of(address).as_deref(), Ok(address));
        }
        // Every preset has its own name, and what people played on by is a preset and an option.
        for preset in Preset::ALL {
            assert_eq!(address_of(preset.name()).as_deref(), Ok(preset.name()));
            let played_on = format!("{}/repetition=ignore", preset.name());
            let (record, _) = read(&played_on).expect("rules");
            assert_eq!(read(&of_rules(&record.rules).join("/")).expect("rules").0.rules, record.rules);
        }
    }

    #[test]
    fn what_is_wrong_with_an_address_is_said() {
        for (address, words) in [
            ("", "unknown ruleset"),
            ("chess/moves=e2e4", "unknown ruleset \"chess\""),
            ("brandubh/moves=d6c6_d6c6", "the address: ply 2: illegal move"),
            ("brandubh/moves=d6c6/ply=2", "ply=2; the game has 1"),
            ("brandubh/ply=x", "ply=x; expected a number"),
            ("brandubh/speed=9", "\"speed=9\"; expected fen="),
            ("brandubh/ply_cap=many", "rules: invalid type"),
            ("brandubh/fen=7.7_a", "the address: "),
            (&"x".repeat(LONGEST + 1), "expected at most 16384"),
        ] {
            let problem = address_of(address).expect_err(address);
            assert!(problem.contains(words), "{address}: {problem}");
        }
    }
}
