//! Which URLs may be opened, by setting, restriction and conversation.

use toolcrib_runtime::executor::{CallScope, Executor};
use toolcrib_runtime::ledger::FreeOfCharge;
use toolcrib_runtime::links::Links;
use toolcrib_runtime::message::{AssistantMessage, AssistantPart, Message, ToolCall, ToolResult};
use toolcrib_runtime::model::{ModelCapabilities, ModelIdentity};
use toolcrib_runtime::offering::{Admission, ModelStanding, OfferRequest, offer};
use toolcrib_runtime::policy::OutboundRestriction;
use toolcrib_runtime::registry::{Catalog, DefinitionFile};
use toolcrib_runtime::testing::{MemoryJournal, caller, circumstances};

use super::*;
use crate::builtin::tests::TestClock;

const KNOWN: &str = "https://example.org/tides";
const UNKNOWN: &str = "https://example.org/collect?d=s3cret";

fn conversation() -> Arc<Links> {
    Arc::new(Links::of(&[Message::user(format!("What does {KNOWN} say?"))]))
}

fn policy(name: &str) -> Arc<Settings> {
    let value = SettingValue::Plain(Value::from(name));
    Arc::new(Settings::new(BTreeMap::from([("addressPolicy".to_owned(), value)])))
}

/// Calls the tool; what came of it, and the connections that were tried.
async fn call(url: &str, context: ToolContext) -> (Result<ToolOutput, ToolError>, usize) {
    let setup = setup(PUBLIC, Reply::html(article(20))).await;
    let result = setup.tool.call(arguments(url), &context).await;
    (result, setup.scenario.connector.attempts().len())
}

#[tokio::test]
async fn a_url_is_opened_as_setting_restriction_and_conversation_say() {
    use OutboundRestriction::{ConfiguredServices, LinksFromChat, Unrestricted};
    for (setting, outbound, url, opened) in [
        (None, Unrestricted, KNOWN, true),
        (None, Unrestricted, UNKNOWN, false),
        (Some("from_conversation"), Unrestricted, KNOWN, true),
        (Some("from_conversation"), Unrestricted, UNKNOWN, false),
        (Some("any"), Unrestricted, UNKNOWN, true),
        (Some("any"), LinksFromChat, KNOWN, true),
        (Some("any"), LinksFromChat, UNKNOWN, false),
        (None, LinksFromChat, UNKNOWN, false),
        (Some("any"), ConfiguredServices, KNOWN, false),
        (None, ConfiguredServices, KNOWN, false),
    ] {
        let settings = setting.map_or_else(Arc::default, policy);
        let context = ToolContext { settings, outbound, links: conversation(), ..context() };
        let (result, attempts) = call(url, context).await;
        let row = format!("{setting:?} {outbound:?} {url}");
        assert_eq!(attempts, usize::from(opened), "{row}");
        if opened {
            assert!(result.is_ok(), "{row}: {result:?}");
        } else {
            let reason = blocked(result);
            assert!(!reason.contains("s3cret") && !reason.contains("example.org"), "{row}: {reason}");
        }
    }
}

#[tokio::test]
async fn a_person_who_chose_the_url_is_not_asked_where_it_stands() {
    let context = ToolContext { links: Arc::new(Links::Any), ..context() };
    assert!(call(UNKNOWN, context).await.0.is_ok());
}

#[tokio::test]
async fn a_blocked_url_tells_the_model_what_to_do() {
    let context = ToolContext { links: conversation(), ..context() };
    let reason = blocked(call(UNKNOWN, context).await.0);
    assert!(
        reason.contains("exactly as it stands") && reason.contains("ask the user for the link"),
        "{reason}"
    );
}

#[tokio::test]
async fn a_page_in_the_cache_is_not_returned_for_a_url_that_is_not_known() {
    let setup = setup(PUBLIC, Reply::html(article(20))).await;
    let any = ToolContext { links: Arc::new(Links::Any), ..context() };
    setup.tool.call(arguments(UNKNOWN), &any).await.unwrap();
    blocked(setup.tool.call(arguments(UNKNOWN), &ToolContext { links: conversation(), ..any }).await);
}

