//! What happened: runs and the traces of their calls, for people, audit and recovery.
//!
//! An admission is durable before its call runs, and a finished run is written in one piece: a crash leaves a run
//! that is visibly interrupted, never one that is half told.

use std::collections::BTreeSet;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;

use crate::confidence::Confidence;
use crate::labels::Labels;
use crate::labels::fingerprint::Fingerprint;
use crate::message::{Message, Usage};
use crate::offering::approval::ApprovalRequest;
use crate::tool::{LibraryItem, Source};

/// Writes down what happens. Storage implements it; an embedder may keep it in memory.
#[async_trait]
pub trait Journal: Send + Sync {
    /// A run begins. Durable when this returns.
    async fn begin_run(&self, run: RunStart) -> Result<(), JournalError>;

    /// A call was admitted and is about to run. Durable when this returns.
    async fn admit_call(&self, run_id: &str, trace: &Trace) -> Result<(), JournalError>;

    /// A call ended, whether it was executed or not. Replaces its admission, and raises the labels of the run's
    /// conversation by those of the trace.
    async fn record_trace(&self, run_id: &str, trace: &Trace) -> Result<(), JournalError>;

    /// A round ended and another follows. Its messages become part of the conversation.
    async fn record_round(&self, round: RoundEnd) -> Result<(), JournalError>;

    /// The run waits for people. State, traces and approvals become visible together.
    async fn pause_run(&self, pause: RunPause) -> Result<(), JournalError>;

    /// A waiting run goes on. It fails when the run does not wait: two must not carry on with it.
    async fn resume_run(&self, run_id: &str) -> Result<(), JournalError>;

    /// Calls of a stopped run that have not ended become CANCELLED.
    async fn close_open_calls(&self, run_id: &str, at: Timestamp) -> Result<(), JournalError>;

    /// A run ended. The messages it added, its usage and its state become visible together. What was kept to carry on
    /// with it is forgotten, and approvals that still wait are closed.
    async fn end_run(&self, end: RunEnd) -> Result<(), JournalError>;
}

/// Writing to the journal failed. Nothing may run that could not be written down.
#[derive(Debug, thiserror::Error)]
#[error("writing {what} to the journal: {cause}")]
pub struct JournalError {
    /// What was being written.
    pub what: &'static str,
    /// What went wrong, for the operator.
    pub cause: String,
}

/// The beginning of a run.
#[derive(Debug, Clone)]
pub struct RunStart {
    /// The run's id.
    pub run_id: String,
    /// The conversation, when it is a stored one.
    pub conversation_id: Option<String>,
    /// The tenant.
    pub workspace_id: String,
    /// Who asked.
    pub user_id: String,
    /// Where.
    pub component: String,
    /// The language of the caller as a BCP 47 tag.
    pub locale: String,
    /// The provider instance.
    pub provider_id: String,
    /// The model's name at its provider.
    pub model: String,
    /// The messages that the user added for this run; stored with the conversation.
    pub messages: Vec<Message>,
    /// When.
    pub started_at: Timestamp,
}

/// The end of a round that another follows.
#[derive(Debug, Clone)]
pub struct RoundEnd {
    /// The run's id.
    pub run_id: String,
    /// What the round added to the conversation.
    pub messages: Vec<Message>,
    /// What is demanded by now.
    pub labels: Labels,
    /// Tokens of all rounds so far.
    pub usage: Usage,
    /// How many rounds there were so far.
    pub rounds: u32,
    /// When.
    pub at: Timestamp,
}

/// A run that waits for people.
#[derive(Debug, Clone)]
pub struct RunPause {
    /// The run's id.
    pub run_id: String,
    /// The calls that wait: the open trace and the question of each.
    pub waiting: Vec<(Trace, ApprovalRequest)>,
    /// What the run needs to go on, as [`crate::run::SavedRun`] writes it.
    pub state: String,
    /// What is demanded by now.
    pub labels: Labels,
    /// Tokens of all rounds so far.
    pub usage: Usage,
    /// How many rounds there were so far.
    pub rounds: u32,
    /// When.
    pub at: Timestamp,
}

