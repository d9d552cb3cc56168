//! Calls that wait for people, and the runs that wait with them.

use std::collections::BTreeSet;

use serde_json::json;
use toolcrib_runtime::journal::{RunPause, RunState, Trace, TraceStatus};
use toolcrib_runtime::offering::approval::ApprovalAnswer;

use super::Outcome;
use super::sample::{
    DAY, admission, at, conversation, end, others, outcome, pause, request, round, start, strict,
};
use crate::record::{Answered, ApprovalFilter, ApprovalRecord, ApprovalState, Owner, RunFilter};
use crate::store::{Page, Store, StoreError};

/// Begins a run and lets these calls of it wait.
async fn waiting(
    store: &dyn Store,
    run_id: &str,
    conversation_id: Option<&str>,
    orders: &[u32],
    seconds: i64,
) -> Outcome {
    store.begin_run(start(run_id, conversation_id, seconds)).await?;
    store.pause_run(pause(run_id, conversation_id, orders, seconds)).await?;
    Ok(())
}

async fn answer(
    store: &dyn Store,
    id: &str,
    answer: ApprovalAnswer,
    seconds: i64,
) -> Result<Answered, StoreError> {
    store.answer_approval(&Owner::first(), id, &answer, at(seconds)).await
}

async fn state(store: &dyn Store, id: &str) -> Result<Option<ApprovalState>, StoreError> {
    Ok(store.approval(&Owner::first(), id).await?.map(|record| record.state))
}

fn taken(run_id: &str, complete: bool) -> Answered {
    Answered::Taken { run_id: run_id.to_owned(), complete }
}

pub(super) async fn a_pause_shows_the_run_its_calls_and_its_questions_together(store: &dyn Store) -> Outcome {
    let owner = Owner::first();
    conversation(store, "c", 1).await?;
    store.begin_run(start("r", Some("c"), 2)).await?;
    assert_eq!(store.waiting_run("r").await?, None);
    store.record_trace("r", &Trace { untrusted: false, ..outcome(1, 3) }).await?;
    let asked = RunPause { labels: strict(), ..pause("r", Some("c"), &[3, 2], 4) };
    store.pause_run(asked.clone()).await?;

    let run = store.run(&owner, "r").await?.ok_or("the run is there")?;
    assert_eq!((run.state, run.usage, run.rounds), (RunState::Waiting, asked.usage, 1));
    assert_eq!((run.labels, run.ended_at), (strict(), None));
    let filter = RunFilter { state: Some(RunState::Waiting), ..RunFilter::default() };
    assert_eq!(store.runs(&owner, &filter, &Page::first(9)).await?.items, vec![run.clone()]);
    let traces = store.run_traces(&owner, "r").await?.unwrap_or_default();
    assert_eq!(traces[1..], [admission(2, 4), admission(3, 4)]);
    assert_eq!(store.messages(&owner, "c").await?.map(|messages| messages.len()), Some(1));

    let record = |order| ApprovalRecord {
        request: request("r", Some("c"), order, 4),
        owner: owner.clone(),
        state: ApprovalState::Waiting,
    };
    assert_eq!(store.approval(&owner, "apr_r_2").await?, Some(record(2)));
    let found = store.waiting_run("r").await?.ok_or("the run waits")?;
    assert_eq!((&found.run, &found.state), (&run, &asked.state));
    assert_eq!(found.approvals, [record(2), record(3)], "in the order of the calls");
    assert_eq!(store.waiting_runs_of("c").await?, [found]);
    assert_eq!(store.complete_runs().await?, Vec::<String>::new());
    let admitted = store.admit_call("r", &admission(9, 5)).await;
    assert!(admitted.is_err(), "nothing runs while the run waits");
    assert!(store.record_round(round("r", 5)).await.is_err());
    Ok(())
}

