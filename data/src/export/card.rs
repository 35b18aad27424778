//! The dataset card: a README.md with a YAML header for the Hugging Face hub.
//!
//! The header declares only Parquet files (`configs`), with rows per split, so that `datasets` can check what it loads.
//! The text below the header describes all files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use hnefi_inference::ENCODING_VERSION;
use hnefi_record::RulesText;
use sha2::{Digest, Sha256};

use super::disjoint::MOST_POSITIONS;
use super::filter::GameResult;
use super::parts::{Series, WrittenFile};
use super::schema::{Cell, Field};
use super::{ExportParams, ExportSummary, Format, SourceGame, TableKind, npz, table};
use crate::{DataError, RecordedValues, write_new_file};

/// The split of an undivided dataset, because the hub needs one.
pub(super) const WHOLE: &str = "train";

/// How games are divided into splits.
const IDENTITY: &str = "
A game's split follows from its identity alone: the SHA-256 of `N\\nFEN\\nMOVES` (the side of the board, the FEN of the
first position (empty for the starts of `brandubh`, `tablut` and `copenhagen`), the moves as `a4b4` with a space between
them; of the game's eight turned and mirrored images the text that is first), whose first eight bytes, big-endian and
over 2^64, are compared with the running sum of the shares. Equal games and images share a split, and games added later
move no other game. `game_id` is those eight bytes in hex.

";

/// What the meanings of columns take for granted.
const COLUMNS: &str = "
## Columns

Indices of squares are `rank * N + file`, rank 0 at the bottom, N the side of the board; chances are the side to move's;
the 4(N - 1) policy planes are four directions (up, right, down, left) by the distances, at the square a piece
comes from. `docs/DATASETS.md` of the program says more.

";

/// The card's file name.
const CARD: &str = "README.md";

/// A file in the card's list.
pub(super) struct CardFile {
    pub(super) split: String,
    pub(super) series: Series,
    /// Path in the dataset.
    pub(super) name: String,
    pub(super) rows: u64,
    pub(super) bytes: u64,
    /// Bytes in memory in Arrow's layout.
    pub(super) arrow_bytes: u64,
    /// SHA-256 in hexadecimal.
    pub(super) checksum: String,
}

impl CardFile {
    /// The card's entry of a file below `root`.
    pub(super) fn of(split: &str, file: &WrittenFile, root: &Path) -> Result<CardFile, DataError> {
        let entry = || {
            let (mut opened, mut hash, mut buffer) = (File::open(&file.path)?, Sha256::new(), vec![0; 1 << 16]);
            let bytes = opened.metadata()?.len();
            loop {
                match opened.read(&mut buffer)? {
                    0 => break,
                    count => hash.update(&buffer[..count]),
                }
            }
            let checksum = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            let name = file.path.strip_prefix(root).unwrap_or(&file.path).display().to_string();
            let WrittenFile { series, rows, arrow_bytes, .. } = *file;
            Ok(CardFile { split: split.to_owned(), series, name, rows, bytes, arrow_bytes, checksum })
        };
        entry().map_err(|error: std::io::Error| DataError::write(&file.path, error))
    }
}

/// Statistics of the games.
#[derive(Default)]
pub(super) struct Census {
    rules: BTreeMap<String, u64>,
    results: BTreeMap<&'static str, u64>,
    players: BTreeSet<String>,
    generations: Option<(u32, u32)>,
    pub(super) values: RecordedValues,
}

impl Census {
    /// Adds a game.
    pub(super) fn count(&mut self, game: &SourceGame) {
        *self.rules.entry(RulesText::of(&game.record.rules).name().to_owned()).or_default() += 1;
        *self.results.entry(GameResult::of(&game.record).as_str()).or_default() += 1;
        for player in &game.record.players {
            if !self.players.contains(player) {
                self.players.insert(player.clone());
            }
        }
        self.values.count(&game.record);
        if let Some(number) = game.generation {
            let (low, high) = self.generations.unwrap_or((number, number));
            self.generations = Some((low.min(number), high.max(number)));
        }
    }
}

/// Writes the card into the dataset's folder.
pub(super) fn write(
    root: &Path,
    params: &ExportParams,
    summary: &ExportSummary,
    census: &Census,
    files: &[CardFile],
) -> Result<(), DataError> {
    let mut text = header(params, files);
    text += &body(params, summary, census);
    text += &columns(params);
    text += &listing(files);
    write_new_file(&root.join(CARD), text.as_bytes())
}

