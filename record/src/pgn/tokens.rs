//! Splits a stream of lines into games, and games into tags, words, comments and variations.

use std::io::{BufRead, Read};

use crate::TextError;

/// Most tags, and most words, comments and brackets, of one game; further ones are skipped, to bound memory.
const MOST_TAGS: usize = 1 << 10;
const MOST_TOKENS: usize = 1 << 16;

/// The longest line in bytes.
const LONGEST_LINE: usize = 1 << 20;

/// Variations within variations: as many as a game of a thousand plies can have.
const MOST_NESTED: usize = 1 << 10;

/// A part of the move text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A move or the result.
    Word(String),
    /// What stood in braces or behind a semicolon.
    Comment(String),
    /// An annotation such as `$2`, or `?` behind a move.
    Nag(u8),
    /// A variation begins.
    Open,
    /// It ends.
    Close,
}

/// One game of the text.
#[derive(Debug, Default)]
pub(super) struct RawGame {
    /// Name, value and line of each tag.
    pub(super) tags: Vec<(String, String, usize)>,
    /// The move text without numbers, each token with its line.
    pub(super) tokens: Vec<(Token, usize)>,
    /// Line the game begins at.
    pub(super) line: usize,
}

impl RawGame {
    /// The value of a tag and its line.
    pub(super) fn tag(&self, name: &str) -> Option<(&str, usize)> {
        self.tags.iter().find(|(known, _, _)| known == name).map(|(_, value, line)| (value.as_str(), *line))
    }

    /// The words of the game itself with their lines, without comments and variations.
    pub(super) fn words(&self) -> Vec<(&str, usize)> {
        let mut depth = 0_usize;
        let mut words = Vec::with_capacity(self.tokens.len());
        for (token, line) in &self.tokens {
            match token {
                Token::Open => depth += 1,
                Token::Close => depth = depth.saturating_sub(1),
                Token::Word(word) if depth == 0 => words.push((word.as_str(), *line)),
                _ => {}
            }
        }
        words
    }
}

/// Reads the games of a text one after the other.
pub(super) struct RawGames<R> {
    input: R,
    line: usize,
    /// The first tag of the next game, already read.
    ahead: Option<(String, String, usize)>,
    /// Whether comments and annotations are kept.
    notes: bool,
}

impl<R: BufRead> RawGames<R> {
    pub(super) fn new(input: R, notes: bool) -> RawGames<R> {
        RawGames { input, line: 0, ahead: None, notes }
    }

