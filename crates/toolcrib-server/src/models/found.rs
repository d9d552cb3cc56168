//! Finds providers: in the configuration, in well-known variables, on the usual loopback ports.
//!
//! Nothing is asked here but, when neither configuration nor variables name a provider, the loopback ports.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use secrecy::SecretString;
use toolcrib_providers::client::{ProviderSettings, ProviderSetupError};
use toolcrib_providers::profile::Profile;
use toolcrib_runtime::confidence::ConfidenceScheme;

use super::Instance;
use crate::config::{Config, ProviderSection};
use crate::environment::Environment;

/// How long a provider on a usual loopback port gets to say that it is there.
const PROBE_TIME: Duration = Duration::from_millis(400);

/// The configured providers by id, then those that the environment names; without any, those on loopback ports.
pub(super) async fn providers(
    config: &Config,
    environment: &Environment,
) -> Result<Vec<Arc<Instance>>, ProviderSetupError> {
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
    Ok(instances)
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
async fn on_loopback(scheme: ConfidenceScheme) -> Result<Vec<Arc<Instance>>, ProviderSetupError> {
    let usual = [("ollama", "ollama", 11_434), ("llama-cpp", "llama_cpp", 8_080)];
    let found = join_all(usual.map(|(id, family, port)| at_port(id, family, port, scheme))).await;
    found.into_iter().filter_map(Result::transpose).collect()
}

/// The provider at a port, when something listens there that lists models.
async fn at_port(
    id: &str,
    family: &str,
    port: u16,
    scheme: ConfidenceScheme,
) -> Result<Option<Arc<Instance>>, ProviderSetupError> {
    let Some(profile) = Profile::by_family(family) else { return Ok(None) };
    let listens = tokio::net::TcpStream::connect(("127.0.0.1", port));
    if !matches!(tokio::time::timeout(PROBE_TIME, listens).await, Ok(Ok(_))) {
        return Ok(None);
    }
    let mut settings = ProviderSettings::new(id, profile, scheme.level(None, true, None));
    settings.base_url = Some(format!("http://127.0.0.1:{port}/v1"));
    let instance = Instance::new(settings, &format!("port {port}"))?;
    // Something else may listen there: only what lists models is a provider.
    let models = instance.listing.younger_than(PROBE_TIME, PROBE_TIME).await;
    Ok(models.is_ok_and(|models| !models.is_empty()).then_some(instance))
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
