//! The HTTP server of llama.cpp.
//!
//! Source: its own manual (`tools/server/README.md`, `docs/function-calling.md` of ggml-org/llama.cpp) and its
//! behavior: a named `tool_choice` is read as `auto`; a template may join contents as text, so that `null` fails;
//! templates of reasoning models read `reasoning_content` of the rounds since the user spoke.

use super::{Auth, CallIdForm, EmptyContent, ForcedChoice, MaxTokensField, Profile, ReasoningReplay};

pub(super) static PROFILE: Profile = Profile {
    family: "llama_cpp",
    display_name: "llama.cpp",
    base_url: Some("http://127.0.0.1:8080/v1"),
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
    reasoning_replay: ReasoningReplay::ToolRounds,
    call_ids: CallIdForm::Any,
    forced_choice: ForcedChoice::OnlyByWord,
    empty_content: EmptyContent::EmptyText,
    functions: true,
    images: false,
    preferred_models: &[],
};
