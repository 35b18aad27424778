//! OpenTafl game records: tags and comments in brackets, numbered turns.
//!
//! ```text
//! [attackers:Nasa]
//! [defenders:Jay Slater]
//! [result:-1]
//! [rules:dim:11 atkf:n start:/3ttttt3/5t5/.../]
//!
//! 1. h6-h3 h1-h2
//! [a comment on the first move|and one on the second]
//! 12. Kf6-c6 a8-c8
//! 8a.1.1a. e5-e3 d1-d3
//! ```
//!
//! The format follows the notation's published description. The rules string gives size, start and first side;
//! the ruleset is the caller's, and [`Recorded::differing`] says where the rules string differs from it. Variations
//! (turns numbered `8a.1.1a.`) are passed over.

use hnefi_engine::{Position, Rules, RulesRecord, Side};

use crate::{Recorded, RecordedGame, RecordedResult, TextError, bad, gives_up};

/// Whether the text begins with a tag of such a game.
pub fn begins(text: &str) -> bool {
    let name = text.trim_start_matches('\u{feff}').trim_start().strip_prefix('[').unwrap_or_default();
    let end = name.find(|c: char| !(c.is_ascii_alphabetic() || c == '-')).unwrap_or_default();
    end > 0 && name[end..].starts_with(':')
}

/// Reads a game under the one of `rules` under which it is legal that is the most like the game's rules string.
///
/// # Errors
/// When it is no such text, or the game is legal under none of `rules`.
pub fn read(text: &str, rules: &[Rules]) -> Result<Recorded, TextError> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    let mut game = RecordedGame { line: 1, ..RecordedGame::default() };
    let mut setup = Setup::default();
    let mut moves: Vec<(String, usize)> = Vec::new();
    let (mut begun, mut in_variation) = (false, false);
    for piece in pieces(&text)? {
        match piece {
            Piece::Bracket(inner, line) if !begun => tag(&inner, line, &mut game, &mut setup)?,
            Piece::Bracket(..) => {}
            Piece::Word(word, line) => {
                // A move may stand right behind its number.
                let behind = word.rfind('.').map_or(word.len(), |dot| dot + 1);
                let glued = word[behind..].starts_with(|c: char| c.is_ascii_alphabetic());
                let (number, word) = match word.starts_with(|c: char| c.is_ascii_digit()) {
                    true if glued => word.split_at(behind),
                    true => (word.as_str(), ""),
                    false => ("", word.as_str()),
                };
                if !number.is_empty() {
                    begun = true;
                    in_variation = !number.trim_end_matches('.').bytes().all(|byte| byte.is_ascii_digit());
                }
                if word.is_empty() {
                } else if !begun {
                    setup.read(word, line);
                } else if gives_up(word) && !in_variation {
                    game.given_up = true;
                } else if !in_variation && word.chars().any(|c| c != '.') {
                    moves.push((word.to_owned(), line));
                }
            }
        }
    }
    if !begun {
        return Err(bad(1, "the text holds no numbered moves; expected an OpenTafl game record"));
    }
    game.moves = moves.iter().map(|(word, line)| (word.as_str(), *line)).collect();
    let mut candidates: Vec<(Vec<String>, Rules)> =
        rules.iter().map(|rules| (setup.differing(rules), *rules)).collect();
    candidates.sort_by_key(|(differing, _)| differing.len());
    let mut error = None;
    for (differing, rules) in candidates {
        let line = setup.line.max(1);
        let read = setup.start(&rules).map_err(|problem| bad(line, problem)).and_then(|start| {
            game.start = start.map(|fen| (fen, line));
            game.read_by(&mut [rules])
        });
        match read {
            Ok(recorded) => return Ok(Recorded { differing, ..recorded }),
            Err(found) => error = error.or(Some(found)),
        }
    }
    Err(error.unwrap_or_else(|| bad(1, "no ruleset to read the game by")))
}

/// A token of the text with its line.
enum Piece {
    Bracket(String, usize),
    Word(String, usize),
}

/// Splits the text into words and brackets, which may span lines and nest.
fn pieces(text: &str) -> Result<Vec<Piece>, TextError> {
    let mut pieces = Vec::new();
    let (mut current, mut depth, mut opened, mut line) = (String::new(), 0usize, 1, 1);
    let flush = |word: &mut String, line: usize, pieces: &mut Vec<Piece>| {
        if !word.is_empty() {
            pieces.push(Piece::Word(std::mem::take(word), line));
        }
    };
    for c in text.chars() {
        match c {
            '[' => {
                if depth == 0 {
                    flush(&mut current, line, &mut pieces);
                    opened = line;
                } else {
                    current.push(c);
                }
                depth += 1;
            }
            ']' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    pieces.push(Piece::Bracket(std::mem::take(&mut current), opened));
                } else {
                    current.push(c);
                }
            }
            c if depth == 0 && c.is_whitespace() => flush(&mut current, line, &mut pieces),
            c => current.push(c),
        }
        line += usize::from(c == '\n');
    }
    if depth > 0 {
        return Err(bad(opened, "a bracket is opened and never closed; expected ]"));
    }
    flush(&mut current, line, &mut pieces);
    Ok(pieces)
}

