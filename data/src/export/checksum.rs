//! Checksums of files.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The SHA-256 of a file in hexadecimal.
pub(super) fn checksum(mut file: impl std::io::Read) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            count => hash.update(&buffer[..count]),
        }
    }
    let mut text = String::with_capacity(64);
    for byte in hash.finalize().iter() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}
