//! A tool's settings at the moment of a call: checked against the schema, defaults filled in, secrets resolved.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

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
