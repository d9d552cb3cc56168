//! The calls of one round, until each has a result.

use serde::{Deserialize, Serialize};

use crate::message::{ToolCall, ToolResult};

/// The calls that a model made in one round, in its order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenRound {
    /// Calls of our tools.
    pub(super) calls: Vec<RoundCall>,
    /// Calls that the client has to run.
    pub(super) clients: Vec<ToolCall>,
}

/// One call of our tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RoundCall {
    pub(super) call: ToolCall,
    pub(super) state: CallState,
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum CallState {
    /// It has a result.
    Done { text: String, is_error: bool },
    /// It waits for a person.
    Held { order: u32, approval: String },
}

impl OpenRound {
    /// The calls that wait: their position in the round, their order in the run and the id of their approval.
    pub(super) fn held(&self) -> Vec<(usize, u32, String)> {
        let calls = self.calls.iter().enumerate();
        let held = calls.filter_map(|(position, call)| match &call.state {
            CallState::Held { order, approval } => Some((position, *order, approval.clone())),
            CallState::Done { .. } => None,
        });
        held.collect()
    }

    /// The results that there are, in the order of the calls.
    pub(super) fn results(&self) -> impl Iterator<Item = ToolResult> {
        self.calls.iter().filter_map(|call| match &call.state {
            CallState::Done { text, is_error } => {
                Some(ToolResult { call_id: call.call.id.clone(), text: text.clone(), is_error: *is_error })
            }
            CallState::Held { .. } => None,
        })
    }
}
