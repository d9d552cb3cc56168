//! The models that can be asked: those of configured and found providers, and the demo model.

use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use tokio::sync::Mutex;
use tokio::time::Instant;
use toolcrib_providers::client::{Provider, ProviderSettings, ProviderSetupError};
use toolcrib_providers::demo::DemoModel;
use toolcrib_providers::profile::Profile;
use toolcrib_runtime::confidence::ConfidenceScheme;
use toolcrib_runtime::model::{Model, ModelError};

use crate::config::{Config, ProviderSection};
use crate::environment::Environment;
use crate::error::{ApiError, MODEL_NOT_FOUND};
use crate::ids::random_seed;

/// How long a provider's list of models is believed.
const LIST_AGE: Duration = Duration::from_mins(1);
/// How long a provider that could not be asked is left alone.
const FAILURE_AGE: Duration = Duration::from_secs(5);
/// How long a provider on a usual loopback port gets to say that it is there.
const PROBE_TIME: Duration = Duration::from_millis(400);

/// The models of this installation.
pub(crate) struct Models {
    instances: Vec<Instance>,
    demo: Arc<dyn Model>,
    default: Option<String>,
}

/// A provider and what is known of its models.
struct Instance {
    provider: Arc<Provider>,
    /// Where it was found: configuration, a variable, a port.
    origin: String,
    list: Mutex<Option<Listed>>,
}

#[derive(Clone)]
struct Listed {
    at: Instant,
    models: Result<Vec<String>, ModelError>,
}

/// A model as lists show it.
pub(crate) struct ModelEntry {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) default: bool,
}

/// What is known of a provider.
pub(crate) struct ProviderStatus {
    pub(crate) id: String,
    pub(crate) origin: String,
    pub(crate) base_url: String,
    pub(crate) confidence: String,
    pub(crate) models: Result<Vec<String>, String>,
}

impl Models {
    /// Takes the configured providers and those that the environment names; without any, looks at the usual
    /// loopback ports.
    pub(crate) async fn find(config: &Config, environment: &Environment) -> Result<Self, ProviderSetupError> {
        let scheme = config.policy.scheme();
        let mut instances = Vec::new();
        for (id, section) in &config.providers {
            let settings = configured(id, section, scheme, environment);
            instances.push(Instance::new(settings, "configuration")?);
        }
        for (settings, origin) in from_environment(scheme, environment) {
            if !config.providers.contains_key(&settings.id) {
                instances.push(Instance::new(settings, &origin)?);
            }
        }
        if instances.is_empty() {
            instances = on_loopback(scheme).await?;
        }
        let demo: Arc<dyn Model> = Arc::new(DemoModel::new());
        Ok(Self { instances, demo, default: environment.get("TOOLCRIB_MODEL").map(str::to_owned) })
    }

    /// True when there is nothing but the demo model.
    pub(crate) fn only_demo(&self) -> bool {
        self.instances.is_empty()
    }

    /// The model that a request names: `provider/model`, a name that one provider has, or nothing for the default.
    pub(crate) async fn resolve(&self, requested: &str) -> Result<Arc<dyn Model>, ApiError> {
        if requested.is_empty() || requested == "default" {
            return self.default_model().await;
        }
        if requested == self.demo.identity().full_name() {
            return Ok(Arc::clone(&self.demo));
        }
        if let Some((provider, name)) = requested.split_once('/')
            && let Some(instance) = self.instances.iter().find(|instance| instance.id() == provider)
        {
            return instance.named(name).await;
        }
        for instance in &self.instances {
            if instance.models().await.is_ok_and(|models| models.iter().any(|model| model == requested)) {
                return Ok(instance.provider.model(requested));
            }
        }
        // A provider that will not list its models may have it all the same.
        for instance in &self.instances {
            if instance.models().await.is_err() {
                return Ok(instance.provider.model(requested));
            }
        }
        Err(self.unknown(requested).await)
    }

    async fn default_model(&self) -> Result<Arc<dyn Model>, ApiError> {
        if let Some(name) = self.default.as_deref().filter(|name| !name.is_empty() && *name != "default") {
            return Box::pin(self.resolve(name)).await;
        }
        for instance in &self.instances {
            if let Ok(models) = instance.models().await
                && let Some(name) = instance.provider.settings().profile.default_model(&models)
            {
                return Ok(instance.provider.model(name));
            }
        }
        let Some(first) = self.instances.first() else { return Ok(Arc::clone(&self.demo)) };
        first.models().await?;
        let message = format!("the provider {} lists no models; name one", first.id());
        Err(ApiError::new(MODEL_NOT_FOUND, message).with_param("model"))
    }

