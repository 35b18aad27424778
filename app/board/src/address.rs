//! Permanent addresses: rules, start and moves in a few letters that a link can hold, such as
//! `brandubh/moves=d6c6_d5e5`.
//!
//! The parts are `RULES`, options of the rules that differ from these (`ply_cap=150`), `fen=`, `moves=`, and `ply=`
//! where another position than the last is looked at. `RULES` is a ruleset's name or a rules record. In a record and a
//! FEN, dots are the lines between rows, and underscores spaces.

use hnefi_engine::{NamedRules, Rules, RulesRecord};
use hnefi_inference::names;
use hnefi_record::{GameRecord, Session};
use serde_json::{Map, Value};

use crate::texts::{self, TextProblem};

/// The longest address, in bytes: a game of a thousand plies has seven thousand.
const LONGEST: usize = 16 << 10;

/// Why a text is the address of no game.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AddressError {
    /// It is too long.
    #[error("the address has {0} bytes; expected at most {LONGEST}")]
    Long(usize),
    /// A part of it, or what it is of, cannot be read; in words.
    #[error("the address: {0}")]
    Part(String),
    /// Its rules, start or moves cannot be played.
    #[error("the address: {0}")]
    Game(#[from] TextProblem),
}

fn unreadable(problem: impl ToString) -> AddressError {
    AddressError::Part(problem.to_string())
}

/// The address of what a game shows: its line, and the ply on the board.
pub(crate) fn of(game: &Session) -> String {
    let size = game.rules().size();
    let moves: Vec<String> = game.all_plies().map(|ply| ply.mv.text(size)).collect();
    let mut parts = of_rules(game.rules());
    if let Some(fen) = game.game().start_fen() {
        parts.push(format!("fen={}", flat(&fen)));
    }
    if !moves.is_empty() {
        parts.push(format!("moves={}", moves.join("_")));
    }
    if game.has_taken_back() {
        parts.push(format!("ply={}", game.game().len()));
    }
    parts.join("/")
}

/// A ruleset and the options that differ from it, or a rules record that says these rules: whichever is the shortest.
fn of_rules(rules: &Rules) -> Vec<String> {
    let options = options(rules);
    let differing = |base: NamedRules| {
        let others = self::options(&base.rules());
        let others = options.iter().filter(|&(key, value)| others.get(key) != Some(value));
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), flat);
        let others = others.map(|(key, value)| format!("{key}={}", text(value)));
        std::iter::once(base.name()).chain(others).collect::<Vec<_>>()
    };
    let record = RulesRecord::of(rules);
    let recorded = (record.rules() == Ok(*rules)).then(|| vec![flat(&record.to_string())]);
    let length = |parts: &Vec<String>| parts.iter().map(|part| part.len() + 1).sum::<usize>();
    NamedRules::published().map(differing).chain(recorded).min_by_key(length).unwrap_or_default()
}

/// Rows and words in one part of an address.
fn flat(text: &str) -> String {
    text.replace('/', ".").replace(' ', "_")
}

/// What [`flat`] was made of.
fn unflat(text: &str) -> String {
    text.replace('.', "/").replace('_', " ")
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
pub(crate) fn read(address: &str) -> Result<(GameRecord, usize), AddressError> {
    if address.len() > LONGEST {
        return Err(AddressError::Long(address.len()));
    }
    let mut parts = address.split('/');
    let name = parts.next().unwrap_or_default();
    let name = if name.starts_with("dim:") { unflat(name) } else { name.to_owned() };
    let mut rules = options(&names::ruleset(&name).map_err(|error| unreadable(error.to_string()))?.rules());
    let (mut fen, mut moves, mut ply) = (None, "", None);
    for part in parts.filter(|part| !part.is_empty()) {
        match part.split_once('=') {
            Some(("fen", text)) => fen = Some(unflat(text)),
            Some(("moves", text)) => moves = text,
            Some(("ply", text)) => {
                let wrong = |_| format!("ply={text}; expected a number");
                ply = Some(text.parse::<usize>().map_err(wrong).map_err(unreadable)?);
            }
            Some((key, text)) if rules.contains_key(key) => {
                let rows = matches!(key, "start" | "marks").then(|| Value::from(text.replace('.', "/")));
                let value = rows.unwrap_or_else(|| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)));
                rules.insert(key.to_owned(), value);
            }
            _ => {
                return Err(AddressError::Part(format!(
                    "{part:?}; expected fen=, moves=, ply= or an option of the rules, such as ply_cap=150"
                )));
            }
        }
    }
    let rules: Rules =
        serde_json::from_value(Value::Object(rules)).map_err(|error| unreadable(format!("rules: {error}")))?;
    let words = moves.split('_').filter(|word| !word.is_empty());
    let record = texts::game(rules, fen, words)?;
    let plies = record.plies.len();
    match ply.unwrap_or(plies) {
        ply if ply > plies => Err(unreadable(format!("ply={ply}; the game has {plies}"))),
        ply => Ok((record, ply)),
    }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::Preset;

    use super::*;

    fn address_of(address: &str) -> Result<String, String> {
        let (record, ply) = read(address).map_err(|error| error.to_string())?;
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
            "tablut-15x15/moves=f15f14",
            "dim:5_esc:e_ka:n_start:.2t2.2T2.tTKTt.2T2.2t2./moves=c1b1_c2c1",
            "dim:5_esc:e_ka:n_cor:_start:.2t2.2T2.tTKTt.2T2.2t2./fen=1k3.5.a4.5.5_d",
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
            ("dim:5_jump:y_start:.2t2.2T2.tTKTt.2T2.2t2.", "rules record, jump: found an option that there is not"),
            ("chess/moves=e2e4", "unknown ruleset \"chess\""),
            ("brandubh/moves=d6c6_d6c6", "the address: ply 2: illegal move"),
            ("brandubh/moves=d6c6/ply=2", "ply=2; the game has 1"),
            ("brandubh/ply=x", "ply=x; expected a number"),
            ("brandubh/velocity=9", "\"velocity=9\"; expected fen="),
            ("brandubh/ply_cap=many", "rules: invalid type"),
            ("brandubh/fen=7.7_a", "the address: "),
            (&"x".repeat(LONGEST + 1), "expected at most 16384"),
        ] {
            let problem = address_of(address).expect_err(address);
            assert!(problem.contains(words), "{address}: {problem}");
        }
    }
}
