//! Admissions and outcomes of calls.

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use toolcrib_runtime::journal::{RunState, Trace, TraceStatus};
use toolcrib_runtime::labels::Labels;

use super::refusal;
use crate::record::run::CANCELLED_CALL;
use crate::record::time;
use crate::record::trace::{self, TraceBody};
use crate::sqlite::labels::{raise_conversation, raise_run};
use crate::sqlite::problem::Failure;
use crate::sqlite::writer::Write;
use crate::store::StoreProblem;

/// Which end of a call is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is about to run.
    Admission,
    /// It has ended.
    Outcome,
}

/// A trace's row, at its admission or at its end.
pub(super) struct WriteTrace {
    run_id: String,
    kind: Kind,
    order: i64,
    round: i64,
    tool_id: String,
    display_name: String,
    icon: String,
    call_id: String,
    status: TraceStatus,
    status_message: Option<String>,
    executed: bool,
    labels: Labels,
    cost: i64,
    started_at: i64,
    duration_ms: i64,
    body: String,
}

impl WriteTrace {
    pub(super) fn new(run_id: &str, trace: &Trace, kind: Kind) -> Result<Self, Failure> {
        let body = TraceBody::encode(trace)
            .map_err(|error| Failure::content(format!("call {} of the run {run_id}", trace.order), &error))?;
        Ok(Self {
            run_id: run_id.to_owned(),
            kind,
            order: i64::from(trace.order),
            round: i64::from(trace.round),
            tool_id: trace.tool_id.clone(),
            display_name: trace.display_name.clone(),
            icon: trace.icon.clone(),
            call_id: trace.call_id.clone(),
            status: trace.status,
            status_message: trace.status_message.clone(),
            executed: trace.executed,
            labels: trace.labels(),
            cost: trace.cost,
            started_at: time::to_stored(trace.started_at),
            duration_ms: time::count_to_stored(trace.duration_ms),
            body,
        })
    }

    /// An admission needs a run that goes on and a call that has not ended; an outcome may come late.
    async fn check(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        let found: Option<(String, Option<String>)> = sqlx::query_as(
            "SELECT runs.state, traces.status FROM runs
             LEFT JOIN traces ON traces.run_id = runs.id AND traces.call_order = ?
             WHERE runs.id = ?",
        )
        .bind(self.order)
        .bind(&self.run_id)
        .fetch_optional(&mut *connection)
        .await?;
        let Some((state, status)) = found else {
            return Err(StoreProblem::Missing { what: "run" }.into());
        };
        if self.kind == Kind::Outcome {
            return Ok(());
        }
        if state != RunState::Running.name() {
            return Err(refusal(connection, &self.run_id).await);
        }
        if status.is_some_and(|status| status != TraceStatus::Pending.name()) {
            return Err(StoreProblem::Ended { what: "call" }.into());
        }
        Ok(())
    }
    /// Puts the row in its place.
    pub(super) async fn put(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        sqlx::query(
            "INSERT INTO traces
                 (run_id, call_order, round, tool_id, display_name, icon, call_id, status, status_message,
                  executed, required_confidence, untrusted, cost, started_at, duration_ms, format, body)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (run_id, call_order) DO UPDATE SET
                 round = excluded.round, tool_id = excluded.tool_id, display_name = excluded.display_name,
                 icon = excluded.icon, call_id = excluded.call_id, status = excluded.status,
                 status_message = excluded.status_message, executed = excluded.executed,
                 required_confidence = excluded.required_confidence, untrusted = excluded.untrusted,
                 cost = excluded.cost, started_at = excluded.started_at,
                 duration_ms = excluded.duration_ms, format = excluded.format, body = excluded.body",
        )
        .bind(&self.run_id)
        .bind(self.order)
        .bind(self.round)
        .bind(&self.tool_id)
        .bind(&self.display_name)
        .bind(&self.icon)
        .bind(&self.call_id)
        .bind(self.status.name())
        .bind(&self.status_message)
        .bind(self.executed)
        .bind(i64::from(self.labels.required_confidence.value()))
        .bind(self.labels.untrusted)
        .bind(self.cost)
        .bind(self.started_at)
        .bind(self.duration_ms)
        .bind(trace::FORMAT)
        .bind(&self.body)
        .execute(connection)
        .await?;
        Ok(())
    }
}

#[async_trait]
impl Write for WriteTrace {
    type Output = ();
    const ATTEMPT: &'static str = "storing the trace of a call";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        self.check(connection).await?;
        self.put(connection).await?;
        if self.labels != Labels::default()
            && let Some(Some(conversation_id)) = raise_run(connection, &self.run_id, self.labels).await?
        {
            raise_conversation(connection, &conversation_id, self.labels).await?;
        }
        Ok(())
    }
}

/// The calls of a stopped run that have not ended.
pub(super) struct CloseOpenCalls {
    pub(super) run_id: String,
    pub(super) at: Timestamp,
}

#[async_trait]
impl Write for CloseOpenCalls {
    type Output = ();
    const ATTEMPT: &'static str = "closing the open calls of a run";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        sqlx::query(
            "UPDATE traces SET
                 status = ?, status_message = coalesce(status_message, ?),
                 duration_ms = max(0, (? - started_at) / 1000)
             WHERE run_id = ? AND status = ?",
        )
        .bind(TraceStatus::Cancelled.name())
        .bind(CANCELLED_CALL)
        .bind(time::to_stored(self.at))
        .bind(&self.run_id)
        .bind(TraceStatus::Pending.name())
        .execute(connection)
        .await?;
        Ok(())
    }
}
