//! What content demands.

use std::collections::BTreeSet;

use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::journal::{RunEnd, RunPause, RunState, Trace};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::labels::fingerprint::Fingerprint;
use toolcrib_runtime::policy::OutboundRestriction;

use super::Outcome;
use super::sample::{conversation, end, new_conversation, others, outcome, pause, start, strict};
use crate::record::{NewConversation, Owner};
use crate::store::Store;

pub(super) async fn the_demands_of_a_conversation_only_rise(store: &dyn Store) -> Outcome {
    let new = NewConversation {
        outbound: OutboundRestriction::LinksFromChat,
        ..new_conversation("c", Owner::first(), 1)
    };
    store.create_conversation(new).await?;
    let tainted = Labels { untrusted: true, ..Labels::default() };
    let closed = Labels { outbound: OutboundRestriction::ConfiguredServices, ..Labels::default() };
    let demands = [
        Labels::requiring(Confidence::Low),
        Labels::default(),
        Labels::requiring(Confidence::High),
        tainted,
        Labels::requiring(Confidence::Medium),
        closed,
        Labels::default(),
    ];
    let mut expected = Labels { outbound: OutboundRestriction::LinksFromChat, ..Labels::default() };
    for (number, labels) in (0..).zip(demands) {
        let run_id = format!("r{number}");
        store.begin_run(start(&run_id, Some("c"), number)).await?;
        store.end_run(RunEnd { labels, ..end(&run_id, number) }).await?;
        expected = expected.raised_by(labels);
        assert_eq!(store.labels("c").await?, expected);
        let found = store.conversation(&Owner::first(), "c").await?;
        assert_eq!(found.map(|found| found.labels), Some(expected));
        let run = store.run(&Owner::first(), &run_id).await?;
        assert_eq!(run.map(|run| run.labels), Some(labels), "a run demands what it brought in");
    }
    assert_eq!(store.labels("unknown").await?, Labels::default());
    Ok(())
}

pub(super) async fn a_result_demands_from_the_moment_it_is_there(store: &dyn Store) -> Outcome {
    let owner = Owner::first();
    conversation(store, "c", 1).await?;
    store.begin_run(start("r", Some("c"), 2)).await?;
    let of_run =
        async || Ok::<_, crate::store::StoreError>(store.run(&owner, "r").await?.map(|run| run.labels));
    store.record_trace("r", &Trace { untrusted: false, ..outcome(1, 3) }).await?;
    assert_eq!(store.labels("c").await?, Labels::requiring(Confidence::Moderate));
    assert_eq!(of_run().await?, Some(Labels::requiring(Confidence::Moderate)));
    store.record_trace("r", &Trace { required_confidence: Confidence::None, ..outcome(2, 3) }).await?;
    let expected = Labels { untrusted: true, ..Labels::requiring(Confidence::Moderate) };
    assert_eq!(store.labels("c").await?, expected);
    // Neither another outcome of the same call nor an end that knows nothing of it takes it back.
    let harmless = Trace { required_confidence: Confidence::None, untrusted: false, ..outcome(1, 4) };
    store.record_trace("r", &harmless).await?;
    store.end_run(end("r", 5)).await?;
    assert_eq!((store.labels("c").await?, of_run().await?), (expected, Some(expected)));
    // The outcome of a call that comes after the end of its run demands as well.
    let late = Trace { required_confidence: Confidence::High, ..outcome(3, 6) };
    store.record_trace("r", &late).await?;
    let expected = Labels { required_confidence: Confidence::High, ..expected };
    assert_eq!((store.labels("c").await?, of_run().await?), (expected, Some(expected)));

    conversation(store, "d", 1).await?;
    store.begin_run(start("s", Some("d"), 2)).await?;
    store.pause_run(RunPause { labels: strict(), ..pause("s", Some("d"), &[1], 3) }).await?;
    assert_eq!(store.labels("d").await?, strict());
    Ok(())
}

