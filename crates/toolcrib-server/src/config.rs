//! The installation's configuration: `toolcrib.toml`, overridden key by key from the environment.
//!
//! One file per section. An unknown key is an error that names the nearest known one; nothing is ignored silently.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::environment::Environment;
use toolcrib_runtime::nearest::nearest;

mod limits;
pub(crate) mod overrides;
mod policy;
mod provider;
mod server;
mod sources;
#[cfg(test)]
mod tests;

pub use limits::LimitsSection;
pub use policy::PolicySection;
pub use provider::ProviderSection;
pub use server::ServerSection;
pub use sources::SourcesSection;

use overrides::Override;

/// Everything that an administrator configures by file and environment.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// How the server listens and protects itself.
    pub server: ServerSection,
    /// What one run may use.
    pub limits: LimitsSection,
    /// What the installation allows.
    pub policy: PolicySection,
    /// Where tools come from.
    pub sources: SourcesSection,
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

/// Without the values of tools' settings: any of them may be a secret.
impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, limits, policy, sources, providers, tools } = self;
        let fields = |settings: &Map<String, Value>| settings.keys().cloned().collect::<Vec<_>>();
        let tools: BTreeMap<_, _> = tools.iter().map(|(id, settings)| (id, fields(settings))).collect();
        f.debug_struct("Config")
            .field("server", server)
            .field("limits", limits)
            .field("policy", policy)
            .field("sources", sources)
            .field("providers", providers)
            .field("tools", &tools)
            .finish()
    }
}

impl ConfigError {
    fn zero(place: String) -> Self {
        Self::Value { place, message: "0 would refuse everything; give a number above 0".to_owned() }
    }
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
            message: syntax_message(text, &error),
        })?;
        let overridden = overrides::apply(&mut values, environment)?;
        let config = read(values, path, overridden)?;
        config.server.validate()?;
        config.limits.validate()?;
        config.policy.validate()?;
        for (id, provider) in &config.providers {
            provider.validate(id, environment)?;
        }
        Ok(config)
    }
}

/// Reads the values. A number from the environment where text is wanted is the text that it was.
fn read(
    mut values: Map<String, Value>,
    path: &Path,
    mut overridden: BTreeMap<String, Override>,
) -> Result<Config, ConfigError> {
    let mut tried: Option<(String, ConfigError)> = None;
    loop {
        let error = match serde_path_to_error::deserialize(Value::Object(values.clone())) {
            Ok(config) => return Ok(config),
            Err(error) => error,
        };
        let key = error.path().to_string();
        if let Some((earlier, first)) = tried.take()
            && earlier == key
        {
            return Err(first);
        }
        let of_variable = overridden.get_mut(&key);
        let origin = of_variable
            .as_ref()
            .map_or_else(|| path.display().to_string(), |found| format!("variable {}", found.variable));
        let place = if key == "." { origin } else { format!("{key} ({origin})") };
        let message = if may_be_secret(&key) {
            "the value is not of the type that is expected here".to_owned()
        } else {
            with_nearest(&error.inner().to_string())
        };
        let problem = ConfigError::Value { place, message };
        if !of_variable.is_some_and(|found| found.take_as_text(&mut values)) {
            return Err(problem);
        }
        tried = Some((key, problem));
    }
}

/// Whether the value of a key must not stand in a message.
fn may_be_secret(key: &str) -> bool {
    key.starts_with("tools.") || (key.starts_with("providers.") && key.rsplit('.').next() == Some("key"))
}

/// Where and why, without the line itself: it may hold a secret.
fn syntax_message(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().trim_end();
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else {
        return message.to_owned();
    };
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}: {message}")
}

/// "unknown field `lisen`, expected one of `listen`, …" with the name that was probably meant.
fn with_nearest(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let Some((found, known)) = quoted.split_first().filter(|_| message.starts_with("unknown field")) else {
        return message.to_owned();
    };
    match nearest(found, known.iter().copied()) {
        Some(nearest) => format!("{message}; did you mean `{nearest}`?"),
        None => message.to_owned(),
    }
}
