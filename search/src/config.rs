//! The keys of the search, each defined once: type, default, range and what it does.

use hnefi_inference::names;
use serde::{Deserialize, Serialize};

/// How the root shares out its playouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RootKind {
    /// Sequential halving over moves drawn without replacement (Danihelka et al. 2022). Needs its budget in advance;
    /// for self-play and every other fixed budget.
    Gumbel,
    /// PUCT with tree reuse; for clocks and analysis.
    Puct,
}

/// Makes of one list the struct of the keys, their defaults and their ranges, both ends included.
macro_rules! keys {
    ($($(#[doc = $description:literal])+ $key:ident: $type:ty = $default:literal, $low:literal..=$high:literal;)+) => {
        /// Every key of the search. Scores are P(win) + P(draw)/2 throughout, in 0..=1 and never rescaled, so constants
        /// that other programs give for -1..=1 are halved here.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct SearchConfig {
            /// What drives the search.
            pub root: RootKind,
            $($(#[doc = $description])+ pub $key: $type,)+
        }

        impl Default for SearchConfig {
            fn default() -> Self {
                SearchConfig { root: RootKind::Gumbel, $($key: $default,)+ }
            }
        }

        impl SearchConfig {
            /// Every fault of the values, all at once; empty when the config can be used.
            pub fn validate(&self) -> Vec<ConfigFault> {
                let mut faults = Vec::new();
                $({
                    let (low, high): ($type, $type) = ($low, $high);
                    if !(low..=high).contains(&self.$key) {
                        let (value, allowed) = (self.$key.to_string(), format!("{low} to {high}"));
                        faults.push(ConfigFault { key: stringify!($key), value, allowed });
                    }
                })+
                faults
            }
        }
    };
}

keys! {
    /// Gumbel: the most root moves considered; a search of n playouts considers at most n/2.
    considered: u32 = 16, 1..=480;
    /// Gumbel: sigma(q) = (c_visit + most visits of a move) * c_scale * q, in logits.
    c_visit: f32 = 50.0, 0.0..=1000.0;
    /// Gumbel: see `c_visit`.
    c_scale: f32 = 1.0, 0.0..=10.0;
    /// PUCT: weight of the prior against the score.
    c_puct: f32 = 0.9, 0.0..=100.0;
    /// PUCT: the weight grows by `c_puct_factor * ln((N + base + 1) / base)` at a node with N visits.
    c_puct_base: f32 = 19_652.0, 1.0..=1e9;
    /// PUCT: see `c_puct_base`.
    c_puct_factor: f32 = 0.5, 0.0..=100.0;
    /// PUCT: an unvisited move is taken to score this times sqrt(prior mass visited so far) less than its node.
    fpu_reduction: f32 = 0.15, 0.0..=1.0;
    /// PUCT: priors are taken to the power of 1 / this: above 1 they are more even. Networks that learn from Gumbel
    /// searches are surer of their first choice than is good for a search that hardly looks at moves of a small prior.
    prior_temperature: f32 = 3.0, 0.1..=10.0;
    /// PUCT: the most that a sooner end counts for the winning side and a later one for the losing side, in expected
    /// score.
    moves_left_weight: f32 = 0.06, 0.0..=1.0;
    /// PUCT: how many plies sooner or later count that much.
    moves_left_plies: f32 = 20.0, 1.0..=1000.0;
    /// PUCT: an outstanding leaf counts as so many lost visits along its path.
    virtual_loss: u32 = 1, 1..=100;
    /// The most nodes a search may hold; it ends early when they are used up. A node takes 48 bytes and 16 more per
    /// legal move: about 0.7 kB on 7x7 and 2 kB on 11x11.
    max_nodes: u32 = 200_000, 2..=8_000_000;
}

/// A value that a config may not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: expected {allowed}")]
pub struct ConfigFault {
    /// The key within its section.
    pub key: &'static str,
    /// What was found.
    pub value: String,
    /// What is allowed.
    pub allowed: String,
}

impl SearchConfig {
    /// The same with one key changed, as a person writes it: `with("c_puct", "1.5")`.
    ///
    /// # Errors
    /// When there is no such key or it may not have that value: `KEY = VALUE` and what is wrong with it.
    pub fn with(self, key: &str, value: &str) -> Result<SearchConfig, String> {
        let fault = |problem: &dyn std::fmt::Display| format!("{key} = {value}: {problem}");
        let mut keys = serde_json::to_value(&self).map_err(|error| fault(&error))?;
        let known = || keys.as_object().into_iter().flat_map(|keys| keys.keys().map(String::as_str));
        // Of the whole key, as it is written in a configuration.
        let meant = names::nearest(key, known().filter(|known| *known != key));
        let meant = meant.map(|meant| names::asked(format!("search.{meant}"))).unwrap_or_default();
        let is_key = known().any(|known| known == key);
        // What is no number is a name.
        let given = serde_json::from_str(value).unwrap_or_else(|_| serde_json::Value::from(value));
        keys[key] = given;
        let changed: SearchConfig = serde_json::from_value(keys)
            .map_err(|error| if is_key { fault(&error) } else { fault(&error) + &meant })?;
        match changed.validate().first() {
            None => Ok(changed),
            Some(fault) => Err(fault.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_has_no_fault() {
        assert_eq!(SearchConfig::default().validate(), vec![]);
    }

    #[test]
    fn all_faults_are_reported_together() {
        let config = SearchConfig { considered: 0, c_scale: f32::NAN, fpu_reduction: 1.5, ..SearchConfig::default() };
        let texts: Vec<String> = config.validate().iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "considered = 0: expected 1 to 480",
                "c_scale = NaN: expected 0 to 10",
                "fpu_reduction = 1.5: expected 0 to 1"
            ]
        );
    }

    #[test]
    fn unknown_keys_are_refused_and_missing_ones_take_the_default() {
        let config: SearchConfig = serde_json::from_str(r#"{"root": "puct", "considered": 8}"#).expect("valid");
        assert_eq!(config, SearchConfig { root: RootKind::Puct, considered: 8, ..SearchConfig::default() });
        let error = serde_json::from_str::<SearchConfig>(r#"{"consider": 8}"#).expect_err("unknown key");
        assert!(error.to_string().contains("unknown field `consider`"), "{error}");
    }
}
