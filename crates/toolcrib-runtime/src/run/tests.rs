use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::clock::Clock;
use crate::confidence::Confidence;
use crate::context::ContextSource;
use crate::executor::Executor;
use crate::journal::{RunState, TraceStatus};
use crate::labels::Labels;
use crate::ledger::{FreeOfCharge, Ledger};
use crate::message::{Message, Usage};
use crate::model::{
    FinishReason, ModelError, ModelErrorKind, ModelEvent, ModelRequest, ToolChoice, ToolSpec,
};
use crate::offering::approval::Approver;
use crate::offering::{ModelStanding, OfferRequest, offer};
use crate::policy::{Circumstances, Policy};
use crate::registry::{Catalog, DefinitionFile};
use crate::testing::{
    Behavior, MemoryJournal, RecordingTool, ScriptedModel, caller, calls, definition, says,
};
use crate::tool::{Origin, Source, Tool, ToolError, ToolOutput};

mod approval;
mod labels;
mod laws;
mod texts;

/// A clock on tokio's paused time.
struct PausedClock(tokio::time::Instant);

#[async_trait]
impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

struct Scene {
    model: Arc<ScriptedModel>,
    tools: Vec<(Value, Arc<RecordingTool>)>,
    journal: Arc<MemoryJournal>,
    ledger: Arc<dyn Ledger>,
    approver: Option<Arc<dyn Approver>>,
    context: Vec<Arc<dyn ContextSource>>,
    labels: Labels,
    asking: Asking,
    policy: Policy,
    limits: Limits,
    request: ModelRequest,
}

struct Outcome {
    events: Vec<RunEvent>,
    journal: Arc<MemoryJournal>,
    model: Arc<ScriptedModel>,
}

impl Scene {
    fn new(model: ScriptedModel, tools: Vec<RecordingTool>) -> Self {
        let tools =
            tools.into_iter().map(|tool| (definition(tool.implementation_key()), Arc::new(tool))).collect();
        let request = ModelRequest { messages: vec![Message::user("question")], ..ModelRequest::default() };
        Self {
            model: Arc::new(model),
            tools,
            journal: Arc::default(),
            ledger: Arc::new(FreeOfCharge),
            approver: None,
            context: Vec::new(),
            labels: Labels::default(),
            asking: Asking::Impossible,
            policy: Policy::default(),
            limits: Limits::default(),
            request,
        }
    }

    fn run(&self) -> (Run, Services) {
        let files: Vec<_> = self
            .tools
            .iter()
            .map(|(definition, _)| DefinitionFile::added("t.json", definition.to_string()))
            .collect();
        let implementations: Vec<Arc<dyn Tool>> =
            self.tools.iter().map(|(_, tool)| Arc::clone(tool) as Arc<dyn Tool>).collect();
        let (catalog, problems) =
            Catalog::build(&files, &implementations, &crate::caller::Components::default());
        assert_eq!(problems, []);
        let (caller, policy) = (Arc::new(caller()), Arc::new(self.policy.clone()));
        let model = ModelStanding {
            identity: crate::model::Model::identity(&*self.model).clone(),
            capabilities: crate::model::Model::capabilities(&*self.model),
        };
        let client_tools = self.request.tools.iter().map(|tool| tool.name.clone()).collect();
        let request = OfferRequest { client_tools, ..OfferRequest::default() };
        let offering = offer(&Arc::new(catalog), &caller, request, &policy, model);
        let clock: Arc<dyn Clock> = Arc::new(PausedClock(tokio::time::Instant::now()));
        let journal: Arc<dyn crate::journal::Journal> = Arc::clone(&self.journal) as _;
        let services = Services {
            executor: Executor::new(Arc::clone(&journal), Arc::clone(&self.ledger), Arc::clone(&clock)),
            journal,
            circumstances: Arc::new(Circumstances::new(caller, policy)),
            approver: self.approver.clone(),
            clock,
        };
        let run = Run {
            run_id: "run".to_owned(),
            conversation_id: None,
            model: Arc::clone(&self.model) as _,
            offering,
            request: self.request.clone(),
            new_messages: vec![Message::user("question")],
            labels: self.labels,
            context: self.context.clone(),
            asking: self.asking,
            limits: self.limits,
        };
        (run, services)
    }

