//! `GET /api/v1/tools/{id}`: one tool with its schema and its settings fields.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use serde_json::{Value, json};

use super::summary;
use crate::api::Path;
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
    let settings = definition.settings_schema.fields.iter().map(|field| {
        json!({
            "name": field.name,
            "type": field.kind.name(),
            "title": field.title,
            "description": field.description,
            "default": field.default,
            "secret": field.secret,
            "required": field.required,
        })
    });
    let mut shape = summary(tool);
    shape["description_for_llm"] = json!(definition.function.description);
    shape["instructions"] = json!(definition.system_prompt_instructions);
    shape["parameters"] = definition.function.parameters.clone();
    shape["minimum_confidence"] = json!(definition.minimum_confidence.unwrap_or_default().name());
    shape["returns_untrusted_content"] = json!(definition.returns_untrusted_content);
    shape["settings"] = settings.collect();
    Ok(Json(shape))
}