pub(super) async fn the_first_answer_counts(store: &dyn Store) -> Outcome {
    waiting(store, "r", None, &[1, 2], 1).await?;
    assert_eq!(answer(store, "apr_r_2", ApprovalAnswer::AllowOnce, 5).await?, taken("r", false));
    assert_eq!(store.complete_runs().await?, Vec::<String>::new());
    let deny = ApprovalAnswer::Deny { note: Some("no".to_owned()) };
    let first = ApprovalRecord {
        request: request("r", None, 2, 1),
        owner: Owner::first(),
        state: ApprovalState::Answered { answer: ApprovalAnswer::AllowOnce, at: at(5) },
    };
    let again = answer(store, "apr_r_2", deny.clone(), 6).await?;
    assert_eq!(again, Answered::Already(Box::new(first.clone())));
    assert_eq!(store.approval(&Owner::first(), "apr_r_2").await?, Some(first));
    assert_eq!(answer(store, "apr_r_1", deny, 7).await?, taken("r", true));
    assert_eq!(store.complete_runs().await?, ["r"]);
    let found = store.waiting_run("r").await?.ok_or("the run waits until it goes on")?;
    assert!(found.approvals.iter().all(|record| record.state != ApprovalState::Waiting));
    assert_eq!(answer(store, "unknown", ApprovalAnswer::AllowOnce, 7).await?, Answered::Missing);
    Ok(())
}

pub(super) async fn every_answer_comes_back_as_it_was(store: &dyn Store) -> Outcome {
    let arguments = json!({"z": [1.0, 1, -0.1, 1e300, u64::MAX, null], "a": {"nul \u{0}": "🦀"}});
    let answers = [
        ApprovalAnswer::AllowOnce,
        ApprovalAnswer::AllowConversation,
        ApprovalAnswer::Deny { note: None },
        ApprovalAnswer::Deny { note: Some("not \"today\"".to_owned()) },
        ApprovalAnswer::Edit { arguments },
        ApprovalAnswer::Edit { arguments: json!(null) },
        ApprovalAnswer::Expired,
    ];
    waiting(store, "r", None, &[1, 2, 3, 4, 5, 6, 7], 1).await?;
    for (order, given) in (1..).zip(answers) {
        let id = format!("apr_r_{order}");
        assert_eq!(answer(store, &id, given.clone(), order).await?, taken("r", order == 7));
        let expected = ApprovalState::Answered { answer: given, at: at(order) };
        let found = state(store, &id).await?;
        // Equality of maps does not see the order of their entries.
        assert_eq!(format!("{found:?}"), format!("{:?}", Some(&expected)));
        assert_eq!(found, Some(expected));
    }
    Ok(())
}

pub(super) async fn an_answer_that_is_late_finds_the_approval_expired(store: &dyn Store) -> Outcome {
    waiting(store, "r", None, &[1], 0).await?;
    let late = answer(store, "apr_r_1", ApprovalAnswer::AllowOnce, DAY).await?;
    let expired = ApprovalState::Answered { answer: ApprovalAnswer::Expired, at: at(DAY) };
    assert!(matches!(late, Answered::Already(record) if record.state == expired));
    assert_eq!(state(store, "apr_r_1").await?, Some(expired));
    // Nobody was told that the run may go on; whoever looks for what has expired is.
    assert_eq!(store.complete_runs().await?, ["r"]);
    assert_eq!(store.expire_approvals(at(0)).await?, ["r"]);
    assert_eq!(store.expire_approvals(at(0)).await?, Vec::<String>::new());

    waiting(store, "s", None, &[1], 0).await?;
    assert_eq!(answer(store, "apr_s_1", ApprovalAnswer::AllowOnce, DAY - 1).await?, taken("s", true));
    Ok(())
}

