//! What happens in a run, as its watchers see it; the stored transcript is the fold of these events.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::confidence::Confidence;
use crate::journal::Trace;
use crate::labels::Labels;
use crate::message::{Message, ToolCall, Usage};
use crate::model::{FinishReason, ModelError};
use crate::offering::approval::ApprovalRequest;
use crate::tool::Source;

/// Something that happened in a run.
#[derive(Debug, Clone)]
pub enum RunEvent {
    /// The run began.
    Started {
        /// The run's id.
        run_id: String,
    },
    /// More text for the user.
    Text(String),
    /// More of the model's thinking.
    Reasoning(String),
    /// A call is about to be admitted.
    CallStarted {
        /// The position of the call in its run, from 1.
        order: u32,
        /// The call's id.
        call_id: String,
        /// The tool's id; the name that the model used when no tool has it.
        tool_id: String,
        /// The tool's name for people.
        display_name: String,
        /// The tool's icon.
        icon: String,
        /// The arguments, sensitive ones masked.
        arguments: Value,
    },
    /// A running call says how far it is.
    CallProgress {
        /// The call's id.
        call_id: String,
        /// A few words.
        text: String,
    },
    /// A call waits for a person.
    CallHeld(Box<ApprovalRequest>),
    /// A call ended.
    CallEnded(Box<Trace>),
    /// A call of the client's own tool grows.
    ClientCallProgress {
        /// The position among the client's calls, from 0.
        position: usize,
        /// The call's id.
        id: String,
        /// The function name.
        name: String,
        /// More of the arguments.
        arguments_delta: String,
    },
    /// The run ended with an answer. Nothing follows.
    Finished(Box<Answer>),
    /// The run waits for people and goes on when they have answered. Nothing follows here.
    Paused(Box<Pause>),
    /// The run ended with an error. Nothing follows.
    Failed(Box<RunError>),
}

/// The answer of a run.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The text that the user saw, of all rounds.
    pub text: String,
    /// The reasoning of the last round.
    pub reasoning: String,
    /// Calls that the client has to run before the conversation goes on.
    pub client_calls: Vec<ToolCall>,
    /// Why the answer ended.
    pub finish: FinishReason,
    /// Why the answer is incomplete, when it is.
    pub incomplete: Option<Incomplete>,
    /// What was really read, without duplicates.
    pub sources: Vec<Source>,
    /// Tokens of all rounds.
    pub usage: Usage,
    /// How many rounds there were.
    pub rounds: u32,
    /// What the run added to the conversation.
    pub messages: Vec<Message>,
    /// What follows from this answer demands.
    pub labels: Labels,
}

/// A run that waits for people.
#[derive(Debug, Clone)]
pub struct Pause {
    /// The calls that wait, in order.
    pub approvals: Vec<ApprovalRequest>,
    /// The text that the user has seen so far, of all rounds.
    pub text: String,
    /// What was really read so far, without duplicates.
    pub sources: Vec<Source>,
    /// Tokens of all rounds so far.
    pub usage: Usage,
    /// How many rounds there were so far.
    pub rounds: u32,
}

/// Why an answer is incomplete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Incomplete {
    /// The limit of calls was reached.
    Calls {
        /// The limit.
        limit: u32,
    },
    /// The limit of result characters was reached.
    ResultCharacters {
        /// The limit.
        limit: usize,
    },
    /// The limit of rounds was reached.
    Rounds {
        /// The limit.
        limit: u32,
    },
    /// The model made the same call over and over.
    Repetition {
        /// The tool's function name.
        tool: String,
    },
    /// The run took too long.
    Time {
        /// The limit.
        limit: Duration,
    },
    /// The run has cost what it may.
    Credits {
        /// The limit, in millionths of a credit.
        limit: i64,
    },
    /// The model reached its limit of output tokens.
    OutputCut,
}

/// A run that ended without an answer.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct RunError {
    /// What kind of failure.
    pub kind: RunErrorKind,
    /// What the caller may read.
    pub message: String,
}

/// Kinds of failure of a run.
#[derive(Debug, Clone)]
pub enum RunErrorKind {
    /// The model failed.
    Model(Box<ModelError>),
    /// The caller left or stopped the run.
    Cancelled,
    /// The run took too long, and there was nothing to show.
    Time,
    /// A result demands a higher confidence than the provider has.
    ConfidenceTooLow {
        /// What is demanded.
        needs: Confidence,
        /// What the provider has.
        has: Confidence,
    },
    /// The journal could not be written, or the caller's circumstances not be read.
    Storage,
}

impl Incomplete {
    /// The code that programs see.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Calls { .. } => "max_tool_calls",
            Self::ResultCharacters { .. } => "max_tool_result_characters",
            Self::Rounds { .. } => "max_rounds",
            Self::Repetition { .. } => "repeated_calls",
            Self::Time { .. } => "max_run_time",
            Self::Credits { .. } => "max_credits",
            Self::OutputCut => "max_output_tokens",
        }
    }

    /// What the model reads when its final answer is asked for.
    pub(super) fn ask_for_answer(&self) -> String {
        format!(
            "({self}. No more tools can be called: answer now with what you have, and say what is missing.)"
        )
    }

    /// What the model reads in place of a result.
    pub(super) fn instead_of_result(&self) -> String {
        format!("Not executed: {self}. Answer now with what you have, and say what is missing.")
    }
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Calls { limit } => write!(f, "the limit of {limit} tool calls per answer is reached"),
            Self::ResultCharacters { limit } => {
                write!(f, "the limit of {limit} characters of tool results per answer is reached")
            }
            Self::Rounds { limit } => write!(f, "the limit of {limit} rounds per answer is reached"),
            Self::Repetition { tool } => write!(f, "{tool} was called again and again with the same result"),
            Self::Time { limit } => write!(f, "the limit of {} s per answer is reached", limit.as_secs()),
            Self::Credits { limit } => {
                write!(f, "the limit of {} credits per answer is reached", crate::caller::credits(*limit))
            }
            Self::OutputCut => f.write_str("the model reached its limit of output tokens"),
        }
    }
}
