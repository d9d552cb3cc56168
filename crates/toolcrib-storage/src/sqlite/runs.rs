//! Runs and traces in `SQLite`, as they are read.

use async_trait::async_trait;
use serde_json::Value;
use sqlx::{FromRow, QueryBuilder, Sqlite};
use toolcrib_runtime::journal::{RunState, Trace, TraceStatus};
use toolcrib_runtime::message::Usage;

use super::SqliteStore;
use super::accounts::{stored_name, stored_time};
use super::conversations::{is_owned, push_page};
use super::labels::{stored_confidence, stored_labels};
use super::problem::Failure;
use crate::record::trace::{ContentError, TraceBody, decode_sources};
use crate::record::{CallRecord, Owner, RunFilter, RunRecord, time};
use crate::store::{Listing, Page, RunStore, StoreError};

#[async_trait]
impl RunStore for SqliteStore {
    async fn run(&self, owner: &Owner, id: &str) -> Result<Option<RunRecord>, StoreError> {
        let find = async {
            let row: Option<RunRow> =
                sqlx::query_as("SELECT * FROM runs WHERE id = ? AND workspace_id = ? AND user_id = ?")
                    .bind(id)
                    .bind(&owner.workspace_id)
                    .bind(&owner.user_id)
                    .fetch_optional(self.readers())
                    .await?;
            row.map(RunRow::into_run).transpose()
        };
        find.await.map_err(|failure: Failure| failure.during("reading a run"))
    }

    async fn runs(
        &self,
        owner: &Owner,
        filter: &RunFilter,
        page: &Page,
    ) -> Result<Listing<RunRecord>, StoreError> {
        let find = async {
            let mut query = QueryBuilder::<Sqlite>::new("SELECT * FROM runs");
            // A plus keeps SQLite from walking through all runs of the owner to find those of one conversation.
            let hint = if filter.conversation_id.is_some() { "+" } else { "" };
            query.push(" WHERE ").push(hint).push("workspace_id = ").push_bind(&owner.workspace_id);
            query.push(" AND ").push(hint).push("user_id = ").push_bind(&owner.user_id);
            if let Some(conversation_id) = &filter.conversation_id {
                query.push(" AND conversation_id = ").push_bind(conversation_id);
            }
            if let Some(state) = filter.state {
                query.push(" AND state = ").push_bind(state.name());
            }
            push_page(&mut query, "started_at", page)?;
            let rows: Vec<RunRow> = query.build_query_as().fetch_all(self.readers()).await?;
            let items: Result<Vec<_>, Failure> = rows.into_iter().map(RunRow::into_run).collect();
            Ok(Listing::cut(items?, page, |item| (time::to_stored(item.started_at), item.id.as_str())))
        };
        find.await.map_err(|failure: Failure| failure.during("listing runs"))
    }

    async fn run_traces(&self, owner: &Owner, run_id: &str) -> Result<Option<Vec<Trace>>, StoreError> {
        let find = async {
            let mut snapshot = self.readers().begin().await?;
            let exists: bool = sqlx::query_scalar(
                "SELECT EXISTS (SELECT 1 FROM runs WHERE id = ? AND workspace_id = ? AND user_id = ?)",
            )
            .bind(run_id)
            .bind(&owner.workspace_id)
            .bind(&owner.user_id)
            .fetch_one(&mut *snapshot)
            .await?;
            if !exists {
                return Ok(None);
            }
            let rows: Vec<TraceRow> =
                sqlx::query_as("SELECT * FROM traces WHERE run_id = ? ORDER BY call_order")
                    .bind(run_id)
                    .fetch_all(&mut *snapshot)
                    .await?;
            let traces: Result<Vec<_>, Failure> =
                rows.into_iter().map(|row| Ok(row.into_call()?.trace)).collect();
            traces.map(Some)
        };
        find.await.map_err(|failure: Failure| failure.during("reading the traces of a run"))
    }

