//! `GET /api/v1/assistants/{id}`: one assistant with its inputs, in the caller's language. The id may lack its ending
//! `_assistant`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use serde_json::{Value, json};

use super::summary;
use crate::api::{Path, locale};
use crate::app::App;
use crate::assistants::{Input, Kind};
use crate::error::{ApiError, NOT_FOUND};

pub(in crate::api::admin::v1) async fn show(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, ApiError> {
    app.authenticate(&headers).await?;
    let locale = locale(&headers);
    let assistant = app.assistants.find(&id).map_err(|near| {
        let near = near.map(|near| format!("; did you mean {near:?}?")).unwrap_or_default();
        let known: Vec<_> = app.assistants.all().map(|assistant| assistant.id.as_str()).collect();
        ApiError::new(
            NOT_FOUND,
            format!("there is no assistant {id:?}{near} (there are {})", known.join(", ")),
        )
    })?;
    let mut shape = summary(assistant, &locale);
    shape["user_text"] = json!(assistant.user_text);
    shape["inputs"] = assistant.inputs.iter().map(|input| input_shape(input, &locale)).collect();
    Ok(Json(shape))
}

fn input_shape(input: &Input, locale: &str) -> Value {
    let mut shape = json!({
        "id": input.id,
        "kind": input.kind.name(),
        "label": input.label.in_locale(locale),
        "help": input.help.as_ref().map(|help| help.in_locale(locale)),
        "required": input.required,
        "default": input.default,
    });
    match &input.kind {
        Kind::Text { max_length } | Kind::LongText { max_length } => shape["max_length"] = json!(max_length),
        Kind::Choice(choices) => {
            let options = choices
                .iter()
                .map(|choice| json!({"id": choice.id, "label": choice.label.in_locale(locale)}));
            shape["options"] = options.collect();
        }
        Kind::Number { minimum, maximum } => {
            shape["minimum"] = json!(minimum);
            shape["maximum"] = json!(maximum);
        }
        Kind::Boolean => {}
    }
    shape
}
