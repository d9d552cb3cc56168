//! Traces.

use serde_json::{Value, json};
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::journal::{Trace, TraceStatus};
use toolcrib_runtime::tool::{Origin, Source};

use super::Outcome;
use super::sample::{admission, at, conversation, end, outcome, source, start};
use crate::record::Owner;
use crate::store::Store;

pub(super) async fn every_field_of_a_trace_comes_back(store: &dyn Store) -> Outcome {
    store.begin_run(start("r", None, 1)).await?;
    let mut traces = vec![outcome(1, 2), admission(2, 3)];
    for ((order, (status, _)), (level, origin)) in (3..).zip(TraceStatus::ALL).zip(
        Confidence::ALL.into_iter().zip([Origin::Llm, Origin::Tool, Origin::Knowledge].into_iter().cycle()),
    ) {
        let sources = vec![source(), Source { origin, tool_call_id: None, ..source() }];
        traces.push(Trace { status, required_confidence: level, sources, ..outcome(order, 4) });
    }
    // JSON null is a result, and arguments need not be JSON objects.
    traces.push(Trace { result_json: Some(Value::Null), arguments: json!("{broken"), ..outcome(50, 5) });
    traces.push(Trace { result_json: None, arguments: Value::Null, ..outcome(51, 5) });
    for trace in &traces {
        store.record_trace("r", trace).await?;
    }
    assert_eq!(store.run_traces(&Owner::first(), "r").await?, Some(traces));
    Ok(())
}

pub(super) async fn an_outcome_replaces_its_admission(store: &dyn Store) -> Outcome {
    store.begin_run(start("r", None, 1)).await?;
    store.admit_call("r", &admission(1, 2)).await?;
    assert_eq!(store.run_traces(&Owner::first(), "r").await?, Some(vec![admission(1, 2)]));
    store.admit_call("r", &admission(1, 3)).await?;
    store.record_trace("r", &outcome(1, 3)).await?;
    assert_eq!(store.run_traces(&Owner::first(), "r").await?, Some(vec![outcome(1, 3)]));
    Ok(())
}

pub(super) async fn open_calls_of_a_stopped_run_are_cancelled(store: &dyn Store) -> Outcome {
    for run_id in ["r", "other"] {
        store.begin_run(start(run_id, None, 1)).await?;
        store.admit_call(run_id, &admission(1, 2)).await?;
    }
    store.record_trace("r", &outcome(2, 2)).await?;
    store.close_open_calls("r", at(5)).await?;
    store.close_open_calls("unknown", at(5)).await?;
    let cancelled = Trace {
        status: TraceStatus::Cancelled,
        status_message: Some("the run was stopped".to_owned()),
        duration_ms: 3000,
        ..admission(1, 2)
    };
    assert_eq!(store.run_traces(&Owner::first(), "r").await?, Some(vec![cancelled, outcome(2, 2)]));
    assert_eq!(store.run_traces(&Owner::first(), "other").await?, Some(vec![admission(1, 2)]));
    Ok(())
}

pub(super) async fn nothing_is_admitted_after_the_end(store: &dyn Store) -> Outcome {
    store.begin_run(start("r", None, 1)).await?;
    store.record_trace("r", &outcome(1, 2)).await?;
    let again = store.admit_call("r", &admission(1, 3)).await;
    assert!(matches!(again, Err(error) if error.cause.contains("call has already ended")));
    store.end_run(end("r", 4)).await?;
    let late = store.admit_call("r", &admission(2, 5)).await;
    assert!(matches!(late, Err(error) if error.cause.contains("run has already ended")));
    for result in [
        store.admit_call("unknown", &admission(1, 3)).await,
        store.record_trace("unknown", &outcome(1, 3)).await,
    ] {
        assert!(matches!(result, Err(error) if error.cause.contains("no such run")));
    }
    // What a call did is told even when its run has ended meanwhile.
    store.record_trace("r", &outcome(3, 6)).await?;
    assert_eq!(store.run_traces(&Owner::first(), "r").await?, Some(vec![outcome(1, 2), outcome(3, 6)]));
    Ok(())
}

pub(super) async fn traces_of_a_conversation_stand_in_order(store: &dyn Store) -> Outcome {
    conversation(store, "c", 1).await?;
    conversation(store, "d", 1).await?;
    assert_eq!(store.conversation_traces(&Owner::first(), "c").await?, Some(Vec::new()));
    for (run_id, conversation_id, seconds) in [("late", "c", 9), ("early", "c", 3), ("other", "d", 4)] {
        store.begin_run(start(run_id, Some(conversation_id), seconds)).await?;
        for order in [2, 1] {
            store.record_trace(run_id, &outcome(order, seconds)).await?;
        }
    }
    let calls = store.conversation_traces(&Owner::first(), "c").await?.unwrap_or_default();
    let places: Vec<_> = calls.iter().map(|call| (call.run_id.as_str(), call.trace.order)).collect();
    assert_eq!(places, [("early", 1), ("early", 2), ("late", 1), ("late", 2)]);
    assert_eq!(calls.first().map(|call| &call.trace), Some(&outcome(1, 3)));
    Ok(())
}
