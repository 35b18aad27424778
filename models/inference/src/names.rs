//! Names that people type: which one they probably meant.

use hnefi_engine::{NamedRules, NamedRulesError};

/// Begins the end of an error that says which name was probably meant.
pub const SUGGESTION: &str = "; did you mean ";

/// The known name that is nearest to what was typed, if it is near enough: up to three letters inserted, left out,
/// replaced or swapped with the next one, in a name more than three times as long. Case does not count.
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Nobody slips in a name of that length, and comparing takes time.
    if found.len() > 100 {
        return None;
    }
    let found = found.to_lowercase();
    let measured = known.into_iter().map(|name| (strsim::osa_distance(&found, &name.to_lowercase()), name));
    let near = measured.filter(|(changes, name)| {
        let longest = found.chars().count().max(name.chars().count());
        *changes <= 3 && 3 * changes < longest
    });
    // The first of several that are as near.
    near.min_by_key(|&(changes, _)| changes).map(|(_, name)| name)
}

/// The end of an error about an unknown name: `; did you mean NAME?`, or nothing when no known name is near.
pub fn did_you_mean<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(found, known).map(suggestion).unwrap_or_default()
}

/// `; did you mean NAME?`.
pub fn suggestion(name: impl std::fmt::Display) -> String {
    format!("{SUGGESTION}{name}?")
}

/// A text that names no rules, or rules that cannot be played by: what was found and what was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadRules(pub String);

/// The published ruleset of that name, or the rules of a rules record.
///
/// # Errors
/// What was found, the names there are, and which one was probably meant; what is wrong with a record.
pub fn ruleset(text: &str) -> Result<NamedRules, BadRules> {
    text.parse::<NamedRules>().map_err(|error| match &error {
        NamedRulesError::UnknownName { expected, .. } => {
            BadRules(format!("{error}{}", did_you_mean(text, expected.iter().map(String::as_str))))
        }
        NamedRulesError::Record(_) => BadRules(error.to_string()),
    })
}

/// Conversions from and to the text of a type with `FromStr` and `Display`, for its
/// `#[serde(try_from = "String", into = "String")]`.
#[macro_export]
macro_rules! by_text {
    ($type:ty, $error:ty) => {
        impl TryFrom<String> for $type {
            type Error = $error;

            fn try_from(text: String) -> Result<$type, $error> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> String {
                value.to_string()
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_hand_are_seen_through() {
        let known = ["train", "quick", "brandubh", "copenhagen", "copenhagen-gpu", "cpu", "int8"];
        for (found, meant) in [
            ("trian", "train"),
            ("qiuck", "quick"),
            ("brandub", "brandubh"),
            ("Copenhagen", "copenhagen"),
            ("copenhaguen", "copenhagen"),
            ("copenhagen_gpu", "copenhagen-gpu"),
            ("cpuu", "cpu"),
            ("int4", "int8"),
        ] {
            assert_eq!(nearest(found, known), Some(meant), "{found}");
        }
        for found in ["", "gpu", "chess", "brand", "quartz", "no/such/folder", &"brandubh".repeat(20)] {
            assert_eq!(nearest(found, known), None, "{found}");
        }
    }

    #[test]
    fn rulesets_are_read_by_name() {
        assert_eq!(ruleset("fetlar"), Ok(hnefi_engine::Preset::Fetlar.into()));
        let message = ruleset("brandub").unwrap_err().to_string();
        assert!(message.starts_with("unknown ruleset \"brandub\": expected one of copenhagen, "), "{message}");
        assert!(message.ends_with("; did you mean brandubh?"), "{message}");
        assert!(!ruleset("chess").unwrap_err().to_string().contains("did you mean"));
    }
}
