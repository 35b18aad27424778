//! Arguments of what installs the program: `completions`, `man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell.
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub struct ManArgs {
    /// New folder for the pages, such as DIR/man1.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}
