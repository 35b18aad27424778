//! The shipped networks: cards from the program, weights from files that come later.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hnefi_board::{Offer, PlayerError, PlayerId, Players};
use hnefi_inference::{
    Card, Checkpoint, CpuEvaluator, CpuNetwork, Evaluator, Precision, pretrained_card, pretrained_names,
};

/// The networks by name, and what is known of each.
pub(crate) struct Networks {
    cards: Vec<(&'static str, Card)>,
    states: Mutex<HashMap<&'static str, State>>,
}

/// How far a network has come; one that was never asked for has no state.
enum State {
    /// Somebody waits for it.
    Wanted,
    /// The worker fetches it.
    OnItsWay,
    Ready(Arc<CpuNetwork>),
    /// It could not be had; the next who wants it tries again.
    Failed(String),
}

impl Networks {
    /// The networks whose cards are embedded.
    pub(crate) fn new() -> Networks {
        let card = |name| Some((name, pretrained_card(name)?.ok()?));
        Networks { cards: pretrained_names().into_iter().filter_map(card).collect(), states: Mutex::default() }
    }

    fn states(&self) -> MutexGuard<'_, HashMap<&'static str, State>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name and card behind a key such as `shipped/brandubh`.
    fn find(&self, key: &str) -> Result<&(&'static str, Card), PlayerError> {
        let name = key.strip_prefix("shipped/");
        let found = self.cards.iter().find(|(known, _)| Some(*known) == name);
        found.ok_or_else(|| PlayerError::NoModel(key.to_owned()))
    }

    /// A network that is waited for and not fetched yet.
    pub(crate) fn wanted(&self) -> Option<&'static str> {
        let mut states = self.states();
        let (name, state) = states.iter_mut().find(|(_, state)| matches!(state, State::Wanted))?;
        *state = State::OnItsWay;
        Some(name)
    }

    /// Takes in the weights of a network, or why they could not be fetched.
    pub(crate) fn take(&self, name: &str, weights: Result<&[u8], String>) {
        let Some((name, card)) = self.cards.iter().find(|(known, _)| *known == name) else { return };
        let load = |bytes: &[u8]| {
            let path = Path::new(name).join("model.safetensors");
            let checkpoint = Checkpoint::from_parts(card.clone(), bytes, &path).map_err(|error| error.to_string())?;
            let network = CpuNetwork::with_precision(&checkpoint.weights, Precision::F32);
            network.map_err(|error| error.to_string())
        };
        let state = match weights.and_then(load) {
            Ok(network) => State::Ready(Arc::new(network)),
            Err(problem) => State::Failed(problem),
        };
        self.states().insert(name, state);
    }
}

impl Players for Networks {
    fn networks(&self) -> Vec<Offer> {
        let offer = |(name, card): &(&'static str, Card)| Offer {
            id: PlayerId::Model(format!("shipped/{name}")),
            name: format!("{name}, shipped"),
            rulesets: card.rulesets.clone(),
            is_model: true,
        };
        self.cards.iter().map(offer).collect()
    }

    fn name(&self, key: &str) -> Result<String, PlayerError> {
        self.find(key).map(|(name, _)| (*name).to_owned())
    }

    fn resolve(&self, key: &str) -> Result<String, PlayerError> {
        self.find(key).map(|_| key.to_owned())
    }

    fn evaluator(&self, key: &str) -> Result<Option<Box<dyn Evaluator>>, PlayerError> {
        let (name, _) = self.find(key)?;
        let mut states = self.states();
        let state = states.entry(name).or_insert(State::Wanted);
        match state {
            State::Wanted | State::OnItsWay => Ok(None),
            State::Ready(network) => Ok(Some(Box::new(CpuEvaluator::new(network.clone())))),
            State::Failed(problem) => {
                let problem = format!("the network {name} could not be loaded: {problem}");
                states.remove(name);
                Err(PlayerError::Unusable(problem))
            }
        }
    }

    fn identities(&self) -> HashMap<String, String> {
        self.cards.iter().map(|(name, card)| (card.id.clone(), (*name).to_owned())).collect()
    }
}
