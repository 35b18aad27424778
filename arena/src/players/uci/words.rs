//! How a command becomes words.

/// Splits a command at its spaces: within `'...'` everything stands for itself, within `"..."` all but `\"` and `\\`,
/// and elsewhere a backslash protects the next character.
///
/// # Errors
/// When a quotation does not end.
pub fn split(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            letter if letter.is_whitespace() => words.extend(word.take()),
            '\\' => word.get_or_insert_default().extend(letters.next()),
            quote @ ('\'' | '"') => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        None => return Err(format!("the command {command:?} ends within {quote}...{quote}")),
                        Some(letter) if letter == quote => break,
                        Some('\\') if quote == '"' => match letters.next() {
                            Some(letter @ ('"' | '\\')) => word.push(letter),
                            other => word.extend(std::iter::once('\\').chain(other)),
                        },
                        Some(letter) => word.push(letter),
                    }
                }
            }
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str) -> Vec<String> {
        split(command).unwrap_or_else(|problem| panic!("{problem}"))
    }

    #[test]
    fn commands_are_split_as_by_a_shell() {
        assert_eq!(words("  a  b\tc "), ["a", "b", "c"]);
        assert_eq!(
            words(r#"sh -c 'echo "$x" \n' "a \"b\" \\ \n" c\ d """#),
            ["sh", "-c", r#"echo "$x" \n"#, r#"a "b" \ \n"#, "c d", ""]
        );
        assert_eq!(words("é'ü'"), ["éü"]);
    }
}
