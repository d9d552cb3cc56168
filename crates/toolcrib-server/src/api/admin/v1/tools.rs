//! Tools: what there is, why it is offered or not, and calling one without a model.

pub(super) mod call;
pub(super) mod explain;
pub(super) mod list;
pub(super) mod show;

use serde_json::{Value, json};
use toolcrib_runtime::registry::RegisteredTool;

/// A tool in lists, in the caller's language.
fn summary(tool: &RegisteredTool, locale: &str) -> Value {
    let display = tool.display(locale);
    json!({
        "id": tool.id(),
        "function": tool.definition.function.name,
        "name": display.name,
        "description": display.description,
        "icon": display.icon,
        "capability": tool.definition.capability,
    })
}
