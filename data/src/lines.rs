//! Lines of a text that may be anything: none grows beyond a bound.

use std::io::{BufRead, Read};

/// The lines of a text without their ends, none longer than it may be. A line that is too long, or no text, is an
/// error, and the next one follows; where the input cannot be read any more the lines end with that error.
pub struct BoundedLines<R> {
    input: R,
    most: usize,
    broken: bool,
}

impl<R: BufRead> BoundedLines<R> {
    /// Lines of at most `most` bytes.
    pub fn new(input: R, most: usize) -> BoundedLines<R> {
        BoundedLines { input, most, broken: false }
    }

    fn read(&mut self) -> std::io::Result<Option<Result<String, String>>> {
        let mut bytes = Vec::new();
        // One byte more for the end of the line.
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
        Ok(Some(String::from_utf8(bytes).map_err(|error| format!("no UTF-8 text: {error}"))))
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
}
