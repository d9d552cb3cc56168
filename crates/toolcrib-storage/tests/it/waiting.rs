//! Real runs that wait for people, over restarts and crashes of the program.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolcrib_runtime::caller::Components;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::executor::Executor;
use toolcrib_runtime::journal::{Journal, RunState, TraceStatus};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::ledger::FreeOfCharge;
use toolcrib_runtime::message::Message;
use toolcrib_runtime::model::{Model, ModelEvent, ModelRequest};
use toolcrib_runtime::offering::approval::ApprovalAnswer;
use toolcrib_runtime::offering::{ModelStanding, OfferRequest, offer};
use toolcrib_runtime::policy::{Circumstances, Policy};
use toolcrib_runtime::registry::{Catalog, DefinitionFile};
use toolcrib_runtime::run::{Asking, Limits, ResumedRun, Run, RunEvent, SavedRun, Services, drive, resume};
use toolcrib_runtime::testing::{
    MemoryJournal, RecordingTool, ScriptedModel, caller, calls, clock, definition, says,
};
use toolcrib_storage::record::{Answered, ApprovalState, Owner, Recovered};
use toolcrib_storage::sqlite::{OpenOptions, SqliteStore};
use toolcrib_storage::store::{ApprovalStore, ConversationStore, LabelStore, RunStore, Store};

use crate::folder::{Folder, at, conversation, options, pause, start};

/// A run whose first round looks something up and asks whether it may act, and whose second gives an answer.
fn scene(journal: &Arc<dyn Journal>, run_id: &str, labels: Labels) -> (Run, Services) {
    let tools = [RecordingTool::returning("act", "done"), RecordingTool::returning("look", "seen")];
    let files = ["act", "look"].map(|id| {
        let mut definition = definition(id);
        if id == "act" {
            definition["approval"] = "always".into();
        }
        DefinitionFile::added(format!("{id}.json"), definition.to_string())
    });
    let implementations = tools.map(|tool| Arc::new(tool) as _);
    let (catalog, problems) = Catalog::build(&files, &implementations, &Components::default());
    assert_eq!(problems, []);
    let mut owner = caller();
    Owner { workspace_id: owner.workspace_id, user_id: owner.user_id } = Owner::first();
    let (caller, policy) = (Arc::new(owner), Arc::new(Policy::default()));
    let mut first = vec![ModelEvent::Text("I will act.".to_owned())];
    first.extend(calls(&[("c1", "act", "{}"), ("c2", "look", "{}")]));
    let script = [first, says("All is done.")];
    let model: Arc<dyn Model> = Arc::new(ScriptedModel::new(script));
    let standing = ModelStanding { identity: model.identity().clone(), capabilities: model.capabilities() };
    let offering = offer(&Arc::new(catalog), &caller, OfferRequest::default(), &policy, standing);
    let clock = clock();
    let services = Services {
        executor: Executor::new(Arc::clone(journal), Arc::new(FreeOfCharge), Arc::clone(&clock)),
        journal: Arc::clone(journal),
        circumstances: Arc::new(Circumstances::new(caller, policy)),
        approver: None,
        clock,
    };
    let question = Message::user("question");
    let run = Run {
        run_id: run_id.to_owned(),
        conversation_id: Some("c".to_owned()),
        model,
        offering,
        request: ModelRequest { messages: vec![question.clone()], ..ModelRequest::default() },
        new_messages: vec![question],
        labels,
        context: Vec::new(),
        asking: Asking::Possible,
        limits: Limits::default(),
    };
    (run, services)
}

async fn last(mut events: mpsc::Receiver<RunEvent>) -> RunEvent {
    let mut last = None;
    while let Some(event) = events.recv().await {
        last = Some(event);
    }
    last.unwrap()
}

async fn begin(journal: Arc<dyn Journal>, run_id: &str, labels: Labels) {
    let (run, services) = scene(&journal, run_id, labels);
    let (sender, receiver) = mpsc::channel(64);
    drive(run, services, sender, CancellationToken::new()).await;
    let last = last(receiver).await;
    assert!(matches!(last, RunEvent::Paused(_)), "{last:?}");
}