pub(super) async fn people_tighten_their_own_conversations(store: &dyn Store) -> Outcome {
    let owner = Owner::first();
    conversation(store, "c", 1).await?;
    for other in others(store).await? {
        assert!(!store.tighten(&other, "c", strict()).await?);
    }
    assert!(!store.tighten(&owner, "unknown", strict()).await?);
    assert_eq!(store.labels("c").await?, Labels::default());
    assert!(store.tighten(&owner, "c", strict()).await?);
    assert!(store.tighten(&owner, "c", Labels::default()).await?);
    assert_eq!(store.labels("c").await?, strict());
    Ok(())
}

fn fingerprints(numbers: impl IntoIterator<Item = Fingerprint>) -> BTreeSet<Fingerprint> {
    numbers.into_iter().collect()
}

fn protecting(run_id: &str, level: Confidence, protected: BTreeSet<Fingerprint>) -> RunEnd {
    RunEnd { labels: Labels::requiring(level), protected, ..end(run_id, 9) }
}

pub(super) async fn protected_text_is_recognized_in_its_workspace(store: &dyn Store) -> Outcome {
    let workspace = Owner::first().workspace_id;
    let known =
        async |numbers: &[Fingerprint]| store.recognize(&workspace, &fingerprints(numbers.to_vec())).await;
    assert_eq!(known(&[1, 2]).await?, Confidence::None);
    for run_id in ["many", "few", "lower", "none", "failed", "late"] {
        store.begin_run(start(run_id, None, 1)).await?;
    }
    let extremes = [i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX];
    let many = (0..5_000).map(|number: i64| number.wrapping_mul(0x1234_5678_9abc_def1));
    let many = fingerprints(many.chain(extremes));
    store.end_run(protecting("many", Confidence::Low, many.clone())).await?;
    for number in extremes {
        assert_eq!(known(&[number]).await?, Confidence::Low, "{number}");
    }
    assert_eq!(known(&[]).await?, Confidence::None);
    assert_eq!(known(&[2, 3, 4]).await?, Confidence::None);
    assert!(store.protects_anything(&workspace).await?);
    assert_eq!(store.recognize(&workspace, &many).await?, Confidence::Low);

    store.end_run(protecting("few", Confidence::High, fingerprints([1, 77]))).await?;
    store.end_run(protecting("lower", Confidence::VeryLow, fingerprints([1, 88]))).await?;
    store.end_run(protecting("none", Confidence::None, fingerprints([99]))).await?;
    assert_eq!(known(&[1]).await?, Confidence::High, "a demand never drops");
    assert_eq!(known(&[0, 88]).await?, Confidence::Low);
    assert_eq!(known(&[0, 77, 88]).await?, Confidence::High);
    assert_eq!(known(&[88]).await?, Confidence::VeryLow);
    assert_eq!(known(&[99]).await?, Confidence::None, "what demands nothing is not protected");

    let failed =
        RunEnd { state: RunState::Failed, ..protecting("failed", Confidence::Low, fingerprints([5])) };
    store.end_run(failed).await?;
    assert_eq!(known(&[5]).await?, Confidence::Low);
    // What the run's results demanded counts, even if its end does not repeat it.
    store.record_trace("late", &outcome(1, 3)).await?;
    store.end_run(protecting("late", Confidence::None, fingerprints([6]))).await?;
    assert_eq!(known(&[6]).await?, Confidence::Moderate);

    let [_, stranger] = others(store).await?;
    assert_eq!(store.recognize(&stranger.workspace_id, &many).await?, Confidence::None);
    assert_eq!(store.recognize("unknown", &many).await?, Confidence::None);
    Ok(())
}

pub(super) async fn protected_text_is_recognized_after_its_conversation_is_gone(
    store: &dyn Store,
) -> Outcome {
    let owner = Owner::first();
    conversation(store, "c", 1).await?;
    store.begin_run(start("r", Some("c"), 2)).await?;
    store.end_run(protecting("r", Confidence::Medium, fingerprints([4]))).await?;
    assert!(store.delete_conversation(&owner, "c").await?);
    let found = store.recognize(&owner.workspace_id, &fingerprints([3, 4])).await?;
    assert_eq!(found, Confidence::Medium);
    Ok(())
}