    /// The next game; `None` at the end of the text. After an error the next call reads the next game.
    pub(super) fn next_game(&mut self) -> Result<Option<RawGame>, TextError> {
        let mut game = RawGame::default();
        if let Some(tag) = self.ahead.take() {
            game.line = tag.2;
            game.tags.push(tag);
        }
        let mut text = MoveText { notes: self.notes, ..MoveText::default() };
        let mut problem = None;
        let mut bad = |line: usize, found: String| {
            problem.get_or_insert(TextError::BadText { line, problem: found });
        };
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            self.line += 1;
            let read = |source| TextError::Stream { doing: "reading games", source };
            // One more byte for the line break.
            if self.input.by_ref().take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut bytes).map_err(read)? == 0 {
                break;
            }
            if bytes.len() > LONGEST_LINE && bytes.last() != Some(&b'\n') {
                self.input.skip_until(b'\n').map_err(read)?;
                bad(self.line, format!("the line is longer than {LONGEST_LINE} bytes"));
                continue;
            }
            let Ok(line) = std::str::from_utf8(&bytes) else {
                bad(self.line, "the line is no UTF-8 text".to_owned());
                continue;
            };
            let line = if self.line == 1 { line.trim_start_matches('\u{feff}') } else { line };
            let trimmed = line.trim();
            if text.comment.is_none() && trimmed.starts_with('[') {
                match tag(trimmed) {
                    Some((name, value)) if text.words > 0 => {
                        self.ahead = Some((name, value, self.line));
                        break;
                    }
                    Some((name, value)) if game.tags.len() < MOST_TAGS => game.tags.push((name, value, self.line)),
                    Some(_) => bad(self.line, format!("more than {MOST_TAGS} tags before a move; expected the moves")),
                    None => bad(self.line, format!("{trimmed:?} is no tag; expected [Name \"value\"]")),
                }
            } else if let Err(found) = text.read(trimmed, self.line) {
                bad(self.line, found);
            }
            if game.line == 0 && !trimmed.is_empty() {
                game.line = self.line;
            }
        }
        if let Some((_, began)) = text.comment {
            bad(began, "the comment that begins here has no end; expected }".to_owned());
        }
        if let Some(began) = text.open.last() {
            bad(*began, "the variation that begins here has no end; expected )".to_owned());
        }
        game.tokens = text.tokens;
        match problem {
            Some(problem) => Err(problem),
            None if game.tags.is_empty() && game.tokens.is_empty() => Ok(None),
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

/// The move text of one game as it is read line by line.
#[derive(Default)]
struct MoveText {
    notes: bool,
    tokens: Vec<(Token, usize)>,
    words: usize,
    /// The comment that has not ended, and the line it began at.
    comment: Option<(String, usize)>,
    /// The lines of the variations that have not ended.
    open: Vec<usize>,
}

impl MoveText {
    /// Takes in one line. Comments in braces may span lines; `;` comments end with the line.
    fn read(&mut self, text: &str, line: usize) -> Result<(), String> {
        if let Some((comment, _)) = &mut self.comment {
            comment.push(' ');
        }
        let mut problem = Ok(());
        let mut word = String::new();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            if let Some((comment, _)) = &mut self.comment {
                if c != '}' {
                    if self.notes {
                        comment.push(c);
                    }
                } else if let Some((comment, began)) = self.comment.take() {
                    self.note(comment, began);
                }
                continue;
            }
            match c {
                '{' => {
                    self.word(&mut word, line);
                    self.comment = Some((String::new(), line));
                }
                ';' => {
                    self.word(&mut word, line);
                    self.note(rest.as_str().to_owned(), line);
                    break;
                }
                '(' => {
                    self.word(&mut word, line);
                    if self.open.len() >= MOST_NESTED {
                        problem = problem.and(Err(format!("more than {MOST_NESTED} variations within one another")));
                    } else {
                        self.open.push(line);
                        self.tokens.push((Token::Open, line));
                    }
                }
                ')' => {
                    self.word(&mut word, line);
                    match self.open.pop() {
                        Some(_) => self.tokens.push((Token::Close, line)),
                        None => {
                            problem = problem.and(Err("a ) that ends no variation; expected a ( before".to_owned()))
                        }
                    }
                }
                c if c.is_whitespace() => self.word(&mut word, line),
                c => word.push(c),
            }
        }
        self.word(&mut word, line);
        if self.tokens.len() > MOST_TOKENS {
            self.tokens.truncate(MOST_TOKENS);
            let found = format!("a game of more than {MOST_TOKENS} words; expected the tags of the next one before");
            problem = problem.and(Err(found));
        }
        problem
    }

    fn note(&mut self, comment: String, line: usize) {
        if self.notes {
            self.tokens.push((Token::Comment(comment), line));
        }
    }

    /// Ends a word.
    fn word(&mut self, word: &mut String, line: usize) {
        let bare = word.trim_start_matches(|c: char| c.is_ascii_digit());
        // `12.` and `12...` may stand before a move without a space; a result such as 1-0 has no dot.
        let kept = if bare.starts_with('.') { bare.trim_start_matches('.') } else { word.as_str() };
        let unmarked = kept.trim_end_matches(['!', '?']);
        if let Some(number) = kept.strip_prefix('$') {
            self.nag(number.parse().ok(), line);
        } else if !unmarked.is_empty() {
            self.tokens.push((Token::Word(unmarked.to_owned()), line));
            self.words += 1;
        }
        if unmarked.len() < kept.len() {
            self.nag(nag_of(&kept[unmarked.len()..]), line);
        }
        word.clear();
    }

    fn nag(&mut self, nag: Option<u8>, line: usize) {
        if let Some(nag) = nag.filter(|_| self.notes) {
            self.tokens.push((Token::Nag(nag), line));
        }
    }
}

