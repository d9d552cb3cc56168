//! Approvals and the runs that wait for them in `SQLite`.
//!
//! Whether a run is complete is read within the write that answered its approval, so that of two answers at once
//! exactly the last one says so.

use std::collections::BTreeSet;

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::{FromRow, QueryBuilder, Sqlite, SqliteConnection};
use toolcrib_runtime::offering::approval::{ApprovalAnswer, ApprovalRequest};

use self::answer::{Answer, Expire};
use super::SqliteStore;
use super::accounts::stored_time;
use super::conversations::push_page;
use super::problem::Failure;
use super::runs::{RunRow, stored_number};
use crate::record::approval::{decode_answer, decode_arguments};
use crate::record::trace::ContentError;
use crate::record::{
    Answered, ApprovalFilter, ApprovalRecord, ApprovalState, Owner, RunRecord, WaitingRun, time,
};
use crate::store::{ApprovalStore, Listing, Page, StoreError};

mod answer;

#[async_trait]
impl ApprovalStore for SqliteStore {
    async fn approval(&self, owner: &Owner, id: &str) -> Result<Option<ApprovalRecord>, StoreError> {
        let find = async {
            let row: Option<ApprovalRow> =
                sqlx::query_as("SELECT * FROM approvals WHERE id = ? AND workspace_id = ? AND user_id = ?")
                    .bind(id)
                    .bind(&owner.workspace_id)
                    .bind(&owner.user_id)
                    .fetch_optional(self.readers())
                    .await?;
            row.map(ApprovalRow::into_record).transpose()
        };
        find.await.map_err(|failure: Failure| failure.during("reading an approval"))
    }

    async fn approvals(
        &self,
        owner: &Owner,
        filter: &ApprovalFilter,
        page: &Page,
    ) -> Result<Listing<ApprovalRecord>, StoreError> {
        let find = async {
            let mut query = QueryBuilder::<Sqlite>::new("SELECT * FROM approvals");
            // A plus keeps SQLite from walking through all approvals of the owner to find a few of them.
            let narrow = filter.conversation_id.is_some() || filter.run_id.is_some();
            let hint = if narrow { "+" } else { "" };
            query.push(" WHERE ").push(hint).push("workspace_id = ").push_bind(&owner.workspace_id);
            query.push(" AND ").push(hint).push("user_id = ").push_bind(&owner.user_id);
            if let Some(conversation_id) = &filter.conversation_id {
                query.push(" AND conversation_id = ").push_bind(conversation_id);
            }
            if let Some(run_id) = &filter.run_id {
                query.push(" AND run_id = ").push_bind(run_id);
            }
            if filter.waiting_only {
                query.push(" AND state = 'waiting'");
            }
            push_page(&mut query, "created_at", page)?;
            let rows: Vec<ApprovalRow> = query.build_query_as().fetch_all(self.readers()).await?;
            let items: Result<Vec<_>, Failure> = rows.into_iter().map(ApprovalRow::into_record).collect();
            Ok(Listing::cut(items?, page, |item| {
                (time::to_stored(item.request.created_at), item.request.id.as_str())
            }))
        };
        find.await.map_err(|failure: Failure| failure.during("listing approvals"))
    }

    async fn answer_approval(
        &self,
        owner: &Owner,
        id: &str,
        answer: &ApprovalAnswer,
        at: Timestamp,
    ) -> Result<Answered, StoreError> {
        self.write(Answer { owner: owner.clone(), id: id.to_owned(), given: answer.clone(), at }).await
    }

    async fn expire_approvals(&self, now: Timestamp) -> Result<Vec<String>, StoreError> {
        self.write(Expire { now }).await
    }

    async fn complete_runs(&self) -> Result<Vec<String>, StoreError> {
        let find = async {
            // Only runs that wait, or were resumed a moment ago, are saved: few, however many runs there are.
            let runs: Vec<String> = sqlx::query_scalar(
                "SELECT runs.id FROM saved_runs CROSS JOIN runs ON runs.id = saved_runs.run_id
                 WHERE runs.state = 'waiting' AND NOT EXISTS (
                     SELECT 1 FROM approvals WHERE run_id = runs.id AND state = 'waiting')
                 ORDER BY runs.started_at, runs.id",
            )
            .fetch_all(self.readers())
            .await?;
            Ok(runs)
        };
        find.await.map_err(|failure: Failure| failure.during("listing runs to be carried on"))
    }

