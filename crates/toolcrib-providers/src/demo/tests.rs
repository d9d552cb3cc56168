use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolcrib_runtime::message::{AssistantMessage, AssistantPart, ToolResult};
use toolcrib_runtime::model::{ToolChoice, ToolSpec};

use super::*;

const INTRODUCTION: &str = "I am Toolcrib's demo model";

fn tool(name: &str) -> Arc<ToolSpec> {
    let parameters = json!({"type": "object"});
    Arc::new(ToolSpec { name: name.to_owned(), description: None, parameters, strict: None })
}

fn request(messages: Vec<Message>) -> ModelRequest {
    let names = ["read_web_page", "calculate", "get_current_time", "web_search"];
    ModelRequest { messages, tools: names.map(tool).into(), ..ModelRequest::default() }
}

/// The conversation after `question` led to the given calls and results.
fn answered(question: &str, results: &[(&str, Value, &str, bool)]) -> Vec<Message> {
    let mut messages = vec![Message::user(question)];
    for (number, (tool, arguments, text, is_error)) in results.iter().enumerate() {
        let call = ToolCall {
            id: format!("call_demo_{}", number + 1),
            name: (*tool).to_owned(),
            arguments: arguments.to_string(),
            opaque: Map::new(),
        };
        let result = ToolResult { call_id: call.id.clone(), text: (*text).to_owned(), is_error: *is_error };
        let parts = vec![AssistantPart::Call(call)];
        messages.push(Message::Assistant(AssistantMessage { parts, opaque: Map::new() }));
        messages.push(Message::ToolResult(result));
    }
    messages
}

fn check_answer(question: &str, tool: &str, arguments: Value, result: &str, expected: &str) {
    let reply = reply(&request(answered(question, &[(tool, arguments, result, false)])));
    assert_eq!(reply, Reply { text: expected.to_owned(), calls: Vec::new() });
}

#[test]
fn the_first_answer_says_that_this_is_a_demo_and_later_ones_do_not() {
    let first = reply(&request(vec![Message::user("Hello")]));
    assert!(
        first.text.starts_with(INTRODUCTION) && first.text.contains("What is 12 * (3 + 4)?"),
        "{}",
        first.text
    );
    let messages = vec![
        Message::user("Hello"),
        Message::Assistant(AssistantMessage::from_text(first.text)),
        Message::user("Hello again"),
    ];
    assert!(!reply(&request(messages)).text.contains(INTRODUCTION));
}

