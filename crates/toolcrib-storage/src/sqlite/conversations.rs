//! Conversations and their messages in `SQLite`.

use async_trait::async_trait;
use sqlx::{FromRow, QueryBuilder, Sqlite, SqliteConnection};
use toolcrib_runtime::message::Message;

use super::SqliteStore;
use super::accounts::stored_time;
use super::labels::{stored_labels, stored_outbound};
use super::problem::Failure;
use super::writer::Write;
use crate::record::trace::ContentError;
use crate::record::{Conversation, ConversationMessage, NewConversation, Owner, message, time};
use crate::store::{ConversationStore, Listing, Page, StoreError};

#[async_trait]
impl ConversationStore for SqliteStore {
    async fn create_conversation(&self, conversation: NewConversation) -> Result<(), StoreError> {
        self.write(Create(conversation)).await
    }

    async fn conversation(&self, owner: &Owner, id: &str) -> Result<Option<Conversation>, StoreError> {
        let find = async {
            let row: Option<ConversationRow> = sqlx::query_as(
                "SELECT * FROM conversations WHERE id = ? AND workspace_id = ? AND user_id = ?",
            )
            .bind(id)
            .bind(&owner.workspace_id)
            .bind(&owner.user_id)
            .fetch_optional(self.readers())
            .await?;
            row.map(ConversationRow::into_conversation).transpose()
        };
        find.await.map_err(|failure: Failure| failure.during("reading a conversation"))
    }

    async fn conversations(&self, owner: &Owner, page: &Page) -> Result<Listing<Conversation>, StoreError> {
        let find = async {
            let mut query = QueryBuilder::<Sqlite>::new("SELECT * FROM conversations");
            query.push(" WHERE workspace_id = ").push_bind(&owner.workspace_id);
            query.push(" AND user_id = ").push_bind(&owner.user_id);
            push_page(&mut query, "updated_at", page)?;
            let rows: Vec<ConversationRow> = query.build_query_as().fetch_all(self.readers()).await?;
            let items: Result<Vec<_>, Failure> =
                rows.into_iter().map(ConversationRow::into_conversation).collect();
            Ok(Listing::cut(items?, page, |item| (time::to_stored(item.updated_at), item.id.as_str())))
        };
        find.await.map_err(|failure: Failure| failure.during("listing conversations"))
    }

    async fn messages(
        &self,
        owner: &Owner,
        id: &str,
    ) -> Result<Option<Vec<ConversationMessage>>, StoreError> {
        let find = async {
            let mut snapshot = self.readers().begin().await?;
            if !is_owned(&mut snapshot, owner, id).await? {
                return Ok(None);
            }
            let rows: Vec<MessageRow> = sqlx::query_as(
                "SELECT position, run_id, format, content FROM messages
                 WHERE conversation_id = ? ORDER BY position",
            )
            .bind(id)
            .fetch_all(&mut *snapshot)
            .await?;
            let messages: Result<Vec<_>, Failure> =
                rows.into_iter().map(|row| row.into_message(id)).collect();
            messages.map(Some)
        };
        find.await.map_err(|failure: Failure| failure.during("reading the messages of a conversation"))
    }

    async fn rename_conversation(&self, owner: &Owner, id: &str, title: &str) -> Result<bool, StoreError> {
        self.write(Rename { owner: owner.clone(), id: id.to_owned(), title: title.to_owned() }).await
    }

    async fn delete_conversation(&self, owner: &Owner, id: &str) -> Result<bool, StoreError> {
        self.write(Delete { owner: owner.clone(), id: id.to_owned() }).await
    }
}

/// Whether the conversation exists and belongs to `owner`.
pub(super) async fn is_owned(
    connection: &mut SqliteConnection,
    owner: &Owner,
    conversation_id: &str,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM conversations WHERE id = ? AND workspace_id = ? AND user_id = ?)",
    )
    .bind(conversation_id)
    .bind(&owner.workspace_id)
    .bind(&owner.user_id)
    .fetch_one(connection)
    .await
}

/// A message that is ready to be stored: encoded once, however often its write is tried.
pub(super) struct EncodedMessage {
    kind: &'static str,
    content: String,
}

/// Prepares messages to be stored.
pub(super) fn encode_messages(messages: Vec<Message>) -> Result<Vec<EncodedMessage>, ContentError> {
    let encode = |item: Message| {
        let kind = message::kind(&item);
        Ok(EncodedMessage { kind, content: message::encode(item)? })
    };
    messages.into_iter().map(encode).collect()
}

