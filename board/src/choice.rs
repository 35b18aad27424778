//! Who plays where nobody is named: the same choice in the terminal, in the browser and behind the protocol.

use hnefi_engine::Preset;
use hnefi_inference::pretrained_for;

/// Who plays on a board of people where no network is shipped for the rules.
pub const WITHOUT_NETWORK: &str = "alphabeta:2";

/// The name of the shipped network that plays by these rules where nobody names one: one trained on them, or else one
/// trained on a game like theirs ([`foreign`] says so).
///
/// # Errors
/// A sentence that says that there is none.
pub fn shipped_network(rules: Preset) -> Result<&'static str, String> {
    pretrained_for(rules).ok_or_else(|| format!("no network is shipped for {rules} or a game like it"))
}

/// What to tell somebody who plays by rules that a network was not trained on.
pub fn foreign(rulesets: &[String], rules: Preset) -> Option<String> {
    let knows = rulesets.iter().any(|name| name == rules.name());
    (!knows).then(|| format!("the network was trained on {}, not on {rules}", rulesets.join(", ")))
}
