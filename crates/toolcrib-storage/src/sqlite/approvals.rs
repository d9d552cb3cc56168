//! Approvals and the runs that wait for them in `SQLite`. Only the first answer counts.

use std::collections::BTreeSet;

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::{FromRow, QueryBuilder, Sqlite, SqliteConnection};
use toolcrib_runtime::journal::RunState;
use toolcrib_runtime::offering::approval::{ApprovalAnswer, ApprovalRequest};

use super::SqliteStore;
use super::accounts::stored_time;
use super::conversations::push_page;
use super::problem::Failure;
use super::runs::{RunRow, stored_number};
use super::writer::Write;
use crate::record::trace::{ContentError, decode_json, encode_json};
use crate::record::{Answered, ApprovalFilter, ApprovalRecord, ApprovalState, Owner, WaitingRun, time};
use crate::store::{ApprovalStore, Listing, Page, StoreError};

const WAITING: &str = "waiting";
const ANSWERED: &str = "answered";
/// Also written when a run ends.
pub(super) const CLOSED: &str = "closed";

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
            row.map(ApprovalRow::into_approval).transpose()
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
            let mut query = QueryBuilder::<Sqlite>::new("SELECT * FROM approvals WHERE workspace_id = ");
            query.push_bind(&owner.workspace_id).push(" AND user_id = ").push_bind(&owner.user_id);
            if let Some(conversation_id) = &filter.conversation_id {
                query.push(" AND conversation_id = ").push_bind(conversation_id);
            }
            if let Some(run_id) = &filter.run_id {
                query.push(" AND run_id = ").push_bind(run_id);
            }
            if filter.waiting_only {
                query.push(" AND state = ").push_bind(WAITING);
            }
            push_page(&mut query, "created_at", page)?;
            let rows: Vec<ApprovalRow> = query.build_query_as().fetch_all(self.readers()).await?;
            let items: Result<Vec<_>, Failure> = rows.into_iter().map(ApprovalRow::into_approval).collect();
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
        let (owner, id, answer) = (owner.clone(), id.to_owned(), answer.clone());
        self.write(GiveAnswer { owner, id, answer, at }).await
    }

    async fn expire_approvals(&self, now: Timestamp) -> Result<Vec<String>, StoreError> {
        let find = async {
            let due: bool = sqlx::query_scalar(
                "SELECT EXISTS (SELECT 1 FROM approvals WHERE state = 'waiting' AND expires_at <= ?)",
            )
            .bind(time::to_stored(now))
            .fetch_one(self.readers())
            .await?;
            Ok(due)
        };
        // The usual case needs no write.
        if !find.await.map_err(|failure: Failure| failure.during("looking for approvals that expire"))? {
            return Ok(Vec::new());
        }
        self.write(Expire { now }).await
    }

    async fn complete_runs(&self) -> Result<Vec<String>, StoreError> {
        let find = async {
            let ids = sqlx::query_scalar(
                "SELECT id FROM runs WHERE state = 'waiting'
                 AND NOT EXISTS (SELECT 1 FROM approvals WHERE run_id = runs.id AND state = 'waiting')",
            )
            .fetch_all(self.readers())
            .await?;
            Ok(ids)
        };
        find.await.map_err(|failure: Failure| failure.during("listing runs that can go on"))
    }

    async fn waiting_run(&self, run_id: &str) -> Result<Option<WaitingRun>, StoreError> {
        let find = async {
            let mut snapshot = self.readers().begin().await?;
            waiting(&mut snapshot, run_id).await
        };
        find.await.map_err(|failure: Failure| failure.during("reading a waiting run"))
    }

    async fn waiting_runs_of(&self, conversation_id: &str) -> Result<Vec<WaitingRun>, StoreError> {
        let find = async {
            let mut snapshot = self.readers().begin().await?;
            let ids: Vec<String> = sqlx::query_scalar(
                "SELECT id FROM runs WHERE state = 'waiting' AND conversation_id = ? ORDER BY started_at, id",
            )
            .bind(conversation_id)
            .fetch_all(&mut *snapshot)
            .await?;
            let mut runs = Vec::with_capacity(ids.len());
            for id in ids {
                runs.extend(waiting(&mut snapshot, &id).await?);
            }
            Ok(runs)
        };
        find.await.map_err(|failure: Failure| failure.during("reading the waiting runs of a conversation"))
    }

    async fn approved_tools(&self, conversation_id: &str) -> Result<BTreeSet<String>, StoreError> {
        let find = async {
            let ids: Vec<String> =
                sqlx::query_scalar("SELECT tool_id FROM approved_tools WHERE conversation_id = ?")
                    .bind(conversation_id)
                    .fetch_all(self.readers())
                    .await?;
            Ok(ids.into_iter().collect())
        };
        find.await.map_err(|failure: Failure| failure.during("reading the agreements of a conversation"))
    }
}

