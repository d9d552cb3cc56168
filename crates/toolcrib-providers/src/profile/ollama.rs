//! Ollama.
//!
//! Source: <https://docs.ollama.com/api/openai-compatibility>: `stream_options.include_usage` is supported, unknown
//! fields are ignored. `tool_choice` was not read before it was listed there, so a choice is expressed by what is
//! offered. A model without tools answers 400 with "does not support tools".

use super::{Auth, CallIdForm, EmptyContent, ForcedChoice, MaxTokensField, Profile, ReasoningReplay};

pub(super) static PROFILE: Profile = Profile {
    family: "ollama",
    display_name: "Ollama",
    base_url: Some("http://127.0.0.1:11434/v1"),
    self_hosted: true,
    region: None,
    needs_key: false,
    auth: Auth::Bearer,
    models_auth: Auth::Bearer,
    models_headers: &[],
    accepts_parallel_tool_calls: true,
    enforces_strict: false,
    accepts_stream_options: true,
    streams_tool_calls: true,
    max_tokens_field: MaxTokensField::MaxTokens,
    reasoning_replay: ReasoningReplay::Never,
    call_ids: CallIdForm::Any,
    forced_choice: ForcedChoice::Ignored,
    empty_content: EmptyContent::EmptyText,
    functions: true,
    images: true,
    preferred_models: &["qwen3", "gpt-oss", "llama3.3", "llama3.2", "llama3.1", "mistral", "qwen2.5"],
};
