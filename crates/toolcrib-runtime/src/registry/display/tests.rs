use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::*;
use crate::testing::definition;
use crate::tool::{ToolContext, ToolError, ToolOutput, language};

/// Speaks English and German.
struct Bilingual;

#[async_trait]
impl Tool for Bilingual {
    fn implementation_key(&self) -> &'static str {
        "clock"
    }

    fn display(&self, locale: &str) -> Display {
        match language(locale).as_str() {
            "de" => Display::new("🕒", "Uhr", "Sagt, wie spät es ist."),
            _ => Display::new("🕒", "Clock", "Tells the time."),
        }
    }

    fn setting_texts(&self, field: &str, locale: &str) -> Option<FieldTexts> {
        match (field, language(locale).as_str()) {
            ("zone", "de") => Some(FieldTexts::new("Zeitzone", "Wo die Uhr hängt.")),
            ("zone", _) => Some(FieldTexts::new("Time zone", "Where the clock hangs.")),
            _ => None,
        }
    }

    async fn call(&self, _arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("noon"))
    }
}

fn registered(implementation: Option<Arc<dyn Tool>>, display: Value) -> RegisteredTool {
    let mut value = definition("clock");
    value["settingsSchema"] = json!({
        "type": "object",
        "properties": {
            "zone": { "type": "string", "title": "Zone (definition)", "description": "Help (definition)." },
            "face": { "type": "string", "title": "Face", "description": "What it looks like." },
            "hands": { "type": "integer" }
        }
    });
    value["display"] = display;
    let definition =
        Definition::read(&value.to_string(), "clock.json", &crate::caller::Components::default()).unwrap();
    RegisteredTool::new(definition, implementation, crate::registry::DefinitionFile::added("clock.json", ""))
        .unwrap()
}

#[test]
fn the_implementation_speaks_where_the_definition_is_silent() {
    let tool = registered(Some(Arc::new(Bilingual)), json!({}));
    assert_eq!(tool.display, Display::new("🕒", "Clock", "Tells the time."));
    assert_eq!(tool.display("de-AT").name, "Uhr");
    assert_eq!(tool.display("fr"), tool.display);
    assert_eq!(tool.setting_texts("zone", "de"), FieldTexts::new("Zeitzone", "Wo die Uhr hängt."));
    assert_eq!(tool.setting_texts("zone", "en").label, "Time zone");
    assert_eq!(tool.setting_texts("face", "de"), FieldTexts::new("Face", "What it looks like."));
    assert_eq!(tool.setting_texts("hands", "de"), FieldTexts::new("hands", ""));
    assert_eq!(tool.setting_texts("unknown", "de"), FieldTexts::new("unknown", ""));
}

#[test]
fn the_definition_of_a_language_comes_before_the_implementation() {
    let display = json!({
        "en": { "name": "Wall clock", "fieldLabels": { "face": "Dial" } },
        "de": { "name": "Wanduhr", "fieldLabels": { "zone": "Zone der Wanduhr" } }
    });
    let tool = registered(Some(Arc::new(Bilingual)), display);
    assert_eq!(tool.display, Display::new("🕒", "Wall clock", "Tells the time."));
    assert_eq!(tool.display("de-DE"), Display::new("🕒", "Wanduhr", "Sagt, wie spät es ist."));
    // In a language that only the implementation was asked for, its own fallback is what people read.
    assert_eq!(tool.display("fr").name, "Clock");
    let zone = tool.setting_texts("zone", "de");
    assert_eq!(zone, FieldTexts::new("Zone der Wanduhr", "Wo die Uhr hängt."));
    assert_eq!(tool.setting_texts("face", "de").label, "Dial");
}

#[test]
fn without_an_implementation_there_are_texts_all_the_same() {
    let tool = registered(None, json!({ "en": { "name": "Wall clock" }, "de": { "icon": "⏰" } }));
    let description = "A tool for tests. Use it when a test says so.";
    assert_eq!(tool.display, Display::new("🔧", "Wall clock", description));
    assert_eq!(tool.display("de"), Display::new("⏰", "Wall clock", description));
    assert_eq!(registered(None, json!({})).display("fr").name, "clock");
}
