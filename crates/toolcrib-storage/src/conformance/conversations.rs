//! Conversations.

use super::Outcome;
use super::sample::{at, conversation, end, new_conversation, others, start};
use crate::record::{Conversation, NewConversation, Owner};
use crate::store::{Page, Store, StoreProblem};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::policy::OutboundRestriction;

pub(super) async fn a_conversation_is_stored_renamed_and_deleted(store: &dyn Store) -> Outcome {
    let owner = Owner::first();
    let new = NewConversation {
        temporary: true,
        outbound: OutboundRestriction::LinksFromChat,
        ..new_conversation("a", owner.clone(), 1)
    };
    store.create_conversation(new).await?;
    let mut expected = Conversation {
        id: "a".to_owned(),
        owner: owner.clone(),
        title: "About a".to_owned(),
        temporary: true,
        labels: Labels { outbound: OutboundRestriction::LinksFromChat, ..Labels::default() },
        created_at: at(1),
        updated_at: at(1),
    };
    assert_eq!(store.conversation(&owner, "a").await?, Some(expected.clone()));
    assert_eq!(store.messages(&owner, "a").await?, Some(Vec::new()));

    "Ünïcödé '; DROP 🦀".clone_into(&mut expected.title);
    assert!(store.rename_conversation(&owner, "a", &expected.title).await?);
    assert_eq!(store.conversation(&owner, "a").await?, Some(expected));
    assert!(!store.rename_conversation(&owner, "b", "x").await?);

    assert!(store.delete_conversation(&owner, "a").await?);
    assert!(!store.delete_conversation(&owner, "a").await?);
    assert_eq!(store.conversation(&owner, "a").await?, None);
    assert_eq!(store.messages(&owner, "a").await?, None);
    Ok(())
}

pub(super) async fn a_foreign_conversation_is_not_found(store: &dyn Store) -> Outcome {
    conversation(store, "a", 1).await?;
    store.begin_run(start("r", Some("a"), 2)).await?;
    for other in others(store).await? {
        assert_eq!(store.conversation(&other, "a").await?, None);
        assert_eq!(store.messages(&other, "a").await?, None);
        assert_eq!(store.conversation_traces(&other, "a").await?, None);
        assert!(!store.rename_conversation(&other, "a", "mine").await?);
        assert!(!store.delete_conversation(&other, "a").await?);
        assert!(store.conversations(&other, &Page::first(10)).await?.items.is_empty());
    }
    let own = store.conversation(&Owner::first(), "a").await?;
    assert_eq!(own.map(|conversation| conversation.title), Some("About a".to_owned()));
    Ok(())
}

pub(super) async fn lists_are_paged_with_the_latest_news_first(store: &dyn Store) -> Outcome {
    let owner = Owner::first();
    // Two of each time, so that a page ends among equals.
    for number in 0..9 {
        conversation(store, &format!("c{number}"), number / 2).await?;
    }
    // The oldest has news.
    store.begin_run(start("r", Some("c0"), 50)).await?;
    store.end_run(end("r", 60)).await?;

    let whole = store.conversations(&owner, &Page::first(100)).await?;
    assert_eq!(whole.next, None);
    let whole: Vec<_> = whole.items.into_iter().map(|item| item.id).collect();
    assert_eq!(whole, ["c0", "c8", "c7", "c6", "c5", "c4", "c3", "c2", "c1"]);

    for limit in [1, 2, 3, 9, 10] {
        let mut pages = Vec::new();
        let mut page = Page::first(limit);
        loop {
            let listing = store.conversations(&owner, &page).await?;
            assert!(listing.items.len() <= limit as usize);
            pages.extend(listing.items.into_iter().map(|item| item.id));
            let Some(next) = listing.next else { break };
            page = Page::after(limit, next);
        }
        assert_eq!(pages, whole, "in pages of {limit}");
    }
    let result = store.conversations(&owner, &Page::after(3, "nonsense")).await;
    assert!(matches!(result, Err(error) if matches!(error.problem, StoreProblem::UnknownPlace { .. })));
    Ok(())
}

pub(super) async fn a_conversation_needs_a_member_and_a_new_id(store: &dyn Store) -> Outcome {
    conversation(store, "a", 1).await?;
    let [colleague, stranger] = others(store).await?;
    let result = store.create_conversation(new_conversation("a", colleague.clone(), 2)).await;
    assert!(matches!(result, Err(error) if matches!(error.problem, StoreProblem::Duplicate)));
    let not_a_member = Owner::new(stranger.workspace_id, colleague.user_id);
    let result = store.create_conversation(new_conversation("b", not_a_member, 2)).await;
    assert!(matches!(result, Err(error) if matches!(error.problem, StoreProblem::Missing { .. })));
    Ok(())
}
