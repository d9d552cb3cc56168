//! Takes fields out of an object, and collects what is wrong with them.

use serde_json::{Map, Value};

use crate::wire::chat_completions::types::WireError;

/// The most problems that are told at once.
const MOST_PROBLEMS: usize = 10;

/// What is wrong with a request, with paths relative to the object being read.
#[derive(Default)]
pub(super) struct Problems {
    found: Vec<WireError>,
    path: String,
}

impl Problems {
    /// Adds a problem of a field of the current object; an empty name means the object itself.
    pub(super) fn add(&mut self, field: &str, message: impl Into<String>) {
        if self.found.len() < MOST_PROBLEMS {
            self.found.push(WireError::new(join(&self.path, field), message));
        }
    }

    /// Reads an object at `field`, so that paths start there.
    pub(super) fn within<T>(&mut self, field: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.path.clone();
        self.path = join(&outer, field);
        let value = read(self);
        self.path = outer;
        value
    }

    pub(super) fn into_result(self) -> Result<(), WireError> {
        let mut found = self.found.into_iter();
        match found.next() {
            None => Ok(()),
            Some(mut first) => {
                first.also = found.collect();
                Err(first)
            }
        }
    }

    /// A string that must be there and not empty; `hint` says what to do.
    pub(super) fn required_text(&mut self, rest: &mut Map<String, Value>, field: &str, hint: &str) -> String {
        match rest.shift_remove(field) {
            Some(Value::String(text)) if !text.trim().is_empty() => text,
            Some(Value::String(_)) => {
                self.add(field, format!("must not be empty: {hint}"));
                String::new()
            }
            None | Some(Value::Null) => {
                self.add(field, format!("is missing: {hint}"));
                String::new()
            }
            Some(other) => {
                self.add(field, format!("must be a string, found {}: {hint}", found(&other)));
                String::new()
            }
        }
    }

    pub(super) fn text(&mut self, rest: &mut Map<String, Value>, field: &str) -> Option<String> {
        match rest.shift_remove(field)? {
            Value::Null => None,
            Value::String(text) => Some(text),
            other => {
                self.add(field, format!("must be a string, found {}", found(&other)));
                None
            }
        }
    }

    pub(super) fn flag(&mut self, rest: &mut Map<String, Value>, field: &str) -> Option<bool> {
        match rest.shift_remove(field)? {
            Value::Null => None,
            Value::Bool(flag) => Some(flag),
            other => {
                self.add(field, format!("must be true or false, found {}", found(&other)));
                None
            }
        }
    }

    pub(super) fn number(&mut self, rest: &mut Map<String, Value>, field: &str) -> Option<f64> {
        match rest.shift_remove(field)? {
            Value::Null => None,
            Value::Number(number) => number.as_f64(),
            other => {
                self.add(field, format!("must be a number, found {}", found(&other)));
                None
            }
        }
    }

    /// A whole number between two bounds, which may be written as `5.0`.
    pub(super) fn whole_number(
        &mut self,
        rest: &mut Map<String, Value>,
        field: &str,
        least: u64,
        most: u64,
    ) -> Option<u64> {
        let value = rest.shift_remove(field).filter(|value| !value.is_null())?;
        let whole = value.as_u64().or_else(|| as_whole(value.as_f64()?));
        let number = whole.filter(|number| (least..=most).contains(number));
        if number.is_none() {
            let bounds = if most == u64::MAX {
                format!("of at least {least}")
            } else {
                format!("from {least} to {most}")
            };
            self.add(field, format!("must be a whole number {bounds}, found {}", found(&value)));
        }
        number
    }
}

/// What stands there, in few words: small values themselves, others by their type.
pub(super) fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) if text.chars().count() <= 40 => format!("the string {text:?}"),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn as_whole(number: f64) -> Option<u64> {
    /// Beyond it, floating-point numbers skip whole ones.
    const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;
    if !(0.0..=LARGEST_EXACT).contains(&number) || number.fract() != 0.0 {
        return None;
    }
    format!("{number:.0}").parse().ok()
}

fn join(path: &str, field: &str) -> String {
    match (path.is_empty(), field.is_empty() || field.starts_with('[')) {
        (true, _) => field.to_owned(),
        (false, true) => format!("{path}{field}"),
        (false, false) => format!("{path}.{field}"),
    }
}
