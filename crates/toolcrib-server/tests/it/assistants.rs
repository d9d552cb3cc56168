use axum::http::Method;
use serde_json::{Value, json};
use toolcrib_server::client::ClientError;

use crate::harness::{Running, code, content};
use crate::upstream::{Upstream, says};

const MINUTES: &str = r#"
schema_version = 1
id = "minutes_assistant"
icon = "🗒️"
name = { en = "Minutes", de = "Protokoll" }
description = { en = "Writes minutes.", de = "Schreibt Protokolle." }
user_text = "notes"
delimiter = "notes"
tools = ["calculate"]
temperature = 0.3
prompt = "Write minutes of <{{delimiter}}>{{#title}}, titled {{title}}{{/title}}."

[[inputs]]
id = "notes"
kind = "long_text"
label = { en = "Notes", de = "Notizen" }

[[inputs]]
id = "title"
kind = "text"
label = { en = "Title", de = "Titel" }
"#;

/// A server with one assistant of its own.
async fn with_minutes(upstream: &Upstream, config: &str) -> Running {
    let data = tempfile::tempdir().expect("a folder");
    let folder = data.path().join("assistants");
    std::fs::create_dir(&folder).expect("made");
    std::fs::write(folder.join("minutes_assistant.toml"), MINUTES).expect("written");
    let variables = [("OPENAI_BASE_URL", upstream.base_url.as_str()), ("OPENAI_API_KEY", "sk-canary")];
    Running::start_on(data, config, &variables).await
}

/// Roles and texts of the messages of a request.
fn messages(request: &Value) -> Vec<(&str, &str)> {
    let messages = request["messages"].as_array().expect("messages").iter();
    messages
        .map(|message| {
            (message["role"].as_str().expect("a role"), message["content"].as_str().expect("a text"))
        })
        .collect()
}

fn tools(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect()
}

#[tokio::test]
async fn an_assistant_is_run_with_its_prompt_its_tools_and_its_temperature() {
    let upstream = Upstream::start(vec![says("Minutes."), says("Minutes."), says("Minutes.")]).await;
    let server = with_minutes(&upstream, "").await;
    let wishes = json!({"component": "minutes_assistant", "inputs": {"title": "Budget"}});
    let answer = server.chat("We met.", json!({"toolcrib": wishes})).await.expect("answered");
    assert_eq!(content(&answer), "Minutes.");
    let own = json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "We met."}]);
    let more = json!({"temperature": 1.0, "messages": own,
        "toolcrib": {"component": "minutes_assistant", "tools": "none"}});
    server.chat("", more).await.expect("answered");
    let requests = upstream.requests();
    let first = messages(&requests[0]);
    assert!(first[0].1.starts_with("Write minutes of <notes>, titled Budget."), "{first:?}");
    assert_eq!(first.last(), Some(&("user", "<notes>\nWe met.\n</notes>")));
    assert_eq!(tools(&requests[0]), ["calculate"]);
    assert_eq!(requests[0]["temperature"], 0.3);
    let second = messages(&requests[1]);
    let expected = [
        ("system", "Write minutes of <notes>."),
        ("system", "Be brief."),
        ("user", "<notes>\nWe met.\n</notes>"),
    ];
    assert_eq!(second, expected);
    assert_eq!((tools(&requests[1]), &requests[1]["temperature"]), (vec![], &json!(1.0)));
    assert_eq!(server.last_run().await["component"], "minutes_assistant");
}

#[tokio::test]
async fn what_an_administrator_says_about_tools_wins_over_the_file() {
    let upstream = Upstream::start(vec![says("a"), says("b")]).await;
    let config = "[policy.default_tools]\nminutes_assistant = [\"get_current_time\"]\n";
    let server = with_minutes(&upstream, config).await;
    let wishes = json!({"toolcrib": {"component": "minutes_assistant"}});
    server.chat("We met.", wishes).await.expect("answered");
    let chosen = json!({"toolcrib": {"component": "minutes_assistant", "tools": ["read_web_page"]}});
    server.chat("We met.", chosen).await.expect("answered");
    let requests = upstream.requests();
    assert_eq!(tools(&requests[0]), ["get_current_time"]);
    assert_eq!(tools(&requests[1]), ["read_web_page"], "the request chooses");
    let explained = server.get("/api/v1/tools/explain?component=minutes_assistant").await;
    let offered: Vec<_> =
        explained["tools"].as_array().expect("tools").iter().map(|t| &t["offered"]).collect();
    assert_eq!(offered, [false, true, false], "{explained:#}");
}

