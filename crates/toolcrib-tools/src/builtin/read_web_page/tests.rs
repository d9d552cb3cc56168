use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use toolcrib_egress::EgressSettings;
use toolcrib_egress::testing::{Fixture, Reply, Scenario};
use toolcrib_runtime::caller::Components;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::tool::definition::Definition;
use toolcrib_runtime::tool::{
    Content, Progress, SettingValue, Settings, Tool, ToolContext, ToolError, ToolOutput,
};

use super::{ReadWebPage, accept_language};
use crate::builtin::tests::{context, failure};

mod provenance;

const DEFINITION: &str = include_str!("definition.json");
const PUBLIC: &str = "dns *=93.184.215.14";
const PRIVATE: &str = "dns wiki.example.org=10.0.0.5; dns www.example.org=93.184.215.14";

struct Setup {
    scenario: Scenario,
    tool: ReadWebPage,
}

async fn setup(fixture: &str, reply: Reply) -> Setup {
    let scenario = Scenario::start(&Fixture::parse(fixture).unwrap(), reply).await.unwrap();
    let tool = ReadWebPage::new(scenario.egress(EgressSettings::default()).unwrap());
    Setup { scenario, tool }
}

fn arguments(url: &str) -> Value {
    json!({ "url": url, "offset": null, "max_characters": null, "include_links": null, "include_outline": null })
}

fn with(url: &str, changes: &Value) -> Value {
    let mut arguments = arguments(url);
    for (name, value) in changes.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    arguments
}

fn hosts(list: &str) -> Settings {
    let value = SettingValue::Plain(Value::from(list));
    Settings::new(BTreeMap::from([("allowedPrivateHosts".to_owned(), value)]))
}

fn value(output: ToolOutput) -> Value {
    match output.content {
        Content::Json(value) => value,
        Content::Text(text) => panic!("text instead of JSON: {text}"),
    }
}

fn blocked(result: Result<ToolOutput, ToolError>) -> String {
    match result {
        Err(ToolError::Blocked { reason }) => reason,
        other => panic!("not blocked: {other:?}"),
    }
}

fn article(paragraphs: usize) -> String {
    let text: Vec<_> = (0..paragraphs)
        .map(|number| {
            format!("<p>Paragraph {number} of a \"long\" article, with words enough to count as prose.</p>")
        })
        .collect();
    let text = text.concat();
    format!(
        "<html lang=en><head><title>The article</title><meta name=description content='What it says.'>\
         <meta name=author content='A. Writer'><meta property='og:site_name' content='Example'>\
         <meta property='article:published_time' content='2025-11-30T10:00:00Z'></head>\
         <body><main><h1>The article</h1>{text}<h2>Further</h2><p><a href=/next>Next page</a></p></main></body></html>"
    )
}

#[tokio::test]
async fn a_page_is_returned_with_its_metadata_and_as_a_source() {
    let setup = setup(PUBLIC, Reply::html(article(20))).await;
    let changes = json!({ "include_links": true, "include_outline": true });
    let output = setup.tool.call(with("https://example.org/a?q=1", &changes), &context()).await.unwrap();
    assert!(output.untrusted);
    assert_eq!(output.required_confidence, Confidence::None);
    assert_eq!(output.truncation, None);
    assert_eq!(output.sources.len(), 1);
    assert_eq!(output.sources[0].title, "The article");
    assert_eq!(output.sources[0].url, "https://example.org/a?q=1");
    let mut page = value(output);
    let text = page["content"]["text"].take();
    assert!(text.as_str().unwrap().contains("Paragraph 19"), "{text}");
    insta::assert_json_snapshot!(page);
}

#[tokio::test]
async fn a_page_without_title_is_a_source_by_its_url() {
    let setup = setup(PUBLIC, Reply::new(200).header("Content-Type", "text/plain").body("Only text.")).await;
    let output = setup.tool.call(arguments("https://example.org/"), &context()).await.unwrap();
    assert_eq!(output.sources[0].title, "https://example.org/");
    let page = value(output);
    assert_eq!(page["status"], "partial");
    assert_eq!(page["content"], json!({ "text": "Only text." }), "empty fields are left out");
    assert!(page.get("links").is_none());
    assert!(page.get("outline").is_none());
}

#[tokio::test]
async fn a_long_page_is_read_in_parts_with_one_fetch() {
    let setup = setup(PUBLIC, Reply::html(article(200))).await;
    let context = context();
    let url = "https://example.org/long";
    let (mut whole, mut offset, mut parts) = (String::new(), Some(0), 0);
    while let Some(at) = offset {
        let changes = json!({ "offset": at, "max_characters": 3_000 });
        let output = setup.tool.call(with(url, &changes), &context).await.unwrap();
        let truncation = output.truncation.clone();
        let page = value(output);
        let text = page["content"]["text"].as_str().unwrap();
        assert!(text.chars().count() <= 3_000);
        offset = page["metadata"]["next_offset"].as_u64();
        assert_eq!(offset.is_some(), truncation.is_some());
        assert_eq!(page["status"], if offset.is_some() { "partial" } else { "complete" });
        whole.push_str(text.trim_end_matches("[Page content truncated]").trim_end());
        parts += 1;
    }
    assert!(parts > 4, "{parts}");
    for number in 0..200 {
        assert_eq!(whole.matches(&format!("Paragraph {number} ")).count(), 1, "{number}");
    }
    assert_eq!(setup.scenario.connector.attempts().len(), 1);
    let behind = setup.tool.call(with(url, &json!({ "offset": 1_000_000 })), &context).await;
    assert!(failure(behind).contains("behind the end"));
}

