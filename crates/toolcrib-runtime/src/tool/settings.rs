//! A tool's settings at the moment of a call: checked against the schema, defaults filled in, secrets resolved.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};

/// The settings of one tool.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    values: BTreeMap<String, SettingValue>,
}

/// One value. A secret cannot be printed.
#[derive(Debug, Clone)]
pub enum SettingValue {
    /// A value that may be shown.
    Plain(Value),
    /// A value that may only be used.
    Secret(SecretString),
}

/// What is wrong with one field, or with the settings as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingProblem {
    /// The field, or `None` when the problem lies between fields.
    pub field: Option<String>,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl Settings {
    /// Settings with these values.
    pub fn new(values: BTreeMap<String, SettingValue>) -> Self {
        Self { values }
    }

    /// The text of a field, secret or not; `None` when unset or empty.
    pub fn text(&self, field: &str) -> Option<&str> {
        let text = match self.values.get(field)? {
            SettingValue::Plain(value) => value.as_str()?,
            SettingValue::Secret(secret) => secret.expose_secret(),
        };
        (!text.is_empty()).then_some(text)
    }

    /// All values as one object, secrets exposed: only for reading them into the tool's own type.
    pub(crate) fn exposed(&self) -> Map<String, Value> {
        let exposed = |value: &SettingValue| match value {
            SettingValue::Plain(value) => value.clone(),
            SettingValue::Secret(secret) => Value::from(secret.expose_secret()),
        };
        self.values.iter().map(|(name, value)| (name.clone(), exposed(value))).collect()
    }

    /// Whether the field holds a secret.
    pub(crate) fn is_secret(&self, field: &str) -> bool {
        matches!(self.values.get(field), Some(SettingValue::Secret(_)))
    }

    /// Whether any field holds a secret.
    pub(crate) fn has_secrets(&self) -> bool {
        self.values.values().any(|value| matches!(value, SettingValue::Secret(_)))
    }

    /// The number of a field that its schema makes an integer of zero or more.
    pub fn unsigned(&self, field: &str) -> Option<u64> {
        match self.values.get(field)? {
            SettingValue::Plain(value) => value.as_u64(),
            SettingValue::Secret(_) => None,
        }
    }

    /// The value of a boolean field.
    pub fn flag(&self, field: &str) -> Option<bool> {
        match self.values.get(field)? {
            SettingValue::Plain(value) => value.as_bool(),
            SettingValue::Secret(_) => None,
        }
    }
}

impl SettingProblem {
    /// A problem of one field.
    pub fn field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: Some(field.into()), message: message.into() }
    }
}
