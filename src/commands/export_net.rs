//! `hnefi export-net`: a checkpoint's network for other programs.

use std::path::absolute;

use anyhow::ensure;
use hnefi_arena::players::ModelCache;
use hnefi_inference::DeviceChoice;
use hnefi_inference::printable;
use hnefi_search::SearchConfig;

use crate::cli::ExportNetArgs;
use crate::output;

/// Writes the files asked for.
pub fn run(args: ExportNetArgs) -> anyhow::Result<()> {
    // The same place would be free for the first of them alone.
    if let (Some(onnx), Some(reference)) = (&args.onnx, &args.reference) {
        let same = absolute(onnx)? == absolute(reference)?;
        ensure!(!same, "--onnx and --reference {}: expected two files", reference.display());
    }
    for out in [&args.onnx, &args.reference].into_iter().flatten() {
        hnefi_data::check_new_file(out)?;
    }
    let mut models = ModelCache::new(DeviceChoice::Cpu, SearchConfig::default());
    let checkpoint = models.checkpoint(&args.model)?;
    let mut written = Vec::new();
    if let Some(onnx) = &args.onnx {
        let bytes = checkpoint.onnx_bytes()?;
        hnefi_data::write_new_file(onnx, &bytes)?;
        let network = printable(&checkpoint.card.id);
        written.push(format!("{}: {} bytes, network {network}", onnx.display(), bytes.len()));
    }
    if let Some(reference) = &args.reference {
        hnefi_data::write_reference(&checkpoint.weights, reference)?;
        let what = "positions on three boards with the outputs of this network";
        written.push(format!("{}: {what}", reference.display()));
    }
    output::line(written.join("\n"))
}
