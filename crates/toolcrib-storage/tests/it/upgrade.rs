//! A database that an earlier version wrote: everything in it is kept, and it can do what is new.

use sqlx::Connection;
use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::journal::{Journal, RunState, TraceStatus};
use toolcrib_runtime::labels::Labels;
use toolcrib_storage::record::{Owner, Recovered};
use toolcrib_storage::store::{AccountStore, ApprovalStore, ConversationStore, LabelStore, RunStore, Store};

use crate::folder::{Folder, at, pause, start};
use crate::opening::raw;

/// What the first version did when it was started, and a conversation with a run that has ended and one that a crash
/// cut off.
const FIRST_VERSION: &str = r#"
CREATE TABLE migrations (version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;
PRAGMA application_id = 1416589164;
INSERT INTO migrations VALUES (1, 'first', 0);
INSERT INTO installation VALUES (1, 'an old one', 5);
INSERT INTO workspaces VALUES ('default', 'Default', 0);
INSERT INTO users VALUES ('administrator', 'Administrator', 0);
INSERT INTO members VALUES ('default', 'administrator', 'owner');
INSERT INTO conversations VALUES ('c', 'default', 'administrator', 'Old', 1, 200, 1764000000000000, 1764000009000000);
INSERT INTO runs (id, conversation_id, workspace_id, user_id, component, provider_id, model, state, sources,
                  input_tokens, rounds, required_confidence, started_at, ended_at)
VALUES ('done', 'c', 'default', 'administrator', 'chat', 'provider', 'model', 'completed', '[]', 7, 1, 200,
        1764000000000000, 1764000001000000),
       ('cut', 'c', 'default', 'administrator', 'chat', 'provider', 'model', 'running', '[]', 0, 0, 0,
        1764000002000000, NULL);
INSERT INTO messages VALUES ('c', 1, 'done', 'user', 1, '{"user":[{"text":"a question"}]}'),
                            ('c', 2, 'done', 'assistant', 1, '{"assistant":{"parts":[{"text":"an answer"}]}}'),
                            ('c', 3, 'cut', 'user', 1, '{"user":[{"text":"another"}]}');
INSERT INTO traces VALUES ('done', 1, 1, 'web_search', 'Search the web', 'x', 'call_1', 'SUCCESS', NULL, 1, 200,
                           1764000000000000, 3, 1,
                           '{"arguments":{"query":"old"},"result_text":"found","result_characters":5}'),
                          ('cut', 1, 1, 'web_search', 'Search the web', 'x', 'call_1', 'PENDING', NULL, 0, 0,
                           1764000002000000, 0, 1, '{"arguments":{},"result_characters":0}');
"#;

#[tokio::test]
async fn a_database_of_the_first_version_opens_with_everything_in_it() {
    let folder = Folder::new();
    let owner = Owner::first();
    let mut old = raw(&folder.database()).await;
    let first = include_str!("../../src/migrations/sqlite/0001_first.sql");
    sqlx::raw_sql(first).execute(&mut old).await.unwrap();
    sqlx::raw_sql(FIRST_VERSION).execute(&mut old).await.unwrap();
    old.close().await.unwrap();

    let store = folder.open().await;
    let installation = store.installation().await.unwrap();
    assert_eq!((installation.id.as_str(), installation.schema_version), ("an old one", 2));
    assert_eq!(store.recovered(), Recovered { runs: 1, calls: 1 });
    let found = store.conversation(&owner, "c").await.unwrap().unwrap();
    let labels = Labels::requiring(Confidence::from_value(200).unwrap());
    assert_eq!((found.title.as_str(), found.temporary, found.labels), ("Old", true, labels));
    let messages = store.messages(&owner, "c").await.unwrap().unwrap();
    let texts: Vec<_> = messages.iter().map(|message| message.message.text()).collect();
    assert_eq!(texts, ["a question", "an answer", "another"]);
    let done = store.run(&owner, "done").await.unwrap().unwrap();
    assert_eq!((done.state, done.usage.input_tokens, done.labels), (RunState::Completed, 7, labels));
    assert_eq!(done.locale, "und");
    let cut = store.run(&owner, "cut").await.unwrap().unwrap();
    assert_eq!(cut.state, RunState::Interrupted);
    let trace = store.run_traces(&owner, "done").await.unwrap().unwrap().pop().unwrap();
    assert_eq!((trace.status, trace.result_text.as_deref()), (TraceStatus::Success, Some("found")));
    assert_eq!((trace.untrusted, trace.cost, trace.library_items.len()), (false, 0, 0));
    assert_eq!(trace.arguments, serde_json::json!({"query": "old"}));

    store.begin_run(start("new", "c")).await.unwrap();
    store.pause_run(pause("new", "c", 1, "a state")).await.unwrap();
    assert_eq!(store.waiting_runs_of("c").await.unwrap().len(), 1);
    assert!(store.tighten(&owner, "c", Labels { untrusted: true, ..labels }).await.unwrap());
    store.close().await;
    let store = folder.open().await;
    assert_eq!(store.recovered(), Recovered::default());
    assert_eq!(store.expire_approvals(at(90_000)).await.unwrap(), ["new"]);
    assert!(store.labels("c").await.unwrap().untrusted);
    store.close().await;
}
