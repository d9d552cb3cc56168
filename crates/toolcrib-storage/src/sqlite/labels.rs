//! Labels of conversations and fingerprints of protected text in `SQLite`. Labels are only ever raised.

use std::collections::BTreeSet;

use async_trait::async_trait;
use sqlx::SqliteConnection;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::labels::fingerprint::Fingerprint;

use super::SqliteStore;
use super::conversations::is_owned;
use super::problem::Failure;
use super::writer::Write;
use crate::record::Owner;
use crate::record::labels::{confidence_from_stored, from_stored, outbound_to_stored};
use crate::store::{LabelStore, StoreError};

/// Fingerprints that one statement stores.
const BATCH: usize = 500;

#[async_trait]
impl LabelStore for SqliteStore {
    async fn labels(&self, conversation_id: &str) -> Result<Labels, StoreError> {
        let find = async {
            let row: Option<(i64, bool, i64)> = sqlx::query_as(
                "SELECT required_confidence, untrusted, outbound FROM conversations WHERE id = ?",
            )
            .bind(conversation_id)
            .fetch_optional(self.readers())
            .await?;
            let Some((required_confidence, untrusted, outbound)) = row else { return Ok(Labels::default()) };
            from_stored(required_confidence, untrusted, outbound)
                .map_err(|error| Failure::content(format!("the conversation {conversation_id}"), &error))
        };
        find.await.map_err(|failure: Failure| failure.during("reading the labels of a conversation"))
    }

    async fn tighten(
        &self,
        owner: &Owner,
        conversation_id: &str,
        labels: Labels,
    ) -> Result<bool, StoreError> {
        let conversation_id = conversation_id.to_owned();
        self.write(Tighten { owner: owner.clone(), conversation_id, labels }).await
    }

    async fn protects_anything(&self, workspace_id: &str) -> Result<bool, StoreError> {
        Ok(self.inner.protecting.contains(workspace_id))
    }

    async fn recognize(
        &self,
        workspace_id: &str,
        fingerprints: &BTreeSet<Fingerprint>,
    ) -> Result<Confidence, StoreError> {
        if fingerprints.is_empty() || !self.inner.protecting.contains(workspace_id) {
            return Ok(Confidence::None);
        }
        let find = async {
            let list = serde_json::to_string(fingerprints)
                .map_err(|error| Failure::content("fingerprints", &error.into()))?;
            let level: Option<i64> = sqlx::query_scalar(
                "SELECT max(required_confidence) FROM protected_texts
                 WHERE workspace_id = ? AND fingerprint IN (SELECT value FROM json_each(?))",
            )
            .bind(workspace_id)
            .bind(list)
            .fetch_one(self.readers())
            .await?;
            level
                .map_or(Ok(Confidence::None), confidence_from_stored)
                .map_err(|error| Failure::content("a protected text", &error))
        };
        find.await.map_err(|failure: Failure| failure.during("looking for protected text"))
    }
}

/// Raises the labels of a conversation.
pub(super) async fn raise(
    connection: &mut SqliteConnection,
    conversation_id: &str,
    labels: Labels,
) -> Result<(), sqlx::Error> {
    if labels == Labels::default() {
        return Ok(());
    }
    sqlx::query(
        "UPDATE conversations SET
             required_confidence = max(required_confidence, ?), untrusted = max(untrusted, ?),
             outbound = max(outbound, ?)
         WHERE id = ?",
    )
    .bind(i64::from(labels.required_confidence.value()))
    .bind(labels.untrusted)
    .bind(outbound_to_stored(labels.outbound))
    .bind(conversation_id)
    .execute(connection)
    .await?;
    Ok(())
}

/// Raises the labels of a run.
pub(super) async fn raise_run(
    connection: &mut SqliteConnection,
    run_id: &str,
    labels: Labels,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "UPDATE runs SET
             required_confidence = max(required_confidence, ?), untrusted = max(untrusted, ?),
             outbound = max(outbound, ?)
         WHERE id = ?",
    )
    .bind(i64::from(labels.required_confidence.value()))
    .bind(labels.untrusted)
    .bind(outbound_to_stored(labels.outbound))
    .bind(run_id)
    .execute(connection)
    .await?;
    Ok(())
}

/// Remembers by what the protected text of a run is recognized.
pub(super) async fn protect(
    connection: &mut SqliteConnection,
    run_id: &str,
    fingerprints: &[Fingerprint],
    required: Confidence,
) -> Result<(), Failure> {
    for batch in fingerprints.chunks(BATCH) {
        let list = serde_json::to_string(batch)
            .map_err(|error| Failure::content(format!("fingerprints of the run {run_id}"), &error.into()))?;
        // Where rows are selected, the upsert needs a WHERE to be told from a join.
        sqlx::query(
            "INSERT INTO protected_texts (workspace_id, fingerprint, required_confidence)
             SELECT runs.workspace_id, json_each.value, ?
             FROM runs, json_each(?) WHERE runs.id = ?
             ON CONFLICT (workspace_id, fingerprint) DO UPDATE SET
                 required_confidence = max(required_confidence, excluded.required_confidence)",
        )
        .bind(i64::from(required.value()))
        .bind(list)
        .bind(run_id)
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// The workspaces that have protected text.
pub(super) async fn protecting(connection: &mut SqliteConnection) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT id FROM workspaces
         WHERE EXISTS (SELECT 1 FROM protected_texts WHERE protected_texts.workspace_id = workspaces.id)",
    )
    .fetch_all(connection)
    .await
}

/// The workspaces that have protected text, in memory: most have none, and their requests cost nothing.
#[derive(Debug, Default)]
pub(super) struct Protecting(std::sync::RwLock<BTreeSet<String>>);

impl Protecting {
    pub(super) fn new(workspaces: Vec<String>) -> Self {
        Self(std::sync::RwLock::new(workspaces.into_iter().collect()))
    }

    pub(super) fn contains(&self, workspace_id: &str) -> bool {
        self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner).contains(workspace_id)
    }

    /// Noted before the write is answered: a request that comes after it is looked at.
    pub(super) fn add(&self, workspace_id: String) {
        self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner).insert(workspace_id);
    }
}

struct Tighten {
    owner: Owner,
    conversation_id: String,
    labels: Labels,
}

#[async_trait]
impl Write for Tighten {
    type Output = bool;
    const ATTEMPT: &'static str = "raising the labels of a conversation";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<bool, Failure> {
        if !is_owned(connection, &self.owner, &self.conversation_id).await? {
            return Ok(false);
        }
        raise(connection, &self.conversation_id, self.labels).await?;
        Ok(true)
    }
}
