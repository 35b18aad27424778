//! The knobs of the search, and what each may be set to.

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

/// Every knob of the search. Scores are P(win) + P(draw)/2 throughout, in 0..=1 and never rescaled, so constants that
/// other programs give for -1..=1 are halved here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchConfig {
    /// What drives the search.
    pub root: RootKind,
    /// Gumbel: the most root moves considered; a search of n playouts considers at most n/2.
    pub considered: u32,
    /// Gumbel: sigma(q) = (c_visit + most visits of a move) * c_scale * q, in logits.
    pub c_visit: f32,
    /// Gumbel: see `c_visit`.
    pub c_scale: f32,
    /// PUCT: weight of the prior against the score.
    pub c_puct: f32,
    /// PUCT: the weight grows by `c_puct_factor * ln((N + base + 1) / base)` at a node with N visits.
    pub c_puct_base: f32,
    /// PUCT: see `c_puct_base`.
    pub c_puct_factor: f32,
    /// PUCT: an unvisited move is taken to score this times sqrt(prior mass visited so far) less than its node.
    pub fpu_reduction: f32,
    /// PUCT: priors are taken to the power of 1 / this: above 1 they are more even. Networks that learn from Gumbel
    /// searches are surer of their first choice than is good for a search that hardly looks at moves of a small prior.
    pub prior_temperature: f32,
    /// PUCT: the most that a sooner end counts for the winning side and a later one for the losing side, in expected
    /// score.
    pub moves_left_weight: f32,
    /// PUCT: how many plies sooner or later count that much.
    pub moves_left_plies: f32,
    /// PUCT: an outstanding leaf counts as so many lost visits along its path.
    pub virtual_loss: u32,
    /// The most nodes a search may hold; it ends early when they are used up. A node takes 48 bytes and 16 more per
    /// legal move: about 0.7 kB on 7x7 and 2 kB on 11x11.
    pub max_nodes: u32,
}

impl Default for SearchConfig {
    fn default() -> Self {
        SearchConfig {
            root: RootKind::Gumbel,
            considered: 16,
            c_visit: 50.0,
            c_scale: 1.0,
            c_puct: 0.9,
            c_puct_base: 19_652.0,
            c_puct_factor: 0.5,
            fpu_reduction: 0.15,
            prior_temperature: 3.0,
            moves_left_weight: 0.06,
            moves_left_plies: 20.0,
            virtual_loss: 1,
            max_nodes: 200_000,
        }
    }
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
    pub allowed: &'static str,
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

    /// Every fault of the values, all at once; empty when the config can be used.
    pub fn validate(&self) -> Vec<ConfigFault> {
        let mut faults = Vec::new();
        let mut check = |key, value: String, fits: bool, allowed| {
            if !fits {
                faults.push(ConfigFault { key, value, allowed });
            }
        };
        let within = |value: f32, low: f32, high: f32| (low..=high).contains(&value);
        let real = |value: f32| value.to_string();
        check("considered", self.considered.to_string(), (1..=480).contains(&self.considered), "1 to 480");
        check("c_visit", real(self.c_visit), within(self.c_visit, 0.0, 1000.0), "0 to 1000");
        check("c_scale", real(self.c_scale), within(self.c_scale, 0.0, 10.0), "0 to 10");
        check("c_puct", real(self.c_puct), within(self.c_puct, 0.0, 100.0), "0 to 100");
        check("c_puct_base", real(self.c_puct_base), within(self.c_puct_base, 1.0, 1e9), "1 to 1e9");
        check("c_puct_factor", real(self.c_puct_factor), within(self.c_puct_factor, 0.0, 100.0), "0 to 100");
        check("fpu_reduction", real(self.fpu_reduction), within(self.fpu_reduction, 0.0, 1.0), "0 to 1");
        check(
            "prior_temperature",
            real(self.prior_temperature),
            within(self.prior_temperature, 0.1, 10.0),
            "0.1 to 10",
        );
        check("moves_left_weight", real(self.moves_left_weight), within(self.moves_left_weight, 0.0, 1.0), "0 to 1");
        check("moves_left_plies", real(self.moves_left_plies), within(self.moves_left_plies, 1.0, 1000.0), "1 to 1000");
        check("virtual_loss", self.virtual_loss.to_string(), (1..=100).contains(&self.virtual_loss), "1 to 100");
        check("max_nodes", self.max_nodes.to_string(), (2..=8_000_000).contains(&self.max_nodes), "2 to 8000000");
        faults
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
