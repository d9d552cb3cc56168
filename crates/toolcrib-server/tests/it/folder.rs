//! A folder of definitions beside a running server.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::Running;

/// The built-in definition of `calculate`, with another description, as one that takes its place.
fn replacing(description: &str) -> String {
    let egress = toolcrib_egress::Egress::new(toolcrib_egress::EgressSettings::default()).expect("set up");
    let built_in = toolcrib_tools::builtin::builtin(&egress).definitions;
    let calculate = built_in.iter().find(|file| file.file.contains("calculate")).expect("built in");
    let mut definition: Value =
        serde_json::from_str(calculate.text.as_deref().expect("readable")).expect("JSON");
    definition["replaces"] = json!("calculate");
    definition["function"]["descriptionForLLM"] = json!(description);
    definition.to_string()
}

/// What holds within a second: the description of `calculate` that models read, and the problems.
async fn within_a_second(server: &Running, holds: impl Fn(&str, &[String]) -> bool) {
    let mut last = (String::new(), Vec::new());
    let began = tokio::time::Instant::now();
    while began.elapsed() < Duration::from_secs(1) {
        let tool = server.get("/api/v1/tools/calculate").await;
        let problems = server.get("/api/v1/tools").await["problems"].clone();
        last = (
            tool["description_for_llm"].as_str().unwrap_or_default().to_owned(),
            serde_json::from_value(problems).expect("texts"),
        );
        if holds(&last.0, &last.1) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("not within a second: {last:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_in_the_folder_is_in_force_within_a_second() {
    let server = Running::demo().await;
    let file = folder(&server).join("calculate.json");
    let built_in = server.get("/api/v1/tools/calculate").await["description_for_llm"].clone();

    std::fs::write(&file, replacing("Use it first.")).expect("written");
    within_a_second(&server, |text, problems| text == "Use it first." && problems.is_empty()).await;

    std::fs::write(&file, "{ \"schemaVersion\": 1, ").expect("written");
    let broken = |text: &str, problems: &[String]| {
        text == "Use it first."
            && problems.iter().any(|problem| {
                problem.contains("calculate.json") && problem.contains("the last good version stays in use")
            })
    };
    within_a_second(&server, broken).await;

    std::fs::write(&file, replacing("Use it second.")).expect("written");
    within_a_second(&server, |text, problems| text == "Use it second." && problems.is_empty()).await;

    std::fs::remove_file(&file).expect("removed");
    within_a_second(&server, |text, problems| built_in == text && problems.is_empty()).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configured_folder_that_is_missing_is_a_problem_until_it_is_there() {
    let config = "[sources]\ntools_folders = [\"more/definitions\"]\n";
    let server =
        Running::start(config, &[("TOOLCRIB_PROVIDERS__NONE__BASE_URL", "http://127.0.0.1:9/v1")]).await;
    within_a_second(&server, |_, problems| problems.iter().any(|text| text.contains("not there"))).await;
    let folder = server.data.path().join("more/definitions/calculate");
    std::fs::create_dir_all(&folder).expect("made");
    std::fs::write(folder.join("definition.json"), replacing("Use it here.")).expect("written");
    within_a_second(&server, |text, problems| text == "Use it here." && problems.is_empty()).await;
    server.stop().await;
}

fn folder(server: &Running) -> PathBuf {
    let folder = server.data.path().join("tools");
    std::fs::create_dir_all(&folder).expect("made");
    folder
}
