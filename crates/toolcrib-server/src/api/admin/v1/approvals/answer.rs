//! `POST /api/v1/approvals/{id}`: the answer to a call that waits.
//!
//! `{"answer": "allow_once"}`, `{"answer": "allow_conversation"}`, `{"answer": "deny", "note": "…"}` or
//! `{"answer": "edit", "arguments": {…}}`. Only the first answer counts. When it was the last that a run waited for, the
//! run goes on in the background; its events are at `/api/v1/runs/{id}/events`.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use http::HeaderMap;
use serde_json::{Map, Value, json};
use toolcrib_runtime::nearest::nearest;
use toolcrib_runtime::offering::approval::ApprovalAnswer;

use super::shape;
use crate::api::Path;
use crate::app::App;
use crate::error::{ApiError, INVALID_REQUEST};

const FIELDS: [&str; 3] = ["answer", "note", "arguments"];
const ANSWERS: [&str; 4] = ["allow_once", "allow_conversation", "deny", "edit"];

pub(in crate::api::admin::v1) async fn answer(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, ApiError> {
    let principal = app.authenticate(&headers).await?;
    let answer = read(&app.json_body(body).await?)?;
    let taken = app.answer_approval(&principal.owner, &id, answer).await?;
    let run_id = &taken.approval.request.run_id;
    Ok(Json(json!({
        "approval": shape(&taken.approval),
        "run_id": run_id,
        "run_goes_on": taken.goes_on,
        "events": format!("/api/v1/runs/{run_id}/events"),
    })))
}

fn read(body: &Value) -> Result<ApprovalAnswer, ApiError> {
    let object = body.as_object().ok_or_else(|| wrong("answer", "an object with `answer` is expected"))?;
    if let Some(unknown) = object.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        return Err(wrong(unknown, &format!("unknown field; there are {}", FIELDS.join(", "))));
    }
    let name = object.get("answer").and_then(Value::as_str).unwrap_or_default();
    let only = |field: &str, answer: &str| match object.get(field) {
        Some(value) if !value.is_null() && name != answer => {
            Err(wrong(field, &format!("belongs to the answer {answer:?} only")))
        }
        _ => Ok(()),
    };
    only("note", "deny")?;
    only("arguments", "edit")?;
    match name {
        "allow_once" => Ok(ApprovalAnswer::AllowOnce),
        "allow_conversation" => Ok(ApprovalAnswer::AllowConversation),
        "deny" => Ok(ApprovalAnswer::Deny { note: note(object)? }),
        "edit" => match object.get("arguments") {
            Some(arguments @ Value::Object(_)) => Ok(ApprovalAnswer::Edit { arguments: arguments.clone() }),
            _ => {
                Err(wrong("arguments", "the arguments that the call should have are expected, as an object"))
            }
        },
        other => {
            let near = nearest(other, ANSWERS).map(|near| format!("; did you mean {near:?}?"));
            let near = near.unwrap_or_default();
            Err(wrong("answer", &format!("{other:?} is no answer; there are {}{near}", ANSWERS.join(", "))))
        }
    }
}

fn note(object: &Map<String, Value>) -> Result<Option<String>, ApiError> {
    match object.get("note") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(note)) if note.chars().count() <= 2_000 => Ok(Some(note.clone())),
        Some(_) => Err(wrong("note", "text of at most 2000 characters is expected")),
    }
}

fn wrong(param: &str, message: &str) -> ApiError {
    ApiError::new(INVALID_REQUEST, format!("`{param}`: {message}")).with_param(param)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_and_wrong_ones_say_what_is_allowed() {
        let ok = |body: Value| read(&body).map_err(|error| error.message);
        assert_eq!(ok(json!({"answer": "allow_once"})), Ok(ApprovalAnswer::AllowOnce));
        assert_eq!(
            ok(json!({"answer": "deny", "note": "no"})),
            Ok(ApprovalAnswer::Deny { note: Some("no".into()) })
        );
        let arguments = json!({"a": 1});
        assert_eq!(
            ok(json!({"answer": "edit", "arguments": {"a": 1}})),
            Ok(ApprovalAnswer::Edit { arguments })
        );
        let fails = |body: Value, part: &str| {
            let message = read(&body).expect_err("refused").message;
            assert!(message.contains(part), "{body}: {message}");
        };
        fails(json!({"answer": "alow_once"}), "did you mean \"allow_once\"?");
        fails(json!({}), "there are allow_once");
        fails(json!({"answer": "edit"}), "`arguments`");
        fails(json!({"answer": "deny", "arguments": {}}), "belongs to the answer \"edit\"");
        fails(json!({"answer": "deny", "why": 1}), "unknown field");
        fails(json!([]), "an object");
    }
}
