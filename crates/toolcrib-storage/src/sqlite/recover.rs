//! After a crash: closing what was going on when the program stopped.
//!
//! A run that was going on becomes interrupted and its pending calls become errors, together. What was said stays, the
//! open round of a run that had waited included; an answer was never written in part. Runs that wait go on waiting.

use jiff::Timestamp;
use sqlx::{Connection, SqliteConnection};
use toolcrib_runtime::journal::{RunState, TraceStatus};
use toolcrib_runtime::run::SavedRun;

use super::conversations::{append, encode_messages};
use crate::record::Recovered;
use crate::record::run::{INTERRUPTED_CALL, INTERRUPTED_REASON};
use crate::record::time;

/// Closes what was going on. Nothing else may be using the database.
pub(super) async fn close_interrupted(
    connection: &mut SqliteConnection,
    now: Timestamp,
) -> Result<Recovered, sqlx::Error> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let calls = sqlx::query(
        "UPDATE traces SET status = ?, status_message = ?
         WHERE status = ? AND run_id IN (SELECT id FROM runs WHERE state = 'running')",
    )
    .bind(TraceStatus::Error.name())
    .bind(INTERRUPTED_CALL)
    .bind(TraceStatus::Pending.name())
    .execute(&mut *transaction)
    .await?;
    keep_open_rounds(&mut transaction).await?;
    sqlx::query(
        "UPDATE approvals SET state = 'closed'
         WHERE state = 'waiting' AND run_id IN (SELECT id FROM runs WHERE state = 'running')",
    )
    .execute(&mut *transaction)
    .await?;
    let runs = sqlx::query(
        "UPDATE runs SET state = ?, reason = ?, ended_at = max(?, started_at) WHERE state = 'running'",
    )
    .bind(RunState::Interrupted.name())
    .bind(INTERRUPTED_REASON)
    .bind(time::to_stored(now))
    .execute(&mut *transaction)
    .await?;
    sqlx::query("DELETE FROM run_states WHERE run_id IN (SELECT id FROM runs WHERE state = ?)")
        .bind(RunState::Interrupted.name())
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(Recovered { runs: runs.rows_affected(), calls: calls.rows_affected() })
}

/// A run that had waited and went on when the program stopped: what it had said before it waited is kept.
async fn keep_open_rounds(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let saved: Vec<(String, String, String)> = sqlx::query_as(
        "SELECT runs.id, runs.conversation_id, run_states.state
         FROM runs JOIN run_states ON run_states.run_id = runs.id
         WHERE runs.state = 'running' AND runs.conversation_id IS NOT NULL",
    )
    .fetch_all(&mut *connection)
    .await?;
    for (run_id, conversation_id, state) in saved {
        let messages = SavedRun::read(&state).map(|saved| saved.open_messages());
        let messages = match messages.map(encode_messages) {
            Ok(Ok(messages)) => messages,
            Ok(Err(error)) => {
                tracing::error!(run = run_id, %error, "the open round of a run cannot be kept");
                continue;
            }
            Err(error) => {
                tracing::error!(run = run_id, %error, "the open round of a run cannot be kept");
                continue;
            }
        };
        append(connection, &conversation_id, &run_id, &messages).await?;
    }
    Ok(())
}
