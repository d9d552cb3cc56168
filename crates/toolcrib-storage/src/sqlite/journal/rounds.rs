//! Rounds of a run that goes on, and its pauses.

use async_trait::async_trait;
use sqlx::SqliteConnection;
use toolcrib_runtime::journal::{RoundEnd, RunPause, RunState};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::message::Usage;
use toolcrib_runtime::offering::approval::ApprovalRequest;

use super::calls::{Kind, WriteTrace};
use super::{refusal, stored_usage};
use crate::record::approval::{FORMAT, encode_arguments};
use crate::record::{Owner, time};
use crate::sqlite::conversations::{EncodedMessage, append, encode_messages};
use crate::sqlite::labels::{raise_conversation, stored_outbound};
use crate::sqlite::problem::Failure;
use crate::sqlite::writer::Write;

/// The end of a round that another follows. `round.messages` has been emptied into `messages`.
pub(super) struct RecordRound {
    round: RoundEnd,
    messages: Vec<EncodedMessage>,
}

/// A run that begins to wait.
pub(super) struct PauseRun {
    pause: RunPause,
    traces: Vec<WriteTrace>,
    /// The arguments of each approval as JSON.
    arguments: Vec<String>,
}

/// A run that goes on.
pub(super) struct ResumeRun(pub(super) String);

/// How far a run that has not ended is.
struct Progress<'a> {
    run_id: &'a str,
    state: RunState,
    labels: Labels,
    usage: Usage,
    rounds: u32,
}

/// Whose a run is.
struct Belonging {
    conversation_id: Option<String>,
    owner: Owner,
}

impl Progress<'_> {
    /// Notes it, of a run that is running.
    async fn note(&self, connection: &mut SqliteConnection) -> Result<Belonging, Failure> {
        let [input, output, cached_input, reasoning] = stored_usage(&self.usage);
        let found: Option<(Option<String>, String, String)> = sqlx::query_as(
            "UPDATE runs SET
                 state = ?, input_tokens = ?, output_tokens = ?, cached_input_tokens = ?, reasoning_tokens = ?,
                 rounds = ?, required_confidence = max(required_confidence, ?), untrusted = max(untrusted, ?),
                 outbound = max(outbound, ?)
             WHERE id = ? AND state = 'running' RETURNING conversation_id, workspace_id, user_id",
        )
        .bind(self.state.name())
        .bind(input)
        .bind(output)
        .bind(cached_input)
        .bind(reasoning)
        .bind(i64::from(self.rounds))
        .bind(i64::from(self.labels.required_confidence.value()))
        .bind(self.labels.untrusted)
        .bind(stored_outbound(self.labels.outbound))
        .bind(self.run_id)
        .fetch_optional(&mut *connection)
        .await?;
        match found {
            Some((conversation_id, workspace_id, user_id)) => {
                Ok(Belonging { conversation_id, owner: Owner { workspace_id, user_id } })
            }
            None => Err(refusal(connection, self.run_id).await),
        }
    }
}

impl RecordRound {
    pub(super) fn new(mut round: RoundEnd) -> Result<Self, Failure> {
        let messages = encode_messages(std::mem::take(&mut round.messages))
            .map_err(|error| Failure::content(format!("a message of the run {}", round.run_id), &error))?;
        Ok(Self { round, messages })
    }
}

#[async_trait]
impl Write for RecordRound {
    type Output = ();
    const ATTEMPT: &'static str = "storing the end of a round";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        let RoundEnd { run_id, labels, usage, rounds, at, .. } = &self.round;
        let state = RunState::Running;
        let progress = Progress { run_id, state, labels: *labels, usage: *usage, rounds: *rounds };
        let run = progress.note(connection).await?;
        // What a saved state knows of the round stands in the messages now: a crash must not add it again.
        sqlx::query("DELETE FROM saved_runs WHERE run_id = ?").bind(run_id).execute(&mut *connection).await?;
        if let Some(conversation_id) = &run.conversation_id {
            append(connection, conversation_id, run_id, &self.messages).await?;
            raise_conversation(connection, conversation_id, *labels).await?;
            touch(connection, conversation_id, *at).await?;
        }
        Ok(())
    }
}

