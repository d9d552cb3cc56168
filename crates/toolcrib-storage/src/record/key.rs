//! API keys: who may call, until when.
//!
//! The key itself is never stored; its SHA-256 hash and a few letters for display are.

use jiff::Timestamp;

use super::account::Owner;

/// The SHA-256 hash of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash(pub [u8; 32]);

/// A key to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// A new unique id.
    pub id: String,
    /// Who acts when the key is used.
    pub owner: Owner,
    /// The name that people gave it.
    pub name: String,
    /// The hash of the key.
    pub hash: KeyHash,
    /// The key's first letters, by which people recognize it.
    pub prefix: String,
    /// What the key may do; the text means something to the caller of the store alone.
    pub scopes: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is refused; `None` never ends.
    pub expires_at: Option<Timestamp>,
}

/// A stored key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The key's id.
    pub id: String,
    /// Who acts when the key is used.
    pub owner: Owner,
    /// The name that people gave it.
    pub name: String,
    /// The key's first letters, by which people recognize it.
    pub prefix: String,
    /// What the key may do; the text means something to the caller of the store alone.
    pub scopes: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used, to the minute or so; `None` when never.
    pub last_used_at: Option<Timestamp>,
    /// From when on it is refused; `None` never ends.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
}

/// What a hash turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyLookup {
    /// A key that may be used.
    Active(ApiKey),
    /// A key that was revoked, whether or not it has expired as well.
    Revoked(ApiKey),
    /// A key whose time is over.
    Expired(ApiKey),
    /// No key has this hash.
    Unknown,
}

impl KeyLookup {
    /// What `key` is worth at `now`.
    pub(crate) fn judge(key: ApiKey, now: Timestamp) -> Self {
        if key.revoked_at.is_some() {
            Self::Revoked(key)
        } else if key.expires_at.is_some_and(|end| end <= now) {
            Self::Expired(key)
        } else {
            Self::Active(key)
        }
    }
}