fn counted<T: Display>(counts: &BTreeMap<T, u64>) -> String {
    let parts: Vec<_> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    parts.join(", ")
}

/// Adds a line of text.
macro_rules! add_line {
    ($text:expr, $($argument:tt)*) => {{
        let _ = writeln!($text, $($argument)*);
    }};
}

fn header(params: &ExportParams, files: &[CardFile]) -> String {
    let mut text = String::from("---\n");
    add_line!(text, "pretty_name: {}", quoted(&params.card.title));
    add_line!(text, "license: {}", quoted(&params.card.license));
    add_line!(text, "task_categories:\n- reinforcement-learning");
    add_line!(text, "tags:\n- hnefatafl\n- board-games\n- reinforcement-learning\n- self-play");
    add_line!(text, "size_categories:\n- {}", size_category(files.iter().map(|file| file.rows).sum()));
    let configs: BTreeSet<Series> = files.iter().map(|file| file.series).collect();
    if params.format == Format::Parquet && !configs.is_empty() {
        add_line!(text, "configs:");
        for &config in &configs {
            add_line!(text, "- config_name: {config}\n  data_files:");
            for (split, _) in per_split(files, config) {
                add_line!(text, "  - split: {}\n    path: {split}/{config}-*.parquet", quoted(split));
            }
        }
        add_line!(text, "dataset_info:");
        for &config in &configs {
            add_line!(text, "- config_name: {config}\n  features:");
            for field in fields(params) {
                add_line!(text, "  - name: {}", field.name);
                let key = if field.cell.is_list() { "sequence" } else { "dtype" };
                add_line!(text, "    {key}: {}", field.scalar.dtype());
                if let Some(length) = field.cell.length(config.side()) {
                    add_line!(text, "    length: {length}");
                }
            }
            add_line!(text, "  splits:");
            let mut whole = Sums::default();
            for (split, Sums { rows, bytes, arrow_bytes }) in per_split(files, config) {
                add_line!(text, "  - name: {}\n    num_bytes: {arrow_bytes}\n    num_examples: {rows}", quoted(split));
                whole.bytes += bytes;
                whole.arrow_bytes += arrow_bytes;
            }
            add_line!(text, "  download_size: {}\n  dataset_size: {}", whole.bytes, whole.arrow_bytes);
        }
    }
    text + "---\n"
}

/// Sums over files.
#[derive(Clone, Copy, Default)]
struct Sums {
    rows: u64,
    /// On the disk.
    bytes: u64,
    /// In memory, which the hub calls the dataset's size.
    arrow_bytes: u64,
}

/// The sums of a configuration by split, in the order of the files.
fn per_split(files: &[CardFile], config: Series) -> Vec<(&str, Sums)> {
    let mut splits: Vec<(&str, Sums)> = Vec::new();
    for file in files.iter().filter(|file| file.series == config) {
        let index = splits.iter().position(|(split, _)| *split == file.split).unwrap_or_else(|| {
            splits.push((&file.split, Sums::default()));
            splits.len() - 1
        });
        let sums = &mut splits[index].1;
        sums.rows += file.rows;
        sums.bytes += file.bytes;
        sums.arrow_bytes += file.arrow_bytes;
    }
    splits
}

