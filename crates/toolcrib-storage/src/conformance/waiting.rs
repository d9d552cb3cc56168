//! Rounds, runs that wait, approvals and labels.

use std::collections::BTreeSet;

use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::journal::{RoundEnd, RunEnd, RunPause, RunState, Trace, TraceStatus};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::message::{Message, Usage};
use toolcrib_runtime::offering::approval::{ApprovalAnswer, ApprovalRequest};
use toolcrib_runtime::policy::OutboundRestriction;

use super::Outcome;
use super::sample::{admission, at, conversation, end, others, outcome, start};
use crate::record::{Answered, ApprovalFilter, ApprovalState, Owner};
use crate::store::{Page, Store};

fn round(run_id: &str, text: &str, seconds: i64) -> RoundEnd {
    RoundEnd {
        run_id: run_id.to_owned(),
        messages: vec![Message::user(text)],
        labels: Labels::default(),
        usage: Usage { input_tokens: 5, ..Usage::default() },
        rounds: 1,
        at: at(seconds),
    }
}

fn request(run_id: &str, conversation_id: Option<&str>, order: u32, seconds: i64) -> ApprovalRequest {
    ApprovalRequest {
        id: format!("apr_{run_id}_{order}"),
        run_id: run_id.to_owned(),
        conversation_id: conversation_id.map(str::to_owned),
        order,
        call_id: format!("call_{order}"),
        tool_id: "web_search".to_owned(),
        display_name: "Search the web".to_owned(),
        icon: "🔎".to_owned(),
        arguments: serde_json::json!({"query": "rust", "secret": "shown as it is sent"}),
        reason: "the tool asks before every call".to_owned(),
        created_at: at(seconds),
        expires_at: at(seconds + 100),
    }
}

/// A run that waits for two answers.
async fn waits(store: &dyn Store, run_id: &str, conversation_id: Option<&str>, seconds: i64) -> Outcome {
    store.begin_run(start(run_id, conversation_id, seconds)).await?;
    store.pause_run(pause(run_id, conversation_id, seconds + 1)).await?;
    Ok(())
}

fn pause(run_id: &str, conversation_id: Option<&str>, seconds: i64) -> RunPause {
    let waiting = |order| (admission(order, seconds), request(run_id, conversation_id, order, seconds));
    RunPause {
        run_id: run_id.to_owned(),
        waiting: vec![waiting(1), waiting(2)],
        state: format!("what {run_id} needs"),
        labels: Labels { untrusted: true, ..Labels::default() },
        usage: Usage::default(),
        rounds: 1,
        at: at(seconds),
    }
}

pub(super) async fn the_messages_of_a_round_are_kept_when_it_ends(store: &dyn Store) -> Outcome {
    conversation(store, "c", 1).await?;
    store.begin_run(start("r", Some("c"), 2)).await?;
    store.record_round(round("r", "first round", 3)).await?;
    let texts = async || -> Result<Vec<String>, crate::store::StoreError> {
        let messages = store.messages(&Owner::first(), "c").await?.unwrap_or_default();
        Ok(messages.iter().map(|stored| stored.message.text()).collect())
    };
    assert_eq!(texts().await?, ["hello from r", "first round"]);
    store.end_run(end("r", 4)).await?;
    assert_eq!(texts().await?, ["hello from r", "first round", "noted", "answer to r"]);
    assert!(store.record_round(round("r", "too late", 5)).await.is_err());
    assert_eq!(texts().await?.len(), 4);
    Ok(())
}

pub(super) async fn labels_only_rise_and_rise_with_the_trace(store: &dyn Store) -> Outcome {
    conversation(store, "c", 1).await?;
    store.begin_run(start("r", Some("c"), 2)).await?;
    store.admit_call("r", &outcome(1, 3)).await?;
    assert_eq!(store.labels("c").await?, Labels::default(), "an admission demands nothing");
    store.record_trace("r", &outcome(1, 3)).await?;
    let risen = Labels { required_confidence: Confidence::Moderate, untrusted: true, ..Labels::default() };
    assert_eq!(store.labels("c").await?, risen);
    let tight = Labels { outbound: OutboundRestriction::ConfiguredServices, ..Labels::default() };
    assert!(store.tighten(&Owner::first(), "c", tight).await?);
    assert!(store.tighten(&Owner::first(), "c", Labels::default()).await?);
    store.end_run(end("r", 4)).await?;
    let expected = risen.raised_by(tight);
    assert_eq!(store.labels("c").await?, expected);
    let [colleague, stranger] = others(store).await?;
    for other in [colleague, stranger] {
        assert!(!store.tighten(&other, "c", Labels::requiring(Confidence::High)).await?);
    }
    assert_eq!(store.conversation(&Owner::first(), "c").await?.map(|found| found.labels), Some(expected));
    let run = store.run(&Owner::first(), "r").await?;
    assert_eq!(run.map(|run| run.labels), Some(risen));
    assert_eq!(store.labels("unknown").await?, Labels::default());
    Ok(())
}

