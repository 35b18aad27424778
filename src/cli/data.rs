//! Arguments of `export`, `import` and `export-net`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use hnefi_data::{BoardColumns, Bounds, Format, GameResult, PolicyColumns, Splits, TableKind};
use hnefi_engine::NamedRules;
use hnefi_inference::names::BadRules;
use hnefi_run::named_rules;

use super::{record_file, seed, whole};

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Run directories and record files.
    #[arg(required = true, value_name = "RUN|FILE")]
    pub sources: Vec<PathBuf>,
    /// parquet or npz (tables), jsonl (a game per line) or pgn (game texts).
    #[arg(long)]
    pub format: Format,
    /// A row per ply (positions) or per game (games) [default: positions for parquet and npz].
    #[arg(long)]
    pub table: Option<TableKind>,
    /// Tables of positions: the network's planes, or compact (what stands on each square).
    #[arg(long, default_value = "planes")]
    pub board: BoardColumns,
    /// Tables of positions: policy targets sparse (indices and weights) or dense.
    #[arg(long, default_value = "sparse")]
    pub policy: PolicyColumns,
    /// Splits of the dataset, by game: NAME=SHARE,... such as train=0.9,validation=0.05,test=0.05.
    #[arg(long, value_name = "SPLIT")]
    pub split: Option<Splits>,
    /// Leave out of each split the positions that an earlier one has, as they are or mirrored.
    #[arg(long, requires = "split")]
    pub disjoint: bool,
    /// Only games under these rulesets; own for rules that are no published ruleset. A rules record with commas
    /// stands in a file.
    #[arg(long, value_delimiter = ',', value_name = "NAME,...")]
    pub rules: Vec<RulesetName>,
    /// Only games of these generations: 3-7, 3-, -7 or 3.
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub generations: Option<Bounds>,
    /// Only games with this number of plies: 10-200, 10-, -200 or 41.
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    pub plies: Option<Bounds>,
    /// Only games with this result: attackers, defenders (who won), draw, ongoing.
    #[arg(long, value_delimiter = ',', value_name = "RESULT,...")]
    pub result: Vec<GameResult>,
    /// Only this share of the games, chosen by their ids.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub sample: f64,
    /// Seed of this choice.
    #[arg(long, default_value_t = 0, value_parser = seed)]
    pub sample_seed: u64,
    /// Most rows of a file [default: depends on the format].
    #[arg(long, value_name = "ROWS", value_parser = whole::<u64>(1..=u64::MAX))]
    pub shard_rows: Option<u64>,
    /// Name of the dataset in its card.
    #[arg(long, default_value = "Hnefatafl games")]
    pub title: String,
    /// Licence in its card, by the Hugging Face hub's names.
    #[arg(long, default_value = "unknown", value_name = "NAME")]
    pub license: String,
    /// New file, or new folder for parquet, npz and splits [default: standard output, or RUN-FORMAT].
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
}

/// A ruleset to choose games by.
#[derive(Clone, Copy, Debug)]
pub struct RulesetName(pub Option<NamedRules>);

impl std::str::FromStr for RulesetName {
    type Err = BadRules;

    fn from_str(text: &str) -> Result<RulesetName, BadRules> {
        if text == "own" { Ok(RulesetName(None)) } else { named_rules(text).map(|rules| RulesetName(Some(rules))) }
    }
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Files of games: .csv (public archives), .otg (OpenTafl), .pgn, .json, .jsonl, .parquet (exported games).
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Ruleset of games that name none: all of .csv and .otg, the public sites' in .pgn.
    #[arg(long, value_parser = named_rules)]
    pub rules: Option<NamedRules>,
    /// Record file to write, ending in .hgames.
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(record_file))]
    pub out: PathBuf,
    /// Write nothing when a game has an error, instead of leaving it out.
    #[arg(long)]
    pub strict: bool,
}

#[derive(Debug, Args)]
pub struct ExportNetArgs {
    /// A checkpoint, a run directory (its newest checkpoint) or the name of a shipped checkpoint.
    #[arg(value_name = "CHECKPOINT")]
    pub model: PathBuf,
    /// ONNX file to write; docs/NETWORK.md describes its inputs and outputs.
    #[arg(long, value_name = "FILE", required_unless_present = "reference")]
    pub onnx: Option<PathBuf>,
    /// NumPy file to write: positions on every board and this network's outputs, to check other programs.
    #[arg(long, value_name = "FILE")]
    pub reference: Option<PathBuf>,
}
