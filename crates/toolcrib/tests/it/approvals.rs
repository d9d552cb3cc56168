//! Calls that ask, as people at a terminal and scripts meet them; and `toolcrib runs`.

use serde_json::{Value, json};

use crate::harness::Home;

const QUESTION: [&str; 4] = ["ask", "-m", "toolcrib/demo", "calculate 20 + 3"];

/// A home in which every calculation asks.
fn asking() -> Home {
    let home = Home::new();
    home.write("toolcrib.toml", "[[policy.approval]]\ntools = \"calculate\"\nanswer = \"ask\"\n");
    home
}

/// Asks the question that waits; the ids of its approval and its run.
fn wait(home: &Home) -> (String, String) {
    home.run(&QUESTION).with_code(3);
    let list = home.run(&["approvals", "--json"]).with_code(0).json();
    let text = |name: &str| list["approvals"][0][name].as_str().unwrap().to_owned();
    (text("id"), text("run_id"))
}

#[test]
fn yes_runs_a_call_that_asks() {
    let home = asking();
    let answer = home.run(&["ask", "--yes", "-m", "toolcrib/demo", "calculate 20 + 3"]).with_code(0);
    assert!(answer.out.ends_with("\n20 + 3 = 23\n"), "{answer:?}");
    assert_eq!(answer.out.matches("demo model").count(), 1, "nothing is said twice: {answer:?}");
    assert!(answer.err.contains("Waiting for approval: 🧮 Calculator\n"), "{answer:?}");
    let data = home.run(&["ask", "--yes", "--json", "-m", "toolcrib/demo", "calculate 20 + 3"]);
    let data = data.with_code(0).json();
    let statuses: Vec<_> = data["calls"].as_array().unwrap().iter().map(|call| &call["status"]).collect();
    assert_eq!(statuses, ["SUCCESS"], "{data:#}");
}

#[test]
fn without_a_terminal_a_question_waits_and_says_how_to_answer() {
    let home = asking();
    let waits = home.run(&QUESTION).with_code(3);
    let list = home.run(&["approvals", "list", "--json"]).with_code(0).json();
    let id = list["approvals"][0]["id"].as_str().unwrap();
    assert!(waits.err.contains("\"expression\": \"20 + 3\""), "{waits:?}");
    assert!(waits.err.ends_with(&format!("toolcrib approvals answer {id} allow\n")), "{waits:?}");
    let data = home.run(&["ask", "--json", "-m", "toolcrib/demo", "calculate 20 + 3"]).with_code(3).json();
    assert_eq!(data["requires_approval"][0]["arguments"], json!({"expression": "20 + 3"}));
}

