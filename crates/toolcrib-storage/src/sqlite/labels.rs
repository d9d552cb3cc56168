//! What content demands, in `SQLite`: labels that only rise, and protected text that is recognized.
//!
//! Every statement that writes a label takes the stricter of what is there and what is new.

use std::collections::{BTreeSet, HashSet};
use std::sync::{PoisonError, RwLock};

use async_trait::async_trait;
use sqlx::SqliteConnection;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::labels::fingerprint::Fingerprint;
use toolcrib_runtime::policy::OutboundRestriction;

use super::SqliteStore;
use super::problem::Failure;
use super::writer::Write;
use crate::record::Owner;
use crate::record::trace::ContentError;
use crate::store::{LabelStore, StoreError};

/// The workspaces that may have protected text. One that has is always among them: it is noted before its text is
/// committed, and nobody else has the database open.
#[derive(Debug, Default)]
pub(super) struct ProtectedMemory {
    workspaces: RwLock<HashSet<String>>,
}

impl ProtectedMemory {
    /// Reads which workspaces have protected text, before anything else uses the store.
    pub(super) async fn load(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let found: Vec<String> = sqlx::query_scalar(
            "SELECT id FROM workspaces
             WHERE EXISTS (SELECT 1 FROM protected_texts WHERE workspace_id = workspaces.id)",
        )
        .fetch_all(connection)
        .await?;
        self.workspaces.write().unwrap_or_else(PoisonError::into_inner).extend(found);
        Ok(())
    }

    /// The workspace is about to get protected text.
    pub(super) fn note(&self, workspace_id: &str) {
        if self.may_have(workspace_id) {
            return;
        }
        self.workspaces.write().unwrap_or_else(PoisonError::into_inner).insert(workspace_id.to_owned());
    }

    fn may_have(&self, workspace_id: &str) -> bool {
        self.workspaces.read().unwrap_or_else(PoisonError::into_inner).contains(workspace_id)
    }
}

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
            stored_labels(required_confidence, untrusted, outbound)
                .map_err(|error| Failure::content(format!("the conversation {conversation_id}"), &error))
        };
        find.await.map_err(|failure: Failure| failure.during("reading what a conversation demands"))
    }

    async fn tighten(
        &self,
        owner: &Owner,
        conversation_id: &str,
        labels: Labels,
    ) -> Result<bool, StoreError> {
        let (owner, conversation_id) = (owner.clone(), conversation_id.to_owned());
        self.write(Tighten { owner, conversation_id, labels }).await
    }

    async fn protects_anything(&self, workspace_id: &str) -> Result<bool, StoreError> {
        Ok(self.inner.protected.may_have(workspace_id))
    }

    async fn recognize(
        &self,
        workspace_id: &str,
        fingerprints: &BTreeSet<Fingerprint>,
    ) -> Result<Confidence, StoreError> {
        if fingerprints.is_empty() || !self.inner.protected.may_have(workspace_id) {
            return Ok(Confidence::None);
        }
        let find = async {
            // The order of a cross join is kept: each fingerprint is looked up, and the table is never walked.
            let highest: Option<i64> = sqlx::query_scalar(
                "SELECT max(protected_texts.required_confidence)
                 FROM json_each(?) AS asked CROSS JOIN protected_texts
                 ON protected_texts.workspace_id = ? AND protected_texts.fingerprint = asked.value",
            )
            .bind(as_json(fingerprints))
            .bind(workspace_id)
            .fetch_one(self.readers())
            .await?;
            let Some(highest) = highest else { return Ok(Confidence::None) };
            stored_confidence(highest)
                .map_err(|error| Failure::content("what protected text demands", &error))
        };
        find.await.map_err(|failure: Failure| failure.during("recognizing protected text"))
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
    const ATTEMPT: &'static str = "raising what a conversation demands";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<bool, Failure> {
        let done = sqlx::query(
            "UPDATE conversations SET
                 required_confidence = max(required_confidence, ?), untrusted = max(untrusted, ?),
                 outbound = max(outbound, ?)
             WHERE id = ? AND workspace_id = ? AND user_id = ?",
        )
        .bind(i64::from(self.labels.required_confidence.value()))
        .bind(self.labels.untrusted)
        .bind(stored_outbound(self.labels.outbound))
        .bind(&self.conversation_id)
        .bind(&self.owner.workspace_id)
        .bind(&self.owner.user_id)
        .execute(connection)
        .await?;
        Ok(done.rows_affected() > 0)
    }
}

