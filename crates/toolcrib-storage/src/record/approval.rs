//! Calls that wait for people, and the runs that wait with them.
//!
//! An approval is answered once; a run waits as long as one of its approvals does.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcrib_runtime::offering::approval::{ApprovalAnswer, ApprovalRequest};

use super::account::Owner;
use super::run::RunRecord;
use super::trace::{ContentError, decode_json, encode_json};

/// The format in which arguments and answers are written.
pub(crate) const FORMAT: i64 = 1;

/// A stored approval.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRecord {
    /// What is asked.
    pub request: ApprovalRequest,
    /// Whose run it is.
    pub owner: Owner,
    /// What became of it.
    pub state: ApprovalState,
}

/// How an approval stands.
#[derive(Debug, Clone, PartialEq)]
pub enum ApprovalState {
    /// Nobody has answered yet.
    Waiting,
    /// Somebody has answered, or it has expired.
    Answered {
        /// The answer.
        answer: ApprovalAnswer,
        /// When.
        at: Timestamp,
    },
    /// The run ended without an answer.
    Closed,
}

/// Which approvals to list; the default lists all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalFilter {
    /// Only those of this conversation.
    pub conversation_id: Option<String>,
    /// Only those of this run.
    pub run_id: Option<String>,
    /// Only those that nobody has answered.
    pub waiting_only: bool,
}

/// What became of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// It was the first one, and counts.
    Taken {
        /// The run that waited for it.
        run_id: String,
        /// No approval of the run waits any more.
        complete: bool,
    },
    /// The approval does not wait any more: it was answered before, has expired or was closed.
    Already(Box<ApprovalRecord>),
    /// There is no such approval, or it belongs to another.
    Missing,
}

/// A run that waits, with what is needed to carry on.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitingRun {
    /// The run.
    pub run: RunRecord,
    /// The state that it was saved with, for [`toolcrib_runtime::run::SavedRun::read`].
    pub state: String,
    /// The approvals of the round that waits, answered ones included, in call order.
    pub approvals: Vec<ApprovalRecord>,
}

impl WaitingRun {
    /// The approvals that nobody has answered yet, in call order.
    pub fn asked(&self) -> impl Iterator<Item = &ApprovalRecord> {
        self.approvals.iter().filter(|approval| approval.state == ApprovalState::Waiting)
    }
}

/// An answer, as it is kept.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredAnswer {
    AllowOnce,
    AllowConversation,
    Deny {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    Edit {
        arguments: Value,
    },
    Expired,
}

/// The JSON of an answer, in [`FORMAT`].
pub(crate) fn encode_answer(answer: &ApprovalAnswer) -> Result<String, ContentError> {
    encode_json(&match answer.clone() {
        ApprovalAnswer::AllowOnce => StoredAnswer::AllowOnce,
        ApprovalAnswer::AllowConversation => StoredAnswer::AllowConversation,
        ApprovalAnswer::Deny { note } => StoredAnswer::Deny { note },
        ApprovalAnswer::Edit { arguments } => StoredAnswer::Edit { arguments },
        ApprovalAnswer::Expired => StoredAnswer::Expired,
    })
}

/// The answer of stored JSON.
pub(crate) fn decode_answer(format: i64, json: &str) -> Result<ApprovalAnswer, ContentError> {
    check_format(format)?;
    Ok(match decode_json(json)? {
        StoredAnswer::AllowOnce => ApprovalAnswer::AllowOnce,
        StoredAnswer::AllowConversation => ApprovalAnswer::AllowConversation,
        StoredAnswer::Deny { note } => ApprovalAnswer::Deny { note },
        StoredAnswer::Edit { arguments } => ApprovalAnswer::Edit { arguments },
        StoredAnswer::Expired => ApprovalAnswer::Expired,
    })
}

/// The JSON of arguments, in [`FORMAT`].
pub(crate) fn encode_arguments(arguments: &Value) -> Result<String, ContentError> {
    encode_json(arguments)
}

/// The arguments of stored JSON.
pub(crate) fn decode_arguments(format: i64, json: &str) -> Result<Value, ContentError> {
    check_format(format)?;
    decode_json(json)
}

fn check_format(found: i64) -> Result<(), ContentError> {
    if found == FORMAT { Ok(()) } else { Err(ContentError::Format { found, known: FORMAT }) }
}
