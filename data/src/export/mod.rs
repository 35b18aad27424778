//! Export of games to files, with filters, formats and splits.

mod card;
mod column;
mod disjoint;
mod files;
mod filter;
mod npz;
mod params;
mod parquet;
mod parts;
mod schema;
mod split;
mod tables;

use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use hnefi_run::GameRecord;

pub use filter::{Bounds, Filter, GameResult};
pub use params::{BoardColumns, CardText, ExportParams, Format, PolicyColumns, TableKind};
pub use split::Splits;

use self::card::{CardFile, Census};
use self::column::AnyTable;
use self::disjoint::{Disjoint, Overlap};
use self::files::TableWriter;
use self::parts::{Entry, PartWriter, TextWriter};
use self::tables::Names;
use crate::place::{UnfinishedFolder, check_new_file, check_new_folder, finish_file, unfinished_file};
use crate::{DataError, GameId};

/// A game with its generation.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceGame {
    /// The game.
    pub record: GameRecord,
    /// Generation of its run, if known.
    pub generation: Option<u32>,
}

impl From<GameRecord> for SourceGame {
    fn from(record: GameRecord) -> SourceGame {
        SourceGame { record, generation: None }
    }
}

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportSummary {
    /// Number of games written.
    pub games: u64,
    /// Number of their plies.
    pub plies: u64,
    /// Number of unfinished games left out (tables of positions only, because their positions have no value target).
    pub unfinished: u64,
    /// Number of games left out by the filter.
    pub filtered: u64,
    /// Number of positions left out because an earlier split has them ([`ExportParams::disjoint`]).
    pub shared: u64,
    /// Files written, without the dataset card.
    pub files: u64,
    /// Names of the splits with their numbers of games; empty without splits.
    pub splits: Vec<(String, u64)>,
    /// For each split but the first, the share of its positions that an earlier split has too, as they are or as one of
    /// their mirror images; empty with [`ExportParams::disjoint`], and if there are too many positions to count them.
    pub overlap: Vec<(String, f64)>,
    /// What a reader of the dataset should be warned of; empty for a single text.
    pub warnings: Vec<String>,
}

/// Exports games to `out`: a new file for jsonl and pgn without a split, otherwise a new folder with a dataset card
/// (`README.md`) and a folder for each split, `train` without splits. It appears complete or not at all, and nothing
/// that exists is overwritten. Games may be under different rules; they are read one at a time, and memory does not
/// grow with their number.
///
/// # Errors
/// When the format does not support an option, `out` exists (an empty folder may), a game breaks the rules, or a file
/// cannot be written.
pub fn export(
    games: impl IntoIterator<Item = impl Into<SourceGame>>,
    params: &ExportParams,
    out: &Path,
) -> Result<ExportSummary, DataError> {
    export_unless(games, params, out, &AtomicBool::new(false))
}

/// As [`export`]; ends after the present game once `stop` is true, and then writes nothing.
///
/// # Errors
/// As [`export`], and [`DataError::Stopped`].
pub fn export_unless(
    games: impl IntoIterator<Item = impl Into<SourceGame>>,
    params: &ExportParams,
    out: &Path,
    stop: &AtomicBool,
) -> Result<ExportSummary, DataError> {
    params.check()?;
    let games = games.into_iter().map(Into::into).take_while(|_| !stop.load(Ordering::Relaxed));
    if params.is_folder() {
        return export_folder(games, params, out, stop);
    }
    let mut filtered = 0;
    let games = games.filter(|game| {
        let accepted = params.filter.accepts(game);
        filtered += u64::from(!accepted);
        accepted
    });
    check_new_file(out)?;
    let file = unfinished_file(out)?;
    let mut summary = write_texts(games, BufWriter::new(file.as_file()), params.format)?;
    check_wanted(out, stop)?;
    finish_file(file, out)?;
    summary.filtered = filtered;
    Ok(summary)
}

/// Writes one line of JSON per game.
///
/// # Errors
/// When a game breaks the rules or the stream fails.
pub fn write_jsonl(
    games: impl IntoIterator<Item = impl Into<SourceGame>>,
    out: impl Write,
) -> Result<ExportSummary, DataError> {
    write_texts(games, out, Format::Jsonl)
}

/// Writes games as PGN-like text, a blank line between them.
///
/// # Errors
/// When a game breaks the rules or the stream fails.
pub fn write_pgn(
    games: impl IntoIterator<Item = impl Into<SourceGame>>,
    out: impl Write,
) -> Result<ExportSummary, DataError> {
    write_texts(games, out, Format::Pgn)
}

/// The game as PGN-like text, or as a line of JSON with the line break.
fn text(game: &SourceGame, format: Format) -> Result<String, DataError> {
    Ok(match format {
        Format::Pgn => hnefi_record::pgn::text(&game.record, game.generation)?,
        _ => hnefi_record::json_line(&game.record, game.generation)? + "\n",
    })
}

