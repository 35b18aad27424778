//! What goes wrong, for people: a key of the page's texts and the values of its places, and the same in English for
//! everybody else.

use serde::Serialize;
use serde_json::{Map, Value};

/// What is wrong. [`problem!`](crate::problem!) makes it, so that key, values and English words stand together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    key: &'static str,
    values: Map<String, Value>,
    #[serde(rename = "error")]
    message: String,
}

impl Problem {
    /// Made by the macro.
    #[doc(hidden)]
    pub fn new<const N: usize>(key: &'static str, message: String, values: [(&str, Value); N]) -> Problem {
        Problem { key, message, values: values.map(|(name, value)| (name.to_owned(), value)).into_iter().collect() }
    }

    /// The same in English.
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// A [`Problem`]: the key of a text, the text in English, and the values of its places, texts or numbers.
///
/// `problem!("error.longest", "games of more than {most} plies are not kept here", most = 1000)`. The English text is
/// the one that `app/page/texts/en.json` has for the key, but for a capital and a full stop; a test compares
/// them.
#[macro_export]
macro_rules! problem {
    ($key:literal, $words:literal $(, $name:ident = $value:expr)* $(,)?) => {{
        $(#[allow(clippy::redundant_locals, reason = "a value may have the name of its place")]
        let $name = $value;)*
        $crate::Problem::new($key, format!($words $(, $name = $name)*), [$((stringify!($name), $name.into())),*])
    }};
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_problem_has_its_words_and_its_values() {
        let problem =
            problem!("error.example", "{name} has {n} of {most}", name = "x".to_owned(), n = 3, most = 2_usize);
        let found = serde_json::to_value(&problem).expect("plain values");
        let values = serde_json::json!({ "name": "x", "n": 3, "most": 2 });
        assert_eq!(found, serde_json::json!({ "key": "error.example", "values": values, "error": "x has 3 of 2" }));
    }
}
