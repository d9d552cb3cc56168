//! The beginning of a run, with what the user said.

use async_trait::async_trait;
use sqlx::SqliteConnection;
use toolcrib_runtime::journal::{RunStart, RunState};

use crate::record::{Owner, time};
use crate::sqlite::conversations::{EncodedMessage, append, encode_messages, is_owned};
use crate::sqlite::problem::Failure;
use crate::sqlite::writer::Write;
use crate::store::StoreProblem;

/// A run's row and the user's messages. `run.messages` has been emptied into `messages`.
pub(super) struct BeginRun {
    run: RunStart,
    owner: Owner,
    messages: Vec<EncodedMessage>,
}

impl BeginRun {
    pub(super) fn new(mut run: RunStart) -> Result<Self, Failure> {
        let messages = encode_messages(std::mem::take(&mut run.messages))
            .map_err(|error| Failure::content(format!("a message of the run {}", run.run_id), &error))?;
        let owner = Owner::new(run.workspace_id.clone(), run.user_id.clone());
        Ok(Self { run, owner, messages })
    }
}

#[async_trait]
impl Write for BeginRun {
    type Output = ();
    const ATTEMPT: &'static str = "storing the beginning of a run";

    async fn apply(&self, connection: &mut SqliteConnection) -> Result<(), Failure> {
        let run = &self.run;
        let started_at = time::to_stored(run.started_at);
        if let Some(conversation_id) = &run.conversation_id
            && !is_owned(connection, &self.owner, conversation_id).await?
        {
            return Err(StoreProblem::Missing { what: "conversation" }.into());
        }
        sqlx::query(
            "INSERT INTO runs
                 (id, conversation_id, workspace_id, user_id, component, locale, provider_id, model, state,
                  started_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(&run.run_id)
        .bind(&run.conversation_id)
        .bind(&run.workspace_id)
        .bind(&run.user_id)
        .bind(&run.component)
        .bind(&run.locale)
        .bind(&run.provider_id)
        .bind(&run.model)
        .bind(RunState::Running.name())
        .bind(started_at)
        .execute(&mut *connection)
        .await
        .map_err(|error| Failure::referring(error, "member of the workspace"))?;
        if let Some(conversation_id) = &run.conversation_id {
            append(connection, conversation_id, &run.run_id, &self.messages).await?;
            sqlx::query("UPDATE conversations SET updated_at = max(updated_at, ?) WHERE id = ?")
                .bind(started_at)
                .bind(conversation_id)
                .execute(connection)
                .await?;
        }
        Ok(())
    }
}
