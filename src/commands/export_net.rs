//! `hnefi export-net`: a checkpoint's network for other programs.

use hnefi_arena::players::ModelCache;
use hnefi_inference::DeviceChoice;
use hnefi_inference::printable;
use hnefi_search::SearchConfig;

use crate::cli::ExportNetArgs;

/// Writes the files asked for.
pub fn run(args: ExportNetArgs) -> anyhow::Result<()> {
    for out in [&args.onnx, &args.reference].into_iter().flatten() {
        hnefi_data::check_new_file(out)?;
    }
    let mut models = ModelCache::new(DeviceChoice::Cpu, SearchConfig::default());
    let checkpoint = models.checkpoint(&args.model)?;
    if let Some(onnx) = &args.onnx {
        let bytes = checkpoint.onnx_bytes()?;
        hnefi_data::write_new_file(onnx, &bytes)?;
        println!("{}: {} bytes, network {}", onnx.display(), bytes.len(), printable(&checkpoint.card.id));
    }
    if let Some(reference) = &args.reference {
        hnefi_data::write_reference(&checkpoint.weights, reference)?;
        println!("{}: positions on three boards with the outputs of this network", reference.display());
    }
    Ok(())
}