    async fn conversation_traces(
        &self,
        owner: &Owner,
        conversation_id: &str,
    ) -> Result<Option<Vec<CallRecord>>, StoreError> {
        let find = async {
            let mut snapshot = self.readers().begin().await?;
            if !is_owned(&mut snapshot, owner, conversation_id).await? {
                return Ok(None);
            }
            let rows: Vec<TraceRow> = sqlx::query_as(
                "SELECT traces.* FROM runs JOIN traces ON traces.run_id = runs.id
                 WHERE runs.conversation_id = ?
                 ORDER BY runs.started_at, runs.id, traces.call_order",
            )
            .bind(conversation_id)
            .fetch_all(&mut *snapshot)
            .await?;
            let calls: Result<Vec<_>, Failure> = rows.into_iter().map(TraceRow::into_call).collect();
            calls.map(Some)
        };
        find.await.map_err(|failure: Failure| failure.during("reading the traces of a conversation"))
    }
}

/// A run's row.
#[derive(FromRow)]
pub(super) struct RunRow {
    id: String,
    conversation_id: Option<String>,
    workspace_id: String,
    user_id: String,
    component: String,
    locale: String,
    provider_id: String,
    model: String,
    state: String,
    reason: Option<String>,
    sources: String,
    input_tokens: i64,
    output_tokens: i64,
    cached_input_tokens: i64,
    reasoning_tokens: i64,
    rounds: i64,
    required_confidence: i64,
    untrusted: bool,
    outbound: i64,
    started_at: i64,
    ended_at: Option<i64>,
}

impl RunRow {
    pub(super) fn into_run(self) -> Result<RunRecord, Failure> {
        let id = self.id.clone();
        self.decode().map_err(|error| Failure::content(format!("the run {id}"), &error))
    }

    fn decode(self) -> Result<RunRecord, ContentError> {
        Ok(RunRecord {
            owner: Owner { workspace_id: self.workspace_id, user_id: self.user_id },
            state: stored_name("state", &self.state, &RunState::ALL)?,
            sources: decode_sources(&self.sources)?,
            usage: Usage {
                input_tokens: time::count_from_stored(self.input_tokens),
                output_tokens: time::count_from_stored(self.output_tokens),
                cached_input_tokens: time::count_from_stored(self.cached_input_tokens),
                reasoning_tokens: time::count_from_stored(self.reasoning_tokens),
            },
            rounds: stored_number("rounds", self.rounds)?,
            labels: stored_labels(self.required_confidence, self.untrusted, self.outbound)?,
            started_at: stored_time("started_at", self.started_at)?,
            ended_at: self.ended_at.map(|at| stored_time("ended_at", at)).transpose()?,
            id: self.id,
            conversation_id: self.conversation_id,
            component: self.component,
            locale: self.locale,
            provider_id: self.provider_id,
            model: self.model,
            reason: self.reason,
        })
    }
}

#[derive(FromRow)]
struct TraceRow {
    run_id: String,
    call_order: i64,
    round: i64,
    tool_id: String,
    display_name: String,
    icon: String,
    call_id: String,
    status: String,
    status_message: Option<String>,
    executed: bool,
    required_confidence: i64,
    untrusted: bool,
    cost: i64,
    started_at: i64,
    duration_ms: i64,
    format: i64,
    body: String,
}

impl TraceRow {
    fn into_call(self) -> Result<CallRecord, Failure> {
        let what = format!("call {} of the run {}", self.call_order, self.run_id);
        self.decode().map_err(|error| Failure::content(what, &error))
    }

    fn decode(self) -> Result<CallRecord, ContentError> {
        let body = TraceBody::decode(self.format, &self.body)?;
        let mut trace = Trace {
            order: stored_number("call_order", self.call_order)?,
            round: stored_number("round", self.round)?,
            tool_id: self.tool_id,
            display_name: self.display_name,
            icon: self.icon,
            call_id: self.call_id,
            status: stored_name("status", &self.status, &TraceStatus::ALL)?,
            executed: self.executed,
            status_message: self.status_message,
            required_confidence: stored_confidence(self.required_confidence)?,
            untrusted: self.untrusted,
            cost: self.cost,
            library_items: Vec::new(),
            started_at: stored_time("started_at", self.started_at)?,
            duration_ms: time::count_from_stored(self.duration_ms),
            arguments: Value::Null,
            repairs: Vec::new(),
            result_text: None,
            result_json: None,
            result_characters: 0,
            truncation: None,
            sources: Vec::new(),
        };
        body.restore(&mut trace)?;
        Ok(CallRecord { run_id: self.run_id, trace })
    }
}

/// The small number in a column.
pub(super) fn stored_number(column: &'static str, number: i64) -> Result<u32, ContentError> {
    u32::try_from(number).map_err(|_| ContentError::Value { column, value: number.to_string() })
}
