//! Splits a stream of lines into games, and games into tags and words.

use std::io::BufRead;

use crate::TextError;

/// Most tags and words of one game; further ones are skipped, to bound memory.
const MOST_TAGS: usize = 1 << 10;
const MOST_WORDS: usize = 1 << 16;

/// One game of the text.
#[derive(Debug, Default)]
pub(super) struct RawGame {
    /// Name, value and line of each tag.
    pub(super) tags: Vec<(String, String, usize)>,
    /// Each word of the move text with its line: moves and the result, without numbers, comments and annotations.
    pub(super) words: Vec<(String, usize)>,
    /// Line the game begins at.
    pub(super) line: usize,
}

impl RawGame {
    /// The value of a tag and its line.
    pub(super) fn tag(&self, name: &str) -> Option<(&str, usize)> {
        self.tags.iter().find(|(known, _, _)| known == name).map(|(_, value, line)| (value.as_str(), *line))
    }
}

/// Reads the games of a text one after the other.
pub(super) struct RawGames<R> {
    input: R,
    line: usize,
    /// The first tag of the next game, already read.
    ahead: Option<(String, String, usize)>,
}

impl<R: BufRead> RawGames<R> {
    pub(super) fn new(input: R) -> RawGames<R> {
        RawGames { input, line: 0, ahead: None }
    }

    /// The next game; `None` at the end of the text. After an error the next call reads the next game.
    pub(super) fn next_game(&mut self) -> Result<Option<RawGame>, TextError> {
        let mut game = RawGame::default();
        if let Some(tag) = self.ahead.take() {
            game.line = tag.2;
            game.tags.push(tag);
        }
        let mut in_comment = false;
        let mut problem = None;
        let mut line = String::new();
        loop {
            line.clear();
            self.line += 1;
            let read = |source| TextError::Stream { doing: "reading games", source };
            if self.input.read_line(&mut line).map_err(read)? == 0 {
                break;
            }
            let text = line.trim();
            if !in_comment && text.starts_with('[') {
                match tag(text) {
                    Some((name, value)) if !game.words.is_empty() => {
                        self.ahead = Some((name, value, self.line));
                        break;
                    }
                    Some((name, value)) if game.tags.len() < MOST_TAGS => game.tags.push((name, value, self.line)),
                    Some(_) => {
                        let found = format!("more than {MOST_TAGS} tags before a move; expected the moves");
                        problem.get_or_insert(TextError::BadText { line: self.line, problem: found });
                    }
                    None => {
                        let found = format!("{text:?} is no tag; expected [Name \"value\"]");
                        problem.get_or_insert(TextError::BadText { line: self.line, problem: found });
                    }
                }
            } else {
                words(text, self.line, &mut in_comment, &mut game.words);
                if game.words.len() > MOST_WORDS {
                    let found =
                        format!("a game of more than {MOST_WORDS} words; expected the tags of the next one before");
                    problem.get_or_insert(TextError::BadText { line: self.line, problem: found });
                    game.words.truncate(MOST_WORDS);
                }
            }
            if game.line == 0 && !text.is_empty() {
                game.line = self.line;
            }
        }
        match problem {
            Some(problem) => Err(problem),
            None if game.tags.is_empty() && game.words.is_empty() => Ok(None),
            None => Ok(Some(game)),
        }
    }
}

/// `[Name "value"]`, with `\"` and `\\` in the value.
fn tag(text: &str) -> Option<(String, String)> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let (name, rest) = inner.split_once(char::is_whitespace)?;
    let quoted = rest.trim().strip_prefix('"')?.strip_suffix('"')?;
    let mut value = String::new();
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => value.push(chars.next()?),
            '"' => return None,
            _ => value.push(c),
        }
    }
    Some((name.to_owned(), value))
}

/// Adds the words of one line of move text. Comments in braces may span lines; `;` comments end with the line.
fn words(text: &str, line: usize, in_comment: &mut bool, out: &mut Vec<(String, usize)>) {
    let mut word = String::new();
    let mut flush = |word: &mut String| {
        let bare = word.trim_start_matches(|c: char| c.is_ascii_digit());
        // `12.` and `12...` may stand before a move without a space; a result such as 1-0 has no dot.
        let kept = if bare.starts_with('.') { bare.trim_start_matches('.') } else { word.as_str() };
        if !kept.is_empty() && !kept.starts_with('$') && out.len() <= MOST_WORDS {
            out.push((kept.to_owned(), line));
        }
        word.clear();
    };
    for c in text.chars() {
        if *in_comment {
            *in_comment = c != '}';
        } else if c == '{' {
            flush(&mut word);
            *in_comment = true;
        } else if c == ';' {
            break;
        } else if c.is_whitespace() {
            flush(&mut word);
        } else {
            word.push(c);
        }
    }
    flush(&mut word);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_takes_more_memory_than_a_game() {
        let tags = "[A \"b\"]\n".repeat(MOST_TAGS + 5);
        let words = "a ".repeat(MOST_WORDS + 5);
        let many = |lines: usize| format!("[A \"b\"]\n{}", "a b c d\n".repeat(lines));
        let text = format!("{tags}\n{words}\n\n{}\n{}\n[A \"b\"]\n\nlast\n", many(MOST_WORDS / 4 + 1), many(3));
        let mut games = RawGames::new(text.as_bytes());
        for expected in [format!("more than {MOST_TAGS} tags"), format!("more than {MOST_WORDS} words")] {
            let problem = games.next_game().expect_err("too much").to_string();
            assert!(problem.contains(&expected), "{problem}");
        }
        for expected in [12, 1] {
            assert_eq!(games.next_game().expect("a game").expect("a game").words.len(), expected);
        }
        assert!(games.next_game().expect("the end").is_none());
    }
}
