//! `[policy]`: what the installation allows.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toolcrib_runtime::caller::Components;
use toolcrib_runtime::confidence::{Confidence, ConfidenceScheme};

use super::ConfigError;

/// What the installation allows.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicySection {
    /// Components in which tools are switched off; `*` stands for all.
    pub tools_off: BTreeSet<String>,
    /// Tools that nobody may use, by id.
    pub disabled_tools: BTreeSet<String>,
    /// Minimum provider confidence by tool id, for example `HIGH`.
    pub minimum_confidence: BTreeMap<String, String>,
    /// Tools on by default, by component.
    pub default_tools: BTreeMap<String, BTreeSet<String>>,
    /// How providers without a level of their own are trusted.
    pub confidence_scheme: Option<String>,
}

impl PolicySection {
    /// The scheme, `trust_all` when none is named.
    pub fn scheme(&self) -> ConfidenceScheme {
        self.confidence_scheme.as_deref().and_then(ConfidenceScheme::parse).unwrap_or_default()
    }

    /// Minimum confidence by tool id. A value that is no level counts as HIGH, the safe side, and is logged.
    pub fn minimums(&self) -> BTreeMap<String, Confidence> {
        let levels = self.minimum_confidence.iter().map(|(tool, name)| {
            let level = Confidence::parse(name).unwrap_or_else(|| {
                tracing::error!(
                    tool,
                    value = name,
                    "not a confidence level; the tool needs HIGH until it is mended"
                );
                Confidence::High
            });
            (tool.clone(), level)
        });
        levels.collect()
    }

    /// Checks the names of components, once it is known which there are: assistants are files of their own.
    ///
    /// # Errors
    /// The first name that no component has, with those that there are and the nearest.
    pub fn check_components(&self, components: &Components) -> Result<(), ConfigError> {
        let off = self.tools_off.iter().filter(|id| *id != "*").map(|id| ("policy.tools_off", id));
        let defaults = self.default_tools.keys().map(|id| ("policy.default_tools", id));
        for (place, id) in off.chain(defaults) {
            if let Err(unknown) = components.parse(id) {
                return Err(ConfigError::Value { place: place.to_owned(), message: unknown.to_string() });
            }
        }
        Ok(())
    }

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if let Some(name) = &self.confidence_scheme
            && ConfidenceScheme::parse(name).is_none()
        {
            let known: Vec<_> = ConfidenceScheme::NAMES.iter().map(|(name, _)| *name).collect();
            return Err(ConfigError::Value {
                place: "policy.confidence_scheme".to_owned(),
                message: format!("{name:?} is no scheme; known: {}", known.join(", ")),
            });
        }
        Ok(())
    }
}
