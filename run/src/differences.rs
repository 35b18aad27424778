//! What a run began with, compared with what is asked of it later.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::flat;

/// The keys on which two JSON objects differ, each with both values: `train.batch is 256 there and 128 here`. Keys for
/// whose path, such as `config.train.batch`, `passes_over` holds are not compared, and none but `kind` where that
/// differs.
pub fn differences(found: &Value, wanted: &Value, passes_over: &dyn Fn(&str) -> bool) -> Vec<String> {
    let is_other = found["kind"] != wanted["kind"];
    let (found, wanted) = (flat(found), flat(wanted));
    let mut keys: BTreeSet<&String> = found.keys().chain(wanted.keys()).collect();
    keys.retain(|&path| !is_other || path == "kind");
    // What is null is as absent.
    let value =
        |values: &BTreeMap<String, Value>, path: &str| values.get(path).filter(|value| !value.is_null()).cloned();
    let told = |path: &String| {
        let values = [&found, &wanted].map(|values| value(values, path));
        let [there, here] = values.each_ref().map(|value| value.as_ref().map_or("absent".to_owned(), Value::to_string));
        // Users know the keys of a configuration without its own.
        let key = path.strip_prefix("config.").unwrap_or(path);
        (values[0] != values[1] && !passes_over(path)).then(|| format!("{key} is {there} there and {here} here"))
    };
    keys.into_iter().filter_map(told).collect()
}