    async fn waiting_run(&self, run_id: &str) -> Result<Option<WaitingRun>, StoreError> {
        let find = async {
            let mut snapshot = self.readers().begin().await?;
            let row: Option<WaitingRow> = sqlx::query_as(
                "SELECT runs.*, saved_runs.state AS saved
                 FROM runs JOIN saved_runs ON saved_runs.run_id = runs.id
                 WHERE runs.id = ? AND runs.state = 'waiting'",
            )
            .bind(run_id)
            .fetch_optional(&mut *snapshot)
            .await?;
            match row {
                Some(row) => row.into_waiting(&mut snapshot).await.map(Some),
                None => Ok(None),
            }
        };
        find.await.map_err(|failure: Failure| failure.during("reading a waiting run"))
    }

    async fn waiting_runs_of(&self, conversation_id: &str) -> Result<Vec<WaitingRun>, StoreError> {
        let find = async {
            let mut snapshot = self.readers().begin().await?;
            let rows: Vec<WaitingRow> = sqlx::query_as(
                "SELECT runs.*, saved_runs.state AS saved
                 FROM runs JOIN saved_runs ON saved_runs.run_id = runs.id
                 WHERE runs.conversation_id = ? AND runs.state = 'waiting'
                 ORDER BY runs.started_at, runs.id",
            )
            .bind(conversation_id)
            .fetch_all(&mut *snapshot)
            .await?;
            let mut waiting = Vec::with_capacity(rows.len());
            for row in rows {
                waiting.push(row.into_waiting(&mut snapshot).await?);
            }
            Ok(waiting)
        };
        find.await.map_err(|failure: Failure| failure.during("listing the waiting runs of a conversation"))
    }

    async fn approved_tools(&self, conversation_id: &str) -> Result<BTreeSet<String>, StoreError> {
        let find = async {
            let tools: Vec<String> =
                sqlx::query_scalar("SELECT tool_id FROM approved_tools WHERE conversation_id = ?")
                    .bind(conversation_id)
                    .fetch_all(self.readers())
                    .await?;
            Ok(tools.into_iter().collect())
        };
        find.await.map_err(|failure: Failure| failure.during("reading the approved tools of a conversation"))
    }
}

/// A waiting run's row with its saved state.
#[derive(FromRow)]
struct WaitingRow {
    #[sqlx(flatten)]
    run: RunRow,
    saved: String,
}

impl WaitingRow {
    async fn into_waiting(self, connection: &mut SqliteConnection) -> Result<WaitingRun, Failure> {
        let run: RunRecord = self.run.into_run()?;
        // Approvals of earlier pauses were answered for earlier rounds.
        let rows: Vec<ApprovalRow> =
            sqlx::query_as("SELECT * FROM approvals WHERE run_id = ? AND round = ? ORDER BY call_order")
                .bind(&run.id)
                .bind(i64::from(run.rounds))
                .fetch_all(connection)
                .await?;
        let approvals: Result<Vec<_>, Failure> = rows.into_iter().map(ApprovalRow::into_record).collect();
        Ok(WaitingRun { run, state: self.saved, approvals: approvals? })
    }
}

#[derive(FromRow)]
struct ApprovalRow {
    id: String,
    run_id: String,
    conversation_id: Option<String>,
    workspace_id: String,
    user_id: String,
    call_order: i64,
    call_id: String,
    tool_id: String,
    display_name: String,
    icon: String,
    reason: String,
    format: i64,
    arguments: String,
    created_at: i64,
    expires_at: i64,
    state: String,
    answer: Option<String>,
    answered_at: Option<i64>,
}

impl ApprovalRow {
    fn into_record(self) -> Result<ApprovalRecord, Failure> {
        let id = self.id.clone();
        self.decode().map_err(|error| Failure::content(format!("the approval {id}"), &error))
    }

    fn decode(self) -> Result<ApprovalRecord, ContentError> {
        let state = match (self.state.as_str(), &self.answer, self.answered_at) {
            ("waiting", ..) => ApprovalState::Waiting,
            ("closed", ..) => ApprovalState::Closed,
            ("answered", Some(answer), Some(at)) => ApprovalState::Answered {
                answer: decode_answer(self.format, answer)?,
                at: stored_time("answered_at", at)?,
            },
            _ => return Err(ContentError::Value { column: "state", value: self.state }),
        };
        let request = ApprovalRequest {
            arguments: decode_arguments(self.format, &self.arguments)?,
            order: stored_number("call_order", self.call_order)?,
            created_at: stored_time("created_at", self.created_at)?,
            expires_at: stored_time("expires_at", self.expires_at)?,
            id: self.id,
            run_id: self.run_id,
            conversation_id: self.conversation_id,
            call_id: self.call_id,
            tool_id: self.tool_id,
            display_name: self.display_name,
            icon: self.icon,
            reason: self.reason,
        };
        let owner = Owner { workspace_id: self.workspace_id, user_id: self.user_id };
        Ok(ApprovalRecord { request, owner, state })
    }
}
