//! The installation's configuration: `toolcrib.toml`, overridden key by key from the environment.
//!
//! One file per section. An unknown key is an error that names the nearest known one; nothing is ignored silently.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::environment::Environment;

mod limits;
mod overrides;
mod policy;
mod provider;
mod server;
#[cfg(test)]
mod tests;

pub use limits::LimitsSection;
pub use policy::PolicySection;
pub use provider::ProviderSection;
pub use server::ServerSection;

/// Everything that an administrator configures by file and environment.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How the server listens and protects itself.
    pub server: ServerSection,
    /// What one run may use.
    pub limits: LimitsSection,
    /// What the installation allows.
    pub policy: PolicySection,
    /// Model providers by id.
    pub providers: BTreeMap<String, ProviderSection>,
    /// Settings of tools, by tool id and field.
    pub tools: BTreeMap<String, Map<String, Value>>,
}

/// The configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("reading the configuration {}: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// The file is not TOML.
    #[error("{}: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Where and why.
        message: String,
    },
    /// A value is wrong, or a key unknown.
    #[error("configuration {place}: {message}")]
    Value {
        /// The key, and where it comes from.
        place: String,
        /// What is wrong and what is allowed.
        message: String,
    },
}

impl Config {
    /// Reads the file, when there is one, and lays `TOOLCRIB_SECTION__KEY` variables over it.
    ///
    /// `required` says that the user named the file: its absence is then an error.
    ///
    /// # Errors
    /// An unreadable file, TOML syntax, unknown keys, wrong values; each with its place.
    pub fn load(path: &Path, required: bool, environment: &Environment) -> Result<Self, ConfigError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !required => String::new(),
            Err(cause) => return Err(ConfigError::Unreadable { path: path.to_owned(), cause }),
        };
        Self::parse(&text, path, environment)
    }

    /// The same as [`Config::load`], from text. `path` names it in errors.
    pub fn parse(text: &str, path: &Path, environment: &Environment) -> Result<Self, ConfigError> {
        let mut values: Map<String, Value> = toml::from_str(text).map_err(|error| ConfigError::Syntax {
            path: path.to_owned(),
            message: error.to_string().trim_end().to_owned(),
        })?;
        let overridden = overrides::apply(&mut values, environment)?;
        let read: Result<Self, _> = serde_path_to_error::deserialize(Value::Object(values));
        let config = read.map_err(|error| {
            let key = error.path().to_string();
            let origin = overridden
                .get(&key)
                .map_or_else(|| path.display().to_string(), |name| format!("variable {name}"));
            let place = if key == "." { origin } else { format!("{key} ({origin})") };
            ConfigError::Value { place, message: with_nearest(&error.inner().to_string()) }
        })?;
        config.server.validate()?;
        config.policy.validate()?;
        for (id, provider) in &config.providers {
            provider.validate(id, environment)?;
        }
        Ok(config)
    }
}

/// "unknown field `lisen`, expected one of `listen`, …" with the name that was probably meant.
fn with_nearest(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let Some((found, known)) = quoted.split_first().filter(|_| message.starts_with("unknown field")) else {
        return message.to_owned();
    };
    let likeness = |name: &str| strsim::jaro_winkler(&found.to_lowercase(), &name.to_lowercase());
    let nearest = known.iter().max_by(|left, right| likeness(left).total_cmp(&likeness(right)));
    match nearest.filter(|nearest| likeness(nearest) >= 0.75) {
        Some(nearest) => format!("{message}; did you mean `{nearest}`?"),
        None => message.to_owned(),
    }
}
