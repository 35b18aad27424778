//! `hnefi watch`: shows a training run.

use std::io::IsTerminal;

use crate::cli::WatchArgs;

/// Shows a run until the person leaves; without a terminal, prints its present state.
pub fn run(args: WatchArgs) -> anyhow::Result<()> {
    if args.web {
        return super::web::watch(&args);
    }
    let run = super::web::open_run(&args.run)?;
    if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
        hnefi_play::watch::run(&run)?;
    } else {
        hnefi_play::watch::print(&run, std::io::stdout().lock())?;
    }
    Ok(())
}
