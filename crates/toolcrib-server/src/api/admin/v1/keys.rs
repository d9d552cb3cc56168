//! API keys.

pub(super) mod create;
pub(super) mod list;
pub(super) mod revoke;

use serde_json::{Value, json};
use toolcrib_storage::record::ApiKey;

/// A key in lists: everything but the key.
fn shape(key: &ApiKey) -> Value {
    json!({
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "created_at": key.created_at.to_string(),
        "last_used_at": key.last_used_at.map(|at| at.to_string()),
        "expires_at": key.expires_at.map(|at| at.to_string()),
        "revoked_at": key.revoked_at.map(|at| at.to_string()),
    })
}
