//! Assistants: what there is, and what each asks for.

pub(super) mod list;
pub(super) mod show;

use serde_json::{Value, json};

use crate::assistants::{Assistant, DefaultTools, Need};

/// An assistant in lists, in the reader's language.
fn summary(assistant: &Assistant, locale: &str) -> Value {
    let tools = match &assistant.tools {
        DefaultTools::Usual => json!("default"),
        DefaultTools::Only(ids) => json!(ids),
    };
    json!({
        "id": assistant.id,
        "icon": assistant.icon,
        "name": assistant.name.in_locale(locale),
        "description": assistant.description.in_locale(locale),
        "tools": tools,
        "temperature": assistant.temperature,
        "needs": assistant.needs.iter().copied().map(Need::name).collect::<Vec<_>>(),
    })
}
