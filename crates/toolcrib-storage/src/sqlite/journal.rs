//! The journal in `SQLite`: runs and traces, as they are written.
//!
//! A run's beginning stands with what the user said, the end of a round with what it added, and a pause with
//! everything that is asked and needed to go on: each is one write, and so all there or not at all. What a result
//! demands is written with the result.

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use toolcrib_runtime::journal::{
    Journal, JournalError, RoundEnd, RunEnd, RunPause, RunStart, RunState, Trace,
};
use toolcrib_runtime::message::Usage;

use self::begin::BeginRun;
use self::calls::{CloseOpenCalls, Kind, WriteTrace};
use self::end::EndRun;
use self::rounds::{PauseRun, RecordRound, ResumeRun};
use super::SqliteStore;
use super::problem::Failure;
use super::writer::Write;
use crate::record::time;
use crate::store::{StoreError, StoreProblem};

mod begin;
mod calls;
pub(super) mod end;
mod rounds;

#[async_trait]
impl Journal for SqliteStore {
    async fn begin_run(&self, run: RunStart) -> Result<(), JournalError> {
        self.journal("the beginning of a run", BeginRun::new(run)).await
    }

    async fn admit_call(&self, run_id: &str, trace: &Trace) -> Result<(), JournalError> {
        self.journal("the admission of a call", WriteTrace::new(run_id, trace, Kind::Admission)).await
    }

    async fn record_trace(&self, run_id: &str, trace: &Trace) -> Result<(), JournalError> {
        self.journal("the trace of a call", WriteTrace::new(run_id, trace, Kind::Outcome)).await
    }

    async fn record_round(&self, round: RoundEnd) -> Result<(), JournalError> {
        self.journal("the end of a round", RecordRound::new(round)).await
    }

    async fn pause_run(&self, pause: RunPause) -> Result<(), JournalError> {
        self.journal("the pause of a run", PauseRun::new(pause)).await
    }

    async fn resume_run(&self, run_id: &str) -> Result<(), JournalError> {
        self.journal("the continuation of a run", Ok(ResumeRun(run_id.to_owned()))).await
    }

    async fn close_open_calls(&self, run_id: &str, at: Timestamp) -> Result<(), JournalError> {
        // Writes are done in order: an admission that nobody waits for any more is closed as well.
        self.journal("the end of open calls", Ok(CloseOpenCalls { run_id: run_id.to_owned(), at })).await
    }

    async fn end_run(&self, end: RunEnd) -> Result<(), JournalError> {
        let memory = std::sync::Arc::clone(&self.inner.protected);
        self.journal("the end of a run", EndRun::new(end, memory)).await
    }
}

impl SqliteStore {
    /// Writes what could be prepared.
    async fn journal<W>(&self, what: &'static str, write: Result<W, Failure>) -> Result<(), JournalError>
    where
        W: Write<Output = ()>,
    {
        let written = match write {
            Ok(write) => self.write(write).await,
            Err(failure) => Err(failure.during(W::ATTEMPT)),
        };
        written.map_err(|StoreError { problem, .. }| JournalError { what, cause: problem.to_string() })
    }
}

/// What became of a run is not as the write needs it; says why, by how the run stands.
async fn refusal(connection: &mut SqliteConnection, run_id: &str) -> Failure {
    let state: Result<Option<String>, _> = sqlx::query_scalar("SELECT state FROM runs WHERE id = ?")
        .bind(run_id)
        .fetch_optional(connection)
        .await;
    let problem = match state {
        Err(error) => return error.into(),
        Ok(None) => StoreProblem::Missing { what: "run" },
        Ok(Some(state)) if state == RunState::Waiting.name() => {
            StoreProblem::Ended { what: "round of the run, which waits for people," }
        }
        Ok(Some(state)) if state == RunState::Running.name() => {
            StoreProblem::Ended { what: "pause of the run" }
        }
        Ok(Some(_)) => StoreProblem::Ended { what: "run" },
    };
    problem.into()
}

/// Tokens as the columns of a run hold them: input, output, cached input, reasoning.
fn stored_usage(usage: &Usage) -> [i64; 4] {
    [usage.input_tokens, usage.output_tokens, usage.cached_input_tokens, usage.reasoning_tokens]
        .map(time::count_to_stored)
}
