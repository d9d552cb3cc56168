//! Who is asking: a key, the web page's session on loopback, or a program of the same user on the same machine.

use http::{HeaderMap, header};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use toolcrib_runtime::caller::Component;
use toolcrib_storage::record::{ApiKey, KeyHash, KeyLookup, NewKey, Owner};
use toolcrib_storage::store::KeyStore;

use crate::app::App;
use crate::error::{ApiError, EXPIRED_KEY, FORBIDDEN, INVALID_KEY, MISSING_KEY, REVOKED_KEY};
use crate::ids::{RandomnessError, random_id, random_secret};

/// Header fields by which proxies say for whom they ask.
const FORWARDING: [&str; 5] = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];
/// The port of addresses that name none.
const HTTP_PORT: u16 = 80;

/// Ways in that exist only on this machine and only while this process runs.
pub(crate) struct LocalAccess {
    /// The session that the page gets; `None` when the server does not listen on loopback.
    session: Option<String>,
    /// Written into the data folder, readable by its owner only, for the command line.
    token: String,
}

/// Who was recognized.
#[derive(Debug, Clone)]
pub(crate) struct Principal {
    /// In whose name the request acts.
    pub(crate) owner: Owner,
    /// How it was recognized.
    pub(crate) way: WayIn,
}

/// How a request shows who sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WayIn {
    /// With an API key.
    Key,
    /// With the session of the web page, on loopback.
    Session,
    /// With the token that programs of the same user read in the data folder.
    Program,
}

impl LocalAccess {
    pub(crate) fn new(loopback: bool) -> Result<Self, RandomnessError> {
        let session = if loopback { Some(random_secret("")?) } else { None };
        Ok(Self { session, token: random_secret("local_")? })
    }

    /// The session that the web page gets.
    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// The token for programs of the same user.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }
}

impl Principal {
    /// Whoever asks is at this machine.
    pub(crate) fn is_local(&self) -> bool {
        matches!(self.way, WayIn::Session | WayIn::Program)
    }

    /// Refuses a component that this caller cannot be: the command line and MCP are doors of the machine itself, and
    /// what is allowed there must not be had with a key.
    ///
    /// # Errors
    /// The component is not open to keys.
    pub(crate) fn may_act_as(&self, component: &Component, param: &str) -> Result<(), ApiError> {
        let open = [Component::API, Component::CHAT].contains(&component.id()) || component.is_assistant();
        if open || self.is_local() {
            return Ok(());
        }
        let message = format!(
            "`{param}`: with an API key a request cannot act as {component}; it can as api, chat or an assistant"
        );
        Err(ApiError::new(FORBIDDEN, message).with_param(param))
    }
}

impl App {
    /// Recognizes who sent a request.
    ///
    /// # Errors
    /// No key, or one that is unknown, revoked or expired.
    pub(crate) async fn authenticate(&self, headers: &HeaderMap) -> Result<Principal, ApiError> {
        if let Some(given) = bearer(headers)? {
            if same(given, self.local.token()) {
                return Ok(Principal { owner: Owner::first(), way: WayIn::Program });
            }
            return self.by_key(given).await;
        }
        let name = session_cookie(headers);
        if let (Some(given), Some(session)) = (cookie(headers, &name), self.local.session())
            && same(given, session)
        {
            return Ok(Principal { owner: Owner::first(), way: WayIn::Session });
        }
        if headers.contains_key(header::AUTHORIZATION) {
            return Err(malformed());
        }
        Err(ApiError::new(MISSING_KEY, "the request carries no API key"))
    }

    async fn by_key(&self, given: &str) -> Result<Principal, ApiError> {
        let now = self.clock.now();
        match self.store.find_key(&hash(given), now).await? {
            KeyLookup::Active(key) => {
                self.store.touch_key(&key.id, now);
                Ok(Principal { owner: key.owner, way: WayIn::Key })
            }
            KeyLookup::Revoked(key) => {
                Err(ApiError::new(REVOKED_KEY, format!("the API key {}… was revoked", key.prefix)))
            }
            KeyLookup::Expired(key) => {
                Err(ApiError::new(EXPIRED_KEY, format!("the API key {}… has expired", key.prefix)))
            }
            KeyLookup::Unknown => Err(ApiError::new(INVALID_KEY, "the API key is not known here")),
        }
    }

    /// Makes a key; it is shown this once and stored as a hash.
    pub(crate) async fn create_key(&self, owner: &Owner, name: &str) -> Result<(ApiKey, String), ApiError> {
        let secret = random_secret("tc_")?;
        let key = NewKey {
            id: random_id("key_")?,
            owner: owner.clone(),
            name: name.to_owned(),
            hash: hash(&secret),
            prefix: secret.chars().take(9).collect(),
            scopes: "*".to_owned(),
            created_at: self.clock.now(),
            expires_at: None,
        };
        let id = key.id.clone();
        self.store.insert_key(key).await?;
        let keys = self.store.keys(&owner.workspace_id).await?;
        let stored = keys.into_iter().find(|key| key.id == id);
        let stored = stored.ok_or_else(|| ApiError::not_found("key", &id))?;
        Ok((stored, secret))
    }
}

/// Keys are 256 random bits: one round of SHA-256 is enough, where passwords would need more.
fn hash(key: &str) -> KeyHash {
    KeyHash(Sha256::digest(key.as_bytes()).into())
}

/// The key behind `Bearer`; `None` without one and with other schemes, which are somebody else's (a proxy's, say).
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let text = value.to_str().map_err(|_| malformed())?;
    let (scheme, key) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Ok(None);
    }
    if key.trim().is_empty() { Err(malformed()) } else { Ok(Some(key.trim())) }
}

fn malformed() -> ApiError {
    ApiError::new(INVALID_KEY, "the Authorization header has to be `Bearer ` followed by the key")
}

/// The name of the cookie of the web page's session. Browsers tell cookies by host but not by port, so that without
/// the port in the name two servers on one machine would overwrite each other's session.
pub(crate) fn session_cookie(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let port = host.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(HTTP_PORT);
    format!("toolcrib_session_{port}")
}

/// Whether a proxy passed the request on: it may come from anywhere, whatever host it names.
pub(crate) fn is_forwarded(headers: &HeaderMap) -> bool {
    FORWARDING.iter().any(|name| headers.contains_key(*name))
}

fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

fn same(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}
