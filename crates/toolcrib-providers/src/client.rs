//! Talks to a configured provider over HTTP.
//!
//! All bytes go through `toolcrib_egress::OperatorClient`, so a key reaches the instance's own origin and no other.
//! A request is repeated only before the first byte of its answer; what an instance once refused is remembered and
//! left out from then on. No key stands in an error or in `Debug` output.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use futures_util::StreamExt;
//! use toolcrib_providers::client::{Provider, ProviderSettings};
//! use toolcrib_providers::profile::Profile;
//! use toolcrib_runtime::confidence::Confidence;
//! use toolcrib_runtime::message::Message;
//! use toolcrib_runtime::model::{ModelEvent, ModelRequest};
//!
//! let mut settings = ProviderSettings::new("local", Profile::openai_compatible(), Confidence::High);
//! settings.base_url = Some("http://127.0.0.1:8080".to_owned());
//! let provider = Provider::new(settings, 7)?;
//! let models = provider.list_models().await?;
//! let request = ModelRequest { messages: vec![Message::user("Hello")], ..ModelRequest::default() };
//! let mut events = provider.model(&models[0]).ask(request).await?;
//! let mut answer = String::new();
//! while let Some(event) = events.next().await {
//!     if let ModelEvent::Text(text) = event? {
//!         answer.push_str(&text);
//!     }
//! }
//! # Ok(())
//! # }
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{HeaderName, Method};
use secrecy::SecretString;
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolcrib_egress::operator::OperatorSetupError;
use toolcrib_egress::{OperatorClient, OperatorRequest, OperatorSettings};
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::model::{Model, ModelError, ModelIdentity};

use crate::profile::Profile;
use crate::wire::chat_completions::mix;
use crate::wire::problem::ErrorSource;

mod answer;
mod auth;
mod base_url;
mod error;
mod learned;
mod model;
mod models;
mod retry;

pub use base_url::{BaseUrlError, api_base};
pub use retry::RetrySettings;

/// How one provider instance is reached and judged.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    /// The id under which callers name the instance: `id/model`.
    pub id: String,
    /// Where it is reached, with or without `/v1`; `None` takes the profile's default.
    pub base_url: Option<String>,
    /// The key. White space around it is dropped.
    pub key: Option<SecretString>,
    /// What is known about its family.
    pub profile: Profile,
    /// How far it is trusted, as the installation's scheme decided.
    pub confidence: Confidence,
    /// Listed as trusted with protected conversations, whatever the level.
    pub trusted: bool,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// How often and how long to try again.
    pub retry: RetrySettings,
    /// Further headers of every request; their values are kept as secret as the key.
    pub extra_headers: Vec<(String, SecretString)>,
    /// Further fields of every request. They never replace ours or the caller's.
    pub extra_parameters: Map<String, Value>,
    /// The models on offer; `None` asks the provider.
    pub models: Option<Vec<String>>,
}

/// How long to wait for a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection, TLS included.
    pub connect: Duration,
    /// From the request to the head of the answer: models may think for long before they say anything.
    pub first_byte: Duration,
    /// Between two pieces of the answer.
    pub idle: Duration,
    /// For the list of models, in all.
    pub listing: Duration,
    /// For what may follow a finish reason (usage, `[DONE]`); then the answer counts as complete.
    pub after_finish: Duration,
}

/// A configured provider instance.
#[derive(Debug)]
pub struct Provider {
    settings: ProviderSettings,
    chat: OperatorClient,
    listing: OperatorClient,
    source: Arc<ErrorSource>,
    learned: learned::Memory,
    seed: u64,
    answers: AtomicU64,
}

/// A provider instance cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum ProviderSetupError {
    /// Neither the configuration nor the profile says where the provider is.
    #[error("provider `{0}` needs a base URL, for example `http://127.0.0.1:8080/v1`")]
    BaseUrlMissing(String),
    /// The base URL is none.
    #[error("the base URL of provider `{id}` cannot be used")]
    BaseUrl {
        /// The instance.
        id: String,
        /// What is wrong.
        source: BaseUrlError,
    },
    /// A header has an impossible name.
    #[error("provider `{id}` has an extra header `{header}`, which is no header name")]
    Header {
        /// The instance.
        id: String,
        /// The name as configured.
        header: String,
    },
    /// The client cannot be set up.
    #[error("no client can be made for provider `{id}`")]
    Client {
        /// The instance.
        id: String,
        /// What is wrong.
        source: OperatorSetupError,
    },
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(5),
            idle: Duration::from_mins(3),
            listing: Duration::from_secs(15),
            after_finish: Duration::from_secs(5),
        }
    }
}

