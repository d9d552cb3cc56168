//! Every text of the runtime that a model can read, held fast in one place, so that each is read as a model reads it.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use super::approval::{both_then, carry_on, scene, until_it_waits};
use super::*;
use crate::caller::{Caller, Credits, Grants};
use crate::context::{ContextRequest, Gathered};
use crate::executor::frame;
use crate::message::{AssistantMessage, AssistantPart, ToolCall};
use crate::offering::approval::{AfterUntrusted, ApprovalAnswer, ApprovalRule, Pattern, RuleAnswer};
use crate::policy::{OutboundRestriction, SettingsState};
use crate::testing::MemoryLedger;
use crate::tool::{Display, Outgoing, SettingProblem, ToolContext};

/// The texts, each under what leads to it.
#[derive(Default)]
struct Texts(String);

impl Texts {
    fn heading(&mut self, heading: &str) {
        let _ = write!(self.0, "\n## {heading}\n");
    }

    fn add(&mut self, when: &str, text: &str) {
        let _ = writeln!(self.0, "\n### {when}\n{text}");
    }
}

/// A tool that fetches what the model chose, and can be switched off.
struct Fetch(Arc<AtomicBool>);

#[async_trait]
impl Tool for Fetch {
    fn implementation_key(&self) -> &'static str {
        "fetch"
    }

    fn display(&self, _locale: &str) -> Display {
        Display::new("🌐", "Fetch", "Fetches a page.")
    }

    fn is_enabled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn outgoing(&self) -> Outgoing {
        Outgoing::ModelChosenUrl
    }

    async fn call(&self, _: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("page"))
    }
}

/// What has changed since the tool was offered.
type Change = fn(&mut Caller, &mut Policy, &mut Labels);

/// Every change for which a tool that was offered is refused at admission.
fn changes() -> Vec<Change> {
    vec![
        |_, policy, _| {
            policy.tools_off.insert("api".to_owned());
        },
        |_, policy, _| {
            policy.disabled.insert("fetch".to_owned());
        },
        |_, policy, _| {
            let problems = Arc::from([SettingProblem::field("baseUrl", "required, but not set")]);
            policy.settings.insert("fetch".to_owned(), SettingsState::NotConfigured(problems));
        },
        |caller, _, _| caller.grants = Grants::Only(std::collections::BTreeSet::new()),
        |caller, _, _| {
            caller.switched_off.insert("fetch".to_owned());
        },
        |_, policy, _| {
            policy.default_tools.insert("api".to_owned(), std::collections::HashSet::new());
        },
        |_, policy, _| {
            policy.minimum_confidence.insert("fetch".to_owned(), Confidence::High);
        },
        |_, _, labels| labels.outbound = OutboundRestriction::ConfiguredServices,
        |caller, _, _| caller.credits = Credits::Balance { free: 1_000, held: 0 },
        |caller, _, _| caller.credits = Credits::Balance { free: 1_000, held: 5_000_000 },
    ]
}

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: "c".to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
        opaque: serde_json::Map::new(),
    }
}

/// Refusals at admission, and the texts for the system prompt.
fn offering_texts(texts: &mut Texts) {
    let enabled = Arc::new(AtomicBool::new(true));
    let mut fetch = definition("fetch");
    fetch["cost"] = json!({ "perCall": 2_000_000 });
    fetch["returnsUntrustedContent"] = json!(true);
    fetch["systemPromptInstructions"] = json!("(the policy text of the tool)");
    let files = [DefinitionFile::added("fetch.json", fetch.to_string())];
    let tools: [Arc<dyn Tool>; 1] = [Arc::new(Fetch(Arc::clone(&enabled)))];
    let (catalog, problems) = Catalog::build(&files, &tools, &crate::caller::Components::default());
    assert_eq!(problems, []);
    let catalog = Arc::new(catalog);
    let model = || ModelStanding {
        identity: crate::model::ModelIdentity {
            provider_id: "p".to_owned(),
            model: "m".to_owned(),
            confidence: Confidence::Medium,
            trusted: false,
        },
        capabilities: crate::model::ModelCapabilities { functions: true, images: false },
    };
    let offering = offer(&catalog, &Arc::new(caller()), OfferRequest::default(), &Arc::default(), model());
    texts.heading("System prompt");
    texts.add("of a tool whose results strangers write", &offering.instructions(None).expect("a text"));
    texts.add("a result by strangers", &frame::frame("(the result)"));

    texts.heading("Refused at admission");
    let mut refused = |offering: &crate::offering::Offering, now: &Circumstances, name: &str| {
        let refusal = offering.propose(call(name, "{}"), now).expect_err("refused");
        texts.add(refusal.code.unwrap_or("not offered"), &refusal.for_model);
    };
    for change in changes() {
        let (mut caller, mut policy, mut labels) = (caller(), Policy::default(), Labels::default());
        change(&mut caller, &mut policy, &mut labels);
        let now = Circumstances { labels, ..Circumstances::new(Arc::new(caller), Arc::new(policy)) };
        refused(&offering, &now, "fetch");
    }
    let now = crate::testing::circumstances();
    enabled.store(false, Ordering::Relaxed);
    refused(&offering, &now, "fetch");
    refused(&offering, &now, "fetsh");
    refused(&offering, &now, "something else");
    let nothing = OfferRequest { selection: crate::offering::Selection::Nothing, ..OfferRequest::default() };
    refused(&offer(&catalog, &Arc::new(caller()), nothing, &Arc::default(), model()), &now, "fetch");
}

