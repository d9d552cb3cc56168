//! The journal in `SQLite`: runs and traces, as they are written.
//!
//! A run's beginning stands with what the user said, and its end with everything that it added: each is one write,
//! and so all there or not at all.

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use toolcrib_runtime::journal::{
    Journal, JournalError, RoundEnd, RunEnd, RunPause, RunStart, RunState, Trace, TraceStatus,
};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::labels::fingerprint::Fingerprint;
use toolcrib_runtime::message::Usage;

use super::SqliteStore;
use super::approvals;
use super::conversations::{EncodedMessage, append, encode_messages, is_owned};
use super::labels::{protect, raise, raise_run};
use super::problem::Failure;
use super::writer::Write;
use crate::record::run::CANCELLED_CALL;
use crate::record::trace::{self, TraceBody, encode_json, encode_sources};
use crate::record::{Owner, time};
use crate::store::{StoreError, StoreProblem};

#[async_trait]
impl Journal for SqliteStore {
    async fn begin_run(&self, run: RunStart) -> Result<(), JournalError> {
        let begin = BeginRun::new(run).map_err(|failure| unwritten("the beginning of a run", &failure.0))?;
        self.write(begin).await.map_err(|error| unwritten("the beginning of a run", &error.problem))
    }

    async fn admit_call(&self, run_id: &str, trace: &Trace) -> Result<(), JournalError> {
        self.write_trace(run_id, trace, Kind::Admission)
            .await
            .map_err(|error| unwritten("the admission of a call", &error.problem))
    }

    async fn record_trace(&self, run_id: &str, trace: &Trace) -> Result<(), JournalError> {
        self.write_trace(run_id, trace, Kind::Outcome)
            .await
            .map_err(|error| unwritten("the trace of a call", &error.problem))
    }

    async fn record_round(&self, round: RoundEnd) -> Result<(), JournalError> {
        let round = EndRound::new(round).map_err(|failure| unwritten("a round", &failure.0))?;
        self.write(round).await.map_err(|error| unwritten("a round", &error.problem))
    }

    async fn pause_run(&self, pause: RunPause) -> Result<(), JournalError> {
        let pause = PauseRun::new(pause).map_err(|failure| unwritten("a run that waits", &failure.0))?;
        self.write(pause).await.map_err(|error| unwritten("a run that waits", &error.problem))
    }

    async fn resume_run(&self, run_id: &str) -> Result<(), JournalError> {
        self.write(ResumeRun { run_id: run_id.to_owned() })
            .await
            .map_err(|error| unwritten("the resumption of a run", &error.problem))
    }

    async fn close_open_calls(&self, run_id: &str, at: Timestamp) -> Result<(), JournalError> {
        // Writes are done in order: an admission that nobody waits for any more is closed as well.
        self.write(CloseOpenCalls { run_id: run_id.to_owned(), at })
            .await
            .map_err(|error| unwritten("the end of open calls", &error.problem))
    }

    async fn end_run(&self, end: RunEnd) -> Result<(), JournalError> {
        let end = EndRun::new(end).map_err(|failure| unwritten("the end of a run", &failure.0))?;
        let protecting = !end.protected.is_empty();
        let workspace =
            self.write(end).await.map_err(|error| unwritten("the end of a run", &error.problem))?;
        if protecting {
            self.inner.protecting.add(workspace);
        }
        Ok(())
    }
}

impl SqliteStore {
    async fn write_trace(&self, run_id: &str, trace: &Trace, kind: Kind) -> Result<(), StoreError> {
        let trace = WriteTrace::new(run_id, trace, kind)
            .map_err(|failure| failure.during(<WriteTrace as Write>::ATTEMPT))?;
        self.write(trace).await
    }
}

fn unwritten(what: &'static str, problem: &StoreProblem) -> JournalError {
    JournalError { what, cause: problem.to_string() }
}

/// A run's row and the user's messages. `run.messages` has been emptied into `messages`.
struct BeginRun {
    run: RunStart,
    owner: Owner,
    messages: Vec<EncodedMessage>,
}

