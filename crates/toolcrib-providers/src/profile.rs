//! What is known about a family of providers, as data.
//!
//! A profile only describes; the conversion and the client act on it. To add a family, add a file beside the others
//! and one line to [`Profile::ALL`].

use toolcrib_runtime::confidence::Region;

mod anthropic;
mod llama_cpp;
mod ollama;
mod openai;
mod openai_compatible;

/// The quirks and defaults of one family of providers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The name in configuration, for example `llama_cpp`.
    pub family: &'static str,
    /// The name for people.
    pub display_name: &'static str,
    /// Where the family is reached when the configuration names no base URL.
    pub base_url: Option<&'static str>,
    /// Usually run by the operator, so that the confidence schemes treat it as the operator's own.
    pub self_hosted: bool,
    /// Where the provider is established.
    pub region: Option<Region>,
    /// Whether requests without a key are refused.
    pub needs_key: bool,
    /// How the key is sent with a chat request.
    pub auth: Auth,
    /// How the key is sent when the models are listed.
    pub models_auth: Auth,
    /// Headers that listing the models needs beside the key.
    pub models_headers: &'static [(&'static str, &'static str)],
    /// Accepts `parallel_tool_calls`; where false, the field is never sent.
    pub accepts_parallel_tool_calls: bool,
    /// Enforces a tool's schema when `strict` is true; where false, the field is never sent.
    pub enforces_strict: bool,
    /// Accepts `stream_options.include_usage`; where false, the field is never sent.
    pub accepts_stream_options: bool,
    /// Streams tool calls; where false, requests with tools are sent without streaming.
    pub streams_tool_calls: bool,
    /// The field that limits the answer's tokens.
    pub max_tokens_field: MaxTokensField,
    /// When reasoning of earlier answers is sent back.
    pub reasoning_replay: ReasoningReplay,
    /// The form that ids of calls must have.
    pub call_ids: CallIdForm,
    /// How far a forced tool choice is honored.
    pub forced_choice: ForcedChoice,
    /// What stands for the content of an assistant message that only calls tools.
    pub empty_content: EmptyContent,
    /// Whether models call functions unless something else is known.
    pub functions: bool,
    /// Whether models accept images unless something else is known.
    pub images: bool,
    /// Beginnings of model names that make a good default, the best first.
    pub preferred_models: &'static [&'static str],
}

/// How a key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// `Authorization: Bearer <key>` (RFC 6750).
    Bearer,
    /// The bare key in a header of this name.
    Header(&'static str),
}

/// The name of the field that limits the answer's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxTokensField {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`, which counts reasoning too.
    MaxCompletionTokens,
}

/// When `reasoning_content` of earlier answers is sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningReplay {
    /// Never.
    Never,
    /// On the messages since the last one by the user, while tools are being called.
    ToolRounds,
    /// Always.
    Always,
}

/// The form that ids of calls must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallIdForm {
    /// Any text.
    Any,
    /// At most this many characters.
    AtMost(usize),
    /// Letters, digits, `_` and `-`.
    Word,
    /// Exactly this many letters and digits.
    Alphanumeric(usize),
}

/// How far `tool_choice` is honored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForcedChoice {
    /// All forms.
    Honored,
    /// `auto`, `none` and `required`; a named tool is forced by offering only that one.
    OnlyByWord,
    /// Not at all: the choice shows only in which tools are offered.
    Ignored,
}

/// What stands for the content of an assistant message that only calls tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmptyContent {
    /// `null`.
    Null,
    /// `""`.
    EmptyText,
    /// The field is left out.
    Absent,
}

impl Profile {
    /// Every known family; the last one is for hosts of which nothing is known.
    pub const ALL: [&'static Self; 5] = [
        &openai::PROFILE,
        &anthropic::PROFILE,
        &ollama::PROFILE,
        &llama_cpp::PROFILE,
        &openai_compatible::PROFILE,
    ];

    /// The family with this configuration name.
    pub fn by_family(family: &str) -> Option<&'static Self> {
        Self::ALL.into_iter().find(|profile| profile.family == family)
    }

    /// The profile of a host of which only the dialect is known.
    pub fn openai_compatible() -> &'static Self {
        &openai_compatible::PROFILE
    }

    /// The best default among the models that a provider listed: the first preferred one, else the first.
    pub fn default_model<'a>(&self, models: &'a [String]) -> Option<&'a str> {
        let preferred = self.preferred_models.iter().find_map(|beginning| {
            let exact = models.iter().find(|model| model.as_str() == *beginning);
            exact.or_else(|| models.iter().find(|model| model.starts_with(beginning)))
        });
        preferred.or(models.first()).map(String::as_str)
    }
}

#[cfg(test)]
mod tests;
