//! Reads our own request fields: the body's `toolcrib` object, or the `X-Toolcrib-…` headers.

use http::HeaderMap;
use serde_json::{Map, Value};
use toolcrib_runtime::caller::Component;
use toolcrib_runtime::offering::Selection;

use crate::api::locale;
use crate::app::App;
use crate::auth::Principal;
use crate::error::{ApiError, INVALID_REQUEST};
use crate::run::Wishes;

const FIELDS: [&str; 6] = ["component", "conversation", "tools", "temporary", "events", "sources"];

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
    for (name, value) in &fields {
        let param = format!("toolcrib.{name}");
        match name.as_str() {
            "component" => {
                wishes.component = component(app, value, &param)?;
                principal.may_act_as(&wishes.component, &param)?;
            }
            "conversation" => wishes.conversation = Some(text(value, &param)?),
            "tools" => wishes.selection = app.selection(value, &param)?,
            "temporary" => wishes.temporary = flag(value, &param)?,
            "events" => wishes.events = flag(value, &param)?,
            "sources" => wishes.sources_as_text = sources(value, &param)?,
            unknown => {
                let known = FIELDS.join(", ");
                return Err(wrong(&param, &format!("{unknown:?} is no field of ours; there are {known}")));
            }
        }
    }
    Ok(wishes)
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
