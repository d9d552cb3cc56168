//! Writes that fail: nothing of them is done, others are not disturbed, and the store goes on when it can.

use std::sync::Arc;

use sqlx::Connection;
use toolcrib_runtime::journal::{Journal, RunEnd, RunState};
use toolcrib_runtime::message::Message;
use toolcrib_storage::record::Owner;
use toolcrib_storage::sqlite::{OpenOptions, SqliteStore};
use toolcrib_storage::store::{AccountStore, ConversationStore, RunStore, Store, StoreProblem};

use crate::folder::{Folder, at, conversation, end, options, start};
use crate::opening::raw;

#[tokio::test]
async fn a_full_disk_is_named_and_undoes_the_whole_write() {
    let folder = Folder::new();
    let limited = OpenOptions { size_limit: Some(400_000), ..options() };
    let store = SqliteStore::open(folder.path(), limited).await.unwrap();
    conversation(&store, "c").await;
    store.begin_run(start("r", "c")).await.unwrap();

    let small = Message::user("fits");
    let large = Message::user("x".repeat(1_000_000));
    let too_much = RunEnd { messages: vec![small, large], ..end("r") };
    let error = store.end_run(too_much).await.unwrap_err();
    assert!(error.to_string().contains("disk is full"), "{error}");
    assert!(error.to_string().contains("make room"), "{error}");
    let messages = store.messages(&Owner::first(), "c").await.unwrap().unwrap();
    assert_eq!(messages.len(), 1, "nothing of the end is there");
    let run = store.run(&Owner::first(), "r").await.unwrap().unwrap();
    assert_eq!(run.state, RunState::Running);

    let error = store.add_user("u", &"x".repeat(1_000_000), at(0)).await.unwrap_err();
    assert!(matches!(error.problem, StoreProblem::DiskFull), "{error}");

    store.end_run(end("r")).await.unwrap();
    assert_eq!(store.messages(&Owner::first(), "c").await.unwrap().unwrap().len(), 3);
    store.close().await;
}

#[tokio::test]
async fn a_full_disk_fails_only_what_does_not_fit() {
    let folder = Folder::new();
    let limited = OpenOptions { size_limit: Some(600_000), ..options() };
    let store = Arc::new(SqliteStore::open(folder.path(), limited).await.unwrap());
    let tasks: Vec<_> = (0..40)
        .map(|number| {
            let store = Arc::clone(&store);
            let name = "x".repeat(if number % 4 == 0 { 1_000_000 } else { 10 });
            tokio::spawn(async move { store.add_user(&format!("u{number}"), &name, at(0)).await })
        })
        .collect();
    for (number, task) in tasks.into_iter().enumerate() {
        match task.await.unwrap() {
            Ok(()) => assert_ne!(number % 4, 0),
            Err(error) => {
                assert_eq!(number % 4, 0, "{error}");
                assert!(matches!(error.problem, StoreProblem::DiskFull), "{error}");
            }
        }
    }
    store.close().await;
}

#[tokio::test]
async fn a_lock_of_another_program_is_named_and_passes() {
    let folder = Folder::new();
    let store = folder.open().await;
    let mut other = raw(&folder.database()).await;
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let error = store.add_user("u", "U", at(0)).await.unwrap_err();
    assert!(matches!(error.problem, StoreProblem::Locked), "{error}");
    assert!(
        error.to_string().contains("adding a user: the database is locked by another program"),
        "{error}"
    );
    assert!(store.installation().await.is_ok(), "reading goes on");
    sqlx::query("COMMIT").execute(&mut other).await.unwrap();
    store.add_user("u", "U", at(0)).await.unwrap();
    other.close().await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn content_of_a_later_format_is_named_and_not_guessed() {
    let folder = Folder::new();
    let store = folder.open().await;
    conversation(&store, "c").await;
    store.begin_run(start("r", "c")).await.unwrap();
    let mut other = raw(&folder.database()).await;
    sqlx::query("UPDATE messages SET format = 9").execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    let error = store.messages(&Owner::first(), "c").await.unwrap_err();
    let message = error.to_string();
    assert!(message.contains("message 1 of the conversation c"), "{message}");
    assert!(message.contains("format 9"), "{message}");
    store.close().await;
}

#[tokio::test]
async fn a_caller_that_stops_waiting_leaves_nothing_half_done() {
    let folder = Folder::new();
    let store = Arc::new(folder.open().await);
    conversation(&store, "c").await;
    for number in 0..50 {
        let store = Arc::clone(&store);
        let task = tokio::spawn(async move {
            let run_id = format!("r{number}");
            store.begin_run(start(&run_id, "c")).await?;
            store.end_run(end(&run_id)).await
        });
        for _ in 0..number % 10 {
            tokio::task::yield_now().await;
        }
        task.abort();
    }
    // Whatever was accepted before this is done before this.
    store.add_user("last", "Last", at(0)).await.unwrap();
    let messages = store.messages(&Owner::first(), "c").await.unwrap().unwrap();
    for number in 0..50 {
        let run_id = format!("r{number}");
        let count = messages.iter().filter(|message| message.run_id == run_id).count();
        let run = store.run(&Owner::first(), &run_id).await.unwrap();
        let expected = match run.map(|run| run.state) {
            None => 0,
            Some(RunState::Running) => 1,
            Some(_) => 3,
        };
        assert_eq!(count, expected, "{run_id}");
    }
    store.close().await;
}