pub(super) async fn what_expires_completes_runs(store: &dyn Store) -> Outcome {
    waiting(store, "both", None, &[1, 2], 0).await?;
    waiting(store, "half", None, &[1], 0).await?;
    waiting(store, "later", None, &[1], 100).await?;
    assert_eq!(answer(store, "apr_both_1", ApprovalAnswer::AllowOnce, 5).await?, taken("both", false));
    assert_eq!(store.expire_approvals(at(DAY - 1)).await?, Vec::<String>::new());
    assert_eq!(store.expire_approvals(at(DAY)).await?, ["both", "half"]);
    assert_eq!(store.expire_approvals(at(DAY)).await?, Vec::<String>::new());
    assert_eq!(store.complete_runs().await?, ["both", "half"]);
    let expired = ApprovalState::Answered { answer: ApprovalAnswer::Expired, at: at(DAY) };
    assert_eq!(state(store, "apr_both_2").await?, Some(expired));
    let before = ApprovalState::Answered { answer: ApprovalAnswer::AllowOnce, at: at(5) };
    assert_eq!(state(store, "apr_both_1").await?, Some(before));
    assert_eq!(state(store, "apr_later_1").await?, Some(ApprovalState::Waiting));
    Ok(())
}

pub(super) async fn a_run_goes_on_once(store: &dyn Store) -> Outcome {
    conversation(store, "c", 1).await?;
    waiting(store, "r", Some("c"), &[1], 2).await?;
    answer(store, "apr_r_1", ApprovalAnswer::AllowOnce, 3).await?;
    let both = resumed_twice(store).await;
    assert_eq!(both.iter().filter(|result| result.is_ok()).count(), 1, "{both:?}");
    let run = store.run(&Owner::first(), "r").await?;
    assert_eq!(run.map(|run| run.state), Some(RunState::Running));
    assert_eq!(store.waiting_run("r").await?, None);
    assert_eq!(store.waiting_runs_of("c").await?, []);
    assert_eq!(store.complete_runs().await?, Vec::<String>::new());

    store.admit_call("r", &admission(1, 5)).await?;
    store.record_trace("r", &outcome(1, 5)).await?;
    store.record_round(round("r", 6)).await?;
    store.end_run(end("r", 7)).await?;
    let ended = store.resume_run("r").await;
    assert!(matches!(ended, Err(error) if error.cause.contains("already ended")));
    let unknown = store.resume_run("unknown").await;
    assert!(matches!(unknown, Err(error) if error.cause.contains("no such run")));
    let late = store.pause_run(pause("r", Some("c"), &[2], 8)).await;
    assert!(matches!(late, Err(error) if error.cause.contains("run has already ended")));
    assert_eq!(store.approval(&Owner::first(), "apr_r_2").await?, None, "nothing of the pause is there");
    let messages = store.messages(&Owner::first(), "c").await?.unwrap_or_default();
    assert_eq!(messages.len(), 4);
    Ok(())
}

/// Two that want to carry on with the same run.
async fn resumed_twice(store: &dyn Store) -> [Result<(), toolcrib_runtime::journal::JournalError>; 2] {
    let (left, right) = tokio::join!(store.resume_run("r"), store.resume_run("r"));
    [left, right]
}

pub(super) async fn a_run_may_wait_more_than_once(store: &dyn Store) -> Outcome {
    waiting(store, "r", None, &[1], 2).await?;
    answer(store, "apr_r_1", ApprovalAnswer::AllowOnce, 3).await?;
    store.resume_run("r").await?;
    store.record_round(round("r", 4)).await?;
    let second = RunPause { rounds: 2, ..pause("r", None, &[2], 5) };
    store.pause_run(second.clone()).await?;
    let found = store.waiting_run("r").await?.ok_or("the run waits again")?;
    assert_eq!((found.state, found.run.rounds), (second.state, 2));
    let ids: Vec<_> = found.approvals.iter().map(|record| record.request.id.as_str()).collect();
    assert_eq!(ids, ["apr_r_2"], "only what is asked now");
    assert_eq!(store.complete_runs().await?, Vec::<String>::new());
    let filter = ApprovalFilter { run_id: Some("r".to_owned()), ..ApprovalFilter::default() };
    let all = store.approvals(&Owner::first(), &filter, &Page::first(9)).await?;
    assert_eq!(all.items.len(), 2);
    let again = store.pause_run(RunPause { rounds: 2, ..pause("r", None, &[3], 6) }).await;
    assert!(again.is_err(), "it waits already");
    assert_eq!(answer(store, "apr_r_2", ApprovalAnswer::AllowOnce, 7).await?, taken("r", true));
    Ok(())
}

