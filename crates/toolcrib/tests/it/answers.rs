//! `toolcrib ask` and what interrupting does.

use serde_json::json;

use crate::harness::{Home, ended, piped, signal, silent, streaming, wait};

const QUESTION: [&str; 4] = ["ask", "-m", "toolcrib/demo", "calculate 20 + 3"];

#[test]
fn a_question_is_answered_without_a_server_and_by_a_running_one() {
    let home = Home::new();
    let alone = home.run(&QUESTION).with_code(0);
    assert!(alone.out.trim_end().ends_with("= 23") && alone.out.ends_with('\n'), "{alone:?}");
    let serving = home.serve();
    let served = home.run(&QUESTION).with_code(0);
    assert_eq!(served.out, alone.out);
    let data = home.run(&["ask", "--json", "-m", "toolcrib/demo", "calculate 20 + 3"]).with_code(0).json();
    assert!(data["text"].as_str().unwrap().ends_with("= 23"), "{data:#}");
    assert_eq!(data["calls"][0]["status"], "SUCCESS");

    let key = home.run(&["keys", "create", "key"]).with_code(0).out;
    let runs = serving.get("/api/v1/runs", key.trim());
    let ids: Vec<_> = runs["runs"].as_array().unwrap().iter().map(|run| &run["id"]).collect();
    assert!(ids.contains(&&data["run_id"]), "the server did not run it: {runs:#}");

    let far = Home::new();
    let mut command =
        far.command(&["ask", "--server", serving.address(), "-m", "toolcrib/demo", "calculate 20 + 3"]);
    let answer = ended(command.env("TOOLCRIB_KEY", key.trim()).output().unwrap()).with_code(0);
    assert!(answer.out.contains("= 23"), "{answer:?}");
    let mut command =
        far.command(&["tools", "explain", "-m", "toolcrib/demo", "--server", serving.address()]);
    let explained = ended(command.env("TOOLCRIB_KEY", key.trim()).output().unwrap()).with_code(0);
    assert!(explained.out.starts_with("component api, model toolcrib/demo, "), "{explained:?}");
    let mut command =
        far.command(&["call", "calculate", "{\"expression\": \"20 + 3\"}", "--server", serving.address()]);
    let called = ended(command.env("TOOLCRIB_KEY", key.trim()).output().unwrap()).with_code(0);
    assert_eq!(called.json()["result"], "23");
    let mut command = far.command(&["tools", "--server", serving.address()]);
    let refused = ended(command.env("TOOLCRIB_KEY", "tc_wrong").output().unwrap()).with_code(1);
    assert!(refused.err.contains("hint: "), "{refused:?}");
}

#[test]
fn a_model_that_is_not_there_is_told() {
    let told = Home::new().run(&["ask", "-m", "toolcrib/dmeo", "Hello"]).with_code(1);
    assert!(told.err.starts_with("error: "), "{told:?}");
    assert_eq!(told.out, "");
}

#[test]
fn nothing_in_an_answer_steers_the_terminal() {
    let steering = "\u{1b}]0;title\u{7}\u{9b}2J\u{1b}[31m";
    let call = json!({"type": "call_ended", "status": steering, "result": steering, "duration_ms": 1});
    let source = json!({"title": steering, "url": format!("https://example.com/{steering}")});
    let server = streaming(&[
        json!({"toolcrib": {"type": "call_started", "icon": steering, "name": steering, "arguments": {"a": steering}}}),
        json!({"toolcrib": {"type": "call_progress", "text": steering}}),
        json!({"toolcrib": call}),
        json!({"choices": [{"delta": {"content": "An answer\u{1b}"}}]}),
        json!({"choices": [{"delta": {"content": "[2J in pieces"}}]}),
        json!({"toolcrib": {"type": "finished", "sources": [source], "incomplete": {"message": steering}}}),
    ]);
    let home = Home::new();
    let answer = home.run(&["ask", "--server", &server.address, "Hello"]).with_code(0);
    assert!(answer.out.starts_with("An answer[2J in pieces\n"), "{answer:?}");
    let steers = |text: &str| text.contains(|c: char| c.is_control() && c != '\n');
    assert!(!steers(&answer.out) && !steers(&answer.err), "{answer:?}");
    let data = home.run(&["ask", "--json", "--server", &server.address, "Hello"]).with_code(0);
    assert!(!steers(&data.out), "{data:?}");
    assert_eq!(data.json()["sources"][0]["title"], steering);
}

#[test]
fn an_answer_that_breaks_off_is_a_failure() {
    let home = Home::new();
    let cases = [
        (json!({"choices": [{"delta": {"content": "An ans"}}]}), "An ans\n", "error: the answer broke off"),
        (
            json!({"error": {"code": "x", "message": "no \u{1b}more", "hint": "wait"}}),
            "",
            "error: no more\nhint: wait\n",
        ),
    ];
    for (event, out, error) in cases {
        let server = streaming(&[event]);
        let told = home.run(&["ask", "--server", &server.address, "Hello"]).with_code(1);
        assert_eq!(told.out, out);
        assert!(told.err.starts_with(error), "{told:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_question_is_written_down_as_cancelled() {
    let home = Home::new();
    for name in ["INT", "TERM"] {
        let provider = silent();
        let address = &provider.address;
        home.write(
            "toolcrib.toml",
            format!("[providers.slow]\nbase_url = \"{address}/v1\"\nmodels = [\"model\"]\n"),
        );
        let mut child = piped(&mut home.command(&["ask", "-m", "slow/model", "Hello"]));
        drop(child.stdin.take());
        provider.wait_for("/v1/chat/completions");
        signal(&child, name);
        assert_eq!(wait(&mut child), Some(130));
        provider.wait_for_end();
        assert_eq!(ended(child.wait_with_output().unwrap()).err, "Cancelled.\n");
    }
    let serving = home.serve();
    let runs = serving.get("/api/v1/runs", serving.ready["first_key"].as_str().unwrap());
    let states: Vec<_> = runs["runs"].as_array().unwrap().iter().map(|run| &run["state"]).collect();
    assert_eq!(states, ["cancelled", "cancelled"], "{runs:#}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_call_leaves_the_server() {
    let server = silent();
    let mut child = piped(&mut Home::new().command(&["call", "calculate", "--server", &server.address]));
    server.wait_for("/api/v1/tools/calculate/call");
    signal(&child, "INT");
    assert_eq!(wait(&mut child), Some(130));
    server.wait_for_end();
    assert_eq!(ended(child.wait_with_output().unwrap()).err, "Cancelled.\n");
}
