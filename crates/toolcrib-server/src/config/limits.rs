//! `[limits]`: what one run may use.

use std::time::Duration;

use serde::Deserialize;
use toolcrib_runtime::run::Limits;

use super::ConfigError;

/// What one run may use; what is left out keeps its default.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsSection {
    /// Tool calls per run (`MAX_TOOL_CALLS`).
    pub calls: Option<u32>,
    /// Characters of all results of a run together (`MAX_TOOL_RESULT_CHARACTERS`).
    pub result_characters: Option<usize>,
    /// Characters of one result.
    pub one_result: Option<usize>,
    /// Rounds per run.
    pub rounds: Option<u32>,
    /// Seconds per call.
    pub call_seconds: Option<u64>,
    /// Seconds per run.
    pub run_seconds: Option<u64>,
    /// Calls that may run side by side.
    pub parallel_calls: Option<usize>,
    /// Characters of what is put into the system prompt before the model runs.
    pub context_characters: Option<usize>,
    /// Hours that a call may wait for a person.
    pub approval_hours: Option<u64>,
}

impl LimitsSection {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let zero = [
            ("calls", self.calls == Some(0)),
            ("result_characters", self.result_characters == Some(0)),
            ("one_result", self.one_result == Some(0)),
            ("rounds", self.rounds == Some(0)),
            ("call_seconds", self.call_seconds == Some(0)),
            ("run_seconds", self.run_seconds == Some(0)),
            ("parallel_calls", self.parallel_calls == Some(0)),
            ("context_characters", self.context_characters == Some(0)),
            ("approval_hours", self.approval_hours == Some(0)),
        ];
        let zero = zero.iter().find(|(_, zero)| *zero).map(|(name, _)| format!("limits.{name}"));
        zero.map_or(Ok(()), |place| Err(ConfigError::zero(place)))
    }

    /// The limits with defaults filled in.
    pub fn limits(&self) -> Limits {
        let defaults = Limits::default();
        Limits {
            calls: self.calls.unwrap_or(defaults.calls),
            result_characters: self.result_characters.unwrap_or(defaults.result_characters),
            one_result: self.one_result.unwrap_or(defaults.one_result),
            rounds: self.rounds.unwrap_or(defaults.rounds),
            call_time: self.call_seconds.map_or(defaults.call_time, Duration::from_secs),
            run_time: self.run_seconds.map_or(defaults.run_time, Duration::from_secs),
            parallel_calls: self.parallel_calls.unwrap_or(defaults.parallel_calls),
            credits: defaults.credits,
            context_characters: self.context_characters.unwrap_or(defaults.context_characters),
            approval_time: self.approval_hours.map_or(defaults.approval_time, Duration::from_hours),
        }
    }
}
