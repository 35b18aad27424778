//! `hnefi fetch`: copies a run from a bucket into a directory.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hnefi_inference::printable;
use hnefi_run::store::{Access, Location, Store, fetch};

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
    let mut all = 0;
    loop {
        let fetched = fetch(&from, &to, args.all, &|key| bar.set_message(printable(key).into_owned()), &stopped)?;
        all += fetched;
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
            return output::line(format_args!("fetched {all} objects into {}", args.run.display()));
        }
    }
}
