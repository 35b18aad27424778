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
//! The format follows the notation's published description. Of the rules string only size, start and first side are
//! used; the caller names the ruleset. Variations (turns numbered `8a.1.1a.`) are skipped.

use hnefi_engine::{Position, Preset, Rules, Side};

use super::game::{RecordedGame, RecordedResult};
use super::{Found, LineError};

/// Reads the game of a file under the first of `rules` under which it is legal.
pub(super) fn read(text: &str, rules: &[Preset]) -> Result<Found, LineError> {
    let mut found = Err((1, "no ruleset to read it by".to_owned()));
    for (index, preset) in rules.iter().enumerate() {
        let read = read_by(text, preset.rules());
        // If none fits, report the error under the first.
        if index == 0 || read.is_ok() {
            found = read;
        }
        if found.is_ok() {
            break;
        }
    }
    found
}

fn read_by(text: &str, rules: Rules) -> Result<Found, LineError> {
    let pieces = pieces(text.trim_start_matches('\u{feff}'))?;
    let mut game = RecordedGame {
        number: 0,
        start: None,
        players: ["?".to_owned(), "?".to_owned()],
        moves: Vec::new(),
        result: RecordedResult::Open,
        line: 1,
    };
    let mut setup = Setup::default();
    let mut moves: Vec<(String, usize)> = Vec::new();
    let (mut begun, mut in_variation, mut resigned) = (false, false, false);
    for piece in pieces {
        match piece {
            Piece::Bracket(inner, line) if !begun => tag(&inner, line, &mut game, &mut setup)?,
            Piece::Bracket(..) => {}
            Piece::Word(word, line) => {
                if let Some(number) = word.strip_suffix('.').filter(|_| word.starts_with(|c: char| c.is_ascii_digit()))
                {
                    begun = true;
                    in_variation = !number.trim_end_matches('.').bytes().all(|byte| byte.is_ascii_digit());
                } else if !begun {
                    setup.read(&word, line)?;
                } else if word == "---" && !in_variation {
                    resigned = true;
                } else if !in_variation && word.chars().any(|c| c != '.') {
                    moves.push((word, line));
                }
            }
        }
    }
    if moves.is_empty() {
        return Err((1, "the file holds no numbered moves; expected an OpenTafl game record".to_owned()));
    }
    game.start = setup.start(&rules).map_err(|problem| (setup.line.max(1), problem))?;
    if resigned {
        let first = if setup.defenders_first { Side::Defenders } else { Side::Attackers };
        let to_move = if moves.len().is_multiple_of(2) { first } else { first.opponent() };
        game.result = RecordedResult::Won(to_move.opponent());
    }
    game.moves = moves.iter().map(|(word, line)| (word.as_str(), *line)).collect();
    game.build(rules)
}

/// A token of the text with its line.
enum Piece {
    Bracket(String, usize),
    Word(String, usize),
}

/// Splits the text into words and brackets, which may span lines and nest.
fn pieces(text: &str) -> Result<Vec<Piece>, LineError> {
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
        return Err((opened, "a bracket is opened and never closed; expected ]".to_owned()));
    }
    flush(&mut current, line, &mut pieces);
    Ok(pieces)
}

fn tag(inner: &str, line: usize, game: &mut RecordedGame<'_>, setup: &mut Setup) -> Result<(), LineError> {
    let Some((name, value)) = inner.split_once(':') else { return Ok(()) };
    match name.trim() {
        "attackers" => game.players[Side::Attackers.index()] = value.trim().to_owned(),
        "defenders" => game.players[Side::Defenders.index()] = value.trim().to_owned(),
        "result" => {
            game.result = match value.trim() {
                "1" => RecordedResult::Won(Side::Attackers),
                "-1" => RecordedResult::Won(Side::Defenders),
                "0" => RecordedResult::Drawn,
                "?" => RecordedResult::Open,
                other => return Err((line, format!("result {other:?}; expected 1, 0, -1 or ?"))),
            };
        }
        "rules" => value.split_whitespace().try_for_each(|word| setup.read(word, line))?,
        _ => {}
    }
    Ok(())
}

/// Board and start from the rules string.
#[derive(Default)]
struct Setup {
    side: Option<usize>,
    layout: Option<String>,
    defenders_first: bool,
    line: usize,
}

impl Setup {
    fn read(&mut self, word: &str, line: usize) -> Result<(), LineError> {
        self.line = line;
        if word.starts_with('/') {
            self.layout = Some(word.to_owned());
            return Ok(());
        }
        match word.split_once(':') {
            Some(("dim", side)) => {
                let side = side.parse().map_err(|_| (line, format!("dim:{side}; expected 7, 9 or 11")))?;
                self.side = Some(side);
            }
            Some(("start", layout)) => self.layout = Some(layout.to_owned()),
            Some(("atkf", first)) => self.defenders_first = first == "n",
            _ => {}
        }
        Ok(())
    }

    /// FEN of the start; `None` for the standard start.
    fn start(&self, rules: &Rules) -> Result<Option<String>, String> {
        let n = rules.size().side();
        if let Some(side) = self.side
            && side != n
        {
            return Err(format!("a board of {side}x{side}; the ruleset asked for is played on {n}x{n}"));
        }
        let standard = Position::start(rules).fen();
        let rows = self.layout.as_deref().or_else(|| standard.split(' ').next()).unwrap_or_default();
        let text = format!("{rows} {}", if self.defenders_first { 'd' } else { 'a' });
        let fen = Position::from_fen(rules, &text).map_err(|error| error.to_string())?.fen();
        Ok((fen != standard).then_some(fen))
    }
}
