//! What the documents show must be so: every command is one that the program takes, every key of a configuration that
//! they change is one, every link and every file that they name is there, and networks that they show are the shipped
//! ones. `scripts/check_documents.py` runs the quick ones.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use super::{Cli, Command};
use crate::commands;

/// The crates' folders, each with a README.
const CRATES: [&str; 15] = [
    "arena",
    "board",
    "data",
    "engine",
    "models",
    "models/inference",
    "models/kernels",
    "play",
    "python",
    "record",
    "run",
    "search",
    "selfplay",
    "train",
    "wasm",
];

/// A document with its name, below the root of the repository.
struct Document {
    name: String,
    text: String,
}

/// A line of a document that somebody may type.
struct Line {
    /// Where it stands, for messages.
    place: String,
    text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All documents, and the configurations for what their comments say.
fn documents() -> Vec<Document> {
    let mut names =
        ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "models/inference/pretrained/README.md"]
            .map(PathBuf::from)
            .to_vec();
    names.extend(CRATES.iter().map(|folder| Path::new(folder).join("README.md")));
    for (folder, ending) in [("docs", "md"), ("configs", "toml")] {
        let entries = std::fs::read_dir(root().join(folder)).expect("a folder of documents");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        names.extend(
            paths
                .filter(|path| path.extension().is_some_and(|found| found == ending))
                .map(|path| path.strip_prefix(root()).expect("below the root").to_owned()),
        );
    }
    names.sort();
    let read = |name: PathBuf| Document {
        text: std::fs::read_to_string(root().join(&name)).expect("a text"),
        name: name.display().to_string(),
    };
    names.into_iter().map(read).collect()
}

impl Document {
    /// The text outside of fenced blocks (in a configuration, the text of its comments), and the blocks with their
    /// languages.
    fn parts(&self) -> (String, Vec<(&str, String)>) {
        let (mut prose, mut blocks) = (String::new(), Vec::<(&str, String)>::new());
        let mut inside = false;
        for line in self.text.lines() {
            if let Some(language) = line.strip_prefix("```") {
                inside = !inside;
                if inside {
                    blocks.push((language, String::new()));
                }
            } else if inside {
                let (_, block) = blocks.last_mut().expect("a block has begun");
                block.push_str(line);
                block.push('\n');
            } else {
                let comment = self.name.ends_with(".toml").then(|| line.strip_prefix('#').unwrap_or_default());
                prose.push_str(comment.unwrap_or(line));
                prose.push('\n');
            }
        }
        (prose, blocks)
    }

    /// Words between backticks in the running text, over the ends of lines, and in a configuration whole indented
    /// lines.
    fn quoted(&self) -> Vec<String> {
        let (prose, _) = self.parts();
        let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let indented = prose.lines().filter(|line| line.starts_with("     ") && self.name.ends_with(".toml"));
        let paragraphs = prose.split("\n\n").flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
        paragraphs.chain(indented).map(spaced).collect()
    }

    /// Everything that looks like a line for a shell: lines of `sh` blocks, lines after `$ ` in others, and quoted
    /// commands.
    fn lines(&self) -> Vec<Line> {
        let (_, blocks) = self.parts();
        let mut texts = self.quoted();
        for (language, block) in blocks {
            let block = block.replace("\\\n", " ");
            match language {
                "sh" => texts.extend(block.lines().map(str::to_owned)),
                _ => texts.extend(block.lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned)),
            }
        }
        texts.into_iter().map(|text| Line { place: format!("{}: {text}", self.name), text }).collect()
    }
}

impl Line {
    /// What the program is given by every command of the line that starts it.
    fn arguments(&self) -> Vec<Vec<String>> {
        // The function that stands for the program in README.md, and lines of scripts that are no commands.
        let Some(words) = shlex::split(&self.text).filter(|_| !self.text.contains("() {")) else { return Vec::new() };
        let commands = words.split(|word| matches!(word.as_str(), "|" | "&&" | ";"));
        commands.filter_map(program_arguments).collect()
    }
}

/// The arguments of one simple command, if it starts the program: examples in place of what a reader fills in, and
/// neither redirections nor the ellipsis of what may be repeated.
fn program_arguments(words: &[String]) -> Option<Vec<String>> {
    let is_setting = |word: &&String| {
        word.split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
    };
    let mut words: Vec<&String> = words.iter().skip_while(is_setting).collect();
    if words.first().is_some_and(|word| *word == "srun") {
        words.remove(0);
    }
    let at = match words.first()?.as_str() {
        "hnefi" if words.len() > 1 => 1,
        // An example of a crate is another program.
        "cargo" if words.get(1)?.as_str() == "run" && !words.iter().any(|word| *word == "--example") => {
            words.iter().position(|word| *word == "--")? + 1
        }
        _ => return None,
    };
    let given = words[at..].iter().take_while(|word| !word.starts_with(['<', '>']));
    Some(given.map(|word| example(word)).filter(|word| !word.is_empty()).collect())
}

/// What may stand where a document has a placeholder.
fn example(word: &str) -> String {
    let word = word.trim_end_matches("...").trim_end_matches('…');
    let first = word.split('|').next().unwrap_or_default();
    match first {
        "OPPONENT" => "random".to_owned(),
        "R" => "brandubh".to_owned(),
        "S" | "N" => "1".to_owned(),
        _ => first.to_owned(),
    }
}