/// Adds messages at the end of a conversation.
pub(super) async fn append(
    connection: &mut SqliteConnection,
    conversation_id: &str,
    run_id: &str,
    messages: &[EncodedMessage],
) -> Result<(), sqlx::Error> {
    if messages.is_empty() {
        return Ok(());
    }
    let last: i64 =
        sqlx::query_scalar("SELECT coalesce(max(position), 0) FROM messages WHERE conversation_id = ?")
            .bind(conversation_id)
            .fetch_one(&mut *connection)
            .await?;
    for (position, message) in (last + 1..).zip(messages) {
        sqlx::query(
            "INSERT INTO messages (conversation_id, position, run_id, kind, format, content)
             VALUES (?, ?, ?, ?, ?, ?)",
        )
        .bind(conversation_id)
        .bind(position)
        .bind(run_id)
        .bind(message.kind)
        .bind(message::FORMAT)
        .bind(&message.content)
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

/// Orders a query by a column of times, newest first, and cuts out a page and one item more.
pub(super) fn push_page(
    query: &mut QueryBuilder<Sqlite>,
    column: &'static str,
    page: &Page,
) -> Result<(), Failure> {
    if let Some((key, id)) = page.place()? {
        query.push(" AND (").push(column).push(", id) < (");
        query.push_bind(key).push(", ").push_bind(id.to_owned()).push(")");
    }
    query.push(" ORDER BY ").push(column).push(" DESC, id DESC LIMIT ");
    query.push_bind(i64::from(page.limit.clamp(1, Page::LARGEST)) + 1);
    Ok(())
}

struct Create(NewConversation);

struct Rename {
    owner: Owner,
    id: String,
    title: String,
}

struct Delete {
    owner: Owner,
    id: String,
}

#[async_trait]
impl Write for Create {
    type Output = ();
    const ATTEMPT: &'static str = "storing a conversation";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        let new = &self.0;
        sqlx::query(
            "INSERT INTO conversations
                 (id, workspace_id, user_id, title, temporary, required_confidence, outbound, created_at,
                  updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6, ?7, ?7)",
        )
        .bind(&new.id)
        .bind(&new.owner.workspace_id)
        .bind(&new.owner.user_id)
        .bind(&new.title)
        .bind(new.temporary)
        .bind(stored_outbound(new.outbound))
        .bind(time::to_stored(new.created_at))
        .execute(connection)
        .await
        .map_err(|error| Failure::referring(error, "member of the workspace"))?;
        Ok(())
    }
}

#[async_trait]
impl Write for Rename {
    type Output = bool;
    const ATTEMPT: &'static str = "renaming a conversation";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<bool, Failure> {
        let done = sqlx::query(
            "UPDATE conversations SET title = ? WHERE id = ? AND workspace_id = ? AND user_id = ?",
        )
        .bind(&self.title)
        .bind(&self.id)
        .bind(&self.owner.workspace_id)
        .bind(&self.owner.user_id)
        .execute(connection)
        .await?;
        Ok(done.rows_affected() > 0)
    }
}

#[async_trait]
impl Write for Delete {
    type Output = bool;
    const ATTEMPT: &'static str = "deleting a conversation";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<bool, Failure> {
        let done = sqlx::query("DELETE FROM conversations WHERE id = ? AND workspace_id = ? AND user_id = ?")
            .bind(&self.id)
            .bind(&self.owner.workspace_id)
            .bind(&self.owner.user_id)
            .execute(connection)
            .await?;
        Ok(done.rows_affected() > 0)
    }
}

#[derive(FromRow)]
struct ConversationRow {
    id: String,
    workspace_id: String,
    user_id: String,
    title: String,
    temporary: bool,
    required_confidence: i64,
    untrusted: bool,
    outbound: i64,
    created_at: i64,
    updated_at: i64,
}

impl ConversationRow {
    fn into_conversation(self) -> Result<Conversation, Failure> {
        let id = self.id.clone();
        self.decode().map_err(|error| Failure::content(format!("the conversation {id}"), &error))
    }

    fn decode(self) -> Result<Conversation, ContentError> {
        Ok(Conversation {
            owner: Owner { workspace_id: self.workspace_id, user_id: self.user_id },
            labels: stored_labels(self.required_confidence, self.untrusted, self.outbound)?,
            created_at: stored_time("created_at", self.created_at)?,
            updated_at: stored_time("updated_at", self.updated_at)?,
            id: self.id,
            title: self.title,
            temporary: self.temporary,
        })
    }
}

#[derive(FromRow)]
struct MessageRow {
    position: i64,
    run_id: String,
    format: i64,
    content: String,
}

impl MessageRow {
    fn into_message(self, conversation_id: &str) -> Result<ConversationMessage, Failure> {
        let message = message::decode(self.format, &self.content).map_err(|error| {
            let what = format!("message {} of the conversation {conversation_id}", self.position);
            Failure::content(what, &error)
        })?;
        Ok(ConversationMessage {
            position: time::count_from_stored(self.position),
            run_id: self.run_id,
            message,
        })
    }
}
