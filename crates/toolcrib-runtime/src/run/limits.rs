//! The limits of a run.

use std::time::Duration;

/// What one run may use. A plan may lower these, never raise them above the installation's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Tool calls (`MAX_TOOL_CALLS`).
    pub calls: u32,
    /// Unicode scalar values of all results together (`MAX_TOOL_RESULT_CHARACTERS`).
    pub result_characters: usize,
    /// Unicode scalar values of one result.
    pub one_result: usize,
    /// Requests to the model, the final one not counted.
    pub rounds: u32,
    /// The longest that one call may take.
    pub call_time: Duration,
    /// The longest that the whole run may take.
    pub run_time: Duration,
    /// Calls of one round that may run side by side, where their tools allow it.
    pub parallel_calls: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            calls: 15,
            result_characters: 300_000,
            one_result: 100_000,
            rounds: 20,
            call_time: Duration::from_mins(2),
            run_time: Duration::from_mins(10),
            parallel_calls: 4,
        }
    }
}
