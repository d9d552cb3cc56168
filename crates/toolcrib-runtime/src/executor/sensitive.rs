//! Keeps sensitive arguments out of traces, logs and messages.

use serde_json::Value;

use crate::registry::RegisteredTool;

/// What stands in traces instead of a sensitive value.
pub const MASK: &str = "*****";

/// The arguments of a tool whose values never appear in traces.
pub(crate) struct Sensitive<'a>(&'a RegisteredTool);

impl<'a> Sensitive<'a> {
    pub(crate) fn of(tool: &'a RegisteredTool) -> Self {
        Self(tool)
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        let by_implementation =
            self.0.implementation.as_ref().is_some_and(|tool| tool.sensitive_arguments().contains(&name));
        by_implementation || self.0.definition.sensitive_arguments.iter().any(|sensitive| sensitive == name)
    }

    fn any(&self) -> bool {
        let by_implementation =
            self.0.implementation.as_ref().is_some_and(|tool| !tool.sensitive_arguments().is_empty());
        by_implementation || !self.0.definition.sensitive_arguments.is_empty()
    }

    pub(crate) fn mask(&self, arguments: &Value) -> Value {
        let mut masked = arguments.clone();
        for (name, value) in masked.as_object_mut().into_iter().flatten() {
            if self.contains(name) {
                *value = Value::from(MASK);
            }
        }
        masked
    }

    /// Arguments that have not been read yet: text that is no object could hold a sensitive value anywhere.
    pub(crate) fn mask_text(&self, text: &str) -> Value {
        match parse_or_text(text) {
            object @ Value::Object(_) => self.mask(&object),
            _ if self.any() => Value::from(MASK),
            other => other,
        }
    }
}

impl RegisteredTool {
    /// The arguments of a call as traces and logs may show them.
    pub fn masked_arguments(&self, arguments: &str) -> Value {
        Sensitive(self).mask_text(arguments)
    }
}

/// JSON as it is, anything else as a string.
pub(crate) fn parse_or_text(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}
