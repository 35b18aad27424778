//! The configuration of a search. Each key is defined once: type, default, range and meaning.

use hnefi_inference::names;
use serde::{Deserialize, Serialize};

use crate::Limit;

/// How the root distributes its playouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RootKind {
    /// Sequential halving over moves sampled without replacement (Danihelka et al. 2022). It needs the budget in
    /// advance: for self-play and other fixed budgets.
    Gumbel,
    /// PUCT with tree reuse; for clocks and analysis.
    Puct,
}

/// Defines the struct, the default values and the allowed ranges (both ends included) from one list of keys.
macro_rules! keys {
    ($($(#[doc = $description:literal])+ $key:ident: $type:ty = $default:literal, $low:literal..=$high:expr;)+) => {
        /// The configuration of a search. Scores are P(win) + P(draw)/2, from 0 to 1, and never rescaled. Constants
        /// published for values from -1 to 1 are therefore halved.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct SearchConfig {
            /// The algorithm at the root.
            pub root: RootKind,
            $($(#[doc = $description])+ pub $key: $type,)+
        }

        impl Default for SearchConfig {
            fn default() -> Self {
                SearchConfig { root: RootKind::Gumbel, $($key: $default,)+ }
            }
        }

        impl SearchConfig {
            /// Returns an error for each value out of range; empty for a valid configuration.
            pub fn validate(&self) -> Vec<KeyError> {
                let mut errors = Vec::new();
                $({
                    let (low, high): ($type, $type) = ($low, $high);
                    if !(low..=high).contains(&self.$key) {
                        let (value, allowed) = (self.$key.to_string(), format!("{low} to {high}"));
                        errors.push(KeyError { key: stringify!($key), value, allowed });
                    }
                })+
                errors
            }
        }
    };
}

keys! {
    /// Gumbel: the most root moves considered. A search of n playouts considers
    /// at most n/2.
    max_num_considered_actions: u32 = 16, 1..=480;
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
    /// PUCT: first-play urgency. The score of an unvisited move is the node's score minus this times sqrt(visited prior
    /// mass).
    fpu_reduction: f32 = 0.15, 0.0..=1.0;
    /// PUCT: temperature of the priors; above 1 they become more even. Policies trained on Gumbel searches are too
    /// sharp for PUCT, which hardly visits moves of small priors.
    prior_temperature: f32 = 3.0, 0.1..=10.0;
    /// PUCT: largest bonus for an earlier end of a won game and a later end of a lost one, in expected score.
    moves_left_weight: f32 = 0.06, 0.0..=1.0;
    /// PUCT: difference in plies that earns the largest bonus.
    moves_left_plies: f32 = 20.0, 1.0..=1000.0;
    /// PUCT: number of lost visits that an outstanding leaf counts as along its path.
    virtual_loss: u32 = 1, 1..=100;
    /// The most nodes of a tree; a full tree ends the search. A node takes some 80 bytes and 16 more per legal move:
    /// about 0.7 kB on 7x7 and 2 kB on 11x11.
    max_nodes: u32 = 200_000, 2..=SearchConfig::MOST_NODES;
}

/// A value out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: expected {allowed}")]
pub struct KeyError {
    /// The key within its section.
    pub key: &'static str,
    /// What was found.
    pub value: String,
    /// What is allowed.
    pub allowed: String,
}

/// A setting that does not exist or does not allow its value: `KEY = VALUE` and the problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingError(String);

impl SearchConfig {
    /// The largest `max_nodes`. A tree of this size numbers its moves below 2^32 if a node has 700 of them on average;
    /// Alea Evangelii begins with 580.
    pub const MOST_NODES: u32 = 6_000_000;

    /// With the root that is usual for a limit, and room in the tree for its playouts.
    #[must_use]
    pub fn limited_by(self, limit: Limit) -> SearchConfig {
        let room = limit.playouts().unwrap_or(0).saturating_add(2).min(SearchConfig::MOST_NODES);
        SearchConfig { root: limit.usual_root(), max_nodes: self.max_nodes.max(room), ..self }
    }

    /// Returns the configuration with one key changed: `with("c_puct", "1.5")`.
    ///
    /// # Errors
    /// When the key does not exist or does not allow the value.
    pub fn with(self, key: &str, value: &str) -> Result<SearchConfig, SettingError> {
        let refused = |problem: String| SettingError(format!("{key} = {value}: {problem}"));
        let mut keys = serde_json::to_value(&self).map_err(|error| refused(error.to_string()))?;
        let known = || keys.as_object().into_iter().flat_map(|keys| keys.keys().map(String::as_str));
        // Suggest the full path of the key.
        let meant = names::nearest(key, known().filter(|known| *known != key));
        let meant = meant.map(|meant| names::suggestion(format!("search.{meant}"))).unwrap_or_default();
        let is_key = known().any(|known| known == key);
        // A value that is not JSON is a name.
        let given = serde_json::from_str(value).unwrap_or_else(|_| serde_json::Value::from(value));
        keys[key] = given;
        let changed: SearchConfig = serde_json::from_value(keys)
            .map_err(|error| refused(if is_key { error.to_string() } else { format!("{error}{meant}") }))?;
        match changed.validate().first() {
            None => Ok(changed),
            Some(error) => Err(SettingError(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use hnefi_engine::{NamedRules, Position};

    use super::*;

    #[test]
    fn the_moves_of_the_largest_tree_can_be_numbered() {
        let starts = NamedRules::published().map(|named| Position::start(&named.rules()).count_legal_moves());
        let most = starts.max().expect("rulesets") as u64;
        assert!(u64::from(SearchConfig::MOST_NODES) * most < 1 << 32, "{most} moves");
    }

    #[test]
    fn the_default_has_no_fault() {
        assert_eq!(SearchConfig::default().validate(), vec![]);
    }

    #[test]
    fn all_faults_are_reported_together() {
        let config = SearchConfig {
            max_num_considered_actions: 0,
            c_scale: f32::NAN,
            fpu_reduction: 1.5,
            ..SearchConfig::default()
        };
        let texts: Vec<String> = config.validate().iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "max_num_considered_actions = 0: expected 1 to 480",
                "c_scale = NaN: expected 0 to 10",
                "fpu_reduction = 1.5: expected 0 to 1"
            ]
        );
    }

    #[test]
    fn unknown_keys_are_refused_and_missing_ones_take_the_default() {
        let config: SearchConfig =
            serde_json::from_str(r#"{"root": "puct", "max_num_considered_actions": 8}"#).expect("valid");
        assert_eq!(
            config,
            SearchConfig { root: RootKind::Puct, max_num_considered_actions: 8, ..SearchConfig::default() }
        );
        let error = serde_json::from_str::<SearchConfig>(r#"{"consider": 8}"#).expect_err("unknown key");
        assert!(error.to_string().contains("unknown field `consider`"), "{error}");
    }
}
