//! Calls that wait for a person: asked, answered, carried on, given up, expired.

use std::path::Path;
use std::time::Duration;

use axum::http::Method;
use futures_util::StreamExt as _;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use toolcrib_server::client::ClientError;
use toolcrib_storage::record::{KeyHash, NewKey, Owner, Role};
use toolcrib_storage::sqlite::{OpenOptions, SqliteStore};
use toolcrib_storage::store::{AccountStore, ApprovalStore, KeyStore, Store};

use crate::harness::{Running, code, content, streamed};
use crate::upstream::{Reply, Upstream, call, calls, finish, says};

const SUM: &str = r#"{"expression": "2 + 3"}"#;

/// The built-in definition of a tool with something changed, as one that takes its place in this data folder.
fn replace(data: &Path, tool: &str, change: impl FnOnce(&mut Value)) {
    let egress = toolcrib_egress::Egress::new(toolcrib_egress::EgressSettings::default()).expect("set up");
    let mut definitions = toolcrib_tools::builtin::builtin(&egress).definitions.into_iter();
    let file = definitions.find(|file| file.file.contains(tool)).expect("built in");
    let mut definition: Value = serde_json::from_str(file.text.as_deref().expect("readable")).expect("JSON");
    definition["replaces"] = json!(tool);
    change(&mut definition);
    std::fs::create_dir_all(data.join("tools")).expect("made");
    std::fs::write(data.join(format!("tools/{tool}.json")), definition.to_string()).expect("written");
}

/// A data folder in which `calculate` asks before every call.
fn asking() -> TempDir {
    let data = tempfile::tempdir().expect("a folder");
    replace(data.path(), "calculate", |definition| definition["approval"] = json!("always"));
    data
}

async fn start(data: TempDir, upstream: &Upstream, config: &str) -> Running {
    let variables = [("OPENAI_BASE_URL", upstream.base_url.as_str()), ("OPENAI_API_KEY", "sk-canary")];
    Running::start_on(data, config, &variables).await
}

/// A server on whose data folder `calculate` asks.
async fn asked(script: Vec<Reply>) -> (Upstream, Running) {
    let upstream = Upstream::start(script).await;
    let server = start(asking(), &upstream, "").await;
    (upstream, server)
}

/// The same server program started anew on its folder; the first key stays the key.
async fn restarted(server: Running, upstream: &Upstream, config: &str) -> Running {
    let key = server.key.clone();
    let data = server.stop().await;
    let mut again = start(data, upstream, config).await;
    again.key = key;
    again
}

async fn answer(server: &Running, approval: &str, body: Value) -> Result<Value, ClientError> {
    let path = format!("/api/v1/approvals/{approval}");
    server.connection().json(Method::POST, &path, Some(&body)).await
}

async fn cancel(server: &Running, run: &str) -> Value {
    let path = format!("/api/v1/runs/{run}/cancel");
    server.connection().json(Method::POST, &path, None).await.expect("answered")
}

/// The ids of the only approval of an answer and of its run.
fn waiting(answer: &Value) -> (String, String) {
    let requests = answer["toolcrib"]["requires_approval"].as_array().expect("a list");
    assert_eq!(requests.len(), 1, "{answer:#}");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    (text(&requests[0]["id"]), text(&requests[0]["run_id"]))
}

fn time(value: &Value) -> Timestamp {
    value.as_str().expect("text").parse().expect("a time")
}

