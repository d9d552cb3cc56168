//! After a crash: closing what was going on when the program stopped.
//!
//! A run that was going on becomes interrupted and its pending calls become errors, together. What the user had said
//! stays; an answer was never written in part.

use jiff::Timestamp;
use sqlx::{Connection, SqliteConnection};
use toolcrib_runtime::journal::{RunState, TraceStatus};

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
    let runs = sqlx::query(
        "UPDATE runs SET state = ?, reason = ?, ended_at = max(?, started_at) WHERE state = 'running'",
    )
    .bind(RunState::Interrupted.name())
    .bind(INTERRUPTED_REASON)
    .bind(time::to_stored(now))
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(Recovered { runs: runs.rows_affected(), calls: calls.rows_affected() })
}
