//! `GET /api/v1/tools/explain`: each tool with each gate's verdict, for a component, a model and a choice of tools.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::{HeaderMap, Uri};
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_runtime::caller::Component;
use toolcrib_runtime::offering::{Explanation, Reason};

use crate::api::openai::wishes::{component, selection};
use crate::api::{locale, query};
use crate::app::{App, caller};
use crate::error::ApiError;
use crate::run::Wishes;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Query {
    component: Option<String>,
    model: Option<String>,
    tools: Option<String>,
    #[serde(default)]
    temporary: bool,
}

pub(in crate::api::admin::v1) async fn explain(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Json<Value>, ApiError> {
    let principal = app.authenticate(&headers).await?;
    let query: Query = query(&uri)?;
    let component = match query.component {
        Some(id) => component(&app, &Value::from(id), "component")?,
        None => Component::api(),
    };
    let model = app.models.resolve(query.model.as_deref().unwrap_or_default()).await?;
    let wishes = Wishes {
        component,
        selection: selection(&app, query.tools.as_deref())?,
        temporary: query.temporary,
        locale: locale(&headers),
        ..Wishes::default()
    };
    let caller = Arc::new(caller(&principal.owner, wishes.component.clone(), &wishes.locale));
    let offering = app.offering(&caller, &*model, &wishes, HashSet::new());
    let identity = model.identity();
    Ok(Json(json!({
        "component": wishes.component.id(),
        "model": identity.full_name(),
        "confidence": identity.confidence.name(),
        "tools": offering.explain().map(|explanation| shape(&explanation, &wishes.locale)).collect::<Vec<_>>(),
    })))
}

fn shape(explanation: &Explanation<'_>, locale: &str) -> Value {
    let display = explanation.tool.display(locale);
    let gates = explanation.verdicts.iter().map(|verdict| {
        json!({
            "gate": verdict.gate,
            "passes_when": verdict.passes_when,
            "passed": verdict.reason.is_none(),
            "reason": verdict.reason.as_ref().map(reason),
        })
    });
    json!({
        "id": explanation.tool.id(),
        "name": display.name,
        "icon": display.icon,
        "offered": explanation.offered,
        "headline": explanation.headline().map(reason),
        "gates": gates.collect::<Vec<_>>(),
    })
}

fn reason(reason: &Reason) -> Value {
    json!({
        "code": reason.code(),
        "message": reason.to_string(),
        "has": reason.has(),
        "needs": reason.needs(),
        "who_can_change_it": reason.who().name(),
    })
}
