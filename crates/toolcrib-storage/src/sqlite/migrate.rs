//! The schema: brought to this program's version when a store is opened.
//!
//! All steps that are missing are taken in one transaction. A database that a later program has changed is not
//! touched.

use jiff::Timestamp;
use sqlx::{Connection, SqliteConnection};

use super::OpenOptions;
use crate::record::account::{ADMINISTRATOR, DEFAULT_WORKSPACE, Role};
use crate::record::time;

/// The steps in order; a step's version is its place, from 1. A step that was ever released stays as it is.
const MIGRATIONS: &[(&str, &str)] = &[
    ("first", include_str!("../migrations/sqlite/0001_first.sql")),
    ("waiting", include_str!("../migrations/sqlite/0002_waiting.sql")),
];

/// Marks the file as a database of this program (`Tool` in ASCII).
const APPLICATION_ID: i64 = 0x546f_6f6c;

/// Why the schema cannot be brought to this program's version.
#[derive(Debug)]
pub(super) enum MigrateFailure {
    /// A later program has changed it.
    Newer {
        /// The version of the database.
        found: i64,
        /// The newest version that is known.
        known: i64,
    },
    /// It is the database of another program.
    Foreign,
    /// A statement failed.
    Database(sqlx::Error),
}

impl From<sqlx::Error> for MigrateFailure {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

/// The newest version that is known.
pub(super) fn known_version() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Fails when this program must not touch the database. Changes nothing.
pub(super) async fn check(connection: &mut SqliteConnection) -> Result<(), MigrateFailure> {
    let tables: i64 =
        sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(&mut *connection).await?;
    if tables == 0 {
        return Ok(());
    }
    let application: i64 = sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut *connection).await?;
    if application != APPLICATION_ID {
        return Err(MigrateFailure::Foreign);
    }
    let found = version(connection).await?;
    let known = known_version();
    if found > known { Err(MigrateFailure::Newer { found, known }) } else { Ok(()) }
}

/// Takes the steps that are missing. [`check`] has passed.
pub(super) async fn run(
    connection: &mut SqliteConnection,
    options: &OpenOptions,
) -> Result<(), MigrateFailure> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    let is_new: bool = sqlx::query_scalar("SELECT count(*) = 0 FROM sqlite_schema WHERE name = 'migrations'")
        .fetch_one(&mut *transaction)
        .await?;
    if is_new {
        sqlx::raw_sql(
            "CREATE TABLE migrations (
                version    INTEGER NOT NULL PRIMARY KEY,
                name       TEXT    NOT NULL,
                applied_at INTEGER NOT NULL
            ) STRICT",
        )
        .execute(&mut *transaction)
        .await?;
        sqlx::query(sqlx::AssertSqlSafe(format!("PRAGMA application_id = {APPLICATION_ID}")))
            .execute(&mut *transaction)
            .await?;
    }
    let version = version(&mut transaction).await?;
    for (step, (name, sql)) in (1_i64..).zip(MIGRATIONS) {
        if step > version {
            sqlx::raw_sql(*sql).execute(&mut *transaction).await?;
            sqlx::query("INSERT INTO migrations (version, name, applied_at) VALUES (?, ?, ?)")
                .bind(step)
                .bind(*name)
                .bind(time::to_stored(options.now))
                .execute(&mut *transaction)
                .await?;
        }
    }
    if is_new {
        first_start(&mut transaction, &options.installation_id, options.now).await?;
    }
    transaction.commit().await?;
    Ok(())
}

async fn version(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar("SELECT coalesce(max(version), 0) FROM migrations").fetch_one(connection).await
}

/// The first start: one workspace, one administrator.
async fn first_start(
    connection: &mut SqliteConnection,
    installation_id: &str,
    now: Timestamp,
) -> Result<(), sqlx::Error> {
    let now = time::to_stored(now);
    sqlx::query("INSERT INTO installation (singleton, id, created_at) VALUES (1, ?, ?)")
        .bind(installation_id)
        .bind(now)
        .execute(&mut *connection)
        .await?;
    sqlx::query("INSERT INTO workspaces (id, name, created_at) VALUES (?, 'Default', ?)")
        .bind(DEFAULT_WORKSPACE)
        .bind(now)
        .execute(&mut *connection)
        .await?;
    sqlx::query("INSERT INTO users (id, name, created_at) VALUES (?, 'Administrator', ?)")
        .bind(ADMINISTRATOR)
        .bind(now)
        .execute(&mut *connection)
        .await?;
    sqlx::query("INSERT INTO members (workspace_id, user_id, role) VALUES (?, ?, ?)")
        .bind(DEFAULT_WORKSPACE)
        .bind(ADMINISTRATOR)
        .bind(Role::Owner.name())
        .execute(connection)
        .await?;
    Ok(())
}
