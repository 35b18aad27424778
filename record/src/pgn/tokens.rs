//! Splits a stream of lines into games, and games into tags, words, comments and variations, by the import format of
//! the PGN standard.

use std::io::BufRead;

use crate::recorded::DASHES;
use crate::{BadLine, BoundedLines, TextError};

/// Most tags, and most words, comments and brackets, of one game; further ones are skipped, to bound memory.
const MOST_TAGS: usize = 1 << 10;
const MOST_TOKENS: usize = 1 << 16;

/// The longest line in bytes.
const LONGEST_LINE: usize = 1 << 20;

/// Variations within variations: as many as a game of a thousand plies can have.
const MOST_NESTED: usize = 1 << 10;

const UNENDED: &str = "the comment that begins here has no end; expected }";

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

/// Name, value and line of a tag.
type Tag = (String, String, usize);

/// One game of the text.
#[derive(Debug, Default)]
pub(super) struct RawGame {
    /// The tags in their order.
    pub(super) tags: Vec<Tag>,
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

/// Whether the word is a result.
pub(super) fn is_result(word: &str) -> bool {
    ["1-0", "0-1", "1/2-1/2", "1/2", "\u{bd}-\u{bd}", "\u{bd}", "*"].contains(&word)
}

/// Reads the games of a text one after the other.
pub(super) struct RawGames<R> {
    lines: BoundedLines<R>,
    /// The line under way and its number.
    text: String,
    line: usize,
    /// The place in the line.
    at: usize,
    /// The line behind it, where it was looked at already.
    next: Option<Option<Result<String, BadLine>>>,
    /// The first tags of the next game, or what is wrong with the first.
    ahead: Result<Vec<Tag>, (usize, String)>,
    /// Whether comments and annotations are kept.
    notes: bool,
}

impl<R: BufRead> RawGames<R> {
    pub(super) fn new(input: R, notes: bool) -> RawGames<R> {
        let lines = BoundedLines::new(input, LONGEST_LINE).or_latin1();
        RawGames { lines, text: String::new(), line: 0, at: 0, next: None, ahead: Ok(Vec::new()), notes }
    }

    /// The next game; `None` at the end of the text. After an error the next call reads the next game.
    pub(super) fn next_game(&mut self) -> Result<Option<RawGame>, TextError> {
        let mut game = Reading { notes: self.notes, ..Reading::default() };
        match std::mem::replace(&mut self.ahead, Ok(Vec::new())) {
            Ok(tags) => game.raw.tags = tags,
            Err((line, problem)) => game.bad(line, problem),
        }
        let begun = if self.at < self.text.len() { self.line } else { 0 };
        game.raw.line = game.raw.tags.first().map_or(begun, |tag| tag.2);
        while self.rest_of_line(&mut game)? && self.next_line(&mut game)? {}
        game.finish()
    }

    /// Goes to the next line. Returns whether there is one.
    fn next_line(&mut self, game: &mut Reading) -> Result<bool, TextError> {
        self.line += 1;
        self.at = 0;
        let after_blank = self.text.trim().is_empty();
        self.text.clear();
        match self.read_line()? {
            None => return Ok(false),
            Some(Err(problem)) => game.bad(self.line, problem.to_string()),
            Some(Ok(line)) => self.text = line,
        }
        if let Some((comment, began)) = &mut game.comment {
            // What looks like the next game is the next game: people forget a brace, and prose has no tags.
            if after_blank && self.text.starts_with('[') && self.is_tag() {
                let began = *began;
                game.comment = None;
                game.bad(began, UNENDED.to_owned());
                game.ended = true;
            } else if self.notes {
                comment.push(' ');
            }
        } else if self.text.starts_with('%') {
            self.text.clear();
        }
        if self.text.trim().is_empty() {
            game.block = game.raw.tags.len();
        } else if game.raw.line == 0 {
            game.raw.line = self.line;
        }
        Ok(true)
    }

    /// The line behind the one under way.
    fn read_line(&mut self) -> Result<Option<Result<String, BadLine>>, TextError> {
        match self.next.take() {
            Some(line) => Ok(line),
            None => self.lines.read().map_err(|source| TextError::Stream { doing: "reading games", source }),
        }
    }

    /// Whether the line is one tag and nothing else.
    fn is_tag(&mut self) -> bool {
        let whole = self.tag_of_line().is_some() && self.text[self.at..].trim().is_empty();
        self.at = 0;
        whole
    }