impl BeginRun {
    fn new(mut run: RunStart) -> Result<Self, Failure> {
        let messages = encode_messages(std::mem::take(&mut run.messages))
            .map_err(|error| Failure::content(format!("a message of the run {}", run.run_id), &error))?;
        let owner = Owner::new(run.workspace_id.clone(), run.user_id.clone());
        Ok(Self { run, owner, messages })
    }
}

#[async_trait]
impl Write for BeginRun {
    type Output = ();
    const ATTEMPT: &'static str = "storing the beginning of a run";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        let run = &self.run;
        let started_at = time::to_stored(run.started_at);
        if let Some(conversation_id) = &run.conversation_id
            && !is_owned(connection, &self.owner, conversation_id).await?
        {
            return Err(StoreProblem::Missing { what: "conversation" }.into());
        }
        sqlx::query(
            "INSERT INTO runs
                 (id, conversation_id, workspace_id, user_id, component, provider_id, model, state, started_at,
                  locale)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(&run.run_id)
        .bind(&run.conversation_id)
        .bind(&run.workspace_id)
        .bind(&run.user_id)
        .bind(&run.component)
        .bind(&run.provider_id)
        .bind(&run.model)
        .bind(RunState::Running.name())
        .bind(started_at)
        .bind(&run.locale)
        .execute(&mut *connection)
        .await
        .map_err(|error| Failure::referring(error, "member of the workspace"))?;
        if let Some(conversation_id) = &run.conversation_id {
            append(connection, conversation_id, &run.run_id, &self.messages).await?;
            sqlx::query("UPDATE conversations SET updated_at = max(updated_at, ?) WHERE id = ?")
                .bind(started_at)
                .bind(conversation_id)
                .execute(connection)
                .await?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Admission,
    Outcome,
}

/// A trace's row, at its admission or at its end.
struct WriteTrace {
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
    fn new(run_id: &str, trace: &Trace, kind: Kind) -> Result<Self, Failure> {
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
        .fetch_optional(connection)
        .await?;
        let Some((state, status)) = found else {
            return Err(StoreProblem::Missing { what: "run" }.into());
        };
        if self.kind == Kind::Outcome {
            return Ok(());
        }
        if state != RunState::Running.name() {
            return Err(StoreProblem::Ended { what: "run" }.into());
        }
        if status.is_some_and(|status| status != TraceStatus::Pending.name()) {
            return Err(StoreProblem::Ended { what: "call" }.into());
        }
        Ok(())
    }
}

#[async_trait]
impl Write for WriteTrace {
    type Output = ();
    const ATTEMPT: &'static str = "storing the trace of a call";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        self.check(connection).await?;
        sqlx::query(
            "INSERT INTO traces
                 (run_id, call_order, round, tool_id, display_name, icon, call_id, status, status_message,
                  executed, required_confidence, started_at, duration_ms, format, body, untrusted, cost)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (run_id, call_order) DO UPDATE SET
                 round = excluded.round, tool_id = excluded.tool_id, display_name = excluded.display_name,
                 icon = excluded.icon, call_id = excluded.call_id, status = excluded.status,
                 status_message = excluded.status_message, executed = excluded.executed,
                 required_confidence = excluded.required_confidence, started_at = excluded.started_at,
                 duration_ms = excluded.duration_ms, format = excluded.format, body = excluded.body,
                 untrusted = excluded.untrusted, cost = excluded.cost",
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
        .bind(self.started_at)
        .bind(self.duration_ms)
        .bind(trace::FORMAT)
        .bind(&self.body)
        .bind(self.labels.untrusted)
        .bind(self.cost)
        .execute(&mut *connection)
        .await?;
        // In the same write: a crash right after must not lose what the result demands.
        if self.kind == Kind::Outcome && self.labels != Labels::default() {
            raise_run(connection, &self.run_id, self.labels).await?;
            if let Some(conversation_id) = conversation_of(connection, &self.run_id).await? {
                raise(connection, &conversation_id, self.labels).await?;
            }
        }
        Ok(())
    }
}

/// The calls of a stopped run that have not ended.
struct CloseOpenCalls {
    run_id: String,
    at: Timestamp,
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

/// A run's end. `end.messages` has been emptied into `messages`.
struct EndRun {
    end: RunEnd,
    messages: Vec<EncodedMessage>,
    sources: String,
    protected: Vec<Fingerprint>,
}

impl EndRun {
    fn new(mut end: RunEnd) -> Result<Self, Failure> {
        let unreadable = |error| Failure::content(format!("the end of the run {}", end.run_id), &error);
        let sources = encode_sources(&end.sources).map_err(unreadable)?;
        let messages = std::mem::take(&mut end.messages);
        let messages = encode_messages(messages)
            .map_err(|error| Failure::content(format!("a message of the run {}", end.run_id), &error))?;
        let protected = std::mem::take(&mut end.protected).into_iter().collect();
        Ok(Self { end, messages, sources, protected })
    }

    /// The workspace and the conversation of the run that is closed.
    async fn close(&self, connection: &mut SqliteConnection) -> Result<(String, Option<String>), Failure> {
        let end = &self.end;
        let closed: Option<(String, Option<String>)> = sqlx::query_as(
            "UPDATE runs SET
                 state = ?, reason = ?, sources = ?, input_tokens = ?, output_tokens = ?,
                 cached_input_tokens = ?, reasoning_tokens = ?, rounds = ?, ended_at = ?
             WHERE id = ? AND state IN ('running', 'waiting') RETURNING workspace_id, conversation_id",
        )
        .bind(end.state.name())
        .bind(&end.reason)
        .bind(&self.sources)
        .bind(time::count_to_stored(end.usage.input_tokens))
        .bind(time::count_to_stored(end.usage.output_tokens))
        .bind(time::count_to_stored(end.usage.cached_input_tokens))
        .bind(time::count_to_stored(end.usage.reasoning_tokens))
        .bind(i64::from(end.rounds))
        .bind(time::to_stored(end.ended_at))
        .bind(&end.run_id)
        .fetch_optional(&mut *connection)
        .await?;
        if let Some(closed) = closed {
            return Ok(closed);
        }
        let exists: bool = sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?)")
            .bind(&end.run_id)
            .fetch_one(connection)
            .await?;
        let what = "run";
        Err(if exists { StoreProblem::Ended { what } } else { StoreProblem::Missing { what } }.into())
    }
}

#[async_trait]
impl Write for EndRun {
    type Output = String;
    const ATTEMPT: &'static str = "storing the end of a run";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<String, Failure> {
        let (workspace_id, conversation_id) = self.close(connection).await?;
        let run_id = &self.end.run_id;
        raise_run(connection, run_id, self.end.labels).await?;
        sqlx::query("DELETE FROM run_states WHERE run_id = ?").bind(run_id).execute(&mut *connection).await?;
        sqlx::query("UPDATE approvals SET state = ? WHERE run_id = ? AND state = 'waiting'")
            .bind(approvals::CLOSED)
            .bind(run_id)
            .execute(&mut *connection)
            .await?;
        protect(connection, run_id, &self.protected, self.end.labels.required_confidence).await?;
        if let Some(conversation_id) = conversation_id {
            append(connection, &conversation_id, run_id, &self.messages).await?;
            raise(connection, &conversation_id, self.end.labels).await?;
            touch(connection, &conversation_id, self.end.ended_at).await?;
        }
        Ok(workspace_id)
    }
}

/// The end of a round that another follows. `round.messages` has been emptied into `messages`.
struct EndRound {
    round: RoundEnd,
    messages: Vec<EncodedMessage>,
}

impl EndRound {
    fn new(mut round: RoundEnd) -> Result<Self, Failure> {
        let messages = encode_messages(std::mem::take(&mut round.messages))
            .map_err(|error| Failure::content(format!("a message of the run {}", round.run_id), &error))?;
        Ok(Self { round, messages })
    }
}

#[async_trait]
impl Write for EndRound {
    type Output = ();
    const ATTEMPT: &'static str = "storing the end of a round";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        let round = &self.round;
        progress(connection, &round.run_id, RunState::Running, &round.usage, round.rounds).await?;
        raise_run(connection, &round.run_id, round.labels).await?;
        if let Some(conversation_id) = conversation_of(connection, &round.run_id).await? {
            append(connection, &conversation_id, &round.run_id, &self.messages).await?;
            raise(connection, &conversation_id, round.labels).await?;
            touch(connection, &conversation_id, round.at).await?;
        }
        Ok(())
    }
}

