use serde_json::{Value, json};

use crate::harness::{Running, content, streamed};
use crate::upstream::{Upstream, calls, says};

#[tokio::test]
async fn a_question_is_answered_by_the_provider() {
    let upstream = Upstream::start(vec![says("Hello."), says("Hello again.")]).await;
    let server = Running::with(&upstream).await;
    let answer = server.chat("Hi", json!({})).await.expect("answered");
    assert_eq!(content(&answer), "Hello.");
    assert_eq!(answer["object"], "chat.completion");
    assert_eq!(answer["model"], "openai/m");
    let chunks = server.stream("Hi", json!({})).await.expect("answered");
    assert_eq!(streamed(&chunks), "Hello again.");
    assert_eq!(
        upstream.requests()[0]["messages"].as_array().expect("messages").len(),
        2,
        "policies and the question"
    );
}

#[tokio::test]
async fn tools_are_offered_called_and_recorded_and_the_client_sees_only_the_answer() {
    let upstream =
        Upstream::start(vec![calls("c1", "calculate", r#"{"expression":"6*7"}"#), says("It is 42.")]).await;
    let server = Running::with(&upstream).await;
    let answer = server.chat("What is 6 times 7?", json!({})).await.expect("answered");
    assert_eq!(content(&answer), "It is 42.");
    assert!(answer["choices"][0]["message"].get("tool_calls").is_none_or(Value::is_null));
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    let requests = upstream.requests();
    let names: Vec<_> =
        requests[0]["tools"].as_array().expect("tools").iter().map(|t| &t["function"]["name"]).collect();
    assert_eq!(names, ["calculate", "get_current_time", "read_web_page"]);
    assert_eq!(requests[0]["parallel_tool_calls"], false);
    let result = requests[1]["messages"].as_array().expect("messages").last().expect("a message");
    assert_eq!((&result["role"], &result["tool_call_id"]), (&json!("tool"), &json!("c1")));
    assert!(result["content"].as_str().expect("text").contains("42"));
    let traces = server.last_traces().await;
    assert_eq!(traces.len(), 1);
    assert_eq!((&traces[0]["status"], &traces[0]["tool"]), (&json!("SUCCESS"), &json!("calculate")));
    assert_eq!(server.last_run().await["state"], "completed");
}

#[tokio::test]
async fn events_tell_what_happens_when_they_are_asked_for() {
    let script = || vec![calls("c1", "calculate", r#"{"expression":"1+1"}"#), says("2")];
    let upstream = Upstream::start(script().into_iter().chain(script()).collect()).await;
    let server = Running::with(&upstream).await;
    let chunks = server.stream("1+1?", json!({"toolcrib": {"events": true}})).await.expect("answered");
    let kinds: Vec<_> = chunks.iter().filter_map(|chunk| chunk["toolcrib"]["type"].as_str()).collect();
    assert_eq!(kinds, ["run_started", "call_started", "call_ended", "finished"]);
    assert!(chunks.iter().all(|chunk| chunk["choices"].as_array().is_some_and(|choices| choices.len() == 1)));
    let plain = server.stream("1+1?", json!({})).await.expect("answered");
    assert!(plain.iter().all(|chunk| chunk.get("toolcrib").is_none()));
}

#[tokio::test]
async fn usage_is_shown_only_to_who_asks_for_it() {
    let upstream = Upstream::start(vec![says("a"), says("b")]).await;
    let server = Running::with(&upstream).await;
    let without = server.stream("Hi", json!({})).await.expect("answered");
    assert!(without.iter().all(|chunk| chunk["choices"] != json!([])));
    let with =
        server.stream("Hi", json!({"stream_options": {"include_usage": true}})).await.expect("answered");
    let last = with.last().expect("a chunk");
    assert_eq!(last["choices"], json!([]));
    assert!(last["usage"]["total_tokens"].is_u64());
}

#[tokio::test]
async fn tools_can_be_chosen_or_left_out() {
    let upstream = Upstream::start(vec![says("a"), says("b")]).await;
    let server = Running::with(&upstream).await;
    server.chat("Hi", json!({"toolcrib": {"tools": "none"}})).await.expect("answered");
    server.chat("Hi", json!({"toolcrib": {"tools": ["calculate"]}})).await.expect("answered");
    let requests = upstream.requests();
    assert!(requests[0].get("tools").is_none());
    assert!(requests[0].get("parallel_tool_calls").is_none());
    assert_eq!(requests[1]["tools"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn a_clients_own_tool_is_returned_to_the_client() {
    let arguments = r#"{"a":1}"#;
    let script = || calls("c1", "their_tool", arguments);
    let upstream = Upstream::start(vec![script(), script()]).await;
    let server = Running::with(&upstream).await;
    let tool =
        json!({"type": "function", "function": {"name": "their_tool", "parameters": {"type": "object"}}});
    let answer = server.chat("Go", json!({"tools": [tool]})).await.expect("answered");
    let choice = &answer["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(
        choice["message"]["tool_calls"][0]["function"],
        json!({"name": "their_tool", "arguments": arguments})
    );
    let chunks = server.stream("Go", json!({"tools": [tool]})).await.expect("answered");
    let deltas = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].as_str());
    assert_eq!(deltas.collect::<String>(), arguments);
}

#[tokio::test]
async fn a_conversation_is_kept_and_gone_on_with() {
    let upstream = Upstream::start(vec![
        calls("c1", "calculate", r#"{"expression":"2+2"}"#),
        says("Four."),
        says("You asked for a sum."),
    ])
    .await;
    let server = Running::with(&upstream).await;
    let first = server
        .chat("2+2?", json!({"toolcrib": {"conversation": "new", "component": "chat"}}))
        .await
        .expect("answered");
    let id = first["toolcrib"]["conversation_id"].as_str().expect("an id").to_owned();
    server.chat("What did I ask?", json!({"toolcrib": {"conversation": id}})).await.expect("answered");
    let roles: Vec<_> = upstream.requests()[2]["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .map(|m| m["role"].clone())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant", "user"]);
    let stored = server.get(&format!("/api/v1/conversations/{id}")).await;
    assert_eq!(stored["title"], "2+2?");
    let messages = stored["messages"].as_array().expect("messages");
    let said: Vec<_> = messages.iter().map(|m| m["content"].as_str().expect("text")).collect();
    assert_eq!(said, ["2+2?", "Four.", "What did I ask?", "You asked for a sum."]);
    assert_eq!(messages[1]["calls"][0]["status"], "SUCCESS");
}

#[tokio::test]
async fn a_failed_question_that_is_asked_again_stands_once_in_the_history() {
    let broken = crate::upstream::Reply::Raw(crate::upstream::http(
        "400 Bad Request",
        "application/json",
        b"{\"error\":{\"message\":\"no\"}}",
    ));
    let upstream = Upstream::start(vec![says("Yes?"), broken, says("Done.")]).await;
    let server = Running::with(&upstream).await;
    let first = server.chat("Hello", json!({"toolcrib": {"conversation": "new"}})).await.expect("answered");
    let id = first["toolcrib"]["conversation_id"].as_str().expect("an id").to_owned();
    let again = json!({"toolcrib": {"conversation": id}});
    server.chat("Do it", again.clone()).await.expect_err("the provider refuses");
    server.chat("Do it", again).await.expect("answered");
    let requests = upstream.requests();
    let messages = requests.last().expect("a request")["messages"].as_array().expect("messages");
    assert_eq!(messages.iter().filter(|message| message["content"] == "Do it").count(), 1);
}

#[tokio::test]
async fn the_demo_model_answers_through_the_real_loop_and_says_what_it_is() {
    let server = Running::demo().await;
    let answer =
        server.chat("What is 12.5 % of 80?", json!({"model": "toolcrib/demo"})).await.expect("answered");
    assert!(content(&answer).contains("demo"), "{}", content(&answer));
    assert!(content(&answer).contains("10"), "{}", content(&answer));
    assert_eq!(server.last_traces().await[0]["tool"], "calculate");
}

#[tokio::test]
async fn explain_says_why_a_tool_is_withheld_and_who_can_change_it() {
    let upstream = Upstream::start(vec![]).await;
    let server = Running::with_config(&upstream, "[policy]\ndisabled_tools = [\"calculate\"]\n").await;
    let answer = server.get("/api/v1/tools/explain?tools=calculate,get_current_time").await;
    let tools = answer["tools"].as_array().expect("tools");
    let headline = |index: usize| (tools[index]["id"].clone(), tools[index]["headline"]["code"].clone());
    assert_eq!(headline(0), (json!("calculate"), json!("disabled_by_organization")));
    assert_eq!(headline(1), (json!("get_current_time"), Value::Null));
    assert_eq!(headline(2), (json!("read_web_page"), json!("not_selected")));
    assert_eq!(tools[0]["headline"]["who_can_change_it"], "organization");
    assert_eq!(tools[0]["gates"].as_array().map(Vec::len), Some(14));
}

#[tokio::test]
async fn one_run_at_a_time_adds_to_a_conversation() {
    let upstream = Upstream::start(vec![
        says("Begun."),
        crate::upstream::Reply::StreamThenStall(vec![crate::upstream::text("Thinking")]),
    ])
    .await;
    let server = Running::with(&upstream).await;
    let first = server.chat("One", json!({"toolcrib": {"conversation": "new"}})).await.expect("answered");
    let id = first["toolcrib"]["conversation_id"].as_str().expect("an id").to_owned();
    let more = json!({"toolcrib": {"conversation": id}});
    let (slow, refused) = tokio::join!(
        tokio::time::timeout(std::time::Duration::from_secs(5), server.stream("Two", more.clone())),
        async {
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
            server.chat("Three", more.clone()).await
        }
    );
    assert!(slow.is_err(), "the second run goes on until its client leaves");
    assert_eq!(crate::harness::code(&refused.expect_err("refused")), (409, "conflict"));
}

#[tokio::test]
async fn a_conversation_that_was_stopped_in_a_call_can_go_on() {
    let upstream = Upstream::start(vec![
        calls("c1", "calculate", r#"{"expression":"1+1"}"#),
        crate::upstream::Reply::Stall,
        says("Two, as I was saying."),
    ])
    .await;
    let server = Running::with(&upstream).await;
    let more = json!({"toolcrib": {"conversation": "new"}});
    let left = tokio::time::timeout(std::time::Duration::from_millis(700), server.chat("1+1?", more)).await;
    assert!(left.is_err(), "the provider stalls");
    let run = server.last_run().await;
    let again = json!({"toolcrib": {"conversation": run["conversation_id"]}});
    server.chat("Go on", again).await.expect("answered");
    let requests = upstream.requests();
    let messages = requests.last().expect("a request")["messages"].as_array().expect("messages");
    let roles: Vec<_> = messages.iter().map(|message| message["role"].clone()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "user"]);
}

#[tokio::test]
async fn a_clients_call_that_was_cut_is_not_handed_out_as_complete() {
    use crate::upstream::{Reply, call, finish};
    let cut = || Reply::Stream(vec![call("c1", "their_tool", r#"{"path": "/tmp/impor"#), finish("length")]);
    let upstream = Upstream::start(vec![cut(), cut()]).await;
    let server = Running::with(&upstream).await;
    let tool =
        json!({"type": "function", "function": {"name": "their_tool", "parameters": {"type": "object"}}});
    let chunks = server.stream("Go", json!({"tools": [tool]})).await.expect("answered");
    let reasons: Vec<_> =
        chunks.iter().filter_map(|chunk| chunk["choices"][0]["finish_reason"].as_str()).collect();
    assert_eq!(reasons, ["length"]);
    let whole = server.chat("Go", json!({"tools": [tool]})).await.expect("answered");
    assert_eq!(whole["choices"][0]["finish_reason"], "length");
}
