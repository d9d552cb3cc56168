//! Answers of people, and those that never come.

use std::collections::BTreeSet;

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use toolcrib_runtime::journal::RunState;
use toolcrib_runtime::offering::approval::ApprovalAnswer;

use super::ApprovalRow;
use crate::record::approval::encode_answer;
use crate::record::{Answered, ApprovalRecord, ApprovalState, Owner, time};
use crate::sqlite::problem::Failure;
use crate::sqlite::writer::Write;

/// An answer to an approval.
pub(super) struct Answer {
    pub(super) owner: Owner,
    pub(super) id: String,
    pub(super) given: ApprovalAnswer,
    pub(super) at: Timestamp,
}

/// The end of every approval whose time is over.
pub(super) struct Expire {
    pub(super) now: Timestamp,
}

impl Answer {
    async fn find(&self, connection: &mut SqliteConnection) -> Result<Option<ApprovalRecord>, Failure> {
        let row: Option<ApprovalRow> =
            sqlx::query_as("SELECT * FROM approvals WHERE id = ? AND workspace_id = ? AND user_id = ?")
                .bind(&self.id)
                .bind(&self.owner.workspace_id)
                .bind(&self.owner.user_id)
                .fetch_optional(connection)
                .await?;
        row.map(ApprovalRow::into_record).transpose()
    }

    async fn note(
        &self,
        connection: &mut SqliteConnection,
        answer: &ApprovalAnswer,
        unreported: bool,
    ) -> Result<(), Failure> {
        let json = encode_answer(answer)
            .map_err(|error| Failure::content(format!("the answer to the approval {}", self.id), &error))?;
        sqlx::query(
            "UPDATE approvals SET state = 'answered', answer = ?, answered_at = ?, unreported = ?
             WHERE id = ?",
        )
        .bind(json)
        .bind(time::to_stored(self.at))
        .bind(unreported)
        .bind(&self.id)
        .execute(connection)
        .await?;
        Ok(())
    }
}

#[async_trait]
impl Write for Answer {
    type Output = Answered;
    const ATTEMPT: &'static str = "storing the answer to an approval";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<Answered, Failure> {
        let Some(mut record) = self.find(connection).await? else { return Ok(Answered::Missing) };
        if record.state != ApprovalState::Waiting {
            return Ok(Answered::Already(Box::new(record)));
        }
        if record.request.expires_at <= self.at {
            let answer = ApprovalAnswer::Expired;
            self.note(connection, &answer, true).await?;
            // As it will be read: times are kept to the microsecond.
            let at = time::from_stored(time::to_stored(self.at)).unwrap_or(self.at);
            record.state = ApprovalState::Answered { answer, at };
            return Ok(Answered::Already(Box::new(record)));
        }
        self.note(connection, &self.given, false).await?;
        let request = record.request;
        if self.given == ApprovalAnswer::AllowConversation
            && let Some(conversation_id) = &request.conversation_id
        {
            sqlx::query(
                "INSERT INTO approved_tools (conversation_id, tool_id, approved_at) VALUES (?, ?, ?)
                 ON CONFLICT (conversation_id, tool_id) DO NOTHING",
            )
            .bind(conversation_id)
            .bind(&request.tool_id)
            .bind(time::to_stored(self.at))
            .execute(&mut *connection)
            .await?;
        }
        let complete = is_complete(connection, &request.run_id).await?;
        Ok(Answered::Taken { run_id: request.run_id, complete })
    }
}

#[async_trait]
impl Write for Expire {
    type Output = Vec<String>;
    const ATTEMPT: &'static str = "closing expired approvals";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<Vec<String>, Failure> {
        let answer = encode_answer(&ApprovalAnswer::Expired)
            .map_err(|error| Failure::content("the answer that is none", &error))?;
        let now = time::to_stored(self.now);
        let expired: Vec<String> = sqlx::query_scalar(
            "UPDATE approvals SET state = 'answered', answer = ?, answered_at = ?
             WHERE state = 'waiting' AND expires_at <= ? RETURNING run_id",
        )
        .bind(answer)
        .bind(now)
        .bind(now)
        .fetch_all(&mut *connection)
        .await?;
        let late: Vec<String> =
            sqlx::query_scalar("UPDATE approvals SET unreported = 0 WHERE unreported = 1 RETURNING run_id")
                .fetch_all(&mut *connection)
                .await?;
        let runs: BTreeSet<String> = expired.into_iter().chain(late).collect();
        let mut complete = Vec::new();
        for run_id in runs {
            if is_complete(connection, &run_id).await? {
                complete.push(run_id);
            }
        }
        Ok(complete)
    }
}

/// Whether a run waits that has no approval to wait for.
async fn is_complete(connection: &mut SqliteConnection, run_id: &str) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM runs WHERE id = ?1 AND state = ?2)
             AND NOT EXISTS (SELECT 1 FROM approvals WHERE run_id = ?1 AND state = 'waiting')",
    )
    .bind(run_id)
    .bind(RunState::Waiting.name())
    .fetch_one(connection)
    .await
}
