//! Tools: what there is, why it is offered or not, and calling one without a model.

pub(super) mod call;
pub(super) mod explain;
pub(super) mod list;
pub(super) mod show;

use serde_json::{Value, json};
use toolcrib_runtime::registry::RegisteredTool;

/// A tool in lists.
fn summary(tool: &RegisteredTool) -> Value {
    json!({
        "id": tool.id(),
        "function": tool.definition.function.name,
        "name": tool.display.name,
        "description": tool.display.description,
        "icon": tool.display.icon,
        "capability": tool.definition.capability,
    })
}
