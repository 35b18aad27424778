//! Where new files and folders go: complete under their name, or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::DataError;

/// The folder that will hold `out`.
pub(crate) fn folder_of(out: &Path) -> PathBuf {
    match out.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// A builder of temporary files that become real ones: as readable as the umask allows, not private as is their habit.
pub(crate) fn temporary(mode: u32) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder
}

/// Refuses a name that is taken, before any work is done for it.
pub(crate) fn check_free(out: &Path) -> Result<(), DataError> {
    if out.exists() { Err(DataError::write(out, "it exists; nothing is overwritten")) } else { Ok(()) }
}

/// Writes a new file, folders above it included: all of it under its name and on the disk, or nothing.
///
/// # Errors
/// When the name is taken or the file system refuses.
pub fn write_new_file(out: &Path, bytes: &[u8]) -> Result<(), DataError> {
    let problem = |error: std::io::Error| DataError::write(out, error);
    check_free(out)?;
    let folder = folder_of(out);
    std::fs::create_dir_all(&folder).map_err(problem)?;
    let mut file = temporary(0o666).tempfile_in(&folder).map_err(problem)?;
    file.write_all(bytes).map_err(problem)?;
    file.as_file().sync_all().map_err(problem)?;
    file.persist_noclobber(out).map_err(|error| problem(error.error))?;
    Ok(())
}
