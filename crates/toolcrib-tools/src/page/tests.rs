use std::sync::Arc;

use serde_json::json;
use toolcrib_runtime::registry::Catalog;
use toolcrib_runtime::registry::DefinitionFile;
use toolcrib_runtime::testing::{RecordingTool, definition};

use super::*;

const SOURCE: &str = "//! Rolls dice; see [`Dice`].\n//!\n//! Nobody knows before.\n//!\n//! # Limits and errors\n\
    //! - A die has sides.\n//!\n//! # Example\n//! ```sh\n//! toolcrib call dice '{}'\n//! ```\n\nuse x;\n//! no";

fn page_of(change: impl FnOnce(&mut Value)) -> String {
    let mut value = definition("dice");
    change(&mut value);
    let file = DefinitionFile::added("dice.json", value.to_string());
    let tool = Arc::new(RecordingTool::returning("dice", "6"));
    let (catalog, problems) =
        Catalog::build(&[file], &[tool], &toolcrib_runtime::caller::Components::default());
    assert_eq!(problems, []);
    page(catalog.by_id("dice").unwrap(), SOURCE)
}

#[test]
fn a_page_says_everything_in_its_definition_and_its_comment() {
    let page = page_of(|value| {
        value["systemPromptInstructions"] = json!("Never cheat.\nTwice.");
        value["function"]["parameters"]["properties"] = json!({
            "q": {"type": ["integer", "null"], "minimum": 1, "maximum": 6, "description": "a | b\nc"},
            "w": {"anyOf": [{"type": "object"}, {"type": "null"}]},
            "c": {"type": "string", "enum": ["x", "y"]}
        });
        value["function"]["parameters"]["required"] = json!(["q", "c"]);
        value["settingsSchema"] = json!({
            "properties": {"apiKey": {"type": "string", "secret": true, "title": "Key", "description": "Help."}},
            "required": ["apiKey"]
        });
        value["sensitiveArguments"] = json!(["q"]);
        value["approval"] = json!("always");
        value["contextual"] = json!(true);
        value["minimumConfidence"] = json!("MEDIUM");
        value["annotations"] = json!({"destructive": true});
        value["timeoutSeconds"] = json!(7);
        value["maxResultCharacters"] = json!(900);
    });
    insta::assert_snapshot!("full", page);
}

#[test]
fn a_page_of_little_says_so() {
    let page = page_of(|value| value["function"]["parameters"]["properties"] = json!({}));
    assert!(page.contains("\n## Arguments\nNone.\n"), "{page}");
    assert!(page.contains("\n## Settings\nNone.\n"), "{page}");
    assert!(page.contains("Test tool dice.\n\nRolls dice; see `Dice`.\n\nNobody knows before.\n"), "{page}");
    assert!(!page.contains("no\n```") && page.contains("toolcrib call dice"), "{page}");
}
