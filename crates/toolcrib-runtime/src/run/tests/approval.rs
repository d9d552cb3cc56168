//! Calls that wait for a person.

use super::*;
use crate::offering::approval::{ApprovalAnswer, ApprovalRule, ApprovalVerdict, Pattern, RuleAnswer, Why};
use crate::registry::RegisteredTool;

/// A scene in which `act` asks before every call and `look` does not.
pub(super) fn scene(script: impl IntoIterator<Item = Vec<ModelEvent>>) -> Scene {
    let tools = vec![RecordingTool::returning("act", "done"), RecordingTool::returning("look", "seen")];
    let mut scene = Scene::new(ScriptedModel::new(script), tools);
    scene.tools[0].0["approval"] = json!("always");
    scene.asking = Asking::Possible;
    scene
}

/// One round with a call of each tool, then an answer.
pub(super) fn both_then(answer: &str) -> Vec<Vec<ModelEvent>> {
    let mut first = vec![ModelEvent::Text("I will act.".to_owned())];
    first.extend(calls(&[("c1", "act", r#"{"q":"now"}"#), ("c2", "look", "{}")]));
    vec![first, says(answer)]
}

async fn events(receiver: &mut mpsc::Receiver<RunEvent>) -> Vec<RunEvent> {
    let mut events = Vec::new();
    while let Some(event) = receiver.recv().await {
        events.push(event);
    }
    events
}

/// Plays until the run waits; the scene can go on afterwards.
pub(super) async fn until_it_waits(scene: &Scene) -> Box<Pause> {
    let (sender, mut receiver) = mpsc::channel(64);
    let (run, services) = scene.run();
    drive(run, services, sender, CancellationToken::new()).await;
    match events(&mut receiver).await.pop() {
        Some(RunEvent::Paused(pause)) => pause,
        other => panic!("the run does not wait: {other:?}"),
    }
}

/// Carries on from what was saved, as another process would.
pub(super) async fn carry_on(scene: &Scene, answers: Vec<(String, ApprovalAnswer)>) -> Vec<RunEvent> {
    let text = scene.journal.pauses().pop().expect("a pause").state;
    let saved = SavedRun::read(&text).expect("a saved state");
    let (run, services) = scene.run();
    let resumed =
        ResumedRun { saved, model: run.model, offering: run.offering, answers, limits: scene.limits };
    let (sender, mut receiver) = mpsc::channel(64);
    resume(resumed, services, sender, CancellationToken::new()).await;
    events(&mut receiver).await
}

#[tokio::test(start_paused = true)]
async fn a_run_waits_for_a_person_while_the_other_calls_of_the_round_go_on() {
    let scene = scene(both_then("Done."));
    let pause = until_it_waits(&scene).await;
    let (act, look) = (Arc::clone(&scene.tools[0].1), Arc::clone(&scene.tools[1].1));
    assert_eq!((act.calls().len(), look.calls().len()), (0, 1));
    let asked = &pause.approvals[0];
    assert_eq!((asked.tool_id.as_str(), &asked.arguments), ("act", &json!({"q": "now"})));
    assert_eq!(asked.reason, "the tool asks before every call");
    assert_eq!(asked.expires_at.duration_since(asked.created_at), jiff::SignedDuration::from_hours(24));
    assert_eq!(pause.text, "I will act.");
    let states: Vec<_> = scene.journal.traces().iter().map(|trace| trace.status).collect();
    assert_eq!(states, [TraceStatus::Success, TraceStatus::Pending]);
    assert!(scene.journal.ended().is_empty() && scene.journal.transcript().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_run_goes_on_with_the_answers_and_results_keep_the_order_of_the_calls() {
    let scene = scene(both_then("All is done."));
    let asked = until_it_waits(&scene).await.approvals[0].id.clone();
    let events = carry_on(&scene, vec![(asked, ApprovalAnswer::AllowOnce)]).await;
    let Some(RunEvent::Finished(answer)) = events.last() else { panic!("no answer: {events:?}") };
    assert_eq!(answer.text, "I will act.\n\nAll is done.");
    assert_eq!(scene.tools[0].1.calls(), [json!({"q": "now"})]);
    let results: Vec<_> =
        answer.messages.iter().filter(|message| matches!(message, Message::ToolResult(_))).collect();
    assert_eq!(results.iter().map(|message| message.text()).collect::<Vec<_>>(), ["done", "seen"]);
    assert_eq!(scene.journal.transcript(), answer.messages);
    assert_eq!(answer.rounds, 2);
}

#[tokio::test(start_paused = true)]
async fn each_answer_does_what_it_says() {
    type Case = (Option<ApprovalAnswer>, Vec<Value>, TraceStatus, &'static str);
    let cases: [Case; 6] = [
        (Some(ApprovalAnswer::AllowConversation), vec![json!({"q": "now"})], TraceStatus::Success, "done"),
        (
            Some(ApprovalAnswer::Edit { arguments: json!({"q": "later"}) }),
            vec![json!({"q": "later"})],
            TraceStatus::Success,
            "(The user changed the arguments of this call to {\"q\":\"later\"}.)\ndone",
        ),
        (
            Some(ApprovalAnswer::Edit { arguments: json!({"q": 7, "x": 1}) }),
            vec![],
            TraceStatus::Error,
            "(The user changed the arguments",
        ),
        (
            Some(ApprovalAnswer::Deny { note: Some("Ask me tomorrow.".to_owned()) }),
            vec![],
            TraceStatus::Blocked,
            "Not executed: the user did not allow this call. The user says: Ask me tomorrow.",
        ),
        (
            Some(ApprovalAnswer::Expired),
            vec![],
            TraceStatus::Blocked,
            "Not executed: nobody answered in time",
        ),
        (None, vec![], TraceStatus::Blocked, "Not executed: nobody answered in time"),
    ];
    for (answer, executed, status, text) in cases {
        let scene = scene(both_then("ok"));
        let asked = until_it_waits(&scene).await.approvals[0].id.clone();
        let label = format!("{answer:?}");
        let events = carry_on(&scene, answer.map(|answer| (asked, answer)).into_iter().collect()).await;
        assert!(matches!(events.last(), Some(RunEvent::Finished(_))), "{label}");
        assert_eq!(scene.tools[0].1.calls(), executed, "{label}");
        let trace = scene.journal.traces().into_iter().find(|trace| trace.call_id == "c1").expect("a trace");
        assert_eq!(trace.status, status, "{label}");
        let requests = scene.model.requests();
        let read = &requests.last().expect("a request").messages;
        assert!(read.iter().any(|message| message.text().starts_with(text)), "{label}: {read:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_agreed_to_is_admitted_anew() {
    let mut scene = scene(both_then("ok"));
    let asked = until_it_waits(&scene).await.approvals[0].id.clone();
    scene.policy.disabled.insert("act".to_owned());
    // The tools stay offered as they were saved; the policy has changed since.
    let text = scene.journal.pauses().pop().expect("a pause").state;
    let (run, services) = Scene { policy: Policy::default(), ..copy(&scene) }.run();
    let services = Services { circumstances: scene.run().1.circumstances, ..services };
    let resumed = ResumedRun {
        saved: SavedRun::read(&text).expect("a saved state"),
        model: run.model,
        offering: run.offering,
        answers: vec![(asked, ApprovalAnswer::AllowOnce)],
        limits: scene.limits,
    };
    let (sender, mut receiver) = mpsc::channel(64);
    resume(resumed, services, sender, CancellationToken::new()).await;
    let _ = events(&mut receiver).await;
    assert!(scene.tools[0].1.calls().is_empty());
    let trace = scene.journal.traces().into_iter().find(|trace| trace.call_id == "c1").expect("a trace");
    assert!(trace.status_message.is_some_and(|text| text.contains("the organization has disabled the tool")));
}

/// The same scene, sharing model, tools and journal.
fn copy(scene: &Scene) -> Scene {
    Scene {
        model: Arc::clone(&scene.model),
        tools: scene.tools.clone(),
        journal: Arc::clone(&scene.journal),
        ledger: Arc::clone(&scene.ledger),
        approver: scene.approver.clone(),
        context: scene.context.clone(),
        labels: scene.labels,
        asking: scene.asking,
        policy: scene.policy.clone(),
        limits: scene.limits,
        request: scene.request.clone(),
    }
}

#[tokio::test(start_paused = true)]
async fn only_one_carries_on_with_a_run() {
    let scene = scene(both_then("ok"));
    let asked = until_it_waits(&scene).await.approvals[0].id.clone();
    let answers = vec![(asked, ApprovalAnswer::AllowOnce)];
    assert!(matches!(carry_on(&scene, answers.clone()).await.last(), Some(RunEvent::Finished(_))));
    assert!(matches!(carry_on(&scene, answers).await.last(), Some(RunEvent::Failed(_))));
    assert_eq!(scene.tools[0].1.calls().len(), 1);
    assert_eq!(scene.journal.ended().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_not_carried_on_leaves_a_conversation_that_can_go_on() {
    let scene = scene(both_then("ok"));
    until_it_waits(&scene).await;
    let saved = SavedRun::read(&scene.journal.pauses()[0].state).expect("a saved state");
    let end =
        saved.abandon(RunState::Cancelled, "the conversation went on without it", Timestamp::UNIX_EPOCH);
    let texts: Vec<_> = end.messages.iter().map(Message::text).collect();
    assert!(texts[1].starts_with("No result: the call was interrupted before it ended"), "{texts:?}");
    assert_eq!([texts[0].as_str(), texts[2].as_str()], ["I will act.", "seen"]);
}

#[tokio::test(start_paused = true)]
async fn bad_arguments_are_told_to_the_model_before_anybody_is_asked() {
    let scene = scene([calls(&[("c1", "act", r#"{"x":1}"#)]), says("ok")]);
    let outcome = scene.play().await;
    assert!(outcome.last_result().contains("unknown property"));
    assert_eq!(outcome.answer().text, "ok");
}

#[tokio::test(start_paused = true)]
async fn rules_deny_and_a_second_opinion_can_only_tighten() {
    struct Says(ApprovalVerdict);
    #[async_trait]
    impl Approver for Says {
        async fn review(&self, _: &RegisteredTool, _: &Value, _: &Circumstances) -> ApprovalVerdict {
            self.0.clone()
        }
    }
    let no = || ApprovalVerdict::Deny(Why::Rule("no".to_owned()));
    for (rule, opinion, executed, blocked) in [
        (RuleAnswer::Allow, ApprovalVerdict::Allow, 2, 0),
        (RuleAnswer::Allow, no(), 0, 2),
        (RuleAnswer::Deny, ApprovalVerdict::Allow, 0, 2),
    ] {
        let mut scene = scene(both_then("ok"));
        scene.policy.approval.rules =
            vec![ApprovalRule { tools: Pattern::new("*"), argument: None, answer: rule }];
        scene.approver = Some(Arc::new(Says(opinion)));
        let outcome = scene.play().await;
        let count = |status| outcome.journal.traces().iter().filter(|trace| trace.status == status).count();
        assert_eq!(
            (count(TraceStatus::Success), count(TraceStatus::Blocked)),
            (executed, blocked),
            "{rule:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_saved_state_is_locked_by_its_version() {
    let scene = scene(both_then("ok"));
    until_it_waits(&scene).await;
    let text = scene.journal.pauses()[0].state.clone();
    let value: Value = serde_json::from_str(&text).expect("JSON");
    insta::assert_json_snapshot!(value);
    let later = text.replacen("\"version\":1", "\"version\":2", 1);
    let error = SavedRun::read(&later).expect_err("another version");
    assert_eq!(error.to_string(), "the saved state of a run has version 2, and this program knows version 1");
}

#[tokio::test(start_paused = true)]
async fn a_clients_own_call_in_a_round_that_waits_is_handed_over_afterwards() {
    let mut scene = scene([calls(&[("c1", "act", "{}"), ("c2", "their_tool", "{}")])]);
    scene.request.tools = [Arc::new(ToolSpec {
        name: "their_tool".to_owned(),
        description: None,
        parameters: json!({"type": "object"}),
        strict: None,
    })]
    .into();
    let asked = until_it_waits(&scene).await.approvals[0].id.clone();
    let events = carry_on(&scene, vec![(asked, ApprovalAnswer::AllowOnce)]).await;
    let Some(RunEvent::Finished(answer)) = events.last() else { panic!("no answer: {events:?}") };
    assert_eq!(answer.client_calls.len(), 1);
    assert_eq!(answer.finish, FinishReason::ToolCalls);
}