fn write_texts(
    games: impl IntoIterator<Item = impl Into<SourceGame>>,
    mut out: impl Write,
    format: Format,
) -> Result<ExportSummary, DataError> {
    let stream = |source| DataError::Stream { doing: "writing games", source };
    let mut summary = ExportSummary { files: 1, ..ExportSummary::default() };
    for game in games {
        let game = game.into();
        out.write_all(text(&game, format)?.as_bytes()).map_err(stream)?;
        summary.games += 1;
        summary.plies += game.record.plies.len() as u64;
    }
    out.flush().map_err(stream)?;
    Ok(summary)
}

/// Returns [`DataError::Stopped`] once `stop` is true.
fn check_wanted(out: &Path, stop: &AtomicBool) -> Result<(), DataError> {
    if stop.load(Ordering::Relaxed) { Err(DataError::Stopped { path: out.to_owned() }) } else { Ok(()) }
}

fn export_folder(
    games: impl Iterator<Item = SourceGame>,
    params: &ExportParams,
    out: &Path,
    stop: &AtomicBool,
) -> Result<ExportSummary, DataError> {
    let problem = |error: std::io::Error| DataError::write(out, error);
    check_new_folder(out)?;
    let made = UnfinishedFolder::new(out)?;
    let mut parts = parts(params, made.path())?;
    let mut summary = ExportSummary::default();
    let mut census = Census::default();
    let mut disjoint = params.disjoint.then(|| Disjoint::new(parts.len(), made.path())).transpose().map_err(problem)?;
    let mut overlap = (parts.len() > 1 && !params.disjoint).then(|| Overlap::new(parts.len()));
    for game in games {
        if !params.filter.accepts(&game) {
            summary.filtered += 1;
        } else if params.table() == TableKind::Positions && !game.record.is_finished() {
            summary.unfinished += 1;
        } else {
            let id = GameId::of(&game.record);
            let part = params.splits.as_ref().map_or(0, |splits| splits.part_of(id));
            match &mut disjoint {
                None => parts[part].writer.add(&Entry { game: &game, id, left_out: &[] })?,
                // Later parts are written when the parts before are complete.
                Some(disjoint) if part > 0 => disjoint.keep_for_later(part, &game).map_err(problem)?,
                Some(disjoint) => {
                    let left_out = disjoint.left_out(&game.record)?;
                    parts[part].writer.add(&Entry { game: &game, id, left_out: &left_out })?;
                }
            }
            if let Some(overlap) = &mut overlap {
                overlap.count(part, &game.record)?;
            }
            parts[part].games += 1;
            summary.games += 1;
            summary.plies += game.record.plies.len() as u64;
            census.count(&game);
        }
    }
    if let Some(disjoint) = &mut disjoint {
        for (index, part) in parts.iter_mut().enumerate().skip(1) {
            disjoint.end_part();
            for game in disjoint.kept(index).map_err(problem)? {
                check_wanted(out, stop)?;
                let game = game.map_err(problem)?;
                let left_out = disjoint.left_out(&game.record)?;
                summary.shared += left_out.iter().filter(|&&left_out| left_out).count() as u64;
                part.writer.add(&Entry { game: &game, id: GameId::of(&game.record), left_out: &left_out })?;
            }
        }
    }
    check_wanted(out, stop)?;
    summary.warnings = census.values.warnings();
    if let Some(overlap) = overlap {
        let later = parts.iter().zip(overlap.shares()).skip(1);
        summary.overlap = later.map(|(part, share)| (part.name.clone(), share)).collect();
    }
    let mut files = Vec::new();
    for part in parts {
        if params.splits.is_some() {
            summary.splits.push((part.name.clone(), part.games));
        }
        for file in part.writer.finish()? {
            files.push(CardFile::of(&part.name, &file, made.path())?);
        }
    }
    summary.files = files.len() as u64;
    card::write(made.path(), params, &summary, &census, &files)?;
    made.finish(out)?;
    Ok(summary)
}

/// An empty table of what is asked for.
fn table(params: &ExportParams) -> Box<dyn AnyTable> {
    let names = if params.format == Format::Npz { Names::Numbers } else { Names::Texts };
    match params.table() {
        TableKind::Positions => {
            Box::new(column::ColumnTable::new(tables::positions(params.board, params.policy, names)))
        }
        TableKind::Games => Box::new(column::ColumnTable::new(tables::games())),
    }
}

/// One split, or the whole dataset, while it is written.
struct Part {
    name: String,
    games: u64,
    writer: Box<dyn PartWriter>,
}

/// The writers, one per split with a folder of its own: readers of a folder of tables (pandas, pyarrow) take every file
/// in it for a table, so the card must not lie beside them.
fn parts(params: &ExportParams, root: &Path) -> Result<Vec<Part>, DataError> {
    let names = params.splits.as_ref().map_or(vec![card::WHOLE], |splits| splits.names().collect());
    let count = names.len();
    let part = |name: &str| {
        let folder = root.join(name);
        std::fs::create_dir(&folder).map_err(|error| DataError::write(&folder, error))?;
        let writer: Box<dyn PartWriter> = match params.format {
            Format::Npz | Format::Parquet => Box::new(TableWriter::new(folder, params, count)),
            Format::Jsonl | Format::Pgn => Box::new(TextWriter::new(folder, params.format, params.shard_rows)),
        };
        Ok(Part { name: name.to_owned(), games: 0, writer })
    };
    names.into_iter().map(part).collect()
}
