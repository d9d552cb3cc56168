//! The end of a run, with everything that follows from it.

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::SqliteConnection;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::journal::{RunEnd, TraceStatus};

use super::rounds::touch;
use super::{refusal, stored_usage};
use crate::record::run::CANCELLED_CALL;
use crate::record::time;
use crate::record::trace::encode_sources;
use crate::sqlite::conversations::{EncodedMessage, append, encode_messages};
use crate::sqlite::labels::{ProtectedMemory, protect, raise_conversation, stored_outbound};
use crate::sqlite::problem::Failure;
use crate::sqlite::writer::Write;

/// A run's end. `end.messages` has been emptied into `messages`.
pub(in crate::sqlite) struct EndRun {
    end: RunEnd,
    messages: Vec<EncodedMessage>,
    sources: String,
    protected: Arc<ProtectedMemory>,
}

/// A run that was going on until now.
#[derive(sqlx::FromRow)]
struct Closed {
    conversation_id: Option<String>,
    workspace_id: String,
    /// What it demands, everything that was noted before included.
    required_confidence: i64,
}

impl EndRun {
    pub(in crate::sqlite) fn new(mut end: RunEnd, protected: Arc<ProtectedMemory>) -> Result<Self, Failure> {
        let unreadable = |error| Failure::content(format!("the end of the run {}", end.run_id), &error);
        let sources = encode_sources(&end.sources).map_err(unreadable)?;
        let messages = std::mem::take(&mut end.messages);
        let messages = encode_messages(messages)
            .map_err(|error| Failure::content(format!("a message of the run {}", end.run_id), &error))?;
        Ok(Self { end, messages, sources, protected })
    }

    /// Ends the run; `false` when no such run was running or waiting.
    pub(in crate::sqlite) async fn settle(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<bool, sqlx::Error> {
        let end = &self.end;
        let Some(run) = self.close(connection).await? else { return Ok(false) };
        close_approvals(connection, end).await?;
        sqlx::query("DELETE FROM saved_runs WHERE run_id = ?")
            .bind(&end.run_id)
            .execute(&mut *connection)
            .await?;
        if let Some(conversation_id) = &run.conversation_id {
            append(connection, conversation_id, &end.run_id, &self.messages).await?;
            raise_conversation(connection, conversation_id, end.labels).await?;
            touch(connection, conversation_id, end.ended_at).await?;
        }
        if run.required_confidence > i64::from(Confidence::None.value()) && !end.protected.is_empty() {
            self.protected.note(&run.workspace_id);
            protect(connection, &run.workspace_id, &end.protected, run.required_confidence).await?;
        }
        Ok(true)
    }

    async fn close(&self, connection: &mut SqliteConnection) -> Result<Option<Closed>, sqlx::Error> {
        let end = &self.end;
        let [input, output, cached_input, reasoning] = stored_usage(&end.usage);
        sqlx::query_as(
            "UPDATE runs SET
                 state = ?, reason = ?, sources = ?, input_tokens = ?, output_tokens = ?,
                 cached_input_tokens = ?, reasoning_tokens = ?, rounds = ?,
                 required_confidence = max(required_confidence, ?), untrusted = max(untrusted, ?),
                 outbound = max(outbound, ?), ended_at = ?
             WHERE id = ? AND state IN ('running', 'waiting')
             RETURNING conversation_id, workspace_id, required_confidence",
        )
        .bind(end.state.name())
        .bind(&end.reason)
        .bind(&self.sources)
        .bind(input)
        .bind(output)
        .bind(cached_input)
        .bind(reasoning)
        .bind(i64::from(end.rounds))
        .bind(i64::from(end.labels.required_confidence.value()))
        .bind(end.labels.untrusted)
        .bind(stored_outbound(end.labels.outbound))
        .bind(time::to_stored(end.ended_at))
        .bind(&end.run_id)
        .fetch_optional(connection)
        .await
    }
}

/// Nobody needs to answer for a run that has ended, and the calls that waited for it will not run.
async fn close_approvals(connection: &mut SqliteConnection, end: &RunEnd) -> Result<(), sqlx::Error> {
    let closed: Vec<i64> = sqlx::query_scalar(
        "UPDATE approvals SET state = 'closed' WHERE run_id = ? AND state = 'waiting' RETURNING call_order",
    )
    .bind(&end.run_id)
    .fetch_all(&mut *connection)
    .await?;
    for order in closed {
        sqlx::query(
            "UPDATE traces SET status = ?, status_message = coalesce(status_message, ?)
             WHERE run_id = ? AND call_order = ? AND status = ?",
        )
        .bind(TraceStatus::Cancelled.name())
        .bind(CANCELLED_CALL)
        .bind(&end.run_id)
        .bind(order)
        .bind(TraceStatus::Pending.name())
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

#[async_trait]
impl Write for EndRun {
    type Output = ();
    const ATTEMPT: &'static str = "storing the end of a run";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        if self.settle(connection).await? { Ok(()) } else { Err(refusal(connection, &self.end.run_id).await) }
    }
}
