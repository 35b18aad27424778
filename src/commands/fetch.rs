//! `hnefi fetch`: copies a run from a bucket into a directory.

use std::collections::BTreeSet;
use std::time::Duration;

use hnefi_inference::printable;
use hnefi_run::store::{Access, Fetched, Location, Store, fetch};

use super::work::Work;
use crate::cli::FetchArgs;
use crate::{output, progress};

/// Time between two looks at a run that is followed.
const LOOK: Duration = Duration::from_secs(10);

/// Copies missing objects, repeatedly with `--follow`.
pub fn run(args: FetchArgs) -> anyhow::Result<()> {
    let work = Work::begin(progress::spinner())?;
    let from = Store::open(&args.from, Access::Read, args.store.retry(work.clone()))?;
    if !args.follow {
        let known = !from.list("")?.is_empty();
        anyhow::ensure!(known, "{}: nothing is there; expected a run, or --follow to wait for one", from.place());
    }
    let to = Store::open(&Location::Directory(args.run.clone()), Access::Write, Default::default())?;
    let (mut all, mut left_out) = (0, BTreeSet::new());
    loop {
        let begins = |key: &str| work.bar.set_message(printable(key).into_owned());
        let Fetched { copied: fetched, left_out: more } = fetch(&from, &to, args.all, &begins, &|| work.is_stopped())?;
        all += fetched;
        for text in more {
            if left_out.insert(text.clone()) {
                progress::warning(&work.bar, &format!("left out {text}"));
            }
        }
        if args.follow && fetched > 0 {
            work.note(&format!("fetched {fetched} objects"));
        }
        if args.follow {
            work.wait(LOOK);
        }
        if !args.follow || work.is_stopped() {
            work.bar.finish_and_clear();
            output::line(format_args!("fetched {all} objects into {}", args.run.display()))?;
            anyhow::ensure!(left_out.is_empty(), "{} of the run's objects were left out", left_out.len());
            return Ok(());
        }
    }
}
