//! `hnefi completions` and `hnefi man`: shell completions and manual pages.

use std::io::Write;

use crate::cli::{CompletionsArgs, ManArgs, program};
use crate::output;

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<()> {
    // clap would panic where it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program(), "hnefi", &mut script);
    output::write(|out| out.write_all(&script))
}

pub fn man(args: &ManArgs) -> anyhow::Result<()> {
    hnefi_data::write_new_folder(&args.out, |folder| {
        clap_mangen::generate_to(program(), folder)?;
        for page in std::fs::read_dir(folder)? {
            let page = page?.path();
            // Without this, `man` would join the lines of the examples.
            let text = std::fs::read_to_string(&page)?.replacen(".SH EXTRA\nExamples:\n", ".SH EXAMPLES\n.nf\n", 1);
            std::fs::write(&page, text.replacen(".SH EXTRA\n", ".SH NOTES\n", 1))?;
        }
        Ok(())
    })?;
    output::line(format_args!(
        "{}: hnefi.1 and a page for each command; man -M or MANPATH finds them in a folder man1",
        args.out.display()
    ))
}
