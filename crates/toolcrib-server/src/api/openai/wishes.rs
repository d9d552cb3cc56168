//! Reads our own request fields: the body's `toolcrib` object, or the `X-Toolcrib-…` headers.

use http::HeaderMap;
use serde_json::{Map, Value};
use toolcrib_runtime::caller::Component;
use toolcrib_runtime::model::{Model, ModelRequest};
use toolcrib_runtime::nearest::nearest;
use toolcrib_runtime::offering::Selection;
use toolcrib_runtime::policy::OutboundRestriction;

use crate::api::locale;
use crate::app::App;
use crate::assistants::Filled;
use crate::auth::Principal;
use crate::error::{ApiError, INVALID_REQUEST};
use crate::run::Wishes;

const INPUTS: &str = "toolcrib.inputs";
const FIELDS: [&str; 9] = [
    "component",
    "inputs",
    "conversation",
    "tools",
    "temporary",
    "events",
    "background",
    "outbound",
    "sources",
];

/// The wishes of a request. The body wins over headers.
pub(super) fn read(
    app: &App,
    principal: &Principal,
    body: Option<&Value>,
    headers: &HeaderMap,
) -> Result<Wishes, ApiError> {
    let mut fields = from_headers(headers)?;
    match body {
        None | Some(Value::Null) => {}
        Some(Value::Object(object)) => fields.extend(object.clone()),
        Some(_) => return Err(wrong("toolcrib", "an object is expected")),
    }
    let mut wishes = Wishes { locale: locale(headers), ..Wishes::default() };
    let mut given = None;
    for (name, value) in &fields {
        let param = format!("toolcrib.{name}");
        match name.as_str() {
            "component" => {
                wishes.component = component(app, value, &param)?;
                principal.may_act_as(&wishes.component, &param)?;
            }
            "inputs" => given = Some(inputs(value, &param)?),
            "conversation" => wishes.conversation = Some(text(value, &param)?),
            "tools" => wishes.selection = app.selection(value, &param)?,
            "temporary" => wishes.temporary = flag(value, &param)?,
            "events" => wishes.events = flag(value, &param)?,
            "background" => wishes.background = flag(value, &param)?,
            "outbound" => wishes.outbound = outbound(value, &param)?,
            "sources" => wishes.sources_as_text = sources(value, &param)?,
            unknown => {
                let known = FIELDS.join(", ");
                return Err(wrong(&param, &format!("{unknown:?} is no field of ours; there are {known}")));
            }
        }
    }
    wishes.assistant = assistant(app, &wishes.component, given)?;
    Ok(wishes)
}

/// The assistant that the component is, with these values of its inputs; `None` for a door.
fn assistant(
    app: &App,
    component: &Component,
    given: Option<Map<String, Value>>,
) -> Result<Option<Filled>, ApiError> {
    if !component.is_assistant() {
        return match given {
            None => Ok(None),
            Some(_) => {
                Err(wrong(INPUTS, &format!("{component} takes none; name an assistant as `component`")))
            }
        };
    }
    let assistant = app.assistants.by_id(component.id()).ok_or_else(|| {
        let message = format!("the file of {component} has faults; `toolcrib doctor` names them");
        wrong("toolcrib.component", &message)
    })?;
    let filled = Filled::new(assistant, &given.unwrap_or_default());
    filled.map(Some).map_err(|problems| {
        let told =
            problems.iter().map(|problem| format!("`{INPUTS}.{}`: {}", problem.input, problem.message));
        let message = told.collect::<Vec<_>>().join(". ");
        let param = match problems.as_slice() {
            [only] => format!("{INPUTS}.{}", only.input),
            _ => INPUTS.to_owned(),
        };
        ApiError::new(INVALID_REQUEST, message).with_param(param)
    })
}

/// Refuses a model that lacks what the assistant needs, and a user message that it cannot work on.
pub(super) fn fits(assistant: &Filled, model: &dyn Model, request: &ModelRequest) -> Result<(), ApiError> {
    if let Some(need) = assistant.missing_in(model) {
        let (id, name) = (assistant.id(), model.identity().full_name());
        return Err(wrong(
            "model",
            &format!("{id} needs a model that can use {}; {name} cannot", need.name()),
        ));
    }
    assistant
        .problem_of_user_text(&request.messages)
        .map_or(Ok(()), |problem| Err(wrong("messages", &problem)))
}

/// The values of an assistant's inputs: an object, in a header as JSON.
fn inputs(value: &Value, param: &str) -> Result<Map<String, Value>, ApiError> {
    let expected = "an object of values by input is expected (in a header: as JSON)";
    let read = match value {
        Value::String(text) => serde_json::from_str(text).ok(),
        Value::Object(map) => Some(map.clone()),
        _ => None,
    };
    read.ok_or_else(|| wrong(param, expected))
}

/// The choice of tools alone, for requests that run nothing.
pub(crate) fn selection(app: &App, text: Option<&str>) -> Result<Selection, ApiError> {
    text.map_or(Ok(Selection::Default), |text| app.selection(&Value::from(text), "tools"))
}

fn from_headers(headers: &HeaderMap) -> Result<Map<String, Value>, ApiError> {
    let mut fields = Map::new();
    for name in FIELDS {
        let header = format!("x-toolcrib-{name}");
        let Some(value) = headers.get(&header) else { continue };
        let text = value.to_str().map_err(|_| wrong(&header, "plain ASCII text is expected"))?;
        fields.insert(name.to_owned(), Value::from(text.trim()));
    }
    Ok(fields)
}

pub(crate) fn component(app: &App, value: &Value, param: &str) -> Result<Component, ApiError> {
    let id = text(value, param)?;
    app.components.parse(&id).map_err(|unknown| wrong(param, &unknown.to_string()))
}

fn text(value: &Value, param: &str) -> Result<String, ApiError> {
    let text = value.as_str().filter(|text| !text.is_empty());
    text.map(str::to_owned).ok_or_else(|| wrong(param, "a non-empty string is expected"))
}

fn flag(value: &Value, param: &str) -> Result<bool, ApiError> {
    match value {
        Value::Bool(flag) => Ok(*flag),
        Value::String(text) if ["1", "true", "yes"].contains(&text.as_str()) => Ok(true),
        Value::String(text) if ["0", "false", "no"].contains(&text.as_str()) => Ok(false),
        _ => Err(wrong(param, "true or false is expected (in a header: 1 or 0)")),
    }
}

fn outbound(value: &Value, param: &str) -> Result<OutboundRestriction, ApiError> {
    let name = text(value, param)?;
    OutboundRestriction::parse(&name).ok_or_else(|| {
        let names = OutboundRestriction::NAMES.map(|(name, _)| name);
        let near = nearest(&name, names).map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
        wrong(param, &format!("{name:?} is no restriction; there are {}{near}", names.join(", ")))
    })
}

fn sources(value: &Value, param: &str) -> Result<bool, ApiError> {
    match value.as_str() {
        Some("text") => Ok(true),
        Some("annotations") => Ok(false),
        _ => Err(wrong(param, "\"text\" or \"annotations\" is expected")),
    }
}

fn wrong(param: &str, message: &str) -> ApiError {
    ApiError::new(INVALID_REQUEST, format!("`{param}`: {message}")).with_param(param)
}
