//! Makes the policy snapshot that the gates judge by, once per change of configuration.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolcrib_runtime::policy::{Policy, SettingsState};
use toolcrib_runtime::registry::{Catalog, RegisteredTool};
use toolcrib_runtime::tool::definition::{SettingField, SettingType};

use crate::assistants::{Assistants, DefaultTools};
use crate::config::{Config, overrides};
use toolcrib_runtime::nearest::nearest;

/// The policy of this configuration over these tools. Which tools an assistant has on by default stands in its file,
/// unless the configuration says it.
pub(crate) fn snapshot(config: &Config, catalog: &Catalog, assistants: &Assistants) -> Policy {
    let empty = Map::new();
    // A tool without settings needs no entry: a large catalog is mostly made of those.
    let states = catalog.tools().iter().filter_map(|tool| {
        let values = config.tools.get(tool.id()).unwrap_or(&empty);
        let state = settings_state(tool, values);
        let none = tool.definition.settings_schema.fields.is_empty();
        let needed = !none || matches!(state, SettingsState::NotConfigured(_));
        needed.then(|| (tool.id().to_owned(), state))
    });
    Policy {
        tools_off: config.policy.tools_off.iter().cloned().collect(),
        disabled: config.policy.disabled_tools.iter().cloned().collect(),
        minimum_confidence: config.policy.minimums(),
        default_tools: default_tools(config, assistants),
        settings: states.collect(),
        approval: config.policy.approval_policy(),
    }
}

fn default_tools(config: &Config, assistants: &Assistants) -> HashMap<String, HashSet<String>> {
    let configured = config.policy.default_tools.iter();
    let mut defaults: HashMap<_, HashSet<_>> =
        configured.map(|(component, ids)| (component.clone(), ids.iter().cloned().collect())).collect();
    for assistant in assistants.all() {
        if let DefaultTools::Only(ids) = &assistant.tools {
            defaults.entry(assistant.id.clone()).or_insert_with(|| ids.iter().cloned().collect());
        }
    }
    defaults
}

/// A tool that the configuration names and that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnknownTool {
    /// The key that names it.
    pub(crate) place: String,
    /// The id as it is written there.
    pub(crate) id: String,
    /// The id that was probably meant.
    pub(crate) nearest: Option<String>,
}

/// Every unknown tool of the configuration. A rule for a tool that does not exist protects nothing, and nobody would
/// notice.
pub(crate) fn unknown_tools(config: &Config, catalog: &Catalog) -> Vec<UnknownTool> {
    let policy = &config.policy;
    let disabled = policy.disabled_tools.iter().map(|id| ("policy.disabled_tools".to_owned(), id));
    let minimums = policy.minimum_confidence.keys().map(|id| ("policy.minimum_confidence".to_owned(), id));
    let defaults = policy.default_tools.iter().flat_map(|(component, ids)| {
        ids.iter().map(move |id| (format!("policy.default_tools.{component}"), id))
    });
    let settings = config.tools.keys().map(|id| ("tools".to_owned(), id));
    let named = disabled.chain(minimums).chain(defaults).chain(settings);
    let unknown = named.filter(|(_, id)| catalog.by_id(id).is_none()).map(|(place, id)| {
        let known = catalog.tools().iter().map(|tool| tool.id());
        UnknownTool { place, id: id.clone(), nearest: nearest(id, known).map(str::to_owned) }
    });
    unknown.collect()
}

impl fmt::Display for UnknownTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` names {:?}, and there is no such tool", self.place, self.id)?;
        self.nearest.as_ref().map_or(Ok(()), |nearest| write!(f, "; did you mean {nearest:?}?"))
    }
}

/// Checks the settings of one tool by its schema, then by its implementation.
pub(crate) fn settings_state(tool: &RegisteredTool, values: &Map<String, Value>) -> SettingsState {
    let schema = &tool.definition.settings_schema;
    // Variables have no letter case to tell `timeoutSeconds` by.
    let plain = |name: &str| name.replace('_', "").to_lowercase();
    let named = values.iter().map(|(name, value)| {
        let field = schema.fields.iter().find(|field| plain(&field.name) == plain(name));
        match field {
            Some(field) => (field.name.clone(), as_field(field, value)),
            None => (name.clone(), value.clone()),
        }
    });
    let settings = match schema.resolve(&named.collect()) {
        Ok(settings) => settings,
        Err(problems) => return SettingsState::NotConfigured(problems.into()),
    };
    let problems =
        tool.implementation.as_ref().map(|tool| tool.validate_settings(&settings)).unwrap_or_default();
    if problems.is_empty() {
        SettingsState::Ready(Arc::new(settings))
    } else {
        SettingsState::NotConfigured(problems.into())
    }
}

/// The value as the field's type has it: variables are text, whatever the field is.
fn as_field(field: &SettingField, value: &Value) -> Value {
    let Some(text) = value.as_str() else { return value.clone() };
    let fits = |read: &Value| match field.kind {
        SettingType::String => false,
        SettingType::Integer | SettingType::Number => read.is_number(),
        SettingType::Boolean => read.is_boolean(),
    };
    overrides::parse(text).filter(fits).unwrap_or_else(|| value.clone())
}

#[cfg(test)]
mod tests;