    /// Takes in the line under way. Returns whether the game goes on in the next one.
    fn rest_of_line(&mut self, game: &mut Reading) -> Result<bool, TextError> {
        while let Some(c) = self.text[self.at..].chars().next() {
            if game.comment.is_some() {
                let rest = &self.text[self.at..];
                let end = rest.find('}');
                game.say(&rest[..end.unwrap_or(rest.len())], end.is_some());
                self.at = end.map_or(self.text.len(), |end| self.at + end + 1);
                continue;
            }
            let start = self.at;
            self.at += c.len_utf8();
            match c {
                '[' => {
                    self.at = start;
                    self.complete_tag()?;
                    if self.tag(game) {
                        return Ok(false);
                    }
                }
                '{' => game.comment = Some((String::new(), self.line)),
                ';' => {
                    let said = self.text[self.at..].to_owned();
                    game.comment = Some((String::new(), self.line));
                    game.say(&said, true);
                    self.at = self.text.len();
                }
                '(' => game.open(self.line),
                ')' => game.close(self.line),
                '$' => {
                    let number = self.take(|c| c.is_ascii_digit());
                    game.nag(number.parse().ok(), self.line);
                }
                '*' => game.word("*", self.line),
                '.' => {}
                c if c.is_whitespace() => {}
                _ => {
                    self.at = start;
                    let word = self.take(|c| !c.is_whitespace() && !"[{(;)}$*.".contains(c));
                    if word.is_empty() {
                        // A brace or a bracket that ends nothing.
                        self.at += c.len_utf8();
                        game.word(&c.to_string(), self.line);
                    } else if !word.bytes().all(|byte| byte.is_ascii_digit()) {
                        game.word(&word.replace(DASHES, "-"), self.line);
                    } else if word == "1" && game.ended && game.open.is_empty() {
                        // Without tags, a game ends with its result and the next one begins with its first move.
                        self.at = start;
                        return Ok(false);
                    }
                }
            }
        }
        game.limit(self.line);
        Ok(true)
    }

    /// Adds the lines over which the tag here goes on; its four parts may stand on four.
    fn complete_tag(&mut self) -> Result<(), TextError> {
        for _ in 1..4 {
            if self.text[self.at..].contains(']') {
                break;
            }
            match self.read_line()? {
                Some(Ok(more)) if !more.trim().is_empty() && !more.trim_start().starts_with('[') => {
                    self.text.push(' ');
                    self.text.push_str(&more);
                    self.line += 1;
                }
                other => {
                    self.next = Some(other);
                    break;
                }
            }
        }
        Ok(())
    }

    /// The characters from here on that are like this.
    fn take(&mut self, like: impl Fn(char) -> bool) -> String {
        let rest = &self.text[self.at..];
        let taken = rest[..rest.find(|c| !like(c)).unwrap_or(rest.len())].to_owned();
        self.at += taken.len();
        taken
    }

    /// Takes a tag. Returns whether it belongs to the next game, and keeps it for that.
    fn tag(&mut self, game: &mut Reading) -> bool {
        let (line, start) = (self.line, self.at);
        match self.tag_of_line() {
            Some((name, value)) if game.moves_began() => self.ahead = Ok(vec![(name, value, line)]),
            Some((name, value)) => match game.raw.tags.iter().position(|(known, _, _)| *known == name) {
                // The tags of a game without moves stand above, behind a blank line.
                Some(place) if place < game.block => {
                    let mut tags = game.raw.tags.split_off(game.block);
                    tags.push((name, value, line));
                    self.ahead = Ok(tags);
                }
                Some(place) if game.raw.tags[place].1 != value => {
                    game.bad(line, format!("the tag {name} stands twice; expected it once"));
                    return false;
                }
                Some(_) => return false,
                None if game.raw.tags.len() >= MOST_TAGS => {
                    game.bad(line, format!("more than {MOST_TAGS} tags before a move; expected the moves"));
                    return false;
                }
                None => {
                    game.raw.tags.push((name, value, line));
                    return false;
                }
            },
            None => {
                let found = self.text[start..].trim().chars().take(80).collect::<String>();
                let problem = format!("{found:?} is no tag; expected [Name \"value\"]");
                self.at = self.text.len();
                if !game.moves_began() {
                    game.bad(line, problem);
                    return false;
                }
                self.ahead = Err((line, problem));
            }
        }
        true
    }

