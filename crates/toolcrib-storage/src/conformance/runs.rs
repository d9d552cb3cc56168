//! Runs and the messages that they add.

use serde_json::{Map, json};
use toolcrib_runtime::journal::{RoundEnd, RunEnd, RunStart, RunState};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::message::{
    AssistantMessage, AssistantPart, Message, Part, ToolCall, ToolResult, Usage,
};

use super::Outcome;
use super::sample::{admission, at, conversation, end, others, round, source, start, strict};
use crate::record::{Owner, RunFilter, RunRecord};
use crate::store::{Page, Store};

/// One message of each kind, with everything that is easily lost.
fn every_kind() -> Vec<Message> {
    let mut opaque = Map::new();
    opaque
        .insert("z".to_owned(), json!({"deep": [1.0, 1, -0.1, 1e300, 0.1 + 0.2, u64::MAX, i64::MIN, null]}));
    opaque.insert("a".to_owned(), json!("order is kept"));
    let text =
        "nul \u{0}, lone \u{301}, \u{2028}, \u{fffe}, right-to-left \u{202e}, 🏳️‍🌈 \r\n\t\\\"".to_owned();
    let call = |id: &str, arguments: &str| {
        AssistantPart::Call(ToolCall {
            id: id.to_owned(),
            name: "web_search".to_owned(),
            arguments: arguments.to_owned(),
            opaque: opaque.clone(),
        })
    };
    vec![
        Message::System(text.clone()),
        Message::User(vec![
            Part::Text(String::new()),
            Part::Text(text.clone()),
            Part::Image { url: "data:image/png;base64,AA==".to_owned(), detail: None },
            Part::Image { url: "https://example.org/a.png".to_owned(), detail: Some("low".to_owned()) },
            Part::Opaque(json!(null)),
            Part::Opaque(json!({"type": "input_audio", "input_audio": {"data": "AA=="}})),
        ]),
        Message::User(Vec::new()),
        Message::Assistant(AssistantMessage::default()),
        Message::Assistant(AssistantMessage {
            parts: vec![
                AssistantPart::Reasoning(text.clone()),
                AssistantPart::Text(text.clone()),
                call("1", "{\"query\": \"x\"}"),
                call("2", "not JSON {"),
            ],
            opaque,
        }),
        Message::ToolResult(ToolResult { call_id: "1".to_owned(), text: text.clone(), is_error: false }),
        Message::ToolResult(ToolResult { call_id: String::new(), text, is_error: true }),
    ]
}

pub(super) async fn messages_come_back_as_they_were(store: &dyn Store) -> Outcome {
    conversation(store, "c", 1).await?;
    let expected = every_kind();
    let (said, answered) = expected.split_at(3);
    store.begin_run(RunStart { messages: said.to_vec(), ..start("r", Some("c"), 2) }).await?;
    store.end_run(RunEnd { messages: answered.to_vec(), ..end("r", 3) }).await?;
    let stored = store.messages(&Owner::first(), "c").await?.unwrap_or_default();
    let positions: Vec<_> = stored.iter().map(|message| message.position).collect();
    assert_eq!(positions, [1, 2, 3, 4, 5, 6, 7]);
    assert!(stored.iter().all(|message| message.run_id == "r"));
    let messages: Vec<_> = stored.into_iter().map(|message| message.message).collect();
    assert_eq!(messages, expected);
    // Equality of maps does not see the order of their entries.
    assert_eq!(format!("{messages:?}"), format!("{expected:?}"));
    Ok(())
}

pub(super) async fn a_run_appears_with_the_users_messages_and_its_end_in_one_piece(
    store: &dyn Store,
) -> Outcome {
    let owner = Owner::first();
    conversation(store, "c", 1).await?;
    store.begin_run(start("r", Some("c"), 5)).await?;
    let mut expected = RunRecord {
        id: "r".to_owned(),
        conversation_id: Some("c".to_owned()),
        owner: owner.clone(),
        component: "chat".to_owned(),
        locale: "de-CH".to_owned(),
        provider_id: "provider".to_owned(),
        model: "model".to_owned(),
        state: RunState::Running,
        reason: None,
        sources: Vec::new(),
        usage: Usage::default(),
        rounds: 0,
        labels: Labels::default(),
        started_at: at(5),
        ended_at: None,
    };
    assert_eq!(store.run(&owner, "r").await?, Some(expected.clone()));
    assert_eq!(texts(store, "c").await?, ["hello from r"]);
    assert_eq!(updated(store, "c").await?, Some(at(5)));

    let reason = Some("the limit of calls was reached".to_owned());
    store.end_run(RunEnd { state: RunState::Incomplete, reason: reason.clone(), ..end("r", 9) }).await?;
    expected.state = RunState::Incomplete;
    expected.reason = reason;
    expected.sources = vec![source()];
    expected.usage = end("r", 9).usage;
    expected.rounds = 2;
    expected.ended_at = Some(at(9));
    assert_eq!(store.run(&owner, "r").await?, Some(expected));
    assert_eq!(texts(store, "c").await?, ["hello from r", "noted", "answer to r"]);
    assert_eq!(updated(store, "c").await?, Some(at(9)));

    store.begin_run(start("s", Some("c"), 10)).await?;
    store.end_run(end("s", 11)).await?;
    assert_eq!(texts(store, "c").await?[3..], ["hello from s", "noted", "answer to s"]);
    Ok(())
}