/// What a run that waits and has these labels is saved as.
pub(crate) async fn saved_state(labels: Labels) -> String {
    let journal = Arc::new(MemoryJournal::default());
    begin(Arc::clone(&journal) as _, "run", labels).await;
    journal.pauses().pop().unwrap().state
}

async fn texts(store: &SqliteStore) -> Vec<String> {
    let messages = store.messages(&Owner::first(), "c").await.unwrap().unwrap();
    messages.into_iter().map(|message| message.message.text()).collect()
}

#[tokio::test]
async fn a_run_waits_over_a_restart_and_goes_on_with_the_answer() {
    let folder = Folder::new();
    let store = Arc::new(folder.open().await);
    conversation(&store, "c").await;
    begin(Arc::clone(&store) as _, "run_1", Labels::default()).await;
    store.close().await;

    let store = Arc::new(folder.open().await);
    assert_eq!(store.recovered(), Recovered::default(), "a run that waits is no crash");
    assert_eq!(texts(&store).await, ["question"]);
    let waiting = store.waiting_runs_of("c").await.unwrap().pop().unwrap();
    assert_eq!((waiting.run.id.as_str(), waiting.run.locale.as_str()), ("run_1", "en"));
    let request = &waiting.approvals[0].request;
    let when = request.created_at;
    let given = store.answer_approval(&Owner::first(), &request.id, &ApprovalAnswer::AllowOnce, when).await;
    assert_eq!(given.unwrap(), Answered::Taken { run_id: "run_1".to_owned(), complete: true });
    store.close().await;

    let store = Arc::new(folder.open().await);
    let run_id = store.complete_runs().await.unwrap().pop().unwrap();
    let waiting = store.waiting_run(&run_id).await.unwrap().unwrap();
    let answers = waiting.approvals.into_iter().map(|record| match record.state {
        ApprovalState::Answered { answer, .. } => (record.request.id, answer),
        other => panic!("{other:?}"),
    });
    let answers = answers.collect();
    let saved = SavedRun::read(&waiting.state).unwrap();
    let journal: Arc<dyn Journal> = Arc::clone(&store) as _;
    let (run, services) = scene(&journal, &run_id, Labels::default());
    let resumed = ResumedRun { saved, model: run.model, offering: run.offering, answers, limits: run.limits };
    // The model of this process has not heard the first round: its script begins with it again.
    let (sender, receiver) = mpsc::channel(64);
    resume(resumed, services, sender, CancellationToken::new()).await;
    assert!(matches!(last(receiver).await, RunEvent::Paused(_)), "it asks again in its second round");

    let said = texts(&store).await;
    assert_eq!(said, ["question", "I will act.", "done", "seen"], "the round is recorded, and once");
    let traces = store.run_traces(&Owner::first(), "run_1").await.unwrap().unwrap();
    let stands: Vec<_> = traces.iter().map(|trace| trace.status).collect();
    let (success, pending) = (TraceStatus::Success, TraceStatus::Pending);
    assert_eq!(stands, [success, success, pending, success]);
    store.close().await;
}

