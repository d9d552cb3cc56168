//! `[policy]`: what the installation allows.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Deserialize;
use toolcrib_runtime::caller::Component;
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
    pub fn minimums(&self) -> HashMap<String, Confidence> {
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

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let components = self.tools_off.iter().filter(|id| *id != "*").chain(self.default_tools.keys());
        for id in components {
            if Component::parse(id).is_none() {
                return Err(ConfigError::Value {
                    place: format!("policy, component {id:?}"),
                    message: format!("unknown component; known: {}", Component::KNOWN.join(", ")),
                });
            }
        }
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
