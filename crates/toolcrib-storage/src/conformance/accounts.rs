//! The installation, tenants and members.

use super::Outcome;
use super::sample::at;
use crate::record::{Owner, Role};
use crate::store::{Page, Store, StoreProblem};

pub(super) async fn a_new_store_has_one_workspace_and_one_administrator(store: &dyn Store) -> Outcome {
    let installation = store.installation().await?;
    assert!(!installation.id.is_empty());
    assert!(installation.schema_version >= 1);
    assert_eq!(store.role(&Owner::first()).await?, Some(Role::Owner));
    assert_eq!(store.role(&Owner::new("default", "nobody")).await?, None);
    assert_eq!(store.count_keys(at(0)).await?, 0);
    assert!(store.conversations(&Owner::first(), &Page::first(10)).await?.items.is_empty());
    Ok(())
}

pub(super) async fn ids_are_taken_once(store: &dyn Store) -> Outcome {
    store.add_workspace("a", "A", at(0)).await?;
    store.add_user("u", "U", at(0)).await?;
    let again = [store.add_workspace("a", "Other", at(1)).await, store.add_user("u", "Other", at(1)).await];
    for result in again {
        assert!(matches!(result, Err(error) if matches!(error.problem, StoreProblem::Duplicate)));
    }
    Ok(())
}

pub(super) async fn a_role_needs_a_user_and_a_workspace(store: &dyn Store) -> Outcome {
    let missing = [Owner::new("default", "nobody"), Owner::new("nowhere", "administrator")];
    for member in missing {
        let result = store.set_role(&member, Role::Member).await;
        assert!(matches!(result, Err(error) if matches!(error.problem, StoreProblem::Missing { .. })));
    }
    store.add_user("u", "U", at(0)).await?;
    let member = Owner::new("default", "u");
    for role in [Role::Member, Role::Administrator] {
        store.set_role(&member, role).await?;
        assert_eq!(store.role(&member).await?, Some(role));
    }
    Ok(())
}

pub(super) async fn a_closed_store_says_so(store: &dyn Store) -> Outcome {
    store.close().await;
    store.close().await;
    let written = store.add_user("u", "U", at(0)).await;
    assert!(matches!(written, Err(error) if matches!(error.problem, StoreProblem::Closed)));
    let read = store.installation().await;
    assert!(matches!(read, Err(error) if matches!(error.problem, StoreProblem::Closed)));
    Ok(())
}
