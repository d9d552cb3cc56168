//! Overrides from the environment: `TOOLCRIB_SERVER__LISTEN` sets `server.listen`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::ConfigError;
use crate::environment::Environment;

const PREFIX: &str = "TOOLCRIB_";
const SEPARATOR: &str = "__";

/// Lays the variables over `values`; returns which key came from which variable.
///
/// A segment matches an existing or known key whatever its letter case, and with or without underscores, so that
/// `TOOLCRIB_TOOLS__READ_WEB_PAGE__TIMEOUT_SECONDS` reaches `tools.read_web_page.timeoutSeconds`.
pub(super) fn apply(
    values: &mut Map<String, Value>,
    environment: &Environment,
) -> Result<BTreeMap<String, String>, ConfigError> {
    let mut applied = BTreeMap::new();
    for (name, text) in environment.with_prefix(PREFIX) {
        if !name.contains(SEPARATOR) {
            continue;
        }
        let segments: Vec<&str> = name.split(SEPARATOR).collect();
        let variable = format!("{PREFIX}{name}");
        let key = set(values, &segments, parse(text)).ok_or_else(|| ConfigError::Value {
            place: format!("variable {variable}"),
            message: "it stands below a key that is no section; write TOOLCRIB_SECTION__KEY".to_owned(),
        })?;
        applied.insert(key, variable);
    }
    Ok(applied)
}

fn set(values: &mut Map<String, Value>, segments: &[&str], value: Value) -> Option<String> {
    let (first, rest) = segments.split_first()?;
    let known = values.keys().find(|key| same(key, first)).cloned();
    let key = known.unwrap_or_else(|| first.to_lowercase());
    if rest.is_empty() {
        values.insert(key.clone(), value);
        return Some(key);
    }
    let below = values.entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
    let path = set(below.as_object_mut()?, rest, value)?;
    Some(format!("{key}.{path}"))
}

fn same(key: &str, segment: &str) -> bool {
    let plain = |text: &str| text.replace('_', "").to_lowercase();
    plain(key) == plain(segment)
}

/// Numbers, booleans and lists as TOML writes them; everything else is text.
fn parse(text: &str) -> Value {
    let wrapped: Result<Map<String, Value>, _> = toml::from_str(&format!("value = {text}"));
    match wrapped.ok().and_then(|mut table| table.remove("value")) {
        Some(value) if !value.is_object() => value,
        _ => Value::from(text),
    }
}
