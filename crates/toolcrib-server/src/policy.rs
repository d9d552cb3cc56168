//! Makes the policy snapshot that the gates judge by, once per change of configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use toolcrib_runtime::policy::{Policy, SettingsState};
use toolcrib_runtime::registry::{Catalog, RegisteredTool};

use crate::config::Config;

/// The policy of this configuration over these tools.
pub(crate) fn snapshot(config: &Config, catalog: &Catalog) -> Policy {
    for id in config.tools.keys().filter(|id| catalog.by_id(id).is_none()) {
        tracing::warn!(tool = id, "the configuration has settings for a tool that does not exist");
    }
    let empty = Map::new();
    let states = catalog.tools().iter().map(|tool| {
        let values = config.tools.get(tool.id()).unwrap_or(&empty);
        (tool.id().to_owned(), settings_state(tool, values))
    });
    Policy {
        tools_off: config.policy.tools_off.clone(),
        disabled: config.policy.disabled_tools.clone(),
        minimum_confidence: config.policy.minimums(),
        default_tools: config.policy.default_tools.clone(),
        settings: states.collect::<BTreeMap<_, _>>(),
    }
}

/// Checks the settings of one tool by its schema, then by its implementation.
pub(crate) fn settings_state(tool: &RegisteredTool, values: &Map<String, Value>) -> SettingsState {
    let schema = &tool.definition.settings_schema;
    // Variables have no letter case to tell `timeoutSeconds` by.
    let plain = |name: &str| name.replace('_', "").to_lowercase();
    let named = values.iter().map(|(name, value)| {
        let field = schema.fields.iter().find(|field| plain(&field.name) == plain(name));
        (field.map_or_else(|| name.clone(), |field| field.name.clone()), value.clone())
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