    async fn unknown(&self, requested: &str) -> ApiError {
        let names: Vec<String> =
            self.list().await.iter().map(|entry| entry.model.identity().full_name()).collect();
        let likeness = |name: &str| {
            let short = name.split_once('/').map_or(name, |(_, model)| model);
            strsim::jaro_winkler(requested, name).max(strsim::jaro_winkler(requested, short))
        };
        let nearest = names.iter().max_by(|left, right| likeness(left).total_cmp(&likeness(right)));
        let hint =
            nearest.filter(|name| likeness(name) > 0.75).map(|name| format!("; did you mean {name:?}?"));
        let shown = names.iter().take(10).map(String::as_str).collect::<Vec<_>>().join(", ");
        let message =
            format!("no provider has the model {requested:?}; there are {shown}{}", hint.unwrap_or_default());
        ApiError::new(MODEL_NOT_FOUND, message).with_param("model")
    }

    /// Every model that is known, the demo model last.
    pub(crate) async fn list(&self) -> Vec<ModelEntry> {
        let default = self.default_model().await.ok().map(|model| model.identity().full_name());
        let mut models = Vec::new();
        for instance in &self.instances {
            for name in instance.models().await.unwrap_or_default() {
                models.push(instance.provider.model(name));
            }
        }
        models.push(Arc::clone(&self.demo));
        let entries = models.into_iter().map(|model| ModelEntry {
            default: default.as_deref() == Some(model.identity().full_name().as_str()),
            model,
        });
        entries.collect()
    }

    /// Asks every provider how it is.
    pub(crate) async fn status(&self) -> Vec<ProviderStatus> {
        let mut statuses = Vec::new();
        for instance in &self.instances {
            let settings = instance.provider.settings();
            statuses.push(ProviderStatus {
                id: settings.id.clone(),
                origin: instance.origin.clone(),
                base_url: settings
                    .base_url
                    .clone()
                    .or(settings.profile.base_url.map(str::to_owned))
                    .unwrap_or_default(),
                confidence: settings.confidence.to_string(),
                models: instance.models().await.map_err(|error| error.message),
            });
        }
        statuses
    }
}

impl Instance {
    fn new(settings: ProviderSettings, origin: &str) -> Result<Self, ProviderSetupError> {
        let seed = random_seed().unwrap_or_default();
        let provider = Provider::new(settings, seed)?;
        Ok(Self { provider, origin: origin.to_owned(), list: Mutex::new(None) })
    }

    fn id(&self) -> &str {
        &self.provider.settings().id
    }

    /// What the provider lists, asked at most once a minute.
    async fn models(&self) -> Result<Vec<String>, ModelError> {
        let mut list = self.list.lock().await;
        if let Some(listed) = list.as_ref() {
            let believed = if listed.models.is_ok() { LIST_AGE } else { FAILURE_AGE };
            if listed.at.elapsed() < believed {
                return listed.models.clone();
            }
        }
        let models = self.provider.list_models().await;
        if let Err(error) = &models {
            tracing::warn!(provider = self.id(), error = %error, detail = error.detail, "models could not be listed");
        }
        *list = Some(Listed { at: Instant::now(), models: models.clone() });
        models
    }

    async fn named(&self, name: &str) -> Result<Arc<dyn Model>, ApiError> {
        match self.models().await {
            Ok(models) if !models.is_empty() && !models.iter().any(|model| model == name) => {
                let shown = models.iter().take(10).map(String::as_str).collect::<Vec<_>>().join(", ");
                let message = format!("the provider {} has no model {name:?}; it lists {shown}", self.id());
                Err(ApiError::new(MODEL_NOT_FOUND, message).with_param("model"))
            }
            // A provider that cannot list its models is asked for the answer itself; its error then tells more.
            _ => Ok(self.provider.model(name)),
        }
    }
}

fn configured(
    id: &str,
    section: &ProviderSection,
    scheme: ConfidenceScheme,
    environment: &Environment,
) -> ProviderSettings {
    let profile = section.profile();
    let self_hosted =
        section.self_hosted.unwrap_or_else(|| is_self_hosted(section.base_url.as_deref(), profile));
    let region = section.region().or(profile.region);
    let confidence = scheme.level(section.level(), self_hosted, region);
    let mut settings = ProviderSettings::new(id, profile, confidence);
    settings.base_url.clone_from(&section.base_url);
    // Checked when the configuration was read.
    settings.key = section.resolve_key(environment).ok().flatten().map(SecretString::from);
    settings.trusted = section.trusted;
    settings.models.clone_from(&section.models);
    settings
}