impl ProviderSettings {
    /// An instance of a family at its usual place, with default times.
    pub fn new(id: impl Into<String>, profile: &Profile, confidence: Confidence) -> Self {
        Self {
            id: id.into(),
            base_url: None,
            key: None,
            profile: profile.clone(),
            confidence,
            trusted: false,
            timeouts: Timeouts::default(),
            retry: RetrySettings::default(),
            extra_headers: Vec::new(),
            extra_parameters: Map::new(),
            models: None,
        }
    }
}

impl Provider {
    /// Sets the instance up; nothing is sent yet. `seed` decides jitter and the ids of calls that have none.
    pub fn new(settings: ProviderSettings, seed: u64) -> Result<Arc<Self>, ProviderSetupError> {
        let id = || settings.id.clone();
        let base = settings.base_url.as_deref().or(settings.profile.base_url);
        let base = base.ok_or_else(|| ProviderSetupError::BaseUrlMissing(id()))?;
        let base = api_base(base).map_err(|source| ProviderSetupError::BaseUrl { id: id(), source })?;
        let extra = extra_headers(&settings)?;
        let client = |auth, headers: &[(&'static str, &'static str)]| {
            let mut operator = OperatorSettings::new(base.clone());
            operator.headers = auth::plain_headers(headers);
            operator.secret_headers.clone_from(&extra);
            operator.secret_headers.extend(settings.key.as_ref().map(|key| auth::header(auth, key)));
            operator.connect_timeout = settings.timeouts.connect;
            operator.header_timeout = settings.timeouts.first_byte;
            operator.idle_timeout = settings.timeouts.idle;
            OperatorClient::new(operator).map_err(|source| ProviderSetupError::Client { id: id(), source })
        };
        let chat = client(settings.profile.auth, &[])?;
        let listing = client(settings.profile.models_auth, settings.profile.models_headers)?;
        let extra_secrets = settings.extra_headers.iter().map(|(_, value)| value.clone());
        let secrets = settings.key.iter().map(auth::trimmed).chain(extra_secrets).collect();
        let source = Arc::new(ErrorSource::new(id(), secrets));
        let learned = learned::Memory::default();
        Ok(Arc::new(Self { settings, chat, listing, source, learned, seed, answers: AtomicU64::new(0) }))
    }

    /// The instance's settings.
    pub fn settings(&self) -> &ProviderSettings {
        &self.settings
    }

    /// The names of the models: the configured ones, else what the provider lists (`GET /models`).
    pub async fn list_models(&self) -> Result<Vec<String>, ModelError> {
        if let Some(models) = &self.settings.models {
            return Ok(models.clone());
        }
        let mut request = OperatorRequest::new(Method::GET, "models");
        request.deadline = Some(Instant::now() + self.settings.timeouts.listing);
        let failed = |failure| error::of_exchange(&self.source, &failure);
        let response = self.listing.send(request, &CancellationToken::new()).await.map_err(failed)?;
        let (status, headers) = (response.status, response.headers.clone());
        let body = response.collect(models::LARGEST_LIST).await.map_err(failed)?;
        if !status.is_success() {
            return Err(self.source.refusal(status.as_u16(), retry::retry_after(&headers), &body));
        }
        models::read(&body, &self.source)
    }

    /// One model of the instance. The name is not checked: the provider knows it or says that it does not.
    pub fn model(self: &Arc<Self>, name: impl Into<String>) -> Arc<dyn Model> {
        let identity = ModelIdentity {
            provider_id: self.settings.id.clone(),
            model: name.into(),
            confidence: self.settings.confidence,
            trusted: self.settings.trusted,
        };
        Arc::new(model::ChatModel::new(Arc::clone(self), identity))
    }

    /// A number that no other answer of this instance gets.
    fn next_seed(&self) -> u64 {
        mix(self.seed ^ mix(self.answers.fetch_add(1, Ordering::Relaxed)))
    }
}

fn extra_headers(settings: &ProviderSettings) -> Result<Vec<(HeaderName, SecretString)>, ProviderSetupError> {
    let headers = settings.extra_headers.iter().map(|(name, value)| {
        let parsed = HeaderName::try_from(name.trim());
        let invalid = |_| ProviderSetupError::Header { id: settings.id.clone(), header: name.clone() };
        parsed.map(|name| (name, value.clone())).map_err(invalid)
    });
    headers.collect()
}