async fn events_with(server: &Running, path: &str, headers: &[(&'static str, &str)]) -> Vec<Value> {
    let reply = server.connection().send(Method::GET, path, headers, None).await.expect("found");
    let events: Vec<_> = reply.events().collect().await;
    events.into_iter().map(|event| event.expect("an event")).collect()
}

/// The events of a run to its end or next pause, once it goes on.
async fn follow(server: &Running, run: &str) -> Vec<Value> {
    for _ in 0..200 {
        let events = events_with(server, &format!("/api/v1/runs/{run}/events"), &[]).await;
        if events.last().is_some_and(|event| event["type"] != "waiting" && event["type"] != "running") {
            return events;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the run {run} did not go on");
}

/// The run, once it is in this state.
async fn in_state(server: &Running, run: &str, state: &str) -> Value {
    let mut last = Value::Null;
    for _ in 0..400 {
        last = server.get(&format!("/api/v1/runs/{run}")).await;
        if last["state"] == state {
            return last;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the run did not become {state}: {last:#}");
}

async fn traces(server: &Running, run: &str) -> Vec<Value> {
    let answer = server.get(&format!("/api/v1/runs/{run}/traces")).await;
    answer["traces"].as_array().expect("a list").clone()
}

fn text_of(events: &[Value]) -> String {
    events.iter().filter(|event| event["type"] == "text").filter_map(|event| event["text"].as_str()).collect()
}

/// What the model was last told about a call.
fn last_result(upstream: &Upstream) -> String {
    let requests = upstream.requests();
    let messages = requests.last().expect("a request")["messages"].as_array().expect("a list").clone();
    messages.last().expect("a message")["content"].as_str().expect("text").to_owned()
}

#[tokio::test]
async fn every_kind_of_answer_says_what_is_asked_and_where_to_answer() {
    let script = (0..4).map(|_| calls("c1", "calculate", SUM)).collect();
    let (_upstream, server) = asked(script).await;
    for events in [true, false] {
        let whole = server.chat("Add.", json!({"toolcrib": {"events": events}})).await.expect("answered");
        let request = &whole["toolcrib"]["requires_approval"][0];
        assert_eq!(request["arguments"], json!({"expression": "2 + 3"}));
        assert_eq!(
            request["endpoint"],
            json!(format!("/api/v1/approvals/{}", request["id"].as_str().expect("id")))
        );
        assert_eq!(request["reason"], "the tool asks before every call");
        assert_eq!(whole["choices"][0]["finish_reason"], "stop");
        assert!(content(&whole).contains(request["endpoint"].as_str().expect("text")), "{whole:#}");
        let told = whole["toolcrib"]["events"].as_array().map(Vec::as_slice).unwrap_or_default();
        assert_eq!(told.last().map(|event| &event["type"]), events.then_some(&json!("paused")), "{whole:#}");
        assert_eq!(told.iter().any(|event| event["type"] == "call_held"), events);

        let chunks = server.stream("Add.", json!({"toolcrib": {"events": events}})).await.expect("streamed");
        let paused = chunks.iter().find(|chunk| chunk["toolcrib"]["type"] == "paused");
        assert_eq!(paused.is_some(), events);
        if let Some(paused) = paused {
            let request = &paused["toolcrib"]["requires_approval"][0];
            assert_eq!(request["arguments"], json!({"expression": "2 + 3"}));
            assert!(streamed(&chunks).is_empty(), "what events tell is not told again");
        } else {
            let run = server.last_run().await["id"].as_str().expect("an id").to_owned();
            let asked = server.get(&format!("/api/v1/approvals?run={run}&waiting=true")).await;
            let endpoint = asked["approvals"][0]["endpoint"].as_str().expect("text").to_owned();
            let text = streamed(&chunks);
            assert!(text.contains(&endpoint) && text.contains(r#"{"expression":"2 + 3"}"#), "{text}");
        }
        assert!(chunks.iter().any(|chunk| chunk["choices"][0]["finish_reason"] == "stop"));
        assert_eq!(server.last_run().await["state"], "waiting");
    }
}

#[tokio::test]
async fn allowed_once_the_run_goes_on_in_the_background_and_can_be_followed_from_any_place() {
    let script = vec![calls("c1", "calculate", SUM), says("It is 5.")];
    let (upstream, server) = asked(script).await;
    let asked = server.chat("Add.", json!({"toolcrib": {"conversation": "new"}})).await.expect("asked");
    let (approval, run) = waiting(&asked);
    let pending = traces(&server, &run).await;
    assert_eq!((&pending[0]["status"], &pending[0]["executed"]), (&json!("PENDING"), &json!(false)));
    let taken = answer(&server, &approval, json!({"answer": "allow_once"})).await.expect("taken");
    assert_eq!((&taken["run_goes_on"], &taken["approval"]["answer"]), (&json!(true), &json!("allow_once")));
    assert_eq!(taken["events"], json!(format!("/api/v1/runs/{run}/events")));

    let events = follow(&server, &run).await;
    let types: Vec<_> = events.iter().map(|event| event["type"].as_str().expect("text")).collect();
    assert_eq!((types.first(), types.last()), (Some(&"run_started"), Some(&"finished")), "{events:#?}");
    assert!(events.iter().any(|event| event["type"] == "call_ended" && event["status"] == "SUCCESS"));
    assert_eq!(text_of(&events).trim(), "It is 5.");
    let path = format!("/api/v1/runs/{run}/events");
    let behind = events_with(&server, &format!("{path}?after=2"), &[]).await;
    assert_eq!(behind, events[2..]);
    let behind = events_with(&server, &path, &[("last-event-id", "3")]).await;
    assert_eq!(behind, events[3..]);
    assert!(last_result(&upstream).contains('5'));

    let again = answer(&server, &approval, json!({"answer": "deny"})).await.expect_err("refused");
    assert_eq!(code(&again), (409, "already_answered"));
    assert!(again.to_string().contains("allow_once"), "{again}");

    // Another process knows the run from the store alone.
    let server = restarted(server, &upstream, "").await;
    let told = events_with(&server, &path, &[]).await;
    assert_eq!(told.first().map(|event| &event["type"]), Some(&json!("run_started")));
    assert_eq!(told.last().map(|event| &event["state"]), Some(&json!("completed")), "{told:#?}");
    assert!(text_of(&told).contains("It is 5."), "{told:#?}");
    let end = events_with(&server, &format!("{path}?after=1000"), &[]).await;
    assert_eq!(end, told[told.len() - 1..], "the end is told in any case");
    let wrong = server.connection().send(Method::GET, &path, &[("last-event-id", "x")], None).await;
    assert_eq!(code(&wrong.err().expect("refused")), (400, "invalid_request"));
}

#[tokio::test]
async fn denied_with_a_note_the_model_reads_why() {
    let (upstream, server) = asked(vec![calls("c1", "calculate", SUM), says("As you wish.")]).await;
    let (approval, run) = waiting(&server.chat("Add.", json!({})).await.expect("asked"));
    answer(&server, &approval, json!({"answer": "deny", "note": "Do it in your head."}))
        .await
        .expect("taken");
    let events = follow(&server, &run).await;
    assert_eq!(text_of(&events).trim(), "As you wish.");
    assert!(last_result(&upstream).contains("Do it in your head."));
    let traces = traces(&server, &run).await;
    assert_eq!((&traces[0]["status"], &traces[0]["executed"]), (&json!("BLOCKED"), &json!(false)));
}

#[tokio::test]
async fn edited_arguments_are_checked_and_then_sent() {
    let (upstream, server) = asked(vec![calls("c1", "calculate", SUM), says("Done.")]).await;
    let (approval, run) = waiting(&server.chat("Add.", json!({})).await.expect("asked"));
    let wrong = json!({"answer": "edit", "arguments": {"expression": {"of": 7}, "expresion": ""}});
    let refused = answer(&server, &approval, wrong).await.expect_err("refused");
    assert_eq!(code(&refused), (400, "invalid_request"));
    let told = refused.to_string();
    assert!(told.contains("/expression") && told.contains("did you mean \"expression\"?"), "{told}");
    let still = server.get(&format!("/api/v1/approvals/{approval}")).await;
    assert_eq!(still["state"], "waiting");

    let edited = json!({"answer": "edit", "arguments": {"expression": "7 * 6"}});
    answer(&server, &approval, edited).await.expect("taken");
    follow(&server, &run).await;
    assert!(last_result(&upstream).contains("42"), "{}", last_result(&upstream));
    let traces = traces(&server, &run).await;
    assert_eq!(traces[0]["arguments"], json!({"expression": "7 * 6"}));
}

#[tokio::test]
async fn what_a_conversation_allows_is_not_asked_again_in_it_and_a_deny_rule_still_wins() {
    let script = vec![
        calls("c1", "calculate", SUM),
        says("5."),
        calls("c2", "calculate", r#"{"expression": "4 + 4"}"#),
        says("8."),
        calls("c3", "calculate", SUM),
        calls("c4", "calculate", r#"{"expression": "1 + 1"}"#),
        says("Not allowed."),
    ];
    let (upstream, server) = asked(script).await;
    let asked = server.chat("Add.", json!({"toolcrib": {"conversation": "new"}})).await.expect("asked");
    let (approval, run) = waiting(&asked);
    let conversation = asked["toolcrib"]["conversation_id"].clone();
    answer(&server, &approval, json!({"answer": "allow_conversation"})).await.expect("taken");
    follow(&server, &run).await;
    let here = json!({"toolcrib": {"conversation": conversation}});
    let second = server.chat("Add more.", here.clone()).await.expect("answered");
    assert_eq!(content(&second), "8.");
    let other = server.chat("Add.", json!({"toolcrib": {"conversation": "new"}})).await.expect("asked");
    waiting(&other);

    let rule = "[[policy.approval]]\ntools = \"calculate\"\nargument = \"/expression\"\nvalue = \"*1 + 1*\"\n\
                answer = \"deny\"\n";
    let server = restarted(server, &upstream, rule).await;
    let denied = server.chat("Add ones.", here).await.expect("answered");
    assert_eq!(content(&denied), "Not allowed.");
    assert_eq!(server.last_traces().await[0]["status"], "BLOCKED");
    assert!(last_result(&upstream).contains("rule"), "{}", last_result(&upstream));
}

#[tokio::test]
async fn an_approval_is_its_owners_alone() {
    let data = asking();
    let secret = "tc_somebody_else_0123456789abcdef0123456789";
    {
        let store = SqliteStore::open(data.path(), OpenOptions::new("any", Timestamp::UNIX_EPOCH))
            .await
            .expect("opened");
        let now = Timestamp::UNIX_EPOCH;
        let other = Owner::new("elsewhere".to_owned(), "somebody".to_owned());
        store.add_workspace(&other.workspace_id, "Elsewhere", now).await.expect("added");
        store.add_user(&other.user_id, "Somebody", now).await.expect("added");
        store.set_role(&other, Role::Owner).await.expect("a member");
        let key = NewKey {
            id: "key_other".to_owned(),
            owner: other,
            name: "other".to_owned(),
            prefix: "tc_some".to_owned(),
            hash: KeyHash(Sha256::digest(secret.as_bytes()).into()),
            scopes: String::new(),
            created_at: now,
            expires_at: None,
        };
        store.insert_key(key).await.expect("stored");
        store.close().await;
    }
    let upstream = Upstream::start(vec![calls("c1", "calculate", SUM)]).await;
    let server = start(data, &upstream, "").await;
    // The folder has a key already, so that no first one was made: ask as a program of the same user.
    let mine = toolcrib_server::client::Connection::to_running(server.data.path()).await.expect("found");
    let body = json!({"model": "openai/m", "messages": [{"role": "user", "content": "Add."}]});
    let asked = mine.json(Method::POST, "/v1/chat/completions", Some(&body)).await.expect("asked");
    let (approval, run) = waiting(&asked);
    let theirs = server.connection_with(Some(secret));
    assert!(theirs.json(Method::GET, "/api/v1/approvals", None).await.is_ok(), "the key is good");
    let allow = json!({"answer": "allow_once"});
    for (method, path, body) in [
        (Method::GET, format!("/api/v1/approvals/{approval}"), None),
        (Method::POST, format!("/api/v1/approvals/{approval}"), Some(&allow)),
        (Method::GET, format!("/api/v1/runs/{run}/events"), None),
        (Method::GET, format!("/api/v1/runs/{run}/traces"), None),
        (Method::POST, format!("/api/v1/runs/{run}/cancel"), None),
    ] {
        let refused = theirs.json(method, &path, body).await.expect_err("hidden");
        assert_eq!(code(&refused), (404, "not_found"), "{path}");
    }
    let still = mine.json(Method::GET, &format!("/api/v1/approvals/{approval}"), None).await.expect("there");
    assert_eq!(still["state"], "waiting");
}

#[tokio::test]
async fn the_rest_of_the_round_runs_before_and_a_reload_shows_everything_in_order() {
    let mut second = call("c2", "get_current_time", "{}");
    second["choices"][0]["delta"]["tool_calls"][0]["index"] = json!(1);
    let round = vec![
        crate::upstream::text("Let me see."),
        call("c1", "calculate", SUM),
        second,
        finish("tool_calls"),
    ];
    let script = vec![Reply::Stream(round), says("It is 5."), says("You are welcome.")];
    let (_upstream, server) = asked(script).await;
    let asked = server.chat("Add.", json!({"toolcrib": {"conversation": "new"}})).await.expect("asked");
    let (approval, run) = waiting(&asked);
    let of_round = traces(&server, &run).await;
    let states: Vec<_> = of_round.iter().map(|trace| (&trace["tool"], &trace["executed"])).collect();
    assert_eq!(states, [(&json!("calculate"), &json!(false)), (&json!("get_current_time"), &json!(true))]);

    let id = asked["toolcrib"]["conversation_id"].as_str().expect("an id").to_owned();
    let path = format!("/api/v1/conversations/{id}");
    let shown = server.get(&path).await;
    let last = &shown["messages"][1];
    assert_eq!((&last["state"], &last["content"]), (&json!("waiting"), &json!("Let me see.")));
    assert_eq!(last["requires_approval"][0]["id"], json!(approval));
    let told = events_with(&server, &format!("/api/v1/runs/{run}/events"), &[]).await;
    assert_eq!(text_of(&told), "Let me see.");
    assert_eq!(told.last().expect("an end")["requires_approval"][0]["id"], json!(approval));

    answer(&server, &approval, json!({"answer": "allow_once"})).await.expect("taken");
    follow(&server, &run).await;
    server.chat("Thanks.", json!({"toolcrib": {"conversation": id}})).await.expect("answered");
    let shown = server.get(&path).await;
    let messages: Vec<_> = shown["messages"].as_array().expect("a list").iter().collect();
    let texts: Vec<_> = messages.iter().map(|message| message["content"].as_str().expect("text")).collect();
    assert_eq!(texts, ["Add.", "Let me see.\n\nIt is 5.", "Thanks.", "You are welcome."]);
    assert_eq!(messages[1]["requires_approval"], json!([]));
    let of_answer: Vec<_> =
        messages[1]["calls"].as_array().expect("a list").iter().map(|c| &c["status"]).collect();
    assert_eq!(of_answer, ["SUCCESS", "SUCCESS"]);
}

#[tokio::test]
async fn a_run_that_waits_outlives_the_server_and_what_changed_meanwhile_counts() {
    let script = vec![
        calls("c1", "calculate", SUM),
        calls("c1", "calculate", SUM),
        says("After the restart."),
        says("Without the tool."),
    ];
    let (upstream, server) = asked(script).await;
    let new = json!({"toolcrib": {"conversation": "new"}});
    let (first, first_run) = waiting(&server.chat("Add.", new.clone()).await.expect("asked"));
    let (second, second_run) = waiting(&server.chat("Add.", new).await.expect("asked"));
    let server = restarted(server, &upstream, "").await;
    answer(&server, &first, json!({"answer": "allow_once"})).await.expect("taken");
    let events = follow(&server, &first_run).await;
    assert_eq!(text_of(&events).trim(), "After the restart.");
    in_state(&server, &first_run, "completed").await;

    let server = restarted(server, &upstream, "[policy]\ndisabled_tools = [\"calculate\"]\n").await;
    answer(&server, &second, json!({"answer": "allow_once"})).await.expect("taken");
    follow(&server, &second_run).await;
    in_state(&server, &second_run, "completed").await;
    let blocked = traces(&server, &second_run).await;
    assert_eq!((&blocked[0]["status"], &blocked[0]["executed"]), (&json!("BLOCKED"), &json!(false)));
}

#[tokio::test]
async fn what_nobody_answers_in_time_counts_as_refused_and_the_run_ends() {
    let (upstream, server) = asked(vec![calls("c1", "calculate", SUM), says("Then not.")]).await;
    let asked = server.chat("Add.", json!({})).await.expect("asked");
    let (approval, run) = waiting(&asked);
    let begun = time(&asked["toolcrib"]["requires_approval"][0]["created_at"]);
    let key = server.key.clone();
    let data = server.stop().await;
    {
        let store = SqliteStore::open(data.path(), OpenOptions::new("any", Timestamp::UNIX_EPOCH))
            .await
            .expect("opened");
        let later = begun + SignedDuration::from_hours(23);
        assert!(store.expire_approvals(later).await.expect("looked").is_empty(), "24 hours are the default");
        let later = begun + SignedDuration::from_hours(25);
        assert_eq!(store.expire_approvals(later).await.expect("expired"), std::slice::from_ref(&run));
        store.close().await;
    }
    let mut server = start(data, &upstream, "").await;
    server.key = key;
    in_state(&server, &run, "completed").await;
    assert!(last_result(&upstream).contains("nobody answered in time"), "{}", last_result(&upstream));
    let late = answer(&server, &approval, json!({"answer": "allow_once"})).await.expect_err("refused");
    assert_eq!(code(&late), (409, "already_answered"));
    assert_eq!(traces(&server, &run).await[0]["status"], "BLOCKED");
}

#[tokio::test]
async fn hours_to_answer_are_configured() {
    let upstream = Upstream::start(vec![calls("c1", "calculate", SUM)]).await;
    let server = start(asking(), &upstream, "[limits]\napproval_hours = 2\n").await;
    let asked = server.chat("Add.", json!({})).await.expect("asked");
    let request = &asked["toolcrib"]["requires_approval"][0];
    let waits = time(&request["created_at"]).duration_until(time(&request["expires_at"]));
    assert_eq!(waits, SignedDuration::from_hours(2));
}

#[tokio::test]
async fn a_new_message_gives_the_waiting_run_up() {
    let (upstream, server) = asked(vec![calls("c1", "calculate", SUM), says("Let us talk.")]).await;
    let asked = server.chat("Add.", json!({"toolcrib": {"conversation": "new"}})).await.expect("asked");
    let (approval, run) = waiting(&asked);
    let id = asked["toolcrib"]["conversation_id"].clone();
    let next = server.chat("Never mind.", json!({"toolcrib": {"conversation": id}})).await.expect("answered");
    assert_eq!(content(&next), "Let us talk.");
    in_state(&server, &run, "cancelled").await;
    let late = answer(&server, &approval, json!({"answer": "allow_once"})).await.expect_err("refused");
    assert_eq!(code(&late), (409, "already_answered"));
    // The provider sees a history in which every call has a result.
    let sent = upstream.requests().last().expect("a request")["messages"].clone();
    let roles: Vec<_> = sent.as_array().expect("a list").iter().map(|message| &message["role"]).collect();
    assert!(roles.ends_with(&[&json!("assistant"), &json!("tool"), &json!("user")]), "{roles:?}");
}

#[tokio::test]
async fn runs_are_cancelled_while_they_run_wait_and_not_after_they_ended() {
    let script =
        vec![calls("c1", "calculate", SUM), calls("c1", "calculate", SUM), Reply::Stall, says("Hello.")];
    let (upstream, server) = asked(script).await;
    let (approval, run) = waiting(&server.chat("Add.", json!({})).await.expect("asked"));
    assert_eq!(cancel(&server, &run).await["stopped"], true);
    assert_eq!(in_state(&server, &run, "cancelled").await["reason"], "the run was cancelled");
    let late = answer(&server, &approval, json!({"answer": "allow_once"})).await.expect_err("refused");
    assert_eq!(code(&late), (409, "already_answered"));
    assert_eq!(cancel(&server, &run).await["stopped"], false);

    // One whose events are still kept waits as well, and is not taken for one that goes on.
    let background = json!({"toolcrib": {"background": true}});
    let (_, run) = waiting(&server.chat("Add.", background.clone()).await.expect("asked"));
    assert_eq!(cancel(&server, &run).await["stopped"], true);
    in_state(&server, &run, "cancelled").await;

    let going =
        tokio::time::timeout(Duration::from_millis(300), server.chat("Hi.", background.clone())).await;
    assert!(going.is_err(), "the provider does not answer");
    let runs = server.get("/api/v1/runs?state=running").await;
    let run = runs["runs"][0]["id"].as_str().expect("it goes on").to_owned();
    assert_eq!(cancel(&server, &run).await["stopped"], true);
    assert_eq!(server.get(&format!("/api/v1/runs/{run}")).await["state"], "cancelled");
    upstream.idle().await;

    server.chat("Hi.", background).await.expect("answered");
    let ended = server.last_run().await;
    assert_eq!(ended["state"], "completed");
    assert_eq!(cancel(&server, ended["id"].as_str().expect("an id")).await["stopped"], false);
}

#[tokio::test]
async fn a_background_run_goes_on_without_its_client_and_through_its_approval() {
    let script = vec![
        Reply::StreamThenStall(vec![crate::upstream::text("Once")]),
        calls("c1", "calculate", SUM),
        says("It is 5."),
    ];
    let (upstream, server) = asked(script).await;
    let body = json!({"model": "openai/m", "stream": true, "messages": [{"role": "user", "content": "Hi"}],
        "toolcrib": {"background": true}});
    let reply = server
        .connection()
        .send(Method::POST, "/v1/chat/completions", &[], Some(&body))
        .await
        .expect("begun");
    let mut events = reply.events();
    events.next().await.expect("an event").expect("a chunk");
    drop(events);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let runs = server.get("/api/v1/runs?state=running").await;
    let run = runs["runs"][0]["id"].as_str().expect("it goes on").to_owned();
    cancel(&server, &run).await;
    upstream.idle().await;

    let background = json!({"toolcrib": {"background": true}});
    let (approval, run) = waiting(&server.chat("Add.", background).await.expect("asked"));
    let paused = follow(&server, &run).await;
    assert_eq!(paused.last().expect("an end")["requires_approval"][0]["id"], json!(approval));
    answer(&server, &approval, json!({"answer": "allow_once"})).await.expect("taken");
    let events = follow(&server, &run).await;
    assert_eq!(events.last().expect("an end")["type"], "finished", "not the pause before: {events:#?}");
    assert_eq!(text_of(&events).trim(), "It is 5.");
}

#[tokio::test]
async fn rules_ask_allow_and_deny_by_tool_and_argument() {
    let rules = "[[policy.approval]]\ntools = \"get_*\"\nanswer = \"ask\"\n\
                 [[policy.approval]]\ntools = \"calculate\"\nargument = \"/expression\"\nvalue = \"2 + *\"\n\
                 answer = \"allow\"\n\
                 [[policy.approval]]\ntools = \"calculate\"\nargument = \"/expression\"\nvalue = \"*9*\"\n\
                 answer = \"deny\"\n";
    let script = vec![
        calls("c1", "calculate", SUM),
        says("Allowed."),
        calls("c2", "calculate", r#"{"expression": "2 + 9"}"#),
        says("Denied."),
        calls("c3", "get_current_time", "{}"),
    ];
    let upstream = Upstream::start(script).await;
    let server = start(asking(), &upstream, rules).await;
    assert_eq!(content(&server.chat("Add.", json!({})).await.expect("answered")), "Allowed.");
    assert_eq!(content(&server.chat("Add.", json!({})).await.expect("answered")), "Denied.");
    assert_eq!(server.last_traces().await[0]["status"], "BLOCKED");
    let asked = server.chat("When?", json!({})).await.expect("asked");
    waiting(&asked);
    let reason = asked["toolcrib"]["requires_approval"][0]["reason"].as_str().expect("text").to_owned();
    assert!(reason.contains("ask get_*"), "{reason}");
}

#[tokio::test]
async fn what_strangers_wrote_makes_tools_ask_or_refuse() {
    for (setting, asks) in [("", true), ("[policy]\nafter_untrusted = \"refuse\"\n", false)] {
        let data = tempfile::tempdir().expect("a folder");
        replace(data.path(), "calculate", |definition| definition["approval"] = json!("afterUntrusted"));
        replace(data.path(), "get_current_time", |definition| {
            definition["returnsUntrustedContent"] = json!(true);
        });
        let script = vec![
            calls("c1", "calculate", SUM),
            calls("c2", "get_current_time", "{}"),
            calls("c3", "calculate", SUM),
            says("Refused."),
        ];
        let upstream = Upstream::start(script).await;
        let server = start(data, &upstream, setting).await;
        let answer = server.chat("Add.", json!({})).await.expect("answered");
        let traces = server.last_traces().await;
        assert_eq!(traces[0]["status"], "SUCCESS", "nothing was read yet: {traces:#?}");
        if asks {
            waiting(&answer);
        } else {
            assert_eq!((content(&answer), &traces[2]["status"]), ("Refused.", &json!("BLOCKED")));
        }
    }
}

#[tokio::test]
async fn traces_are_lines_for_whoever_wants_them_and_hide_what_is_sensitive() {
    let data = tempfile::tempdir().expect("a folder");
    replace(data.path(), "calculate", |definition| definition["sensitiveArguments"] = json!(["expression"]));
    let script = vec![calls("c1", "calculate", SUM), calls("c2", "get_current_time", "{}"), says("Done.")];
    let upstream = Upstream::start(script).await;
    let server = start(data, &upstream, "").await;
    let answer = server.chat("Add.", json!({"toolcrib": {"conversation": "new"}})).await.expect("answered");
    let id = |name: &str| answer["toolcrib"][name].as_str().expect("an id").to_owned();
    for path in [
        format!("/api/v1/runs/{}/traces", id("run_id")),
        format!("/api/v1/conversations/{}/traces", id("conversation_id")),
    ] {
        let list = server.get(&path).await["traces"].as_array().expect("a list").clone();
        let tools: Vec<_> = list.iter().map(|trace| &trace["tool"]).collect();
        assert_eq!(tools, ["calculate", "get_current_time"]);
        assert_eq!(list[0]["arguments"], json!({"expression": "*****"}));
        assert_eq!(list[0]["run_id"], json!(id("run_id")));
        let queried = format!("{path}?format=jsonl");
        for (path, accept) in
            [(&queried, "*/*"), (&path, "application/jsonl"), (&path, "application/x-ndjson")]
        {
            let headers = [("accept", accept)];
            let reply = server.connection().send(Method::GET, path, &headers, None).await.expect("sent");
            let bytes = reply.bytes().await.expect("a body");
            let text = String::from_utf8(bytes).expect("text");
            assert!(text.ends_with('\n'), "{text}");
            let lines: Vec<Value> =
                text.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect();
            assert_eq!(lines, list);
        }
    }
    let path = format!("/api/v1/runs/{}/traces?format=csv", id("run_id"));
    let wrong = server.connection().json(Method::GET, &path, None).await.expect_err("refused");
    assert!(code(&wrong) == (400, "invalid_request") && wrong.to_string().contains("jsonl"), "{wrong}");
}

#[tokio::test]
async fn a_run_with_several_questions_goes_on_with_the_last_answer() {
    let mut second = call("c2", "calculate", r#"{"expression": "4 + 4"}"#);
    second["choices"][0]["delta"]["tool_calls"][0]["index"] = json!(1);
    let round = vec![call("c1", "calculate", SUM), second, finish("tool_calls")];
    let (_upstream, server) = asked(vec![Reply::Stream(round), says("5, and nothing.")]).await;
    let asked = server.chat("Add.", json!({})).await.expect("asked");
    let requests = asked["toolcrib"]["requires_approval"].as_array().expect("a list");
    let ids: Vec<_> = requests.iter().map(|request| request["id"].as_str().expect("an id")).collect();
    let run = requests[0]["run_id"].as_str().expect("an id");
    let first = answer(&server, ids[0], json!({"answer": "allow_once"})).await.expect("taken");
    assert_eq!(first["run_goes_on"], false);
    let still = events_with(&server, &format!("/api/v1/runs/{run}/events"), &[]).await;
    let asks = still.last().expect("an end")["requires_approval"].as_array().expect("a list").clone();
    assert_eq!(asks.iter().map(|request| &request["id"]).collect::<Vec<_>>(), [ids[1]]);
    let last = answer(&server, ids[1], json!({"answer": "deny"})).await.expect("taken");
    assert_eq!(last["run_goes_on"], true);
    follow(&server, run).await;
    let statuses: Vec<_> = traces(&server, run).await.iter().map(|trace| trace["status"].clone()).collect();
    assert_eq!(statuses, ["SUCCESS", "BLOCKED"]);
}
