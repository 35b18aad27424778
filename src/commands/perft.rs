//! `hnefi perft`: count move sequences, to compare rules engines.

use crate::cli::{PerftArgs, position};

/// Prints `nodes N`.
pub fn run(args: PerftArgs) -> anyhow::Result<()> {
    let mut position = position(&args.rules.rules(), args.fen.as_deref())?;
    println!("nodes {}", hnefi_engine::perft(&mut position, args.depth));
    Ok(())
}
