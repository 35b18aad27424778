//! `hnefi analyse`: searches positions given as lines of JSON on standard input.

use std::io::{BufReader, stdin, stdout};
use std::path::Path;

use hnefi_arena::players::ModelCache;
use hnefi_data::{AnalyseParams, MOST_PLAYOUTS, analyse};
use hnefi_engine::Rules;
use hnefi_inference::EvaluatorFactory;
use hnefi_search::{Limit, SearchConfig};

use super::settled;
use crate::cli::{AnalyseArgs, AnalysisArgs};
use crate::hardware::{Hardware, cores};
use crate::progress;

pub fn run(args: AnalyseArgs, hardware: &Hardware) -> anyhow::Result<()> {
    let mut models = args.analysis.device.models(hardware);
    let make = args.analysis.evaluators(&mut models, &args.model, hardware, &[])?;
    analyse(BufReader::new(stdin()), stdout(), make.as_ref(), &args.analysis.params())?;
    Ok(())
}

impl AnalysisArgs {
    pub(super) fn params(&self) -> AnalyseParams {
        AnalyseParams {
            playouts: self.playouts,
            // A line may ask for more playouts than the arguments.
            search: SearchConfig::default().limited_by(Limit::Playouts(MOST_PLAYOUTS)),
            threads: self.threads.map_or_else(cores, usize::from),
        }
    }

    /// Makes evaluators of a network, with a warning where it was not trained for one of the `rules`.
    pub(super) fn evaluators(
        &self,
        models: &mut ModelCache,
        model: &Path,
        hardware: &Hardware,
        rules: &[Rules],
    ) -> anyhow::Result<EvaluatorFactory> {
        let checkpoint = models.checkpoint(model)?;
        let foreign = rules.iter().find_map(|&rules| checkpoint.card.foreign_to(rules));
        foreign.iter().for_each(|text| progress::warn(text));
        let devices = settled(&self.device.devices(hardware), &checkpoint.weights, self.precision)?;
        Ok(devices.evaluators(&checkpoint.weights, self.precision)?)
    }
}
