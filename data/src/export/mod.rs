//! Exporting games: which format, where to, and all or nothing.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use hnefi_selfplay::GameRecord;

use crate::npz::ShardWriter;
use crate::{DataError, jsonl, pgn};

/// A format games are exported in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One game per line of JSON: moves, captures, policies, values and the end.
    Jsonl,
    /// Positions as numpy arrays: a folder of `positions-NxN-0001.npz`.
    Npz,
    /// A PGN-like text for people.
    Pgn,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 3] = [Format::Jsonl, Format::Npz, Format::Pgn];

    /// `jsonl`, `npz` or `pgn`, which is also the ending of the files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Format::Jsonl => "jsonl",
            Format::Npz => "npz",
            Format::Pgn => "pgn",
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Format {
    type Err = DataError;

    fn from_str(text: &str) -> Result<Format, DataError> {
        Format::ALL
            .into_iter()
            .find(|format| format.as_str() == text)
            .ok_or_else(|| DataError::UnknownFormat { found: text.to_owned() })
    }
}

/// What to export, beside the games.
#[derive(Clone, Copy, Debug)]
pub struct ExportParams {
    /// The format.
    pub format: Format,
    /// npz only: the policy as a dense `[P, 40, N, N]` array instead of indices and weights.
    pub dense_policy: bool,
    /// npz only: at most about so many positions a file (games stay whole); `None` for 128 MiB of arrays.
    pub shard_positions: Option<usize>,
}

impl ExportParams {
    /// The format with its usual choices: sparse policies, shards of 128 MiB.
    pub const fn new(format: Format) -> ExportParams {
        ExportParams { format, dense_policy: false, shard_positions: None }
    }
}

/// What was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportSummary {
    /// Games written.
    pub games: u64,
    /// Their plies.
    pub plies: u64,
    /// Games left out because they had not ended (npz only: their positions have no target).
    pub unfinished: u64,
    /// Files written.
    pub files: u64,
}

/// Exports games to `out`: a new file, or a new folder for npz. It appears complete or not at all, and nothing that exists
/// is overwritten. Games may be under different rules; they are read one at a time.
///
/// # Errors
/// When `out` exists (an empty folder may), when a game does not replay, or when the file system refuses.
pub fn export<G>(games: G, params: &ExportParams, out: &Path) -> Result<ExportSummary, DataError>
where
    G: IntoIterator<Item = GameRecord>,
{
    let folder = match out.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    std::fs::create_dir_all(&folder).map_err(|error| DataError::write(out, error))?;
    match params.format {
        Format::Npz => export_npz(games, params, &folder, out),
        Format::Jsonl => export_text(&folder, out, |file| write_jsonl(games, file)),
        Format::Pgn => export_text(&folder, out, |file| write_pgn(games, file)),
    }
}

/// Writes one line of JSON per game.
///
/// # Errors
/// When a game does not replay or the stream fails.
pub fn write_jsonl<G>(games: G, out: impl Write) -> Result<ExportSummary, DataError>
where
    G: IntoIterator<Item = GameRecord>,
{
    write_texts(games, out, |game| jsonl::line(game).map(|line| line + "\n"))
}

/// Writes games as PGN-like text, a blank line between them.
///
/// # Errors
/// When a game does not replay or the stream fails.
pub fn write_pgn<G>(games: G, out: impl Write) -> Result<ExportSummary, DataError>
where
    G: IntoIterator<Item = GameRecord>,
{
    write_texts(games, out, pgn::text)
}

fn write_texts<G>(
    games: G,
    mut out: impl Write,
    text: impl Fn(&GameRecord) -> Result<String, DataError>,
) -> Result<ExportSummary, DataError>
where
    G: IntoIterator<Item = GameRecord>,
{
    let stream = |source| DataError::Stream { doing: "writing games", source };
    let mut summary = ExportSummary { files: 1, ..ExportSummary::default() };
    for game in games {
        out.write_all(text(&game)?.as_bytes()).map_err(stream)?;
        summary.games += 1;
        summary.plies += game.plies.len() as u64;
    }
    out.flush().map_err(stream)?;
    Ok(summary)
}

fn export_text(
    folder: &Path,
    out: &Path,
    write: impl FnOnce(&mut BufWriter<&std::fs::File>) -> Result<ExportSummary, DataError>,
) -> Result<ExportSummary, DataError> {
    let problem = |error: std::io::Error| DataError::write(out, error);
    let file = temporary(0o666).tempfile_in(folder).map_err(problem)?;
    let summary = write(&mut BufWriter::new(file.as_file()))?;
    file.as_file().sync_all().map_err(problem)?;
    file.persist_noclobber(out).map_err(|error| problem(error.error))?;
    Ok(summary)
}

fn export_npz<G>(games: G, params: &ExportParams, folder: &Path, out: &Path) -> Result<ExportSummary, DataError>
where
    G: IntoIterator<Item = GameRecord>,
{
    let problem = |error: std::io::Error| DataError::write(out, error);
    if out.exists() && (!out.is_dir() || out.read_dir().map_err(problem)?.next().is_some()) {
        return Err(DataError::write(out, "it exists and is no empty folder"));
    }
    let made = temporary(0o777).tempdir_in(folder).map_err(problem)?;
    let mut shards = ShardWriter::new(made.path(), params.dense_policy, params.shard_positions);
    let mut summary = ExportSummary::default();
    for game in games {
        if game.is_finished() {
            summary.plies += shards.add(&game)? as u64;
            summary.games += 1;
        } else {
            summary.unfinished += 1;
        }
    }
    summary.files = shards.finish()? as u64;
    std::fs::rename(made.path(), out).map_err(problem)?;
    // The folder now lives under its final name; there is nothing left to delete.
    let _ = made.keep();
    Ok(summary)
}

/// A builder of temporary files that become real ones: as readable as the umask allows, not private as is their habit.
fn temporary(mode: u32) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder
}