#[tokio::test]
async fn another_run_fetches_anew() {
    let setup = setup(PUBLIC, Reply::html(article(20))).await;
    let other = ToolContext { run_id: "other".to_owned(), ..context() };
    for context in [context(), context(), other] {
        setup.tool.call(arguments("https://example.org/"), &context).await.unwrap();
    }
    assert_eq!(setup.scenario.connector.attempts().len(), 2);
}

#[tokio::test]
async fn the_written_result_fits_the_room_that_is_left() {
    let quotes = format!("<title>Quotes</title><main><p>{}</p></main>", "\"\\\" \n".repeat(30_000));
    let links: Vec<_> = (0..400)
        .map(|n| format!("<li><a href='/{n}/{}'>Link number {n}</a> and text.</li>", "x".repeat(60)))
        .collect();
    let links = links.concat();
    for body in [article(500), quotes, format!("<title>Links</title><main><ul>{links}</ul></main>")] {
        let setup = setup(PUBLIC, Reply::html(body)).await;
        for room in [1_000, 2_500, 10_000, 28_000] {
            let context = ToolContext { result_characters_left: room, ..context() };
            let changes = json!({ "include_links": true, "include_outline": true });
            let output = setup.tool.call(with("https://example.org/", &changes), &context).await.unwrap();
            let text = output.content.to_model_text();
            assert!(text.chars().count() <= room, "{} of {room}", text.chars().count());
            assert!(text.contains("next_offset") || text.contains("left out"), "{text}");
        }
        let context = ToolContext { result_characters_left: 100, ..context() };
        let none = setup.tool.call(arguments("https://example.org/"), &context).await;
        assert!(failure(none).contains("used up"));
    }
}

#[tokio::test]
async fn private_hosts_need_the_list_and_a_provider_that_may_see_them() {
    let url = "https://wiki.example.org/page";
    let call = async |list: &str, confidence: Confidence, provider_trusted: bool| {
        let setup = setup(PRIVATE, Reply::html(article(20))).await;
        let context =
            ToolContext { settings: Arc::new(hosts(list)), confidence, provider_trusted, ..context() };
        let result = setup.tool.call(arguments(url), &context).await;
        (result, setup.scenario.connector.attempts().len())
    };
    for (confidence, trusted) in [(Confidence::High, false), (Confidence::VeryLow, true)] {
        let (output, attempts) = call("*.example.org", confidence, trusted).await;
        assert_eq!(output.unwrap().required_confidence, Confidence::High);
        assert_eq!(attempts, 1);
    }
    for (list, confidence) in [
        ("*.example.org", Confidence::Medium),
        ("", Confidence::High),
        ("other.example.org", Confidence::High),
    ] {
        let (result, attempts) = call(list, confidence, false).await;
        assert!(blocked(result).contains("not on the public Internet"));
        assert_eq!(attempts, 0, "{list} {confidence}");
    }
}

#[tokio::test]
async fn a_public_page_demands_nothing_even_where_private_hosts_are_listed() {
    let setup = setup(PRIVATE, Reply::html(article(20))).await;
    let settings = Arc::new(hosts("*.example.org"));
    let context = ToolContext { settings, confidence: Confidence::High, ..context() };
    let output = setup.tool.call(arguments("https://www.example.org/"), &context).await.unwrap();
    assert_eq!(output.required_confidence, Confidence::None);
}