#[test]
fn a_question_is_answered_by_a_call() {
    let reply = reply(&request(vec![Message::user("What is 6*7?")]));
    assert!(
        reply.text.starts_with(INTRODUCTION) && reply.text.ends_with("I calculate 6*7."),
        "{}",
        reply.text
    );
    assert_eq!(reply.calls.len(), 1);
    assert_eq!((reply.calls[0].id.as_str(), reply.calls[0].name.as_str()), ("call_demo_1", "calculate"));
    assert_eq!(reply.calls[0].arguments, r#"{"expression":"6*7"}"#);
}

#[test]
fn several_pages_are_read_one_after_the_other_unless_parallel_calls_are_allowed() {
    let question = "Compare https://a.example and https://b.example";
    let mut asked = request(vec![Message::user(question)]);
    assert_eq!(reply(&asked).calls.len(), 1);
    asked.parallel_calls = true;
    assert_eq!(reply(&asked).calls.len(), 2);
    let page = r#"{"final_url":"https://a.example/","content":{"title":"A","text":"About A."}}"#;
    let second = reply(&request(answered(
        question,
        &[("read_web_page", json!({"url": "https://a.example"}), page, false)],
    )));
    assert_eq!(second.calls[0].arguments, r#"{"url":"https://b.example"}"#);
    assert_eq!(second.calls[0].id, "call_demo_2");
}

#[test]
fn pages_are_quoted_with_their_title() {
    let page = json!({
        "url": "https://a.example/tides.html", "final_url": "https://a.example/tides", "status": "complete",
        "content": {"title": "Tides", "text": "Tides come twice. The mill stands by the river. It rains."}
    });
    let framed = format!("<<<untrusted content {{note}}>>>\n{page}\n<<<end>>>");
    let question = "Read https://a.example/tides.html and tell me what it says about the mill.";
    let arguments = json!({"url": "https://a.example/tides.html"});
    let expected = "From “Tides” (https://a.example/tides): The mill stands by the river.";
    check_answer(question, "read_web_page", arguments, &framed, expected);
}

#[test]
fn sums_and_times_are_told() {
    let sum = json!({"expression": "6*7", "result": "42"}).to_string();
    check_answer("6*7", "calculate", json!({"expression": "6*7"}), &sum, "6*7 = 42");
    let time = json!({"timezone": "Asia/Tokyo", "iso": "2026-11-30T21:04:05+09:00", "weekday": "Monday"})
        .to_string();
    let expected = "It is 21:04 on Monday, 2026-11-30 (Asia/Tokyo).";
    check_answer("Time in Tokyo", "get_current_time", json!({"timezone": "Asia/Tokyo"}), &time, expected);
    let expected = "The tool `calculate` answered: forty-two";
    check_answer("6*7", "calculate", json!({"expression": "6*7"}), "forty-two", expected);
}

#[test]
fn failures_are_explained_in_the_tools_words() {
    let arguments = json!({"url": "http://10.0.0.1"});
    let results = [("read_web_page", arguments, "Blocked: private addresses cannot be read.", true)];
    let reply = reply(&request(answered("Read http://10.0.0.1", &results)));
    assert_eq!(
        reply.text,
        "The tool `read_web_page` did not succeed. It said: Blocked: private addresses cannot be read."
    );
}

#[test]
fn a_missing_tool_is_named() {
    let mut asked = request(vec![Message::user("Read https://a.example")]);
    asked.tools = vec![tool("calculate")].into();
    let without = reply(&asked);
    assert!(without.calls.is_empty() && without.text.contains("`read_web_page`"), "{}", without.text);
    asked.tools = vec![tool("read_web_page")].into();
    asked.tool_choice = ToolChoice::None;
    assert!(reply(&asked).calls.is_empty());
}

#[test]
fn results_are_used_when_tools_are_withheld() {
    let results = [("calculate", json!({"expression": "6*7"}), r#"{"expression":"6*7","result":42}"#, false)];
    let mut asked = request(answered("6*7", &results));
    asked.tools = Vec::new().into();
    assert_eq!(reply(&asked).text, "6*7 = 42");
}

#[tokio::test]
async fn answers_come_in_small_pieces_with_usage() {
    let model = DemoModel::new();
    let ask = || async {
        let stream = model.ask(request(vec![Message::user("What is 6*7?")])).await.unwrap();
        stream.map(Result::unwrap).collect::<Vec<_>>().await
    };
    let events = ask().await;
    assert_eq!(events, ask().await, "the same request gets the same answer");
    let texts = events.iter().filter(|event| matches!(event, ModelEvent::Text(_))).count();
    assert!(texts > 5, "{events:?}");
    let [.., ModelEvent::Call(call), ModelEvent::Usage(usage), ModelEvent::Finished(FinishReason::ToolCalls)] =
        events.as_slice()
    else {
        panic!("{events:?}")
    };
    assert_eq!(call.name, "calculate");
    assert!(usage.input_tokens > 10 && usage.output_tokens > 10);
}

proptest! {
    #[test]
    fn no_message_is_too_odd(
        question in "(http://|call |time in |search |[0-9(),.+*/ -]|what time|\\PC){0,12}",
        result in "\\PC{0,40}",
    ) {
        let first = reply(&request(vec![Message::user(question.as_str())]));
        prop_assert!(!first.text.is_empty());
        for call in first.calls {
            let arguments: Map<String, Value> = serde_json::from_str(&call.arguments).unwrap();
            let results = [(call.name.as_str(), Value::Object(arguments), result.as_str(), false)];
            prop_assert!(!reply(&request(answered(&question, &results))).text.is_empty());
        }
    }
}
