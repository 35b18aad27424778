//! What a run began with, compared with what is asked of it later.

use std::collections::BTreeSet;

use serde_json::Value;

/// The keys on which two JSON objects differ, each with both values: `train.batch is 256 there and 128 here`. Keys for
/// whose path, such as `config.train.batch`, `passes_over` holds are not compared.
pub fn differences(found: &Value, wanted: &Value, passes_over: &dyn Fn(&str) -> bool) -> Vec<String> {
    fn compare(path: &str, values: [&Value; 2], passes_over: &dyn Fn(&str) -> bool, differences: &mut Vec<String>) {
        if passes_over(path) {
            return;
        }
        let [Value::Object(there), Value::Object(here)] = values else {
            if values[0] != values[1] {
                // Users know the keys of a configuration without its own.
                let key = path.strip_prefix("config.").unwrap_or(path);
                let [there, here] = values.map(shown);
                differences.push(format!("{key} is {there} there and {here} here"));
            }
            return;
        };
        for key in there.keys().chain(here.keys()).collect::<BTreeSet<_>>() {
            let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let values = [there, here].map(|object| object.get(key).unwrap_or(&Value::Null));
            compare(&inner, values, passes_over, differences);
        }
    }
    let mut differences = Vec::new();
    compare("", [found, wanted], passes_over, &mut differences);
    differences
}

fn shown(value: &Value) -> String {
    if value.is_null() { "absent".to_owned() } else { value.to_string() }
}
