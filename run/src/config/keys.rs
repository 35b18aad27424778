//! The definition of a key: name, type, default, range, unit and description.
//!
//! From one list of keys, [`section!`] generates the struct of a section, its default values, the definitions that
//! configurations are checked against, and the reference that `hnefi train --help-config` prints.

use hnefi_engine::NamedRules;
use hnefi_inference::DeviceList;
use hnefi_inference::names::{SUGGESTION, did_you_mean};
use toml::Value;

use super::real;
use crate::named_rules;

/// A section of a configuration.
pub struct Section {
    /// The table's name, such as `train` or `selfplay.resign`.
    pub name: &'static str,
    /// Description of the section.
    pub description: &'static str,
    /// The section's keys, without keys of inner sections.
    pub keys: &'static [Key],
}

/// One key of a section.
pub struct Key {
    /// The name within the section.
    pub name: &'static str,
    /// Description of the key, in sentences.
    pub description: &'static str,
    /// The allowed values.
    pub kind: Kind,
    /// The unit of a number, or the meaning of a text.
    pub unit: &'static str,
    /// When the value may change.
    pub change: Change,
}

/// When the value of a key may change in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Never: it defines the run.
    Never,
    /// From one stage of the run to the next.
    InStages,
    /// When the run resumes, because it does not define the run.
    OnResume,
}

/// The allowed values of a key. Ranges include both ends.
pub enum Kind {
    /// A whole number.
    Whole(i64, i64),
    /// A whole number that is a multiple of the third number.
    Multiple(i64, i64, i64),
    /// A real number; whole ones are accepted too.
    Real(f64, f64),
    /// `true` or `false`.
    Switch,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A device's name, or several joined by commas.
    Device,
    /// A list of whole numbers, not empty.
    Wholes(i64, i64),
    /// A list of player specs, which may be empty. The crates that play check the specs.
    Players,
    /// A list of `{ rules = "name", share = number }`.
    Rulesets,
}

