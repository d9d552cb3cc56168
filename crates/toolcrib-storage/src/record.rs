//! What is stored: plain records, and the JSON in which their variable parts are kept.
//!
//! A stored form is private to this crate, carries a format number and converts to and from the domain type without
//! loss. Times are kept to the microsecond.

pub mod account;
pub mod approval;
pub mod conversation;
pub mod key;
pub mod run;

pub(crate) mod message;
pub(crate) mod time;
pub(crate) mod trace;

pub use account::{Installation, Owner, Role};
pub use approval::{Answered, ApprovalFilter, ApprovalRecord, ApprovalState, WaitingRun};
pub use conversation::{Conversation, ConversationMessage, NewConversation};
pub use key::{ApiKey, KeyHash, KeyLookup, NewKey};
pub use run::{CallRecord, Recovered, RunFilter, RunRecord};
