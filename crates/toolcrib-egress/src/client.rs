//! [`Egress`]: fetches one model-chosen URL under a policy.
//!
//! Invariant: every hop takes the same way: strict parse, one look-up, all addresses judged, connect to
//! judged addresses only, peer judged, one request on one connection that is dropped afterwards. Nothing
//! survives a fetch: no connection, no cookie, no TLS session, no task.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use http::header::HeaderMap;
use rustls::ClientConfig;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::audit::{AuditEntry, AuditSink, TracingAudit};
use crate::body::{PartialReason, StartCheck};
use crate::connector::Connector;
use crate::error::{FetchError, SafeUrl};
use crate::limits::Budgets;
use crate::policy::{Policy, Zone};
use crate::resolve::SystemConnector;
use crate::tls::{TlsSetupError, fetch_config};

mod dial;
mod exchange;
mod run;
mod turns;

use turns::Turns;

/// The door for model-chosen URLs. Cloning is cheap; clones share their limits.
#[derive(Clone)]
pub struct Egress {
    shared: Arc<Shared>,
}

/// What all fetches of one [`Egress`] share.
struct Shared {
    connector: Arc<dyn Connector>,
    tls: Arc<ClientConfig>,
    budgets: Budgets,
    user_agent: HeaderValue,
    turns: Turns,
    audit: Arc<dyn AuditSink>,
}

/// How an [`Egress`] is set up.
#[derive(Clone)]
pub struct EgressSettings {
    /// The budgets of each fetch.
    pub budgets: Budgets,
    /// An e-mail address or URL of whoever runs this server, for the `User-Agent`.
    pub contact: Option<String>,
    /// Name servers instead of the system's. Empty: the system's.
    pub name_servers: Vec<SocketAddr>,
    /// Fetches of the whole process that are under way at once; further ones wait. Default 64.
    pub concurrent: usize,
    /// Fetches from one host that are under way at once; further ones wait. Default 4.
    pub concurrent_per_host: usize,
    /// Where audit records go. Default [`TracingAudit`].
    pub audit: Arc<dyn AuditSink>,
}

impl Default for EgressSettings {
    fn default() -> Self {
        Self {
            budgets: Budgets::default(),
            contact: None,
            name_servers: Vec::new(),
            concurrent: 64,
            concurrent_per_host: 4,
            audit: Arc::new(TracingAudit),
        }
    }
}

/// The settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EgressSetupError {
    /// The contact holds characters that no header field may hold.
    #[error("the contact `{0}` cannot be sent in a header field: use visible ASCII characters only")]
    Contact(String),
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsSetupError),
}

/// Judges a media type: `type/subtype` in lower case, or `None` if there is none or it is malformed.
pub type MediaTypeCheck<'a> = &'a (dyn Fn(Option<&str>) -> bool + Send + Sync);

/// What to fetch, and how.
pub struct FetchRequest<'a> {
    /// The URL as the model wrote it.
    pub url: &'a str,
    /// What it may reach.
    pub policy: &'a Policy,
    /// The value of `Accept`. Default `*/*`.
    pub accept: Option<&'a str>,
    /// The value of `Accept-Language`. Default: not sent.
    pub accept_language: Option<&'a str>,
    /// Judges the media type at the header of a successful response; `false` refuses the body unread.
    /// Default: everything is read.
    pub accepts_media_type: Option<MediaTypeCheck<'a>>,
    /// Judges the first decoded bytes, at most 1,024 of them, before the rest is read. `false` refuses the
    /// body. Default: everything is read.
    pub accepts_start: Option<StartCheck<'a>>,
    /// An outer bound on the whole fetch; the shorter of it and [`Budgets::total`] holds.
    pub timeout: Option<Duration>,
    /// Pairs for the audit log: user, conversation, tool.
    pub context: Vec<(String, String)>,
}

impl<'a> FetchRequest<'a> {
    /// A request with the defaults of all other fields.
    #[must_use]
    pub fn new(url: &'a str, policy: &'a Policy) -> Self {
        Self {
            url,
            policy,
            accept: None,
            accept_language: None,
            accepts_media_type: None,
            accepts_start: None,
            timeout: None,
            context: Vec::new(),
        }
    }
}

/// What came back. Any final status is a result, 404 and 500 too.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// The URL of the last hop.
    pub final_url: Url,
    /// The status of the final response.
    pub status: u16,
    /// The final response's fields, without `Set-Cookie`.
    pub headers: HeaderMap,
    /// The decoded body. Empty if an unsuccessful response has a type that the caller does not read.
    pub body: Bytes,
    /// Why the body is not whole; `None` if it is.
    pub partial: Option<PartialReason>,
    /// Where the page came from.
    pub zone: Zone,
    /// The URLs of all hops, the first and the last included.
    pub hops: Vec<Url>,
}