pub(super) async fn protected_text_is_recognized_in_its_workspace(store: &dyn Store) -> Outcome {
    let first = Owner::first().workspace_id;
    assert!(!store.protects_anything(&first).await?);
    store.begin_run(start("r", None, 1)).await?;
    let protected: BTreeSet<i64> = (0..3_000).map(|number| number * 7_919 - 1_000_000).collect();
    let labels = Labels::requiring(Confidence::High);
    store.end_run(RunEnd { labels, protected: protected.clone(), ..end("r", 2) }).await?;
    store.begin_run(start("s", None, 3)).await?;
    let labels = Labels::requiring(Confidence::Low);
    store.end_run(RunEnd { labels, protected: protected.clone(), ..end("s", 4) }).await?;
    assert!(store.protects_anything(&first).await?);
    let one: BTreeSet<i64> = protected.iter().skip(2_999).copied().chain([i64::MAX]).collect();
    assert_eq!(store.recognize(&first, &one).await?, Confidence::High, "the highest demand stays");
    assert_eq!(store.recognize(&first, &[i64::MIN, 5].into()).await?, Confidence::None);
    assert_eq!(store.recognize(&first, &BTreeSet::new()).await?, Confidence::None);
    assert_eq!(store.recognize("another", &one).await?, Confidence::None);
    Ok(())
}

pub(super) async fn a_run_that_waits_keeps_what_it_needs(store: &dyn Store) -> Outcome {
    conversation(store, "c", 1).await?;
    waits(store, "r", Some("c"), 2).await?;
    let waiting = store.waiting_run("r").await?.ok_or("it waits")?;
    assert_eq!((waiting.run.state, waiting.state.as_str()), (RunState::Waiting, "what r needs"));
    assert!(waiting.run.labels.untrusted && store.labels("c").await?.untrusted);
    let asked: Vec<_> = waiting.approvals.iter().map(|approval| approval.request.clone()).collect();
    assert_eq!(asked, [request("r", Some("c"), 1, 3), request("r", Some("c"), 2, 3)]);
    assert_eq!(store.waiting_runs_of("c").await?, [waiting]);
    let traces = store.run_traces(&Owner::first(), "r").await?.unwrap_or_default();
    assert!(traces.iter().all(|trace| trace.status == TraceStatus::Pending) && traces.len() == 2);
    assert!(store.complete_runs().await?.is_empty(), "it still has to be answered");
    Ok(())
}

pub(super) async fn only_the_first_answer_counts(store: &dyn Store) -> Outcome {
    conversation(store, "c", 1).await?;
    waits(store, "r", Some("c"), 2).await?;
    let owner = Owner::first();
    let deny = ApprovalAnswer::Deny { note: Some("not today".to_owned()) };
    let taken = store.answer_approval(&owner, "apr_r_1", &ApprovalAnswer::AllowConversation, at(5)).await?;
    assert_eq!(taken, Answered::Taken { run_id: "r".to_owned(), complete: false });
    assert_eq!(store.approved_tools("c").await?, ["web_search".to_owned()].into());
    let Answered::Already(first) = store.answer_approval(&owner, "apr_r_1", &deny, at(6)).await? else {
        return Err("a second answer was taken".into());
    };
    let expected = ApprovalState::Answered { answer: ApprovalAnswer::AllowConversation, at: at(5) };
    assert_eq!(first.state, expected);
    let taken = store.answer_approval(&owner, "apr_r_2", &deny, at(7)).await?;
    assert_eq!(taken, Answered::Taken { run_id: "r".to_owned(), complete: true });
    assert_eq!(store.complete_runs().await?, ["r"]);
    let [colleague, stranger] = others(store).await?;
    for other in [colleague, stranger] {
        assert_eq!(store.answer_approval(&other, "apr_r_1", &deny, at(8)).await?, Answered::Missing);
        assert_eq!(store.approval(&other, "apr_r_1").await?, None);
    }
    Ok(())
}

