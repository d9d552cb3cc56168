//! The state of a run that waits, as text that outlives the program.
//!
//! The text carries a version. A version that is not known is refused, never guessed at; a change of any shape in it
//! needs a new version.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::machine::SavedMachine;
use super::round::OpenRound;
use crate::confidence::Confidence;
use crate::journal::{RunEnd, RunState};
use crate::labels::Labels;
use crate::labels::fingerprint::Fingerprint;
use crate::message::Message;
use crate::model::ToolSpec;
use crate::policy::OutboundRestriction;
use crate::tool::Source;

/// The version that is written.
const VERSION: u32 = 1;

/// A run that waits, with everything that it needs to go on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SavedRun {
    version: u32,
    /// The run's id.
    pub run_id: String,
    /// The conversation, when there is one.
    pub conversation_id: Option<String>,
    /// The tools that were offered, by id: no others may be offered when the run goes on.
    pub offered: BTreeSet<String>,
    /// The tools that the client declared itself.
    pub client_tools: Vec<ToolSpec>,
    /// The conversation leaves nothing behind.
    pub temporary: bool,
    pub(super) machine: SavedMachine,
    pub(super) round: OpenRound,
    labels: SavedLabels,
    pub(super) sources: Vec<Source>,
    pub(super) protected: BTreeSet<Fingerprint>,
    pub(super) reasoning: String,
}

/// A saved state cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SavedRunError {
    /// It is not what this program writes.
    #[error("reading the saved state of a run: {0}")]
    Malformed(#[from] serde_json::Error),
    /// Another version of the program wrote it.
    #[error("the saved state of a run has version {found}, and this program knows version {VERSION}")]
    Version {
        /// The version that was found.
        found: u32,
    },
}

/// Labels by their stored numbers and names.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct SavedLabels {
    required_confidence: u16,
    untrusted: bool,
    outbound: String,
}

/// What a waiting run consists of.
pub(super) struct Parts {
    pub(super) run_id: String,
    pub(super) conversation_id: Option<String>,
    pub(super) offered: BTreeSet<String>,
    pub(super) client_tools: Vec<ToolSpec>,
    pub(super) temporary: bool,
    pub(super) machine: SavedMachine,
    pub(super) round: OpenRound,
    pub(super) labels: Labels,
    pub(super) sources: Vec<Source>,
    pub(super) protected: BTreeSet<Fingerprint>,
    pub(super) reasoning: String,
}

impl SavedRun {
    pub(super) fn new(parts: Parts) -> Self {
        let labels = SavedLabels {
            required_confidence: parts.labels.required_confidence.value(),
            untrusted: parts.labels.untrusted,
            outbound: parts.labels.outbound.name().to_owned(),
        };
        Self {
            version: VERSION,
            run_id: parts.run_id,
            conversation_id: parts.conversation_id,
            offered: parts.offered,
            client_tools: parts.client_tools,
            temporary: parts.temporary,
            machine: parts.machine,
            round: parts.round,
            labels,
            sources: parts.sources,
            protected: parts.protected,
            reasoning: parts.reasoning,
        }
    }

    /// Reads what [`Self::to_text`] wrote.
    ///
    /// # Errors
    /// The text is of another version, or no saved state at all.
    pub fn read(text: &str) -> Result<Self, SavedRunError> {
        #[derive(Deserialize)]
        struct Head {
            version: u32,
        }
        let Head { version } = serde_json::from_str(text)?;
        if version != VERSION {
            return Err(SavedRunError::Version { found: version });
        }
        Ok(serde_json::from_str(text)?)
    }

    /// The state as JSON.
    ///
    /// # Errors
    /// The state holds something that JSON cannot express.
    pub fn to_text(&self) -> Result<String, SavedRunError> {
        Ok(serde_json::to_string(self)?)
    }

    /// What is demanded by now. A value that no version writes counts as the strictest.
    pub fn labels(&self) -> Labels {
        let saved = &self.labels;
        Labels {
            required_confidence: Confidence::from_value(saved.required_confidence)
                .unwrap_or(Confidence::High),
            untrusted: saved.untrusted,
            outbound: OutboundRestriction::parse(&saved.outbound)
                .unwrap_or(OutboundRestriction::ConfiguredServices),
        }
    }

    /// The text that the user has seen so far.
    pub fn visible_text(&self) -> &str {
        self.machine.visible_text()
    }

    /// The messages of the round that waits, every call with a result: what a conversation keeps of it when the run
    /// does not go on.
    pub fn open_messages(&self) -> Vec<Message> {
        self.machine.open_messages(&self.round)
    }

    /// The end of a run that is not carried on.
    pub fn abandon(&self, state: RunState, reason: &str, at: Timestamp) -> RunEnd {
        RunEnd {
            run_id: self.run_id.clone(),
            state,
            reason: Some(reason.to_owned()),
            messages: self.open_messages(),
            sources: self.sources.clone(),
            usage: self.machine.usage(),
            rounds: self.machine.rounds(),
            labels: self.labels(),
            protected: self.protected.clone(),
            ended_at: at,
        }
    }
}