    /// `[Name "value"]`, with `\"` and `\\` in the value.
    fn tag_of_line(&mut self) -> Option<(String, String)> {
        let rest = self.text[self.at..].strip_prefix('[')?.trim_start();
        let name = &rest[..rest.find(|c: char| c.is_whitespace() || "\"]".contains(c))?];
        let rest = rest[name.len()..].trim_start().strip_prefix('"')?;
        let mut value = String::new();
        let mut chars = rest.chars();
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => value.push(chars.next()?),
                c => value.push(c),
            }
        }
        let behind = chars.as_str().trim_start().strip_prefix(']')?;
        let tag = (!name.is_empty()).then(|| (name.to_owned(), value))?;
        self.at = self.text.len() - behind.len();
        Some(tag)
    }
}

/// A game as it is read.
#[derive(Default)]
struct Reading {
    raw: RawGame,
    notes: bool,
    words: usize,
    /// Whether the result stood in the text.
    ended: bool,
    /// The number of tags before the last blank line.
    block: usize,
    /// The comment that has not ended, and the line it began at.
    comment: Option<(String, usize)>,
    /// The lines of the variations that have not ended.
    open: Vec<usize>,
    problem: Option<(usize, String)>,
}

impl Reading {
    fn bad(&mut self, line: usize, problem: String) {
        self.problem.get_or_insert((line, problem));
    }

    fn moves_began(&self) -> bool {
        self.words > 0 || self.ended
    }

    fn push(&mut self, token: Token, line: usize) {
        self.raw.tokens.push((token, line));
    }

    /// Adds to the comment.
    fn say(&mut self, said: &str, ends: bool) {
        let Some((comment, began)) = &mut self.comment else { return };
        if self.notes {
            comment.push_str(said);
        }
        if ends {
            let (comment, began) = (std::mem::take(comment), *began);
            self.comment = None;
            if self.notes {
                self.push(Token::Comment(comment), began);
            }
        }
    }

    fn open(&mut self, line: usize) {
        if self.open.len() >= MOST_NESTED {
            self.bad(line, format!("more than {MOST_NESTED} variations within one another"));
        } else {
            self.open.push(line);
            self.push(Token::Open, line);
        }
    }

    fn close(&mut self, line: usize) {
        match self.open.pop() {
            Some(_) => self.push(Token::Close, line),
            None => self.bad(line, "a ) that ends no variation; expected a ( before".to_owned()),
        }
    }

    /// A word, maybe with a mark behind it.
    fn word(&mut self, word: &str, line: usize) {
        let unmarked = word.trim_end_matches(['!', '?']);
        if !unmarked.is_empty() {
            self.words += 1;
            self.ended |= self.open.is_empty() && is_result(unmarked);
            self.push(Token::Word(unmarked.to_owned()), line);
        }
        if unmarked.len() < word.len() {
            self.nag(nag_of(&word[unmarked.len()..]), line);
        }
    }

    fn nag(&mut self, nag: Option<u8>, line: usize) {
        if let Some(nag) = nag.filter(|_| self.notes) {
            self.push(Token::Nag(nag), line);
        }
    }

    fn limit(&mut self, line: usize) {
        if self.raw.tokens.len() > MOST_TOKENS {
            self.raw.tokens.truncate(MOST_TOKENS);
            let found = format!("a game of more than {MOST_TOKENS} words; expected the tags of the next one before");
            self.bad(line, found);
        }
    }

    fn finish(mut self) -> Result<Option<RawGame>, TextError> {
        if let Some(&(_, began)) = self.comment.as_ref() {
            self.bad(began, UNENDED.to_owned());
        }
        if let Some(&began) = self.open.last() {
            self.bad(began, "the variation that begins here has no end; expected )".to_owned());
        }
        match self.problem {
            Some((line, problem)) => Err(TextError::BadText { line, problem }),
            None if self.raw.tags.is_empty() && self.raw.tokens.is_empty() => Ok(None),
            None => Ok(Some(self.raw)),
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
        let tags: String = (0..MOST_TAGS + 5).map(|number| format!("[A{number} \"b\"]\n")).collect();
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
    fn lines_are_of_bounded_length() {
        let long = format!("[A \"b\"]\n{}\n\n[A \"b\"]\na\n", "é".repeat(LONGEST_LINE / 2 + 1));
        let problem = RawGames::new(long.as_bytes(), false).next_game().expect_err("too long").to_string();
        assert_eq!(problem, format!("line 2: the line is longer than {LONGEST_LINE} bytes"));
    }

    #[test]
    fn numbers_marks_comments_and_brackets_are_told_apart() {
        let text = "1.a!? {one\ntwo}(1. b(1.c)$3) 1...d ; the rest\n% nothing\n1-0";
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
        assert_eq!(game.words(), [("a", 1), ("d", 2), ("1-0", 4)]);
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
