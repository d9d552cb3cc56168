//! The installation, tenants and members in `SQLite`.

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqliteConnection;

use super::SqliteStore;
use super::problem::Failure;
use super::writer::Write;
use crate::record::time;
use crate::record::trace::ContentError;
use crate::record::{Installation, Owner, Role};
use crate::store::{AccountStore, Store, StoreError};

#[async_trait]
impl Store for SqliteStore {
    async fn close(&self) {
        self.write_last_uses().await;
        self.inner.readers.close().await;
        self.inner.writer.close().await;
    }
}

#[async_trait]
impl AccountStore for SqliteStore {
    async fn installation(&self) -> Result<Installation, StoreError> {
        let find = async {
            let (id, created_at, schema_version): (String, i64, i64) = sqlx::query_as(
                "SELECT id, created_at, (SELECT max(version) FROM migrations) FROM installation",
            )
            .fetch_one(self.readers())
            .await?;
            let created_at = stored_time("created_at", created_at)
                .map_err(|error| Failure::content("the installation", &error))?;
            Ok(Installation { id, schema_version, created_at })
        };
        find.await.map_err(|failure: Failure| failure.during("reading the installation"))
    }

    async fn add_workspace(&self, id: &str, name: &str, at: Timestamp) -> Result<(), StoreError> {
        self.write(AddWorkspace { id: id.to_owned(), name: name.to_owned(), at }).await
    }

    async fn add_user(&self, id: &str, name: &str, at: Timestamp) -> Result<(), StoreError> {
        self.write(AddUser { id: id.to_owned(), name: name.to_owned(), at }).await
    }

    async fn set_role(&self, member: &Owner, role: Role) -> Result<(), StoreError> {
        self.write(SetRole { member: member.clone(), role }).await
    }

    async fn role(&self, member: &Owner) -> Result<Option<Role>, StoreError> {
        let find = async {
            let name: Option<String> =
                sqlx::query_scalar("SELECT role FROM members WHERE workspace_id = ? AND user_id = ?")
                    .bind(&member.workspace_id)
                    .bind(&member.user_id)
                    .fetch_optional(self.readers())
                    .await?;
            let Some(name) = name else { return Ok(None) };
            let role = stored_name("role", &name, &Role::ALL)
                .map_err(|error| Failure::content(format!("the member {}", member.user_id), &error))?;
            Ok(Some(role))
        };
        find.await.map_err(|failure: Failure| failure.during("reading a member's role"))
    }
}

struct AddWorkspace {
    id: String,
    name: String,
    at: Timestamp,
}

struct AddUser {
    id: String,
    name: String,
    at: Timestamp,
}

struct SetRole {
    member: Owner,
    role: Role,
}

#[async_trait]
impl Write for AddWorkspace {
    type Output = ();
    const ATTEMPT: &'static str = "adding a workspace";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        sqlx::query("INSERT INTO workspaces (id, name, created_at) VALUES (?, ?, ?)")
            .bind(&self.id)
            .bind(&self.name)
            .bind(time::to_stored(self.at))
            .execute(connection)
            .await?;
        Ok(())
    }
}

#[async_trait]
impl Write for AddUser {
    type Output = ();
    const ATTEMPT: &'static str = "adding a user";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        sqlx::query("INSERT INTO users (id, name, created_at) VALUES (?, ?, ?)")
            .bind(&self.id)
            .bind(&self.name)
            .bind(time::to_stored(self.at))
            .execute(connection)
            .await?;
        Ok(())
    }
}

#[async_trait]
impl Write for SetRole {
    type Output = ();
    const ATTEMPT: &'static str = "setting a member's role";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        sqlx::query(
            "INSERT INTO members (workspace_id, user_id, role) VALUES (?, ?, ?)
             ON CONFLICT (workspace_id, user_id) DO UPDATE SET role = excluded.role",
        )
        .bind(&self.member.workspace_id)
        .bind(&self.member.user_id)
        .bind(self.role.name())
        .execute(connection)
        .await
        .map_err(|error| Failure::referring(error, "user or workspace"))?;
        Ok(())
    }
}

/// The time in a column.
pub(super) fn stored_time(column: &'static str, number: i64) -> Result<Timestamp, ContentError> {
    time::from_stored(number).ok_or_else(|| ContentError::Value { column, value: number.to_string() })
}

/// The value that has this name in a column.
pub(super) fn stored_name<T: Copy>(
    column: &'static str,
    name: &str,
    all: &[(T, &'static str)],
) -> Result<T, ContentError> {
    let found = all.iter().find(|(_, known)| *known == name);
    found.map(|(value, _)| *value).ok_or_else(|| ContentError::Value { column, value: name.to_owned() })
}
