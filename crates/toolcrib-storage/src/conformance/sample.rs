//! Owners, runs and traces for the cases.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::journal::{RoundEnd, RunEnd, RunPause, RunStart, RunState, Trace, TraceStatus};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::message::{Message, Usage};
use toolcrib_runtime::offering::approval::ApprovalRequest;
use toolcrib_runtime::policy::OutboundRestriction;
use toolcrib_runtime::tool::{LibraryItem, Origin, Source};

use super::Outcome;
use crate::record::{NewConversation, Owner, Role};
use crate::store::{Store, StoreError};

/// The time `seconds` after a fixed one.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_hours(480_000) + SignedDuration::from_secs(seconds)
}

/// Somebody who is not the first administrator: another user in the same workspace, or anyone in another one.
pub(super) async fn others(store: &dyn Store) -> Result<[Owner; 2], StoreError> {
    let first = Owner::first();
    let colleague = Owner::new(first.workspace_id, "colleague");
    let stranger = Owner::new("elsewhere", "stranger");
    store.add_workspace(&stranger.workspace_id, "Elsewhere", at(0)).await?;
    for other in [&colleague, &stranger] {
        store.add_user(&other.user_id, "Somebody", at(0)).await?;
        store.set_role(other, Role::Member).await?;
    }
    Ok([colleague, stranger])
}

/// A conversation of the first administrator.
pub(super) async fn conversation(store: &dyn Store, id: &str, seconds: i64) -> Outcome {
    store.create_conversation(new_conversation(id, Owner::first(), seconds)).await?;
    Ok(())
}

pub(super) fn new_conversation(id: &str, owner: Owner, seconds: i64) -> NewConversation {
    NewConversation {
        id: id.to_owned(),
        owner,
        title: format!("About {id}"),
        temporary: false,
        outbound: OutboundRestriction::Unrestricted,
        created_at: at(seconds),
    }
}

/// The beginning of a run of the first administrator, in which the user says hello.
pub(super) fn start(run_id: &str, conversation_id: Option<&str>, seconds: i64) -> RunStart {
    let owner = Owner::first();
    RunStart {
        run_id: run_id.to_owned(),
        conversation_id: conversation_id.map(str::to_owned),
        workspace_id: owner.workspace_id,
        user_id: owner.user_id,
        component: "chat".to_owned(),
        locale: "de-CH".to_owned(),
        provider_id: "provider".to_owned(),
        model: "model".to_owned(),
        messages: vec![Message::user(format!("hello from {run_id}"))],
        started_at: at(seconds),
    }
}

/// The end of a run that was answered.
pub(super) fn end(run_id: &str, seconds: i64) -> RunEnd {
    RunEnd {
        run_id: run_id.to_owned(),
        state: RunState::Completed,
        reason: None,
        messages: vec![Message::System("noted".to_owned()), Message::user(format!("answer to {run_id}"))],
        sources: vec![source()],
        usage: Usage { input_tokens: 10, output_tokens: 20, cached_input_tokens: 3, reasoning_tokens: 4 },
        rounds: 2,
        labels: Labels::default(),
        protected: BTreeSet::new(),
        ended_at: at(seconds),
    }
}

pub(super) fn source() -> Source {
    Source {
        title: "A page “with quotes”".to_owned(),
        url: "https://example.org/?a=1&b=2".to_owned(),
        origin: Origin::Tool,
        tool_call_id: Some("call_1".to_owned()),
    }
}

/// The trace of a call that was admitted.
pub(super) fn admission(order: u32, seconds: i64) -> Trace {
    Trace {
        order,
        round: 1,
        tool_id: "web_search".to_owned(),
        display_name: "Search the web".to_owned(),
        icon: "🔎".to_owned(),
        call_id: format!("call_{order}"),
        status: TraceStatus::Pending,
        executed: false,
        status_message: None,
        arguments: json!({"query": "rust", "limit": 5}),
        repairs: Vec::new(),
        result_text: None,
        result_json: None,
        result_characters: 0,
        truncation: None,
        sources: Vec::new(),
        required_confidence: Confidence::None,
        untrusted: false,
        cost: 0,
        library_items: Vec::new(),
        started_at: at(seconds),
        duration_ms: 0,
    }
}

/// The trace of a call that succeeded, with every field filled.
pub(super) fn outcome(order: u32, seconds: i64) -> Trace {
    Trace {
        status: TraceStatus::Success,
        executed: true,
        status_message: Some("after one retry".to_owned()),
        repairs: vec!["/limit: \"5\" became 5".to_owned()],
        result_text: Some("nul \u{0} and emoji 🦀".to_owned()),
        result_json: Some(json!({"hits": [1, 2.5, null, "x"], "next": null})),
        result_characters: 22,
        truncation: Some("7 more".to_owned()),
        sources: vec![source()],
        required_confidence: Confidence::Moderate,
        untrusted: true,
        cost: 1_500_000,
        library_items: vec![LibraryItem {
            id: "item".to_owned(),
            media_type: "image/png".to_owned(),
            title: "A “picture”".to_owned(),
        }],
        duration_ms: 1234,
        ..admission(order, seconds)
    }
}

/// The end of a first round that looked something up.
pub(super) fn round(run_id: &str, seconds: i64) -> RoundEnd {
    RoundEnd {
        run_id: run_id.to_owned(),
        messages: vec![Message::user(format!("round of {run_id}"))],
        labels: Labels::default(),
        usage: Usage { input_tokens: 5, output_tokens: 6, cached_input_tokens: 1, reasoning_tokens: 2 },
        rounds: 1,
        at: at(seconds),
    }
}

/// A pause in which the calls of these orders wait; they expire a day later.
pub(super) fn pause(run_id: &str, conversation_id: Option<&str>, orders: &[u32], seconds: i64) -> RunPause {
    let waiting = orders
        .iter()
        .map(|order| (admission(*order, seconds), request(run_id, conversation_id, *order, seconds)));
    RunPause {
        run_id: run_id.to_owned(),
        waiting: waiting.collect(),
        state: format!("state of {run_id} at {seconds}, \u{0} and 🦀"),
        labels: Labels::default(),
        usage: Usage { input_tokens: 7, output_tokens: 8, cached_input_tokens: 3, reasoning_tokens: 4 },
        rounds: 1,
        at: at(seconds),
    }
}

/// The question whether a call may run.
pub(super) fn request(
    run_id: &str,
    conversation_id: Option<&str>,
    order: u32,
    seconds: i64,
) -> ApprovalRequest {
    ApprovalRequest {
        id: format!("apr_{run_id}_{order}"),
        run_id: run_id.to_owned(),
        conversation_id: conversation_id.map(str::to_owned),
        order,
        call_id: format!("call_{order}"),
        tool_id: format!("tool_{order}"),
        display_name: "Send a letter".to_owned(),
        icon: "✉️".to_owned(),
        arguments: json!({"to": "a “friend”", "copies": u64::MAX, "weight": 0.1 + 0.2, "none": null}),
        reason: "the tool asks before every call".to_owned(),
        created_at: at(seconds),
        expires_at: at(seconds + DAY),
    }
}

/// Seconds until an approval of these samples expires.
pub(super) const DAY: i64 = 86_400;

/// Labels that demand something of each kind.
pub(super) fn strict() -> Labels {
    Labels {
        required_confidence: Confidence::Medium,
        untrusted: true,
        outbound: OutboundRestriction::LinksFromChat,
    }
}