fn body(params: &ExportParams, summary: &ExportSummary, census: &Census) -> String {
    let mut text = format!("\n# {}\n\n", params.card.title);
    let version = env!("CARGO_PKG_VERSION");
    add_line!(text, "{} games of Hnefatafl with {} plies, written by hnefi {version}", summary.games, summary.plies);
    add_line!(
        text,
        "as {} ({}).",
        params.format,
        match params.table() {
            TableKind::Positions => "a row per ply",
            TableKind::Games => "an entry per game",
        }
    );
    if let Some(command) = &params.card.command {
        add_line!(text, "\n```sh\n{command}\n```");
    }
    add_line!(text, "\n## What is in it\n");
    add_line!(text, "- games by ruleset: {}", counted(&census.rules));
    add_line!(text, "- games by result (who won): {}", counted(&census.results));
    add_line!(text, "- different players (checkpoints or programs): {}", census.players.len());
    if let Some((low, high)) = census.generations {
        add_line!(text, "- generations of the run: {low} to {high}");
    }
    if matches!(params.table(), TableKind::Positions) {
        add_line!(text, "- the network's inputs (`planes`, `globals`) by encoding {ENCODING_VERSION}");
    }
    let conditions = params.filter.describe();
    if conditions.is_empty() && summary.filtered == 0 {
        add_line!(text, "- no filter");
    } else {
        add_line!(text, "- chosen by {}; {} games did not pass", conditions.join("; "), summary.filtered);
    }
    if summary.unfinished > 0 {
        add_line!(text, "- {} unfinished games were left out, as their positions have no result", summary.unfinished);
    }
    let values = census.values.described();
    if !values.is_empty() {
        add_line!(text, "\n## Results and values\n");
        values.iter().for_each(|line| add_line!(text, "- {line}"));
        summary.warnings.iter().for_each(|warning| add_line!(text, "- **Warning**, {warning}"));
        if census.values.has_searches() {
            add_line!(text, "\n{}", RecordedValues::MEANING);
        }
    }
    if let Some(splits) = &params.splits {
        add_line!(text, "\n## Splits\n\n`{splits}`, by game:\n");
        for (name, games) in &summary.splits {
            add_line!(text, "- {name}: {games} games");
        }
        text += IDENTITY;
        if params.disjoint {
            let left_out = summary.shared;
            add_line!(
                text,
                "No position (board and side to move) stands in two splits, nor does a mirror image of it: {left_out} \
                 positions of\nlater splits were left out because an earlier one has them. The rows of a game may \
                 therefore have gaps."
            );
        } else if summary.splits.len() > 1 {
            let shares = summary.overlap.iter().map(|(name, share)| format!("{:.0} % of {name}", 100.0 * share));
            let shares = match shares.collect::<Vec<_>>().join(", ") {
                none if none.is_empty() => format!("positions (more than {MOST_POSITIONS} are not counted)"),
                shares => shares,
            };
            add_line!(
                text,
                "Positions of different games may be equal, early ones above all. An earlier split has the same \
                 position or a\nmirror image for {shares}. `hnefi export --disjoint` leaves them out."
            );
        }
    }
    text
}

fn columns(params: &ExportParams) -> String {
    let mut text = COLUMNS.to_owned();
    match params.format {
        Format::Parquet => {
            add_line!(text, "| column | type | meaning |\n|---|---|---|");
            for field in fields(params) {
                let dtype = field.scalar.dtype();
                let kind = match field.cell {
                    Cell::One => dtype.to_owned(),
                    Cell::Optional => format!("{dtype}, may be null"),
                    Cell::List => format!("list of {dtype}"),
                    cell => format!("list of {} {dtype}", cell.described().join(" x ")),
                };
                add_line!(text, "| `{}` | {kind} | {} |", field.name, field.meaning);
            }
        }
        Format::Npz => {
            add_line!(text, "| array | type | shape | meaning |\n|---|---|---|---|");
            for [name, dtype, shape, meaning] in npz::arrays(&fields(params)) {
                add_line!(text, "| `{name}` | {dtype} | {shape} | {meaning} |");
            }
        }
        Format::Jsonl => add_line!(text, "A JSON object per line; its fields are in `docs/DATASETS.md` under *jsonl*."),
        Format::Pgn => add_line!(text, "Tags and moves; they are described in `docs/DATASETS.md` under *pgn*."),
    }
    text
}

fn listing(files: &[CardFile]) -> String {
    let mut text = String::from("\n## Files\n\n| file | rows | bytes | SHA-256 |\n|---|---|---|---|\n");
    for file in files {
        add_line!(text, "| `{}` | {} | {} | `{}` |", file.name, file.rows, file.bytes, file.checksum);
    }
    text
}

fn fields(params: &ExportParams) -> Vec<Field> {
    table(params).columns().iter().map(|column| column.field()).collect()
}

/// The hub's size category for a number of rows.
fn size_category(rows: u64) -> &'static str {
    match rows {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        1_000_000..10_000_000 => "1M<n<10M",
        10_000_000..100_000_000 => "10M<n<100M",
        100_000_000..1_000_000_000 => "100M<n<1B",
        _ => "n>1B",
    }
}

/// A text as a YAML scalar in double quotes.
fn quoted(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect::<String>()
        .replace('\\', "\\\\")
        .replace('"', "\\\"");
    format!("\"{escaped}\"")
}