/// A run that waits.
struct PauseRun {
    pause: RunPause,
    traces: Vec<WriteTrace>,
    arguments: Vec<String>,
}

impl PauseRun {
    fn new(pause: RunPause) -> Result<Self, Failure> {
        let traces =
            pause.waiting.iter().map(|(trace, _)| WriteTrace::new(&pause.run_id, trace, Kind::Admission));
        let traces = traces.collect::<Result<Vec<_>, _>>()?;
        let arguments = pause.waiting.iter().map(|(_, request)| encode_json(&request.arguments));
        let arguments = arguments
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| Failure::content(format!("an approval of the run {}", pause.run_id), &error))?;
        Ok(Self { pause, traces, arguments })
    }
}

#[async_trait]
impl Write for PauseRun {
    type Output = ();
    const ATTEMPT: &'static str = "storing a run that waits";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        let pause = &self.pause;
        for trace in &self.traces {
            trace.apply(connection).await?;
        }
        for ((_, request), arguments) in pause.waiting.iter().zip(&self.arguments) {
            approvals::insert(connection, request, arguments).await?;
        }
        sqlx::query(
            "INSERT INTO run_states (run_id, state) VALUES (?, ?)
             ON CONFLICT (run_id) DO UPDATE SET state = excluded.state",
        )
        .bind(&pause.run_id)
        .bind(&pause.state)
        .execute(&mut *connection)
        .await?;
        progress(connection, &pause.run_id, RunState::Waiting, &pause.usage, pause.rounds).await?;
        raise_run(connection, &pause.run_id, pause.labels).await?;
        if let Some(conversation_id) = conversation_of(connection, &pause.run_id).await? {
            raise(connection, &conversation_id, pause.labels).await?;
            touch(connection, &conversation_id, pause.at).await?;
        }
        Ok(())
    }
}

