//! Who is asking: a key, the web page's session on loopback, or a program of the same user on the same machine.

use http::{HeaderMap, header};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use toolcrib_storage::record::{ApiKey, KeyHash, KeyLookup, NewKey, Owner};
use toolcrib_storage::store::KeyStore;

use crate::app::App;
use crate::error::{ApiError, EXPIRED_KEY, INVALID_KEY, MISSING_KEY, REVOKED_KEY};
use crate::ids::{RandomnessError, random_id, random_secret};

/// The cookie of the web page's session.
pub(crate) const SESSION_COOKIE: &str = "toolcrib_session";

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
    /// The request came with the local session or token.
    pub(crate) local: bool,
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

impl App {
    /// Recognizes who sent a request.
    ///
    /// # Errors
    /// No key, or one that is unknown, revoked or expired.
    pub(crate) async fn authenticate(&self, headers: &HeaderMap) -> Result<Principal, ApiError> {
        if let Some(given) = bearer(headers)? {
            if same(given, self.local.token()) {
                return Ok(Principal { owner: Owner::first(), local: true });
            }
            return self.by_key(given).await;
        }
        if let (Some(given), Some(session)) = (cookie(headers, SESSION_COOKIE), self.local.session())
            && same(given, session)
        {
            return Ok(Principal { owner: Owner::first(), local: true });
        }
        Err(ApiError::new(MISSING_KEY, "the request carries no API key"))
    }

    async fn by_key(&self, given: &str) -> Result<Principal, ApiError> {
        let now = self.clock.now();
        match self.store.find_key(&hash(given), now).await? {
            KeyLookup::Active(key) => {
                self.store.touch_key(&key.id, now);
                Ok(Principal { owner: key.owner, local: false })
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

fn bearer(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let malformed =
        || ApiError::new(INVALID_KEY, "the Authorization header has to be `Bearer ` followed by the key");
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let text = value.to_str().map_err(|_| malformed())?;
    let (scheme, key) = text.split_once(' ').ok_or_else(malformed)?;
    if !scheme.eq_ignore_ascii_case("bearer") || key.trim().is_empty() {
        return Err(malformed());
    }
    Ok(Some(key.trim()))
}

fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

fn same(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}
