//! The location of a run: a directory or a bucket.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::StoreError;

const SCHEMES: [&str; 3] = ["s3", "gs", "az"];

/// The location of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A directory, local or mounted.
    Directory(PathBuf),
    /// A bucket with a prefix, such as `s3://bucket/runs/first`; never ends with `/`. `memory://NAME/PREFIX` is one in
    /// this process, for tests.
    Bucket(String),
}

impl FromStr for Location {
    type Err = StoreError;

    /// Reads `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX`, `az://CONTAINER/PREFIX`, `file:DIR`, or a plain directory.
    fn from_str(text: &str) -> Result<Location, StoreError> {
        let refuse = |problem: &str| StoreError::BadLocation { text: text.to_owned(), problem: problem.to_owned() };
        if let Some(rest) = text.strip_prefix("file:") {
            let path = rest.strip_prefix("//").unwrap_or(rest);
            return if path.is_empty() { Err(refuse("no directory")) } else { Ok(Location::Directory(path.into())) };
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return if text.is_empty() { Err(refuse("nothing")) } else { Ok(Location::Directory(text.into())) };
        };
        if !SCHEMES.contains(&scheme) {
            return Err(refuse(&format!("scheme {scheme}")));
        }
        let rest = rest.trim_end_matches('/');
        if rest.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
            return Err(refuse("an empty or relative part"));
        }
        Ok(Location::Bucket(format!("{scheme}://{rest}")))
    }
}

impl From<&Path> for Location {
    /// As a text is read, and a directory where that fails.
    fn from(path: &Path) -> Location {
        let read: Option<Location> = path.to_str().and_then(|text| text.parse().ok());
        read.unwrap_or_else(|| Location::Directory(path.to_owned()))
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Directory(dir) => write!(f, "{}", dir.display()),
            Location::Bucket(url) => f.write_str(url),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_and_buckets() {
        for (text, dir) in [
            ("runs/quick", "runs/quick"),
            ("file:runs/quick", "runs/quick"),
            ("file:///mnt/runs/quick", "/mnt/runs/quick"),
            ("/mnt/runs", "/mnt/runs"),
        ] {
            assert_eq!(text.parse::<Location>().unwrap(), Location::Directory(dir.into()), "{text}");
            assert_eq!(Location::from(Path::new(text)), Location::Directory(dir.into()), "{text}");
        }
        let bucket = |text: &str| text.parse::<Location>().unwrap().to_string();
        assert_eq!(bucket("s3://bucket/runs/first/"), "s3://bucket/runs/first");
        assert_eq!(bucket("gs://bucket"), "gs://bucket");
    }

    #[test]
    fn what_is_neither_is_refused() {
        for text in ["", "file:", "ftp://host/x", "s3://", "s3:///x", "s3://bucket//x", "az://box/../x"] {
            let message = text.parse::<Location>().unwrap_err().to_string();
            assert!(message.contains("expected a directory or s3://BUCKET/PREFIX"), "{text}: {message}");
        }
    }
}
