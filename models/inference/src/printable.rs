//! Texts from files, programs and networks, made safe for a terminal.

use std::borrow::Cow;

/// The text with every character written out, as `\u{1b}`, that a terminal may obey instead of showing it or that hides
/// or reorders what stands around it: control characters, line breaks among them, and characters that set the direction
/// of writing.
///
/// Whatever comes from a file, another program or a network goes through here on its way to a terminal.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_unsafe(letter) { safe.extend(letter.escape_unicode()) } else { safe.push(letter) }
    }
    Cow::Owned(safe)
}

/// The lines of a text of ours, each of them [`printable`].
pub fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_and_orders_are_written_out() {
        for text in ["", "alphabeta:2", "d6-f6 \\ \"ü\" 囲碁 \u{1f451}", "a\u{a0}b"] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text), "{text}");
        }
        for (text, safe) in [
            ("\u{1b}[31mred", r"\u{1b}[31mred"),
            ("two\r\nlines\ttab\u{7}", r"two\u{d}\u{a}lines\u{9}tab\u{7}"),
            ("\u{9b}2J", r"\u{9b}2J"),
            ("abc\u{202e}fed", r"abc\u{202e}fed"),
            ("\0", r"\u{0}"),
        ] {
            assert_eq!(printable(text), safe);
        }
        assert_eq!(printable_lines("one\ntwo\u{1b}c\n"), "one\ntwo\\u{1b}c\n");
    }
}