pub(super) async fn the_end_of_a_run_closes_what_waits(store: &dyn Store) -> Outcome {
    let owner = Owner::first();
    conversation(store, "c", 1).await?;
    waiting(store, "r", Some("c"), &[1, 2], 2).await?;
    answer(store, "apr_r_1", ApprovalAnswer::AllowOnce, 3).await?;
    store.end_run(end("r", 4)).await?;
    let answered = ApprovalState::Answered { answer: ApprovalAnswer::AllowOnce, at: at(3) };
    assert_eq!(state(store, "apr_r_1").await?, Some(answered));
    assert_eq!(state(store, "apr_r_2").await?, Some(ApprovalState::Closed));
    let run = store.run(&owner, "r").await?;
    assert_eq!(run.map(|run| (run.state, run.ended_at)), Some((RunState::Completed, Some(at(4)))));
    assert_eq!(store.waiting_run("r").await?, None);
    assert_eq!(store.messages(&owner, "c").await?.map(|messages| messages.len()), Some(3));
    let traces = store.run_traces(&owner, "r").await?.unwrap_or_default();
    assert_eq!(traces[1].status, TraceStatus::Cancelled, "a call that nobody will answer for does not wait");
    let late = answer(store, "apr_r_2", ApprovalAnswer::AllowOnce, 5).await?;
    assert!(matches!(late, Answered::Already(record) if record.state == ApprovalState::Closed));
    assert_eq!(store.expire_approvals(at(9 * DAY)).await?, Vec::<String>::new());
    assert_eq!(state(store, "apr_r_2").await?, Some(ApprovalState::Closed));
    Ok(())
}

pub(super) async fn what_is_allowed_for_a_conversation_is_remembered_there(store: &dyn Store) -> Outcome {
    for id in ["c", "d"] {
        conversation(store, id, 1).await?;
    }
    waiting(store, "r", Some("c"), &[1, 2, 3], 2).await?;
    waiting(store, "s", Some("c"), &[1], 2).await?;
    answer(store, "apr_r_1", ApprovalAnswer::AllowOnce, 3).await?;
    assert_eq!(store.approved_tools("c").await?, BTreeSet::new());
    for id in ["apr_r_2", "apr_s_1", "apr_s_1"] {
        answer(store, id, ApprovalAnswer::AllowConversation, 4).await?;
    }
    // Too late.
    answer(store, "apr_r_3", ApprovalAnswer::AllowConversation, 3 * DAY).await?;
    let expected: BTreeSet<_> = ["tool_1".to_owned(), "tool_2".to_owned()].into();
    assert_eq!(store.approved_tools("c").await?, expected);
    assert_eq!(store.approved_tools("d").await?, BTreeSet::new());
    // Without a conversation there is nowhere to remember it, and the call may run.
    waiting(store, "alone", None, &[1], 2).await?;
    let allowed = answer(store, "apr_alone_1", ApprovalAnswer::AllowConversation, 4).await?;
    assert_eq!(allowed, taken("alone", true));
    Ok(())
}