pub(super) async fn answers_that_come_too_late_find_that_it_has_expired(store: &dyn Store) -> Outcome {
    conversation(store, "c", 1).await?;
    waits(store, "r", Some("c"), 2).await?;
    let owner = Owner::first();
    assert!(store.expire_approvals(at(102)).await?.is_empty());
    let late = store.answer_approval(&owner, "apr_r_1", &ApprovalAnswer::AllowConversation, at(103)).await?;
    assert!(matches!(late, Answered::Already(_)), "{late:?}");
    assert!(store.approved_tools("c").await?.is_empty());
    assert_eq!(store.expire_approvals(at(103)).await?, ["r"]);
    let second = store.approval(&owner, "apr_r_2").await?.ok_or("it is kept")?;
    assert_eq!(second.state, ApprovalState::Answered { answer: ApprovalAnswer::Expired, at: at(103) });
    assert!(store.expire_approvals(at(200)).await?.is_empty(), "once");
    Ok(())
}

pub(super) async fn a_waiting_run_is_carried_on_once(store: &dyn Store) -> Outcome {
    waits(store, "r", None, 1).await?;
    store.resume_run("r").await?;
    assert!(store.resume_run("r").await.is_err(), "two must not carry on with it");
    assert_eq!(store.waiting_run("r").await?, None);
    store.record_trace("r", &Trace { call_id: "call_1".to_owned(), ..outcome(1, 3) }).await?;
    store.pause_run(RunPause { waiting: Vec::new(), ..pause("r", None, 5) }).await?;
    assert_eq!(store.waiting_run("r").await?.map(|found| found.state), Some("what r needs".to_owned()));
    store.end_run(end("r", 6)).await?;
    assert!(store.resume_run("r").await.is_err());
    assert!(store.resume_run("unknown").await.is_err());
    Ok(())
}

pub(super) async fn a_waiting_run_can_be_given_up(store: &dyn Store) -> Outcome {
    conversation(store, "c", 1).await?;
    waits(store, "r", Some("c"), 2).await?;
    store.close_open_calls("r", at(4)).await?;
    store.end_run(RunEnd { state: RunState::Cancelled, ..end("r", 4) }).await?;
    assert_eq!(store.waiting_run("r").await?, None);
    let closed = store.approval(&Owner::first(), "apr_r_1").await?.map(|approval| approval.state);
    assert_eq!(closed, Some(ApprovalState::Closed));
    let answer = ApprovalAnswer::AllowOnce;
    let late = store.answer_approval(&Owner::first(), "apr_r_1", &answer, at(5)).await?;
    assert!(matches!(late, Answered::Already(_)), "{late:?}");
    assert!(store.complete_runs().await?.is_empty());
    Ok(())
}

pub(super) async fn approvals_are_listed_filtered_and_paged(store: &dyn Store) -> Outcome {
    conversation(store, "c", 1).await?;
    waits(store, "r", Some("c"), 2).await?;
    waits(store, "s", None, 20).await?;
    let owner = Owner::first();
    store.answer_approval(&owner, "apr_r_1", &ApprovalAnswer::AllowOnce, at(30)).await?;
    let ids = async |filter: ApprovalFilter| -> Result<Vec<String>, crate::store::StoreError> {
        let listing = store.approvals(&owner, &filter, &Page::first(10)).await?;
        Ok(listing.items.into_iter().map(|approval| approval.request.id).collect())
    };
    let all = ["apr_s_2", "apr_s_1", "apr_r_2", "apr_r_1"];
    assert_eq!(ids(ApprovalFilter::default()).await?, all);
    let waiting = ApprovalFilter { waiting_only: true, ..ApprovalFilter::default() };
    assert_eq!(ids(waiting).await?, all[..3]);
    let of_run = ApprovalFilter { run_id: Some("s".to_owned()), ..ApprovalFilter::default() };
    assert_eq!(ids(of_run).await?, all[..2]);
    let of_conversation =
        ApprovalFilter { conversation_id: Some("c".to_owned()), ..ApprovalFilter::default() };
    assert_eq!(ids(of_conversation).await?, all[2..]);
    let first = store.approvals(&owner, &ApprovalFilter::default(), &Page::first(3)).await?;
    let next = first.next.ok_or("there is more")?;
    let second = store.approvals(&owner, &ApprovalFilter::default(), &Page::after(3, next)).await?;
    assert_eq!(second.items.len(), 1);
    assert!(store.delete_conversation(&owner, "c").await?);
    assert_eq!(ids(ApprovalFilter::default()).await?, all[..2]);
    Ok(())
}
