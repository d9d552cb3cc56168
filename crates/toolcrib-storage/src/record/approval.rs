//! Approvals: calls that wait for a person, and what became of them.

use jiff::Timestamp;
use toolcrib_runtime::offering::approval::{ApprovalAnswer, ApprovalRequest};

use super::account::Owner;
use super::run::RunRecord;

/// A stored approval.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRecord {
    /// What is asked.
    pub request: ApprovalRequest,
    /// Who may answer.
    pub owner: Owner,
    /// What became of it.
    pub state: ApprovalState,
}

/// What became of an approval.
#[derive(Debug, Clone, PartialEq)]
pub enum ApprovalState {
    /// Nobody has answered yet.
    Waiting,
    /// It has its answer; no later one counts.
    Answered {
        /// The answer.
        answer: ApprovalAnswer,
        /// When.
        at: Timestamp,
    },
    /// The run ended without it.
    Closed,
}

/// Which approvals to list; the default lists all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ApprovalFilter {
    /// Only those of this conversation.
    pub conversation_id: Option<String>,
    /// Only those of this run.
    pub run_id: Option<String>,
    /// Only those that wait.
    pub waiting_only: bool,
}

/// What an answer came to.
#[derive(Debug, Clone, PartialEq)]
pub enum Answered {
    /// It is the answer.
    Taken {
        /// The run that waits for it.
        run_id: String,
        /// No approval of the run waits any more.
        complete: bool,
    },
    /// There was an answer before, or the run ended without one.
    Already(Box<ApprovalRecord>),
    /// There is no such approval for this owner.
    Missing,
}

/// A run that waits, with what it needs to go on.
#[derive(Debug, Clone, PartialEq)]
pub struct WaitingRun {
    /// The run.
    pub run: RunRecord,
    /// What was saved of it.
    pub state: String,
    /// Its approvals in call order, answered ones included.
    pub approvals: Vec<ApprovalRecord>,
}

impl WaitingRun {
    /// The approvals that nobody has answered yet, in call order.
    pub fn asked(&self) -> impl Iterator<Item = &ApprovalRecord> {
        self.approvals.iter().filter(|approval| approval.state == ApprovalState::Waiting)
    }
}