/// The providers that well-known variables name, with the name of the variable.
fn from_environment(scheme: ConfidenceScheme, environment: &Environment) -> Vec<(ProviderSettings, String)> {
    let mut found = Vec::new();
    for (id, key, url) in [
        ("openai", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    ] {
        let (Some(profile), Some(secret)) = (Profile::by_family(id), environment.get(key)) else { continue };
        let base_url = environment.get(url);
        // Another server behind OpenAI's variables has the quirks of a compatible server, not of OpenAI's own.
        let profile =
            if base_url.is_some() && id == "openai" { Profile::openai_compatible() } else { profile };
        let confidence = scheme.level(None, is_self_hosted(base_url, profile), profile.region);
        let mut settings = ProviderSettings::new(id, profile, confidence);
        settings.base_url = base_url.map(str::to_owned);
        settings.key = Some(SecretString::from(secret.trim()));
        found.push((settings, format!("variable {key}")));
    }
    if let (Some(profile), Some(host)) = (Profile::by_family("ollama"), environment.get("OLLAMA_HOST")) {
        let base_url = ollama_url(host);
        let confidence = scheme.level(None, is_self_hosted(Some(&base_url), profile), profile.region);
        let mut settings = ProviderSettings::new("ollama", profile, confidence);
        settings.base_url = Some(base_url);
        found.push((settings, "variable OLLAMA_HOST".to_owned()));
    }
    found
}

/// `OLLAMA_HOST` may be a host, a host with port, or a URL (as Ollama's own command takes it).
fn ollama_url(host: &str) -> String {
    let host = host.trim().trim_end_matches('/');
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    // A server that listens everywhere is reached on loopback.
    let rest = rest.replacen("0.0.0.0", "127.0.0.1", 1);
    let has_port = rest.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if has_port || scheme == "https" { "" } else { ":11434" };
    format!("{scheme}://{rest}{port}/v1")
}

/// Providers that answer on their usual loopback ports.
async fn on_loopback(scheme: ConfidenceScheme) -> Result<Vec<Instance>, ProviderSetupError> {
    let mut found = Vec::new();
    for (id, family, port) in [("ollama", "ollama", 11_434), ("llama-cpp", "llama_cpp", 8_080)] {
        let Some(profile) = Profile::by_family(family) else { continue };
        let mut settings = ProviderSettings::new(id, profile, scheme.level(None, true, None));
        settings.base_url = Some(format!("http://127.0.0.1:{port}/v1"));
        let listens = tokio::net::TcpStream::connect(("127.0.0.1", port));
        if !matches!(tokio::time::timeout(PROBE_TIME, listens).await, Ok(Ok(_))) {
            continue;
        }
        let instance = Instance::new(settings, &format!("port {port}"))?;
        // Something else may listen there: only what lists models is a provider.
        if matches!(tokio::time::timeout(PROBE_TIME, instance.models()).await, Ok(Ok(models)) if !models.is_empty())
        {
            found.push(instance);
        }
    }
    Ok(found)
}

/// Whether a base URL stays on own machines: loopback, private addresses and names without a public suffix.
fn is_self_hosted(base_url: Option<&str>, profile: &Profile) -> bool {
    let Some(host) = base_url
        .and_then(|base| url::Url::parse(base).ok())
        .and_then(|url| url.host().map(|host| host.to_owned()))
    else {
        return profile.self_hosted;
    };
    match host {
        url::Host::Ipv4(address) => address.is_loopback() || address.is_private() || address.is_link_local(),
        url::Host::Ipv6(address) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
        url::Host::Domain(name) => {
            let name = name.trim_end_matches('.').to_lowercase();
            name == "localhost" || name.ends_with(".localhost") || !name.contains('.')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_host_is_read_as_ollama_reads_it() {
        let check = |host: &str, expected: &str| assert_eq!(ollama_url(host), expected, "{host}");
        check("127.0.0.1", "http://127.0.0.1:11434/v1");
        check("gpu-box:1234", "http://gpu-box:1234/v1");
        check("http://gpu-box:1234/", "http://gpu-box:1234/v1");
        check("https://ollama.example.org", "https://ollama.example.org/v1");
        check("0.0.0.0:11434", "http://127.0.0.1:11434/v1");
    }

    #[test]
    fn own_machines_are_told_from_others() {
        let check = |base: &str, expected: bool| {
            assert_eq!(is_self_hosted(Some(base), Profile::openai_compatible()), expected, "{base}");
        };
        check("http://127.0.0.1:8080/v1", true);
        check("http://10.1.2.3/v1", true);
        check("http://[::1]:1/v1", true);
        check("http://localhost:1/v1", true);
        check("http://gpu-box/v1", true);
        check("https://api.example.org/v1", false);
        check("https://8.8.8.8/v1", false);
    }
}