/// One call through gates and executor, as a run makes it; the messages that it adds to the conversation.
async fn executed(setup: Setup, url: &str, include_links: bool) -> Vec<Message> {
    let file = DefinitionFile::built_in("definition.json", DEFINITION);
    let (catalog, problems) =
        Catalog::build(&[file], &[Arc::new(setup.tool) as Arc<dyn Tool>], &Components::default());
    assert_eq!(problems, []);
    let identity = ModelIdentity {
        provider_id: "p".to_owned(),
        model: "m".to_owned(),
        confidence: Confidence::Medium,
        trusted: false,
    };
    let model = ModelStanding {
        identity: identity.clone(),
        capabilities: ModelCapabilities { functions: true, images: false },
    };
    let offering =
        offer(&Arc::new(catalog), &Arc::new(caller()), OfferRequest::default(), &Arc::default(), model);
    let call = ToolCall {
        id: "c".to_owned(),
        name: "read_web_page".to_owned(),
        arguments: json!({ "url": url, "include_links": include_links }).to_string(),
        opaque: Map::new(),
    };
    let answer = AssistantMessage { parts: vec![AssistantPart::Call(call.clone())], opaque: Map::new() };
    let Admission::Admitted(admitted) = offering.admit(call, &circumstances()) else {
        panic!("not admitted")
    };
    let executor =
        Executor::new(Arc::new(MemoryJournal::default()), Arc::new(FreeOfCharge), Arc::new(TestClock::new()));
    let outcome = executor.execute(admitted, &CallScope::single("run", &identity)).await.unwrap();
    assert!(outcome.for_model.starts_with("<untrusted-content"), "{}", outcome.for_model);
    let result = ToolResult { call_id: "c".to_owned(), text: outcome.for_model, is_error: false };
    vec![Message::Assistant(answer), Message::ToolResult(result)]
}

#[tokio::test]
async fn a_page_that_was_read_brings_its_links_into_the_conversation() {
    let body = "<title>Tides</title><main><h1>Tides</h1><p>Read the <a href='/a_(b)?x=1&amp;y=2' title='\"T\"'>table</a>\n\
                and <a href='https://other.example/ä'>another</a>, \"quoted\" or not.</p>\
                <p>Plain: https://plain.example/_x_ ends here.</p></main>";
    for include_links in [false, true] {
        let links = Links::of(&executed(setup(PUBLIC, Reply::html(body)).await, KNOWN, include_links).await);
        for url in [
            "https://example.org/a_(b)?x=1&y=2",
            "https://example.org/a_%28b%29?x=1&y=2",
            "https://other.example/%C3%A4",
            "https://plain.example/_x_",
        ] {
            assert!(links.contain(url), "{url} {include_links}: {links:?}");
        }
        assert!(!links.contain("https://example.org/a_(b)?x=1&y=2&d=s3cret"));
        assert!(!links.contain(KNOWN), "what only the call itself says is not known by its result");
    }
}

#[tokio::test]
async fn where_an_allowed_url_redirects_to_is_read_and_known_afterwards() {
    let setup = setup(PUBLIC, Reply::html(article(20))).await;
    setup.scenario.server.push(Reply::redirect(302, "/moved/tides"));
    let links = Links::of(&executed(setup, KNOWN, false).await);
    assert!(links.contain("https://example.org/moved/tides"), "{links:?}");
}

#[test]
fn the_setting_names_what_is_allowed() {
    let definition = Definition::read(DEFINITION, "definition.json", &Components::default()).unwrap();
    let resolve = |value: Value| {
        let values = Map::from_iter([("addressPolicy".to_owned(), value)]);
        definition.settings_schema.resolve(&values)
    };
    let default = definition.settings_schema.resolve(&Map::new()).unwrap();
    assert_eq!(default.text("addressPolicy"), Some("from_conversation"));
    assert!(resolve(json!("any")).is_ok());
    for wrong in [json!("all"), json!(true)] {
        let problems = resolve(wrong).unwrap_err();
        assert_eq!(problems[0].field.as_deref(), Some("addressPolicy"));
    }
    let message = resolve(json!("all")).unwrap_err()[0].message.clone();
    assert!(message.contains("\"any\", \"from_conversation\""), "{message}");
}