#[tokio::test]
async fn what_was_said_before_a_wait_survives_a_crash_after_it() {
    let folder = Folder::new();
    let store = Arc::new(folder.open().await);
    conversation(&store, "c").await;
    let labels = Labels { untrusted: true, ..Labels::requiring(Confidence::Low) };
    begin(Arc::clone(&store) as _, "run_1", labels).await;
    store.resume_run("run_1").await.unwrap();
    store.close().await;

    let later = OpenOptions { now: at(9_000_000), ..options() };
    let store = SqliteStore::open(folder.path(), later).await.unwrap();
    assert_eq!(store.recovered(), Recovered { runs: 1, calls: 1 });
    let run = store.run(&Owner::first(), "run_1").await.unwrap().unwrap();
    assert_eq!((run.state, run.ended_at), (RunState::Interrupted, Some(at(9_000_000))));
    assert!(run.reason.unwrap().contains("program stopped"));
    assert_eq!((run.labels, run.rounds), (labels, 1));
    assert_eq!(store.labels("c").await.unwrap(), labels);
    let messages = store.messages(&Owner::first(), "c").await.unwrap().unwrap();
    let said: Vec<_> = messages.iter().map(|message| message.message.text()).collect();
    assert_eq!(said.len(), 4, "{said:?}");
    assert_eq!((said[1].as_str(), said.iter().filter(|text| *text == "seen").count()), ("I will act.", 1));
    let results = messages.iter().filter(|message| matches!(message.message, Message::ToolResult(_)));
    assert_eq!(results.count(), 2, "every call has a result");
    assert!(messages.iter().all(|message| message.run_id == "run_1"));
    let id = "apr_1_1";
    let approval = store.approval(&Owner::first(), id).await.unwrap().unwrap();
    assert_eq!(approval.state, ApprovalState::Closed);
    let traces = store.run_traces(&Owner::first(), "run_1").await.unwrap().unwrap();
    assert_eq!(traces[0].status_message.as_deref(), Some("interrupted"));
    store.close().await;

    let store = folder.open().await;
    assert_eq!(store.recovered(), Recovered::default());
    assert_eq!(texts(&store).await, said, "it is kept once");
    store.close().await;
}

#[tokio::test]
async fn a_recorded_round_is_not_added_again_after_a_crash() {
    let folder = Folder::new();
    let store = Arc::new(folder.open().await);
    conversation(&store, "c").await;
    begin(Arc::clone(&store) as _, "run_1", Labels::default()).await;
    store.resume_run("run_1").await.unwrap();
    store.record_round(crate::folder::round("run_1", 1)).await.unwrap();
    store.close().await;
    let store = folder.open().await;
    assert_eq!(store.recovered(), Recovered { runs: 1, calls: 1 });
    assert_eq!(texts(&store).await, ["question", "I have looked"]);
    store.close().await;
}

#[tokio::test]
async fn protected_text_of_a_run_that_a_crash_cut_off_is_recognized() {
    let folder = Folder::new();
    let store = folder.open().await;
    conversation(&store, "c").await;
    let labels = Labels::requiring(Confidence::High);
    let mut state: serde_json::Value = serde_json::from_str(&saved_state(labels).await).unwrap();
    state["protected"] = serde_json::json!([-5, 7]);
    store.begin_run(start("r", "c")).await.unwrap();
    store.pause_run(pause("r", "c", 1, &state.to_string())).await.unwrap();
    store.resume_run("r").await.unwrap();
    store.close().await;
    for _ in 0..2 {
        // At the crash's next start, and at the one after it.
        let store = folder.open().await;
        let found = store.recognize(&Owner::first().workspace_id, &[7, 8].into()).await.unwrap();
        assert_eq!(found, Confidence::High);
        store.close().await;
    }
}

#[tokio::test]
async fn a_saved_state_that_cannot_be_read_stops_nothing() {
    let folder = Folder::new();
    let store = folder.open().await;
    conversation(&store, "c").await;
    for (run_id, state) in [("a", "not JSON"), ("b", r#"{"version": 999}"#), ("waits", "not JSON either")] {
        store.begin_run(start(run_id, "c")).await.unwrap();
        store.pause_run(pause(run_id, "c", 1, state)).await.unwrap();
    }
    for run_id in ["a", "b"] {
        store.resume_run(run_id).await.unwrap();
    }
    store.close().await;
    let store = folder.open().await;
    assert_eq!(store.recovered(), Recovered { runs: 2, calls: 2 });
    let states = async |run_id| store.run(&Owner::first(), run_id).await.unwrap().unwrap().state;
    assert_eq!(states("a").await, RunState::Interrupted);
    assert_eq!(states("b").await, RunState::Interrupted);
    assert_eq!(states("waits").await, RunState::Waiting);
    assert_eq!(store.waiting_run("waits").await.unwrap().unwrap().state, "not JSON either");
    assert_eq!(texts(&store).await.len(), 3);
    store.close().await;
}
