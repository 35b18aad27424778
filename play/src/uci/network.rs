//! Which network thinks: the one that is named, the shipped one of the ruleset, or none.

use std::path::Path;

use hnefi_arena::players::CheckpointSource;
use hnefi_engine::NamedRules;
use hnefi_inference::{Card, Checkpoint, Devices, Evaluator, PrecisionChoice, UniformEvaluator, pretrained_for};

/// Makes evaluators, one per thread.
type Make = Box<dyn Fn() -> Box<dyn Evaluator> + Send + Sync>;

/// What judges positions.
pub(super) struct Network {
    make: Make,
    /// What is said of it.
    pub(super) description: String,
    /// `None` for no network.
    card: Option<Card>,
}

impl Network {
    /// The network that `name` means: a checkpoint, a run or the name of a shipped one.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(super) fn named(name: &str, devices: &Devices, precision: PrecisionChoice) -> Result<Network, String> {
        // Read anew each time: a run may have a newer checkpoint by now.
        let checkpoint = CheckpointSource::of(Path::new(name)).and_then(|source| source.load());
        Network::of(&checkpoint.map_err(|error| error.to_string())?, name, devices, precision)
    }

    /// The shipped network for a ruleset, or at least for a game like it, or none, which the description then says.
    pub(super) fn shipped(rules: NamedRules, devices: &Devices, precision: PrecisionChoice) -> Network {
        let named = |name: &str| {
            let checkpoint = CheckpointSource::Shipped(name.to_owned()).load();
            let unusable = |_| format!("the shipped network {name} cannot be used");
            Network::of(&checkpoint.map_err(unusable)?, name, devices, precision)
        };
        pretrained_for(rules)
            .map_err(|error| error.to_string())
            .and_then(named)
            .unwrap_or_else(|problem| Network::none(&problem))
    }

    /// No judgement at all: every move as likely, every result as likely.
    fn none(problem: &str) -> Network {
        let description = format!(
            "no network is loaded: {problem}; set one with setoption name NNFile value PATH. Until then the search \
             sees wins and losses that are near and judges nothing else"
        );
        Network { make: Box::new(|| Box::new(UniformEvaluator)), description, card: None }
    }

    fn of(
        checkpoint: &Checkpoint,
        name: &str,
        devices: &Devices,
        precision: PrecisionChoice,
    ) -> Result<Network, String> {
        let Card { network, rulesets, generation, .. } = &checkpoint.card;
        let description = format!(
            "network {name} is loaded: generation {generation}, {}x{}, trained on {}",
            network.blocks,
            network.channels,
            rulesets.join(", ")
        );
        let make = devices.evaluators(&checkpoint.weights, precision).map_err(|error| error.to_string())?;
        Ok(Network { make, description, card: Some(checkpoint.card.clone()) })
    }

    /// What a user should know who plays by these rules.
    pub(super) fn warning(&self, rules: NamedRules) -> Option<String> {
        self.card.as_ref()?.foreign_to(rules)
    }

    /// The ruleset it was trained on first.
    pub(super) fn ruleset(&self) -> Option<NamedRules> {
        self.card.as_ref()?.rulesets.first().and_then(|name| name.parse().ok())
    }

    /// An evaluator for one more thread.
    pub(super) fn evaluator(&self) -> Box<dyn Evaluator> {
        (self.make)()
    }
}