/// A waiting run that goes on.
struct ResumeRun {
    run_id: String,
}

#[async_trait]
impl Write for ResumeRun {
    type Output = ();
    const ATTEMPT: &'static str = "carrying on with a run";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        let done = sqlx::query("UPDATE runs SET state = 'running' WHERE id = ? AND state = 'waiting'")
            .bind(&self.run_id)
            .execute(connection)
            .await?;
        if done.rows_affected() == 0 { Err(StoreProblem::Ended { what: "wait" }.into()) } else { Ok(()) }
    }
}

/// How a run stands after a round. Only a run that goes on gets on.
async fn progress(
    connection: &mut SqliteConnection,
    run_id: &str,
    state: RunState,
    usage: &Usage,
    rounds: u32,
) -> Result<(), Failure> {
    let done = sqlx::query(
        "UPDATE runs SET
             state = ?, input_tokens = ?, output_tokens = ?, cached_input_tokens = ?, reasoning_tokens = ?,
             rounds = ?
         WHERE id = ? AND state = 'running'",
    )
    .bind(state.name())
    .bind(time::count_to_stored(usage.input_tokens))
    .bind(time::count_to_stored(usage.output_tokens))
    .bind(time::count_to_stored(usage.cached_input_tokens))
    .bind(time::count_to_stored(usage.reasoning_tokens))
    .bind(i64::from(rounds))
    .bind(run_id)
    .execute(connection)
    .await?;
    if done.rows_affected() == 0 { Err(StoreProblem::Ended { what: "run" }.into()) } else { Ok(()) }
}

async fn conversation_of(
    connection: &mut SqliteConnection,
    run_id: &str,
) -> Result<Option<String>, sqlx::Error> {
    let found: Option<Option<String>> = sqlx::query_scalar("SELECT conversation_id FROM runs WHERE id = ?")
        .bind(run_id)
        .fetch_optional(connection)
        .await?;
    Ok(found.flatten())
}

async fn touch(
    connection: &mut SqliteConnection,
    conversation_id: &str,
    at: Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE conversations SET updated_at = max(updated_at, ?) WHERE id = ?")
        .bind(time::to_stored(at))
        .bind(conversation_id)
        .execute(connection)
        .await?;
    Ok(())
}