#[tokio::test]
async fn in_a_stored_conversation_the_text_is_kept_as_it_was_sent_and_the_prompt_comes_anew() {
    let upstream = Upstream::start(vec![says("Minutes."), says("Shorter minutes.")]).await;
    let server = with_minutes(&upstream, "").await;
    let first =
        json!({"component": "minutes_assistant", "inputs": {"title": "Budget"}, "conversation": "new"});
    let answer = server.chat("We met.", json!({"toolcrib": first})).await.expect("answered");
    let id = answer["toolcrib"]["conversation_id"].as_str().expect("an id").to_owned();
    let next = json!({"component": "minutes_assistant", "inputs": {"title": "Taxes"}, "conversation": id});
    server.chat("Shorter.", json!({"toolcrib": next})).await.expect("answered");
    let requests = upstream.requests();
    let second = messages(&requests[1]);
    assert!(second[0].1.starts_with("Write minutes of <notes>, titled Taxes."), "{second:?}");
    let rest = [("user", "<notes>\nWe met.\n</notes>"), ("assistant", "Minutes."), ("user", "Shorter.")];
    assert_eq!(second[1..], rest);
    let stored = server.get(&format!("/api/v1/conversations/{id}")).await;
    assert_eq!((&stored["title"], &stored["messages"][0]["content"]), (&json!("We met."), &json!("We met.")));
}

#[tokio::test]
async fn every_wrong_input_is_told_in_one_answer() {
    let upstream = Upstream::start(vec![]).await;
    let server = with_minutes(&upstream, "").await;
    let refused = async |wishes: Value| {
        let error = server.chat("We met.", json!({"toolcrib": wishes})).await.expect_err("refused");
        assert_eq!(code(&error), (400, "invalid_request"), "{error}");
        error.to_string()
    };
    let several = refused(json!({"component": "translation_assistant",
        "inputs": {"target_langage": "German", "formality": "formel", "notes": 7}}))
    .await;
    for part in [
        "`toolcrib.inputs.target_langage`: ",
        "did you mean \"target_language\"?",
        "`toolcrib.inputs.target_language`: \"Target language\" is required",
        "`toolcrib.inputs.formality`: ",
        "did you mean \"formal\"?",
        "`toolcrib.inputs.notes`: the number 7; true or false is expected",
    ] {
        assert!(several.contains(part), "{part}: {several}");
    }
    let unknown = refused(json!({"component": "minute_assistant"})).await;
    assert!(unknown.contains("did you mean \"minutes_assistant\"?"), "{unknown}");
    let door = refused(json!({"component": "chat", "inputs": {"title": "x"}})).await;
    assert!(door.contains("name an assistant"), "{door}");
    let shape = refused(json!({"component": "minutes_assistant", "inputs": "x"})).await;
    assert!(shape.contains("an object of values"), "{shape}");
    let empty = server.chat("  ", json!({"toolcrib": {"component": "minutes_assistant"}})).await;
    assert!(empty.is_err_and(|error| error.to_string().contains("the user message is empty")));
    assert_eq!(upstream.requests().len(), 0, "no model was asked");
}

#[tokio::test]
async fn headers_name_an_assistant_and_its_inputs() {
    let upstream = Upstream::start(vec![says("Minutes.")]).await;
    let server = with_minutes(&upstream, "").await;
    let headers =
        [("x-toolcrib-component", "minutes_assistant"), ("x-toolcrib-inputs", r#"{"title": "B\u00fcro"}"#)];
    let body = json!({"model": "openai/m", "messages": [{"role": "user", "content": "We met."}]});
    server
        .connection()
        .send(Method::POST, "/v1/chat/completions", &headers, Some(&body))
        .await
        .expect("answered");
    let requests = upstream.requests();
    assert!(messages(&requests[0])[0].1.starts_with("Write minutes of <notes>, titled Büro."));
}

#[tokio::test]
async fn assistants_are_listed_and_shown_in_the_callers_language() {
    let upstream = Upstream::start(vec![]).await;
    let server = with_minutes(&upstream, "").await;
    let list = server.get("/api/v1/assistants").await;
    assert_eq!((list["assistants"].as_array().map(Vec::len), &list["problems"]), (Some(14), &json!([])));
    let german = [("accept-language", "de-CH,de;q=0.9")];
    let reply = server.connection().send(Method::GET, "/api/v1/assistants/minutes", &german, None).await;
    let shown = reply.expect("found").json().await.expect("JSON");
    let expected = json!({
        "id": "minutes_assistant", "icon": "🗒️", "name": "Protokoll", "description": "Schreibt Protokolle.",
        "tools": ["calculate"], "temperature": 0.3, "needs": [], "user_text": "notes",
        "inputs": [
            {"id": "notes", "kind": "long_text", "label": "Notizen", "help": null, "required": false,
                "default": null, "max_length": 20000},
            {"id": "title", "kind": "text", "label": "Titel", "help": null, "required": false,
                "default": null, "max_length": 200},
        ],
    });
    assert_eq!(shown, expected);
    let unknown = server.connection().json(Method::GET, "/api/v1/assistants/minuts", None).await;
    match unknown {
        Err(ClientError::Refused { status: 404, message, .. }) => {
            assert!(message.contains("did you mean \"minutes_assistant\"?"), "{message}");
        }
        other => panic!("not a refusal: {other:?}"),
    }
}
