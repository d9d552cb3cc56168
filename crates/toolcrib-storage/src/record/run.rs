//! Runs, as they stand and as they ended.
//!
//! A run that has ended has everything that belongs to its end; of one that has not, usage, rounds and labels are
//! those of its last recorded round.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use toolcrib_runtime::journal::{RunState, Trace};
use toolcrib_runtime::labels::Labels;
use toolcrib_runtime::message::Usage;
use toolcrib_runtime::tool::{Origin, Source};

use super::account::Owner;

/// A stored run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// The run's id.
    pub id: String,
    /// The conversation, when it is a stored one.
    pub conversation_id: Option<String>,
    /// Whose it is.
    pub owner: Owner,
    /// Where it happened.
    pub component: String,
    /// The language of the caller as a BCP 47 tag; `und` when it was not noted.
    pub locale: String,
    /// The provider instance.
    pub provider_id: String,
    /// The model's name at its provider.
    pub model: String,
    /// How it stands.
    pub state: RunState,
    /// For a run that did not simply succeed: why, in words for the caller.
    pub reason: Option<String>,
    /// Sources of the answer.
    pub sources: Vec<Source>,
    /// Tokens of all rounds.
    pub usage: Usage,
    /// How many rounds there were.
    pub rounds: u32,
    /// What follows from this run demands.
    pub labels: Labels,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended; `None` while it goes on.
    pub ended_at: Option<Timestamp>,
}

/// A trace with the run that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRecord {
    /// The run.
    pub run_id: String,
    /// The trace of the call.
    pub trace: Trace,
}

/// Which runs to list; the default lists all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only those of this conversation.
    pub conversation_id: Option<String>,
    /// Only those that stand so.
    pub state: Option<RunState>,
}

/// What a crash had left unfinished, closed when the store was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Runs that were closed as interrupted.
    pub runs: u64,
    /// Pending calls that became errors.
    pub calls: u64,
}

/// Why an interrupted run ended, in words for the caller.
pub(crate) const INTERRUPTED_REASON: &str = "the program stopped before this run had ended";

/// The status message of a call that a crash cut off.
pub(crate) const INTERRUPTED_CALL: &str = "interrupted";

/// The status message of a call that ended because its run was stopped.
pub(crate) const CANCELLED_CALL: &str = "the run was stopped";

/// A source, as it is kept.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredSource {
    title: String,
    url: String,
    origin: StoredOrigin,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredOrigin {
    Llm,
    Tool,
    Knowledge,
}

impl From<&Source> for StoredSource {
    fn from(source: &Source) -> Self {
        let origin = match source.origin {
            Origin::Llm => StoredOrigin::Llm,
            Origin::Tool => StoredOrigin::Tool,
            Origin::Knowledge => StoredOrigin::Knowledge,
        };
        Self {
            title: source.title.clone(),
            url: source.url.clone(),
            origin,
            tool_call_id: source.tool_call_id.clone(),
        }
    }
}

impl From<StoredSource> for Source {
    fn from(stored: StoredSource) -> Self {
        let origin = match stored.origin {
            StoredOrigin::Llm => Origin::Llm,
            StoredOrigin::Tool => Origin::Tool,
            StoredOrigin::Knowledge => Origin::Knowledge,
        };
        Self { title: stored.title, url: stored.url, origin, tool_call_id: stored.tool_call_id }
    }
}
