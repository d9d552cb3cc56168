//! `POST /api/v1/tools/{id}/call`: one call without a model, through the same gates and the same executor.
//!
//! Whoever is at this machine sees the result as a provider of HIGH confidence would. With an API key it is MEDIUM,
//! as for a provider that nobody vouched for: the result leaves the machine, so that tools and hosts that need HIGH
//! stay closed. The call is a run of its own; it ends when the client leaves, and is written down to its end.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use http::HeaderMap;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use toolcrib_runtime::caller::{Caller, Component};
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::executor::{CallScope, Executor, Outcome};
use toolcrib_runtime::journal::{Journal, JournalError, RunEnd, RunStart, RunState, Trace, TraceStatus};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::links::Links;
use toolcrib_runtime::message::{ToolCall, Usage};
use toolcrib_runtime::model::{ModelCapabilities, ModelIdentity};
use toolcrib_runtime::offering::{Admission, HeldCall, ModelStanding, Offering, Refusal, Selection};
use toolcrib_runtime::policy::Circumstances;
use toolcrib_runtime::registry::RegisteredTool;
use toolcrib_runtime::tool::Progress;
use tracing::Instrument as _;

use crate::api::{Path, locale, shapes};
use crate::app::{App, LiveCircumstances, caller};
use crate::auth::{Principal, WayIn};
use crate::error::{
    ApiError, FORBIDDEN, INTERNAL, INVALID_REQUEST, REQUIRES_APPROVAL, SHUTTING_DOWN, STORAGE_FAILED,
};
use crate::ids::random_id;
use crate::policy::settings_state;
use crate::run::Wishes;

struct Request {
    arguments: String,
    settings: Option<Map<String, Value>>,
    /// Whoever calls has seen the arguments and agrees.
    approved: bool,
}

/// A call as its task takes it over.
struct Work {
    app: Arc<App>,
    executor: Executor,
    tool: Arc<RegisteredTool>,
    call: ToolCall,
    offering: Offering,
    circumstances: Circumstances,
    approved: bool,
    scope: CallScope,
}

pub(in crate::api::admin::v1) async fn call(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, ApiError> {
    let principal = app.authenticate(&headers).await?;
    let request = read(&app.json_body(body).await?)?;
    if request.settings.is_some() && !principal.is_local() {
        let message = "settings can be given with a call only on the machine itself";
        return Err(ApiError::new(FORBIDDEN, message).with_param("settings"));
    }
    if request.approved && !principal.is_local() {
        let message = "a call can be approved along with it only on the machine itself";
        return Err(ApiError::new(FORBIDDEN, message).with_param("approved"));
    }
    if app.runs.is_closed() {
        return Err(ApiError::new(SHUTTING_DOWN, "the server is stopping and begins no new calls"));
    }
    // Dropped when the client leaves: the call then stops.
    let cancellation = app.stopping.child_token();
    let _guard = cancellation.clone().drop_guard();
    let work = prepare(&app, &principal, &id, request, locale(&headers), cancellation).await?;
    let run_id = work.scope.run_id.clone();
    // A task of its own writes down the end even when nobody waits for it, and stopping waits for the task.
    let task = app.runs.spawn(work.carry_out().in_current_span());
    let trace = task.await.map_err(|error| {
        tracing::error!(error = %error, "a call's task ended badly");
        ApiError::new(INTERNAL, "the call broke off")
    })?;
    let mut shape = shapes::trace(&trace?);
    shape.insert("run_id".to_owned(), Value::from(run_id));
    Ok(Json(Value::Object(shape)))
}

async fn prepare(
    app: &Arc<App>,
    principal: &Principal,
    id: &str,
    request: Request,
    locale: String,
    cancellation: CancellationToken,
) -> Result<Work, ApiError> {
    let catalog = app.registry.catalog();
    let tool = catalog.by_id(id).cloned().ok_or_else(|| {
        let known: Vec<_> = catalog.tools().iter().map(|tool| tool.id()).collect();
        ApiError::not_found("tool", &format!("{id} (there are {})", known.join(", ")))
    })?;
    let wishes = Wishes {
        component: component(app, principal.way),
        selection: Selection::Only(HashSet::from([id.to_owned()])),
        locale,
        ..Wishes::default()
    };
    let caller = Arc::new(caller(&principal.owner, wishes.component.clone(), &wishes.locale));
    let services = app.services(LiveCircumstances {
        app: Arc::clone(app),
        caller,
        conversation_id: None,
        floor: Labels { outbound: app.outbound, ..Labels::default() },
    });
    let mut circumstances = services.circumstances.read().await.map_err(|error| {
        tracing::error!(error = %error, "circumstances could not be read");
        ApiError::new(STORAGE_FAILED, "the caller's circumstances could not be read")
    })?;
    if let Some(settings) = &request.settings {
        let mut policy = (*circumstances.policy).clone();
        policy.settings.insert(id.to_owned(), settings_state(&tool, settings));
        circumstances.policy = Arc::new(policy);
    }
    let standing = standing(principal);
    let scope = CallScope {
        run_id: random_id("run_")?,
        conversation_id: None,
        order: 1,
        round: 1,
        limits: app.limits,
        result_characters_left: app.limits.result_characters,
        confidence: standing.identity.confidence,
        provider_trusted: standing.identity.trusted,
        cancellation,
        progress: Progress::ignored(),
        // A person gave the URL itself.
        links: Arc::new(Links::Any),
        run_ends: None,
    };
    let call = ToolCall {
        id: random_id("call_")?,
        name: tool.definition.function.name.clone(),
        arguments: request.arguments,
        opaque: Map::new(),
    };
    let offering = app.offering_under(&circumstances, standing, &wishes, HashSet::new());
    let approved = request.approved;
    let (app, executor) = (Arc::clone(app), services.executor);
    Ok(Work { app, executor, tool, call, offering, circumstances, approved, scope })
}

impl Work {
    /// Begins the run, executes the call and ends the run, whatever happens in between.
    async fn carry_out(self) -> Result<Trace, ApiError> {
        let (store, run_id) = (&self.app.store, &self.scope.run_id);
        let start = start(run_id, &self.circumstances.caller, self.offering.model(), &self.app);
        store.begin_run(start).await.map_err(|error| journal_failed(&error))?;
        let admission = match self.offering.propose(self.call.clone(), &self.circumstances) {
            Ok(proposal) if self.approved => proposal.agreed().decide(),
            Ok(proposal) => proposal.decide(),
            Err(refusal) => Admission::Refused(refusal),
        };
        let mut held = None;
        let traced = match admission {
            Admission::Admitted(admitted) => self.executor.execute(admitted, &self.scope).await,
            Admission::Refused(refusal) => self.refuse(refusal).await,
            Admission::Held(call) => {
                held = Some(needs_approval(&call));
                self.refuse(call.refused()).await
            }
        };
        let traced = traced.map(|outcome| outcome.trace);
        if traced.is_err()
            && let Err(error) = self.executor.close_open_calls(run_id).await
        {
            tracing::error!(run = run_id, error = %error, "an open call could not be closed");
        }
        let ended = store.end_run(end(run_id, traced.as_ref().ok(), &self.app)).await;
        let trace = traced.map_err(|error| journal_failed(&error))?;
        ended.map_err(|error| journal_failed(&error))?;
        held.map_or(Ok(trace), Err)
    }

    async fn refuse(&self, refusal: Refusal) -> Result<Outcome, JournalError> {
        self.executor.refuse(Some(&self.tool), &self.call, refusal, &self.scope).await
    }
}

fn needs_approval(held: &HeldCall) -> ApiError {
    let message = format!("the call {} with {} needs approval: {}", held.call.name, held.arguments, held.why);
    ApiError::new(REQUIRES_APPROVAL, message)
}

fn read(body: &Value) -> Result<Request, ApiError> {
    let wrong = |param: &str, message: &str| {
        ApiError::new(INVALID_REQUEST, format!("`{param}`: {message}")).with_param(param)
    };
    let object = body.as_object().ok_or_else(|| wrong("body", "an object with `arguments` is expected"))?;
    if let Some(unknown) =
        object.keys().find(|key| !["arguments", "settings", "approved"].contains(&key.as_str()))
    {
        return Err(wrong(unknown, "unknown field; there are arguments, settings and approved"));
    }
    let arguments = match object.get("arguments") {
        None => String::new(),
        // Text is taken as a model would write it, so that what is wrong with it can be seen.
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let settings = match object.get("settings") {
        None | Some(Value::Null) => None,
        Some(Value::Object(settings)) => Some(settings.clone()),
        Some(_) => return Err(wrong("settings", "an object of settings is expected")),
    };
    let approved = match object.get("approved") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(approved)) => *approved,
        Some(_) => return Err(wrong("approved", "true or false is expected")),
    };
    Ok(Request { arguments, settings, approved })
}