#[tokio::test]
async fn what_goes_wrong_is_said_with_what_to_do() {
    let status = |status| Reply::new(status).header("Content-Type", "text/html").body("<p>Sorry</p>");
    let image = Reply::new(200).header("Content-Type", "image/png").body("x");
    let mut texts = Vec::new();
    for (fixture, reply, url) in [
        (PUBLIC, status(404), "https://example.org/missing?token=s3cret"),
        (PUBLIC, status(401), "https://example.org/inside?token=s3cret"),
        (PUBLIC, status(403), "https://example.org/closed?token=s3cret"),
        (PUBLIC, status(429), "https://example.org/busy?token=s3cret"),
        (PUBLIC, status(503), "https://example.org/broken?token=s3cret"),
        (PUBLIC, image, "https://example.org/image.png?token=s3cret"),
        (PUBLIC, Reply::html(""), "https://example.org/nothing?token=s3cret"),
        (PUBLIC, Reply::raw("no HTTP at all"), "https://example.org/odd?token=s3cret"),
        (
            PUBLIC,
            Reply::redirect(302, "http://example.org/?token=s3cret"),
            "https://example.org/?token=s3cret",
        ),
        (PUBLIC, Reply::redirect(302, "/loop?token=s3cret"), "https://example.org/loop?token=s3cret"),
        ("dns example.org=NXDOMAIN", status(200), "https://example.org/?token=s3cret"),
        (PUBLIC, status(200), "example.org/page?token=s3cret"),
        (PUBLIC, status(200), "ftp://example.org/page?token=s3cret"),
        (PUBLIC, status(200), "https://user:s3cret@example.org/"),
        (PUBLIC, status(200), "http://127.0.0.1/?token=s3cret"),
        ("dns example.org=10.0.0.1", status(200), "https://example.org/?token=s3cret"),
    ] {
        let setup = setup(fixture, reply).await;
        let shown = match setup.tool.call(arguments(url), &context()).await {
            Err(ToolError::Blocked { reason }) => format!("BLOCKED {reason}"),
            Err(ToolError::Failed { for_model, for_operator, .. }) => {
                assert!(!for_operator.contains("s3cret"), "{for_operator}");
                format!("ERROR {for_model}")
            }
            Ok(output) => panic!("{url}: {output:?}"),
        };
        assert!(!shown.contains("s3cret"), "{shown}");
        texts.push(format!("{url}\n  {shown}"));
    }
    insta::assert_snapshot!(texts.join("\n"));
}

#[tokio::test]
async fn progress_names_the_host_alone() {
    let setup = setup(PUBLIC, Reply::html(article(20))).await;
    let reports = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&reports);
    let progress = Progress::new(move |text| sink.lock().unwrap().push(text.to_owned()));
    let context = ToolContext { progress, ..context() };
    setup.tool.call(arguments("https://example.org/private/path?token=1"), &context).await.unwrap();
    assert_eq!(*reports.lock().unwrap(), ["Reading example.org"]);
}

#[tokio::test]
async fn the_language_of_the_caller_is_sent() {
    let setup = setup(PUBLIC, Reply::html(article(20))).await;
    let mut context = context();
    Arc::make_mut(&mut context.caller).locale = "de-CH".to_owned();
    setup.tool.call(arguments("https://example.org/"), &context).await.unwrap();
    let requests = setup.scenario.server.requests();
    assert_eq!(requests[0].header("accept-language"), Some("de-CH,de;q=0.9,en;q=0.5"));
}

#[test]
fn only_language_tags_are_sent() {
    assert_eq!(accept_language("en").as_deref(), Some("en"));
    assert_eq!(accept_language("en_US").as_deref(), Some("en-US,en;q=0.9"));
    assert_eq!(accept_language("fr").as_deref(), Some("fr,en;q=0.5"));
    for odd in ["", "*", "de\r\nX-Header: 1", "a", "overlonglanguage", "de--CH"] {
        assert_eq!(accept_language(odd), None, "{odd:?}");
    }
}

#[test]
fn settings_are_checked_entry_by_entry() {
    let tool = ReadWebPage::new(toolcrib_egress::Egress::new(EgressSettings::default()).unwrap());
    assert_eq!(
        tool.validate_settings(&hosts("wiki.intern, *.example.com; 10.0.0.5:8443\nhttp://printer")),
        []
    );
    assert_eq!(tool.validate_settings(&Settings::default()), []);
    let problems = tool.validate_settings(&hosts("good.example.com, ftp://bad, 127.0.0.1; also/bad"));
    assert_eq!(problems.len(), 3);
    for (problem, entry) in problems.iter().zip(["ftp://bad", "127.0.0.1", "also/bad"]) {
        assert_eq!(problem.field.as_deref(), Some("allowedPrivateHosts"));
        assert!(problem.message.contains(entry), "{}", problem.message);
    }
}

#[test]
fn the_limits_of_settings_are_those_of_the_definition() {
    let definition = Definition::read(DEFINITION, "definition.json", &Components::default()).unwrap();
    let resolve = |settings: Value| {
        let settings: Map<String, Value> = settings.as_object().unwrap().clone();
        definition.settings_schema.resolve(&settings)
    };
    let defaults = resolve(json!({})).unwrap();
    assert_eq!(defaults.unsigned("timeoutSeconds"), Some(60));
    assert_eq!(defaults.unsigned("maxContentCharacters"), Some(30_000));
    assert_eq!(defaults.text("allowedPrivateHosts"), None);
    assert!(resolve(json!({ "timeoutSeconds": 240, "maxContentCharacters": 100_000 })).is_ok());
    let problems = resolve(json!({ "timeoutSeconds": 241, "maxContentCharacters": 100_001 })).unwrap_err();
    assert!(problems.iter().all(|problem| problem.message.contains("above the maximum")), "{problems:?}");
    let longest = std::time::Duration::from_mins(4);
    assert!(definition.timeout.is_some_and(|timeout| timeout > longest));
}