/// The end of a run.
#[derive(Debug, Clone)]
pub struct RunEnd {
    /// The run's id.
    pub run_id: String,
    /// How it ended.
    pub state: RunState,
    /// For a run that failed or is incomplete: why, in words for the caller.
    pub reason: Option<String>,
    /// What the run added to the conversation since its last recorded round: answers, results, the final answer.
    pub messages: Vec<Message>,
    /// Sources of the answer.
    pub sources: Vec<Source>,
    /// Tokens of all rounds.
    pub usage: Usage,
    /// How many rounds there were.
    pub rounds: u32,
    /// What follows from this run demands.
    pub labels: Labels,
    /// By what protected text of this run is recognized when a later request contains it.
    pub protected: BTreeSet<Fingerprint>,
    /// When.
    pub ended_at: Timestamp,
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// Still going, or cut off by a crash that has not been noticed yet.
    Running,
    /// Waits for people; it goes on when they have answered.
    Waiting,
    /// Answered.
    Completed,
    /// Answered after a limit was reached.
    Incomplete,
    /// Ended by an error.
    Failed,
    /// Ended because the caller left or stopped it.
    Cancelled,
    /// Cut off by a crash.
    Interrupted,
}

/// The record of one tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The position of the call in its run, from 1.
    pub order: u32,
    /// The round in which the model made the call, from 1.
    pub round: u32,
    /// The tool's id; the name that the model used when no tool has it.
    pub tool_id: String,
    /// The tool's name for people.
    pub display_name: String,
    /// The tool's icon.
    pub icon: String,
    /// The call's id on the wire.
    pub call_id: String,
    /// How the call ended.
    pub status: TraceStatus,
    /// Whether the implementation ran.
    pub executed: bool,
    /// Why the call was blocked or failed.
    pub status_message: Option<String>,
    /// The arguments, sensitive ones masked; a JSON string when they were not JSON.
    pub arguments: Value,
    /// What was repaired in the arguments before the call.
    pub repairs: Vec<String>,
    /// The result as the model read it.
    pub result_text: Option<String>,
    /// The result as JSON, when the tool gave JSON.
    pub result_json: Option<Value>,
    /// Unicode scalar values of the result as the model read it.
    pub result_characters: usize,
    /// What was left out of the result.
    pub truncation: Option<String>,
    /// What the call read.
    pub sources: Vec<Source>,
    /// The confidence that the result demands.
    pub required_confidence: Confidence,
    /// Strangers wrote the result; the model reads it in a frame.
    pub untrusted: bool,
    /// What the call cost, in millionths of a credit.
    pub cost: i64,
    /// What the call put into the user's library.
    pub library_items: Vec<LibraryItem>,
    /// When the call began.
    pub started_at: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceStatus {
    /// Admitted, and running or waiting.
    Pending,
    /// Done.
    Success,
    /// Refused by policy.
    Blocked,
    /// Failed, or not executed because of its arguments.
    Error,
    /// Ended because the caller left or stopped the run.
    Cancelled,
}

impl RunState {
    /// Every state with its stored name.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Running, "running"),
        (Self::Waiting, "waiting"),
        (Self::Completed, "completed"),
        (Self::Incomplete, "incomplete"),
        (Self::Failed, "failed"),
        (Self::Cancelled, "cancelled"),
        (Self::Interrupted, "interrupted"),
    ];

    /// The stored name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(state, _)| *state == self).map_or("", |(_, name)| name)
    }
}

impl TraceStatus {
    /// Every status with its name in traces.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Pending, "PENDING"),
        (Self::Success, "SUCCESS"),
        (Self::Blocked, "BLOCKED"),
        (Self::Error, "ERROR"),
        (Self::Cancelled, "CANCELLED"),
    ];

    /// The name in traces.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(status, _)| *status == self).map_or("", |(_, name)| name)
    }
}

impl Trace {
    /// What the result demands of the conversation from now on.
    pub fn labels(&self) -> Labels {
        Labels {
            required_confidence: self.required_confidence,
            untrusted: self.untrusted,
            ..Labels::default()
        }
    }
}