#[test]
fn documents_show_commands_that_the_program_takes() {
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for line in documents().iter().flat_map(Document::lines) {
        for arguments in line.arguments() {
            // The bare name of a command stands for it in running text.
            if let [name] = &arguments[..]
                && Cli::command().find_subcommand(name).is_some()
            {
                seen.insert(name.clone());
                continue;
            }
            let shown = std::iter::once("hnefi").chain(arguments.iter().map(String::as_str));
            match Cli::try_parse_from(shown) {
                Ok(cli) => {
                    seen.extend(arguments.first().cloned());
                    errors.extend(key_error(&cli.command).map(|error| format!("{}\n    {error}", line.place)));
                }
                Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {}
                Err(error) => errors.push(format!("{}\n    {error}", line.place)),
            }
        }
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    let all: BTreeSet<String> = Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let missing: Vec<_> = all.difference(&seen).collect();
    assert!(missing.is_empty(), "no document shows {missing:?}");
}

/// The error in the keys that a command changes, if the configuration exists.
fn key_error(command: &Command) -> Option<String> {
    let config = match command {
        Command::Train(args) => hnefi_train::config::load(&args.config, &args.changes),
        Command::Imitate(args) => commands::imitate::config(args),
        Command::Selfplay(args) => commands::selfplay::config(args),
        _ => return None,
    };
    config.err().map(|error| error.to_string())
}

#[test]
fn links_and_files_that_documents_name_are_there() {
    let mut errors = Vec::new();
    for document in documents() {
        let folder = root().join(&document.name).parent().expect("a folder").to_owned();
        let (prose, _) = document.parts();
        for target in prose.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = if path.is_empty() { root().join(&document.name) } else { folder.join(path) };
            if !target.contains("://") && !(path.exists() && (anchor.is_empty() || anchors(&path).contains(anchor))) {
                errors.push(format!("{}: link to {target}", document.name));
            }
        }
        for word in document.quoted() {
            let file =
                word.split_once("src/").is_some() || word.starts_with("scripts/") || word.starts_with("configs/");
            let word = word.split_whitespace().next().unwrap_or_default();
            let exists = root().join(word).exists() || folder.join(word).exists();
            if file && word.contains('/') && !word.contains(['*', '=', '{']) && !exists {
                errors.push(format!("{}: {word}", document.name));
            }
        }
    }
    assert!(errors.is_empty(), "not there:\n{}", errors.join("\n"));
}

/// Names of a document's headings as links have them.
fn anchors(path: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let kept = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_' || letter == ' ';
    let slug = |line: &str| {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        heading.chars().filter(|&letter| kept(letter)).collect::<String>().replace(' ', "-")
    };
    headings.map(slug).collect()
}

#[test]
fn settings_of_the_search_are_shown_with_their_defaults() {
    let text = std::fs::read_to_string(root().join("docs/PLAYING.md")).expect("a document");
    let section = text.split_once("### Settings of the search").expect("a section").1;
    let mut shown = serde_json::Map::new();
    for row in section.lines().skip_while(|line| !line.starts_with("|---")).skip(1).take_while(|l| l.starts_with('|')) {
        let cells: Vec<_> = row.split(" | ").collect();
        let values = cells[1].split(", ").map(|value| value.trim_matches('`'));
        for (key, value) in cells[0].trim_start_matches("| ").split(", ").zip(values) {
            let value = value.parse::<f32>().map_or_else(|_| value.into(), Into::into);
            shown.insert(key.trim_matches('`').to_owned(), value);
        }
    }
    let mut defaults = serde_json::to_value(hnefi_search::SearchConfig::default()).expect("JSON");
    for value in defaults.as_object_mut().expect("keys").values_mut() {
        if let Some(number) = value.as_u64() {
            *value = (number as f32).into();
        }
    }
    assert_eq!(serde_json::Value::Object(shown), defaults);
}

#[test]
fn networks_that_documents_show_are_the_shipped_ones() {
    let mut shown = 0;
    for document in documents() {
        for line in document.text.lines() {
            let Some((_, said)) = line.split_once("network of generation ") else { continue };
            let Some((generation, name)) = said.split_once(", trained on ") else { continue };
            let checkpoint = hnefi_inference::pretrained(name.trim()).expect(line).expect("a shipped checkpoint");
            assert_eq!(generation, checkpoint.card.generation.to_string(), "{}: {line}", document.name);
            shown += 1;
        }
        for line in document.text.lines().filter_map(|line| line.strip_prefix("info string network ")) {
            let (name, said) = line.split_once(" is loaded: ").expect(line);
            let card = hnefi_inference::pretrained(name).expect(line).expect("a shipped checkpoint").card;
            let shape = format!("{}x{}", card.network.blocks, card.network.channels);
            let rulesets = card.rulesets.join(", ");
            let expected = format!("generation {}, {shape}, trained on {rulesets}", card.generation);
            assert_eq!(said, expected, "{}: {line}", document.name);
            shown += 1;
        }
    }
    assert!(shown >= 2, "{shown} networks shown");
}
