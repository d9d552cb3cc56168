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
    /// What all calls together may cost, in millionths of a credit; `None` for no limit.
    pub credits: Option<i64>,
    /// Unicode scalar values of all that is put into the system prompt before the model runs.
    pub context_characters: usize,
    /// How long a call may wait for a person before it counts as refused.
    pub approval_time: Duration,
}

impl Limits {
    /// These limits, lowered where `other` is lower: what a plan says never raises the installation's.
    #[must_use]
    pub fn lowered_by(self, other: Self) -> Self {
        let credits = [self.credits, other.credits].into_iter().flatten().min();
        Self {
            calls: self.calls.min(other.calls),
            result_characters: self.result_characters.min(other.result_characters),
            one_result: self.one_result.min(other.one_result),
            rounds: self.rounds.min(other.rounds),
            call_time: self.call_time.min(other.call_time),
            run_time: self.run_time.min(other.run_time),
            parallel_calls: self.parallel_calls.min(other.parallel_calls),
            credits,
            context_characters: self.context_characters.min(other.context_characters),
            approval_time: self.approval_time.min(other.approval_time),
        }
    }
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
            credits: None,
            context_characters: 20_000,
            approval_time: Duration::from_hours(24),
        }
    }
}
