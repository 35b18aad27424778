//! `hnefi perft`: count move sequences, to compare rules engines.

use crate::cli::{PerftArgs, position};
use crate::output;

pub fn run(args: PerftArgs) -> anyhow::Result<()> {
    let mut position = position(&args.rules.rules(), args.fen.as_deref())?;
    output::line(format_args!("nodes {}", hnefi_engine::perft(&mut position, args.depth)))
}
