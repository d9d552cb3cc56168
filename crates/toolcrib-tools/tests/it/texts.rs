//! Every text of the built-in tools that a model can read, held fast in one place, so that each is read as a model reads
//! it: descriptions, policies, and what it is told when a call does not succeed.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib_egress::testing::{Fixture, Reply, Scenario};
use toolcrib_egress::{Egress, EgressSettings};
use toolcrib_runtime::caller::Components;
use toolcrib_runtime::links::Links;
use toolcrib_runtime::message::Message;
use toolcrib_runtime::policy::OutboundRestriction;
use toolcrib_runtime::registry::Catalog;
use toolcrib_runtime::tool::{Tool, ToolContext, ToolError};
use toolcrib_tools::builtin::{ReadWebPage, builtin};

use crate::page::{arguments, context};

/// What a model is told before it calls anything.
fn definitions(texts: &mut String) {
    let all = builtin(&Egress::new(EgressSettings::default()).unwrap());
    let (catalog, problems) = Catalog::build(&all.definitions, &all.implementations, &Components::default());
    assert_eq!(problems, []);
    for tool in catalog.tools() {
        let _ = write!(texts, "# {}\n{}\n", tool.id(), tool.definition.function.description);
        let properties = tool.spec.parameters["properties"].as_object().unwrap();
        for (name, schema) in properties {
            let _ = writeln!(texts, "- {name}: {}", schema["description"].as_str().unwrap());
        }
        let policy = tool.definition.system_prompt_instructions.as_deref().unwrap_or("none");
        let _ = writeln!(texts, "Policy: {policy}\n");
    }
}

/// What a model is told of a call that did not succeed.
async fn failed(tool: &dyn Tool, arguments: Value, context: &ToolContext) -> String {
    match tool.call(arguments, context).await.unwrap_err() {
        ToolError::Blocked { reason } => format!("BLOCKED {reason}"),
        ToolError::Failed { for_model, .. } => format!("Tool execution failed: {for_model}"),
    }
}

async fn of_plain_tools(texts: &mut String) {
    let all = builtin(&Egress::new(EgressSettings::default()).unwrap());
    let context = context("", false);
    let expressions = [
        "",
        "2 +",
        "(2",
        "1/0",
        "1.234,5",
        "max(1, 2)",
        "x = 3",
        "today",
        "2 ½§ 3",
        "9^9^9^9",
        "5 usd to eur",
        "apples * 3",
        "3 kg to m",
    ];
    let long = "1+".repeat(600);
    let deep = "(".repeat(200);
    let expressions = expressions.into_iter().chain([long.as_str(), deep.as_str()]);
    let calls = expressions
        .map(|expression| ("calculate", json!({ "expression": expression })))
        .chain(["Europe/Berlim", "Mars"].map(|zone| ("get_current_time", json!({ "timezone": zone }))));
    for (key, arguments) in calls {
        let tool = all.implementations.iter().find(|tool| tool.implementation_key() == key).unwrap();
        let shown: String = arguments.to_string().chars().take(60).collect();
        let _ = writeln!(texts, "## {key} {shown}\n{}\n", failed(&**tool, arguments, &context).await);
    }
}

async fn of_read_web_page(texts: &mut String) {
    const URL: &str = "https://example.org/page?token=s3cret";
    let dns = "dns *=93.184.215.14";
    let status = |status| Reply::new(status).header("Content-Type", "text/html").body("<p>Sorry</p>");
    let image = Reply::new(200).header("Content-Type", "image/png").body("x");
    for (when, fixture, reply, url) in [
        ("a missing page", dns, status(404), URL),
        ("a page behind a sign-in", dns, status(401), URL),
        ("a closed page", dns, status(403), URL),
        ("a busy server", dns, status(429), URL),
        ("a broken server", dns, status(500), URL),
        ("an image", dns, image, URL),
        ("nothing", dns, Reply::html(""), URL),
        ("no HTTP", dns, Reply::raw("no HTTP at all"), URL),
        ("a redirect to http", dns, Reply::redirect(302, "http://example.org/"), URL),
        ("a private address", "dns example.org=10.0.0.1", status(200), URL),
        ("no URL", dns, status(200), "example.org/page?token=s3cret"),
        ("another scheme", dns, status(200), "ftp://example.org/page?token=s3cret"),
    ] {
        let scenario = Scenario::start(&Fixture::parse(fixture).unwrap(), reply).await.unwrap();
        let tool = ReadWebPage::new(scenario.egress(EgressSettings::default()).unwrap());
        let text = failed(&tool, arguments(url), &context("", false)).await;
        let _ = writeln!(texts, "## read_web_page: {when}\n{text}\n");
    }
    let page = Reply::html("<title>T</title><main><p>One sentence.</p></main>");
    let scenario = Scenario::start(&Fixture::parse(dns).unwrap(), page).await.unwrap();
    let tool = ReadWebPage::new(scenario.egress(EgressSettings::default()).unwrap());
    let links = Arc::new(Links::of(&[Message::user("Hello.")]));
    let unknown = ToolContext { links, ..context("", false) };
    let none = ToolContext { outbound: OutboundRestriction::ConfiguredServices, ..context("", false) };
    let no_room = ToolContext { result_characters_left: 100, ..context("", false) };
    let mut behind = arguments(URL);
    behind["offset"] = json!(1_000);
    for (when, arguments, context) in [
        ("a URL that does not stand in the conversation", arguments(URL), unknown),
        ("a conversation that opens no URLs", arguments(URL), none),
        ("no room is left", arguments(URL), no_room),
        ("behind the end of the page", behind, context("", false)),
    ] {
        let text = failed(&tool, arguments, &context).await;
        let _ = writeln!(texts, "## read_web_page: {when}\n{text}\n");
    }
}

#[tokio::test]
async fn every_text_that_a_model_can_read_is_the_same_as_it_was() {
    let mut texts = String::new();
    definitions(&mut texts);
    of_plain_tools(&mut texts).await;
    of_read_web_page(&mut texts).await;
    assert!(!texts.contains("s3cret"));
    insta::assert_snapshot!("every_text_for_models", texts);
}
