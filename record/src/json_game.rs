//! A game as one value of JSON: a line of an exported dataset, what hnefatafl.org's server sends, or a file of the
//! archive of aagenielsen.dk.

use hnefi_engine::{Position, Rules, Side};
use serde::Deserialize;

use crate::{Recorded, RecordedGame, RecordedResult, RulesText, TextError, gives_up};

/// The fields that make a game, by their names in an export and elsewhere; others are passed over.
#[derive(Deserialize)]
struct Fields {
    #[serde(default)]
    rules: Option<RulesText>,
    #[serde(default, alias = "start")]
    fen: Option<String>,
    #[serde(default)]
    ply_cap: Option<u16>,
    #[serde(default, alias = "id")]
    game: Option<u128>,
    #[serde(default)]
    seed: Option<u64>,
    #[serde(alias = "Moves")]
    moves: Words,
    #[serde(default, alias = "BlackSidePlayerName")]
    attackers: Option<String>,
    #[serde(default, alias = "WhiteSidePlayerName")]
    defenders: Option<String>,
    #[serde(default, alias = "WhoWon")]
    status: Option<String>,
    #[serde(default)]
    would_have_resigned: Option<Side>,
}

/// Moves one by one, or in one text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    List(Vec<String>),
    Text(String),
}

/// Reads a game under its own rules, or, where it names none, under the first of `rules` under which it is legal.
///
/// # Errors
/// When it is no game in JSON or does not follow the rules.
pub fn json_game(text: &str, rules: &mut [Rules]) -> Result<Recorded, TextError> {
    let bad = |problem: String| TextError::BadText { line: 1, problem };
    let fields: Fields = serde_json::from_str(text).map_err(|error| {
        bad(format!(r#"no game in JSON: {error}; expected {{"rules": "brandubh", "moves": ["d6c6"]}}"#))
    })?;
    let own = fields.rules.map(|rules| rules.resolve(fields.ply_cap)).transpose().map_err(bad)?;
    let mut words: Vec<&str> = match &fields.moves {
        Words::List(words) => words.iter().map(String::as_str).collect(),
        Words::Text(text) => text.split_whitespace().collect(),
    };
    let given_up = words.last().is_some_and(|word| gives_up(word));
    if given_up {
        words.pop();
    }
    let status = fields.status.as_deref().unwrap_or_default();
    let result = RecordedResult::read(status)
        .ok_or_else(|| bad(format!("status {status:?}; expected attackers, defenders, draw or ongoing")))?;
    let game = RecordedGame {
        number: fields.game.and_then(|number| number.try_into().ok()).unwrap_or(0),
        seed: fields.seed.unwrap_or(0),
        start: fields.fen.map(|fen| (fen, 1)),
        players: [fields.attackers, fields.defenders],
        moves: words.into_iter().map(|word| (word, 1)).collect(),
        result,
        given_up,
        would_have_resigned: fields.would_have_resigned,
        line: 1,
    };
    if let Some(own) = own {
        return game.read_by(&mut [own]);
    }
    if rules.is_empty() {
        return Err(bad(
            r#"the game names no rules; expected "rules": "brandubh", or --rules for such games"#.to_owned()
        ));
    }
    let mut recorded = game.read_by(rules)?;
    // Others name the start of every game.
    let standard = Position::start(&recorded.record.rules).fen();
    if recorded.record.start_position().is_ok_and(|start| start.fen() == standard) {
        recorded.record.start = None;
    }
    Ok(recorded)
}