/// What the model reads of one call of `look` whose definition is changed like this.
async fn result_of(tool: RecordingTool, arguments: &str, change: fn(&mut Scene)) -> String {
    let model = ScriptedModel::new([calls(&[("c1", "look", arguments)]), says("ok")]);
    let mut scene = Scene::new(model, vec![tool]);
    change(&mut scene);
    scene.play().await.last_result()
}

fn plain() -> RecordingTool {
    RecordingTool::returning("look", "x")
}

fn strict_arguments(scene: &mut Scene) {
    scene.tools[0].0["sensitiveArguments"] = json!(["token"]);
    scene.tools[0].0["function"]["parameters"] = json!({
        "type": "object",
        "properties": {
            "city": { "type": "string", "description": "A city." },
            "days": { "type": "integer", "minimum": 1, "description": "Days." },
            "unit": { "enum": ["celsius", "fahrenheit"], "description": "A unit." },
            "token": { "type": "string", "maxLength": 3, "description": "A secret." },
            "offset": { "type": ["integer", "null"], "description": "Where to begin." }
        },
        "required": ["city", "offset"],
        "additionalProperties": false
    });
}

async fn argument_texts(texts: &mut Texts) {
    texts.heading("Arguments that do not fit");
    for (when, arguments) in [
        ("no JSON", "not json"),
        ("no object", "[1]"),
        ("something is missing", "{}"),
        ("several at once", r#"{"city":{},"days":0,"unit":"celcius","citty":"a"}"#),
        ("a sensitive value", r#"{"city":"a","token":"canary"}"#),
    ] {
        texts.add(when, &result_of(plain(), arguments, strict_arguments).await);
    }
    let none = |scene: &mut Scene| {
        scene.tools[0].0["function"]["parameters"] =
            json!({ "type": "object", "properties": {}, "additionalProperties": false });
    };
    texts.add("a tool without arguments", &result_of(plain(), r#"{"q":1}"#, none).await);
}

async fn outcome_texts(texts: &mut Texts) {
    texts.heading("Calls that did not succeed");
    let failing =
        |error: fn() -> ToolError| RecordingTool::behaving("look", move |_| Behavior::End(Err(error())));
    let nothing = |_: &mut Scene| {};
    let failed = failing(|| ToolError::failed("(the tool's words)"));
    texts.add("the tool failed", &result_of(failed, "{}", nothing).await);
    let blocked = failing(|| ToolError::blocked("(the tool's words)"));
    texts.add("the tool blocked", &result_of(blocked, "{}", nothing).await);
    texts.add(
        "it panicked",
        &result_of(RecordingTool::behaving("look", |_| Behavior::Panic), "{}", nothing).await,
    );
    texts.add(
        "it took too long",
        &result_of(RecordingTool::behaving("look", |_| Behavior::Hang), "{}", nothing).await,
    );
    let poor = |scene: &mut Scene| {
        scene.tools[0].0["cost"] = json!({ "perCall": 10 });
        scene.ledger = Arc::new(MemoryLedger::with(5));
    };
    texts.add("the ledger has not enough", &result_of(plain(), "{}", poor).await);
    let long = RecordingTool::returning("look", &"0123456789\n".repeat(100));
    let short = |scene: &mut Scene| scene.limits.one_result = 200;
    texts.add("a result that is cut", &result_of(long, "{}", short).await);
    let dangling = Message::Assistant(AssistantMessage {
        parts: vec![AssistantPart::Call(call("look", "{}"))],
        opaque: serde_json::Map::new(),
    });
    let request = ModelRequest { messages: vec![Message::user("q"), dangling], ..ModelRequest::default() };
    let machine = Machine::new(request, None, Limits::default());
    let result = machine.messages().last().map(Message::text).expect("a result");
    texts.add("the call was cancelled, or its result never came", &result);
}

/// Lowers one limit.
type Limit = fn(&mut Scene);

async fn limit_texts(texts: &mut Texts) {
    texts.heading("Limits");
    let many = || {
        let call = |index: usize| format!(r#"{{"q":"{index}"}}"#);
        let round = |index: usize| {
            let (first, second) = (call(index), call(index + 1));
            calls(&[("a", "look", first.as_str()), ("b", "look", second.as_str())])
        };
        ScriptedModel::new([round(1), round(3), says("final")])
    };
    let limits: [(&str, Limit); 4] = [
        ("calls", |scene| scene.limits.calls = 1),
        ("result characters", |scene| scene.limits.result_characters = 1),
        ("credits", |scene| {
            scene.tools[0].0["cost"] = json!({ "perCall": 1_500_000 });
            scene.ledger = Arc::new(MemoryLedger::with(10_000_000));
            scene.limits.credits = Some(1_500_000);
        }),
        ("rounds", |scene| scene.limits.rounds = 1),
    ];
    for (name, change) in limits {
        let mut scene = Scene::new(many(), vec![plain()]);
        change(&mut scene);
        let outcome = scene.play().await;
        let requests = outcome.model.requests();
        let last = &requests.last().expect("a request").messages;
        if name != "rounds" {
            texts.add(&format!("{name}: instead of a result"), &outcome.last_result());
        }
        texts.add(&format!("{name}: the final answer is asked for"), &last.last().expect("a message").text());
    }
    let round = || calls(&[("c", "look", r#"{"q":"same"}"#)]);
    let model = ScriptedModel::new((0..5).map(|_| round()).chain([says("final")]));
    let outcome = Scene::new(model, vec![plain()]).play().await;
    let requests = outcome.model.requests();
    let read = |request: usize| {
        requests[request]
            .messages
            .iter()
            .rfind(|m| matches!(m, Message::ToolResult(_)))
            .map(Message::text)
            .expect("a result")
    };
    texts.add("the third identical call", &read(3));
    texts.add("the fifth identical call", &read(5));
    texts.add("then", &requests[5].messages.last().expect("a message").text());
}

async fn approval_texts(texts: &mut Texts) {
    texts.heading("Approval");
    let mut alone = scene(both_then("ok"));
    alone.asking = Asking::Impossible;
    let first_result = |scene: &ScriptedModel| {
        let requests = scene.requests();
        let messages = &requests.last().expect("a request").messages;
        messages.iter().find(|m| matches!(m, Message::ToolResult(_))).map(Message::text).expect("a result")
    };
    texts.add("nobody can be asked", &first_result(&alone.play().await.model));
    let mut denied = scene(both_then("ok"));
    denied.policy.approval.rules =
        vec![ApprovalRule { tools: Pattern::new("act"), argument: None, answer: RuleAnswer::Deny }];
    texts.add("a rule of the organization denies", &first_result(&denied.play().await.model));
    let mut tainted = scene(both_then("ok"));
    tainted.tools[0].0["approval"] = json!("afterUntrusted");
    tainted.labels.untrusted = true;
    tainted.policy.approval.after_untrusted = AfterUntrusted::Refuse;
    texts.add(
        "after untrusted content, where such calls are refused",
        &first_result(&tainted.play().await.model),
    );
    for (name, answer) in [
        ("denied", ApprovalAnswer::Deny { note: None }),
        ("denied with a note", ApprovalAnswer::Deny { note: Some("(what the user says)".to_owned()) }),
        ("expired", ApprovalAnswer::Expired),
        ("edited", ApprovalAnswer::Edit { arguments: json!({ "q": "later" }) }),
    ] {
        let scene = scene(both_then("ok"));
        let asked = until_it_waits(&scene).await.approvals[0].id.clone();
        carry_on(&scene, vec![(asked, answer)]).await;
        texts.add(name, &first_result(&scene.model));
    }
}

struct Long;

#[async_trait]
impl ContextSource for Long {
    fn heading(&self) -> &'static str {
        "(the heading of the source)"
    }

    fn tool_id(&self) -> &'static str {
        "look"
    }

    async fn gather(&self, _: &ContextRequest<'_>) -> Result<Option<Gathered>, ToolError> {
        Ok(Some(Gathered {
            labels: Labels { untrusted: true, ..Labels::default() },
            ..Gathered::text("0123456789\n".repeat(100))
        }))
    }
}

async fn context_texts(texts: &mut Texts) {
    texts.heading("Context");
    let mut scene = Scene::new(ScriptedModel::new([says("ok")]), vec![plain()]);
    scene.context = vec![Arc::new(Long)];
    scene.limits.context_characters = 300;
    let outcome = scene.play().await;
    texts.add("by strangers, and cut", &outcome.model.requests()[0].messages[0].text());
}

#[tokio::test(start_paused = true)]
async fn every_text_that_a_model_can_read_is_the_same_as_it_was() {
    let mut texts = Texts::default();
    offering_texts(&mut texts);
    argument_texts(&mut texts).await;
    outcome_texts(&mut texts).await;
    limit_texts(&mut texts).await;
    approval_texts(&mut texts).await;
    context_texts(&mut texts).await;
    assert!(!texts.0.contains("canary"));
    insta::assert_snapshot!("every_text_for_models", texts.0);
}