/// The number of a mark behind a move.
fn nag_of(mark: &str) -> Option<u8> {
    ["!", "?", "!!", "??", "!?", "?!"].iter().position(|known| *known == mark).map(|place| place as u8 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_takes_more_memory_than_a_game() {
        let tags = "[A \"b\"]\n".repeat(MOST_TAGS + 5);
        let words = "a ".repeat(MOST_TOKENS + 5);
        let many = |lines: usize| format!("[A \"b\"]\n{}", "a b c d\n".repeat(lines));
        let text = format!("{tags}\n{words}\n\n{}\n{}\n[A \"b\"]\n\nlast\n", many(MOST_TOKENS / 4 + 1), many(3));
        let mut games = RawGames::new(text.as_bytes(), false);
        for expected in [format!("more than {MOST_TAGS} tags"), format!("more than {MOST_TOKENS} words")] {
            let problem = games.next_game().expect_err("too much").to_string();
            assert!(problem.contains(&expected), "{problem}");
        }
        for expected in [12, 1] {
            assert_eq!(games.next_game().expect("a game").expect("a game").words().len(), expected);
        }
        assert!(games.next_game().expect("the end").is_none());
    }

    #[test]
    fn a_mark_of_the_byte_order_is_passed_over() {
        for text in ["\u{feff}[A \"b\"]\nc", "\u{feff}\n[A \"b\"]\nc"] {
            let game = RawGames::new(text.as_bytes(), false).next_game().expect("a text").expect("a game");
            assert_eq!((game.tag("A").map(|(value, _)| value), game.words().len()), (Some("b"), 1), "{text:?}");
        }
        assert!(RawGames::new("\u{feff}".as_bytes(), false).next_game().expect("a text").is_none());
    }

    #[test]
    fn lines_are_of_bounded_length_and_text() {
        let long = format!("[A \"b\"]\n{}\n\n[A \"b\"]\na\n", "é".repeat(LONGEST_LINE / 2 + 1));
        let mut games = RawGames::new(long.as_bytes(), false);
        let problem = games.next_game().expect_err("too long").to_string();
        assert_eq!(problem, format!("line 2: the line is longer than {LONGEST_LINE} bytes"));
        let mut games = RawGames::new(&b"[A \"b\"]\na\xe9 b\n"[..], false);
        assert_eq!(games.next_game().expect_err("no text").to_string(), "line 2: the line is no UTF-8 text");
        assert!(games.next_game().expect("the end").is_none());
    }

    #[test]
    fn numbers_marks_comments_and_brackets_are_told_apart() {
        let text = "1.a!? {one\ntwo}(1. b(1.c) $3 ) 1...d ; the rest\n1-0";
        let game = RawGames::new(text.as_bytes(), true).next_game().expect("a text").expect("a game");
        let word = |text: &str| Token::Word(text.to_owned());
        let comment = |text: &str| Token::Comment(text.to_owned());
        let tokens: Vec<Token> = game.tokens.iter().map(|(token, _)| token.clone()).collect();
        let expected = [
            word("a"),
            Token::Nag(5),
            comment("one two"),
            Token::Open,
            word("b"),
            Token::Open,
            word("c"),
            Token::Close,
            Token::Nag(3),
            Token::Close,
            word("d"),
            comment(" the rest"),
            word("1-0"),
        ];
        assert_eq!(tokens, expected);
        assert_eq!(game.words(), [("a", 1), ("d", 2), ("1-0", 3)]);
    }

    #[test]
    fn nesting_that_does_not_fit_is_named_with_its_line() {
        for (text, expected) in [
            ("a\n(b", "line 2: the variation that begins here has no end; expected )"),
            ("a\n\nb) (", "line 3: a ) that ends no variation; expected a ( before"),
            ("a {b\nc", "line 1: the comment that begins here has no end; expected }"),
            (&"a (".repeat(MOST_NESTED + 1), "line 1: more than 1024 variations within one another"),
        ] {
            let problem = RawGames::new(text.as_bytes(), false).next_game().expect_err(expected).to_string();
            assert_eq!(problem, expected);
        }
    }
}