pub(super) async fn a_run_without_conversation_keeps_no_messages(store: &dyn Store) -> Outcome {
    conversation(store, "c", 1).await?;
    store.begin_run(start("r", None, 2)).await?;
    store.end_run(end("r", 3)).await?;
    let run = store.run(&Owner::first(), "r").await?;
    assert_eq!(run.map(|run| (run.conversation_id, run.state)), Some((None, RunState::Completed)));
    assert_eq!(store.messages(&Owner::first(), "c").await?, Some(Vec::new()));
    assert_eq!(updated(store, "c").await?, Some(at(1)));
    Ok(())
}

pub(super) async fn a_run_in_a_foreign_conversation_is_refused_whole(store: &dyn Store) -> Outcome {
    conversation(store, "c", 1).await?;
    for (number, other) in others(store).await?.into_iter().enumerate() {
        let run_id = format!("r{number}");
        let foreign = RunStart {
            workspace_id: other.workspace_id.clone(),
            user_id: other.user_id.clone(),
            ..start(&run_id, Some("c"), 2)
        };
        let result = store.begin_run(foreign).await;
        assert!(matches!(result, Err(error) if error.cause.contains("conversation")));
        assert_eq!(store.run(&other, &run_id).await?, None);
    }
    assert!(store.begin_run(start("r", Some("unknown"), 2)).await.is_err());
    assert_eq!(store.messages(&Owner::first(), "c").await?, Some(Vec::new()));
    let unknown = RunStart { user_id: "nobody".to_owned(), ..start("r", None, 2) };
    assert!(store.begin_run(unknown).await.is_err());
    Ok(())
}

pub(super) async fn a_run_ends_once(store: &dyn Store) -> Outcome {
    conversation(store, "c", 1).await?;
    store.begin_run(start("r", Some("c"), 2)).await?;
    assert!(store.begin_run(start("r", Some("c"), 3)).await.is_err(), "the id is taken");
    assert_eq!(texts(store, "c").await?, ["hello from r"]);
    store.end_run(end("r", 4)).await?;
    let again = store.end_run(RunEnd { state: RunState::Failed, ..end("r", 5) }).await;
    assert!(matches!(again, Err(error) if error.cause.contains("already ended")));
    let unknown = store.end_run(end("unknown", 5)).await;
    assert!(matches!(unknown, Err(error) if error.cause.contains("no such run")));
    assert_eq!(texts(store, "c").await?.len(), 3);
    let run = store.run(&Owner::first(), "r").await?;
    assert_eq!(run.map(|run| (run.state, run.ended_at)), Some((RunState::Completed, Some(at(4)))));
    Ok(())
}

pub(super) async fn runs_are_filtered_and_paged(store: &dyn Store) -> Outcome {
    let owner = Owner::first();
    conversation(store, "c", 1).await?;
    conversation(store, "d", 1).await?;
    for number in 0..8_i64 {
        let run_id = format!("r{number}");
        let conversation_id = [Some("c"), Some("d"), None][usize::try_from(number % 3)?];
        store.begin_run(start(&run_id, conversation_id, number)).await?;
        if number % 2 == 0 {
            store.end_run(end(&run_id, number)).await?;
        }
    }
    let check = async |conversation: Option<&str>, state, expected: &[&str]| -> Outcome {
        let filter = RunFilter { conversation_id: conversation.map(str::to_owned), state };
        for limit in [1, 3, 50] {
            let mut found = Vec::new();
            let mut page = Page::first(limit);
            loop {
                let listing = store.runs(&owner, &filter, &page).await?;
                found.extend(listing.items.into_iter().map(|run| run.id));
                let Some(next) = listing.next else { break };
                page = Page::after(limit, next);
            }
            assert_eq!(found, expected, "{filter:?} in pages of {limit}");
        }
        Ok(())
    };
    check(None, None, &["r7", "r6", "r5", "r4", "r3", "r2", "r1", "r0"]).await?;
    check(Some("c"), None, &["r6", "r3", "r0"]).await?;
    check(None, Some(RunState::Running), &["r7", "r5", "r3", "r1"]).await?;
    check(Some("d"), Some(RunState::Completed), &["r4"]).await?;
    check(Some("d"), Some(RunState::Failed), &[]).await?;
    check(Some("unknown"), None, &[]).await
}

