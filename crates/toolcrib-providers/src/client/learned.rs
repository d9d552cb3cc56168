//! Remembers what an instance refused.
//!
//! A finding is kept only after a request that heeded it was accepted, so that a wrong guess changes nothing.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::profile::{MaxTokensField, Profile, ReasoningReplay};

/// What is done differently from the profile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Adjustments {
    no_parallel_tool_calls: bool,
    no_strict: bool,
    no_stream_options: bool,
    other_max_tokens_field: bool,
    other_reasoning_replay: bool,
}

/// The findings of one instance.
#[derive(Debug, Default)]
pub(super) struct Memory {
    found: Mutex<Found>,
}

#[derive(Debug, Default)]
struct Found {
    adjustments: Adjustments,
    without_tools: BTreeSet<String>,
}

impl Memory {
    pub(super) fn adjustments(&self) -> Adjustments {
        self.lock().adjustments
    }

    /// Adds what a request that was accepted did differently. Requests run side by side: nothing gets lost.
    pub(super) fn keep(&self, new: Adjustments) {
        let known = &mut self.lock().adjustments;
        known.no_parallel_tool_calls |= new.no_parallel_tool_calls;
        known.no_strict |= new.no_strict;
        known.no_stream_options |= new.no_stream_options;
        known.other_max_tokens_field |= new.other_max_tokens_field;
        known.other_reasoning_replay |= new.other_reasoning_replay;
    }

    /// Notes that a model takes no tools.
    pub(super) fn note_without_tools(&self, model: &str) {
        self.lock().without_tools.insert(model.to_owned());
    }

    pub(super) fn takes_tools(&self, model: &str) -> bool {
        !self.lock().without_tools.contains(model)
    }

    fn lock(&self) -> MutexGuard<'_, Found> {
        // What is remembered stays whole even when a holder of the lock panicked.
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Adjustments {
    /// The profile with these adjustments.
    pub(super) fn apply(self, profile: &Profile) -> Profile {
        let mut adjusted = profile.clone();
        adjusted.accepts_parallel_tool_calls &= !self.no_parallel_tool_calls;
        adjusted.enforces_strict &= !self.no_strict;
        adjusted.accepts_stream_options &= !self.no_stream_options;
        if self.other_max_tokens_field {
            adjusted.max_tokens_field = match profile.max_tokens_field {
                MaxTokensField::MaxTokens => MaxTokensField::MaxCompletionTokens,
                MaxTokensField::MaxCompletionTokens => MaxTokensField::MaxTokens,
            };
        }
        if self.other_reasoning_replay {
            adjusted.reasoning_replay = match profile.reasoning_replay {
                ReasoningReplay::Never => ReasoningReplay::ToolRounds,
                ReasoningReplay::ToolRounds | ReasoningReplay::Always => ReasoningReplay::Never,
            };
        }
        adjusted
    }

    /// The adjustments that a refusal of `request` calls for, or `None` when it is about something else.
    pub(super) fn after_refusal(self, status: u16, answer: &[u8], request: &Value) -> Option<Self> {
        if !matches!(status, 400 | 422) {
            return None;
        }
        let answer = String::from_utf8_lossy(answer).to_ascii_lowercase();
        let says = |word: &str| answer.contains(word);
        let sends = |field: &str| request.get(field).is_some();
        let sends_strict = || {
            let tools = request.get("tools").and_then(Value::as_array).into_iter().flatten();
            tools.into_iter().any(|tool| tool.pointer("/function/strict").is_some())
        };
        let mut next = self;
        if says("parallel_tool_calls") && sends("parallel_tool_calls") {
            next.no_parallel_tool_calls = true;
        } else if (says("stream_options") || says("include_usage")) && sends("stream_options") {
            next.no_stream_options = true;
        } else if says("strict") && sends_strict() {
            next.no_strict = true;
        } else if (says("max_tokens") && sends("max_tokens"))
            || (says("max_completion_tokens") && sends("max_completion_tokens"))
        {
            next.other_max_tokens_field = true;
        } else if says("reasoning_content") {
            next.other_reasoning_replay = true;
        }
        (next != self).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn refusals_adjust_only_what_was_sent() {
        let none = Adjustments::default();
        let request = json!({"parallel_tool_calls": false, "stream_options": {}, "tools": [{"function": {"strict": true}}]});
        let about = |text: &str| none.after_refusal(400, text.as_bytes(), &request);
        assert!(about("Unknown field: Parallel_tool_calls").unwrap().no_parallel_tool_calls);
        assert!(about("stream_options is not allowed").unwrap().no_stream_options);
        assert!(about("extra field strict").unwrap().no_strict);
        assert_eq!(about("max_tokens is too large"), None, "it was not sent");
        assert_eq!(about("temperature"), None);
        assert_eq!(none.after_refusal(500, b"parallel_tool_calls", &request), None);
        let once = about("parallel_tool_calls").unwrap();
        assert_eq!(once.after_refusal(400, b"parallel_tool_calls", &request), None, "one retry only");
    }

    #[test]
    fn adjustments_change_the_profile() {
        let profile = Profile::by_family("openai").unwrap();
        assert_eq!(Adjustments::default().apply(profile), *profile);
        let all = Adjustments {
            no_parallel_tool_calls: true,
            no_strict: true,
            no_stream_options: true,
            other_max_tokens_field: true,
            other_reasoning_replay: true,
        };
        let adjusted = all.apply(profile);
        assert!(
            !adjusted.accepts_parallel_tool_calls
                && !adjusted.enforces_strict
                && !adjusted.accepts_stream_options
        );
        assert_eq!(adjusted.max_tokens_field, MaxTokensField::MaxTokens);
        assert_eq!(adjusted.reasoning_replay, ReasoningReplay::ToolRounds);
    }
}