#[test]
fn approvals_are_listed_shown_and_answered_and_the_run_goes_on_here() {
    let home = asking();
    let (id, run) = wait(&home);
    let list = home.run(&["approvals"]).with_code(0);
    assert_eq!(list.out, format!("{id}  waiting             🧮 Calculator {{\"expression\":\"20 + 3\"}}\n"));
    let shown = home.run(&["approvals", "show", &id]).with_code(0);
    assert!(shown.out.starts_with("🧮 Calculator  waiting\n"), "{shown:?}");
    assert!(shown.out.contains("\"expression\": \"20 + 3\"") && shown.out.contains("a rule"), "{shown:?}");

    let wrong = home.run(&["approvals", "answer", &id, "edit", "--arguments", "{"]).with_code(1);
    assert!(wrong.err.contains("--arguments is no JSON"), "{wrong:?}");
    let wrong = home.run(&["approvals", "answer", &id, "edit", "--arguments", r#"{"expresion": "1"}"#]);
    assert!(wrong.with_code(1).err.contains("did you mean \"expression\"?"));

    let edited = ["approvals", "answer", &id, "edit", "--arguments", r#"{"expression": "6 * 7"}"#];
    let went_on = home.run(&edited).with_code(0);
    assert!(went_on.out.contains("42") && !went_on.out.contains("demo model: "), "{went_on:?}");
    assert!(went_on.err.contains("✓ SUCCESS"), "{went_on:?}");
    let late = home.run(&["approvals", "answer", &id, "allow"]).with_code(1);
    assert!(late.err.contains("has its answer already: edit"), "{late:?}");
    let none = home.run(&["approvals"]).with_code(0);
    assert_eq!((none.out.as_str(), none.err.as_str()), ("", "No call waits for approval.\n"));
    assert!(home.run(&["approvals", "list", "--all"]).with_code(0).out.contains("  edit  "));
    assert_eq!(home.run(&["runs", "show", &run]).with_code(0).json()["state"], "completed");

    let (id, _) = wait(&home);
    let denied = home.run(&["approvals", "answer", &id, "deny", "--note", "no sums today"]).with_code(0);
    assert!(denied.out.contains("no sums today") && denied.err.contains("■ BLOCKED"), "{denied:?}");
    let (id, _) = wait(&home);
    let data = home.run(&["approvals", "answer", &id, "allow", "--json"]).with_code(0).json();
    assert_eq!(data["calls"][0]["status"], "SUCCESS", "{data:#}");
}

#[test]
fn a_running_server_carries_on_what_is_answered_here() {
    let home = asking();
    let _serving = home.serve();
    let (id, _) = wait(&home);
    let went_on = home.run(&["approvals", "answer", &id, "allow"]).with_code(0);
    assert_eq!(went_on.out, "20 + 3 = 23\n");
}

#[test]
fn runs_are_listed_shown_exported_and_stopped() {
    let home = asking();
    home.run(&["ask", "--yes", "-m", "toolcrib/demo", "calculate 20 + 3"]).with_code(0);
    let (_, waiting) = wait(&home);
    let list = home.run(&["runs", "list"]).with_code(0).out;
    assert_eq!(list.lines().count(), 2);
    assert!(list.starts_with(&format!("{waiting}  waiting      ")), "{list}");
    let done = home.run(&["runs", "list", "--state", "completed", "--json"]).with_code(0).json();
    assert_eq!(done["runs"].as_array().unwrap().len(), 1);
    let id = done["runs"][0]["id"].as_str().unwrap();
    assert_eq!(home.run(&["runs", "show", id]).with_code(0).json(), done["runs"][0]);
    let wrong = home.run(&["runs", "list", "--state", "done"]).with_code(1);
    assert!(wrong.err.contains("there are running, "), "{wrong:?}");

    let text = home.run(&["runs", "traces", id]).with_code(0).out;
    assert!(text.starts_with("1. 🧮 Calculator {\"expression\":\"20 + 3\"}\n   SUCCESS in "), "{text}");
    let data = home.run(&["runs", "traces", id, "--format", "json"]).with_code(0).json();
    let lines = home.run(&["runs", "traces", id, "--format", "jsonl"]).with_code(0).out;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json!(lines), data["traces"]);
    assert_eq!((lines.len(), &lines[0]["run_id"]), (1, &json!(id)));

    let stopped = home.run(&["runs", "cancel", &waiting]).with_code(0);
    assert_eq!(stopped.err, "The run is stopped.\n");
    let again = home.run(&["runs", "cancel", &waiting]).with_code(0);
    assert_eq!(again.err, "The run had ended already.\n");
    assert_eq!(home.run(&["runs", "show", &waiting]).with_code(0).json()["state"], "cancelled");
    for arguments in [["runs", "show", "nope"], ["runs", "traces", "nope"], ["runs", "cancel", "nope"]] {
        assert!(home.run(&arguments).with_code(1).err.contains("there is no run \"nope\""));
    }
}

#[test]
fn explain_at_the_top_is_explain_of_the_tools() {
    let home = asking();
    let top = home.run(&["explain", "-m", "toolcrib/demo"]).with_code(0);
    assert_eq!(top.out, home.run(&["tools", "explain", "-m", "toolcrib/demo"]).with_code(0).out);
    assert!(top.out.contains("calculate"), "{top:?}");
}

#[test]
fn a_call_by_hand_that_asks_needs_a_yes() {
    let home = asking();
    let arguments = r#"{"expression": "1 + 1"}"#;
    let refused = home.run(&["call", "calculate", arguments]).with_code(1);
    assert!(
        refused.err.contains(r#"{"expression":"1 + 1"}"#) && refused.err.contains("--yes"),
        "{refused:?}"
    );
    assert_eq!(refused.out, "");
    assert_eq!(home.run(&["call", "calculate", arguments, "--yes"]).with_code(0).json()["result"], "2");
}
