//! `hnefi replay`: check games given as lines of JSON on standard input.

use std::io::{BufWriter, Write};

pub fn run() -> anyhow::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    hnefi_data::replay(std::io::stdin().lock(), &mut out)?;
    out.flush()?;
    Ok(())
}
