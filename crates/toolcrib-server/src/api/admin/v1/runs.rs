//! Runs and the traces of their calls.

pub(super) mod cancel;
pub(super) mod events;
pub(super) mod list;
pub(super) mod show;
pub(super) mod traces;

use serde_json::{Value, json};
use toolcrib_storage::record::RunRecord;

use crate::api::shapes::source;

fn shape(run: &RunRecord) -> Value {
    json!({
        "id": run.id,
        "conversation_id": run.conversation_id,
        "component": run.component,
        "model": format!("{}/{}", run.provider_id, run.model),
        "state": run.state.name(),
        "reason": run.reason,
        "rounds": run.rounds,
        "usage": {
            "input_tokens": run.usage.input_tokens,
            "output_tokens": run.usage.output_tokens,
            "cached_input_tokens": run.usage.cached_input_tokens,
            "reasoning_tokens": run.usage.reasoning_tokens,
        },
        "sources": run.sources.iter().map(source).collect::<Vec<_>>(),
        "required_confidence": run.labels.required_confidence.name(),
        "started_at": run.started_at.to_string(),
        "ended_at": run.ended_at.map(|at| at.to_string()),
    })
}