impl PauseRun {
    pub(super) fn new(pause: RunPause) -> Result<Self, Failure> {
        let traces = pause.waiting.iter();
        let traces = traces.map(|(trace, _)| WriteTrace::new(&pause.run_id, trace, Kind::Admission));
        let arguments = pause.waiting.iter().map(|(_, request)| {
            encode_arguments(&request.arguments)
                .map_err(|error| Failure::content(format!("the approval {}", request.id), &error))
        });
        Ok(Self {
            traces: traces.collect::<Result<_, _>>()?,
            arguments: arguments.collect::<Result<_, _>>()?,
            pause,
        })
    }
}

#[async_trait]
impl Write for PauseRun {
    type Output = ();
    const ATTEMPT: &'static str = "storing the pause of a run";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        let RunPause { run_id, waiting, state, labels, usage, rounds, at } = &self.pause;
        let progress =
            Progress { run_id, state: RunState::Waiting, labels: *labels, usage: *usage, rounds: *rounds };
        let run = progress.note(connection).await?;
        sqlx::query(
            "INSERT INTO saved_runs (run_id, state, saved_at) VALUES (?, ?, ?)
             ON CONFLICT (run_id) DO UPDATE SET state = excluded.state, saved_at = excluded.saved_at",
        )
        .bind(run_id)
        .bind(state)
        .bind(time::to_stored(*at))
        .execute(&mut *connection)
        .await?;
        for trace in &self.traces {
            trace.put(connection).await?;
        }
        let asked = Asked {
            run_id,
            conversation_id: run.conversation_id.as_deref(),
            owner: &run.owner,
            rounds: *rounds,
        };
        for ((_, request), arguments) in waiting.iter().zip(&self.arguments) {
            asked.ask(connection, request, arguments).await?;
        }
        if let Some(conversation_id) = &run.conversation_id {
            raise_conversation(connection, conversation_id, *labels).await?;
            touch(connection, conversation_id, *at).await?;
        }
        Ok(())
    }
}

/// What the approvals of one pause have in common.
struct Asked<'a> {
    run_id: &'a str,
    conversation_id: Option<&'a str>,
    owner: &'a Owner,
    rounds: u32,
}

impl Asked<'_> {
    async fn ask(
        &self,
        connection: &mut SqliteConnection,
        request: &ApprovalRequest,
        arguments: &str,
    ) -> Result<(), sqlx::Error> {
        sqlx::query(
            "INSERT INTO approvals
                 (id, run_id, conversation_id, workspace_id, user_id, round, call_order, call_id, tool_id,
                  display_name, icon, reason, format, arguments, created_at, expires_at, state)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting')",
        )
        .bind(&request.id)
        .bind(self.run_id)
        .bind(self.conversation_id)
        .bind(&self.owner.workspace_id)
        .bind(&self.owner.user_id)
        .bind(i64::from(self.rounds))
        .bind(i64::from(request.order))
        .bind(&request.call_id)
        .bind(&request.tool_id)
        .bind(&request.display_name)
        .bind(&request.icon)
        .bind(&request.reason)
        .bind(FORMAT)
        .bind(arguments)
        .bind(time::to_stored(request.created_at))
        .bind(time::to_stored(request.expires_at))
        .execute(connection)
        .await?;
        Ok(())
    }
}

#[async_trait]
impl Write for ResumeRun {
    type Output = ();
    const ATTEMPT: &'static str = "storing that a run goes on";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        let done = sqlx::query("UPDATE runs SET state = 'running' WHERE id = ? AND state = 'waiting'")
            .bind(&self.0)
            .execute(&mut *connection)
            .await?;
        if done.rows_affected() == 0 {
            return Err(refusal(connection, &self.0).await);
        }
        Ok(())
    }
}

/// There is news in a conversation.
pub(super) async fn touch(
    connection: &mut SqliteConnection,
    conversation_id: &str,
    at: jiff::Timestamp,
) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE conversations SET updated_at = max(updated_at, ?) WHERE id = ?")
        .bind(time::to_stored(at))
        .bind(conversation_id)
        .execute(connection)
        .await?;
    Ok(())
}
