//! What a request's content demands before anything of it is sent: by its conversation, and by what it contains.

use std::collections::BTreeSet;

use toolcrib_runtime::confidence::Confidence;
use toolcrib_runtime::labels::fingerprint::Fingerprint;
use toolcrib_runtime::labels::{Labels, fingerprint};
use toolcrib_runtime::message::Message;
use toolcrib_runtime::model::ModelIdentity;
use toolcrib_storage::record::Owner;
use toolcrib_storage::store::LabelStore;

use crate::app::App;
use crate::error::{ApiError, CONFIDENCE_TOO_LOW};

/// Where protected content comes from, for the message about it.
pub(crate) enum Held<'h> {
    /// A stored conversation.
    InConversation,
    /// These messages of the request.
    InMessages(&'h [Message]),
}

impl App {
    /// The confidence that the text of a request demands because it was built on protected data.
    pub(crate) async fn recognize(
        &self,
        owner: &Owner,
        messages: &[Message],
    ) -> Result<Confidence, ApiError> {
        let workspace = &owner.workspace_id;
        if !self.store.protects_anything(workspace).await? {
            return Ok(Confidence::None);
        }
        let mut fingerprints = BTreeSet::new();
        for position in 0..messages.len() {
            fingerprints.extend(of_message(messages, position));
        }
        Ok(self.store.recognize(workspace, &fingerprints).await?)
    }

    /// Refuses content that a provider may not see, with who may and how to go on without it.
    ///
    /// # Errors
    /// The provider's confidence is below what is demanded.
    pub(crate) async fn check_labels(
        &self,
        owner: &Owner,
        labels: Labels,
        model: &ModelIdentity,
        held: Held<'_>,
    ) -> Result<(), ApiError> {
        if labels.may_be_seen_by(model.confidence, model.trusted) {
            return Ok(());
        }
        let needs = labels.required_confidence;
        let what = match held {
            Held::InConversation => "this conversation holds".to_owned(),
            Held::InMessages(messages) => match self.first_protected(owner, messages).await? {
                Some(index) => format!("`messages[{index}]` holds"),
                None => "the request holds".to_owned(),
            },
        };
        let satisfying = self.models.satisfying(needs);
        let go_on = if satisfying.is_empty() {
            "no configured provider has it".to_owned()
        } else {
            format!("continue with one of {}", satisfying.join(", "))
        };
        let without = match held {
            Held::InConversation => {
                "or begin a new conversation (`\"toolcrib\": {\"conversation\": \"new\"}`)"
            }
            Held::InMessages(_) => "or send the request without the messages that hold it",
        };
        let message = format!(
            "{what} data for providers of confidence {needs} or more, and {} has {}; {go_on}, {without}",
            model.full_name(),
            model.confidence
        );
        Err(ApiError::new(CONFIDENCE_TOO_LOW, message).with_param("model"))
    }

    async fn first_protected(&self, owner: &Owner, messages: &[Message]) -> Result<Option<usize>, ApiError> {
        for index in 0..messages.len() {
            let fingerprints = of_message(messages, index);
            if self.store.recognize(&owner.workspace_id, &fingerprints).await? > Confidence::None {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
}

/// By what one message of a conversation is recognized: its text, and an answer also behind its question.
fn of_message(messages: &[Message], position: usize) -> BTreeSet<Fingerprint> {
    let (before, rest) = messages.split_at(position.min(messages.len()));
    let Some(message) = rest.first() else { return BTreeSet::new() };
    let text = message.text();
    let mut fingerprints = fingerprint::of_text(&text);
    if matches!(message, Message::Assistant(_)) && !text.is_empty() {
        let asked = before.iter().rfind(|message| matches!(message, Message::User(_)));
        fingerprints.insert(fingerprint::of_exchange(&asked.map(Message::text).unwrap_or_default(), &text));
    }
    fingerprints
}

#[cfg(test)]
mod tests;