impl Fetched {
    /// Whether the body is whole.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.partial.is_none()
    }

    /// A field's value, if it is visible ASCII.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The raw `Content-Type`.
    #[must_use]
    pub fn content_type(&self) -> Option<&str> {
        self.header("content-type")
    }

    /// `type/subtype` in lower case.
    #[must_use]
    pub fn media_type(&self) -> Option<String> {
        media_type(&self.headers)
    }

    /// The `charset` parameter of the `Content-Type`, without quotes.
    #[must_use]
    pub fn charset(&self) -> Option<String> {
        let mut parameters = self.content_type()?.split(';').skip(1);
        parameters.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            let value = value.trim().trim_matches('"').trim();
            (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then(|| value.to_owned())
        })
    }
}

impl Egress {
    /// For production: system name servers, real connections, the web's roots.
    ///
    /// # Errors
    /// [`EgressSetupError`] if the settings cannot be used.
    pub fn new(settings: EgressSettings) -> Result<Self, EgressSetupError> {
        let connector = SystemConnector::new(settings.name_servers.clone(), settings.budgets.dns);
        let tls = fetch_config(&[])?;
        Self::build(Arc::new(connector), tls, settings)
    }

    /// For tests: names and connections come from `connector`. All judgements stay in force.
    ///
    /// # Errors
    /// [`EgressSetupError`] if the settings cannot be used.
    #[cfg(feature = "testing")]
    pub fn with_connector(
        connector: Arc<dyn Connector>,
        settings: EgressSettings,
    ) -> Result<Self, EgressSetupError> {
        Self::build(connector, fetch_config(&[])?, settings)
    }

    /// For tests: as [`Egress::with_connector`], trusting `roots` besides the web's.
    ///
    /// # Errors
    /// [`EgressSetupError`] if the settings cannot be used.
    #[cfg(feature = "testing")]
    pub fn with_connector_and_roots(
        connector: Arc<dyn Connector>,
        roots: &[rustls::pki_types::CertificateDer<'static>],
        settings: EgressSettings,
    ) -> Result<Self, EgressSetupError> {
        Self::build(connector, fetch_config(roots)?, settings)
    }

    fn build(
        connector: Arc<dyn Connector>,
        tls: Arc<ClientConfig>,
        settings: EgressSettings,
    ) -> Result<Self, EgressSetupError> {
        let user_agent = user_agent(settings.contact.as_deref())?;
        let turns = Turns::new(settings.concurrent, settings.concurrent_per_host);
        let EgressSettings { budgets, audit, .. } = settings;
        Ok(Self { shared: Arc::new(Shared { connector, tls, budgets, user_agent, turns, audit }) })
    }

    /// Fetches one URL.
    ///
    /// Dropping the future or cancelling `cancel` closes the connection at once.
    ///
    /// # Errors
    /// [`FetchError`]; its [`FetchError::public_message`] is what may leave the server.
    pub async fn fetch(
        &self,
        request: FetchRequest<'_>,
        cancel: &CancellationToken,
    ) -> Result<Fetched, FetchError> {
        let shown = SafeUrl::from_text(request.url);
        let audit = Arc::clone(&self.shared.audit);
        let mut entry = AuditEntry::new(audit, request.policy.name(), shown.clone(), request.context.clone());
        let result = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(FetchError::Cancelled { url: shown }),
            result = run::chain(&self.shared, &request, &mut entry) => result,
        };
        match &result {
            Ok(fetched) => entry.fetched(fetched.is_complete(), fetched.body.len()),
            Err(error) => entry.failed(error),
        }
        result
    }
}

/// The one clock of a fetch, and the addresses that it may not reach.
struct Hop<'a> {
    shared: &'a Shared,
    deadline: Instant,
    own: &'a HashSet<IpAddr>,
}

fn user_agent(contact: Option<&str>) -> Result<HeaderValue, EgressSetupError> {
    const NAME: &str = concat!("Toolcrib/", env!("CARGO_PKG_VERSION"));
    let text = match contact {
        Some(contact) => format!("{NAME} (+{contact})"),
        None => NAME.to_owned(),
    };
    let visible = text.bytes().all(|byte| (b' '..0x7f).contains(&byte));
    match HeaderValue::from_str(&text) {
        Ok(value) if visible => Ok(value),
        _ => Err(EgressSetupError::Contact(contact.unwrap_or_default().to_owned())),
    }
}

/// The essence of the `Content-Type`, if it is well formed and single.
fn media_type(headers: &HeaderMap) -> Option<String> {
    let mut values = headers.get_all(http::header::CONTENT_TYPE).iter();
    let value = values.next()?.to_str().ok()?;
    let essence = value.split(';').next()?.trim().to_ascii_lowercase();
    let (kind, subtype) = essence.split_once('/')?;
    let is_token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'+' | b'-' | b'.' | b'_' | b'!' | b'#' | b'$' | b'&' | b'^')
            })
    };
    let agrees = values.all(|other| other == value);
    (is_token(kind) && is_token(subtype) && essence.len() <= 127 && agrees).then_some(essence)
}
