//! `toolcrib serve`.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::harness::{Home, signal, silent, wait};

#[test]
fn a_server_announces_itself_once_and_leaves_nothing_behind() {
    let home = Home::new();
    let announcement = home.path().join("server.json");
    let first = home.serve();
    assert_eq!(first.ready["event"], "ready");
    assert!(first.address().starts_with("http://127.0.0.1:"), "{}", first.ready);
    let key = first.ready["first_key"].as_str().unwrap().to_owned();
    assert!(key.starts_with("tc_"), "{}", first.ready);
    assert!(announcement.exists());
    assert_eq!(first.stop(), Some(0));
    assert!(!announcement.exists());

    let second = home.serve();
    assert!(second.ready.get("first_key").is_some_and(serde_json::Value::is_null), "{}", second.ready);
    assert!(second.get("/api/v1/tools", &key)["tools"].is_array());
    assert_eq!(second.stop(), Some(0));
}

#[test]
fn a_second_server_on_the_same_folder_is_refused() {
    let home = Home::new();
    let first = home.serve();
    let told = home.run(&["serve", "--listen", "127.0.0.1:0"]).with_code(1);
    assert!(
        told.err.contains("it is in use by the server at") && told.err.contains(first.address()),
        "{told:?}"
    );
    assert_eq!(told.out, "");
    assert_eq!(first.stop(), Some(0));
}

#[test]
fn people_are_told_where_to_go() {
    let home = Home::new();
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let told: Vec<String> = lines.by_ref().take_while(|line| !line.starts_with("Stop with")).collect();
    signal(&child, "INT");
    assert_eq!(wait(&mut child), Some(0));
    let told = told.join("\n");
    let key = told.split_once("first key  ").unwrap().1.split(' ').next().unwrap().to_owned();
    let address = told.split_once("ready at ").unwrap().1.lines().next().unwrap().to_owned();
    let told = told
        .replace(&key, "KEY")
        .replace(&address, "ADDRESS")
        .replace(&*home.path().to_string_lossy(), "DATA");
    insta::assert_snapshot!("welcome", told);
}

#[test]
fn providers_that_do_not_answer_do_not_hold_the_server_up() {
    let home = Home::new();
    let provider = silent();
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("TOOLCRIB_PROVIDERS__SLOW__BASE_URL", format!("{}/v1", provider.address));
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("Stop with")));
    assert!(provider.seen.try_recv().is_err(), "the provider was asked");
    signal(&child, "TERM");
    assert_eq!(wait(&mut child), Some(0));
}

#[test]
fn a_second_signal_does_not_wait_for_running_answers() {
    let home = Home::new();
    let provider = silent();
    let address = &provider.address;
    let text = format!("[providers.slow]\nbase_url = \"{address}/v1\"\nmodels = [\"model\"]\n");
    home.write("toolcrib.toml", text);
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut server =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("Stop with")));
    let mut asking = home.command(&["ask", "-m", "slow/model", "Hello"]);
    let mut asking = asking.stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    provider.wait_for("/v1/chat/completions");
    signal(&server, "INT");
    let mut told = BufReader::new(server.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(told.any(|line| line.starts_with("Stopping: ")));
    signal(&server, "INT");
    assert_eq!(wait(&mut server), Some(130));
    assert!(!home.path().join("server.json").exists());
    assert_eq!(wait(&mut asking), Some(1), "an answer that broke off is no success");
}
