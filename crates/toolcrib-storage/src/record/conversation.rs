//! Conversations and their messages.
//!
//! Messages are only added by runs: the user's when a run begins, the answer's as its rounds end. What a conversation
//! demands only rises.

use jiff::Timestamp;
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::message::Message;
use toolcrib_runtime::policy::OutboundRestriction;

use super::account::Owner;

/// A conversation to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewConversation {
    /// A new unique id.
    pub id: String,
    /// Whose it is.
    pub owner: Owner,
    /// The title for people; empty while there is none.
    pub title: String,
    /// Whether it is a temporary one, which memory and history leave alone.
    pub temporary: bool,
    /// How far outgoing data is restricted from the beginning; it can only be tightened later.
    pub outbound: OutboundRestriction,
    /// When it began.
    pub created_at: Timestamp,
}

/// A stored conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// The conversation's id.
    pub id: String,
    /// Whose it is.
    pub owner: Owner,
    /// The title for people; empty while there is none.
    pub title: String,
    /// Whether it is a temporary one, which memory and history leave alone.
    pub temporary: bool,
    /// What its content demands.
    pub labels: Labels,
    /// When it began.
    pub created_at: Timestamp,
    /// When a run last began, went on or ended in it.
    pub updated_at: Timestamp,
}

/// A message in its place.
#[derive(Debug, Clone, PartialEq)]
pub struct ConversationMessage {
    /// The place in the conversation, from 1.
    pub position: u64,
    /// The run that added it.
    pub run_id: String,
    /// The message.
    pub message: Message,
}