async fn waiting(connection: &mut SqliteConnection, run_id: &str) -> Result<Option<WaitingRun>, Failure> {
    let run: Option<RunRow> = sqlx::query_as("SELECT * FROM runs WHERE id = ? AND state = ?")
        .bind(run_id)
        .bind(RunState::Waiting.name())
        .fetch_optional(&mut *connection)
        .await?;
    let Some(run) = run else { return Ok(None) };
    let state: Option<String> = sqlx::query_scalar("SELECT state FROM run_states WHERE run_id = ?")
        .bind(run_id)
        .fetch_optional(&mut *connection)
        .await?;
    let rows: Vec<ApprovalRow> =
        sqlx::query_as("SELECT * FROM approvals WHERE run_id = ? ORDER BY call_order")
            .bind(run_id)
            .fetch_all(connection)
            .await?;
    let approvals: Result<Vec<_>, Failure> = rows.into_iter().map(ApprovalRow::into_approval).collect();
    Ok(Some(WaitingRun { run: run.into_run()?, state: state.unwrap_or_default(), approvals: approvals? }))
}

/// Stores a call that waits.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    request: &ApprovalRequest,
    arguments: &str,
) -> Result<(), Failure> {
    sqlx::query(
        "INSERT INTO approvals
             (id, run_id, conversation_id, workspace_id, user_id, call_order, call_id, tool_id, display_name, icon,
              arguments, reason, created_at, expires_at, state)
         SELECT ?1, id, conversation_id, workspace_id, user_id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'waiting'
         FROM runs WHERE id = ?11",
    )
    .bind(&request.id)
    .bind(i64::from(request.order))
    .bind(&request.call_id)
    .bind(&request.tool_id)
    .bind(&request.display_name)
    .bind(&request.icon)
    .bind(arguments)
    .bind(&request.reason)
    .bind(time::to_stored(request.created_at))
    .bind(time::to_stored(request.expires_at))
    .bind(&request.run_id)
    .execute(connection)
    .await?;
    Ok(())
}

struct GiveAnswer {
    owner: Owner,
    id: String,
    answer: ApprovalAnswer,
    at: Timestamp,
}