    async fn play(self) -> Outcome {
        let (sender, mut receiver) = mpsc::channel(16);
        let (run, services) = self.run();
        let driver = tokio::spawn(drive(run, services, sender, CancellationToken::new()));
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            events.push(event);
        }
        driver.await.expect("the driver does not panic");
        Outcome { events, journal: self.journal, model: self.model }
    }
}

impl Outcome {
    fn answer(&self) -> &Answer {
        match self.events.last() {
            Some(RunEvent::Finished(answer)) => answer,
            other => panic!("no answer: {other:?}"),
        }
    }

    fn error(&self) -> &RunError {
        match self.events.last() {
            Some(RunEvent::Failed(error)) => error,
            other => panic!("no error: {other:?}"),
        }
    }

    fn streamed_text(&self) -> String {
        let texts = self.events.iter().filter_map(|event| match event {
            RunEvent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// What the model read as the result of its last call.
    fn last_result(&self) -> String {
        let requests = self.model.requests();
        let messages = &requests.last().expect("a request").messages;
        let results = messages.iter().filter_map(|message| match message {
            Message::ToolResult(result) => Some(result.text.clone()),
            _ => None,
        });
        results.collect::<Vec<_>>().pop().expect("a result")
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_without_tools_is_answered() {
    let outcome = Scene::new(ScriptedModel::new([says("hello")]), vec![]).play().await;
    assert_eq!(outcome.answer().text, "hello");
    assert_eq!(outcome.streamed_text(), "hello");
    assert!(outcome.model.requests()[0].tools.is_empty());
    assert_eq!(outcome.journal.ended()[0].state, RunState::Completed);
    assert_eq!(outcome.journal.ended()[0].messages.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_is_executed_and_its_result_goes_back() {
    let mut first = vec![ModelEvent::Text("Let me look.".to_owned())];
    first.extend(calls(&[("c1", "look", r#"{"q":"tides"}"#)]));
    let tool = RecordingTool::behaving("look", |_| {
        let mut output = ToolOutput::text("found it");
        let source = |url: &str| Source {
            title: "T".to_owned(),
            url: url.to_owned(),
            origin: Origin::Tool,
            tool_call_id: None,
        };
        output.sources = vec![source("https://Example.org"), source("https://example.org/#part")];
        Behavior::End(Ok(output))
    });
    let usage = ModelEvent::Usage(Usage { input_tokens: 5, output_tokens: 2, ..Usage::default() });
    first.insert(0, usage.clone());
    let mut second = says("Done.");
    second.insert(0, usage);
    let scene = Scene::new(ScriptedModel::new([first, second]), vec![tool]);
    let tool = Arc::clone(&scene.tools[0].1);
    let outcome = scene.play().await;
    assert_eq!(tool.calls(), [json!({"q": "tides"})]);
    assert_eq!(outcome.last_result(), "found it");
    let answer = outcome.answer();
    assert_eq!(answer.text, "Let me look.\n\nDone.");
    assert_eq!(outcome.streamed_text(), answer.text, "what was streamed is what is kept");
    assert_eq!(answer.sources.len(), 1, "one source per page");
    assert_eq!(answer.sources[0].tool_call_id.as_deref(), Some("c1"));
    assert_eq!(answer.usage.input_tokens, 10, "usage of all rounds is summed");
    let trace = &outcome.journal.traces()[0];
    assert_eq!((trace.status, trace.executed, trace.order, trace.round), (TraceStatus::Success, true, 1, 1));
    assert_eq!(outcome.journal.transcript(), answer.messages);
}

/// Plays one call of `tool` with these arguments, then a final answer.
async fn one_call(tool: RecordingTool, name: &str, arguments: &str) -> Outcome {
    let model = ScriptedModel::new([calls(&[("c1", name, arguments)]), says("ok")]);
    Scene::new(model, vec![tool]).play().await
}

#[tokio::test(start_paused = true)]
async fn bad_arguments_are_not_executed_and_the_model_reads_what_to_fix() {
    for (arguments, expected) in [
        ("not json", "not valid JSON"),
        ("[]", "not a JSON object"),
        (r#"{"x":1}"#, "unknown property \"x\""),
        (r#"{"q":{}}"#, "not of type string"),
    ] {
        let outcome = one_call(RecordingTool::returning("look", "x"), "look", arguments).await;
        assert!(outcome.last_result().contains(expected), "{arguments}: {}", outcome.last_result());
        let trace = &outcome.journal.traces()[0];
        assert_eq!((trace.status, trace.executed), (TraceStatus::Error, false), "{arguments}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_tool_is_blocked_with_the_names_that_exist() {
    let outcome = one_call(RecordingTool::returning("look", "x"), "lok", "{}").await;
    assert!(outcome.last_result().contains("Available tools: look. Did you mean \"look\"?"));
    let trace = &outcome.journal.traces()[0];
    assert_eq!((trace.status, trace.executed, trace.tool_id.as_str()), (TraceStatus::Blocked, false, "lok"));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_fails_blocks_panics_or_hangs_ends_its_call_and_nothing_more() {
    let failing =
        |error: fn() -> ToolError| RecordingTool::behaving("look", move |_| Behavior::End(Err(error())));
    let cases: [(RecordingTool, TraceStatus, &str); 4] = [
        (failing(|| ToolError::failed("no answer")), TraceStatus::Error, "Tool execution failed: no answer"),
        (failing(|| ToolError::blocked("not allowed")), TraceStatus::Blocked, "not allowed"),
        (
            RecordingTool::behaving("look", |_| Behavior::Panic),
            TraceStatus::Error,
            "Tool execution failed: an internal error in the tool. Do not repeat the call; go on without it, and tell the \
             user.",
        ),
        (
            RecordingTool::behaving("look", |_| Behavior::Hang),
            TraceStatus::Error,
            "Tool execution failed: the call took longer than 120 s and was stopped. Ask for less at once, or go on \
             without it.",
        ),
    ];
    for (tool, status, text) in cases {
        let outcome = one_call(tool, "look", "{}").await;
        assert_eq!(outcome.last_result(), text);
        assert_eq!(outcome.journal.traces()[0].status, status);
        assert_eq!(outcome.answer().text, "ok");
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_of_50_megabytes_is_capped_and_says_so() {
    let tool =
        RecordingTool::behaving("look", |_| Behavior::End(Ok(ToolOutput::text("x".repeat(50_000_000)))));
    let outcome = one_call(tool, "look", "{}").await;
    assert!(outcome.last_result().chars().count() <= 100_000);
    assert!(outcome.last_result().contains("characters are missing"));
    assert!(outcome.journal.traces()[0].truncation.is_some());
}

/// A model that calls `look` with new arguments in every round until it gets no tools, then answers.
fn insatiable(rounds: usize) -> ScriptedModel {
    let counter = AtomicUsize::new(0);
    let round =
        || calls(&[("c", "look", &format!(r#"{{"q":"{}"}}"#, counter.fetch_add(1, Ordering::Relaxed)))]);
    ScriptedModel::new((0..rounds).map(|_| round()).chain([says("final")]))
}

#[tokio::test(start_paused = true)]
async fn at_each_limit_a_final_answer_is_asked_for_and_marked_incomplete() {
    type Change = fn(&mut Limits);
    let cases: [(Change, usize, &str); 3] = [
        (|limits| limits.calls = 3, 3, "max_tool_calls"),
        (|limits| limits.rounds = 4, 4, "max_rounds"),
        (|limits| limits.result_characters = 25, 3, "max_tool_result_characters"),
    ];
    for (change, executed, code) in cases {
        let mut scene =
            Scene::new(insatiable(executed), vec![RecordingTool::returning("look", "0123456789")]);
        change(&mut scene.limits);
        let tool = Arc::clone(&scene.tools[0].1);
        let outcome = scene.play().await;
        assert_eq!(tool.calls().len(), executed, "{code}");
        let answer = outcome.answer();
        assert_eq!(answer.text, "final");
        assert_eq!(answer.incomplete.as_ref().map(Incomplete::code), Some(code));
        let requests = outcome.model.requests();
        let last = requests.last().expect("a request");
        assert!(last.tools.is_empty(), "{code}: tools are withheld");
        assert_eq!(outcome.journal.ended()[0].state, RunState::Incomplete);
        assert!(
            !answer.messages.iter().any(|message| message.text().contains("answer now")),
            "the request for an answer is not part of the conversation"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_limit_in_one_round_are_answered_but_not_traced() {
    let many: Vec<_> = (0..4).map(|index| (format!("c{index}"), format!(r#"{{"q":"{index}"}}"#))).collect();
    let many: Vec<_> = many.iter().map(|(id, arguments)| (id.as_str(), "look", arguments.as_str())).collect();
    let mut scene = Scene::new(
        ScriptedModel::new([calls(&many), says("final")]),
        vec![RecordingTool::returning("look", "x")],
    );
    scene.limits.calls = 2;
    let outcome = scene.play().await;
    assert_eq!(outcome.journal.traces().len(), 2);
    assert!(
        outcome.last_result().starts_with("Not executed: the limit of 2 tool calls per answer is reached.")
    );
    let results = |message: &&Message| matches!(message, Message::ToolResult(_));
    assert_eq!(outcome.answer().messages.iter().filter(results).count(), 4, "every call has a result");
}

#[tokio::test(start_paused = true)]
async fn a_repeated_call_is_not_executed_a_third_time() {
    let round = || calls(&[("c", "look", r#"{"q":"same"}"#)]);
    let model = ScriptedModel::new((0..5).map(|_| round()).chain([says("final")]));
    let scene = Scene::new(model, vec![RecordingTool::returning("look", "x")]);
    let tool = Arc::clone(&scene.tools[0].1);
    let outcome = scene.play().await;
    assert_eq!(tool.calls().len(), 2);
    assert_eq!(outcome.answer().incomplete.as_ref().map(Incomplete::code), Some("repeated_calls"));
}

#[tokio::test(start_paused = true)]
async fn a_final_answer_that_still_calls_is_used_for_its_text() {
    let mut stubborn = vec![ModelEvent::Text("That is all.".to_owned())];
    stubborn.extend(calls(&[("c9", "look", "{}")]));
    let mut scene = Scene::new(
        ScriptedModel::new([calls(&[("c", "look", "{}")]), stubborn]),
        vec![RecordingTool::returning("look", "x")],
    );
    scene.limits.calls = 1;
    let outcome = scene.play().await;
    assert_eq!(outcome.answer().text, "That is all.");
    assert_eq!(outcome.answer().finish, FinishReason::Stop);
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_text_and_calls_names_the_provider() {
    let outcome =
        Scene::new(ScriptedModel::new([vec![ModelEvent::Finished(FinishReason::Stop)]]), vec![]).play().await;
    assert_eq!(outcome.error().message, "scripted/model returned neither text nor tool calls");
    assert_eq!(outcome.journal.ended()[0].state, RunState::Failed);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_off_keeps_what_was_shown() {
    let cut = ModelError::new(ModelErrorKind::Cut, "the answer broke off");
    let model = ScriptedModel::with_failures([Ok(vec![Ok(ModelEvent::Text("Half a".to_owned())), Err(cut)])]);
    let outcome = Scene::new(model, vec![]).play().await;
    assert_eq!(outcome.error().message, "the answer broke off");
    let end = &outcome.journal.ended()[0];
    assert_eq!(end.state, RunState::Failed);
    assert_eq!(end.messages.iter().map(Message::text).collect::<Vec<_>>(), ["Half a"]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_thinks_for_ever_is_stopped_by_the_time_of_the_run() {
    let outcome = Scene::new(ScriptedModel::new([]), vec![]).play().await;
    assert!(matches!(outcome.error().kind, RunErrorKind::Time));
    assert_eq!(outcome.error().message, "no answer within the limit of 600 s");
}

#[tokio::test(start_paused = true)]
async fn when_nobody_listens_any_more_the_run_and_its_tool_stop() {
    let scene = Scene::new(
        ScriptedModel::new([calls(&[("c", "look", "{}")])]),
        vec![RecordingTool::behaving("look", |_| Behavior::Hang)],
    );
    let (sender, mut receiver) = mpsc::channel(16);
    let (run, services) = scene.run();
    let driver = tokio::spawn(drive(run, services, sender, CancellationToken::new()));
    while let Some(event) = receiver.recv().await {
        if matches!(event, RunEvent::CallStarted { .. }) {
            break;
        }
    }
    drop(receiver);
    driver.await.expect("ends by itself");
    assert_eq!(scene.journal.ended()[0].state, RunState::Cancelled);
    assert!(scene.journal.traces().iter().all(|trace| trace.status == TraceStatus::Cancelled));
}

#[tokio::test(start_paused = true)]
async fn a_stopped_run_leaves_a_conversation_that_can_go_on() {
    let scene = Scene::new(
        ScriptedModel::new([calls(&[("c1", "look", "{}"), ("c2", "look", r#"{"q":"x"}"#)])]),
        vec![RecordingTool::behaving("look", |_| Behavior::Hang)],
    );
    let (sender, mut receiver) = mpsc::channel(16);
    let (run, services) = scene.run();
    let driver = tokio::spawn(drive(run, services, sender, CancellationToken::new()));
    while !matches!(receiver.recv().await, Some(RunEvent::CallStarted { .. }) | None) {}
    drop(receiver);
    driver.await.expect("ends by itself");
    let messages = scene.journal.ended()[0].messages.clone();
    let results = messages.iter().filter(|message| matches!(message, Message::ToolResult(_))).count();
    assert_eq!(results, 2, "every call has a result: {messages:?}");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_no_more_does_not_keep_the_run_from_ending() {
    let many = (0..100).map(|index| ModelEvent::Text(format!("{index} "))).collect();
    let scene = Scene::new(ScriptedModel::new([many]), vec![]);
    let (sender, receiver) = mpsc::channel(4);
    let (run, services) = scene.run();
    let stopping = CancellationToken::new();
    let driver = tokio::spawn(drive(run, services, sender, stopping.clone()));
    tokio::time::sleep(Duration::from_secs(1)).await;
    stopping.cancel();
    driver.await.expect("ends though nobody reads");
    assert_eq!(scene.journal.ended()[0].state, RunState::Cancelled);
    drop(receiver);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_cannot_take_tools_is_asked_again_without_them() {
    let refusal = ModelError::new(ModelErrorKind::ToolsUnsupported, "does not support tools");
    let model = ScriptedModel::with_failures([Err(refusal), Ok(says("plain").into_iter().map(Ok).collect())]);
    let outcome = Scene::new(model, vec![RecordingTool::returning("look", "x")]).play().await;
    assert_eq!(outcome.answer().text, "plain");
    let requests = outcome.model.requests();
    assert_eq!((requests[0].tools.len(), requests[1].tools.len()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_end_is_cut_and_says_so() {
    let mebibyte = "x".repeat(1024 * 1024);
    let endless = (0..20).map(|_| ModelEvent::Text(mebibyte.clone())).collect();
    let outcome = Scene::new(ScriptedModel::new([endless]), vec![]).play().await;
    assert_eq!(outcome.answer().text.len(), 8 * 1024 * 1024);
    assert_eq!(outcome.answer().incomplete.as_ref().map(Incomplete::code), Some("max_output_tokens"));
}

#[tokio::test(start_paused = true)]
async fn a_silent_final_round_keeps_what_was_said_before() {
    let mut first = vec![ModelEvent::Text("So far so good.".to_owned())];
    first.extend(calls(&[("c", "look", "{}")]));
    let silent = vec![ModelEvent::Finished(FinishReason::Stop)];
    let mut scene =
        Scene::new(ScriptedModel::new([first, silent]), vec![RecordingTool::returning("look", "x")]);
    scene.limits.calls = 1;
    let outcome = scene.play().await;
    assert_eq!(outcome.answer().text, "So far so good.");
    assert!(outcome.answer().incomplete.is_some());
}

#[tokio::test(start_paused = true)]
async fn the_arguments_of_a_withheld_tool_are_masked_too() {
    let mut scene = Scene::new(
        ScriptedModel::new([calls(&[("c1", "look", r#"{"q":"canary"}"#)]), says("ok")]),
        vec![RecordingTool::returning("look", "x")],
    );
    scene.tools[0].0["sensitiveArguments"] = json!(["q"]);
    scene.tools[0].0["visibleIn"] = json!({"deniedComponents": ["api"]});
    let outcome = scene.play().await;
    let trace = &outcome.journal.traces()[0];
    assert_eq!(trace.status, TraceStatus::Blocked);
    let started = outcome.events.iter().find(|event| matches!(event, RunEvent::CallStarted { .. }));
    assert!(!format!("{trace:?} {started:?}").contains("canary"));
}

#[tokio::test(start_paused = true)]
async fn nothing_runs_that_cannot_be_written_down() {
    let scene = Scene::new(
        ScriptedModel::new([calls(&[("c", "look", "{}")]), says("x")]),
        vec![RecordingTool::returning("look", "x")],
    );
    scene.journal.break_down();
    let tool = Arc::clone(&scene.tools[0].1);
    let outcome = scene.play().await;
    assert!(matches!(outcome.error().kind, RunErrorKind::Storage));
    assert_eq!(tool.calls(), Vec::<Value>::new());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_needs_approval_is_refused_where_nobody_can_be_asked() {
    let tools = || vec![RecordingTool::returning("act", "done"), RecordingTool::returning("read", "page")];
    let script = || {
        ScriptedModel::new([
            calls(&[("a", "act", "{}"), ("b", "read", "{}"), ("c", "act", r#"{"q":"2"}"#)]),
            says("ok"),
        ])
    };
    for (approval, executed) in [("never", 2), ("afterUntrusted", 1), ("always", 0)] {
        let mut scene = Scene::new(script(), tools());
        scene.tools[0].0["approval"] = json!(approval);
        scene.tools[1].0["returnsUntrustedContent"] = json!(true);
        let act = Arc::clone(&scene.tools[0].1);
        let outcome = scene.play().await;
        assert_eq!(act.calls().len(), executed, "{approval}");
        let blocked =
            outcome.journal.traces().iter().filter(|trace| trace.status == TraceStatus::Blocked).count();
        assert_eq!(blocked, 2 - executed, "{approval}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_clients_own_tool_is_left_to_the_client() {
    let mut scene = Scene::new(
        ScriptedModel::new([calls(&[("c1", "look", "{}"), ("c2", "their_tool", "{\"a\":1}")])]),
        vec![RecordingTool::returning("look", "x")],
    );
    let theirs = ToolSpec {
        name: "their_tool".to_owned(),
        description: None,
        parameters: json!({"type": "object"}),
        strict: None,
    };
    scene.request.tools = [Arc::new(theirs)].into();
    let outcome = scene.play().await;
    let answer = outcome.answer();
    assert_eq!(answer.finish, FinishReason::ToolCalls);
    assert_eq!(answer.client_calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["their_tool"]);
    assert_eq!(outcome.journal.traces().len(), 1, "our own call of the round ran");
}

#[tokio::test(start_paused = true)]
async fn a_forced_call_is_forced_once() {
    let mut scene = Scene::new(
        ScriptedModel::new([calls(&[("c1", "look", "{}")]), says("ok")]),
        vec![RecordingTool::returning("look", "x")],
    );
    scene.request.tool_choice = ToolChoice::Required;
    let outcome = scene.play().await;
    let choices: Vec<_> = outcome.model.requests().into_iter().map(|request| request.tool_choice).collect();
    assert_eq!(choices, [ToolChoice::Required, ToolChoice::Auto]);
}

#[tokio::test(start_paused = true)]
async fn protected_results_do_not_reach_a_provider_below_their_demand() {
    let tool = RecordingTool::behaving("look", |_| {
        let mut output = ToolOutput::text("secret plans");
        output.required_confidence = Confidence::High;
        Behavior::End(Ok(output))
    });
    let model = ScriptedModel::new([calls(&[("c1", "look", "{}")]), says("leak")])
        .with_confidence(Confidence::Medium);
    let outcome = Scene::new(model, vec![tool]).play().await;
    assert!(matches!(outcome.error().kind, RunErrorKind::ConfidenceTooLow { needs: Confidence::High, .. }));
    assert_eq!(outcome.model.requests().len(), 1, "the result was not sent");
    assert_eq!(outcome.journal.ended()[0].labels.required_confidence, Confidence::High);
}

#[tokio::test(start_paused = true)]
async fn parallel_tools_run_side_by_side_and_results_keep_the_order_of_the_calls() {
    let running = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let (count, peak) = (Arc::clone(&running), Arc::clone(&most));
    let tool = RecordingTool::behaving("look", move |arguments| {
        peak.fetch_max(count.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        Behavior::End(Ok(ToolOutput::text(arguments["q"].as_str().unwrap_or_default())))
    });
    let mut scene = Scene::new(
        ScriptedModel::new([
            calls(&[("a", "look", r#"{"q":"1"}"#), ("b", "look", r#"{"q":"2"}"#)]),
            says("ok"),
        ]),
        vec![tool],
    );
    scene.tools[0].0["concurrency"] = json!("parallel");
    let outcome = scene.play().await;
    assert_eq!(most.load(Ordering::SeqCst), 2);
    let results = outcome.answer().messages.iter().filter_map(|message| match message {
        Message::ToolResult(result) => Some((result.call_id.clone(), result.text.clone())),
        _ => None,
    });
    let expected = [("a", "1"), ("b", "2")].map(|(id, text)| (id.to_owned(), text.to_owned()));
    assert_eq!(results.collect::<Vec<_>>(), expected);
}

#[tokio::test(start_paused = true)]
async fn sensitive_arguments_are_masked_in_events_and_traces_but_reach_the_tool() {
    let mut scene = Scene::new(
        ScriptedModel::new([calls(&[("c1", "look", r#"{"q":"canary"}"#)]), says("ok")]),
        vec![RecordingTool::returning("look", "x")],
    );
    scene.tools[0].0["sensitiveArguments"] = json!(["q"]);
    let tool = Arc::clone(&scene.tools[0].1);
    let outcome = scene.play().await;
    assert_eq!(tool.calls(), [json!({"q": "canary"})]);
    assert_eq!(outcome.journal.traces()[0].arguments, json!({"q": "*****"}));
    let shown = outcome.events.iter().any(|event| match event {
        RunEvent::CallStarted { arguments, .. } => arguments.to_string().contains("canary"),
        RunEvent::CallEnded(trace) => format!("{trace:?}").contains("canary"),
        _ => false,
    });
    assert!(!shown);
}
