//! Lines of untrusted text, of bounded length.

use std::io::{BufRead, Error, Result};
use std::str::Utf8Error;

/// What some editors begin a text with.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The same of a text in UTF-16, as some shells of Windows write it.
const WIDE: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Why a line cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum BadLine {
    /// It is too long.
    #[error("the line is longer than {most} bytes")]
    TooLong {
        /// Bytes that a line may have.
        most: usize,
    },
    /// Its bytes are no text.
    #[error("the line is no UTF-8 text: {0}")]
    NoText(Utf8Error),
    /// The input failed.
    #[error("it cannot be read: {0}")]
    Unreadable(Error),
}

/// The lines of a text without a byte order mark before the first. A line ends with LF, CR LF or CR. A line that is too
/// long or not UTF-8 is an error, and the next line follows; an error of the input ends the iteration.
pub struct BoundedLines<R> {
    input: R,
    most: usize,
    latin1: bool,
    begun: bool,
    broken: bool,
    /// Whether the last line ended with CR, so that an LF may belong to it.
    after_return: bool,
}

impl<R: BufRead> BoundedLines<R> {
    /// Lines of at most `most` bytes.
    pub fn new(input: R, most: usize) -> BoundedLines<R> {
        BoundedLines { input, most, latin1: false, begun: false, broken: false, after_return: false }
    }

    /// The same, and a line that is no UTF-8 is read as Latin-1, the character set of the PGN standard. A text in
    /// UTF-16 cannot be read.
    #[must_use]
    pub fn or_latin1(self) -> BoundedLines<R> {
        BoundedLines { latin1: true, ..self }
    }

    /// The next line, or what is wrong with it.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn read(&mut self) -> Result<Option<std::result::Result<String, BadLine>>> {
        let Some(mut bytes) = self.bytes()? else { return Ok(None) };
        if !std::mem::replace(&mut self.begun, true) {
            // As Latin-1 it would be read as something.
            if self.latin1 && WIDE.iter().any(|mark| bytes.starts_with(mark)) {
                return Err(Error::other("the text is in UTF-16; expected UTF-8"));
            }
            if bytes.starts_with(BYTE_ORDER_MARK) {
                bytes.drain(..BYTE_ORDER_MARK.len());
            }
        }
        if bytes.len() > self.most {
            return Ok(Some(Err(BadLine::TooLong { most: self.most })));
        }
        Ok(Some(match String::from_utf8(bytes) {
            Err(error) if self.latin1 => Ok(error.as_bytes().iter().copied().map(char::from).collect()),
            Err(error) => Err(BadLine::NoText(error.utf8_error())),
            Ok(text) => Ok(text),
        }))
    }

    /// The bytes of the next line, one more than the longest line has at most.
    fn bytes(&mut self) -> Result<Option<Vec<u8>>> {
        let (mut bytes, mut any) = (Vec::new(), false);
        loop {
            let buffer = self.input.fill_buf()?;
            let skipped = usize::from(std::mem::take(&mut self.after_return) && buffer.first() == Some(&b'\n'));
            let rest = &buffer[skipped..];
            if rest.is_empty() && skipped == 0 {
                return Ok(any.then_some(bytes));
            }
            let end = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r');
            let line = &rest[..end.unwrap_or(rest.len())];
            // One more shows that the line is too long. A byte order mark does not count.
            let room = self.most.saturating_add(BYTE_ORDER_MARK.len() + 1) - bytes.len();
            bytes.extend_from_slice(&line[..line.len().min(room)]);
            any |= !rest.is_empty();
            self.after_return = end.is_some_and(|end| rest[end] == b'\r');
            let taken = skipped + line.len() + usize::from(end.is_some());
            self.input.consume(taken);
            if end.is_some() {
                return Ok(Some(bytes));
            }
        }
    }
}

impl<R: BufRead> Iterator for BoundedLines<R> {
    type Item = std::result::Result<String, BadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.broken {
            return None;
        }
        match self.read() {
            Ok(line) => line,
            Err(error) => {
                self.broken = true;
                Some(Err(BadLine::Unreadable(error)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn long_lines_and_other_bytes_are_errors_and_the_next_line_follows() {
        let text = b"one\r\n12345678\n123456789\n\xff\n\nlast";
        let lines: Vec<_> = BoundedLines::new(&text[..], 8).collect();
        let found: Vec<&str> = lines.iter().map(|line| line.as_deref().unwrap_or("error")).collect();
        assert_eq!(found, ["one", "12345678", "error", "error", "", "last"]);
        let problem = |line: usize| lines[line].as_ref().unwrap_err().to_string();
        assert_eq!(problem(2), "the line is longer than 8 bytes");
        assert!(problem(3).starts_with("the line is no UTF-8 text: "), "{}", problem(3));
        let read: Vec<_> =
            BoundedLines::new(&b"J\xf8rn\n\xc3\xb8"[..], 8).or_latin1().map(|line| line.unwrap()).collect();
        assert_eq!(read, ["J\u{f8}rn", "\u{f8}"]);
        let mut wide = BoundedLines::new(&b"\xff\xfeo\0n\0\n\0"[..], 8).or_latin1();
        assert!(wide.next().is_some_and(|line| line.is_err_and(|problem| problem.to_string().contains("UTF-16"))));
        assert!(wide.next().is_none());
    }

    #[test]
    fn every_line_break_ends_a_line_wherever_a_buffer_ends() {
        let text = "one\ntwo\r\nthree\rfour\r\r\n\n\rlast\r\n";
        for buffer in 1..10 {
            let lines = BoundedLines::new(BufReader::with_capacity(buffer, text.as_bytes()), 100);
            let found: Vec<String> = lines.map(|line| line.unwrap()).collect();
            assert_eq!(found, ["one", "two", "three", "four", "", "", "", "last"], "{buffer}");
        }
    }

    #[test]
    fn a_mark_of_the_byte_order_is_passed_over_where_one_may_stand() {
        let text = "\u{feff}one\n\u{feff}two\n";
        let lines: Vec<String> = BoundedLines::new(text.as_bytes(), 100).map(|line| line.unwrap()).collect();
        assert_eq!(lines, ["one", "\u{feff}two"]);
    }
}
