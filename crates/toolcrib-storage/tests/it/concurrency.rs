//! Many at once: nobody is told that the database is locked, and nobody sees half of anything.

use std::sync::Arc;
use std::time::Duration;

use toolcrib_runtime::journal::{Journal, RunState, TraceStatus};
use toolcrib_storage::record::{Owner, RunFilter};
use toolcrib_storage::store::{ConversationStore, Page, RunStore, Store};

use crate::folder::{Folder, conversation, end, start, trace};

const WRITERS: usize = 32;
const RUNS: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_writers_and_readers() {
    let folder = Folder::new();
    let store = Arc::new(folder.open().await);
    conversation(&store, "shared").await;
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for number in 0..RUNS {
                    let run_id = format!("{writer}-{number}");
                    store.begin_run(start(&run_id, "shared")).await.unwrap();
                    store.admit_call(&run_id, &trace(1, TraceStatus::Pending)).await.unwrap();
                    store.record_trace(&run_id, &trace(1, TraceStatus::Success)).await.unwrap();
                    store.end_run(end(&run_id)).await.unwrap();
                    let run = store.run(&Owner::first(), &run_id).await.unwrap().unwrap();
                    assert_eq!(run.state, RunState::Completed, "one sees what one has written");
                }
            })
        })
        .collect();
    let readers: Vec<_> = (0..8)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                loop {
                    let messages = store.messages(&Owner::first(), "shared").await.unwrap().unwrap();
                    let positions = messages.iter().map(|message| message.position);
                    assert!(positions.eq(1..=messages.len() as u64), "places without gaps");
                    store.conversation_traces(&Owner::first(), "shared").await.unwrap().unwrap();
                    store.runs(&Owner::first(), &RunFilter::default(), &Page::first(50)).await.unwrap();
                    tokio::task::yield_now().await;
                }
            })
        })
        .collect();
    let all = async {
        for writer in writers {
            writer.await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_mins(2), all).await.unwrap();
    for reader in readers {
        assert!(!reader.is_finished(), "a reader has failed: {:?}", reader.await);
        reader.abort();
    }

    let messages = store.messages(&Owner::first(), "shared").await.unwrap().unwrap();
    assert_eq!(messages.len(), WRITERS * RUNS * 3);
    for pair in messages.chunk_by(|left, right| left.run_id == right.run_id) {
        // An answer is one write, so that nobody else's message can stand within it.
        assert!(matches!(pair.len(), 1..=3));
    }
    let calls = store.conversation_traces(&Owner::first(), "shared").await.unwrap().unwrap();
    assert_eq!(calls.len(), WRITERS * RUNS);
    assert!(calls.iter().all(|call| call.trace.status == TraceStatus::Success));
    store.close().await;
}
