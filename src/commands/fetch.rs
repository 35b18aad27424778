//! `hnefi fetch`: copies a run from a bucket into a directory.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hnefi_inference::printable;
use hnefi_run::store::{Access, Fetched, Location, Store, fetch};

use super::delays::Delays;
use crate::cli::FetchArgs;
use crate::{interrupt, output, progress};

/// Time between two looks at a run that is followed.
const LOOK: Duration = Duration::from_secs(10);

/// Copies missing objects, repeatedly with `--follow`.
pub fn run(args: FetchArgs) -> anyhow::Result<()> {
    let stop = interrupt::stop_flag()?;
    let bar = progress::spinner();
    let retry = args.store.retry(Delays { bar: bar.clone(), stop: Arc::clone(&stop) });
    let from = Store::open(&args.from, Access::Read, retry)?;
    if !args.follow {
        let known = !from.list("")?.is_empty();
        anyhow::ensure!(known, "{}: nothing is there; expected a run, or --follow to wait for one", from.place());
    }
    let to = Store::open(&Location::Directory(args.run.clone()), Access::Write, Default::default())?;
    let stopped = || stop.load(Ordering::SeqCst);
    let (mut all, mut left_out) = (0, BTreeSet::new());
    loop {
        let begins = |key: &str| bar.set_message(printable(key).into_owned());
        let Fetched { copied: fetched, left_out: more } = fetch(&from, &to, args.all, &begins, &stopped)?;
        all += fetched;
        for text in more {
            if left_out.insert(text.clone()) {
                progress::warning(&bar, &format!("left out {text}"));
            }
        }
        if args.follow && fetched > 0 {
            progress::note(&bar, &format!("fetched {fetched} objects"));
        }
        let mut left = LOOK;
        while args.follow && !stopped() && !left.is_zero() {
            std::thread::sleep(Duration::from_millis(100));
            left = left.saturating_sub(Duration::from_millis(100));
        }
        if !args.follow || stopped() {
            bar.finish_and_clear();
            output::line(format_args!("fetched {all} objects into {}", args.run.display()))?;
            anyhow::ensure!(left_out.is_empty(), "{} of the run's objects were left out", left_out.len());
            return Ok(());
        }
    }
}
