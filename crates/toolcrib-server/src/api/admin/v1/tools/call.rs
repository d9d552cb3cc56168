//! `POST /api/v1/tools/{id}/call`: one call without a model, through the same gates and the same executor.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use http::HeaderMap;
use serde_json::{Map, Value};
use toolcrib_runtime::caller::{Caller, Component};
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::executor::CallScope;
use toolcrib_runtime::journal::{Journal, RunEnd, RunStart, RunState, Trace, TraceStatus};
use toolcrib_runtime::message::{ToolCall, Usage};
use toolcrib_runtime::model::{
    Model, ModelCapabilities, ModelError, ModelErrorKind, ModelIdentity, ModelRequest, ModelStream,
};
use toolcrib_runtime::offering::Selection;
use toolcrib_runtime::tool::Progress;

use crate::api::{locale, shapes};
use crate::app::{App, caller};
use crate::error::{ApiError, FORBIDDEN, INVALID_REQUEST, STORAGE_FAILED};
use crate::ids::random_id;
use crate::policy::settings_state;
use crate::run::Wishes;

/// In place of a model: the person who calls reads the result.
struct Reader(ModelIdentity);

struct Request {
    arguments: String,
    settings: Option<Map<String, Value>>,
}

pub(in crate::api::admin::v1) async fn call(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, ApiError> {
    let principal = app.authenticate(&headers).await?;
    let request = read(&app.json_body(body).await?)?;
    if request.settings.is_some() && !principal.local {
        let message = "settings can be given with a call only on the machine itself";
        return Err(ApiError::new(FORBIDDEN, message).with_param("settings"));
    }
    let catalog = app.registry.catalog();
    let tool = catalog.by_id(&id).ok_or_else(|| {
        let known: Vec<_> = catalog.tools().iter().map(|tool| tool.id()).collect();
        ApiError::not_found("tool", &format!("{id} (there are {})", known.join(", ")))
    })?;
    let name = tool.definition.function.name.clone();
    let wishes = Wishes {
        component: Component::parse(Component::CLI).unwrap_or_else(Component::api),
        selection: Selection::Only(BTreeSet::from([id.clone()])),
        locale: locale(&headers),
        ..Wishes::default()
    };
    let caller = Arc::new(caller(&principal.owner, wishes.component.clone(), &wishes.locale));
    let mut circumstances =
        app.services(Arc::clone(&caller)).circumstances.read().await.map_err(|error| {
            tracing::error!(error = %error, "circumstances could not be read");
            ApiError::new(STORAGE_FAILED, "the caller's circumstances could not be read")
        })?;
    if let Some(settings) = &request.settings {
        let mut policy = (*circumstances.policy).clone();
        policy.settings.insert(id, settings_state(tool, settings));
        circumstances.policy = Arc::new(policy);
    }
    let reader = reader();
    let offering = app.offering_under(&circumstances, &reader, &wishes, BTreeSet::new());
    let call = ToolCall { id: random_id("call_")?, name, arguments: request.arguments, opaque: Map::new() };
    let run_id = random_id("run_")?;
    app.store.begin_run(start(&run_id, &caller, &reader, &app)).await.map_err(journal_failed)?;
    // Dropped when the client leaves: the call then stops.
    let cancellation = app.stopping.child_token();
    let _guard = cancellation.clone().drop_guard();
    let scope = CallScope {
        run_id: run_id.clone(),
        conversation_id: None,
        order: 1,
        round: 1,
        limits: app.limits,
        result_characters_left: app.limits.result_characters,
        confidence: reader.0.confidence,
        provider_trusted: reader.0.trusted,
        cancellation,
        progress: Progress::ignored(),
    };
    let executor = app.services(caller).executor;
    let trace = match offering.admit(call.clone(), &circumstances) {
        Ok(admitted) => executor.execute(admitted, &scope).await,
        Err(refusal) => executor.refuse(Some(tool), &call, refusal, &scope).await,
    };
    let trace = trace.map_err(journal_failed)?;
    app.store.end_run(end(&run_id, &trace, &app)).await.map_err(journal_failed)?;
    let mut shape = shapes::trace(&trace);
    shape.insert("run_id".to_owned(), Value::from(run_id));
    Ok(Json(Value::Object(shape)))
}

fn read(body: &Value) -> Result<Request, ApiError> {
    let wrong = |param: &str, message: &str| {
        ApiError::new(INVALID_REQUEST, format!("`{param}`: {message}")).with_param(param)
    };
    let object = body.as_object().ok_or_else(|| wrong("body", "an object with `arguments` is expected"))?;
    if let Some(unknown) = object.keys().find(|key| !["arguments", "settings"].contains(&key.as_str())) {
        return Err(wrong(unknown, "unknown field; there are arguments and settings"));
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
    Ok(Request { arguments, settings })
}

fn reader() -> Reader {
    Reader(ModelIdentity {
        provider_id: "toolcrib".to_owned(),
        model: "none".to_owned(),
        confidence: Confidence::High,
        trusted: false,
    })
}

fn start(run_id: &str, caller: &Caller, reader: &Reader, app: &App) -> RunStart {
    RunStart {
        run_id: run_id.to_owned(),
        conversation_id: None,
        workspace_id: caller.workspace_id.clone(),
        user_id: caller.user_id.clone(),
        component: caller.component.id().to_owned(),
        provider_id: reader.0.provider_id.clone(),
        model: reader.0.model.clone(),
        messages: Vec::new(),
        started_at: app.clock.now(),
    }
}

fn end(run_id: &str, trace: &Trace, app: &App) -> RunEnd {
    let succeeded = trace.status == TraceStatus::Success;
    RunEnd {
        run_id: run_id.to_owned(),
        state: if succeeded { RunState::Completed } else { RunState::Failed },
        reason: trace.status_message.clone(),
        messages: Vec::new(),
        sources: trace.sources.clone(),
        usage: Usage::default(),
        rounds: 0,
        required_confidence: trace.required_confidence,
        ended_at: app.clock.now(),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
fn journal_failed(error: toolcrib_runtime::journal::JournalError) -> ApiError {
    tracing::error!(error = %error, "the journal could not be written");
    ApiError::new(
        STORAGE_FAILED,
        "the call could not be written down; what was not written down was not executed",
    )
}

#[async_trait]
impl Model for Reader {
    fn identity(&self) -> &ModelIdentity {
        &self.0
    }

    fn capabilities(&self) -> ModelCapabilities {
        ModelCapabilities { functions: true, images: true }
    }

    async fn ask(&self, _request: ModelRequest) -> Result<ModelStream, ModelError> {
        Err(ModelError::new(ModelErrorKind::ModelNotFound, "a person is no model"))
    }
}
