//! A call that waits for a person, and what the person may answer.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A call that waits. It is stored with its run and shown to whoever may answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRequest {
    /// The id by which it is answered.
    pub id: String,
    /// The run that waits.
    pub run_id: String,
    /// The conversation, when there is one.
    pub conversation_id: Option<String>,
    /// The position of the call in its run, from 1.
    pub order: u32,
    /// The call's id on the wire.
    pub call_id: String,
    /// The tool's id.
    pub tool_id: String,
    /// The tool's name for people.
    pub display_name: String,
    /// The tool's icon.
    pub icon: String,
    /// The arguments exactly as the tool will get them.
    pub arguments: Value,
    /// Why it is asked, in words.
    pub reason: String,
    /// When it began to wait.
    pub created_at: Timestamp,
    /// When it counts as refused.
    pub expires_at: Timestamp,
}

/// What became of an approval. Only the first answer counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum ApprovalAnswer {
    /// This call may run.
    AllowOnce,
    /// This call may run, and every later one of the tool in this conversation without asking.
    AllowConversation,
    /// This call must not run.
    Deny {
        /// What the user says to the model about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// This call may run with other arguments.
    Edit {
        /// The arguments that the user wants; they are checked like the model's.
        arguments: Value,
    },
    /// Nobody answered in time.
    Expired,
}

impl ApprovalAnswer {
    /// The name in the API.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::AllowOnce => "allow_once",
            Self::AllowConversation => "allow_conversation",
            Self::Deny { .. } => "deny",
            Self::Edit { .. } => "edit",
            Self::Expired => "expired",
        }
    }
}
