//! Opens the files that a person, a page or a run names.
//!
//! Opening a named pipe waits for a writer, and a device such as `/dev/zero` has no end. So whatever is no regular file
//! is refused before it is opened, and whatever is larger than its reader expects before it is read.

use std::fmt;
use std::fs::{self, File, FileType, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Opens a file to read it.
///
/// # Errors
/// When it cannot be opened, is no regular file, or has more than `most` bytes; [`is_unfit`] knows the last two.
pub fn open(path: &Path, most: u64) -> io::Result<File> {
    check(&fs::metadata(path)?, most)?;
    let file = File::open(path)?;
    // Another one may lie there by now.
    check(&file.metadata()?, most)?;
    Ok(file)
}

/// Reads a whole file.
///
/// # Errors
/// As [`open`], and when it cannot be read.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path, most)?;
    let mut bytes = Vec::with_capacity(usize::try_from(file.metadata()?.len()).unwrap_or_default() + 1);
    // It may grow meanwhile, and files of the system have a length of 0.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    check_length(bytes.len() as u64, most)?;
    Ok(bytes)
}

/// Reads a file of UTF-8 text.
///
/// # Errors
/// As [`read`], and when it is no such text.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|error| io::Error::new(ErrorKind::InvalidData, error.utf8_error()))
}

/// Checks that what lies somewhere is a regular file.
///
/// # Errors
/// When it is none, as [`is_unfit`] knows.
pub fn check_regular(found: &Metadata) -> io::Result<()> {
    if found.is_file() { Ok(()) } else { Err(unfit(ErrorKind::InvalidInput, named(found.file_type()), "a file")) }
}

/// Checks a length in bytes before so much is read.
///
/// # Errors
/// When it is above `most`, as [`is_unfit`] knows.
pub fn check_length(found: u64, most: u64) -> io::Result<()> {
    if found <= most {
        return Ok(());
    }
    Err(unfit(ErrorKind::FileTooLarge, format_args!("{found} bytes"), format_args!("at most {most}")))
}

/// Whether an error means that the file is none, or too large: nothing that another try would change.
pub fn is_unfit(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::FileTooLarge)
}

fn check(found: &Metadata, most: u64) -> io::Result<()> {
    check_regular(found)?;
    check_length(found.len(), most)
}

fn unfit(kind: ErrorKind, found: impl fmt::Display, expected: impl fmt::Display) -> io::Error {
    io::Error::new(kind, format!("{found}; expected {expected}"))
}

/// What is no regular file, by name.
fn named(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a named pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_char_device() || kind.is_block_device() {
            return "a device";
        }
    }
    if kind.is_dir() { "a folder" } else { "no regular file" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_asked_before_anything_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large");
        File::create(&path).unwrap().set_len(20 << 30).unwrap();
        let error = read(&path, 1 << 20).unwrap_err();
        assert_eq!(error.to_string(), "21474836480 bytes; expected at most 1048576");
        assert!(is_unfit(&error));
        fs::write(&path, "four").unwrap();
        assert_eq!(read(&path, 4).unwrap(), b"four");
        assert!(is_unfit(&read(&path, 3).unwrap_err()));
        assert!(!is_unfit(&read(&folder.path().join("none"), 3).unwrap_err()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_of_the_system_is_read_up_to_the_limit() {
        // Their length is 0, whatever they hold.
        let path = Path::new("/proc/self/status");
        assert!(read(path, 1 << 20).unwrap().len() > 100);
        assert!(is_unfit(&read(path, 10).unwrap_err()));
    }

    #[cfg(unix)]
    #[test]
    fn pipes_devices_and_folders_are_refused_and_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        std::os::unix::fs::symlink("/dev/zero", at("zero")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for (name, found) in [("pipe", "a named pipe"), ("zero", "a device"), ("socket", "a socket"), ("", "a folder")]
        {
            let error = read(&at(name), 100).unwrap_err();
            assert_eq!(error.to_string(), format!("{found}; expected a file"));
            assert!(is_unfit(&error));
        }
    }
}
