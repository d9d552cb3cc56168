//! Opening a folder: the first time, again, and when it cannot be done.

use std::path::Path;

use sqlx::{Connection, SqliteConnection};
use toolcrib_storage::record::{Owner, Role};
use toolcrib_storage::sqlite::{OpenError, OpenOptions, SqliteStore};
use toolcrib_storage::store::{AccountStore, Store};

use crate::folder::{Folder, at, options};

/// A connection of another program.
pub(crate) async fn raw(file: &Path) -> SqliteConnection {
    SqliteConnection::connect(&format!("sqlite://{}?mode=rwc", file.display())).await.unwrap()
}

async fn refusal(folder: &Path) -> OpenError {
    SqliteStore::open(folder, options()).await.unwrap_err()
}

fn says(error: &OpenError, folder: &Path, words: &[&str]) {
    let message = error.to_string();
    assert!(message.contains(&folder.display().to_string()), "names the folder: {message}");
    for word in words {
        assert!(message.contains(word), "says `{word}`: {message}");
    }
}

#[tokio::test]
async fn the_first_start_makes_the_folder_and_later_ones_keep_the_installation() {
    let outer = Folder::new();
    let folder = outer.path().join("a/b");
    let store = SqliteStore::open(&folder, options()).await.unwrap();
    let installation = store.installation().await.unwrap();
    assert_eq!((installation.id.as_str(), installation.created_at), ("installation", at(0)));
    store.close().await;

    let later = OpenOptions { now: at(99), ..OpenOptions::new("another", at(99)) };
    let store = SqliteStore::open(&folder, later).await.unwrap();
    assert_eq!(store.installation().await.unwrap(), installation);
    assert_eq!(store.role(&Owner::first()).await.unwrap(), Some(Role::Owner));
    store.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_can_read_what_is_stored() {
    use std::os::unix::fs::PermissionsExt;

    let outer = Folder::new();
    let folder = outer.path().join("data");
    let store = SqliteStore::open(&folder, options()).await.unwrap();
    store.add_user("u", "U", at(0)).await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for file in ["toolcrib.sqlite3", "toolcrib.sqlite3-wal", "toolcrib.sqlite3-shm"] {
        assert_eq!(mode(&folder.join(file)), 0o600, "{file}");
    }
    store.close().await;
}

#[tokio::test]
async fn a_second_opening_is_told_who_holds_the_folder() {
    let folder = Folder::new();
    let store = folder.open().await;
    let error = refusal(folder.path()).await;
    assert!(matches!(&error, OpenError::InUse { holder: None, .. }), "{error}");
    says(&error, folder.path(), &["in use by another process", "stop that process"]);

    store.describe_holder("http://127.0.0.1:8080 (process 4711)\n").unwrap();
    let error = refusal(folder.path()).await;
    let OpenError::InUse { holder, .. } = &error else { panic!("{error}") };
    assert_eq!(holder.as_deref(), Some("http://127.0.0.1:8080 (process 4711)"));
    says(&error, folder.path(), &["in use by http://127.0.0.1:8080 (process 4711)"]);

    store.close().await;
    let store = folder.open().await;
    let error = refusal(folder.path()).await;
    assert!(matches!(error, OpenError::InUse { holder: None, .. }), "the old description is gone");
    store.close().await;
}

#[tokio::test]
async fn a_store_that_is_dropped_lets_go_of_the_folder() {
    let folder = Folder::new();
    drop(folder.open().await);
    let again = async {
        loop {
            if let Ok(store) = SqliteStore::open(folder.path(), options()).await {
                return store;
            }
            tokio::task::yield_now().await;
        }
    };
    let store = tokio::time::timeout(std::time::Duration::from_secs(10), again).await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn a_folder_that_cannot_be_made() {
    let outer = Folder::new();
    let file = outer.path().join("file");
    std::fs::write(&file, "text").unwrap();
    for folder in [file.clone(), file.join("below")] {
        let error = refusal(&folder).await;
        assert!(matches!(error, OpenError::Create { .. }), "{error}");
        says(&error, &folder, &["creating the data folder", "choose a folder"]);
    }
}

#[tokio::test]
async fn files_that_cannot_be_written() {
    for name in ["toolcrib.lock", "toolcrib.holder", "toolcrib.sqlite3"] {
        let folder = Folder::new();
        // A folder in the file's place: not even an administrator can write that.
        std::fs::create_dir(folder.path().join(name)).unwrap();
        let error = refusal(folder.path()).await;
        assert!(matches!(error, OpenError::NotWritable { .. }), "{name}: {error}");
        says(
            &error,
            folder.path(),
            &["writing in the data folder", "make the folder and its files writable"],
        );
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_read_only_folder() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o500)).unwrap();
    // An administrator writes where nobody may; then opening must succeed.
    let may_write = std::fs::write(folder.path().join("probe"), "").is_ok();
    let opened = SqliteStore::open(folder.path(), options()).await;
    match opened {
        Ok(store) => {
            assert!(may_write);
            store.close().await;
        }
        Err(error) => {
            assert!(!may_write && matches!(error, OpenError::NotWritable { .. }), "{error}");
            says(&error, folder.path(), &["make the folder and its files writable"]);
        }
    }
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_alone() {
    let folder = Folder::new();
    let text = "This is not a database, but somebody's notes. ".repeat(200);
    std::fs::write(folder.database(), &text).unwrap();
    let error = refusal(folder.path()).await;
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    says(&error, folder.path(), &["damaged or not a database", "restore it from a backup"]);
    assert_eq!(std::fs::read_to_string(folder.database()).unwrap(), text);
}

#[tokio::test]
async fn a_damaged_database() {
    let folder = Folder::new();
    folder.open().await.close().await;
    let mut bytes = std::fs::read(folder.database()).unwrap();
    bytes[100..4096].fill(0xa5);
    std::fs::write(folder.database(), bytes).unwrap();
    let error = refusal(folder.path()).await;
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    says(&error, folder.path(), &["damaged"]);
}

#[tokio::test]
async fn the_database_of_another_program_is_left_alone() {
    let folder = Folder::new();
    let mut other = raw(&folder.database()).await;
    sqlx::query("CREATE TABLE recipes (name TEXT)").execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    let before = std::fs::read(folder.database()).unwrap();
    let error = refusal(folder.path()).await;
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
    says(&error, folder.path(), &["belongs to another program"]);
    assert_eq!(std::fs::read(folder.database()).unwrap(), before);
}

#[tokio::test]
async fn a_database_of_a_later_version_is_left_alone() {
    let folder = Folder::new();
    folder.open().await.close().await;
    let mut later = raw(&folder.database()).await;
    sqlx::query("INSERT INTO migrations (version, name, applied_at) VALUES (7001, 'later', 0)")
        .execute(&mut later)
        .await
        .unwrap();
    later.close().await.unwrap();
    let before = std::fs::read(folder.database()).unwrap();
    let error = refusal(folder.path()).await;
    let OpenError::Newer { found: 7001, known, .. } = &error else { panic!("{error}") };
    says(&error, folder.path(), &["version 7001", &format!("up to {known}"), "update the program"]);
    assert_eq!(std::fs::read(folder.database()).unwrap(), before);
}

#[tokio::test]
async fn a_database_that_another_program_keeps_locked() {
    let folder = Folder::new();
    folder.open().await.close().await;
    let mut other = raw(&folder.database()).await;
    sqlx::query("BEGIN EXCLUSIVE").execute(&mut other).await.unwrap();
    let error = refusal(folder.path()).await;
    assert!(matches!(error, OpenError::Locked { .. }), "{error}");
    says(&error, folder.path(), &["locked by another program", "close whatever else"]);
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    folder.open().await.close().await;
}
