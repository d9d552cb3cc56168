//! Overrides from the environment: `TOOLCRIB_SERVER__LISTEN` sets `server.listen`.
//!
//! A variable is text. Below `tools` it stays text, and the tool's schema says what it is; elsewhere it is first read
//! as TOML would read it, and taken as the text that it is when its key wants that.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::ConfigError;
use crate::environment::Environment;

const PREFIX: &str = "TOOLCRIB_";
const SEPARATOR: &str = "__";
/// The section whose fields are judged by the tools' own schemas.
const TOOLS: &str = "tools";

/// A variable that set a key.
pub(super) struct Override {
    /// The variable's name.
    pub(super) variable: String,
    /// The keys from the root to the value.
    path: Vec<String>,
    /// The variable as it is, when something else was read from it.
    text: Option<String>,
}

/// Lays the variables over `values`; returns which key came from which variable.
///
/// A segment matches an existing or known key whatever its letter case, and with or without underscores, so that
/// `TOOLCRIB_TOOLS__READ_WEB_PAGE__TIMEOUT_SECONDS` reaches `tools.read_web_page.timeoutSeconds`.
pub(super) fn apply(
    values: &mut Map<String, Value>,
    environment: &Environment,
) -> Result<BTreeMap<String, Override>, ConfigError> {
    let mut applied = BTreeMap::new();
    for (name, text) in environment.with_prefix(PREFIX) {
        if !name.contains(SEPARATOR) {
            continue;
        }
        let segments: Vec<&str> = name.split(SEPARATOR).collect();
        let variable = format!("{PREFIX}{name}");
        let of_tool = segments.first().is_some_and(|first| same(TOOLS, first));
        let read = parse(text).filter(|value| !of_tool || value.is_string());
        let value = read.clone().unwrap_or_else(|| Value::from(text));
        let path = set(values, &segments, value).ok_or_else(|| ConfigError::Value {
            place: format!("variable {variable}"),
            message: "it stands below a key that is no section; write TOOLCRIB_SECTION__KEY".to_owned(),
        })?;
        let text = read.map(|_| text.to_owned());
        applied.insert(path.join("."), Override { variable, path, text });
    }
    Ok(applied)
}

impl Override {
    /// Puts the variable's text into the place of what was read from it; `false` when that has been done, or nothing
    /// else had been read from it.
    pub(super) fn take_as_text(&mut self, values: &mut Map<String, Value>) -> bool {
        let Some(text) = self.text.take() else { return false };
        let segments: Vec<&str> = self.path.iter().map(String::as_str).collect();
        set(values, &segments, Value::from(text)).is_some()
    }
}

/// Sets the value and returns its path.
fn set(values: &mut Map<String, Value>, segments: &[&str], value: Value) -> Option<Vec<String>> {
    let (first, rest) = segments.split_first()?;
    let exact = values.contains_key(*first).then(|| (*first).to_owned());
    let known = exact.or_else(|| values.keys().find(|key| same(key, first)).cloned());
    let key = known.unwrap_or_else(|| first.to_lowercase());
    if rest.is_empty() {
        values.insert(key.clone(), value);
        return Some(vec![key]);
    }
    let below = values.entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
    let mut path = set(below.as_object_mut()?, rest, value)?;
    path.insert(0, key);
    Some(path)
}

fn same(key: &str, segment: &str) -> bool {
    let plain = |text: &str| text.replace('_', "").to_lowercase();
    plain(key) == plain(segment)
}

/// Numbers, booleans, lists and quoted texts as TOML writes them; `None` for everything else.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let wrapped: Result<Map<String, Value>, _> = toml::from_str(&format!("value = {text}"));
    // A line break would let the text say more than one thing.
    let mut table = wrapped.ok().filter(|table| table.len() == 1)?;
    table.remove("value").filter(|value| !value.is_object() && !value.is_null())
}
