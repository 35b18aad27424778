//! `hnefi pack` and `hnefi unpack`: packs a run into a few files, and unpacks it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use hnefi_run::store::{PackParams, Packed, Store, pack, unpack};

use crate::cli::{PackArgs, UnpackArgs};
use crate::output;

/// Packs a run that no process is training.
pub fn run(args: PackArgs) -> anyhow::Result<()> {
    // A bucket is fetched first.
    anyhow::ensure!(args.run.is_dir(), "{}: not found; expected the directory of a run", args.run.display());
    super::web::open_run(&args.run)?;
    let name = args.run.canonicalize().ok().and_then(|dir| dir.file_name().map(PathBuf::from));
    let out = args.out.unwrap_or_else(|| name.unwrap_or_else(|| "run".into()).with_extension("pack"));
    let mut first = out.clone().into_os_string();
    first.push(".01");
    hnefi_data::check_new_file(Path::new(&first))?;
    // While this process holds the lock, no object is superseded.
    let store = Store::open_or_create(&args.run).context("a run is packed while nobody writes to it")?;
    let params = PackParams { part_bytes: args.part_mib << 20, parts: args.parts };
    let Packed { parts, bytes, objects, games: (taken, of) } = pack(&store, &out, params)?;
    for part in &parts {
        output::line(part.display())?;
    }
    let mib = bytes as f64 / f64::from(1 << 20);
    let what = format!("{objects} objects and the games of the newest {taken} of {of} generations");
    output::line(format_args!("{mib:.1} MiB: {what}"))
}

/// Unpacks a run, which the same command as before resumes.
pub fn undo(args: UnpackArgs) -> anyhow::Result<()> {
    hnefi_data::check_new_folder(&args.run)?;
    let objects = unpack(&args.parts, &args.run, args.limit_mib.map(|mib| mib << 20))?;
    let run = args.run.display();
    output::line(format_args!("{objects} objects in {run}; `hnefi train` with the run's configuration goes on"))
}
