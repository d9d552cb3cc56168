//! API keys in `SQLite`.

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::{FromRow, SqliteConnection};

use super::SqliteStore;
use super::accounts::stored_time;
use super::problem::Failure;
use super::writer::Write;
use crate::record::trace::ContentError;
use crate::record::{ApiKey, KeyHash, KeyLookup, NewKey, Owner, time};
use crate::store::{KeyStore, StoreError};

#[async_trait]
impl KeyStore for SqliteStore {
    async fn insert_key(&self, key: NewKey) -> Result<(), StoreError> {
        self.write(InsertKey(key)).await
    }

    async fn find_key(&self, hash: &KeyHash, now: Timestamp) -> Result<KeyLookup, StoreError> {
        if let Some(key) = self.inner.keys.get(hash) {
            return Ok(KeyLookup::judge(self.with_last_use(key), now));
        }
        let generation = self.inner.keys.generation();
        let find = async {
            let row: Option<KeyRow> = sqlx::query_as("SELECT * FROM api_keys WHERE hash = ?")
                .bind(hash.0.as_slice())
                .fetch_optional(self.readers())
                .await?;
            row.map(KeyRow::into_key).transpose()
        };
        let key = find.await.map_err(|failure: Failure| failure.during("looking up an API key"))?;
        let Some(key) = key else { return Ok(KeyLookup::Unknown) };
        self.inner.keys.keep(generation, *hash, key.clone());
        Ok(KeyLookup::judge(self.with_last_use(key), now))
    }

    async fn keys(&self, workspace_id: &str) -> Result<Vec<ApiKey>, StoreError> {
        let find = async {
            let rows: Vec<KeyRow> =
                sqlx::query_as("SELECT * FROM api_keys WHERE workspace_id = ? ORDER BY created_at DESC, id")
                    .bind(workspace_id)
                    .fetch_all(self.readers())
                    .await?;
            let keys: Result<Vec<_>, Failure> = rows.into_iter().map(KeyRow::into_key).collect();
            Ok(keys?.into_iter().map(|key| self.with_last_use(key)).collect())
        };
        find.await.map_err(|failure: Failure| failure.during("listing API keys"))
    }

    async fn revoke_key(
        &self,
        workspace_id: &str,
        key_id: &str,
        at: Timestamp,
    ) -> Result<Option<ApiKey>, StoreError> {
        let revoke = RevokeKey { workspace_id: workspace_id.to_owned(), key_id: key_id.to_owned(), at };
        let revoked = self.write(revoke).await;
        self.inner.keys.forget();
        Ok(revoked?.map(|key| self.with_last_use(key)))
    }

    fn touch_key(&self, key_id: &str, at: Timestamp) {
        if self.inner.keys.touch(key_id, at) {
            let uses = WriteLastUses(vec![(key_id.to_owned(), at)]);
            if !self.inner.writer.post(uses) {
                self.inner.keys.not_written(key_id);
            }
        }
    }

    async fn count_keys(&self, now: Timestamp) -> Result<u64, StoreError> {
        let count: Result<i64, sqlx::Error> = sqlx::query_scalar(
            "SELECT count(*) FROM api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)",
        )
        .bind(time::to_stored(now))
        .fetch_one(self.readers())
        .await;
        match count {
            Ok(count) => Ok(time::count_from_stored(count)),
            Err(error) => Err(Failure::from(error).during("counting API keys")),
        }
    }
}

impl SqliteStore {
    /// Writes down when keys were last used, as far as it is not.
    pub(super) async fn write_last_uses(&self) {
        let uses = self.inner.keys.take_unwritten();
        if uses.is_empty() {
            return;
        }
        if let Err(error) = self.write(WriteLastUses(uses)).await {
            tracing::warn!(%error, "the last uses of API keys are not written down");
        }
    }

    fn with_last_use(&self, mut key: ApiKey) -> ApiKey {
        key.last_used_at = key.last_used_at.max(self.inner.keys.last_use(&key.id));
        key
    }
}

struct InsertKey(NewKey);

struct RevokeKey {
    workspace_id: String,
    key_id: String,
    at: Timestamp,
}

struct WriteLastUses(Vec<(String, Timestamp)>);

#[async_trait]
impl Write for InsertKey {
    type Output = ();
    const ATTEMPT: &'static str = "storing an API key";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        let key = &self.0;
        sqlx::query(
            "INSERT INTO api_keys
                 (id, workspace_id, user_id, name, hash, prefix, scopes, created_at, expires_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(&key.id)
        .bind(&key.owner.workspace_id)
        .bind(&key.owner.user_id)
        .bind(&key.name)
        .bind(key.hash.0.as_slice())
        .bind(&key.prefix)
        .bind(&key.scopes)
        .bind(time::to_stored(key.created_at))
        .bind(key.expires_at.map(time::to_stored))
        .execute(connection)
        .await
        .map_err(|error| Failure::referring(error, "member of the workspace"))?;
        Ok(())
    }
}

#[async_trait]
impl Write for RevokeKey {
    type Output = Option<ApiKey>;
    const ATTEMPT: &'static str = "revoking an API key";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<Option<ApiKey>, Failure> {
        let row: Option<KeyRow> = sqlx::query_as(
            "UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?)
             WHERE workspace_id = ? AND id = ? RETURNING *",
        )
        .bind(time::to_stored(self.at))
        .bind(&self.workspace_id)
        .bind(&self.key_id)
        .fetch_optional(connection)
        .await?;
        row.map(KeyRow::into_key).transpose()
    }
}

#[async_trait]
impl Write for WriteLastUses {
    type Output = ();
    const ATTEMPT: &'static str = "noting the use of API keys";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        for (id, at) in &self.0 {
            sqlx::query(
                "UPDATE api_keys SET last_used_at = max(coalesce(last_used_at, ?1), ?1) WHERE id = ?2",
            )
            .bind(time::to_stored(*at))
            .bind(id)
            .execute(&mut *connection)
            .await?;
        }
        Ok(())
    }
}

#[derive(FromRow)]
struct KeyRow {
    id: String,
    workspace_id: String,
    user_id: String,
    name: String,
    prefix: String,
    scopes: String,
    created_at: i64,
    last_used_at: Option<i64>,
    expires_at: Option<i64>,
    revoked_at: Option<i64>,
}

impl KeyRow {
    fn into_key(self) -> Result<ApiKey, Failure> {
        let id = self.id.clone();
        self.try_into_key().map_err(|error| Failure::content(format!("the API key {id}"), &error))
    }

    fn try_into_key(self) -> Result<ApiKey, ContentError> {
        let time = |column, number: Option<i64>| number.map(|at| stored_time(column, at)).transpose();
        Ok(ApiKey {
            owner: Owner { workspace_id: self.workspace_id, user_id: self.user_id },
            created_at: stored_time("created_at", self.created_at)?,
            last_used_at: time("last_used_at", self.last_used_at)?,
            expires_at: time("expires_at", self.expires_at)?,
            revoked_at: time("revoked_at", self.revoked_at)?,
            id: self.id,
            name: self.name,
            prefix: self.prefix,
            scopes: self.scopes,
        })
    }
}
