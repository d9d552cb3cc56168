//! Stored conversations as runs enter them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::message::Message;
use toolcrib_runtime::model::{ModelIdentity, ModelRequest};
use toolcrib_storage::record::NewConversation;
use toolcrib_storage::store::ConversationStore;

use crate::app::App;
use crate::auth::Principal;
use crate::error::{ApiError, CONFLICT};
use crate::ids::random_id;
use crate::labels::Held;
use crate::run::{Wishes, last_user_text};

const TITLE_CHARACTERS: usize = 80;

/// How long a run waits for another one in the same conversation.
const TURN_WAIT: Duration = Duration::from_secs(3);

/// A conversation that a run goes on with.
pub(crate) struct Entered {
    pub(crate) id: String,
    pub(crate) history: Vec<Message>,
    pub(crate) temporary: bool,
    /// What it demands by now.
    pub(crate) labels: Labels,
    /// Held as long as the run goes on: one run at a time adds to a conversation.
    pub(crate) turn: Turn,
}

/// The right to add to a conversation.
pub(crate) struct Turn(#[expect(dead_code, reason = "dropping it ends the turn")] OwnedMutexGuard<()>);

/// Whose turn it is, by conversation.
#[derive(Default)]
pub(crate) struct Turns(Mutex<HashMap<String, Arc<AsyncMutex<()>>>>);

impl Turns {
    pub(crate) async fn take(&self, id: &str) -> Result<Turn, ApiError> {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // Those that nobody holds or waits for are not needed any more.
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            Arc::clone(locks.entry(id.to_owned()).or_default())
        };
        let turn = tokio::time::timeout(TURN_WAIT, lock.lock_owned()).await;
        turn.map(Turn).map_err(|_| {
            let message = format!("another answer is being given in the conversation {id:?}");
            ApiError::new(CONFLICT, message).with_param("toolcrib.conversation")
        })
    }
}

/// Finds or begins the conversation that the request names; `None` when it names none.
///
/// # Errors
/// No such conversation for this owner, or one that this provider may not see.
pub(crate) async fn enter(
    app: &App,
    principal: &Principal,
    wishes: &Wishes,
    request: &ModelRequest,
    model: &ModelIdentity,
) -> Result<Option<Entered>, ApiError> {
    let Some(wanted) = wishes.conversation.as_deref() else { return Ok(None) };
    let owner = &principal.owner;
    if wanted == "new" {
        let id = random_id("conv_")?;
        let new = NewConversation {
            id: id.clone(),
            owner: owner.clone(),
            title: title(&request.messages),
            temporary: wishes.temporary,
            outbound: wishes.outbound,
            created_at: app.clock.now(),
        };
        let turn = app.turns.take(&id).await?;
        app.store.create_conversation(new).await?;
        let labels = Labels { outbound: wishes.outbound, ..Labels::default() };
        return Ok(Some(Entered { id, history: Vec::new(), temporary: wishes.temporary, labels, turn }));
    }
    let unknown = || ApiError::not_found("conversation", wanted).with_param("toolcrib.conversation");
    app.store.conversation(owner, wanted).await?.ok_or_else(unknown)?;
    let turn = app.turns.take(wanted).await?;
    // Read when it is our turn: what the run before has added counts.
    let conversation = app.store.conversation(owner, wanted).await?.ok_or_else(unknown)?;
    app.check_labels(owner, conversation.labels, model, Held::InConversation).await?;
    app.abandon_waiting(wanted).await?;
    let messages = app.store.messages(owner, wanted).await?.ok_or_else(unknown)?;
    let messages = messages.into_iter().map(|stored| stored.message);
    let history = without_repeated_questions(messages, request.messages.first());
    let labels = conversation.labels;
    Ok(Some(Entered { id: conversation.id, history, temporary: conversation.temporary, labels, turn }))
}

/// A question that got no answer and was asked again stands in the history once.
fn without_repeated_questions(
    messages: impl Iterator<Item = Message>,
    next: Option<&Message>,
) -> Vec<Message> {
    let mut history: Vec<Message> = Vec::new();
    for message in messages {
        if matches!(message, Message::User(_)) && history.last() == Some(&message) {
            continue;
        }
        history.push(message);
    }
    if next.is_some() && history.last() == next {
        history.pop();
    }
    history
}

/// The beginning of what the user said.
fn title(messages: &[Message]) -> String {
    let text = last_user_text(messages).unwrap_or_default();
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(TITLE_CHARACTERS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
