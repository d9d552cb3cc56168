//! What a stop in the middle leaves, and what the next start makes of it.

use toolcrib_runtime::journal::{Journal, RunState, TraceStatus};
use toolcrib_storage::record::{KeyHash, KeyLookup, NewKey, Owner, Recovered};
use toolcrib_storage::sqlite::{OpenOptions, SqliteStore};
use toolcrib_storage::store::{ConversationStore, KeyStore, RunStore, Store};

use crate::folder::{Folder, at, conversation, end, options, start, trace};

#[tokio::test]
async fn what_was_going_on_is_closed_at_the_next_start() {
    let folder = Folder::new();
    let owner = Owner::first();
    let store = folder.open().await;
    assert_eq!(store.recovered(), Recovered::default());
    conversation(&store, "c").await;
    store.begin_run(start("done", "c")).await.unwrap();
    store.end_run(end("done")).await.unwrap();
    store.begin_run(start("cut", "c")).await.unwrap();
    store.admit_call("cut", &trace(1, TraceStatus::Pending)).await.unwrap();
    store.record_trace("cut", &trace(1, TraceStatus::Success)).await.unwrap();
    store.admit_call("cut", &trace(2, TraceStatus::Pending)).await.unwrap();
    store.admit_call("cut", &trace(3, TraceStatus::Pending)).await.unwrap();
    store.close().await;

    let later = OpenOptions { now: at(500), ..options() };
    let store = SqliteStore::open(folder.path(), later).await.unwrap();
    assert_eq!(store.recovered(), Recovered { runs: 1, calls: 2 });
    let run = store.run(&owner, "cut").await.unwrap().unwrap();
    assert_eq!((run.state, run.ended_at), (RunState::Interrupted, Some(at(500))));
    assert!(run.reason.unwrap().contains("program stopped"));
    let traces = store.run_traces(&owner, "cut").await.unwrap().unwrap();
    let stands: Vec<_> = traces.iter().map(|trace| (trace.status, trace.status_message.as_deref())).collect();
    let interrupted = (TraceStatus::Error, Some("interrupted"));
    assert_eq!(stands, [(TraceStatus::Success, None), interrupted, interrupted]);
    let done = store.run(&owner, "done").await.unwrap().unwrap();
    assert_eq!(done.state, RunState::Completed);

    let messages = store.messages(&owner, "c").await.unwrap().unwrap();
    let runs: Vec<_> = messages.iter().map(|message| message.run_id.as_str()).collect();
    assert_eq!(runs, ["done", "done", "done", "cut"], "what the user said stays");
    assert!(store.end_run(end("cut")).await.is_err());
    store.begin_run(start("next", "c")).await.unwrap();
    store.end_run(end("next")).await.unwrap();
    store.close().await;

    let store = folder.open().await;
    assert_eq!(store.recovered(), Recovered::default(), "it is closed once");
    store.close().await;
}

#[tokio::test]
async fn the_last_use_of_a_key_is_written_when_the_store_is_closed() {
    let folder = Folder::new();
    let store = folder.open().await;
    let key = NewKey {
        id: "k".to_owned(),
        owner: Owner::first(),
        name: String::new(),
        hash: KeyHash([1; 32]),
        prefix: String::new(),
        scopes: String::new(),
        created_at: at(0),
        expires_at: None,
    };
    store.insert_key(key).await.unwrap();
    for seconds in 100..130 {
        store.touch_key("k", at(seconds));
    }
    store.close().await;
    let store = folder.open().await;
    let KeyLookup::Active(key) = store.find_key(&KeyHash([1; 32]), at(200)).await.unwrap() else {
        panic!("the key is active")
    };
    assert_eq!(key.last_used_at, Some(at(129)));
    store.close().await;
}
