//! `hnefi export-net`: a checkpoint's network for other programs.

use std::path::absolute;

use anyhow::ensure;
use hnefi_arena::players::ModelCache;
use hnefi_inference::Devices;
use hnefi_inference::printable;
use hnefi_search::SearchConfig;

use crate::cli::ExportNetArgs;
use crate::output;

pub fn run(args: ExportNetArgs) -> anyhow::Result<()> {
    // The same place would be free for the first of them alone.
    if let (Some(onnx), Some(reference)) = (&args.onnx, &args.reference) {
        let same = absolute(onnx)? == absolute(reference)?;
        ensure!(!same, "--onnx and --reference {}: expected two files", reference.display());
    }
    let mut models = ModelCache::new(Devices::cpu(), SearchConfig::default());
    let checkpoint = models.checkpoint(&args.model)?;
    let mut files = Vec::new();
    if let Some(onnx) = &args.onnx {
        let bytes = checkpoint.onnx_bytes();
        let what = format!("{} bytes, network {}", bytes.len(), printable(&checkpoint.card.id));
        files.push((onnx, bytes, what));
    }
    if let Some(reference) = &args.reference {
        let bytes = hnefi_data::reference_bytes(&checkpoint.weights, reference)?;
        files.push((reference, bytes, "positions on five boards with the outputs of this network".to_owned()));
    }
    // All of them or none; what an interrupted call has written may lie there.
    for (out, bytes, _) in &files {
        hnefi_data::is_missing_file(out, bytes)?;
    }
    let mut written = Vec::new();
    for (out, bytes, what) in files {
        hnefi_data::write_new_file(out, &bytes)?;
        written.push(format!("{}: {what}", out.display()));
    }
    output::line(written.join("\n"))
}