/// Defines a section: `NAME "table" CHANGE { doc comments and FIELD: TYPE = DEFAULT, KIND, UNIT; ... }`, with another
/// [`Change`] behind the unit of a key that differs, `within { FIELD: TYPE; }` for sections inside it and `[TRAIT,
/// ...]` before the name for more to derive. Makes the struct with its serde implementations, `Default`, and a constant
/// `SECTION`. With `for TYPE` the struct exists elsewhere, and a constant and a function of the names given take the
/// place of `SECTION` and `Default`.
macro_rules! section {
    (
        $(#[doc = $about:literal])+
        $([$($trait:ident),+])? $section:ident $table:literal $changes:ident {
            $($(#[doc = $description:literal])+ $field:ident: $type:ty = $default:expr, $kind:expr, $unit:expr
                $(, $change:ident)?;)+
            $(within { $($(#[doc = $inner_description:literal])+ $inner:ident: $inner_type:ty;)+ })?
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        $(#[derive($($trait),+)])?
        #[serde(deny_unknown_fields, default)]
        pub struct $section {
            $($(#[doc = $description])+ pub $field: $type,)+
            $($($(#[doc = $inner_description])+ pub $inner: $inner_type,)+)?
        }

        impl Default for $section {
            fn default() -> $section {
                $section {
                    $($field: $default,)+
                    $($($inner: Default::default(),)+)?
                }
            }
        }

        impl $section {
            /// The definitions of the section's keys.
            pub const SECTION: $crate::config::keys::Section = $crate::config::keys::section!(
                @table $table, concat!($($about),+), $changes,
                $($field, concat!($($description),+), $kind, $unit, [$($change)?];)+
            );
        }
    };
    (
        @table $table:literal, $about:expr, $changes:ident,
        $($field:ident, $description:expr, $kind:expr, $unit:expr, [$($change:ident)?];)+
    ) => {
        $crate::config::keys::Section {
            name: $table,
            description: $about,
            keys: &[$($crate::config::keys::Key {
                name: stringify!($field),
                description: $description,
                kind: $kind,
                unit: $unit,
                change: $crate::config::keys::section!(@change $changes $($change)?),
            },)+],
        }
    };
    (@change $section:ident) => { $crate::config::keys::Change::$section };
    (@change $section:ident $key:ident) => { $crate::config::keys::Change::$key };
    (
        $(#[doc = $about:literal])+
        for $foreign:ident $table:literal $changes:ident, $section:ident, $default_of:ident {
            $($(#[doc = $description:literal])+ $field:ident = $default:expr, $kind:expr, $unit:expr
                $(, $change:ident)?;)+
        }
    ) => {
        $(#[doc = $about])+
        pub const $section: $crate::config::keys::Section = $crate::config::keys::section!(
            @table $table, concat!($($about),+), $changes,
            $($field, concat!($($description),+), $kind, $unit, [$($change)?];)+
        );

        pub(super) fn $default_of() -> $foreign {
            $foreign { $($field: $default,)+ }
        }
    };
}
pub(crate) use section;

impl Kind {
    /// Describes the allowed values.
    pub fn allowed(&self) -> String {
        match self {
            Kind::Whole(low, high) => format!("whole number, {} to {}", whole(*low), whole(*high)),
            Kind::Multiple(low, high, step) => format!("multiple of {step}, {} to {}", whole(*low), whole(*high)),
            Kind::Real(low, high) => format!("number, {low} to {high}"),
            Kind::Switch => "true or false".to_owned(),
            Kind::OneOf(names) => format!("one of {}", quoted(names)),
            Kind::Device => r#""cpu", "cuda:N", several joined by commas, or "auto""#.to_owned(),
            Kind::Wholes(low, high) => format!("list of whole numbers, each {} to {}", whole(*low), whole(*high)),
            Kind::Players => r#"list of texts such as "random", "alphabeta:2" or "rollout:200""#.to_owned(),
            Kind::Rulesets => {
                let names: Vec<String> = NamedRules::published().map(|rules| rules.name()).collect();
                format!(
                    r#"list of {{ rules = "NAME", share = NUMBER }}, shares 0 to 1000000, NAME a rules record, a file or one of {}"#,
                    quoted(&names.iter().map(String::as_str).collect::<Vec<_>>())
                )
            }
        }
    }

    /// What was expected in place of a refused value, with the name that was probably meant.
    pub(super) fn expected(&self, unit: &str, value: &Value) -> String {
        // These parsers suggest a name at the end of their errors.
        let problem = match self {
            Kind::OneOf(known) => value.as_str().map(|text| did_you_mean(text, known.iter().copied())),
            Kind::Device => value.as_str().and_then(|text| Some(text.parse::<DeviceList>().err()?.to_string())),
            Kind::Rulesets => {
                let names = value.as_array().into_iter().flatten().filter_map(|item| item.get("rules")?.as_str());
                if let Some(problem) = names.into_iter().find_map(|name| named_rules(name).err()) {
                    return format!("rules that can be played; {problem}");
                }
                None
            }
            _ => None,
        };
        format!("{} ({unit}){}", self.allowed(), suggestion_in(&problem.unwrap_or_default()))
    }

    /// Whether a value is allowed.
    pub fn allows(&self, value: &Value) -> bool {
        let whole = |value: &Value, low: i64, high: i64| value.as_integer().is_some_and(|n| (low..=high).contains(&n));
        match self {
            Kind::Whole(low, high) => whole(value, *low, *high),
            Kind::Multiple(low, high, step) => {
                whole(value, *low, *high) && value.as_integer().is_some_and(|n| n % step == 0)
            }
            Kind::Real(low, high) => real(value).is_some_and(|x| (*low..=*high).contains(&x)),
            Kind::Switch => value.is_bool(),
            Kind::OneOf(names) => value.as_str().is_some_and(|text| names.contains(&text)),
            Kind::Device => value.as_str().is_some_and(|text| text.parse::<DeviceList>().is_ok()),
            Kind::Wholes(low, high) => {
                value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(|n| whole(n, *low, *high)))
            }
            Kind::Players => value.as_array().is_some_and(|list| list.iter().all(Value::is_str)),
            Kind::Rulesets => value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(is_ruleset)),
        }
    }
}

/// The part of an error that suggests a name; empty if it suggests none.
pub fn suggestion_in(problem: &str) -> String {
    problem.rfind(SUGGESTION).map(|at| problem[at..].to_owned()).unwrap_or_default()
}

fn is_ruleset(value: &Value) -> bool {
    let Some(table) = value.as_table() else { return false };
    let rules = table.get("rules").and_then(Value::as_str).and_then(|text| named_rules(text).ok());
    let share = table.get("share").and_then(real);
    let known = table.keys().all(|key| ["rules", "share"].contains(&key.as_str()));
    known && rules.is_some() && share.is_some_and(|share| (0.0..=1e6).contains(&share))
}

fn whole(number: i64) -> String {
    if number == i64::MAX { "2^63 - 1".to_owned() } else { number.to_string() }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}
