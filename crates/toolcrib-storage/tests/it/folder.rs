//! A data folder that goes away with its test, and what stands in it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::journal::{RoundEnd, RunEnd, RunPause, RunStart, RunState, Trace, TraceStatus};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::message::{AssistantMessage, Message, Usage};
use toolcrib_runtime::offering::approval::ApprovalRequest;
use toolcrib_runtime::policy::OutboundRestriction;
use toolcrib_storage::record::{NewConversation, Owner};
use toolcrib_storage::sqlite::{Durability, OpenOptions, SqliteStore};
use toolcrib_storage::store::ConversationStore;

pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        self.0.path()
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path().join("toolcrib.sqlite3")
    }

    pub(crate) async fn open(&self) -> SqliteStore {
        SqliteStore::open(self.path(), options()).await.unwrap()
    }
}

/// Options for tests: no waiting for the disk, short waiting for others.
pub(crate) fn options() -> OpenOptions {
    OpenOptions {
        durability: Durability::ProcessCrash,
        busy_timeout: std::time::Duration::from_millis(50),
        ..OpenOptions::new("installation", at(0))
    }
}

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_hours(490_000) + SignedDuration::from_secs(seconds)
}

pub(crate) async fn conversation(store: &SqliteStore, id: &str) {
    let new = NewConversation {
        id: id.to_owned(),
        owner: Owner::first(),
        title: String::new(),
        temporary: false,
        outbound: OutboundRestriction::Unrestricted,
        created_at: at(0),
    };
    store.create_conversation(new).await.unwrap();
}

pub(crate) fn start(run_id: &str, conversation_id: &str) -> RunStart {
    let owner = Owner::first();
    RunStart {
        run_id: run_id.to_owned(),
        conversation_id: Some(conversation_id.to_owned()),
        workspace_id: owner.workspace_id,
        user_id: owner.user_id,
        component: "chat".to_owned(),
        locale: "en".to_owned(),
        provider_id: "provider".to_owned(),
        model: "model".to_owned(),
        messages: vec![Message::user("a question")],
        started_at: at(1),
    }
}

/// An end with two messages of the answer.
pub(crate) fn end(run_id: &str) -> RunEnd {
    RunEnd {
        run_id: run_id.to_owned(),
        state: RunState::Completed,
        reason: None,
        messages: vec![
            Message::Assistant(AssistantMessage::from_text("thinking")),
            Message::Assistant(AssistantMessage::from_text("an answer")),
        ],
        sources: Vec::new(),
        usage: Usage { input_tokens: 7, output_tokens: 5, ..Usage::default() },
        rounds: 1,
        labels: Labels::default(),
        protected: BTreeSet::new(),
        ended_at: at(2),
    }
}

pub(crate) fn trace(order: u32, status: TraceStatus) -> Trace {
    Trace {
        order,
        round: 1,
        tool_id: "web_search".to_owned(),
        display_name: "Search the web".to_owned(),
        icon: "🔎".to_owned(),
        call_id: format!("call_{order}"),
        status,
        executed: status == TraceStatus::Success,
        status_message: None,
        arguments: serde_json::json!({"query": "the weather tomorrow in Potsdam"}),
        repairs: Vec::new(),
        result_text: (status == TraceStatus::Success).then(|| "sunny ".repeat(100)),
        result_json: None,
        result_characters: 600,
        truncation: None,
        sources: Vec::new(),
        required_confidence: Confidence::None,
        untrusted: false,
        cost: 0,
        library_items: Vec::new(),
        started_at: at(1),
        duration_ms: 3,
    }
}

/// The end of a round with one message.
pub(crate) fn round(run_id: &str, rounds: u32) -> RoundEnd {
    RoundEnd {
        run_id: run_id.to_owned(),
        messages: vec![Message::Assistant(AssistantMessage::from_text("I have looked"))],
        labels: Labels::default(),
        usage: Usage { input_tokens: 3, output_tokens: 2, ..Usage::default() },
        rounds,
        at: at(2),
    }
}

/// A pause in which one call waits, until a day later.
pub(crate) fn pause(run_id: &str, conversation_id: &str, order: u32, state: &str) -> RunPause {
    let request = ApprovalRequest {
        id: format!("apr_{run_id}_{order}"),
        run_id: run_id.to_owned(),
        conversation_id: Some(conversation_id.to_owned()),
        order,
        call_id: format!("call_{order}"),
        tool_id: "send".to_owned(),
        display_name: "Send a letter".to_owned(),
        icon: "✉️".to_owned(),
        arguments: serde_json::json!({"to": "a friend"}),
        reason: "the tool asks before every call".to_owned(),
        created_at: at(2),
        expires_at: at(86_402),
    };
    RunPause {
        run_id: run_id.to_owned(),
        waiting: vec![(trace(order, TraceStatus::Pending), request)],
        state: state.to_owned(),
        labels: Labels::default(),
        usage: Usage { input_tokens: 3, output_tokens: 2, ..Usage::default() },
        rounds: 1,
        at: at(2),
    }
}
