//! `[providers.<id>]`: a model provider.

use std::fmt;

use serde::Deserialize;
use toolcrib_providers::profile::Profile;
use toolcrib_runtime::confidence::{Confidence, Region};

use super::ConfigError;
use crate::environment::Environment;

/// A model provider.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderSection {
    /// The family whose quirks it has: `openai`, `anthropic`, `ollama`, `llama_cpp`, `openai_compatible`.
    pub family: Option<String>,
    /// Where its API is, for example `http://127.0.0.1:8080/v1`.
    pub base_url: Option<String>,
    /// The key, as a reference: `env:NAME` or `file:/path`.
    pub key: Option<String>,
    /// The models to offer; without them the provider is asked.
    pub models: Option<Vec<String>>,
    /// How far it is trusted, for example `HIGH`; without it the confidence scheme decides.
    pub confidence: Option<String>,
    /// May continue protected conversations whatever its level.
    pub trusted: bool,
    /// Runs on own machines.
    pub self_hosted: Option<bool>,
    /// Where it is established: `europe`, `usa`, `asia`.
    pub region: Option<String>,
}

/// Without the key when it is no reference: such a key is refused, but must not be printed on the way there.
impl fmt::Debug for ProviderSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, base_url, key, models, confidence, trusted, self_hosted, region } = self;
        let reference = |key: &&str| key.starts_with("env:") || key.starts_with("file:");
        f.debug_struct("ProviderSection")
            .field("family", family)
            .field("base_url", base_url)
            .field("key", &key.as_deref().map(|key| Some(key).filter(reference).unwrap_or("*****")))
            .field("models", models)
            .field("confidence", confidence)
            .field("trusted", trusted)
            .field("self_hosted", self_hosted)
            .field("region", region)
            .finish()
    }
}

const REGIONS: [(&str, Region); 3] =
    [("europe", Region::Europe), ("usa", Region::Usa), ("asia", Region::Asia)];

impl ProviderSection {
    /// The profile of the family, by default the one of any compatible server.
    pub fn profile(&self) -> &'static Profile {
        self.family.as_deref().and_then(Profile::by_family).unwrap_or_else(Profile::openai_compatible)
    }

    /// The configured level.
    pub fn level(&self) -> Option<Confidence> {
        self.confidence.as_deref().and_then(Confidence::parse)
    }

    /// The configured region.
    pub fn region(&self) -> Option<Region> {
        let name = self.region.as_deref()?;
        REGIONS.iter().find(|(known, _)| *known == name).map(|(_, region)| *region)
    }

    /// The key behind the reference. A message never holds the key itself.
    pub fn resolve_key(&self, environment: &Environment) -> Result<Option<String>, String> {
        let Some(reference) = self.key.as_deref() else { return Ok(None) };
        if let Some(name) = reference.strip_prefix("env:") {
            let value = environment.get(name).ok_or_else(|| format!("the variable {name} is not set"))?;
            return Ok(Some(value.trim().to_owned()));
        }
        if let Some(path) = reference.strip_prefix("file:") {
            let text = std::fs::read_to_string(path).map_err(|error| format!("reading {path}: {error}"))?;
            return Ok(Some(text.trim().to_owned()));
        }
        Err("a key is given as `env:NAME` or `file:/path`, so that it does not stand in this file".to_owned())
    }

    pub(super) fn validate(&self, id: &str, environment: &Environment) -> Result<(), ConfigError> {
        let wrong = |key: &str, message: String| ConfigError::Value {
            place: format!("providers.{id}.{key}"),
            message,
        };
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if id.is_empty() || id == "toolcrib" || !id.chars().all(plain) {
            let message = "a provider id has lower-case letters, digits, - and _, and is not `toolcrib`";
            return Err(wrong("", message.to_owned()));
        }
        if let Some(family) = &self.family
            && Profile::by_family(family).is_none()
        {
            let known: Vec<_> = Profile::ALL.iter().map(|profile| profile.family).collect();
            return Err(wrong("family", format!("{family:?} is no family; known: {}", known.join(", "))));
        }
        if self.base_url.is_none() && self.profile().base_url.is_none() {
            return Err(wrong(
                "base_url",
                "required for this family, for example http://127.0.0.1:8080/v1".to_owned(),
            ));
        }
        if let Some(confidence) = &self.confidence
            && Confidence::parse(confidence).is_none()
        {
            let known = Confidence::ALL
                .into_iter()
                .filter(|level| *level != Confidence::Unknown)
                .map(Confidence::name);
            let known = known.collect::<Vec<_>>().join(", ");
            return Err(wrong("confidence", format!("{confidence:?} is no level; known: {known}")));
        }
        if self.region.is_some() && self.region().is_none() {
            return Err(wrong("region", "one of europe, usa, asia is allowed".to_owned()));
        }
        self.resolve_key(environment).map_err(|message| wrong("key", message))?;
        Ok(())
    }
}
