//! A game as one value of JSON: a line of an exported dataset, what hnefatafl.org's server sends, or a file of the
//! archive of aagenielsen.dk.

use hnefi_engine::{Move, Rules, Side};
use hnefi_inference::{Handicap, Wdl};
use serde::Deserialize;
use serde_json::Value;

use crate::{GameRecord, PlyRecord, Recorded, RecordedGame, RecordedResult, RulesText, TextError, gives_up};

/// The fields that make a game, by their names in an export and elsewhere; others are passed over.
#[derive(Deserialize)]
struct Fields {
    rules: Option<RulesText>,
    #[serde(alias = "start")]
    fen: Option<String>,
    ply_cap: Option<u16>,
    game: Option<u64>,
    /// A number elsewhere, or anything: `hnefi analyse` takes texts.
    id: Option<Value>,
    seed: Option<u64>,
    #[serde(alias = "Moves")]
    moves: Words,
    #[serde(alias = "BlackSidePlayerName")]
    attackers: Option<String>,
    #[serde(alias = "WhiteSidePlayerName")]
    defenders: Option<String>,
    #[serde(alias = "WhoWon")]
    status: Option<String>,
    would_have_resigned: Option<Side>,
    handicap: Option<[f32; 2]>,
    policy: Option<Vec<Vec<(String, f32)>>>,
    playouts: Option<Vec<u32>>,
    raw: Option<Vec<[f32; 3]>>,
    searched: Option<Vec<[f32; 3]>>,
    trains: Option<Vec<bool>>,
}

/// Moves one by one, or in one text.
#[derive(Deserialize)]
#[serde(untagged, expecting = "moves are a list of texts, or one text")]
enum Words {
    List(Vec<String>),
    Text(String),
}

/// Reads a game under its own rules, or, where it names none, under the first of `rules` under which it is legal.
///
/// # Errors
/// When it is no game in JSON or does not follow the rules.
pub fn json_game(text: &str, rules: &mut [Rules]) -> Result<Recorded, TextError> {
    read(serde_json::from_str(text), rules)
}

/// Reads a game as [`json_game`], from a value.
///
/// # Errors
/// As [`json_game`].
pub fn json_value(value: Value, rules: &mut [Rules]) -> Result<Recorded, TextError> {
    read(serde_json::from_value(value), rules)
}

fn read(fields: serde_json::Result<Fields>, rules: &mut [Rules]) -> Result<Recorded, TextError> {
    let bad = |problem: String| crate::bad(1, problem);
    let mut fields = fields.map_err(|error| {
        bad(format!(r#"no game in JSON: {error}; expected {{"rules": "brandubh", "moves": ["d6c6"]}}"#))
    })?;
    let own = fields.rules.as_ref().map(RulesText::resolve).transpose();
    let own = own.map_err(|error| bad(error.to_string()))?;
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
        number: fields.game.or_else(|| fields.id.as_ref()?.as_u64()).unwrap_or(0),
        seed: fields.seed.unwrap_or(0),
        start: fields.fen.take().map(|fen| (fen, 1)),
        ply_cap: fields.ply_cap,
        players: [fields.attackers.take(), fields.defenders.take()],
        moves: words.into_iter().map(|word| (word, 1)).collect(),
        result,
        given_up,
        would_have_resigned: fields.would_have_resigned,
        line: 1,
    };
    let has_policies = fields.policy.is_some();
    if fields.trains.is_some() && !has_policies {
        return Err(bad("trains without policy; expected both, or neither".to_owned()));
    }
    let mut recorded = match own {
        Some(own) => game.read_by(&mut [own])?,
        None if rules.is_empty() => {
            let expected = r#"expected "rules": "brandubh", or --rules for such games"#;
            return Err(bad(format!("the game names no rules; {expected}")));
        }
        None => game.read_by(rules)?,
    };
    recorded.has_policies = has_policies;
    fields.fill(&mut recorded.record).map_err(bad)?;
    recorded.record.check()?;
    Ok(recorded)
}

impl Fields {
    /// Adds what an export has beside the moves.
    fn fill(self, record: &mut GameRecord) -> Result<(), String> {
        let [doublings, blunders] = self.handicap.unwrap_or_default();
        record.handicap = Handicap { doublings, blunders };
        let (size, plies) = (record.rules.size(), &mut record.plies);
        for (ply, policy) in each("policy", self.policy, plies)? {
            let entry =
                |(mv, weight): (String, f32)| Ok((Move::parse(&mv, size).map_err(|error| error.to_string())?, weight));
            ply.policy = policy.into_iter().map(entry).collect::<Result<_, String>>()?;
        }
        let wdl = |[win, draw, loss]: [f32; 3]| Wdl { win, draw, loss };
        each("playouts", self.playouts, plies)?.for_each(|(ply, found)| ply.playouts = found);
        each("raw", self.raw, plies)?.for_each(|(ply, found)| ply.raw = wdl(found));
        each("searched", self.searched, plies)?.for_each(|(ply, found)| ply.searched = wdl(found));
        match self.trains {
            None => plies.iter_mut().for_each(|ply| ply.trains = !ply.policy.is_empty()),
            trains => each("trains", trains, plies)?.for_each(|(ply, found)| ply.trains = found),
        }
        Ok(())
    }
}

/// The plies, each with its value; nothing where no values are given.
fn each<'a, T>(
    name: &str,
    values: Option<Vec<T>>,
    plies: &'a mut [PlyRecord],
) -> Result<impl Iterator<Item = (&'a mut PlyRecord, T)> + use<'a, T>, String> {
    let count = plies.len();
    match values {
        Some(values) if values.len() != count => {
            Err(format!("{name}: {} entries; expected one for each of {count} moves", values.len()))
        }
        values => Ok(plies.iter_mut().zip(values.unwrap_or_default())),
    }
}
