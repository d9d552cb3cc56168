use std::sync::Arc;

use serde_json::json;
use toolcrib_runtime::model::ToolSpec;

use super::*;

fn wanted(question: &str) -> Vec<(String, Value)> {
    let wishes = wishes(question, &ModelRequest::default());
    wishes.into_iter().map(|wish| (wish.tool, Value::Object(wish.arguments))).collect()
}

fn check(question: &str, tool: &str, arguments: Value) {
    assert_eq!(wanted(question), [(tool.to_owned(), arguments)], "{question}");
}

#[test]
fn addresses_are_read() {
    check("Read https://a.example/x?y=1#z.", "read_web_page", json!({"url": "https://a.example/x?y=1#z"}));
    check("(see http://a.example/b_(c))", "read_web_page", json!({"url": "http://a.example/b_(c)"}));
    check("What does <https://a.example> say, 2+2?", "read_web_page", json!({"url": "https://a.example"}));
    let urls = ["https://a.example", "https://b.example", "https://c.example", "https://d.example"];
    assert_eq!(wanted(&urls.join(" and ")).len(), 3);
    assert_eq!(wanted("https://a.example https://a.example").len(), 1);
    assert!(wanted("the https:// scheme").is_empty());
}

#[test]
fn expressions_are_calculated() {
    let sum =
        |question: &str, expression: &str| check(question, "calculate", json!({"expression": expression}));
    sum("What is 12 * (3 + 4)?", "12 * (3 + 4)");
    sum("2+2", "2+2");
    sum("Compute 1,234.5 × 2.", "1234.5 * 2");
    sum("Wie viel ist 3,5 + 2?", "3.5 + 2");
    sum("what is 15% of 80?", "15% of 80");
    sum("the value of sqrt(2) please", "sqrt(2)");
    sum("(is 7 / 2 right)", "7 / 2");
    sum("-3 + 5", "-3 + 5");
    for question in
        ["I have 3 apples.", "on 2026-11-30", "30.11.2026", "state-of-the-art", "1. first", "a+b", ""]
    {
        assert!(wanted(question).is_empty(), "{question}: {:?}", wanted(question));
    }
}

#[test]
fn the_clock_is_read_for_a_place() {
    check("What time is it?", "get_current_time", json!({}));
    check("What's the date today?", "get_current_time", json!({}));
    check(
        "what time is it in New York right now?",
        "get_current_time",
        json!({"timezone": "America/New_York"}),
    );
    check("Time in Munich", "get_current_time", json!({"timezone": "Europe/Berlin"}));
    check("time in Atlantis?", "get_current_time", json!({"timezone": "Atlantis"}));
}

#[test]
fn searches_notes_and_commands_are_recognized() {
    check("Search the web for tide mills.", "web_search", json!({"query": "tide mills"}));
    check("please remember that I like tea", "save_memory", json!({"content": "I like tea"}));
    check("call my_tool {\"a\": [1]}", "my_tool", json!({"a": [1]}));
    check("Call my_tool", "my_tool", json!({}));
    for question in ["I like search engines", "call me later, please", "searching", "search"] {
        assert!(wanted(question).is_empty(), "{question}");
    }
}

#[test]
fn required_arguments_are_filled_in() {
    let search = ToolSpec {
        name: "web_search".to_owned(),
        description: None,
        parameters: json!({
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "page": {"type": ["integer", "null"]},
                "kind": {"type": "string", "enum": ["all", "news"]}
            },
            "required": ["query", "page", "kind"]
        }),
        strict: Some(true),
    };
    let request = ModelRequest { tools: vec![Arc::new(search)].into(), ..ModelRequest::default() };
    let found = wishes("search for tea", &request);
    assert_eq!(
        Value::Object(found[0].arguments.clone()),
        json!({"query": "tea", "page": null, "kind": "all"})
    );
}