/// Where the call happens, by how the caller came in.
fn component(app: &App, way: WayIn) -> Component {
    let id = match way {
        WayIn::Key => Component::API,
        WayIn::Session => Component::CHAT,
        WayIn::Program => Component::CLI,
    };
    app.components.parse(id).unwrap_or_else(|_| Component::api())
}

/// In place of a model: whoever calls reads the result.
fn standing(principal: &Principal) -> ModelStanding {
    let confidence = if principal.is_local() { Confidence::High } else { Confidence::Medium };
    ModelStanding {
        identity: ModelIdentity {
            provider_id: "toolcrib".to_owned(),
            model: "none".to_owned(),
            confidence,
            trusted: false,
        },
        capabilities: ModelCapabilities { functions: true, images: true },
    }
}

fn start(run_id: &str, caller: &Caller, reader: &ModelStanding, app: &App) -> RunStart {
    RunStart {
        run_id: run_id.to_owned(),
        conversation_id: None,
        workspace_id: caller.workspace_id.clone(),
        user_id: caller.user_id.clone(),
        component: caller.component.id().to_owned(),
        locale: caller.locale.clone(),
        provider_id: reader.identity.provider_id.clone(),
        model: reader.identity.model.clone(),
        messages: Vec::new(),
        started_at: app.clock.now(),
    }
}

/// The end of the run; without a trace the call could not be written down.
fn end(run_id: &str, trace: Option<&Trace>, app: &App) -> RunEnd {
    let state = match trace.map(|trace| trace.status) {
        Some(TraceStatus::Success) => RunState::Completed,
        Some(TraceStatus::Cancelled) => RunState::Cancelled,
        _ => RunState::Failed,
    };
    let unwritten = || Some("the call could not be written down".to_owned());
    RunEnd {
        run_id: run_id.to_owned(),
        state,
        reason: trace.map_or_else(unwritten, |trace| trace.status_message.clone()),
        messages: Vec::new(),
        sources: trace.map(|trace| trace.sources.clone()).unwrap_or_default(),
        usage: Usage::default(),
        rounds: 0,
        labels: trace.map(Trace::labels).unwrap_or_default(),
        protected: BTreeSet::new(),
        ended_at: app.clock.now(),
    }
}

fn journal_failed(error: &JournalError) -> ApiError {
    tracing::error!(error = %error, "the journal could not be written");
    ApiError::new(
        STORAGE_FAILED,
        "the call could not be written down; what was not written down was not executed",
    )
}

#[cfg(test)]
mod tests;