pub(super) async fn a_foreign_run_is_not_found(store: &dyn Store) -> Outcome {
    store.begin_run(start("r", None, 2)).await?;
    store.admit_call("r", &admission(1, 2)).await?;
    for other in others(store).await? {
        assert_eq!(store.run(&other, "r").await?, None);
        assert_eq!(store.run_traces(&other, "r").await?, None);
        assert!(store.runs(&other, &RunFilter::default(), &Page::first(9)).await?.items.is_empty());
    }
    Ok(())
}

pub(super) async fn deleting_a_conversation_deletes_what_happened_in_it(store: &dyn Store) -> Outcome {
    let owner = Owner::first();
    conversation(store, "c", 1).await?;
    store.begin_run(start("r", Some("c"), 2)).await?;
    store.begin_run(start("other", None, 2)).await?;
    store.admit_call("r", &admission(1, 2)).await?;
    assert!(store.delete_conversation(&owner, "c").await?);
    assert_eq!(store.run(&owner, "r").await?, None);
    assert_eq!(store.run_traces(&owner, "r").await?, None);
    assert_eq!(store.conversation_traces(&owner, "c").await?, None);
    assert!(store.end_run(end("r", 3)).await.is_err(), "nothing is written for a run that is gone");
    assert!(store.run(&owner, "other").await?.is_some());
    // The id is free again, and nothing of the old conversation is in the new one.
    conversation(store, "c", 4).await?;
    assert_eq!(store.messages(&owner, "c").await?, Some(Vec::new()));
    Ok(())
}

pub(super) async fn what_a_round_said_is_there_when_the_next_begins(store: &dyn Store) -> Outcome {
    let owner = Owner::first();
    conversation(store, "c", 1).await?;
    store.begin_run(start("r", Some("c"), 5)).await?;
    store.record_round(round("r", 6)).await?;
    assert_eq!(texts(store, "c").await?, ["hello from r", "round of r"]);
    assert_eq!(updated(store, "c").await?, Some(at(6)));
    let run = store.run(&owner, "r").await?.ok_or("the run is there")?;
    let first = round("r", 6);
    assert_eq!((run.state, run.usage, run.rounds), (RunState::Running, first.usage, 1));
    assert_eq!((run.labels, run.ended_at), (Labels::default(), None));

    store.record_round(RoundEnd { labels: strict(), rounds: 2, ..round("r", 7) }).await?;
    let run = store.run(&owner, "r").await?.ok_or("the run is there")?;
    assert_eq!((run.rounds, run.labels), (2, strict()));
    assert_eq!(store.labels("c").await?, strict());
    store.end_run(end("r", 9)).await?;
    let said = ["hello from r", "round of r", "round of r", "noted", "answer to r"];
    assert_eq!(texts(store, "c").await?, said);

    let late = store.record_round(round("r", 10)).await;
    assert!(matches!(late, Err(error) if error.cause.contains("run has already ended")));
    let unknown = store.record_round(round("unknown", 10)).await;
    assert!(matches!(unknown, Err(error) if error.cause.contains("no such run")));
    assert_eq!(texts(store, "c").await?, said);

    store.begin_run(start("alone", None, 11)).await?;
    store.record_round(RoundEnd { labels: strict(), ..round("alone", 12) }).await?;
    let alone = store.run(&owner, "alone").await?.map(|run| (run.labels, run.rounds));
    assert_eq!(alone, Some((strict(), 1)));
    Ok(())
}

async fn texts(
    store: &dyn Store,
    conversation_id: &str,
) -> Result<Vec<String>, Box<dyn std::error::Error + Send + Sync>> {
    let messages = store.messages(&Owner::first(), conversation_id).await?.unwrap_or_default();
    Ok(messages.into_iter().map(|message| message.message.text()).collect())
}

async fn updated(
    store: &dyn Store,
    conversation_id: &str,
) -> Result<Option<jiff::Timestamp>, Box<dyn std::error::Error + Send + Sync>> {
    let conversation = store.conversation(&Owner::first(), conversation_id).await?;
    Ok(conversation.map(|conversation| conversation.updated_at))
}