#[async_trait]
impl Write for GiveAnswer {
    type Output = Answered;
    const ATTEMPT: &'static str = "storing the answer to an approval";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<Answered, Failure> {
        let row: Option<ApprovalRow> =
            sqlx::query_as("SELECT * FROM approvals WHERE id = ? AND workspace_id = ? AND user_id = ?")
                .bind(&self.id)
                .bind(&self.owner.workspace_id)
                .bind(&self.owner.user_id)
                .fetch_optional(&mut *connection)
                .await?;
        let Some(row) = row else { return Ok(Answered::Missing) };
        let mut found = row.into_approval()?;
        if found.state != ApprovalState::Waiting {
            return Ok(Answered::Already(Box::new(found)));
        }
        let expired = found.request.expires_at <= self.at;
        let answer = if expired { &ApprovalAnswer::Expired } else { &self.answer };
        store_answer(connection, &self.id, answer, self.at).await?;
        if expired {
            found.state = ApprovalState::Answered { answer: ApprovalAnswer::Expired, at: self.at };
            return Ok(Answered::Already(Box::new(found)));
        }
        if let (ApprovalAnswer::AllowConversation, Some(conversation_id)) =
            (answer, &found.request.conversation_id)
        {
            sqlx::query("INSERT OR IGNORE INTO approved_tools (conversation_id, tool_id) VALUES (?, ?)")
                .bind(conversation_id)
                .bind(&found.request.tool_id)
                .execute(&mut *connection)
                .await?;
        }
        let waits: bool = sqlx::query_scalar(
            "SELECT EXISTS (SELECT 1 FROM approvals WHERE run_id = ? AND state = 'waiting')",
        )
        .bind(&found.request.run_id)
        .fetch_one(connection)
        .await?;
        Ok(Answered::Taken { run_id: found.request.run_id, complete: !waits })
    }
}

async fn store_answer(
    connection: &mut SqliteConnection,
    id: &str,
    answer: &ApprovalAnswer,
    at: Timestamp,
) -> Result<(), Failure> {
    let text = encode_json(answer).map_err(|error| Failure::content(format!("the approval {id}"), &error))?;
    sqlx::query("UPDATE approvals SET state = ?, answer = ?, answered_at = ? WHERE id = ?")
        .bind(ANSWERED)
        .bind(text)
        .bind(time::to_stored(at))
        .bind(id)
        .execute(connection)
        .await?;
    Ok(())
}

struct Expire {
    now: Timestamp,
}

#[async_trait]
impl Write for Expire {
    type Output = Vec<String>;
    const ATTEMPT: &'static str = "closing approvals that have expired";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<Vec<String>, Failure> {
        let due: Vec<(String, String)> = sqlx::query_as(
            "SELECT id, run_id FROM approvals WHERE state = 'waiting' AND expires_at <= ? ORDER BY id",
        )
        .bind(time::to_stored(self.now))
        .fetch_all(&mut *connection)
        .await?;
        let mut runs = BTreeSet::new();
        for (id, run_id) in due {
            store_answer(connection, &id, &ApprovalAnswer::Expired, self.now).await?;
            runs.insert(run_id);
        }
        let mut complete = Vec::new();
        for run_id in runs {
            let waits: bool = sqlx::query_scalar(
                "SELECT EXISTS (SELECT 1 FROM approvals WHERE run_id = ? AND state = 'waiting')",
            )
            .bind(&run_id)
            .fetch_one(&mut *connection)
            .await?;
            if !waits {
                complete.push(run_id);
            }
        }
        Ok(complete)
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
    arguments: String,
    reason: String,
    created_at: i64,
    expires_at: i64,
    state: String,
    answer: Option<String>,
    answered_at: Option<i64>,
}

impl ApprovalRow {
    fn into_approval(self) -> Result<ApprovalRecord, Failure> {
        let id = self.id.clone();
        self.decode().map_err(|error| Failure::content(format!("the approval {id}"), &error))
    }

    fn decode(self) -> Result<ApprovalRecord, ContentError> {
        let state = match (self.state.as_str(), self.answer.as_deref(), self.answered_at) {
            (WAITING, _, _) => ApprovalState::Waiting,
            (CLOSED, _, _) => ApprovalState::Closed,
            (ANSWERED, Some(answer), Some(at)) => {
                ApprovalState::Answered { answer: decode_json(answer)?, at: stored_time("answered_at", at)? }
            }
            _ => return Err(ContentError::Value { column: "state", value: self.state }),
        };
        Ok(ApprovalRecord {
            request: ApprovalRequest {
                order: stored_number("call_order", self.call_order)?,
                arguments: decode_json(&self.arguments)?,
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
            },
            owner: Owner { workspace_id: self.workspace_id, user_id: self.user_id },
            state,
        })
    }
}