fn tag(inner: &str, line: usize, game: &mut RecordedGame<'_>, setup: &mut Setup) -> Result<(), TextError> {
    let Some((name, value)) = inner.split_once(':') else { return Ok(()) };
    let value = value.trim();
    match name.trim() {
        "attackers" => game.players[Side::Attackers.index()] = Some(value.to_owned()),
        "defenders" => game.players[Side::Defenders.index()] = Some(value.to_owned()),
        "result" => {
            game.result = match value {
                "1" => RecordedResult::Won(Side::Attackers),
                "-1" => RecordedResult::Won(Side::Defenders),
                "0" => RecordedResult::Drawn,
                "?" => RecordedResult::Open,
                other => return Err(bad(line, format!("result {other:?}; expected 1, 0, -1 or ?"))),
            };
        }
        "rules" => value.split_whitespace().for_each(|word| setup.read(word, line)),
        "position" => setup.position = Some(value.to_owned()),
        _ => {}
    }
    Ok(())
}

/// The rules string: what it says of the board and the start, and of the rules.
#[derive(Default)]
struct Setup {
    entries: Vec<(String, String)>,
    /// The rows of a position that the game begins at, whatever the rules say.
    position: Option<String>,
    line: usize,
}

impl Setup {
    fn read(&mut self, word: &str, line: usize) {
        self.line = line;
        if let Some((key, value)) = word.split_once(':') {
            self.entries.push((key.to_owned(), value.to_owned()));
        }
    }

    fn entry(&self, key: &str) -> Option<&str> {
        self.entries.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// FEN of the start; `None` for the standard start.
    fn start(&self, rules: &Rules) -> Result<Option<String>, String> {
        let n = rules.size().side();
        if let Some(side) = self.entry("dim").filter(|side| *side != n.to_string()) {
            return Err(format!("a board of {side}x{side}; the ruleset asked for is played on {n}x{n}"));
        }
        let first = match self.entry("atkf") {
            Some("n") => Side::Defenders,
            None if self.entries.is_empty() => rules.first,
            _ => Side::Attackers,
        };
        // A record of the inverted position has its rows in reverse order.
        let inverted = |rows: &str| rows.trim_matches('/').split('/').rev().collect::<Vec<_>>().join("/");
        let standard = Position::start(rules).fen();
        let rows = match (&self.position, self.entry("start"), self.entry("starti")) {
            (Some(rows), ..) => rows.clone(),
            (None, Some(rows), _) => rows.to_owned(),
            (None, None, Some(rows)) => inverted(rows),
            (None, None, None) => standard.split(' ').next().unwrap_or_default().to_owned(),
        };
        let text = format!("{rows} {}", if first == Side::Defenders { 'd' } else { 'a' });
        let fen = Position::from_fen(rules, &text).map_err(|error| error.to_string())?.fen();
        Ok((fen != standard).then_some(fen))
    }

    /// Where the rules string says something else than the rules, in its own words. An entry that is left out has the
    /// value that the notation gives it, but for repetition, which most files leave out whatever was agreed. The start
    /// and the first side are the game's own.
    fn differing(&self, rules: &Rules) -> Vec<String> {
        if self.entries.is_empty() {
            return Vec::new();
        }
        let ours = RulesRecord::of(rules);
        let mut words: Vec<String> = self.entries.iter().map(|(key, value)| format!("{key}:{value}")).collect();
        if self.entry("dim").is_none() {
            words.push(format!("dim:{}", ours.side()));
        }
        if self.entry("start").is_none() && self.entry("starti").is_none() {
            words.push(format!("start:{}", ours.start()));
        }
        let said: RulesRecord = match words.join(" ").parse() {
            Ok(said) => said,
            Err(error) => return vec![error.to_string()],
        };
        // The notation has no word for some of our repetition rules.
        let agreed = self.entry("tfr").is_none() || ours.value("x-rep") != "no";
        let own = |key: &str| key.starts_with("x-") || key == "atkf" || key == "tfr" && agreed;
        said.differing(&ours).into_iter().filter(|(key, _)| !own(key)).map(|(_, text)| text).collect()
    }
}
