//! Lines of untrusted text, of bounded length.

use std::io::{BufRead, Read};

/// What some editors begin a text with.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The lines of a text without line breaks and without a byte order mark before the first. A line that is too long or
/// not UTF-8 is an error, and the next line follows; an error of the input ends the iteration.
pub struct BoundedLines<R> {
    input: R,
    most: usize,
    begun: bool,
    broken: bool,
}

impl<R: BufRead> BoundedLines<R> {
    /// Lines of at most `most` bytes.
    pub fn new(input: R, most: usize) -> BoundedLines<R> {
        BoundedLines { input, most, begun: false, broken: false }
    }

    /// The next line, or what is wrong with it. An error of the input is apart.
    pub(crate) fn read(&mut self) -> std::io::Result<Option<Result<String, String>>> {
        let mut bytes = Vec::new();
        let first = !std::mem::replace(&mut self.begun, true);
        // One more byte for the line break.
        if self.input.by_ref().take(self.most as u64 + 1).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        if bytes.len() > self.most && bytes.last() != Some(&b'\n') {
            self.input.skip_until(b'\n')?;
            return Ok(Some(Err(format!("the line is longer than {} bytes", self.most))));
        }
        while matches!(bytes.last(), Some(b'\n' | b'\r')) {
            bytes.pop();
        }
        if first && bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(Some(String::from_utf8(bytes).map_err(|error| format!("the line is no UTF-8 text: {error}"))))
    }
}

impl<R: BufRead> Iterator for BoundedLines<R> {
    type Item = Result<String, String>;

    fn next(&mut self) -> Option<Result<String, String>> {
        if self.broken {
            return None;
        }
        match self.read() {
            Ok(line) => line,
            Err(error) => {
                self.broken = true;
                Some(Err(format!("it cannot be read: {error}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_and_other_bytes_are_errors_and_the_next_line_follows() {
        let text = b"one\r\n12345678\n123456789\n\xff\n\nlast";
        let lines: Vec<Result<String, String>> = BoundedLines::new(&text[..], 8).collect();
        let found: Vec<&str> = lines.iter().map(|line| line.as_deref().unwrap_or("error")).collect();
        assert_eq!(found, ["one", "12345678", "error", "error", "", "last"]);
        assert_eq!(lines[2], Err("the line is longer than 8 bytes".to_owned()));
    }

    #[test]
    fn a_mark_of_the_byte_order_is_passed_over_where_one_may_stand() {
        let text = "\u{feff}one\n\u{feff}two\n";
        let lines: Vec<String> = BoundedLines::new(text.as_bytes(), 100).map(Result::unwrap).collect();
        assert_eq!(lines, ["one", "\u{feff}two"]);
    }
}