/// Raises what a run demands; returns the run's conversation, or nothing when there is no such run.
pub(super) async fn raise_run(
    connection: &mut SqliteConnection,
    run_id: &str,
    labels: Labels,
) -> Result<Option<Option<String>>, sqlx::Error> {
    sqlx::query_scalar(
        "UPDATE runs SET
             required_confidence = max(required_confidence, ?), untrusted = max(untrusted, ?),
             outbound = max(outbound, ?)
         WHERE id = ? RETURNING conversation_id",
    )
    .bind(i64::from(labels.required_confidence.value()))
    .bind(labels.untrusted)
    .bind(stored_outbound(labels.outbound))
    .bind(run_id)
    .fetch_optional(connection)
    .await
}

/// Raises what a conversation demands.
pub(super) async fn raise_conversation(
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
    .bind(stored_outbound(labels.outbound))
    .bind(conversation_id)
    .execute(connection)
    .await?;
    Ok(())
}

/// Remembers by what protected text is recognized. A fingerprint keeps its highest demand.
pub(super) async fn protect(
    connection: &mut SqliteConnection,
    workspace_id: &str,
    fingerprints: &BTreeSet<Fingerprint>,
    required_confidence: i64,
) -> Result<(), sqlx::Error> {
    // `WHERE true` tells the upsert from a join's `ON`.
    sqlx::query(
        "INSERT INTO protected_texts (workspace_id, fingerprint, required_confidence)
         SELECT ?, value, ? FROM json_each(?) WHERE true
         ON CONFLICT (workspace_id, fingerprint) DO UPDATE SET
             required_confidence = max(required_confidence, excluded.required_confidence)",
    )
    .bind(workspace_id)
    .bind(required_confidence)
    .bind(as_json(fingerprints))
    .execute(connection)
    .await?;
    Ok(())
}

/// One parameter for all, however many they are: a JSON array of whole numbers, which `SQLite` reads exactly.
fn as_json(fingerprints: &BTreeSet<Fingerprint>) -> String {
    let numbers: Vec<String> = fingerprints.iter().map(Fingerprint::to_string).collect();
    format!("[{}]", numbers.join(","))
}

/// The labels in a row's columns.
pub(super) fn stored_labels(
    required_confidence: i64,
    untrusted: bool,
    outbound: i64,
) -> Result<Labels, ContentError> {
    let restriction = OutboundRestriction::NAMES
        .into_iter()
        .map(|(_, restriction)| restriction)
        .find(|restriction| stored_outbound(*restriction) == outbound);
    let unknown = || ContentError::Value { column: "outbound", value: outbound.to_string() };
    Ok(Labels {
        required_confidence: stored_confidence(required_confidence)?,
        untrusted,
        outbound: restriction.ok_or_else(unknown)?,
    })
}

/// The level in a column.
pub(super) fn stored_confidence(number: i64) -> Result<Confidence, ContentError> {
    let level = u16::try_from(number).ok().and_then(Confidence::from_value);
    level.ok_or_else(|| ContentError::Value { column: "required_confidence", value: number.to_string() })
}

/// The number of a restriction, larger for a stricter one, with room between them.
pub(super) fn stored_outbound(restriction: OutboundRestriction) -> i64 {
    match restriction {
        OutboundRestriction::Unrestricted => 0,
        OutboundRestriction::LinksFromChat => 10,
        OutboundRestriction::ConfiguredServices => 20,
    }
}