pub(super) async fn approvals_are_filtered_and_paged(store: &dyn Store) -> Outcome {
    let owner = Owner::first();
    conversation(store, "c", 1).await?;
    waiting(store, "r", Some("c"), &[1, 2], 10).await?;
    waiting(store, "s", Some("c"), &[1], 20).await?;
    waiting(store, "t", None, &[1, 2], 5).await?;
    answer(store, "apr_r_2", ApprovalAnswer::AllowOnce, 30).await?;
    store.end_run(end("s", 31)).await?;
    let check = async |conversation: Option<&str>, run: Option<&str>, waiting_only, expected: &[&str]| {
        let filter = ApprovalFilter {
            conversation_id: conversation.map(str::to_owned),
            run_id: run.map(str::to_owned),
            waiting_only,
        };
        for limit in [1, 2, 50] {
            let mut found = Vec::new();
            let mut page = Page::first(limit);
            loop {
                let listing = store.approvals(&owner, &filter, &page).await?;
                found.extend(listing.items.into_iter().map(|record| record.request.id));
                let Some(next) = listing.next else { break };
                page = Page::after(limit, next);
            }
            assert_eq!(found, expected, "{filter:?} in pages of {limit}");
        }
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(())
    };
    check(None, None, false, &["apr_s_1", "apr_r_2", "apr_r_1", "apr_t_2", "apr_t_1"]).await?;
    check(None, None, true, &["apr_r_1", "apr_t_2", "apr_t_1"]).await?;
    check(Some("c"), None, false, &["apr_s_1", "apr_r_2", "apr_r_1"]).await?;
    check(Some("c"), None, true, &["apr_r_1"]).await?;
    check(None, Some("t"), false, &["apr_t_2", "apr_t_1"]).await?;
    check(Some("c"), Some("t"), false, &[]).await?;
    check(None, Some("s"), true, &[]).await
}

pub(super) async fn what_belongs_to_another_is_not_found(store: &dyn Store) -> Outcome {
    waiting(store, "r", None, &[1], 1).await?;
    for other in others(store).await? {
        assert_eq!(store.approval(&other, "apr_r_1").await?, None);
        let all = store.approvals(&other, &ApprovalFilter::default(), &Page::first(9)).await?;
        assert_eq!(all.items, []);
        let of_run = ApprovalFilter { run_id: Some("r".to_owned()), ..ApprovalFilter::default() };
        assert_eq!(store.approvals(&other, &of_run, &Page::first(9)).await?.items, []);
        let answered = store.answer_approval(&other, "apr_r_1", &ApprovalAnswer::AllowOnce, at(2)).await?;
        assert_eq!(answered, Answered::Missing);
        // Nor does an answer that comes too late change what belongs to another.
        let late = store.answer_approval(&other, "apr_r_1", &ApprovalAnswer::AllowOnce, at(2 * DAY)).await?;
        assert_eq!(late, Answered::Missing);
    }
    assert_eq!(state(store, "apr_r_1").await?, Some(ApprovalState::Waiting));
    Ok(())
}

pub(super) async fn deleting_a_conversation_deletes_what_waits_in_it(store: &dyn Store) -> Outcome {
    let owner = Owner::first();
    conversation(store, "c", 1).await?;
    waiting(store, "r", Some("c"), &[1, 2], 2).await?;
    answer(store, "apr_r_1", ApprovalAnswer::AllowConversation, 3).await?;
    answer(store, "apr_r_2", ApprovalAnswer::AllowOnce, 3).await?;
    waiting(store, "other", None, &[1], 2).await?;
    assert!(store.delete_conversation(&owner, "c").await?);
    assert_eq!(store.approval(&owner, "apr_r_1").await?, None);
    assert_eq!(store.waiting_run("r").await?, None);
    assert_eq!(store.waiting_runs_of("c").await?, []);
    assert_eq!(store.complete_runs().await?, Vec::<String>::new());
    assert_eq!(store.approved_tools("c").await?, BTreeSet::new());
    assert!(store.resume_run("r").await.is_err());
    let left = store.approvals(&owner, &ApprovalFilter::default(), &Page::first(9)).await?;
    assert_eq!(left.items.len(), 1);
    // A new conversation of the same id begins with nothing.
    conversation(store, "c", 9).await?;
    assert_eq!(store.approved_tools("c").await?, BTreeSet::new());
    assert_eq!(store.labels("c").await?, toolcrib_runtime::labels::Labels::default());
    Ok(())
}
