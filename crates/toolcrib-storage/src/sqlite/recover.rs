//! After a crash: closing what was going on when the program stopped.
//!
//! A run that was going on becomes interrupted and its pending calls become errors, together. What the user had said
//! stays, and so does what the run had said before it waited for people; an answer was never written in part. A run
//! that waits goes on waiting.

use std::sync::Arc;

use jiff::Timestamp;
use sqlx::{Connection, SqliteConnection};
use toolcrib_runtime::journal::{RunState, TraceStatus};
use toolcrib_runtime::run::SavedRun;

use super::journal::end::EndRun;
use super::labels::ProtectedMemory;
use crate::record::Recovered;
use crate::record::run::{INTERRUPTED_CALL, INTERRUPTED_REASON};
use crate::record::time;

/// Closes what was going on. Nothing else may be using the database.
pub(super) async fn close_interrupted(
    connection: &mut SqliteConnection,
    now: Timestamp,
    protected: &Arc<ProtectedMemory>,
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
    let kept = keep_what_was_said(&mut transaction, now, protected).await?;
    for statement in [
        "UPDATE approvals SET state = 'closed'
         WHERE state = 'waiting' AND run_id IN (SELECT id FROM runs WHERE state = 'running')",
        "DELETE FROM saved_runs WHERE run_id IN (SELECT id FROM runs WHERE state = 'running')",
    ] {
        sqlx::query(statement).execute(&mut *transaction).await?;
    }
    let runs = sqlx::query(
        "UPDATE runs SET state = ?, reason = ?, ended_at = max(?, started_at) WHERE state = 'running'",
    )
    .bind(RunState::Interrupted.name())
    .bind(INTERRUPTED_REASON)
    .bind(time::to_stored(now))
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(Recovered { runs: kept + runs.rows_affected(), calls: calls.rows_affected() })
}

/// Ends the runs that had been saved, with the messages of the round in which they were; returns how many there were.
async fn keep_what_was_said(
    connection: &mut SqliteConnection,
    now: Timestamp,
    protected: &Arc<ProtectedMemory>,
) -> Result<u64, sqlx::Error> {
    let saved: Vec<(String, String, i64)> = sqlx::query_as(
        "SELECT runs.id, saved_runs.state, runs.started_at
         FROM saved_runs JOIN runs ON runs.id = saved_runs.run_id
         WHERE runs.state = 'running' ORDER BY saved_runs.saved_at, runs.id",
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut kept = 0;
    for (run_id, state, started_at) in saved {
        let saved = match SavedRun::read(&state) {
            Ok(saved) => saved,
            Err(error) => {
                tracing::warn!(run = run_id, %error, "what an interrupted run had said last is lost");
                continue;
            }
        };
        let ended_at = time::from_stored(started_at).map_or(now, |started_at| now.max(started_at));
        let mut end = saved.abandon(RunState::Interrupted, INTERRUPTED_REASON, ended_at);
        end.run_id.clone_from(&run_id);
        match EndRun::new(end, Arc::clone(protected)) {
            Ok(end) => kept += u64::from(end.settle(connection).await?),
            Err(failure) => {
                let error = failure.0;
                tracing::warn!(run = run_id, %error, "what an interrupted run had said last is lost");
            }
        }
    }
    Ok(kept)
}
