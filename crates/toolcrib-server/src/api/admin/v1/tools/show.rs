//! `GET /api/v1/tools/{id}`: one tool with its schema and its settings fields.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use serde_json::{Value, json};

use super::summary;
use crate::api::{Path, locale};
use crate::app::App;
use crate::error::ApiError;

pub(in crate::api::admin::v1) async fn show(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Value>, ApiError> {
    app.authenticate(&headers).await?;
    let catalog = app.registry.catalog();
    let tool = catalog.by_id(&id).ok_or_else(|| ApiError::not_found("tool", &id))?;
    let definition = &tool.definition;
    let locale = locale(&headers);
    let settings = definition.settings_schema.fields.iter().map(|field| {
        let texts = tool.setting_texts(&field.name, &locale);
        json!({
            "name": field.name,
            "type": field.kind.name(),
            "label": texts.label,
            "help": texts.help,
            "choices": field.choices,
            "default": field.default,
            "minimum": field.minimum,
            "maximum": field.maximum,
            "format": field.format,
            "secret": field.secret,
            "required": field.required,
        })
    });
    let mut shape = summary(tool, &locale);
    shape["description_for_llm"] = json!(definition.function.description);
    shape["instructions"] = json!(definition.system_prompt_instructions);
    shape["parameters"] = definition.function.parameters.clone();
    shape["minimum_confidence"] = json!(definition.minimum_confidence.unwrap_or_default().name());
    shape["returns_untrusted_content"] = json!(definition.returns_untrusted_content);
    shape["settings"] = settings.collect();
    Ok(Json(shape))
}
