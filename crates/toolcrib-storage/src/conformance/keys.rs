//! API keys.

use super::Outcome;
use super::sample::{at, others};
use crate::record::{ApiKey, KeyHash, KeyLookup, NewKey, Owner};
use crate::store::{Store, StoreProblem};

fn new_key(id: &str, hash: u8) -> NewKey {
    NewKey {
        id: id.to_owned(),
        owner: Owner::first(),
        name: format!("Key {id}"),
        hash: KeyHash([hash; 32]),
        prefix: "tc_abc".to_owned(),
        scopes: "chat admin".to_owned(),
        created_at: at(i64::from(hash)),
        expires_at: None,
    }
}

fn stored(key: NewKey) -> ApiKey {
    ApiKey {
        id: key.id,
        owner: key.owner,
        name: key.name,
        prefix: key.prefix,
        scopes: key.scopes,
        created_at: key.created_at,
        last_used_at: None,
        expires_at: key.expires_at,
        revoked_at: None,
    }
}

pub(super) async fn a_key_is_found_by_its_hash(store: &dyn Store) -> Outcome {
    for (id, hash) in [("a", 1), ("b", 2)] {
        store.insert_key(new_key(id, hash)).await?;
    }
    for _ in 0..2 {
        let found = store.find_key(&KeyHash([2; 32]), at(9)).await?;
        assert_eq!(found, KeyLookup::Active(stored(new_key("b", 2))));
    }
    let newest_first = [stored(new_key("b", 2)), stored(new_key("a", 1))];
    assert_eq!(store.keys("default").await?, newest_first);
    assert_eq!(store.keys("elsewhere").await?, []);
    assert_eq!(store.count_keys(at(9)).await?, 2);
    Ok(())
}

pub(super) async fn revoked_expired_and_unknown_keys_are_told_apart(store: &dyn Store) -> Outcome {
    let expiring = NewKey { expires_at: Some(at(100)), ..new_key("expiring", 1) };
    let hash = expiring.hash;
    store.insert_key(expiring.clone()).await?;
    assert_eq!(store.find_key(&hash, at(99)).await?, KeyLookup::Active(stored(expiring.clone())));
    assert_eq!(store.count_keys(at(99)).await?, 1);
    assert_eq!(store.find_key(&hash, at(100)).await?, KeyLookup::Expired(stored(expiring.clone())));
    assert_eq!(store.count_keys(at(100)).await?, 0);

    let revoked = ApiKey { revoked_at: Some(at(50)), ..stored(expiring) };
    assert_eq!(store.revoke_key("default", "expiring", at(50)).await?, Some(revoked.clone()));
    assert_eq!(
        store.revoke_key("default", "expiring", at(60)).await?,
        Some(revoked.clone()),
        "the first counts"
    );
    assert_eq!(store.find_key(&hash, at(99)).await?, KeyLookup::Revoked(revoked.clone()));
    assert_eq!(store.find_key(&hash, at(200)).await?, KeyLookup::Revoked(revoked));
    assert_eq!(store.find_key(&KeyHash([7; 32]), at(0)).await?, KeyLookup::Unknown);
    assert_eq!(store.count_keys(at(99)).await?, 0);
    Ok(())
}

pub(super) async fn revoking_is_for_the_workspace_of_the_key(store: &dyn Store) -> Outcome {
    store.insert_key(new_key("a", 1)).await?;
    let [_, stranger] = others(store).await?;
    assert_eq!(store.revoke_key(&stranger.workspace_id, "a", at(5)).await?, None);
    assert_eq!(store.revoke_key("default", "unknown", at(5)).await?, None);
    assert_eq!(store.find_key(&KeyHash([1; 32]), at(9)).await?, KeyLookup::Active(stored(new_key("a", 1))));
    Ok(())
}

pub(super) async fn a_key_needs_a_member_and_a_new_hash(store: &dyn Store) -> Outcome {
    store.insert_key(new_key("a", 1)).await?;
    for duplicate in [new_key("a", 2), new_key("b", 1)] {
        let result = store.insert_key(duplicate).await;
        assert!(matches!(result, Err(error) if matches!(error.problem, StoreProblem::Duplicate)));
    }
    let [colleague, stranger] = others(store).await?;
    let not_a_member = Owner::new(stranger.workspace_id, colleague.user_id);
    let result = store.insert_key(NewKey { owner: not_a_member, ..new_key("c", 3) }).await;
    assert!(matches!(result, Err(error) if matches!(error.problem, StoreProblem::Missing { .. })));
    assert_eq!(store.keys("default").await?.len(), 1);
    Ok(())
}

pub(super) async fn the_last_use_is_shown_at_once(store: &dyn Store) -> Outcome {
    store.insert_key(new_key("a", 1)).await?;
    for seconds in [100, 101, 300, 302, 301] {
        store.touch_key("a", at(seconds));
    }
    let used = ApiKey { last_used_at: Some(at(302)), ..stored(new_key("a", 1)) };
    assert_eq!(store.keys("default").await?, std::slice::from_ref(&used));
    assert_eq!(store.find_key(&KeyHash([1; 32]), at(400)).await?, KeyLookup::Active(used));
    Ok(())
}
