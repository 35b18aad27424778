//! The public archives: a CSV file with a game per line.
//!
//! ```text
//! game,moves,captures_by_attackers,captures_by_defenders,result
//! 13,d2-e2 c4-c2 d6-c6 d3-f3 f4-f5 f3-f2 b4-b2 c2-d2xe2,0,1,White
//! ```
//!
//! White is the defenders, Black the attackers. The king's capture is not marked. A trailing `timeout` is a way to end.

use hnefi_engine::{Preset, Side};

use super::game::{RecordedGame, RecordedResult};
use super::{Fault, Found};

/// What a heading looks like, for messages.
const HEADING: &str = "game,moves,captures_by_attackers,captures_by_defenders,result";

/// Where the columns are that this reader knows.
struct Columns {
    count: usize,
    game: usize,
    moves: usize,
    result: usize,
    captures: [Option<usize>; 2],
}

impl Columns {
    fn of(heading: &str) -> Result<Columns, String> {
        let names: Vec<&str> = heading.split(',').map(str::trim).collect();
        let place = |name: &str| names.iter().position(|&found| found == name);
        match (place("game"), place("moves"), place("result")) {
            (Some(game), Some(moves), Some(result)) => Ok(Columns {
                count: names.len(),
                game,
                moves,
                result,
                captures: [place("captures_by_attackers"), place("captures_by_defenders")],
            }),
            _ => Err(format!("line 1 is {:?}; expected a heading such as {HEADING}", abridged(heading))),
        }
    }
}

/// Reads all games.
///
/// # Errors
/// When the heading is not that of an archive.
pub(super) fn read(text: &str, rules: Preset) -> Result<Vec<Result<Found, Fault>>, String> {
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim_start_matches('\u{feff}')));
    let (_, heading) =
        lines.next().ok_or_else(|| format!("the file is empty; expected a heading such as {HEADING}"))?;
    let columns = Columns::of(heading)?;
    let games = lines.filter(|(_, line)| !line.trim().is_empty());
    Ok(games.map(|(number, line)| game(line, number, &columns, rules)).collect())
}

fn game(text: &str, line: usize, columns: &Columns, rules: Preset) -> Result<Found, Fault> {
    let fault = |problem: String| (line, problem);
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    if fields.len() != columns.count {
        return Err(fault(format!("{} fields; expected {}", fields.len(), columns.count)));
    }
    let number = fields[columns.game];
    let number = number.parse().map_err(|_| fault(format!("game {number:?}: expected a whole number")))?;
    let result = match fields[columns.result] {
        "White" => RecordedResult::Won(Side::Defenders),
        "Black" => RecordedResult::Won(Side::Attackers),
        "Draw" => RecordedResult::Drawn,
        // Some games have none.
        "Ongoing" | "" => RecordedResult::Open,
        other => {
            return Err(fault(format!(
                "game {number}: result {other:?}; expected White, Black, Draw, Ongoing or nothing"
            )));
        }
    };
    let mut words: Vec<&str> = fields[columns.moves].split_whitespace().collect();
    if words.last() == Some(&"timeout") {
        words.pop();
    }
    let recorded = RecordedGame {
        number,
        start: None,
        players: ["human".to_owned(), "human".to_owned()],
        moves: words.iter().map(|&word| (word, line)).collect(),
        result,
        line,
    };
    let found = recorded.build(rules.rules())?;
    check_captures(&words, &fields, columns).map_err(|problem| fault(format!("game {number}: {problem}")))?;
    Ok(found)
}

/// Compares the counts of captures with the squares that the moves name. A man taken in two ways at once is named, and
/// counted, twice.
fn check_captures(words: &[&str], fields: &[&str], columns: &Columns) -> Result<(), String> {
    for (side, column) in Side::BOTH.into_iter().zip(columns.captures) {
        let Some(column) = column else { continue };
        let own = words.iter().skip(side.index()).step_by(2);
        let named: usize = own.map(|word| word.matches('x').count()).sum();
        if fields[column].parse() != Ok(named) {
            return Err(format!("captures by the {side} are {:?}; the moves name {named}", fields[column]));
        }
    }
    Ok(())
}

/// The beginning of a line, for a message.
fn abridged(line: &str) -> String {
    line.chars().take(80).collect()
}
