//! The reference of all keys as Markdown, and whole configurations with comments.

use toml::{Table, Value};

use super::sections::{SECTIONS, STAGES};
use super::{ConfigError, Key, Section, TrainConfig};

const WIDTH: usize = 120;

/// Paths of all keys and names of all sections.
pub(super) fn names() -> Vec<String> {
    SECTIONS
        .iter()
        .flat_map(|section| {
            let keys = section.keys.iter().map(|key| format!("{}.{}", section.name, key.name));
            std::iter::once(section.name.to_owned()).chain(keys)
        })
        .collect()
}

/// The sections and keys that a name selects: a section with its inner sections, a key by its path, or all keys with
/// that name; everything for `None`.
///
/// # Errors
/// When the name selects nothing.
pub fn sections_named(name: Option<&str>) -> Result<Vec<(&'static Section, Vec<&'static Key>)>, ConfigError> {
    let wanted = |section: &Section, key: &Key| match name {
        None => true,
        Some(name) => {
            let path = format!("{}.{}", section.name, key.name);
            path == name || key.name == name || path.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
        }
    };
    let found: Vec<_> = SECTIONS
        .iter()
        .map(|section| (*section, section.keys.iter().filter(|key| wanted(section, key)).collect::<Vec<_>>()))
        .filter(|(_, keys)| !keys.is_empty())
        .collect();
    match name {
        Some(name) if found.is_empty() => Err(ConfigError::NoKey { name: name.to_owned() }),
        _ => Ok(found),
    }
}

/// The reference of each key: default, description and allowed values. It covers the whole configuration, with an
/// introduction, or the section or key with this name.
///
/// # Errors
/// When the name selects nothing.
pub fn reference(name: Option<&str>) -> Result<String, ConfigError> {
    let defaults = Table::try_from(TrainConfig::default()).unwrap_or_default();
    let mut text = if name.is_none() { INTRODUCTION.to_owned() } else { String::new() };
    for (section, keys) in sections_named(name)? {
        if !text.is_empty() {
            text.push('\n');
        }
        text += &format!("## [{}]\n\n{}\n", section.name, wrapped(&sentences(section.description), "", ""));
        for key in keys {
            let value = at(&defaults, section.name, key.name).map_or_else(String::new, written);
            let allowed = format!("{} {}", sentences(key.description), permitted(key));
            text += &format!("- `{} = {value}`\n{}", key.name, wrapped(&allowed, "  ", "  "));
        }
    }
    Ok(text)
}

const INTRODUCTION: &str = "\
# Configuration keys

`hnefi train --help-config` prints this page, and `hnefi train --help-config NAME` a section or a key of it. A
configuration is a TOML file. A key that it leaves out has the default that is shown here; the configuration `quick` is
all defaults. `--set KEY=VALUE` changes one key, and `hnefi train --print-config` prints all keys with the values that a
run would have. `[[stages]]` change keys of `network`, `selfplay`, `search`, `train` and `budget.playouts` from one part
of a run to the next ([TRAINING.md](TRAINING.md#stages)).
";

impl TrainConfig {
    /// The whole configuration as TOML, with each key's description as a comment.
    pub fn commented(&self) -> String {
        let table = Table::try_from(self).unwrap_or_default();
        let mut text = String::new();
        for section in SECTIONS {
            text += &format!("{}[{}]\n", wrapped(&sentences(section.description), "# ", "# "), section.name);
            for key in section.keys {
                let comment = format!("{} {}", sentences(key.description), permitted(key));
                let value = at(&table, section.name, key.name).map_or_else(String::new, written);
                text += &format!("\n{}{} = {value}\n", wrapped(&comment, "# ", "# "), key.name);
            }
            text.push('\n');
        }
        for stage in &self.stages {
            text += &format!("[[{STAGES}]]\nname = {}\nshare = {}\n", Value::from(stage.name.as_str()), stage.share);
            for (section, changes) in &stage.changes {
                text += &format!("{section} = {}\n", written(changes));
            }
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        text + "\n"
    }
}

fn at<'a>(table: &'a Table, section: &str, key: &str) -> Option<&'a Value> {
    let inner = section.split('.').try_fold(table, |table, name| table.get(name)?.as_table())?;
    inner.get(key)
}

fn permitted(key: &Key) -> String {
    let allowed = key.kind.allowed();
    let mut letters = allowed.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    format!("{first}{} ({}).", letters.as_str(), key.unit)
}

fn sentences(description: &str) -> String {
    description.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A value as TOML; a number that is exactly an `f32` has the digits of an `f32`.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::Float(number) => {
            let short = *number as f32;
            let text = if f64::from(short) == *number { short.to_string() } else { number.to_string() };
            if text.contains(['.', 'e', 'N', 'i']) { text } else { text + ".0" }
        }
        Value::Array(list) => format!("[{}]", list.iter().map(written).collect::<Vec<_>>().join(", ")),
        Value::Table(table) => {
            let pairs: Vec<String> = table.iter().map(|(name, value)| format!("{name} = {}", written(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        other => other.to_string(),
    }
}

/// Text in lines of at most [`WIDTH`], the first after `first` and the others after `next`.
fn wrapped(text: &str, first: &str, next: &str) -> String {
    let mut lines = String::new();
    let mut line = first.to_owned();
    for word in text.split(' ') {
        if line.len() + word.len() + 1 > WIDTH && line.len() > next.len() {
            lines += line.trim_end();
            lines.push('\n');
            line = next.to_owned();
        }
        line += word;
        line.push(' ');
    }
    lines + line.trim_end() + "\n"
}
